// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas by their definition, in rationals: between neighbouring critical directions (of vertices,
// of crossings, of edges on the circle, of sides) the nearest edge is constant, so one ray between
// them finds it. Roots are approximated by far more bits than differences of these numbers have.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/area.h"
#include "carom/sincos.h"
#include "tests/core/random_scene.h"
#include "tests/support/exact.h"
#include "tests/support/oracle.h"

namespace carom::testing {

struct EyeCase {
  Vec2 eye;
  double range = 1;
  std::optional<std::pair<double, double>> sector = std::nullopt;
  InsidePolicy policy = InsidePolicy::kReportStart;

  std::string ToCode() const {
    return absl::StrFormat("eye {%a, %a} range %a policy %d sector %a %a\n", eye.x, eye.y, range,
                           static_cast<int>(policy), sector ? sector->first : 0,
                           sector ? sector->second : 0);
  }
};

inline AreaAnswers AreasOf(const World& world, const std::vector<EyeCase>& eyes, Scope scope = {},
                           uint32_t max_rows = 65536) {
  std::vector<double> x, y, range, from, to;
  for (const EyeCase& eye : eyes) {
    x.push_back(eye.eye.x);
    y.push_back(eye.eye.y);
    range.push_back(eye.range);
    if (eye.sector) {
      from.push_back(eye.sector->first);
      to.push_back(eye.sector->second);
    }
  }
  AreaAnswers out;
  WorkMeter meter;
  AreaOptions options;
  options.inside_policy = eyes.empty() ? InsidePolicy::kReportStart : eyes[0].policy;
  options.max_rows = max_rows;
  EXPECT_TRUE(FindAreas(world, {x, y, range, from, to, scope}, options, out, meter));
  EXPECT_EQ(meter.rows(), out.pieces.size());
  return out;
}

struct BrutePiece {
  AreaPieceKind kind;
  OracleEdge edge;
  RationalXy start;
};
struct BruteArea {
  std::vector<BrutePiece> pieces;
  long double area = 0;
  bool starts_inside = false;
};

class BruteEye {
 public:
  // `bits`: of the approximate roots.
  BruteEye(const std::vector<OraclePolygon>& polygons, const EyeCase& eye, unsigned bits)
      : eye_(eye), p_(Exact(Xy{eye.eye.x, eye.eye.y})), range_(Exact(eye.range)), bits_(bits) {
    for (const OraclePolygon& polygon : polygons) shapes_.emplace_back(polygon);
    tiny_ = Rational(1);
    mpq_div_2exp(tiny_.backend().data(), tiny_.backend().data(), bits * 2 / 3);
  }

  BruteArea Find() {
    BruteArea result;
    for (const OracleShape& shape : shapes_) {
      holds_.push_back(shape.Locate(p_) != OraclePlace::kOutside);
      if (holds_.back()) result.starts_inside = true;
    }
    if (result.starts_inside && eye_.policy == InsidePolicy::kReportStart) return result;
    ListDirections();
    FindOwners();
    ListPieces(result);
    return result;
  }

 private:
  static constexpr int kOpenOwner = -1, kClosedOwner = -2;
  struct Edge {
    RationalXy a, b;
    OracleEdge name;
  };
  Rational Root(const Rational& square) const {
    using Integer = boost::multiprecision::number<boost::multiprecision::gmp_int,
                                                  boost::multiprecision::et_off>;
    const Integer n = numerator(square), d = denominator(square);
    const Integer root = sqrt(Integer((n * d) << (2 * bits_)));
    return Rational(root, d << bits_);
  }
  static Rational Norm(const RationalXy& v) { return abs(v.x) + abs(v.y); }
  int Turn(const RationalXy& a, const RationalXy& b) const {
    const Rational cross = Cross(a, b);
    return abs(cross) <= tiny_ * Norm(a) * Norm(b) ? 0 : Sign(cross);
  }
  // In (-pi, pi]: 0 below the x axis, 1 to the right, 2 above, 3 to the left.
  int Half(const RationalXy& v) const {
    const Rational limit = tiny_ * Norm(v);
    if (abs(v.y) <= limit) return Sign(v.x) > 0 ? 1 : 3;
    return Sign(v.y) < 0 ? 0 : 2;
  }
  bool IsLess(const RationalXy& a, const RationalXy& b) const {
    const int half_a = Half(a), half_b = Half(b);
    return half_a != half_b ? half_a < half_b : Turn(a, b) > 0;
  }
  void AddDirection(const RationalXy& v) {
    if (!IsZero(v)) directions_.push_back((Rational(1) / Norm(v)) * v);
  }

