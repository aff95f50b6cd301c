// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/ring_findings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <span>

#include "carom/predicates.h"
#include "carom/ring.h"
#include "edges/point_scan.h"
#include "lint/lint_exact.h"
#include "numeric/exact.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// The ring that is being checked.
struct CheckedRing {
  const LintMap& map;
  uint32_t polygon;
  uint32_t number;
  std::span<const Vec2> vertices;
  bool is_open;

  const Polygon& of() const { return map.scene().polygon(polygon); }
  LintFinding Named(LintKind kind, size_t vertex) const {
    const EdgeName name{polygon, {number, static_cast<uint32_t>(vertex)}};
    return NamedFinding(map.scene(), kind, name, name);
  }
};

void SetPoint(LintFinding& finding, Vec2 p) { finding.point = finding.other_point = p; }

void SetPair(LintFinding& finding, Vec2 p, Vec2 q) {
  finding.point = p;
  finding.other_point = q;
  finding.measure = RoundedDistance(p, q);
}

void FindNearVertices(const CheckedRing& ring, double near_distance, FindingSink& sink) {
  const size_t n = ring.vertices.size();
  const size_t edges = n < 2 ? 0 : ring.is_open ? n - 1 : n;
  for (size_t i = 0; i < edges; ++i) {
    const Vec2 p = ring.vertices[i];
    const Vec2 q = ring.vertices[i + 1 == n ? 0 : i + 1];
    if (p == q) {
      if (sink.Wants(LintKind::kDuplicateVertex)) {
        sink.Add(ring.Named(LintKind::kDuplicateVertex, i),
                 [p](LintFinding& finding) { SetPoint(finding, p); });
      }
    } else if (sink.Wants(LintKind::kNearVertex) &&
               CompareDistance(p, Circle{q, near_distance}) <= 0) {
      sink.Add(ring.Named(LintKind::kNearVertex, i),
               [p, q](LintFinding& finding) { SetPair(finding, p, q); });
    }
  }
}

// Returns the last vertex before vertex `i` (`step` -1), or the first vertex after it (`step` 1),
// that differs from it, if there is one; the vertex itself otherwise.
Vec2 DifferentNeighbour(const CheckedRing& ring, size_t i, int step) {
  const size_t n = ring.vertices.size();
  for (size_t k = 1; k < n; ++k) {
    if (ring.is_open && (step > 0 ? i + k >= n : k > i)) break;
    const Vec2 p = ring.vertices[(step > 0 ? i + k : i + n - k) % n];
    if (!(p == ring.vertices[i])) return p;
  }
  return ring.vertices[i];
}

void FindSpikes(const CheckedRing& ring, FindingSink& sink) {
  const size_t n = ring.vertices.size();
  if (n < 3) return;
  for (size_t i = 0; i < n; ++i) {
    const Vec2 p = ring.vertices[i];
    const bool is_end = ring.is_open && (i == 0 || i + 1 == n);
    if (is_end || ring.vertices[i == 0 ? n - 1 : i - 1] == p) continue;
    const Vec2 before = DifferentNeighbour(ring, i, -1);
    const Vec2 after = DifferentNeighbour(ring, i, 1);
    if (after == p || Orientation(before, p, after) != 0 || DotSign(p, before, p, after) <= 0) {
      continue;
    }
    sink.Add(ring.Named(LintKind::kSpike, i), [=](LintFinding& finding) {
      // Of two points on one ray, the nearer one is between the vertex and the other one.
      SetPair(finding, p, DotSign(before, p, before, after) < 0 ? before : after);
    });
  }
}

// Returns whether the other rings wind an odd number of times around the first vertex that is on
// none of them; no value without such a vertex, or if the meter stopped the work.
std::optional<bool> IsHole(const CheckedRing& ring, WorkMeter& meter) {
  const Polygon& polygon = ring.of();
  if (polygon.ring_count() == 1) return false;
  for (const Vec2 p : ring.vertices) {
    PointScan scan(p);
    bool on_edge = false;
    const auto add = [&](const LintEdge& edge) {
      if (edge.name.polygon == ring.polygon && edge.name.ref.ring != ring.number) {
        on_edge = on_edge || !scan.Add(edge.segment);
      }
      return !on_edge;
    };
    if (polygon.edge_count() <= 64) {
      for (const LintEdge& edge : ring.map.edges_of(ring.polygon)) add(edge);
      if (!meter.Spend(polygon.edge_count())) return std::nullopt;
    } else {
      const MeetsBox ray{{p, {polygon.bounds().max.x, p.y}}};
      ring.map.tree().Traverse(meter, ray,
                               [&](size_t edge) { return add(ring.map.edges()[edge]); });
      if (meter.stopped()) return std::nullopt;
    }
    if (!on_edge) return scan.winding() % 2 != 0;
  }
  return std::nullopt;
}

bool FindAreas(const CheckedRing& ring, LintWinding winding, FindingSink& sink, WorkMeter& meter) {
  if (ring.of().solidity() != Solidity::kSolid) return true;
  const bool check_winding = winding != LintWinding::kAny && sink.Wants(LintKind::kWinding);
  if (!check_winding && !sink.Wants(LintKind::kZeroArea)) return true;
  const int sign = WindingSign(ring.vertices);
  const Vec2 first = ring.vertices[0];
  if (sign == 0) {
    if (sink.Wants(LintKind::kZeroArea)) {
      sink.Add(ring.Named(LintKind::kZeroArea, 0),
               [first](LintFinding& finding) { SetPoint(finding, first); });
    }
    return true;
  }
  if (!check_winding) return true;
  const std::optional<bool> is_hole = IsHole(ring, meter);
  if (!is_hole.has_value()) return !meter.stopped();
  if ((sign > 0) != ((winding == LintWinding::kCounterClockwise) != *is_hole)) {
    sink.Add(ring.Named(LintKind::kWinding, 0), [&](LintFinding& finding) {
      SetPoint(finding, first);
      finding.measure = std::abs(SignedArea(ring.vertices));
    });
  }
  return true;
}

