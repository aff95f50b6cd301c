// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/manifold.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numeric/double_double.h"
#include "numeric/exact.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

uint32_t VertexFeature(const ConvexCore& core, size_t i) { return 2 * core.vertex_index(i); }
uint32_t EdgeFeature(const ConvexCore& core, size_t k) { return 2 * core.edge_index(k) + 1; }

// The depth along the axis, for that of the cores and both radii.
double DepthOf(TwoDoubles core_depth, double radius_a, double radius_b) {
  return std::max(Add(core_depth, TwoSum(radius_a, radius_b)).high, 0.0) + 0.0;
}

// The reported depth: 0 exactly where the shapes only touch, and only there. Pairs resolve 2^-96 of
// the radii.
double TotalDepth(TwoDoubles core_depth, double radius_a, double radius_b, Cores cores) {
  if (cores == Cores::kTouchingRadii) return 0;
  const double depth = DepthOf(core_depth, radius_a, radius_b);
  return cores == Cores::kApart ? std::max(depth, 0x1p-99 * (radius_a + radius_b)) : depth;
}

// `from` moved along the unit vector `direction`.
Vec2 Moved(Vec2 from, Vec2 direction, double length) {
  return {from.x + direction.x * length + 0.0, from.y + direction.y * length + 0.0};
}

// The contact points under an EDGE axis. "Outward" is the reference edge's normal.
class EdgeManifold {
 public:
  EdgeManifold(const ConvexCore& reference, const ConvexCore& other, const Axis& axis,
               Contact& contact)
      : reference_(reference),
        other_(other),
        axis_(axis),
        contact_(contact),
        part_(reference.radius() + other.radius() == 0 ? kSmallPart : kLargePart) {
    const Segment e = reference.Edge(axis.edge);
    p_ = e.a;
    q_ = e.b;
    length_ = PairLength(p_, q_);
    outward_ = UnitNormal(e, -1);
    depth_ = Divide(PairCross(p_, q_, p_, other.vertex(axis.support), part_), length_);
  }

