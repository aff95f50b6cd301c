// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes of the oracle and where a point lies in them.
#include <algorithm>

#include "tests/support/oracle.h"

namespace carom::testing {
namespace {

OracleBox EmptyBox() { return {{kInf, kInf}, {-kInf, -kInf}}; }

void Extend(OracleBox& box, Xy point) {
  box.low = {std::min(box.low.x, point.x), std::min(box.low.y, point.y)};
  box.high = {std::max(box.high.x, point.x), std::max(box.high.y, point.y)};
}

// Returns a box of doubles that holds `point`.
OracleBox BoxAround(const RationalXy& point) {
  return {{AtMost(point.x), AtMost(point.y)}, {AtLeast(point.x), AtLeast(point.y)}};
}

bool EdgeHolds(const OracleShape::Edge& edge, const RationalXy& point) {
  const RationalXy from = Exact(edge.from);
  const RationalXy along = Exact(edge.to) - from;
  const RationalXy to_point = point - from;
  if (Sign(Cross(along, to_point)) != 0) return false;
  const Rational reach = Dot(to_point, along);
  if (IsZero(along)) return IsZero(to_point);
  return Sign(reach) >= 0 && reach <= Dot(along, along);
}

// Returns what the edge adds to the winding number of `point`: +1 where it crosses the open ray to
// the right of the point upwards, −1 downwards. The lower end belongs to the edge and the upper end
// does not.
int WindingOf(const OracleShape::Edge& edge, const RationalXy& point) {
  const RationalXy from = Exact(edge.from);
  const RationalXy to = Exact(edge.to);
  const bool from_above = from.y > point.y;
  const bool to_above = to.y > point.y;
  if (from_above == to_above) return 0;
  const int side = Sign(Cross(to - from, point - from));
  if (to_above) return side > 0 ? 1 : 0;
  return side < 0 ? -1 : 0;
}

}  // namespace

bool BoxesMeet(const OracleBox& a, const OracleBox& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y;
}

OracleShape::OracleShape(const OraclePolygon& polygon)
    : id_(polygon.id),
      category_(polygon.category),
      fill_(polygon.fill),
      solidity_(polygon.solidity),
      box_(EmptyBox()) {
  for (std::size_t ring = 0; ring < polygon.rings.size(); ++ring) {
    AddRing(polygon.rings[ring], static_cast<std::uint32_t>(ring));
  }
}

void OracleShape::AddRing(const OracleRing& ring, std::uint32_t index) {
  std::vector<Xy> points;
  for (Xy point : ring.points) points.push_back(Flushed(point));
  if (!ring.open && points.size() >= 2 && points.front() == points.back()) points.pop_back();
  const std::size_t edge_count =
      ring.open && points.size() >= 2 ? points.size() - 1 : points.size();
  for (std::size_t i = 0; i < edge_count; ++i) {
    Edge edge{points[i],
              points[(i + 1) % points.size()],
              {id_, index, static_cast<std::uint32_t>(i)},
              EmptyBox()};
    Extend(edge.box, edge.from);
    Extend(edge.box, edge.to);
    Extend(box_, edge.from);
    Extend(box_, edge.to);
    edges_.push_back(edge);
  }
  ring_starts_.push_back(points.front());
}

OraclePlace OracleShape::Locate(const RationalXy& point) const {
  if (!EdgesThrough(point).empty()) return OraclePlace::kBoundary;
  return IsFilled(point) ? OraclePlace::kInside : OraclePlace::kOutside;
}

std::vector<OracleEdge> OracleShape::EdgesThrough(const RationalXy& point) const {
  std::vector<OracleEdge> found;
  const OracleBox around = BoxAround(point);
  if (!BoxesMeet(around, box_)) return found;
  for (const Edge& edge : edges_) {
    if (BoxesMeet(around, edge.box) && EdgeHolds(edge, point)) found.push_back(edge.name);
  }
  return found;
}

bool OracleShape::IsFilled(const RationalXy& point) const {
  if (solidity_ == OracleSolidity::kBoundary) return false;
  const OracleBox around = BoxAround(point);
  if (!BoxesMeet(around, box_)) return false;
  const OracleBox ray{around.low, {kInf, around.high.y}};
  int winding = 0;
  for (const Edge& edge : edges_) {
    if (BoxesMeet(ray, edge.box)) winding += WindingOf(edge, point);
  }
  return fill_ == OracleFill::kEvenOdd ? winding % 2 != 0 : winding != 0;
}

}  // namespace carom::testing
