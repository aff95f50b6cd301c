// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Vectors from the eye to the starts of pieces err by 2^-60 of their lengths (`PlacedPoint`), those
// to vertices not at all. A distance between segments changes at most by as much as their ends
// move, and the pairs of doubles in which it is computed err by 2^-95 of the vectors' lengths. Of a
// long piece, an end that is far away moves the part near the shape only by the same share of that
// part's distance. So the slack of 2^-55 of the largest coordinate covers all errors by far.

#include "area/area_reach.h"

#include <algorithm>
#include <cmath>

#include "area/boundary.h"
#include "numeric/double_double.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

PairVector Minus(const PairVector& a, const PairVector& b) {
  return {Subtract(a.x, b.x), Subtract(a.y, b.y), 0};
}
PairVector VectorTo(Vec2 eye, Vec2 p) { return {TwoDiff(p.x, eye.x), TwoDiff(p.y, eye.y), 0}; }

bool IsAtMost(TwoDoubles a, TwoDoubles b) { return Subtract(a, b).high <= 0; }

// Returns the square of the distance between a point and the segment from `a` to `b`.
TwoDoubles SquaredDistance(const PairVector& point, const PairVector& a, const PairVector& b) {
  const PairVector along = Minus(b, a), to = Minus(point, a);
  const TwoDoubles dot = DotOf(to, along);
  if (dot.high <= 0) return DotOf(to, to);
  const TwoDoubles length2 = DotOf(along, along);
  if (IsAtMost(length2, dot)) {
    const PairVector from_b = Minus(point, b);
    return DotOf(from_b, from_b);
  }
  const TwoDoubles cross = CrossOf(along, to);
  return Divide(Multiply(cross, cross), length2);
}

// Returns whether `c` and `d` are strictly on different sides of the line through `a` and `b`.
bool AreSeparated(const PairVector& a, const PairVector& b, const PairVector& c,
                  const PairVector& d) {
  const PairVector along = Minus(b, a);
  const double of_c = CrossOf(along, Minus(c, a)).high, of_d = CrossOf(along, Minus(d, a)).high;
  return (of_c > 0 && of_d < 0) || (of_c < 0 && of_d > 0);
}

// An edge of the shape, by vectors from the eye.
struct ReachingEdge {
  PairVector a, b;
  Box bounds;          // about: of the vectors
  PairVector nearest;  // the point of the edge that is nearest to the eye
};

ReachingEdge MakeEdge(Vec2 eye, const Segment& edge) {
  ReachingEdge made{VectorTo(eye, edge.a), VectorTo(eye, edge.b), {}, {}};
  made.bounds = BoundsOf({{made.a.x.high, made.a.y.high}, {made.b.x.high, made.b.y.high}});
  const PairVector along = Minus(made.b, made.a);
  const TwoDoubles dot = DotOf(made.a, along), length2 = DotOf(along, along);
  if (dot.high >= 0) {
    made.nearest = made.a;
  } else if (IsAtMost(Add(dot, length2), {0, 0})) {
    made.nearest = made.b;
  } else {
    const TwoDoubles t = Divide(dot, length2);
    made.nearest = {Subtract(made.a.x, Multiply(along.x, t)),
                    Subtract(made.a.y, Multiply(along.y, t)), 0};
  }
  return made;
}

// Returns whether a vector leads to a point in the directions of an arc, ends included. Differences
// of keys of 1/2 and 7/2 are angles far from a quarter turn less than none and than all.
bool IsInArc(const PairVector& v, const AreaRows::Piece& arc) {
  if (arc.turn >= 4) return true;
  const double from = CrossOf(arc.from, v).high, to = CrossOf(v, arc.to).high;
  if (arc.turn < 2) {
    return from >= 0 && to >= 0 && (arc.turn > 0.5 || DotOf(arc.from, v).high >= 0);
  }
  return from >= 0 || to >= 0 || (arc.turn > 3.5 && DotOf(arc.from, v).high < 0);
}

// Which shapes are near the boundary of an area.
class Reach {
 public:
  Reach(const AreaFinder& finder, const GrownShape& shape, double slack) : finder_(finder) {
    const double most = LargestCoordinate(finder.eye().position(), shape.bounds);
    limit_ = Add(shape.radius, {most * slack, 0});
    limit2_ = Multiply(limit_, limit_);
    const TwoDoubles far = Add(limit_, {finder.eye().range(), 0});
    far2_ = Multiply(far, far);
    box_limit_ = limit_.high + most * 0x1p-40;
  }

  bool IsNear(const ReachingEdge& edge) const {
    for (size_t i = 0; i < finder_.rows().size(); ++i) {
      if (IsNear(edge, finder_.rows().piece(i))) return true;
    }
    return false;
  }

 private:
  // The ends of an arc are ends of its neighbours, so only its other points count here.
  bool IsNear(const ReachingEdge& edge, const AreaRows::Piece& piece) const {
    if (piece.kind == AreaPieceKind::kArc) {
      return IsAtMost(DotOf(edge.nearest, edge.nearest), far2_) && IsInArc(edge.nearest, piece);
    }
    const PairVector &a = piece.from, &b = piece.to;
    const Box& box = edge.bounds;
    const auto gap = [](double low, double high, double a, double b) {
      return std::max({std::min(a, b) - high, low - std::max(a, b), 0.0});
    };
    if (gap(box.min.x, box.max.x, a.x.high, b.x.high) > box_limit_ ||
        gap(box.min.y, box.max.y, a.y.high, b.y.high) > box_limit_) {
      return false;
    }
    return IsAtMost(SquaredDistance(edge.a, a, b), limit2_) ||
           IsAtMost(SquaredDistance(edge.b, a, b), limit2_) ||
           IsAtMost(SquaredDistance(a, edge.a, edge.b), limit2_) ||
           IsAtMost(SquaredDistance(b, edge.a, edge.b), limit2_) ||
           (AreSeparated(a, b, edge.a, edge.b) && AreSeparated(edge.a, edge.b, a, b));
  }

  const AreaFinder& finder_;
  TwoDoubles limit_, limit2_;
  TwoDoubles far2_;   // the square of the range and the limit
  double box_limit_;  // of the distance of boxes, which are rounded
};

}  // namespace

double LargestCoordinate(Vec2 eye, const Box& box) {
  return std::max({std::abs(eye.x), std::abs(eye.y), std::abs(box.min.x), std::abs(box.min.y),
                   std::abs(box.max.x), std::abs(box.max.y)});
}

bool IsNearBoundary(const AreaFinder& finder, const GrownShape& shape, double slack,
                    WorkMeter& meter) {
  const Reach reach(finder, shape, slack);
  bool is_near = false;
  const auto every_edge = [](const Box&) { return true; };
  shape.core.VisitEdges(meter, every_edge, [&](size_t, const Segment& edge) {
    if (!meter.Spend(finder.rows().size())) return false;
    is_near = reach.IsNear(MakeEdge(finder.eye().position(), edge));
    return !is_near;
  });
  return is_near;
}

}  // namespace carom::internal