  // The depth of the cores along the axis, negative where they are apart.
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
      AddEnd(Along(p_, low) >= 0, low, p_, axis_.edge, edge);
      AddEnd(Along(q_, high) <= 0, high, q_, reference_.Next(axis_.edge), edge);
    }
    if (contact_.point_count == 0) AddVertex(axis_.support);
    if (contact_.point_count == 2 && !axis_.fixed_is_reference) {
      std::swap(contact_.points[0], contact_.points[1]);
    }
  }

 private:
  // The sign of the position of vertex i along the reference edge, from `origin`.
  int Along(Vec2 origin, size_t i) const { return DotSign(origin, other_.vertex(i), p_, q_); }

  // Sets `edge` to the edge of the other core that faces the reference edge; returns whether its
  // end that is not the support vertex is ahead of that (1), behind (-1) or level with it (0).
  int IncidentEdge(size_t& edge) const {
    if (other_.edge_count() == 0) return 0;
    const size_t s = axis_.support;
    const size_t before = other_.Previous(s);
    edge = s;
    if (other_.size() == 2) {
      // The side whose direction is against the reference edge faces it.
      if (DotSign(other_.vertex(s), other_.vertex(before), p_, q_) > 0) edge = before;
    } else if (IsSteeper(s, before)) {
      edge = before;
    }
    const size_t end = edge == s ? other_.Next(s) : before;
    return DotSign(other_.vertex(s), other_.vertex(end), p_, q_);
  }

  // Whether edge `a` of the other core makes a larger angle with the reference edge than `b`, or
  // the same one and comes after it. Compares squared sines.
  bool IsSteeper(size_t a, size_t b) const {
    const double rounded_a = RoundedSquaredSine(a);
    const double rounded_b = RoundedSquaredSine(b);
    if (kHasFilters && std::abs(rounded_a - rounded_b) > 0x1p-40) return rounded_a > rounded_b;
    const auto squared_sine = [&](const Segment& e) {
      const TwoDoubles cross = PairCross(p_, q_, e.a, e.b);
      return Divide(Multiply(cross, cross), PairDot(e.a, e.b, e.a, e.b));
    };
    const TwoDoubles left = squared_sine(other_.Edge(a));
    const TwoDoubles right = squared_sine(other_.Edge(b));
    // Equal up to what pairs resolve counts as equal.
    const double difference = Subtract(left, right).high;
    if (std::abs(difference) > 0x1p-90 * (left.high + right.high)) return difference > 0;
    return other_.edge_order(b) < other_.edge_order(a);
  }

  // Of the angle to the reference edge, within 2^-48: the cross product errs by 4u of both lengths.
  double RoundedSquaredSine(size_t edge) const {
    const Segment e = other_.Edge(edge);
    const double x = e.b.x - e.a.x;
    const double y = e.b.y - e.a.y;
    const double cross = ((q_.x - p_.x) * y - (q_.y - p_.y) * x) / length_.high;
    return cross * cross / (x * x + y * y);
  }

  TwoDoubles VertexDepth(size_t i) const {
    if (i == axis_.support) return depth_;
    return Divide(PairCross(p_, q_, p_, other_.vertex(i), part_), length_);
  }

  void AddVertex(size_t i) {
    const TwoDoubles depth = VertexDepth(i);
    const double shift = (depth.high + reference_.radius() - other_.radius()) / 2;
    AddPoint(depth, Moved(other_.vertex(i), outward_, shift), EdgeFeature(reference_, axis_.edge),
             VertexFeature(other_, i));
  }

  // The end of what is left of the incident edge (s, w): its own, or the point z over the end y of
  // the reference edge. With E the reference edge and f = w - s, z = s + f (E . (y - s)) / (E . f),
  // and its depth n . (y - z) = -|E| f x (y - s) / (E . f).
  void AddEnd(bool is_own, size_t vertex, Vec2 y, size_t reference_vertex, size_t edge) {
    if (is_own) {
      if (!IsBelow(VertexDepth(vertex))) return;
      AddVertex(vertex);
      return;
    }
    const Segment f = other_.Edge(edge);
    const TwoDoubles cross = PairCross(f.a, f.b, f.a, y, part_);
    const TwoDoubles along = PairDot(p_, q_, f.a, f.b, part_);
    const TwoDoubles depth = Divide(Multiply({-cross.high, -cross.low}, length_), along);
    if (!IsBelow(depth)) return;
    const double shift = (reference_.radius() - other_.radius() - depth.high) / 2;
    AddPoint(depth, Moved(y, outward_, shift), VertexFeature(reference_, reference_vertex),
             EdgeFeature(other_, edge));
  }

  bool IsBelow(TwoDoubles depth) const {
    return Add(depth, TwoSum(reference_.radius(), other_.radius())).high >= 0;
  }

  void AddPoint(TwoDoubles depth, Vec2 point, uint32_t reference_feature, uint32_t other_feature) {
    ContactPoint& added = contact_.points[contact_.point_count++];
    added.point = point;
    added.depth = DepthOf(depth, reference_.radius(), other_.radius());
    added.polygon_feature = axis_.fixed_is_reference ? reference_feature : other_feature;
    added.mover_feature = axis_.fixed_is_reference ? other_feature : reference_feature;
  }

  const ConvexCore& reference_;
  const ConvexCore& other_;
  const Axis& axis_;
  Contact& contact_;
  const double part_;  // of `PairCross`
  Vec2 p_, q_;
  TwoDoubles length_;
  Vec2 outward_;
  TwoDoubles depth_;
};

// The contact of two round corners, or of two points in one place.
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

// The normal of the edge a -> b, turned back by a right angle.
Vec2 UnitVector(Vec2 a, Vec2 b) {
  const Vec2 left = UnitNormal({a, b}, 1);
  return {left.y, -left.x + 0.0};
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
