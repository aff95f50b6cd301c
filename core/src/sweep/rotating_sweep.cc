// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Conservative advancement (Mirtich 1996): while the distance from the shape to the scene exceeds
// the length of path that any point of the shape can still travel, time may advance without a
// contact.
//
// Theorem. The certified interval [`low`, `high`] of `RotatingSweepHit` holds for the exact motion,
// and for the vertices that `Placed` computes at its two ends. Let L be the largest coordinate of
// both positions plus the shape's extent, e the tolerance, W the `path_length` of the motion, and u
// = 2^-53.
//
// (1) W bounds the length of any vertex's path for t in [0, 1]. Let r0 be the length of the vector
//     (c, s) of the start pose, D the angle and g the relative growth of the rotation
//     (numeric/turn.h). The speed of vertex p is at most |dp/dt| + |p| r0 ((1 + t g) |D| + |g|);
//     the factor kMore covers r0, 1 + t g and the rounding of W. Edges follow their ends, and a
//     capsule follows its axis. W < 8 L.
// (2) The vertices that `EdgeTree::Place` computes are within 2^-46 L + 2^-139 of the exact
//     motion's vertices: Turn::kError times the extent, plus 11 u L per coordinate for roundings,
//     plus the small coordinates that `Placed` reads as 0.
// (3) A distance d between a vertex and an edge errs by at most 2^-46 L (`PointToEdge`), and by
//     2^-48 (d + L) for later roundings, where d <= W. So `error` = 2^-43 L + 2^-138 bounds the
//     difference between a computed least distance and the least distance in the exact motion. As L
//     <= 2^40 e and 2^-130 <= e, `error` is below e/7.
// (4) Only distances between edges need tests. At the start, shape and polygon exactly share no
//     point, and while their edges stay apart, neither can come inside the other. The distance
//     between edges is taken at vertices: segments that share no point are nearest at an end of one
//     of them; if rounding makes two of them cross, such an end is within 2 `error`. Edges outside
//     of the box `ReachFrom`, which is rounded by less than `error`, need no tests.
// (5) Let `clear` be the computed least distance minus `error`: no contact comes before t has grown
//     by clear / W. A step takes (clear - e/4) / W; the remaining e/4 also covers the rounding of
//     the time, 2^-53 W. Such steps are made while clear > e/2: at most 4 W/e steps. If `clear` is
//     smaller, at most kMaxNearSteps steps of clear / 2 follow, at the start and while the distance
//     grows, so that a shape that moves away from an obstacle beside it is not reported as a hit.
// (6) Where the sweep stops, the distance is at most e/2 + 2 `error` < e.
#include "carom/rotating_sweep.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "base/metered_sort.h"
#include "carom/predicates.h"
#include "edges/placed_shape.h"
#include "index/box_tree.h"
#include "index/placed_items.h"
#include "index/scene_traversal.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"
#include "numeric/turn.h"
#include "proximity/overlap_query.h"

