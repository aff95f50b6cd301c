// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/manifold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/double_double.h"
#include "numeric/dyadic.h"
#include "numeric/dyadic_vec2.h"
#include "numeric/exact.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

uint32_t VertexFeature(const ConvexCore& core, size_t i) { return 2 * core.vertex_index(i); }
uint32_t EdgeFeature(const ConvexCore& core, size_t k) { return 2 * core.edge_index(k) + 1; }

// Returns how deep two shapes overlap along their contact axis: the depth of their cores (the
// shapes without radii) plus both radii, at least 0.
double DepthOf(TwoDoubles core_depth, double radius_a, double radius_b) {
  return std::max(Add(core_depth, TwoSum(radius_a, radius_b)).high, 0.0) + 0.0;
}

TwoDoubles Magnitude(TwoDoubles a) { return a.high < 0 ? TwoDoubles{-a.high, -a.low} : a; }

// Returns n / d as a pair of doubles with a relative error of at most 2^-104, for n >= 0 and d > 0.
TwoDoubles PairQuotient(const Dyadic& n, const Dyadic& d) {
  if (n.sign() == 0) return {0, 0};
  const double high = NearestQuotient(n, d);
  const Dyadic rest = n - Dyadic(high) * d;
  return {high, rest.sign() == 0 ? 0 : NearestQuotient(rest, d)};
}

// Returns the depth of a contact to report, which is 0 if and only if the shapes only touch. The
// depth is computed in pairs of doubles, which resolve 2^-96 of the radii. So where the cores are
// apart by less than the sum of the radii (kApart), the returned depth is at least 2^-99 of this
// sum.
double TotalDepth(TwoDoubles core_depth, double radius_a, double radius_b, Cores cores) {
  if (cores == Cores::kTouchingRadii) return 0;
  const double depth = DepthOf(core_depth, radius_a, radius_b);
  return cores == Cores::kApart ? std::max(depth, 0x1p-99 * (radius_a + radius_b)) : depth;
}

// Returns `from` moved by `length` along the unit vector `direction`.
Vec2 Moved(Vec2 from, Vec2 direction, double length) {
  return {from.x + direction.x * length + 0.0, from.y + direction.y * length + 0.0};
}

// Returns the squared sine of the angle between two edges, with an error of at most 2^-48: the
// cross product errs by 4 * 2^-53 of the product of the lengths of both edges.
double RoundedSquaredSine(const Segment& reference, const Segment& edge) {
  const Vec2 r{reference.b.x - reference.a.x, reference.b.y - reference.a.y};
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const double cross = r.x * e.y - r.y * e.x;
  return cross * cross / ((r.x * r.x + r.y * r.y) * (e.x * e.x + e.y * e.y));
}

// Computes the contact points of two convex shapes if their contact axis is the normal of an edge
// of one of them, the reference edge. "Outward" is the direction of the outer normal of this edge.
// A core is a shape without its radius.
class EdgeManifold {
 public:
  EdgeManifold(const ConvexCore& reference, const ConvexCore& other, const Axis& axis,
               Contact& contact)
      : reference_(reference),
        other_(other),
        axis_(axis),
        contact_(contact),
        min_ratio_(reference.radius() + other.radius() == 0 ? kSmallMinRatio : kLargeMinRatio) {
    const Segment e = reference.Edge(axis.edge);
    p_ = e.a;
    q_ = e.b;
    length_ = PairLength(p_, q_);
    outward_ = UnitNormal(e, -1);
    depth_ = Divide(PairCross(p_, q_, p_, other.vertex(axis.support), min_ratio_), length_);
  }

  // Returns how deep the cores (the shapes without radii) overlap along the contact axis; negative
  // where the cores are apart.
  TwoDoubles CoreDepth() const { return depth_; }
  Vec2 outward() const { return outward_; }

  void AddPoints() {
    size_t edge = 0;
    const int along = IncidentEdge(edge);
    size_t low = axis_.support;
    size_t high = low == edge ? other_.Next(edge) : edge;
    if (along < 0) std::swap(low, high);
    if (along == 0) {
      AddVertex(axis_.support);
    } else if (Along(q_, low) >= 0) {
      AddVertex(low);
    } else if (Along(p_, high) <= 0) {
      AddVertex(high);
    } else {
      if (Along(p_, low) >= 0) {
        AddVertexEnd(low, edge);
      } else {
        AddClippedEnd(axis_.edge, edge);
      }
      if (Along(q_, high) <= 0) {
        AddVertexEnd(high, edge);
      } else {
        AddClippedEnd(reference_.Next(axis_.edge), edge);
      }
    }
    if (contact_.point_count == 0) AddVertex(axis_.support);
    if (contact_.point_count == 2 && !axis_.fixed_is_reference) {
      std::swap(contact_.points[0], contact_.points[1]);
    }
  }

