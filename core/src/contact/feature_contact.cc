// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/feature_contact.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "contact/manifold.h"
#include "numeric/box_distance.h"
#include "numeric/double_double.h"
#include "numeric/exact.h"
#include "shape/convex_core.h"
#include "shape/measures.h"

namespace carom::internal {
namespace {

// Calls visit(i, edge i of `a`, j, edge j of `b`) for the pairs of edges of both shapes with
// bounding boxes that meet once one box is enlarged by the sum of the shapes' radii. Stops if
// `visit` returns false or the meter stops.
template <class Visit>
void VisitEdgePairs(const PlacedShape& a, const PlacedShape& b, WorkMeter& meter,
                    const Visit& visit) {
  const double radius = a.radius() + b.radius();
  const Box reach_b = Grown(b.core_bounds(), radius);
  bool should_continue = true;
  a.VisitEdges(
      meter, [&](const Box& box) { return reach_b.Intersects(box); },
      [&](size_t i, const Segment& edge_a) {
        const Box reach_a = Grown(BoundsOf(edge_a), radius);
        b.VisitEdges(
            meter, [&](const Box& box) { return reach_a.Intersects(box); },
            [&](size_t j, const Segment& edge_b) {
              should_continue = visit(i, edge_a, j, edge_b);
              return should_continue;
            });
        return should_continue && !meter.stopped();
      });
}

// An edge of a polygon through which a vertex of another shape, inside the polygon, may be moved
// out.
struct Exit {
  double distance2 = HUGE_VAL;  // squared distance of the vertex from the edge, rounded
  uint32_t edge = 0;

  // Orders exits for a heap with the greatest exit on top: the exit with the least distance is the
  // greatest, and among equally near ones the exit with the least edge index.
  friend bool operator<(const Exit& a, const Exit& b) {
    return a.distance2 > b.distance2 || (a.distance2 == b.distance2 && a.edge > b.edge);
  }
};

double EdgeDistance2(const Segment& edge, Vec2 p) {
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const Vec2 d{p.x - edge.a.x, p.y - edge.a.y};
  const double length2 = e.x * e.x + e.y * e.y;
  const double along = e.x * d.x + e.y * d.y;
  if (!(along > 0)) return d.x * d.x + d.y * d.y;
  if (along >= length2) {
    const Vec2 d2{p.x - edge.b.x, p.y - edge.b.y};
    return d2.x * d2.x + d2.y * d2.y;
  }
  const double cross = e.x * d.y - e.y * d.x;
  return cross * cross / length2;
}

// A translation that moves a vertex out of a polygon.
struct Penetration {
  Vec2 direction;
  double distance = 0;
  // The vertex or edge of the polygon that the moved vertex reaches, numbered as in `ContactPoint`.
  uint32_t feature = 0;
};

// Returns the index of the edge's second vertex among all vertices of the polygon.
uint32_t HeadVertex(const Polygon& polygon, size_t edge) {
  const EdgeRef ref = polygon.edge_ref(edge);
  const size_t count = polygon.ring(ref.ring).size();
  const size_t first = edge - ref.edge;
  return static_cast<uint32_t>(first + (ref.edge + 1) % count);
}

// Searches the shortest way out of a polygon for a point p_ that lies in the polygon, such as a
// vertex of another shape.
class PenetrationSearch {
 public:
  PenetrationSearch(const IndexedPolygon& indexed, Vec2 p, WorkMeter& meter)
      : indexed_(indexed), p_(p), meter_(meter) {}

  // Returns the shortest translation of the point p_, which lies in the polygon, to a point of the
  // boundary where the translation leads out of the polygon. If no edge leads out, returns the
  // translation to the nearest edge.
  Penetration Nearest() {
    Exit nearest;
    indexed_.VisitEdges(
        meter_,
        [&](const Box& box) {
          return RoundedDistance2(box, {p_, p_}) <= nearest.distance2;
        },
        [&](size_t i, const Segment& edge) {
          const double distance2 = EdgeDistance2(edge, p_);
          if (distance2 < nearest.distance2) nearest = {distance2, static_cast<uint32_t>(i)};
          return true;
        });
    Penetration penetration = Through(nearest);
    if (LeadsOut(nearest, penetration)) return penetration;
    std::priority_queue<Exit> exits;
    indexed_.VisitEdges(
        meter_, [](const Box&) { return true; },
        [&](size_t i, const Segment& edge) {
          exits.push({EdgeDistance2(edge, p_), static_cast<uint32_t>(i)});
          return true;
        });
    for (; !exits.empty() && meter_.Spend(1); exits.pop()) {
      Penetration other = Through(exits.top());
      if (LeadsOut(exits.top(), other)) return other;
    }
    return penetration;
  }

