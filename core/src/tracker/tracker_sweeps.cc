// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/tracker_sweeps.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "index/edit_history.h"
#include "index/placed_items.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "tracker/tracker_access.h"

namespace carom::internal {
namespace {

// Returns the column of `MoveColumns` from which a column of a sweep or cast was filled, for error
// messages.
ItemColumn ColumnOfMove(ItemColumn column) {
  switch (column) {
    case ItemColumn::kX:
      return ItemColumn::kFromX;
    case ItemColumn::kY:
      return ItemColumn::kFromY;
    case ItemColumn::kToX:
      return ItemColumn::kX;
    case ItemColumn::kToY:
      return ItemColumn::kY;
    default:
      return column;
  }
}

// Returns whether the shape is a point and its path from `from` to `to` equals the path of a
// segment cast from `a` to `b`, and sets `a` and `b`. A sweep follows a + t d, where d is the
// rounded difference of the positions and t is in [0, 1]; a cast follows a + t (b - a). Both paths
// are equal if a + d has no rounding error, so that b - a is exactly d.
bool IsSegment(const Shape& shape, const Pose& from, const Pose& to, Vec2& a, Vec2& b) {
  const Capsule* const capsule = shape.capsule();
  if (capsule == nullptr || capsule->radius > 0 || capsule->axis.a != capsule->axis.b) return false;
  a = Placed(from, capsule->axis.a);
  const Vec2 d{to.position.x - from.position.x, to.position.y - from.position.y};
  b = {a.x + d.x, a.y + d.y};
  // A cast reads tiny coordinates (below 2^-140 in magnitude) as 0, so none of `start`, `step` and
  // `end` may be tiny.
  const auto is_read = [](double x) { return IsAccepted(x) && Normalized(x) == x; };
  const auto is_exact = [&](double start, double step, double end) {
    return TwoSum(start, step).low == 0 && is_read(start) && is_read(step) && is_read(end);
  };
  return is_exact(a.x, d.x, b.x) && is_exact(a.y, d.y, b.y);
}

// Returns whether `ball` (the last answer of a tracker, and the disc in which it holds) is for the
// version of the scene that `scene_state` identifies, and the tracker touches no polygon in the
// disc.
bool IsClearBall(const QuietBall& ball, uint64_t scene_state) {
  return ball.scene_state == scene_state && ball.touched_count == 0;
}

// Returns whether the position (x, y) is in the quiet ball, the disc in which the shape meets no
// edge. Also returns false for NaN and for coordinates beyond the accepted range, since every point
// of the disc is accepted.
bool IsInBall(const QuietBall& ball, double x, double y) {
  const double dx = x - ball.center.x;
  const double dy = y - ball.center.y;
  return dx * dx + dy * dy < ball.radius2[1];
}

// Returns whether the path between two poses touches nothing, because the positions of both poses
// are in the tracker's quiet ball (a disc in which the tracker touches nothing at any rotation): a
// disc is convex.
//
// A rotating sweep stops where the shape comes within the tolerance, touching or not. So for a path
// that turns, the ball is reduced by the tolerance. The tolerance must also be one that the sweep
// certainly accepts (ItemFault::kToleranceTooSmall): at least twice what `SweepRotating` requires
// for the greatest coordinate in the ball and for the longest path in it. The longest path is
// shorter than two radii of the ball plus, as a turn is at most half a circle, four times the
// extent of the shape.
bool IsPathInQuietBall(const QuietBall& ball, const TrackedShape& shape, const Pose& from,
                       const Pose& to, double tolerance) {
  if (!(ball.radius2[1] > 0)) return false;
  double radius = std::sqrt(ball.radius2[1]) * kDown;
  if (shape.Turns(from, to)) {
    const double extent = 4 * shape.extent;
    const double magnitude =
        std::max(std::abs(ball.center.x), std::abs(ball.center.y)) + radius + extent;
    if (!(tolerance >= 0x1p-19 * (2 * radius + extent) && tolerance >= 0x1p-39 * magnitude &&
          tolerance >= 0x1p-129)) {
      return false;
    }
    radius = (radius - tolerance) * kDown;
  }
  const auto is_inside = [&](Vec2 p) {
    const double dx = p.x - ball.center.x;
    const double dy = p.y - ball.center.y;
    return radius > 0 && dx * dx + dy * dy < radius * radius * kDown;
  };
  return is_inside(from.position) && is_inside(to.position);
}

// Returns the pose where the path of item i begins; nullopt if this pose is invalid, with an error
// recorded. If the item gives no rotation for the begin, the path begins with the rotation of its
// end, `to`.
std::optional<Pose> StartOf(const MoveColumns& moves, size_t i, const Pose& to,
                            ItemChecker& check) {
  Pose from = to;
  if (!check.Coordinate(ItemColumn::kFromX, moves.from_x[i]) ||
      !check.Coordinate(ItemColumn::kFromY, moves.from_y[i]) ||
      !ReadRotation({moves.from_c, moves.from_s, moves.from_angle, ItemColumn::kFromC,
                     ItemColumn::kFromAngle},
                    i, check, from)) {
    return std::nullopt;
  }
  from.position = Normalized(Vec2{moves.from_x[i], moves.from_y[i]});
  return from;
}

}  // namespace

bool TrackerSweeps::Run(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                        WorkMeter& meter) {
  hit_bits_.assign((moves.size() + 63) / 64, 0);
  clear_bits_.assign((moves.size() + 63) / 64, 0);
  results_.clear();
  paths_.clear();
  segments_.clear();
  return Collect(scene, moves, options, meter) && Sweep(scene, meter);
}

// Collects the paths of the moves that must be swept. A path that stays in the quiet ball of its
// tracker (a disc in which the tracker's last answer holds) needs no sweep if this answer is empty.
bool TrackerSweeps::Collect(const Scene& scene, const MoveColumns& moves,
                            const MoveOptions& options, WorkMeter& meter) {
  const uint64_t scene_state = scene.history().state();
  const bool uses_memory = options.coherence == Coherence::kOn;
  const bool may_turn = !moves.from_c.empty() || !moves.from_angle.empty();
  std::vector<ItemError> errors;
  for (size_t i = 0; i < moves.size(); ++i) {
    const Tracker* const tracker = TrackerOf(moves, i);
    const bool is_clear_ball = uses_memory && tracker != nullptr &&
                               IsClearBall(TrackerAccess::ball(*tracker), scene_state);
    // Most paths are found clear (found to touch nothing) here, before a pose is computed.
    if (is_clear_ball && !may_turn) {
      const QuietBall& ball = TrackerAccess::ball(*tracker);
      if (IsInBall(ball, moves.from_x[i], moves.from_y[i]) &&
          IsInBall(ball, moves.x[i], moves.y[i])) {
        continue;
      }
    }
    ItemChecker check(i, errors);
    const std::optional<Pose> to = tracker == nullptr ? std::nullopt : PoseOf(moves, i, check);
    const std::optional<Pose> from = to ? StartOf(moves, i, *to, check) : std::nullopt;
    if (!from) continue;
    const TrackedShape& shape = TrackerAccess::shape(*tracker);
    const double tolerance = options.tolerance == 0 ? 0x1p-10 * shape.extent : options.tolerance;
    if (is_clear_ball &&
        IsPathInQuietBall(TrackerAccess::ball(*tracker), shape, *from, *to, tolerance)) {
      continue;
    }
    if (!meter.Spend(1)) return false;
    Add(static_cast<uint32_t>(i), shape, *from, *to, tolerance);
  }
  for (const ItemError& error : errors) Refuse(error);
  return true;
}

void TrackerSweeps::Add(uint32_t item, const TrackedShape& shape, const Pose& from, const Pose& to,
                        double tolerance) {
  Path path{shape.options.mask, shape.Turns(from, to), item, &shape.shape, from, to, tolerance};
  Vec2 a, b;
  if (!path.turns && IsSegment(shape.shape, from, to, a, b)) {
    path.ends_at_pose = shape.options.within == 0 && b == Placed(to, shape.shape.capsule()->axis.a);
    path.from.position = a;
    path.to.position = b;
    segments_.push_back(path);
  } else {
    paths_.push_back(path);
  }
}

// Sweeps the collected paths in batches of paths of one kind: paths of single points that are
// exactly segments as segment casts, all other paths as linear or rotating sweeps.
bool TrackerSweeps::Sweep(const Scene& scene, WorkMeter& meter) {
  const auto sweep = [&](std::vector<Path>& paths, auto kind_of, auto sweep_batch) {
    const auto is_before = [&](const Path& a, const Path& b) { return kind_of(a) < kind_of(b); };
    // The kind of a path is the mask of the categories of polygons that it may touch and, except
    // for segments, whether its shape turns. Most batches have paths of one kind only, and are in
    // order already.
    if (!std::is_sorted(paths.begin(), paths.end(), is_before)) {
      std::stable_sort(paths.begin(), paths.end(), is_before);
    }
    for (size_t first = 0, last = 0; first < paths.size(); first = last) {
      while (last < paths.size() && kind_of(paths[last]) == kind_of(paths[first])) ++last;
      if (!sweep_batch(std::span(paths).subspan(first, last - first))) return false;
    }
    return true;
  };
  const bool ran =
      sweep(
          segments_, [](const Path& a) { return a.mask; },
          [&](std::span<const Path> batch) { return CastBatch(scene, batch, meter); }) &&
      sweep(
          paths_, [](const Path& a) { return std::tuple(a.mask, a.turns); },
          [&](std::span<const Path> batch) { return SweepBatch(scene, batch, meter); });
  shapes_.clear();  // releases the polygons that the shapes own
  if (!ran) return false;
  std::ranges::sort(results_, {}, &SweepResult::item);
  return true;
}

const TrackerSweeps::SweepResult& TrackerSweeps::result(size_t item) const {
  return *std::ranges::lower_bound(results_, static_cast<uint32_t>(item), {}, &SweepResult::item);
}

// Appends the result; `Run` sorts the results by item at its end. Marks the path at once as not
// clear (as touching something, or having an error).
void TrackerSweeps::AddResult(const SweepResult& result) {
  hit_bits_[result.item / 64] |= uint64_t{1} << (result.item % 64);
  results_.push_back(result);
}

// A segment cast can answer the sweep of a point, since both return the fraction of the path at the
// first touch, rounded to nearest from its exact value, and the least polygon id among ties.
bool TrackerSweeps::CastBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter) {
  for (std::vector<double>* column : {&x_, &y_, &to_x_, &to_y_}) column->clear();
  for (const Path& path : batch) {
    x_.push_back(path.from.position.x);
    y_.push_back(path.from.position.y);
    to_x_.push_back(path.to.position.x);
    to_y_.push_back(path.to.position.y);
  }
  CastOptions options;
  options.mask = batch[0].mask;
  options.detail = CastDetail::kEdge;
  if (!CastSegments(scene, {x_, y_, to_x_, to_y_}, options, casts_, meter)) return false;
  Take(batch, casts_.counts, casts_.errors, [&](size_t row) {
    const CastHit& hit = casts_.hits[row];
    const bool has_edge = hit.feature != Feature::kNone;
    return FirstTouch{true,         hit.polygon_id, hit.fraction,
                      hit.fraction, has_edge,       has_edge ? hit.edge : EdgeRef{},
                      hit.normal};
  });
  for (const Path& path : batch) {
    if (!path.ends_at_pose || !IsClear(path.item)) continue;
    clear_bits_[path.item / 64] |= uint64_t{1} << (path.item % 64);
  }
  return true;
}

