// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_batch.h"

#include <cmath>
#include <functional>

#include "base/hit_collector.h"
#include "blocking/blocking_safe.h"
#include "index/placed_items.h"
#include "sweep/sweep_items.h"

namespace carom::internal {
namespace {

// Answers the sweeps of a batch, one at a time, under the inside policy BLOCKING or BLOCKING_LEAVE
// (`SweepOptions::inside_policy`): touching an obstacle does not stop the shape, overlapping it
// would. Each answer has the hits and the safe pose: a position to which the shape can move without
// overlapping an obstacle. Not thread-safe.
class BlockingBatch {
 public:
  BlockingBatch(const World& world, const SweepOptions& options, SweepAnswers& out,
                WorkMeter& meter)
      : obstacles_(world),
        options_(options),
        out_(out),
        meter_(meter),
        sweep_(obstacles_, meter),
        safe_(obstacles_, meter) {}

  bool Answer(const SweepColumns& columns, size_t i);

 private:
  void Collect();
  bool Write(size_t i);

  Obstacles obstacles_;
  const SweepOptions& options_;
  SweepAnswers& out_;
  WorkMeter& meter_;
  BlockingPose start_;
  BlockingSweep sweep_;
  SafePose safe_;
  std::optional<BlockingHit> first_;
  HitCollector<BlockingHit> hits_;
};

// Collects the hits of one item (a sweep of the batch). Under the mode ANY, finds the first hit as
// under CLOSEST, because the safe pose (a position to which the shape can move without overlapping
// an obstacle) depends on the first hit.
void BlockingBatch::Collect() {
  const auto by_time = [this](const BlockingHit& a, const BlockingHit& b) {
    return sweep_.CompareTimes(a, b);
  };
  hits_.Start(options_.mode == CastMode::kAny ? CastMode::kClosest : options_.mode,
              options_.max_hits);
  const auto visit = [&](const Obstacle& fixed) {
    const double limit = hits_.is_full() ? std::fmin(1, hits_.last().time().high()) : 1;
    const std::optional<BlockingHit> hit = sweep_.HitOf(fixed, limit);
    if (hit && !meter_.stopped()) hits_.Add(*hit, by_time, meter_);
    return !meter_.stopped();
  };
  obstacles_.VisitNear(sweep_.reach(), meter_, std::ref(visit));
}

// Writes the hits of item i (a sweep of the batch); under the mode ANY writes only their count, 0
// or 1. Keeps the first hit in `first_`, from which the item's safe pose is computed.
bool BlockingBatch::Write(size_t i) {
  const auto by_time = [this](const BlockingHit& a, const BlockingHit& b) {
    return sweep_.CompareTimes(a, b);
  };
  const size_t count = hits_.Finish(by_time, meter_);
  first_ = count > 0 ? std::optional(hits_.hits().front()) : std::nullopt;
  out_.counts[i] = static_cast<uint32_t>(count);
  if (options_.mode == CastMode::kAny) return !meter_.stopped();
  if (hits_.is_truncated()) out_.truncated.push_back(static_cast<uint32_t>(i));
  if (!meter_.SpendRows(count)) return false;
  for (size_t rank = 0; rank < count && meter_.Spend(4); ++rank) {
    SweepHit hit = sweep_.Measured(hits_.hits()[rank]);
    hit.ties = rank > 0 && by_time(hits_.hits()[rank - 1], hits_.hits()[rank]) == 0;
    out_.hits.push_back(hit);
  }
  return !meter_.stopped();
}

// Answers item i (a sweep of the batch). Checks the columns in the order in which errors are
// reported: the shape and its pose, the displacement, the skin (the gap that the shape keeps from
// obstacles at its safe pose, where it stops).
bool BlockingBatch::Answer(const SweepColumns& columns, size_t i) {
  ItemChecker check(i, out_.errors);
  if (!PlaceBlocking(columns.movers, i, check, meter_, start_)) return !meter_.stopped();
  const std::optional<Vec2> d = DisplacementOf(columns, i, check);
  const std::optional<double> skin = d ? SkinOf(columns.skin, i, check) : std::nullopt;
  if (!skin) return true;
  obstacles_.SetFilter(QueryFilter::Of(columns.movers.scope, i, options_.mask));
  sweep_.Start(start_, *d, options_.inside_policy);
  Collect();
  if (meter_.stopped() || !Write(i)) return false;
  const double fraction = first_ ? first_->time().Rounded(sweep_.motion()) : 1;
  const size_t shape = columns.movers.shape.empty() ? i : columns.movers.shape[i];
  out_.safe[i] = safe_.Find({columns.movers.shapes[shape], start_, sweep_, options_.inside_policy,
                             first_, fraction, *skin});
  return !meter_.stopped();
}

}  // namespace

bool PlaceBlocking(const ShapeColumns& columns, size_t i, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start) {
  const Shape* const shape = ShapeOf(columns, i, check);
  if (shape == nullptr) return false;
  const std::optional<Pose> pose = PoseOf(columns, i, check);
  return pose && meter.Spend(1) && PlaceBlocking(*shape, *pose, check, meter, start);
}

// Reports a placed vertex that is out of range as an error of the column x, and any other fault of
// the placed shape as an error of the column shape.
bool PlaceBlocking(const Shape& shape, const Pose& pose, ItemChecker& check, WorkMeter& meter,
                   BlockingPose& start) {
  const std::optional<ItemFault> fault = start.Place(shape, pose, meter);
  if (!fault) return !meter.stopped();
  const bool is_out = fault == ItemFault::kPlacedOutOfRange;
  return check.Fail(is_out ? ItemColumn::kX : ItemColumn::kShape, *fault);
}

// Returns 0 for a batch without the column `skin`.
std::optional<double> SkinOf(std::span<const double> skins, size_t i, ItemChecker& check) {
  if (skins.empty()) return 0;
  if (!check.Coordinate(ItemColumn::kSkin, skins[i])) return std::nullopt;
  if (skins[i] < 0) {
    check.Fail(ItemColumn::kSkin, ItemFault::kNegativeLength);
    return std::nullopt;
  }
  return Normalized(skins[i]);
}

// Answers the items (sweeps of the batch) one at a time; the items share only the memory of
// `batch`.
bool SweepBlocking(const World& world, const SweepColumns& columns, const SweepOptions& options,
                   SweepAnswers& out, WorkMeter& meter) {
  out.safe.assign(columns.size(), {});
  BlockingBatch batch(world, options, out, meter);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!meter.Spend(1) || !batch.Answer(columns, i)) return false;
  }
  return true;
}

}  // namespace carom::internal