// Returns the exponent of the greatest power of two that divides `value`, at most 20; at least -21.
int PowerOf(double value) {
  if (value == 0) return 20;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto bits = static_cast<uint64_t>(std::ldexp(fraction, 53));
  return std::clamp(exponent - 53 + std::countr_zero(bits), -21, 20);
}

// The multiples of a pitch (`LintOptions::lattice_pitch`).
class Lattice {
 public:
  explicit Lattice(double pitch) : pitch_(pitch) {
    int exponent = 0;
    const double scaled = std::ldexp(std::frexp(pitch, &exponent), kExactBits);
    if (scaled != std::trunc(scaled)) half_ulp_ = UlpOf(pitch) / 2;
  }

  // Returns the point of the lattice nearest to the coordinate, as a double; `value` itself if it
  // is on the lattice.
  double Nearest(double value) const {
    if (std::abs(value) >= 0x1p53 * pitch_) return value;
    // The rounded quotient errs by at most 1.
    const double k = std::nearbyint(value / pitch_);
    double nearest = k * pitch_;
    for (const double other : {(k - 1) * pitch_, (k + 1) * pitch_}) {
      if (std::abs(other - value) < std::abs(nearest - value)) nearest = other;
    }
    const double granted = UlpOf(value) + (std::abs(k) + 1) * half_ulp_;
    if (nearest == value || std::abs(nearest - value) > 4 * granted) return nearest;
    for (const double multiple : {k, k - 1, k + 1}) {
      if (IsMultiple(value, multiple)) return value;
    }
    return nearest;
  }

 private:
  static constexpr int kExactBits = 32;

  static double UlpOf(double value) {
    return std::nextafter(std::abs(value), HUGE_VAL) - std::abs(value);
  }

  // Whether the coordinate is k * pitch but for the roundings that are granted.
  bool IsMultiple(double value, double k) const {
    const Dyadic off = Dyadic(value) - Dyadic(k) * Dyadic(pitch_);
    const Dyadic granted =
        Scaled(Dyadic(UlpOf(value)), -1) + Dyadic(std::abs(k)) * Dyadic(half_ulp_);
    return ((off.sign() < 0 ? -off : off) - granted).sign() <= 0;
  }

  double pitch_;
  double half_ulp_ = 0;
};

}  // namespace

bool FindInRings(const LintMap& map, double near_distance, LintWinding winding, FindingSink& sink,
                 WorkMeter& meter) {
  for (uint32_t p = 0; p < map.scene().polygon_count(); ++p) {
    const Polygon& polygon = map.scene().polygon(p);
    if (!meter.Spend(4 * polygon.vertex_count())) return false;
    for (uint32_t r = 0; r < polygon.ring_count(); ++r) {
      const CheckedRing ring{map, p, r, polygon.ring(r), polygon.is_open(r)};
      FindNearVertices(ring, near_distance, sink);
      if (sink.Wants(LintKind::kSpike)) FindSpikes(ring, sink);
      if (!FindAreas(ring, winding, sink, meter)) return false;
    }
  }
  return true;
}

double LatticePitch(const Scene& scene) {
  std::array<size_t, 42> count = {};  // of vertices, by the power that divides both coordinates
  for (size_t p = 0; p < scene.polygon_count(); ++p) {
    for (const Vec2 v : scene.polygon(p).vertices()) {
      const int power = std::min(PowerOf(v.x), PowerOf(v.y)) + 21;
      ++count[static_cast<size_t>(power)];
    }
  }
  size_t on_lattice = 0;
  for (size_t i = 41; i >= 1; --i) {
    on_lattice += count[i];
    if (10 * on_lattice >= 9 * scene.vertex_count()) {
      return std::ldexp(1.0, static_cast<int>(i) - 21);
    }
  }
  return 0;
}

bool FindOffLattice(const LintMap& map, double pitch, FindingSink& sink, WorkMeter& meter) {
  const Lattice lattice(pitch);
  for (uint32_t p = 0; p < map.scene().polygon_count(); ++p) {
    const Polygon& polygon = map.scene().polygon(p);
    if (!meter.Spend(polygon.vertex_count())) return false;
    for (uint32_t r = 0; r < polygon.ring_count(); ++r) {
      const CheckedRing ring{map, p, r, polygon.ring(r), polygon.is_open(r)};
      for (size_t i = 0; i < ring.vertices.size(); ++i) {
        const Vec2 v = ring.vertices[i];
        const Vec2 nearest{lattice.Nearest(v.x), lattice.Nearest(v.y)};
        if (nearest == v) continue;
        sink.Add(ring.Named(LintKind::kOffLattice, i), [=](LintFinding& finding) {
          finding.point = v;
          finding.other_point = nearest;
          finding.measure = std::max(std::abs(v.x - nearest.x), std::abs(v.y - nearest.y));
        });
      }
    }
  }
  return true;
}

}  // namespace carom::internal