 private:
  // Returns the translation of the point p_ to the nearest point of the edge `exit.edge`. If p_ is
  // on the edge, the distance is 0 and the direction is the normal on the right of the edge.
  Penetration Through(const Exit& exit) const {
    const Polygon& polygon = indexed_.polygon();
    const Segment e = polygon.edge(exit.edge);
    Penetration penetration;
    penetration.feature = 2 * exit.edge;
    if (e.a == e.b || DotSign(e.a, p_, e.a, e.b) <= 0) {
      if (p_ == e.a) return OnEdge(e, penetration);
      penetration.direction = UnitVector(p_, e.a);
      penetration.distance = PairLength(p_, e.a).high;
    } else if (DotSign(e.b, p_, e.a, e.b) >= 0) {
      penetration.feature = 2 * HeadVertex(polygon, exit.edge);
      if (p_ == e.b) return OnEdge(e, penetration);
      penetration.direction = UnitVector(p_, e.b);
      penetration.distance = PairLength(p_, e.b).high;
    } else {
      penetration.feature += 1;
      const int side = Orientation(e.a, e.b, p_);
      if (side == 0) return OnEdge(e, penetration);
      penetration.direction = UnitNormal(e, -side);
      penetration.distance =
          std::abs(Divide(PairCross(e.a, e.b, e.a, p_), PairLength(e.a, e.b)).high);
    }
    return penetration;
  }
  Penetration OnEdge(const Segment& e, Penetration penetration) const {
    penetration.direction = e.a == e.b ? Vec2{1, 0} : UnitNormal(e, -1);
    penetration.distance = 0;
    return penetration;
  }

  bool IsOutside(const Penetration& penetration, double length) {
    const Vec2 beyond{p_.x + penetration.direction.x * length,
                      p_.y + penetration.direction.y * length};
    return LocateInPolygon(indexed_, beyond, meter_).location == Location::kOutside;
  }

  // Returns whether p_, moved slightly farther than `penetration` moves it, is outside the polygon.
  // If the distance is 0, tries both normals of the edge and sets the direction to the one that
  // leads out.
  bool LeadsOut(const Exit& exit, Penetration& penetration) {
    const Box& box = indexed_.polygon().bounds();
    const double largest = std::max(std::max(std::abs(box.min.x), std::abs(box.max.x)),
                                    std::max(std::abs(box.min.y), std::abs(box.max.y)));
    const double margin = std::max(largest * 0x1p-44, penetration.distance * 0x1p-20);
    if (IsOutside(penetration, penetration.distance + margin)) return true;
    const Segment e = indexed_.polygon().edge(exit.edge);
    if (penetration.distance != 0 || e.a == e.b) return false;
    penetration.direction = {-penetration.direction.x + 0.0, -penetration.direction.y + 0.0};
    return IsOutside(penetration, margin);
  }

  const IndexedPolygon& indexed_;
  Vec2 p_;
  WorkMeter& meter_;
};

// Keeps the deepest of the added contacts of two shapes; among equally deep contacts, the one that
// was added first.
class DeepestContact {
 public:
  DeepestContact(const PlacedShape& fixed, const PlacedShape& mover, WorkMeter& meter)
      : fixed_(fixed), mover_(mover), meter_(meter) {}

  // Adds a contact for each vertex of the mover inside the fixed shape, and for each vertex of the
  // fixed shape inside the mover.
  void AddVertices() {
    AddVerticesOf(mover_, fixed_, /*of_mover=*/1);
    AddVerticesOf(fixed_, mover_, /*of_mover=*/-1);
  }

  // Adds a contact for each pair of an edge of the fixed shape and an edge of the mover that are at
  // most the sum of the shapes' radii apart. Both edges count as convex shapes with the radii of
  // their shapes.
  void AddEdgePairs() {
    VisitEdgePairs(fixed_, mover_, meter_,
                   [&](size_t i, const Segment& a, size_t j, const Segment& b) {
                     if (CompareDistance(a, Capsule{b, fixed_.radius() + mover_.radius()}) <= 0) {
                       AddPair(i, a, j, b);
                     }
                     return !meter_.stopped();
                   });
  }

  const std::optional<Contact>& contact() const { return contact_; }

 private:
  void AddVerticesOf(const PlacedShape& inner, const PlacedShape& outer, int of_mover) {
    const Box& reach = outer.core_bounds();
    inner.VisitEdges(
        meter_, [&](const Box& box) { return reach.Intersects(box); },
        [&](size_t i, const Segment& edge) {
          AddVertex(inner, outer, static_cast<uint32_t>(i), edge.a, of_mover);
          return !meter_.stopped();
        });
  }