bool TrackerSweeps::SweepBatch(const Scene& scene, std::span<const Path> batch, WorkMeter& meter) {
  shapes_.clear();
  for (std::vector<double>* column :
       {&x_, &y_, &c_, &s_, &to_x_, &to_y_, &to_c_, &to_s_, &tolerance_}) {
    column->clear();
  }
  for (const Path& path : batch) {
    shapes_.push_back(*path.shape);
    x_.push_back(path.from.position.x);
    y_.push_back(path.from.position.y);
    c_.push_back(path.from.c);
    s_.push_back(path.from.s);
    to_x_.push_back(path.to.position.x);
    to_y_.push_back(path.to.position.y);
    to_c_.push_back(path.to.c);
    to_s_.push_back(path.to.s);
    tolerance_.push_back(path.tolerance);
  }
  const ShapeColumns movers{shapes_, {}, x_, y_, c_, s_, {}};
  const uint64_t mask = batch[0].mask;
  if (batch[0].turns) {
    const RotatingSweepColumns columns{movers, to_x_, to_y_, to_c_, to_s_, {}, tolerance_};
    if (!SweepRotating(scene, columns, {StartPolicy::kReportStart, mask}, turning_, meter)) {
      return false;
    }
    Take(batch, turning_.counts, turning_.errors, [&](size_t row) {
      const RotatingSweepHit& hit = turning_.hits[row];
      return FirstTouch{true, hit.polygon_id, hit.low, hit.high, false, {}, {}};
    });
    return true;
  }
  SweepOptions options;
  options.mask = mask;
  if (!SweepShapes(scene, {movers, to_x_, to_y_}, options, straight_, meter)) return false;
  Take(batch, straight_.counts, straight_.errors, [&](size_t row) {
    const SweepHit& hit = straight_.hits[row];
    return FirstTouch{true,         hit.polygon_id, hit.fraction,
                      hit.fraction, hit.has_edge,   hit.has_edge ? hit.edge : EdgeRef{},
                      hit.normal};
  });
  return true;
}

// Adds the results of a batch of paths. touch_of(row) returns the first touch in a row of the
// batch's answers; the rows are in the order of the paths, at most one for each. Errors of the
// batch name columns of sweeps or casts; changes them to name columns of `MoveColumns`.
template <class TouchOf>
void TrackerSweeps::Take(std::span<const Path> batch, const std::vector<uint32_t>& counts,
                         const std::vector<ItemError>& errors, const TouchOf& touch_of) {
  size_t row = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (counts[i] == 0) continue;
    AddResult({batch[i].item, touch_of(row)});
    row += counts[i];
  }
  for (const ItemError& error : errors) {
    const uint32_t item = batch[error.index].item;
    Refuse({item, ColumnOfMove(error.column), error.fault});
  }
}

}  // namespace carom::internal