namespace carom {
namespace {

constexpr double kMore = 1 + 1e-5;
constexpr int kMaxNearSteps = 64;
// Least ratios of the tolerance to the largest coordinate and to the path length, and the least
// tolerance. With them the error of a computed distance is below 1/7 of the tolerance, as the
// theorem at the top of this file shows.
constexpr double kLeastToCoordinate = 0x1p-40;
constexpr double kLeastToPath = 0x1p-20;
constexpr double kLeastTolerance = 0x1p-130;

double LengthOf(double x, double y) { return std::sqrt(x * x + y * y); }

// Returns false only if the distance of the boxes certainly exceeds `distance`. The factor 1 - 16 u
// (u = 2^-53) covers the rounding of both squares.
bool MayBeNearer(const Box& a, const Box& b, double distance) {
  return internal::RoundedDistance2(a, b) * (1 - 16 * internal::kUnit) < distance * distance;
}

// Returns the distance between p and the edge, with a relative error of at most 2^-49.
double ExactPointToEdge(Vec2 p, const Segment& edge) {
  using internal::Difference;
  const auto x = Difference(edge.b.x, edge.a.x);
  const auto y = Difference(edge.b.y, edge.a.y);
  const auto from_a = x * Difference(p.x, edge.a.x) + y * Difference(p.y, edge.a.y);
  if (from_a.sign() <= 0) return LengthOf(p.x - edge.a.x, p.y - edge.a.y);
  const auto from_b = x * Difference(p.x, edge.b.x) + y * Difference(p.y, edge.b.y);
  if (from_b.sign() >= 0) return LengthOf(p.x - edge.b.x, p.y - edge.b.y);
  const double cross = internal::ExactCross(edge.a, edge.b, edge.a, p).estimate();
  return std::abs(cross) / LengthOf(edge.b.x - edge.a.x, edge.b.y - edge.a.y);
}

// Returns the lesser of `best` and the distance between p and the edge, which errs by at most
// `allowed`. Let u = 2^-53, r = p - edge.a, and e the vector of the edge. The dot product r . e
// errs by less than 5u |r| |e|, and e . e by 3u of itself. So the position of the foot of p on the
// edge errs by less than 9u |r| where it decides between the three cases (near an end |e| <= |r|),
// and the distance errs by no more if the wrong case is chosen. The quotient (r x e) / |e| errs by
// less than 8u |r|.
double PointToEdge(Vec2 p, const Segment& edge, double best, double allowed) {
  const Vec2 r{p.x - edge.a.x, p.y - edge.a.y};
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const double along = r.x * e.x + r.y * e.y;
  const double squared = e.x * e.x + e.y * e.y;
  double distance = 0;
  if (along <= 0) {
    distance = LengthOf(r.x, r.y);
  } else if (along >= squared) {
    distance = LengthOf(p.x - edge.b.x, p.y - edge.b.y);
  } else {
    distance = std::abs(r.x * e.y - r.y * e.x) / std::sqrt(squared);
  }
  const double error = 24 * internal::kUnit * (std::abs(r.x) + std::abs(r.y));
  if (distance - error >= best) return best;
  return std::min(best, error <= allowed ? distance : ExactPointToEdge(p, edge));
}

// The motion of an item (a sweep of the batch) whose columns are valid: a shape that moves from one
// pose to another and turns on the way, with the time t in [0, 1]. L denotes the largest coordinate
// of both positions plus the shape's extent (the distance from its reference point to its farthest
// vertex).
struct RotatingMotion {
  const Shape* shape;
  Pose from;
  Pose to;
  internal::Turn turn;
  double tolerance;
  // upper bound of the length of any vertex's path, called W in the theorem at the top of this file
  double path_length = 0;
  // 2^-43 L + 2^-138: bounds the error of a computed least distance between shape and scene
  double error = 0;
  // 2^-46 L, the permitted error of the distance of a vertex and an edge
  double allowed = 0;
  // the shape's extent plus its radius plus 2 `error`
  double reach = 0;

  // Returns a box that contains all points that the shape can touch from time t on.
  Box ReachFrom(double t) const {
    Box box;
    box.Extend(At(t).position);
    box.Extend(to.position);
    return {{box.min.x - reach, box.min.y - reach}, {box.max.x + reach, box.max.y + reach}};
  }

  Pose At(double t) const {
    if (t == 0) return from;
    if (t == 1) return to;
    const CosSin rotation = turn.At(t);
    const Vec2 p = from.position;
    const Vec2 q = to.position;
    return {{p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)}, rotation.c, rotation.s};
  }
};

// Returns the distance from the shape's reference point to its farthest vertex, rounded up.
double ExtentOf(const Shape& shape) {
  double extent = 0;
  const auto hold = [&](Vec2 p) { extent = std::max(extent, LengthOf(p.x, p.y)); };
  if (shape.capsule() != nullptr) {
    hold(shape.capsule()->axis.a);
    hold(shape.capsule()->axis.b);
  } else {
    for (size_t ring = 0; ring < shape.polygon()->ring_count(); ++ring) {
      for (const Vec2 p : shape.polygon()->ring(ring)) hold(p);
    }
  }
  return extent * (1 + 8 * internal::kUnit);
}

// Sets the members of `motion` that follow from its shape and its two poses. Returns false if the
// tolerance is too small for the error bounds.
bool CompleteMotion(RotatingMotion& motion) {
  const Vec2 p = motion.from.position;
  const Vec2 q = motion.to.position;
  const double extent = ExtentOf(*motion.shape);
  const double radius = motion.shape->capsule() ? motion.shape->capsule()->radius : 0;
  const double largest =
      std::max(std::max(std::abs(p.x), std::abs(p.y)), std::max(std::abs(q.x), std::abs(q.y))) +
      (extent + radius) * kMore;
  motion.path_length = (LengthOf(q.x - p.x, q.y - p.y) + extent * motion.turn.path_angle()) * kMore;
  motion.error = 0x1p-43 * largest + 0x1p-138;
  motion.allowed = 0x1p-46 * largest;
  motion.reach = (extent + radius) * kMore + 2 * motion.error;
  return motion.tolerance >= kLeastTolerance && motion.tolerance >= kLeastToCoordinate * largest &&
         motion.tolerance >= kLeastToPath * motion.path_length;
}

// The edges of a shape at one time of its motion, with a tree of their boxes. At times between the
// two poses, coordinates of vertices may exceed 2^53, which a `MovingShape` does not accept.
class EdgeTree {
 public:
  explicit EdgeTree(const Shape& shape) : shape_(shape) {}

