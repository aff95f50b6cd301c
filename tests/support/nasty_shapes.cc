// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Recipes of circles and placed polygons.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "tests/support/nasty_maker.h"

namespace carom::testing::nasty {
namespace {

double Dot(Xy a, Xy b) { return a.x * b.x + a.y * b.y; }

// Returns whether the corner is the point of its two edges next to a point in this direction.
bool PointsAway(const Corner& corner, Xy direction) {
  return Dot(direction, corner.before - corner.at) <= 0 &&
         Dot(direction, corner.after - corner.at) <= 0;
}

// Any direction of a Pythagorean triple, and the length of that step.
struct TripleStep {
  Xy step;
  double length;
};

TripleStep AnyTriple(Dice& dice) {
  constexpr std::array<std::array<double, 3>, 4> kTriples = {
      {{3, 4, 5}, {5, 12, 13}, {8, 15, 17}, {20, 21, 29}}};
  const std::array<double, 3>& triple = kTriples[dice.Below(kTriples.size())];
  Xy step{dice.Either(-1, 1) * triple[0], dice.Either(-1, 1) * triple[1]};
  if (dice.Below(2) == 0) std::swap(step.x, step.y);
  return {step, triple[2]};
}

}  // namespace

// The centre is offset by a Pythagorean triple times a grid step, so the distance is the exact
// radius. Prefers directions in which the corner itself is touched.
Query Maker::TouchVertexByTriple() {
  const Corner corner = AnyCorner();
  TripleStep triple = AnyTriple(dice_);
  for (int i = 0; i < 30 && !PointsAway(corner, triple.step); ++i) triple = AnyTriple(dice_);
  const double grid = Grid(corner.at);
  const double unit = std::max(1.0, std::nearbyint(Reach() / triple.length / grid)) * grid;
  return CircleOf({corner.at + unit * triple.step, triple.length * unit});
}

Query Maker::TouchVertexLevel() {
  constexpr std::array<Xy, 4> kDirections = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  const Corner corner = AnyCorner();
  std::size_t direction = dice_.Below(4);
  for (int i = 0; i < 3 && !PointsAway(corner, kDirections[direction]); ++i)
    direction = (direction + 1) % 4;
  const double grid = Grid(corner.at);
  const double reach = std::max(1.0, std::nearbyint(Reach() / grid)) * grid;
  return CircleOf({corner.at + reach * kDirections[direction], reach});
}

Query Maker::TouchFlatEdge() {
  if (flat_edges_.empty()) return TouchVertexLevel();
  const OracleShape::Edge& edge = *flat_edges_[dice_.Below(flat_edges_.size())];
  const Xy foot = edge.from + dice_.Between(-0.1, 1.1) * (edge.to - edge.from);
  const double grid = Grid(edge.from), reach = std::max(1.0, std::nearbyint(Reach() / grid)) * grid;
  const double signed_reach = dice_.Either(-reach, reach);
  if (edge.from.y == edge.to.y) return CircleOf({{foot.x, edge.from.y + signed_reach}, reach});
  return CircleOf({{edge.from.x + signed_reach, foot.y}, reach});
}

// Square to a slanted edge: exact where the edge's length is a double, else within rounding of the
// touch.
Query Maker::TouchEdge() {
  const OracleShape::Edge& edge = AnyEdge();
  const Xy along = edge.to - edge.from, across{-along.y, along.x};
  const double part = static_cast<double>(dice_.Below(9)) / 8;
  const double times = std::ldexp(1.0, -static_cast<int>(dice_.Below(8)));
  const double side = dice_.Either(-1, 1);
  return CircleOf({edge.from + part * along + side * times * across, times * Length(along)});
}

Query Maker::AlmostTouch() {
  const std::array<Recipe, 4> exact = {&Maker::TouchVertexByTriple, &Maker::TouchVertexLevel,
                                       &Maker::TouchFlatEdge, &Maker::TouchEdge};
  Query query = (this->*exact[dice_.Below(exact.size())])();
  query.radius = std::max(0.0, std::nextafter(query.radius, dice_.Either(-kInfinity, kInfinity)));
  if (dice_.Below(3) == 0) query.a = Beside(query.a);
  return query;
}

Query Maker::Triangle(Xy corner) {
  const double reach = Reach();
  const Xy first = corner + Offset(corner, reach), second = corner + Offset(corner, reach);
  if (dice_.Below(3) == 0) return PolygonOf({{corner, first, 0.5 * (first + second), second}});
  return PolygonOf({{corner, first, second}});
}

Query Maker::SharedEdge() {
  const OracleShape::Edge& edge = AnyEdge();
  const Xy along = edge.to - edge.from, across{-along.y, along.x};
  const double side = dice_.Either(-1, 1);
  const Xy first = edge.to + side * across, second = edge.from + side * across;
  if (dice_.Below(2) == 0) return PolygonOf({{edge.to, edge.from, second}});
  return PolygonOf({{edge.from, edge.to, first, second}});
}

// The edges of a static ring, backwards; only its first 60 where it has more.
Query Maker::CopyOfPolygon() {
  const std::vector<OracleShape::Edge>& edges = AnyShape().edges();
  std::vector<Xy> ring;
  for (const OracleShape::Edge& edge : edges) {
    if (edge.name.ring == 0 && ring.size() < 60) ring.push_back(edge.from);
  }
  std::reverse(ring.begin(), ring.end());
  return PolygonOf({ring});
}

static std::vector<Xy> CornersOf(const OracleBox& box) {
  return {box.low, {box.high.x, box.low.y}, box.high, {box.low.x, box.high.y}};
}

Query Maker::BoxAroundPolygon() {
  const OracleBox& box = AnyShape().box();
  const double margin = dice_.Either(0.0, 0.5 * Length(box.high - box.low));
  return PolygonOf({CornersOf(dice_.Below(8) == 0 ? box_ : Around(box, margin))});
}

Query Maker::ContainedInPolygon() {
  const Xy point = PointInside();
  const double large = Size(), size = large * dice_.Either(0x1p-4, 0x1p-10);
  return PolygonOf({{point, point + Xy{size, 0}, point + Xy{0, size}}});
}

// A frame: the hole is the polygon's box, or one ulp wider or narrower, or clearly wider.
Query Maker::HoleAroundPolygon() {
  const OracleBox& box = AnyShape().box();
  const double size = std::max(Length(box.high - box.low), Grid(box.low));
  const double largest = std::max(
      {std::fabs(box.low.x), std::fabs(box.low.y), std::fabs(box.high.x), std::fabs(box.high.y)});
  const std::array<double, 4> margins = {0.0, Ulp(largest), -Ulp(largest), 0.25 * size};
  std::vector<Xy> hole = CornersOf(Around(box, margins[dice_.Below(margins.size())]));
  if (dice_.Below(2) == 0) std::reverse(hole.begin(), hole.end());
  return PolygonOf({CornersOf(Around(box, size)), hole});
}

Query Maker::DegeneratePoint() {
  const std::array<Xy, 4> points = {AnyVertex(), PointOnEdge(), PointInside(),
                                    Beside(PointOnBoundary())};
  const Xy point = points[dice_.Below(points.size())];
  return PolygonOf({std::vector<Xy>(1 + dice_.Below(3), point)});
}

Query Maker::DegenerateSegment() {
  const Xy a = PointOnBoundary(), b = a + Offset(a);
  if (dice_.Below(2) == 0) return PolygonOf({{a, b}});
  return PolygonOf({{a, b, 0.5 * (a + b), a}});
}

Query Maker::Bowtie() {
  const Xy centre = PointOnBoundary(), first = Offset(centre), second = Offset(centre);
  return PolygonOf({{centre + first, centre - first, centre + second, centre - second}});
}

// Its middle is a hole under even-odd and filled under non-zero; it is laid about a vertex or an
// inner point.
Query Maker::Pentagram() {
  const Xy centre = dice_.Below(3) == 0 ? PointInside() : AnyVertex();
  const double size = Size();
  std::vector<Xy> star;
  for (Xy tip : {Xy{0, 10}, Xy{6, -8}, Xy{-9.5, 3}, Xy{9.5, 3}, Xy{-6, -8}})
    star.push_back(centre + 0.125 * size * tip);
  return PolygonOf({star});
}

Query Maker::PolygonRandom() {
  const Xy centre = AnyPoint();
  std::vector<Xy> ring;
  for (std::size_t count = 3 + dice_.Below(6); count > 0; --count)
    ring.push_back(centre + Offset(centre));
  return PolygonOf({ring});
}

}  // namespace carom::testing::nasty
