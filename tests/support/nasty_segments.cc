// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Ingredients, and recipes of segments.
#include <algorithm>

#include "tests/support/nasty_maker.h"

namespace carom::testing::nasty {

Maker::Maker(const std::vector<OraclePolygon>& scene, std::uint64_t seed)
    : dice_(seed), box_{{kInfinity, kInfinity}, {-kInfinity, -kInfinity}} {
  for (const OraclePolygon& polygon : scene) shapes_.emplace_back(polygon);
  for (const OracleShape& shape : shapes_) {
    box_.low = {std::min(box_.low.x, shape.box().low.x), std::min(box_.low.y, shape.box().low.y)};
    box_.high = {std::max(box_.high.x, shape.box().high.x),
                 std::max(box_.high.y, shape.box().high.y)};
    for (const OracleShape::Edge& edge : shape.edges()) {
      if (edge.from.x == edge.to.x || edge.from.y == edge.to.y) flat_edges_.push_back(&edge);
    }
  }
  box_ = Around(box_, 0.25 * Length(box_.high - box_.low));
}

const OracleShape::Edge& Maker::AnyEdge() {
  const std::vector<OracleShape::Edge>& edges = AnyShape().edges();
  return edges[dice_.Below(edges.size())];
}

Corner Maker::AnyCorner() {
  const std::vector<OracleShape::Edge>& edges = AnyShape().edges();
  const std::size_t i = dice_.Below(edges.size());
  return {edges[i].from, edges[i].to, edges[(i + 1) % edges.size()].to};
}

// On the edge exactly where the coordinates have bits to spare, else within rounding of it.
Xy Maker::PointOnEdge() {
  const OracleShape::Edge& edge = AnyEdge();
  const double part = static_cast<double>(1 + dice_.Below(7)) / 8;
  return edge.from + part * (edge.to - edge.from);
}

Xy Maker::PointInBox(const OracleBox& box) {
  return {dice_.Between(box.low.x, box.high.x), dice_.Between(box.low.y, box.high.y)};
}

// In the polygon's box and, if ten throws suffice, inside the polygon.
Xy Maker::PointInside() {
  const OracleShape& shape = AnyShape();
  Xy point = PointInBox(shape.box());
  for (int i = 0; i < 10 && shape.Locate(point) != OraclePlace::kInside; ++i)
    point = PointInBox(shape.box());
  return point;
}

// One or two ulps away in x, y or both.
Xy Maker::Beside(Xy point) {
  const std::size_t how = 1 + dice_.Below(3);
  const double x_to = dice_.Either(-kInfinity, kInfinity),
               y_to = dice_.Either(-kInfinity, kInfinity);
  if (how % 2 == 1) point.x = std::nextafter(point.x, x_to);
  if (how / 2 == 1) point.y = std::nextafter(point.y, y_to);
  return point;
}

// A step whose small multiples can be added to the coordinates of `about` without rounding.
double Maker::Grid(Xy about) const {
  const double span =
      std::max(Length(box_.high - box_.low), std::max(std::fabs(about.x), std::fabs(about.y)));
  return 4 * Ulp(span);
}

// A length of the size of an edge, a polygon or the scene.
double Maker::Size() {
  const OracleBox& box = AnyShape().box();
  const OracleShape::Edge& edge = AnyEdge();
  const std::array<double, 3> sizes = {Length(edge.to - edge.from), Length(box.high - box.low),
                                       Length(box_.high - box_.low)};
  const double size = sizes[dice_.Below(4) % 3];
  return size * dice_.Between(0.25, 1.5);
}

// A length from that of a small detail up to that of the scene.
double Maker::Reach() {
  const double size = Size();
  return std::ldexp(size, -static_cast<int>(dice_.Below(10)));
}

// A vector that can be added to `about`, and taken from it, without rounding.
Xy Maker::Offset(Xy about, double size) {
  const double grid = Grid(about);
  const auto on_grid = [&](double value) { return std::nearbyint(value / grid) * grid; };
  return {on_grid(dice_.Between(-size, size)), on_grid(dice_.Between(-size, size))};
}

OracleBox Maker::Around(const OracleBox& box, double margin) const {
  const Xy step{margin, margin};
  return {box.low - step, box.high + step};
}

Query Maker::PolygonOf(std::vector<std::vector<Xy>> rings) {
  Query query;
  query.op = QueryOp::kPolygon;
  query.shape.fill = dice_.Below(2) == 0 ? OracleFill::kEvenOdd : OracleFill::kNonZero;
  for (std::vector<Xy>& ring : rings) query.shape.rings.push_back({std::move(ring), false});
  return query;
}

Query Maker::ThroughVertex() {
  const Xy vertex = AnyVertex(), step = Offset(vertex);
  return SegmentOf({vertex - step, vertex + (dice_.Below(2) == 0 ? step : 2 * step)});
}

Query Maker::AlongEdge() {
  const OracleShape::Edge& edge = AnyEdge();
  const Xy along = edge.to - edge.from;
  const double first = static_cast<double>(dice_.Below(9)) / 8,
               second = static_cast<double>(dice_.Below(9)) / 8;
  return SegmentOf({edge.from + first * along, edge.from + second * along});
}

Query Maker::WholeEdge() {
  const OracleShape::Edge& edge = AnyEdge();
  return dice_.Below(2) == 0 ? SegmentOf({edge.from, edge.to}) : SegmentOf({edge.to, edge.from});
}

Query Maker::CollinearOvershoot() {
  const bool flat = !flat_edges_.empty() && dice_.Below(2) == 0;
  const OracleShape::Edge& edge = flat ? *flat_edges_[dice_.Below(flat_edges_.size())] : AnyEdge();
  const Xy along = edge.to - edge.from;
  const double before = static_cast<double>(dice_.Below(3)),
               after = static_cast<double>(1 + dice_.Below(3));
  const Xy a = edge.from - before * along, b = edge.to + after * along;
  return dice_.Below(2) == 0 ? SegmentOf({a, b}) : SegmentOf({b, a});
}

// Through a corner parallel to the chord between its neighbours: tangent where the corner is
// convex.
Query Maker::Tangent() {
  const Corner corner = AnyCorner();
  const double grid = Grid(corner.at);
  Xy step = corner.after - corner.before;
  step = {std::nearbyint(step.x / grid) * grid, std::nearbyint(step.y / grid) * grid};
  return SegmentOf({corner.at - step, corner.at + step});
}

Query Maker::StartOnBoundary() {
  const Xy start = PointOnBoundary();
  return SegmentOf({start, dice_.Below(2) == 0 ? start + Offset(start) : AnyPoint()});
}

Query Maker::EndOnBoundary() {
  const Xy end = PointOnBoundary();
  return SegmentOf({dice_.Below(2) == 0 ? end - Offset(end) : AnyPoint(), end});
}

Query Maker::ZeroLength() {
  const std::array<Xy, 5> points = {AnyVertex(), PointOnEdge(), PointInside(), AnyPoint(),
                                    Beside(AnyVertex())};
  const Xy point = points[dice_.Below(points.size())];
  return SegmentOf({point, point});
}

Query Maker::OneUlpOff() {
  const Xy vertex = Beside(PointOnBoundary()), step = Offset(vertex);
  const std::array<Query, 3> choices = {SegmentOf({vertex - step, vertex + step}),
                                        SegmentOf({vertex, vertex + step}),
                                        SegmentOf({vertex - step, vertex})};
  return choices[dice_.Below(choices.size())];
}

Query Maker::NearParallel() {
  const OracleShape::Edge& edge = AnyEdge();
  const Xy along = dice_.Below(2) == 0 ? edge.to - edge.from : Xy{};
  return SegmentOf(
      {Beside(edge.from - along), dice_.Below(2) == 0 ? Beside(edge.to + along) : edge.to + along});
}

Query Maker::Horizontal() {
  const double y = AnyVertex().y;
  const Xy a{dice_.Either(box_.low.x, AnyVertex().x), y},
      b{dice_.Either(box_.high.x, AnyVertex().x), y};
  return dice_.Below(2) == 0 ? SegmentOf({a, b}) : SegmentOf({b, a});
}

Query Maker::Vertical() {
  const double x = AnyVertex().x;
  const Xy a{x, dice_.Either(box_.low.y, AnyVertex().y)},
      b{x, dice_.Either(box_.high.y, AnyVertex().y)};
  return dice_.Below(2) == 0 ? SegmentOf({a, b}) : SegmentOf({b, a});
}

// A few ulps long, at the boundary.
Query Maker::Tiny() {
  const Xy point = PointOnBoundary();
  return SegmentOf({Beside(point), Beside(Beside(point))});
}

Query Maker::Huge() {
  const Xy vertex = PointOnBoundary();
  const double far = Length(box_.high - box_.low) * 1000;
  const Xy step{dice_.Between(-far, far), dice_.Between(-far, far)};
  return SegmentOf({vertex - step, vertex + step});
}

}  // namespace carom::testing::nasty