  void Place(const Pose& pose) {
    edges_.clear();
    if (shape_.capsule() != nullptr) {
      Add(pose, shape_.capsule()->axis);
    } else {
      for (size_t i = 0; i < shape_.polygon()->edge_count(); ++i) {
        Add(pose, shape_.polygon()->edge(i));
      }
    }
    tree_ = internal::BoxTree(edges_.size(), [this](size_t i) { return BoundsOf(edges_[i]); });
    bounds_ = {};
    for (const Segment& edge : edges_) bounds_.Extend(BoundsOf(edge));
  }

  size_t size() const { return edges_.size(); }
  const Box& bounds() const { return bounds_; }

  // Returns the lesser of `best` and the distance from `edge`, an edge of the scene, to the nearest
  // edge of the shape. That distance errs by at most `allowed`.
  double DistanceTo(const Segment& edge, double best, double allowed, WorkMeter& meter) const {
    const Box box = BoundsOf(edge);
    tree_.Traverse(
        meter, [&](const Box& own) { return MayBeNearer(own, box, best); },
        [&](size_t i) {
          const Segment& own = edges_[i];
          best = PointToEdge(own.a, edge, best, allowed);
          best = PointToEdge(own.b, edge, best, allowed);
          best = PointToEdge(edge.a, own, best, allowed);
          best = PointToEdge(edge.b, own, best, allowed);
          return meter.Spend(1);
        });
    return best;
  }

 private:
  void Add(const Pose& pose, const Segment& edge) {
    edges_.push_back({Placed(pose, edge.a), Placed(pose, edge.b)});
  }

  const Shape& shape_;
  std::vector<Segment> edges_;
  internal::BoxTree tree_;
  Box bounds_;
};

// Computes the first contact of the items (sweeps) of a batch with polygons of the scene, one item
// at a time, as a certified interval of times: no contact comes before it, and at its end the shape
// is within the tolerance of a polygon. Distances are those between edges of the shape and edges of
// the scene.
class RotatingSweeper {
 public:
  RotatingSweeper(const Scene& scene, const RotatingSweepOptions& options,
                  internal::MovingShape& mover, WorkMeter& meter)
      : scene_(scene), options_(options), mover_(mover), meter_(meter) {}

  // Returns the first contact on a motion, or nothing if there is none. `mover_` must be placed at
  // the start of the motion. The result is meaningless once the meter has stopped.
  std::optional<RotatingSweepHit> Sweep(const RotatingMotion& motion);

 private:
  void CollectOverlaps();
  std::optional<RotatingSweepHit> Advance(const RotatingMotion& motion);
  double LeastDistance(const RotatingMotion& motion, const EdgeTree& placed, double t, double most);
  uint64_t LeastIdWithin(const RotatingMotion& motion, const EdgeTree& placed, double distance);
  template <class Visit>
  void VisitNear(const EdgeTree& placed, const Box& region, const double& distance,
                 const Visit& visit);
  double DistanceTo(const IndexedPolygon& polygon, const EdgeTree& placed, const Box& region,
                    double best, double allowed);