 private:
  // Returns the sign of the position of vertex i of the other core along the reference edge (from
  // p_ to q_), relative to `origin`: the sign of a dot product.
  int Along(Vec2 origin, size_t i) const { return DotSign(origin, other_.vertex(i), p_, q_); }

  // Sets `edge` to the edge of the other core that faces the reference edge: the edge at the
  // support vertex (the deepest one) that is more nearly parallel to the reference edge. Returns
  // whether the end of `edge` that is not the support vertex is, in the direction of the reference
  // edge, ahead of the support vertex (1), behind it (-1) or level with it (0). Returns 0 if the
  // other core is a point.
  int IncidentEdge(size_t& edge) const {
    if (other_.edge_count() == 0) return 0;
    const size_t s = axis_.support;
    const size_t before = other_.Previous(s);
    edge = s;
    if (other_.size() == 2) {
      // A core that is a segment has two edges, one for each side. The edge that points against the
      // direction of the reference edge faces the reference edge.
      if (DotSign(other_.vertex(s), other_.vertex(before), p_, q_) > 0) edge = before;
    } else if (IsSteeper(s, before)) {
      edge = before;
    }
    const size_t end = edge == s ? other_.Next(s) : before;
    return DotSign(other_.vertex(s), other_.vertex(end), p_, q_);
  }

  // Returns whether edge `a` of the other core makes a larger angle with the reference edge than
  // edge `b` does, or an equal angle and `a` has the higher index (`edge_order`).
  bool IsSteeper(size_t a, size_t b) const {
    const int order = CompareAngles({p_, q_}, other_.Edge(a), other_.Edge(b));
    return order != 0 ? order > 0 : other_.edge_order(b) < other_.edge_order(a);
  }

  TwoDoubles VertexDepth(size_t i) const {
    if (i == axis_.support) return depth_;
    return Divide(PairCross(p_, q_, p_, other_.vertex(i), min_ratio_), length_);
  }

  // Adds a contact point at vertex i of the other core (the shape without its radius). The surface
  // of the other shape must lie exactly the radius of the other shape below the vertex, where below
  // means against the outward normal of the reference edge. So the vertex must be the support
  // vertex (the deepest one) or an end of an edge that is parallel to the reference edge.
  void AddVertex(size_t i) { AddVertex(i, VertexDepth(i), {other_.radius(), 0}); }

  void AddVertex(size_t i, TwoDoubles core_depth, TwoDoubles drop) {
    const double shift = (core_depth.high + reference_.radius() - drop.high) / 2;
    AddPoint(core_depth, drop, Moved(other_.vertex(i), outward_, shift),
             EdgeFeature(reference_, axis_.edge), VertexFeature(other_, i));
  }

  // Adds a contact point at vertex i of the other core, an end of the facing edge, which is edge
  // `edge` of the other core. Adds no point if the surfaces of the shapes do not overlap at the
  // vertex. The vertex must lie between the side planes of the reference edge (the lines along its
  // normal through its ends).
  void AddVertexEnd(size_t i, size_t edge) {
    const TwoDoubles core_depth = VertexDepth(i);
    const TwoDoubles drop = Drop(other_.vertex(i), core_depth, other_.Edge(edge));
    if (IsBelow(core_depth, drop)) AddVertex(i, core_depth, drop);
  }

  // Adds a contact point at an end y of the reference edge, where the line through y along the
  // normal of the reference edge clips the facing edge. With E the reference edge, n its outward
  // unit normal, s the tail of the facing edge and f the vector along it, the clip point is z = s +
  // f (E . (y - s)) / (E . f), and its depth below y is n . (y - z) = -|E| f x (y - s) / (E . f).
  void AddClippedEnd(size_t reference_vertex, size_t edge) {
    const Vec2 y = reference_.vertex(reference_vertex);
    const Segment f = other_.Edge(edge);
    const TwoDoubles cross = PairCross(f.a, f.b, f.a, y, min_ratio_);
    const TwoDoubles along = PairDot(p_, q_, f.a, f.b, min_ratio_);
    const TwoDoubles depth = Divide(Multiply({-cross.high, -cross.low}, length_), along);
    const TwoDoubles drop = Drop(y, depth, f);
    if (!IsBelow(depth, drop)) return;
    const double shift = (reference_.radius() - drop.high - depth.high) / 2;
    AddPoint(depth, drop, Moved(y, outward_, shift), VertexFeature(reference_, reference_vertex),
             EdgeFeature(other_, edge));
  }