  void AddVertex(const PlacedShape& inner, const PlacedShape& outer, uint32_t index, Vec2 p,
                 int of_mover) {
    if (LocateInPolygon(*outer.polygon(), p, meter_).location == Location::kOutside) return;
    const Penetration penetration = PenetrationSearch(*outer.polygon(), p, meter_).Nearest();
    const double depth = penetration.distance + (inner.radius() + outer.radius());
    if (contact_ && depth <= contact_->depth) return;
    Contact contact;
    contact.kind = ContactKind::kFeature;
    contact.normal = {of_mover * penetration.direction.x + 0.0,
                      of_mover * penetration.direction.y + 0.0};
    contact.depth = depth;
    contact.point_count = 1;
    const double shift = (penetration.distance + outer.radius() - inner.radius()) / 2;
    ContactPoint& point = contact.points[0];
    point.point = {p.x + penetration.direction.x * shift + 0.0,
                   p.y + penetration.direction.y * shift + 0.0};
    point.depth = depth;
    point.polygon_feature = of_mover > 0 ? penetration.feature : 2 * index;
    point.mover_feature = of_mover > 0 ? 2 * index : penetration.feature;
    contact_ = contact;
  }

  void AddPair(size_t i, const Segment& a, size_t j, const Segment& b) {
    std::optional<Contact> contact =
        ConvexContact(EdgeCore(fixed_, i, a), EdgeCore(mover_, j, b), meter_);
    if (!contact || (contact_ && contact->depth <= contact_->depth)) return;
    contact->kind = ContactKind::kFeature;
    contact_ = contact;
  }

  static ConvexCore EdgeCore(const PlacedShape& body, size_t edge, const Segment& segment) {
    const Polygon& polygon = body.polygon()->polygon();
    const auto index = static_cast<uint32_t>(edge);
    return {segment, body.radius(), index, HeadVertex(polygon, edge), index};
  }

  const PlacedShape& fixed_;
  const PlacedShape& mover_;
  WorkMeter& meter_;
  std::optional<Contact> contact_;
};

}  // namespace

bool SharePoint(const PlacedShape& a, const PlacedShape& b, WorkMeter& meter) {
  bool meet = false;
  VisitEdgePairs(a, b, meter, [&](size_t, const Segment& edge_a, size_t, const Segment& edge_b) {
    meet = CompareDistance(edge_a, Capsule{edge_b, a.radius() + b.radius()}) <= 0;
    return !meet;
  });
  return meet || FirstRingInside(a, b, meter) || FirstRingInside(b, a, meter);
}

std::optional<Contact> ContactOf(const IndexedPolygon& fixed, MovingShape& mover,
                                 WorkMeter& meter) {
  const ConvexCore* const core = fixed.is_convex() ? mover.hull() : nullptr;
  if (core == nullptr) return FeatureContact(PlacedShape(fixed), mover.RingView(), meter);
  if (fixed.core() != nullptr) return ConvexContact(*fixed.core(), *core, meter);
  if (!meter.Spend(fixed.polygon().vertex_count())) return std::nullopt;
  return ConvexContact({fixed.polygon().ring(0), fixed.convexity()}, *core, meter);
}

std::optional<Contact> ContactOf(const Polygon& fixed, Convexity convexity, MovingShape& mover,
                                 WorkMeter& meter) {
  const ConvexCore* const core = convexity != Convexity::kNone ? mover.hull() : nullptr;
  if (core == nullptr) {
    const IndexedPolygon indexed(fixed, IndexUse::kOneQuery);
    return FeatureContact(PlacedShape(indexed), mover.RingView(), meter);
  }
  if (!meter.Spend(fixed.vertex_count())) return std::nullopt;
  return ConvexContact({fixed.ring(0), convexity}, *core, meter);
}

std::optional<Contact> FeatureContact(const PlacedShape& fixed, const PlacedShape& mover,
                                      WorkMeter& meter) {
  DeepestContact deepest(fixed, mover, meter);
  if (!Grown(fixed.core_bounds(), fixed.radius() + mover.radius())
           .Intersects(mover.core_bounds())) {
    return std::nullopt;
  }
  deepest.AddVertices();
  const double radii = fixed.radius() + mover.radius();
  if (!deepest.contact() || deepest.contact()->depth <= radii) deepest.AddEdgePairs();
  return deepest.contact();
}

}  // namespace carom::internal