  const Scene& scene_;
  const RotatingSweepOptions& options_;
  internal::MovingShape& mover_;
  WorkMeter& meter_;
  std::vector<uint64_t> at_start_;  // ids of polygons in contact at the start, ascending
};

std::optional<RotatingSweepHit> RotatingSweeper::Sweep(const RotatingMotion& motion) {
  CollectOverlaps();
  if (options_.start_policy == StartPolicy::kReportStart && !at_start_.empty()) {
    return RotatingSweepHit{at_start_.front(), 0, 0};
  }
  if (meter_.stopped() || motion.path_length == 0) return std::nullopt;
  return Advance(motion);
}

void RotatingSweeper::CollectOverlaps() {
  at_start_.clear();
  internal::VisitPolygons(scene_, options_.mask, meter_, internal::MeetsBox{mover_.bounds()},
                          [&](const IndexedPolygon& fixed) {
                            if (internal::Overlap(fixed, mover_, nullptr, meter_).overlaps) {
                              at_start_.push_back(fixed.polygon().id());
                            }
                            return !meter_.stopped();
                          });
  internal::Sort(at_start_, meter_, std::less<>());
}

std::optional<RotatingSweepHit> RotatingSweeper::Advance(const RotatingMotion& motion) {
  EdgeTree placed(*motion.shape);
  const double tolerance = motion.tolerance;
  double t = 0;
  double previous = 0;
  int near_steps_left = kMaxNearSteps;
  while (meter_.Spend(placed.size())) {
    placed.Place(motion.At(t));
    const double left = motion.path_length * (1 - t) * kMore;
    const double distance = LeastDistance(motion, placed, t, left + 2 * motion.error);
    const double clear = distance - motion.error;
    if (clear > left) return std::nullopt;
    double step = (clear - tolerance / 4) / motion.path_length;
    if (clear <= tolerance / 2) {
      step = clear / 2 / motion.path_length;
      const bool is_leaving = distance >= previous && step > 0x1p-50;
      if (!is_leaving || near_steps_left-- == 0) {
        return RotatingSweepHit{LeastIdWithin(motion, placed, tolerance - motion.error), t, t};
      }
    }
    previous = distance;
    t = std::min(1.0, t + step);
  }
  return std::nullopt;
}

// Visits the polygons with boxes that meet `region` and are nearer to the placed shape than
// `distance`, which `visit` may reduce. Skips polygons that the shape touches or overlaps at the
// start of its motion.
template <class Visit>
void RotatingSweeper::VisitNear(const EdgeTree& placed, const Box& region, const double& distance,
                                const Visit& visit) {
  internal::VisitPolygons(
      scene_, options_.mask, meter_,
      [&](const Box& box) {
        return region.Intersects(box) && MayBeNearer(placed.bounds(), box, distance);
      },
      [&](const IndexedPolygon& polygon) {
        const uint64_t id = polygon.polygon().id();
        if (!std::binary_search(at_start_.begin(), at_start_.end(), id)) visit(polygon);
        return !meter_.stopped();
      });
}

// Returns the lesser of `best` and the distance from the placed shape to the edges of `polygon`
// with boxes that meet `region`.
double RotatingSweeper::DistanceTo(const IndexedPolygon& polygon, const EdgeTree& placed,
                                   const Box& region, double best, double allowed) {
  polygon.VisitEdges(
      meter_,
      [&](const Box& box) {
        return region.Intersects(box) && MayBeNearer(placed.bounds(), box, best);
      },
      [&](size_t, const Segment& edge) {
        best = placed.DistanceTo(edge, best, allowed, meter_);
        return !meter_.stopped();
      });
  return best;
}

// Returns the lesser of `most` and the least distance at time t from the shape to an edge of the
// scene, among the edges that the shape can touch from time t on.
double RotatingSweeper::LeastDistance(const RotatingMotion& motion, const EdgeTree& placed,
                                      double t, double most) {
  const double radius = motion.shape->capsule() ? motion.shape->capsule()->radius : 0;
  const Box region = motion.ReachFrom(t);
  double best = most + radius;
  VisitNear(placed, region, best, [&](const IndexedPolygon& polygon) {
    best = DistanceTo(polygon, placed, region, best, motion.allowed);
  });
  return best - radius;
}

uint64_t RotatingSweeper::LeastIdWithin(const RotatingMotion& motion, const EdgeTree& placed,
                                        double distance) {
  const double radius = motion.shape->capsule() ? motion.shape->capsule()->radius : 0;
  const double reach = distance + radius;
  const Box everywhere{{-HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL}};
  uint64_t least = std::numeric_limits<uint64_t>::max();
  VisitNear(placed, everywhere, reach, [&](const IndexedPolygon& polygon) {
    const uint64_t id = polygon.polygon().id();
    if (id > least) return;
    if (DistanceTo(polygon, placed, everywhere, reach, motion.allowed) < reach) least = id;
  });
  return least;
}

// Returns the pose at the end of the motion, or records an error and returns nothing.
std::optional<Pose> EndPoseOf(const RotatingSweepColumns& columns, size_t i, const Pose& from,
                              ItemChecker& check) {
  if (!check.Coordinate(ItemColumn::kToX, columns.to_x[i]) ||
      !check.Coordinate(ItemColumn::kToY, columns.to_y[i])) {
    return std::nullopt;
  }
  Pose to = from;
  to.position = Normalized(Vec2{columns.to_x[i], columns.to_y[i]});
  if (!internal::ReadRotation(
          {columns.to_c, columns.to_s, columns.to_angle, ItemColumn::kToC, ItemColumn::kToAngle}, i,
          check, to)) {
    return std::nullopt;
  }
  return to;
}

// Returns the motion of item i and places `mover` at the start of the motion. Returns nothing if it
// records an error or `meter` stops. Counts the shape's vertices as work before it places them.
std::optional<RotatingMotion> MotionOf(const RotatingSweepColumns& columns, size_t i,
                                       ItemChecker& check, internal::MovingShape& mover,
                                       WorkMeter& meter) {
  const Shape* shape = internal::ShapeOf(columns.movers, i, check);
  if (shape == nullptr) return std::nullopt;
  const std::optional<Pose> from = internal::PoseOf(columns.movers, i, check);
  if (!from) return std::nullopt;
  const std::optional<Pose> to = EndPoseOf(columns, i, *from, check);
  if (!to || !check.Coordinate(ItemColumn::kTolerance, columns.tolerance[i])) return std::nullopt;
  if (!meter.Spend(3 * shape->vertex_count())) return std::nullopt;
  const double tolerance = Normalized(columns.tolerance[i]);
  mover.MoveTo(*shape, *to);
  const bool is_end_accepted = mover.IsAccepted();
  mover.MoveTo(*shape, *from);
  RotatingMotion motion{shape, *from, *to, internal::Turn(*from, *to), tolerance};
  if (tolerance < 0) {
    check.Fail(ItemColumn::kTolerance, ItemFault::kNegativeLength);
  } else if (!mover.IsAccepted()) {
    check.Fail(ItemColumn::kX, ItemFault::kPlacedOutOfRange);
  } else if (!is_end_accepted) {
    check.Fail(ItemColumn::kToX, ItemFault::kPlacedOutOfRange);
  } else if (!CompleteMotion(motion)) {
    check.Fail(ItemColumn::kTolerance, ItemFault::kToleranceTooSmall);
  } else {
    return motion;
  }
  return std::nullopt;
}

}  // namespace

void RotatingSweepAnswers::Clear() {
  counts.clear();
  hits.clear();
  errors.clear();
}

bool SweepRotating(const Scene& scene, const RotatingSweepColumns& columns,
                   const RotatingSweepOptions& options, RotatingSweepAnswers& out,
                   WorkMeter& meter) {
  out.Clear();
  out.counts.assign(columns.size(), 0);
  internal::MovingShape mover;
  RotatingSweeper sweeper(scene, options, mover, meter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    const std::optional<RotatingMotion> motion = MotionOf(columns, i, check, mover, meter);
    if (meter.stopped()) return false;
    if (!motion) continue;
    const std::optional<RotatingSweepHit> hit = sweeper.Sweep(*motion);
    if (meter.stopped()) return false;
    if (!hit) continue;
    out.hits.push_back(*hit);
    out.counts[i] = 1;
    if (!meter.SpendRows(1)) return false;
  }
  return true;
}

}  // namespace carom
