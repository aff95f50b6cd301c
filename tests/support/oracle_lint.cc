// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/support/oracle_lint.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "tests/support/oracle_lint_parts.h"
#include "tests/support/oracle_ring.h"

namespace carom::testing {
namespace {

class Linter {
 public:
  Linter(const std::vector<OraclePolygon>& scene, const OracleLintOptions& options)
      : map_(scene), options_(options) {}

  std::vector<std::string> Run() {
    Rings();
    Lattice();
    EdgePairs();
    PolygonPairs();
    Gaps();
    NearJunctions();
    std::sort(lines_.begin(), lines_.end());
    return lines_;
  }

 private:
  template <class... Members>
  void Add(const Members&... members) {
    lines_.push_back(LintLine({members...}));
  }
  void AddAt(const std::string& kind, const OracleEdge& at, Xy p) { Add(kind, at, at, p, p, 0.0); }

  void Rings() {
    for (const LintRing& ring : map_.rings) {
      const size_t n = ring.points.size();
      for (size_t i = 0; n > 1 && i < (ring.open ? n - 1 : n); ++i) {
        const Xy p = ring.points[i];
        const Xy q = ring.points[(i + 1) % n];
        const Rational square = Square(Exact(q) - Exact(p));
        if (square == 0) AddAt("duplicate-vertex", ring.Name(i), p);
        if (square > 0 && square <= Exact(options_.near_distance) * Exact(options_.near_distance)) {
          Add("near-vertex", ring.Name(i), ring.Name(i), p, q, NearestRoot(square));
        }
      }
      for (size_t i = 0; n > 2 && i < n; ++i) Spike(ring, i);
      if (!ring.of->hollow) Area(ring);
    }
  }

  void Spike(const LintRing& ring, size_t i) {
    const size_t n = ring.points.size();
    const Xy p = ring.points[i];
    if (ring.open && (i == 0 || i + 1 == n)) return;
    if (ring.points[(i + n - 1) % n] == p) return;
    std::optional<Xy> before, after;
    for (size_t k = 1; k < n; ++k) {
      if (!before && (!ring.open || k <= i) && !(ring.points[(i + n - k) % n] == p)) {
        before = ring.points[(i + n - k) % n];
      }
      if (!after && (!ring.open || i + k < n) && !(ring.points[(i + k) % n] == p)) {
        after = ring.points[(i + k) % n];
      }
    }
    if (!before || !after) return;
    const RationalXy a = Exact(*before) - Exact(p);
    const RationalXy b = Exact(*after) - Exact(p);
    if (Cross(a, b) != 0 || Dot(a, b) <= 0) return;
    const bool first = Square(a) < Square(b);
    Add("spike", ring.Name(i), ring.Name(i), p, first ? *before : *after,
        NearestRoot(first ? Square(a) : Square(b)));
  }

  void Area(const LintRing& ring) {
    const Rational area = RingArea(ring.points);
    if (area == 0) return AddAt("zero-area", ring.Name(0), ring.points[0]);
    if (options_.winding == 0) return;
    for (const Xy p : ring.points) {
      int depth = 0;
      bool on_edge = false;
      for (const LintRing& other : map_.rings) {
        if (other.of != ring.of || other.number == ring.number) continue;
        int winding = 0;
        for (const LintSegment& edge : other.edges) {
          on_edge = on_edge || edge.Distance2(Exact(p)) == 0;
          winding += edge.Winding(Exact(p));
        }
        depth += winding % 2 != 0 ? 1 : 0;
      }
      if (on_edge) continue;
      const int expected = options_.winding * (depth % 2 == 0 ? 1 : -1);
      if (Sign(area) != expected) {
        Add("winding", ring.Name(0), ring.Name(0), ring.points[0], ring.points[0],
            NearestDouble(area < 0 ? Rational(-area) : area));
      }
      return;
    }
  }

  // Returns the lattice's coordinate nearest to `x`, and `x` itself if it is on the lattice.
  double OnLattice(double x) const {
    const double h = options_.lattice_pitch;
    if (std::abs(x) >= 0x1p53 * h) return x;
    const auto ulp = [](double v) {
      return Exact(std::nextafter(std::abs(v), HUGE_VAL)) - Exact(std::abs(v));
    };
    int exponent = 0;
    const double fraction = std::frexp(h, &exponent);
    const bool exact = std::remainder(fraction, 0x1p-32) == 0;
    const Rational pitch_error = exact ? Rational(0) : Rational(ulp(h) / 2);
    double best = 0;
    bool first = true;
    const double k = std::floor(x / h);
    for (int i = -2; i <= 2; ++i) {
      const Rational multiple = Exact(k) + Rational(i);
      const Rational at = multiple * Exact(h);
      if (abs(at - Exact(x)) <= ulp(x) / 2 + abs(multiple) * pitch_error) return x;
      const double rounded = NearestDouble(at);
      if (first || std::abs(rounded - x) < std::abs(best - x)) best = rounded;
      first = false;
    }
    return best;
  }
  void Lattice() {
    for (const LintRing& ring : map_.rings) {
      for (size_t i = 0; i < ring.points.size(); ++i) {
        const Xy p = ring.points[i];
        const Xy q{OnLattice(p.x), OnLattice(p.y)};
        if (q == p) continue;
        // On a tie either neighbour is nearest; the measure is the same.
        Add("off-lattice", ring.Name(i), ring.Name(i), p, p,
            std::max(std::abs(p.x - q.x), std::abs(p.y - q.y)));
      }
    }
  }