  void ListDirections() {
    for (const OracleShape& shape : shapes_) {
      for (const auto& edge : shape.edges()) {
        edges_.push_back({Exact(edge.from), Exact(edge.to), edge.name});
      }
    }
    for (int i = 0; i < 4; ++i)
      AddDirection({i == 0 ? 1 : i == 1 ? -1 : 0, i == 2 ? 1 : i == 3 ? -1 : 0});
    for (size_t i = 0; i < edges_.size(); ++i) {
      AddDirection(edges_[i].a - p_);
      AddDirection(edges_[i].b - p_);
      AddOnCircle(edges_[i]);
      for (size_t k = 0; k < i; ++k) AddCrossing(edges_[i], edges_[k]);
    }
    if (eye_.sector) {
      const auto side = [](double angle) {
        const CosSin at = SinCos(angle);
        return Exact(Xy{at.c, at.s});
      };
      from_ = side(eye_.sector->first);
      to_ = side(eye_.sector->second);
      AddDirection(from_);
      AddDirection(to_);
    }
    std::sort(directions_.begin(), directions_.end(),
              [&](const RationalXy& a, const RationalXy& b) { return IsLess(a, b); });
    directions_.erase(std::unique(directions_.begin(), directions_.end(),
                                  [&](const RationalXy& a, const RationalXy& b) {
                                    return Half(a) == Half(b) && Turn(a, b) == 0;
                                  }),
                      directions_.end());
  }
  void AddCrossing(const Edge& e, const Edge& f) {
    const RationalXy along = e.b - e.a, other = f.b - f.a;
    const Rational d = Cross(along, other);
    if (Sign(d) == 0) return;
    const Rational t = Cross(f.a - e.a, other) / d, s = Cross(f.a - e.a, along) / d;
    if (t < 0 || t > 1 || s < 0 || s > 1) return;
    AddDirection(e.a + t * along - p_);
  }
  void AddOnCircle(const Edge& e) {
    const RationalXy along = e.b - e.a, w = e.a - p_;
    const Rational a = Dot(along, along), b = Dot(w, along), c = Dot(w, w) - range_ * range_;
    const Rational d = b * b - a * c;
    if (Sign(a) == 0 || Sign(d) < 0) return;
    const Rational root = Root(d);
    for (const Rational& t : {Rational((-b - root) / a), Rational((-b + root) / a)}) {
      if (t >= -tiny_ && t <= 1 + tiny_) AddDirection(w + t * along);
    }
  }

  Rational At(const Edge& e, const RationalXy& direction) const {
    const RationalXy along = e.b - e.a;
    return Cross(e.a - p_, along) / Cross(direction, along);
  }
  // The hits of the edges of a shape, in order, that block the ray.
  std::vector<std::pair<Rational, int>> Blocking(size_t shape, const RationalXy& m) const {
    std::vector<std::pair<Rational, int>> hits;
    size_t first = 0;
    for (size_t i = 0; i < shape; ++i) first += shapes_[i].edges().size();
    for (size_t k = 0; k < shapes_[shape].edges().size(); ++k) {
      const Edge& e = edges_[first + k];
      if (Sign(Cross(m, e.a - p_)) * Sign(Cross(m, e.b - p_)) >= 0) continue;
      const Rational t = At(e, m);
      if (t > 0) hits.push_back({t, static_cast<int>(first + k)});
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!holds_[shape]) return hits;
    Rational end = 0;
    size_t next = 0;
    while (next < hits.size() && shapes_[shape].IsFilled(p_ + (end + hits[next].first) / 2 * m)) {
      end = hits[next].first;
      while (next < hits.size() && hits[next].first == end) ++next;
    }
    hits.erase(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(next));
    return hits;
  }
  int Owner(const RationalXy& m) const {
    if (eye_.sector) {
      const bool is_narrow = Turn(from_, to_) > 0;
      const bool is_left = Turn(from_, m) > 0, is_right = Turn(m, to_) > 0;
      if (!(is_narrow ? is_left && is_right : is_left || is_right)) return kClosedOwner;
    }
    std::optional<std::pair<Rational, int>> best;
    for (size_t i = 0; i < shapes_.size(); ++i) {
      const auto hits = Blocking(i, m);
      for (const auto& hit : hits) {
        if (!best || hit.first < best->first ||
            (hit.first == best->first && edges_[hit.second].name < edges_[best->second].name)) {
          best = hit;
        }
      }
    }
    if (!best || best->first * best->first * Dot(m, m) >= range_ * range_) return kOpenOwner;
    return best->second;
  }
  void FindOwners() {
    for (size_t i = 0; i < directions_.size(); ++i) {
      owners_.push_back(Owner(directions_[i] + directions_[(i + 1) % directions_.size()]));
    }
  }

