// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/lint_exact.h"

#include <algorithm>

namespace carom::internal {
namespace {

// Returns the sign of the squared distance between `p` and `g`, times p.w^2, minus
// `scaled_radius2`.
int CompareScaled(const ExactPoint& p, const Segment& g, const Dyadic& scaled_radius2) {
  const DyadicVec2 d = DyadicDifference(g.b, g.a);
  const DyadicVec2 from_a{p.x - p.w * Dyadic(g.a.x), p.y - p.w * Dyadic(g.a.y)};
  const Dyadic along = Dot(from_a, d);
  const Dyadic length2 = Dot(d, d);
  if (along.sign() <= 0) return (Dot(from_a, from_a) - scaled_radius2).sign();
  if (p.w * length2 <= along) {
    const DyadicVec2 from_b{p.x - p.w * Dyadic(g.b.x), p.y - p.w * Dyadic(g.b.y)};
    return (Dot(from_b, from_b) - scaled_radius2).sign();
  }
  const Dyadic cross = Cross(from_a, d);
  return (cross * cross - scaled_radius2 * length2).sign();
}

}  // namespace

double RoundedDistance(Vec2 a, Vec2 b) {
  const DyadicVec2 d = DyadicDifference(a, b);
  return RootOfQuotient(Dot(d, d), 1.0);
}

ExactPoint CrossingPoint(const Segment& a, const Segment& b) {
  const DyadicVec2 da = DyadicDifference(a.b, a.a);
  const DyadicVec2 db = DyadicDifference(b.b, b.a);
  Dyadic w = Cross(da, db);
  Dyadic n = Cross(DyadicDifference(b.a, a.a), db);
  if (w.sign() < 0) {
    w = -w;
    n = -n;
  }
  return {Dyadic(a.a.x) * w + n * da.x, Dyadic(a.a.y) * w + n * da.y, w};
}

Foot::Foot(Vec2 v, const Segment& edge)
    : v_(v), edge_(edge), is_end_(true), end_(edge.a), near_(NearestNear(v, edge)) {
  if (DotSign(edge.a, v, edge.a, edge.b) <= 0) return;
  end_ = edge.b;
  if (DotSign(edge.b, v, edge.b, edge.a) <= 0) return;
  is_end_ = false;
}

ExactPoint Foot::Exact() const {
  if (is_end_) return ExactOf(end_);
  const DyadicVec2 d = DyadicDifference(edge_.b, edge_.a);
  const Dyadic along = Dot(DyadicDifference(v_, edge_.a), d);
  const Dyadic w = Dot(d, d);
  return {Dyadic(edge_.a.x) * w + along * d.x, Dyadic(edge_.a.y) * w + along * d.y, w};
}

ExactPoint Foot::Middle() const {
  const ExactPoint q = Exact();
  return {q.x + q.w * Dyadic(v_.x), q.y + q.w * Dyadic(v_.y), Scaled(q.w, 1)};
}

double Foot::RoundedLength() const {
  if (is_end_) return RoundedDistance(v_, end_);
  const DyadicVec2 d = DyadicDifference(edge_.b, edge_.a);
  const Dyadic cross = Cross(DyadicDifference(v_, edge_.a), d);
  return RootOfQuotient(cross * cross, Dot(d, d));
}

int Foot::TowardsFrom(bool from_v, Vec2 w) const {
  if (is_end_) return from_v ? DotSign(v_, w, v_, end_) : DotSign(end_, w, end_, v_);
  // From v to the foot leads the normal of the edge that points to the side without v.
  return CrossSign(edge_.a, edge_.b, edge_.a, v_) * CrossSign(v_, w, edge_.a, edge_.b);
}

// With q = (a D + N d) / D, where d = b - a, D = |d|^2 and N = (v - a) . d, the radius is |C| / (2
// sqrt(D)) for C = (v - a) x d, and the middle has w = 2 D. So radius^2 w^2 = C^2 D.
bool Foot::DiscMeets(const Segment& g) const {
  const ExactPoint middle = Middle();
  if (is_end_) {
    const DyadicVec2 d = DyadicDifference(v_, end_);
    return CompareScaled(middle, g, Dot(d, d)) < 0;
  }
  const DyadicVec2 d = DyadicDifference(edge_.b, edge_.a);
  const Dyadic cross = Cross(DyadicDifference(v_, edge_.a), d);
  return CompareScaled(middle, g, cross * cross * Dot(d, d)) < 0;
}

Vec2 NearestNear(Vec2 v, const Segment& edge) {
  const Vec2 d{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const double length2 = d.x * d.x + d.y * d.y;
  const double along = (v.x - edge.a.x) * d.x + (v.y - edge.a.y) * d.y;
  if (!(along > 0) || !(length2 > 0)) return edge.a;
  if (along >= length2) return edge.b;
  const double t = along / length2;
  return {edge.a.x + t * d.x, edge.a.y + t * d.y};
}

int ExactCrossing(const ExactPoint& p, const Segment& edge) {
  const auto above = [&p](Vec2 end) { return (p.w * Dyadic(end.y) - p.y).sign() > 0; };
  const bool starts_above = above(edge.a);
  if (starts_above == above(edge.b)) return 0;
  const DyadicVec2 d = DyadicDifference(edge.b, edge.a);
  const DyadicVec2 from_a{p.x - p.w * Dyadic(edge.a.x), p.y - p.w * Dyadic(edge.a.y)};
  const int side = Cross(d, from_a).sign();  // 1: p is to the left of the edge
  // An upward edge passes the ray if the point is to the left of the edge.
  if (!starts_above) return side > 0 ? 1 : 0;
  return side < 0 ? -1 : 0;
}

}  // namespace carom::internal