  void EdgePairs() {
    for (size_t i = 0; i < map_.edges.size(); ++i) {
      for (size_t j = i + 1; j < map_.edges.size(); ++j) {
        const LintSegment& a = map_.edges[i];
        const LintSegment& b = map_.edges[j];
        if (a.name.polygon == b.name.polygon && a.Proper() && b.Proper()) EdgePair(a, b);
      }
    }
  }
  void EdgePair(const LintSegment& a, const LintSegment& b) {
    const std::vector<RationalXy> shared = SharedPoints(a, b);
    if (shared.empty()) return;
    const Xy p = Rounded(shared.front());
    const Xy q = Rounded(shared.back());
    if (shared.size() == 1) {
      const auto is_end = [&](const LintSegment& s) {
        return shared[0] == Exact(s.a) || shared[0] == Exact(s.b);
      };
      if (!(is_end(a) && is_end(b))) Add("crossing", a.name, b.name, p, p, 0.0);
    } else if (!map_.AreConsecutive(a, b)) {
      Add("overlap", a.name, b.name, p, q, NearestRoot(Square(shared[1] - shared[0])));
    }
  }

  void PolygonPairs() {
    for (const LintBody& b : map_.bodies) {
      std::optional<uint64_t> twin;
      for (const LintBody& a : map_.bodies) {
        if (a.id == b.id) continue;
        const OracleEdge at{b.id, 0, 0};
        const OracleEdge other{a.id, 0, 0};
        if (map_.IsInside(b, a)) Add("inside", at, other, b.first, b.first, 0.0);
        if (!twin && a.id < b.id && map_.AreTwins(a, b)) {
          twin = a.id;
          Add("duplicate-polygon", at, other, b.first, b.first, 0.0);
        }
      }
    }
  }

  void Gaps() {
    for (const LintGap& gap : map_.Gaps(options_.gap_radius)) {
      Add("gap", gap.at, gap.other, gap.v, Rounded(gap.q),
          NearestRoot(Square(gap.q - Exact(gap.v))));
    }
  }

  void NearJunctions() {
    const Rational limit = Exact(options_.near_distance) * Exact(options_.near_distance);
    std::set<std::pair<OracleEdge, OracleEdge>> pairs;
    for (const auto& [v, name] : map_.places) {
      const Xy point{v.first, v.second};
      for (const LintSegment& e : map_.edges) {
        if (!e.Proper() || point == e.a || point == e.b) continue;
        const bool joined = std::any_of(map_.edges.begin(), map_.edges.end(), [&](const auto& g) {
          return (g.a == point && (g.b == e.a || g.b == e.b)) ||
                 (g.b == point && (g.a == e.a || g.a == e.b));
        });
        const RationalXy q = e.Nearest(Exact(point));
        const Rational square = Square(q - Exact(point));
        if (joined || square == 0 || square > limit) continue;
        std::optional<Xy> end;
        if (q == Exact(e.a)) end = e.a;
        if (q == Exact(e.b)) end = e.b;
        OracleEdge at = name;
        OracleEdge other = end ? map_.NameAt(*end) : e.name;
        Xy p = point;
        Xy r = Rounded(q);
        if (end && other < at) {
          std::swap(at, other);
          std::swap(p, r);
        }
        if (end && !pairs.emplace(at, other).second) continue;
        Add("near-junction", at, other, p, r, NearestRoot(square));
      }
    }
  }

  LintScenery map_;
  const OracleLintOptions options_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string LintLine(const OracleFinding& finding) {
  const auto& [kind, at, other, p, q, measure] = finding;
  char text[512];
  std::snprintf(text, sizeof text, "%s %llu/%u/%u %llu/%u/%u (%a, %a) (%a, %a) %a", kind.c_str(),
                static_cast<unsigned long long>(at.polygon), at.ring, at.edge,
                static_cast<unsigned long long>(other.polygon), other.ring, other.edge, p.x + 0.0,
                p.y + 0.0, q.x + 0.0, q.y + 0.0, measure);
  return text;
}

std::vector<std::string> OracleLint(const std::vector<OraclePolygon>& scene,
                                    const OracleLintOptions& options) {
  return Linter(scene, options).Run();
}

}  // namespace carom::testing