  // Returns how far the surface of the other shape lies below the core of the other shape, on the
  // line through `at` along the outward normal of the reference edge; below means against this
  // normal. `core_depth` is the depth of the core on this line.
  //
  // A core with a radius r > 0 is a segment f, from its support vertex s up to its other end w. Let
  // c and k be the cosine and sine of the angle of f to the reference edge, and t the distance of
  // the line from s along the reference edge. From t = k r on, the surface is the straight side of
  // the capsule, r / c below f (the side begins at s moved by r along the side's own normal). For
  // smaller t, the surface is the round cap about s, and its lowest point on the line is sqrt(r^2 -
  // t^2) below s. The cap about w is never the lowest, since its part of the surface begins at k r
  // beyond w.
  //
  // Error: on the side, k r <= t <= |f| c, so r / c <= 2 r where c >= 1/2, and <= 1.2 |f|
  // otherwise; on the cap the drop is at most r. So the drop is at most 4 M, M the
  // largest coordinate or radius. As all terms have a relative error of at most 2^-97, the sum of
  // drop and depth errs by less than 2^-92 M.
  TwoDoubles Drop(Vec2 at, TwoDoubles core_depth, const Segment& f) const {
    const double radius = other_.radius();
    if (radius == 0) return {0, 0};
    const TwoDoubles cross = PairCross(p_, q_, f.a, f.b, kSmallMinRatio);
    if (cross.high == 0) return {radius, 0};
    const TwoDoubles axis_length = PairLength(f.a, f.b);
    const Vec2 s = other_.vertex(axis_.support);
    const TwoDoubles ahead = Magnitude(PairDot(p_, q_, s, at, min_ratio_));
    // Compares t with k r (defined above this function), both multiplied by the lengths of the
    // reference edge and of f. Both products have a relative error of at most 2^-66.
    const double left = Multiply(ahead, axis_length).high;
    const double right = Multiply({radius, 0}, Magnitude(cross)).high;
    const bool is_certain = kHasFilters && std::abs(left - right) > 0x1p-40 * (left + right);
    if (is_certain ? left < right : IsUnderCap(at, f)) {
      return Add(Subtract(depth_, core_depth), CapDepth(at, ahead));
    }
    const TwoDoubles along = Magnitude(PairDot(p_, q_, f.a, f.b, min_ratio_));
    return Divide(Multiply(Multiply(length_, axis_length), {radius, 0}), along);
  }

  // Returns whether the line through `at` along the normal of the reference edge meets the surface
  // of the other shape, a capsule with axis `f`, where this surface faces the reference edge, in
  // the round cap about the support vertex and not in the straight side. Exact.
  bool IsUnderCap(Vec2 at, const Segment& f) const {
    const DyadicVec2 e = DyadicDifference(q_, p_);
    const DyadicVec2 axis = DyadicDifference(f.b, f.a);
    const Dyadic ahead = Dot(e, DyadicDifference(at, other_.vertex(axis_.support)));
    const Dyadic cross = Cross(e, axis) * other_.radius();
    return ahead * ahead * Dot(axis, axis) < cross * cross;
  }

  // Returns sqrt(r^2 - t^2): how far the round cap of the other shape (of radius r) reaches below
  // its support vertex, on the line through `at` along the normal of the reference edge. The line
  // is at the distance t = ahead / length_ < r from the vertex. Where r - t cancels too many
  // digits, the radicand times the squared length of the reference edge is computed exactly; t
  // comes so close to r only where the axis of the capsule is steep against the reference edge.
  TwoDoubles CapDepth(Vec2 at, TwoDoubles ahead) const {
    const TwoDoubles radius{other_.radius(), 0};
    const TwoDoubles t = Divide(ahead, length_);
    const TwoDoubles rest = Subtract(radius, t);
    if (rest.high > 0x1p-20 * radius.high) {
      return SquareRoot(Multiply(rest, Add(radius, t)));
    }
    const DyadicVec2 e = DyadicDifference(q_, p_);
    const Dyadic exact_ahead = Dot(e, DyadicDifference(at, other_.vertex(axis_.support)));
    const Dyadic r = radius.high;
    const Dyadic e2 = Dot(e, e);
    return SquareRoot(PairQuotient(r * r * e2 - exact_ahead * exact_ahead, e2));
  }

  TwoDoubles SurfaceDepth(TwoDoubles core_depth, TwoDoubles drop) const {
    return Add(core_depth, Add({reference_.radius(), 0}, drop));
  }