  RationalXy PointOf(int owner, const RationalXy& direction) const {
    if (owner == kClosedOwner) return p_;
    const Rational t = owner == kOpenOwner ? range_ / Root(Dot(direction, direction))
                                           : At(edges_[static_cast<size_t>(owner)], direction);
    return p_ + t * direction;
  }
  void AddPiece(AreaPieceKind kind, int owner, const RationalXy& start, BruteArea& result) const {
    const OracleEdge edge =
        kind == AreaPieceKind::kEdge ? edges_[static_cast<size_t>(owner)].name : OracleEdge{};
    result.pieces.push_back({kind, edge, start});
  }
  static long double ToDouble(const Rational& r) {
    const double high = NearestDouble(r);
    return static_cast<long double>(high) + NearestDouble(r - Exact(high));
  }
  void AddArea(int owner, const RationalXy& from, const RationalXy& to, BruteArea& result) const {
    if (owner == kClosedOwner) return;
    const RationalXy a = from - p_, b = to - p_;
    if (owner != kOpenOwner) {
      result.area += ToDouble(Cross(a, b) / 2);
      return;
    }
    long double angle = std::atan2(ToDouble(Cross(a, b)), ToDouble(Dot(a, b)));
    if (angle < 0) angle += 2 * std::acos(-1.0L);
    result.area += angle / 2 * ToDouble(range_ * range_);
  }
  void ListPieces(BruteArea& result) {
    const size_t n = directions_.size();
    std::vector<size_t> changes;
    for (size_t i = 0; i < n; ++i) {
      if (owners_[(i + n - 1) % n] != owners_[i]) changes.push_back(i);
    }
    if (changes.empty()) {
      if (owners_[0] == kClosedOwner) return;
      AddPiece(AreaPieceKind::kArc, owners_[0], p_ - RationalXy{range_, 0}, result);
      result.area = std::acos(-1.0L) * ToDouble(range_ * range_);
      return;
    }
    if (eye_.sector) {
      size_t first = 0;
      while (owners_[(changes[first] + n - 1) % n] != kClosedOwner) ++first;
      std::rotate(changes.begin(), changes.begin() + static_cast<std::ptrdiff_t>(first),
                  changes.end());
    }
    for (size_t c = 0; c < changes.size(); ++c) {
      const size_t i = changes[c];
      const int before = owners_[(i + n - 1) % n], after = owners_[i];
      const RationalXy end = PointOf(before, directions_[i]);
      const RationalXy start = PointOf(after, directions_[i]);
      if (Norm(end - start) > tiny_ * (Norm(end - p_) + Norm(start - p_))) {
        AddPiece(AreaPieceKind::kSight, 0, end, result);
      }
      const RationalXy& next = directions_[changes[(c + 1) % changes.size()]];
      AddArea(after, start, PointOf(after, next), result);
      if (after == kClosedOwner) continue;
      AddPiece(after == kOpenOwner ? AreaPieceKind::kArc : AreaPieceKind::kEdge, after, start,
               result);
    }
  }

  EyeCase eye_;
  RationalXy p_;
  Rational range_, tiny_;
  unsigned bits_;
  std::vector<OracleShape> shapes_;
  std::vector<bool> holds_;
  std::vector<Edge> edges_;
  RationalXy from_, to_;
  std::vector<RationalXy> directions_;
  std::vector<int> owners_;  // between direction i and the next one
};

}  // namespace carom::testing
