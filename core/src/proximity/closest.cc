// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "proximity/closest.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "carom/predicates.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"
#include "numeric/lanes.h"
#include "shape/point_distances.h"

namespace carom::internal {
namespace {

// `Sample` computes the distances between about this many vertices of one shape and as many
// vertices of the other shape, for a first upper bound of the distance of the shapes.
constexpr size_t kSamples = 16;

// Searches the nearest pair of an edge of one core and an edge of the other core. A core is a shape
// without its radius: a polygon, or the axis of a capsule.
class PairSearch {
 public:
  PairSearch(const PlacedShape& a, const PlacedShape& b, const ClosestQuery& query,
             WorkMeter& meter)
      : a_(a),
        b_(b),
        enough_(query.enough),
        enough2_(SquareBounds(query.enough)),
        limit2_(query.limit2),
        meter_(meter) {}

  // Returns whether the search found a pair of edges within `ClosestQuery::enough`, the distance at
  // which the search may stop.
  bool Run() {
    if (a_.polygon() != nullptr && b_.IsPoint()) {
      VisitRuns(*a_.polygon());
      return done_;
    }
    Sample();
    a_.VisitEdges(
        meter_, [this](const Box& box) { return LowerDistance2(box, b_.core_bounds()) <= limit2_; },
        [this](size_t index, const Segment& edge) { return Visit(index, edge); });
    return done_;
  }

  std::optional<Closest> best() const { return best_; }

 private:
  // Bounds the distance of the cores from above by the distances of some of their vertices, so that
  // even the first steps of the search skip distant edges.
  void Sample() {
    const size_t step_a = a_.edge_count() / kSamples + 1;
    const size_t step_b = b_.edge_count() / kSamples + 1;
    if (step_a == 1 && step_b == 1) return;
    double least2 = HUGE_VAL;
    for (size_t i = 0; i < a_.edge_count(); i += step_a) {
      if (!meter_.Spend(1)) return;
      const Vec2 p = a_.edge(i).a;
      for (size_t k = 0; k < b_.edge_count(); k += step_b) {
        const Vec2 q = b_.edge(k).a;
        least2 = std::min(least2, UpperDistance2({p, p}, {q, q}));
      }
    }
    LowerLimit(least2);
  }

  // Measures the edges of the polygon a against the shape b, which is a point. Compares the squared
  // distances of up to eight edges at a time with `limit2_`.
  void VisitRuns(const IndexedPolygon& polygon) {
    const Segment point = b_.edge(0);
    PointDistances distances(polygon.polygon(), point.a);
    polygon.VisitRuns(
        meter_, [this](const Box& box) { return LowerDistance2(box, b_.core_bounds()) <= limit2_; },
        [&](size_t first, size_t last) {
          if (!meter_.Spend(last - first)) return false;
          distances.Measure(first, last);
          LowerLimit(distances.upper());
          const LaneBits edges = (LaneBits{1} << (last - first)) - 1;
          for (LaneBits bits = distances.Within(limit2_) & edges; bits != 0; bits &= bits - 1) {
            const size_t i = first + static_cast<size_t>(std::countr_zero(bits));
            const Segment edge = polygon.polygon().edge(i);
            if (distances.lower() > 0) {
              Improve(i, 0, point.a, edge);
            } else {
              Measure(i, edge, 0, point);
            }
            if (done_) return false;
          }
          return true;
        });
  }

  // Lowers the limit, beyond which pairs of edges are skipped, to the squared distance of a pair.
  // The limit never falls below the square of `enough`, so that no pair within `enough` is skipped.
  void LowerLimit(double distance2) {
    limit2_ = std::min(limit2_, std::max(distance2, enough2_.high));
  }

  bool Visit(size_t index_a, const Segment& edge_a) {
    const Box bounds = BoundsOf(edge_a);
    b_.VisitEdges(
        meter_, [&](const Box& box) { return LowerDistance2(box, bounds) <= limit2_; },
        [&](size_t index_b, const Segment& edge_b) {
          Measure(index_a, edge_a, index_b, edge_b);
          return !done_;
        });
    return !done_;
  }

  void Measure(size_t index_a, const Segment& edge_a, size_t index_b, const Segment& edge_b) {
    if (Intersects(edge_a, edge_b)) {
      best_ = Closest{Closest::Kind::kCrossing, index_a, index_b};
      done_ = true;
      return;
    }
    Improve(index_a, index_b, edge_b.a, edge_a);
    if (b_.IsPoint()) return;
    Improve(index_a, index_b, edge_b.b, edge_a);
    Improve(index_a, index_b, edge_a.a, edge_b, true);
    Improve(index_a, index_b, edge_a.b, edge_b, true);
  }

  // Keeps a pair of edges as the best one if `vertex`, an end of one edge, is nearer to `edge`, the
  // other edge of the pair, than the vertices of all pairs before. A pair that is not nearer cannot
  // be the first pair within `ClosestQuery::enough`, the distance at which the search may stop,
  // since an earlier pair is at least as near.
  void Improve(size_t index_a, size_t index_b, Vec2 vertex, const Segment& edge,
               bool vertex_is_of_a = false) {
    const Approach approach(vertex, edge);
    if (approach.distance2.low > limit2_) return;
    if (best_ && Compare(approach, *best_->approach) >= 0) return;
    best_ = Closest{Closest::Kind::kApart, index_a, index_b, 0, vertex_is_of_a, approach};
    LowerLimit(approach.distance2.high);
    done_ = done_ || IsWithin(approach, enough_, enough2_);
  }

  const PlacedShape& a_;
  const PlacedShape& b_;
  const LengthSum enough_;
  const Bounds2 enough2_;
  double limit2_;
  WorkMeter& meter_;
  std::optional<Closest> best_;
  bool done_ = false;
};

}  // namespace

std::optional<Closest> FindClosest(const PlacedShape& a, const PlacedShape& b,
                                   const ClosestQuery& query, WorkMeter& meter) {
  PairSearch search(a, b, query, meter);
  if (search.Run()) return search.best();
  if (const std::optional<size_t> ring = FirstRingInside(a, b, meter)) {
    return Closest{Closest::Kind::kBInA, 0, 0, *ring};
  }
  if (const std::optional<size_t> ring = FirstRingInside(b, a, meter)) {
    return Closest{Closest::Kind::kAInB, 0, 0, *ring};
  }
  if (meter.stopped()) return std::nullopt;
  return search.best();
}

bool IsWithin(const PlacedShape& a, const PlacedShape& b, double distance, WorkMeter& meter) {
  const LengthSum enough{a.radius(), b.radius(), distance};
  const Bounds2 square = SquareBounds(enough);
  const std::optional<Closest> closest = FindClosest(a, b, {enough, square.high}, meter);
  return closest && IsCoreWithin(*closest, enough, square);
}

}  // namespace carom::internal