  bool IsBelow(TwoDoubles core_depth, TwoDoubles drop) const {
    return SurfaceDepth(core_depth, drop).high >= 0;
  }

  void AddPoint(TwoDoubles core_depth, TwoDoubles drop, Vec2 point, uint32_t reference_feature,
                uint32_t other_feature) {
    ContactPoint& added = contact_.points[contact_.point_count++];
    added.point = point;
    added.depth = std::max(SurfaceDepth(core_depth, drop).high, 0.0) + 0.0;
    added.polygon_feature = axis_.fixed_is_reference ? reference_feature : other_feature;
    added.mover_feature = axis_.fixed_is_reference ? other_feature : reference_feature;
  }

  const ConvexCore& reference_;
  const ConvexCore& other_;
  const Axis& axis_;
  Contact& contact_;
  // The argument `min_ratio` of `PairCross` and `PairDot`, which bounds their relative errors by
  // 2^-99 / `min_ratio`. It is small if both radii are 0, since then no radius can cancel the depth
  // of the cores.
  const double min_ratio_;
  Vec2 p_, q_;
  TwoDoubles length_;
  Vec2 outward_;
  TwoDoubles depth_;
};

// Sets the contact of two shapes that touch with a vertex of each core: two round corners, or two
// cores that are one and the same point.
void MeetAtVertices(const ConvexCore& fixed, const ConvexCore& mover, const Axis& axis,
                    Contact& contact) {
  const size_t i = axis.kind == AxisKind::kVertices ? axis.edge : 0;
  const size_t j = axis.kind == AxisKind::kVertices ? axis.support : 0;
  const Vec2 p = fixed.vertex(i);
  const Vec2 v = mover.vertex(j);
  TwoDoubles depth{0, 0};
  contact.normal = {1, 0};
  if (axis.kind == AxisKind::kVertices) {
    contact.normal = UnitVector(p, v);
    const TwoDoubles distance = PairLength(p, v);
    depth = {-distance.high, -distance.low};
  }
  contact.depth = TotalDepth(depth, fixed.radius(), mover.radius(), axis.cores);
  contact.point_count = 1;
  const double shift = (fixed.radius() - mover.radius() - depth.high) / 2;
  contact.points[0] = {Moved(p, contact.normal, shift), contact.depth, VertexFeature(fixed, i),
                       VertexFeature(mover, j)};
}

}  // namespace

// Computes the left unit normal of the edge a -> b, and turns it clockwise by a right angle.
Vec2 UnitVector(Vec2 a, Vec2 b) {
  const Vec2 left = UnitNormal({a, b}, 1);
  return {left.y, -left.x + 0.0};
}

int CompareAngles(const Segment& reference, const Segment& a, const Segment& b) {
  const double rounded = RoundedSquaredSine(reference, a) - RoundedSquaredSine(reference, b);
  if (kHasFilters && std::abs(rounded) > 0x1p-40) return rounded > 0 ? 1 : -1;
  const auto squared_sine = [&](const Segment& e) {
    const TwoDoubles cross = PairCross(reference.a, reference.b, e.a, e.b);
    return Divide(Multiply(cross, cross), PairDot(e.a, e.b, e.a, e.b));
  };
  const TwoDoubles left = squared_sine(a);
  const TwoDoubles right = squared_sine(b);
  const double difference = Subtract(left, right).high;
  if (std::abs(difference) <= 0x1p-90 * (left.high + right.high)) return 0;
  return difference > 0 ? 1 : -1;
}

std::optional<Contact> ConvexContact(const ConvexCore& fixed, const ConvexCore& mover,
                                     WorkMeter& meter) {
  const std::optional<Axis> axis = ContactAxis(fixed, mover, meter);
  if (!axis) return std::nullopt;
  Contact contact;
  if (axis->kind != AxisKind::kEdge) {
    MeetAtVertices(fixed, mover, *axis, contact);
    return contact;
  }
  const ConvexCore& reference = axis->fixed_is_reference ? fixed : mover;
  const ConvexCore& other = axis->fixed_is_reference ? mover : fixed;
  EdgeManifold manifold(reference, other, *axis, contact);
  contact.normal = manifold.outward();
  if (!axis->fixed_is_reference) {
    contact.normal = {-contact.normal.x + 0.0, -contact.normal.y + 0.0};
  }
  contact.depth = TotalDepth(manifold.CoreDepth(), fixed.radius(), mover.radius(), axis->cores);
  manifold.AddPoints();
  return contact;
}

}  // namespace carom::internal
