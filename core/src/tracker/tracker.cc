// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/tracker.h"

#include <bit>
#include <memory>
#include <utility>

#include "carom/status.h"
#include "tracker/tracked_shape.h"
#include "tracker/tracker_memory.h"

namespace carom {

using internal::TrackedShape;

absl::StatusOr<Tracker> Tracker::Create(Shape shape, const TrackerOptions& options) {
  if (!IsAccepted(options.within) || options.within < 0) {
    return InvalidField("within", "must be in [0, 2^53]");
  }
  TrackerOptions read = options;
  read.within = Normalized(options.within);
  Tracker tracker;
  tracker.shape_ = std::make_shared<const TrackedShape>(std::move(shape), read);
  return tracker;
}

// Copies of a tracker share the immutable shape. Each copy has a memory (of what its last moves
// found) of its own, since moves write to the memory.
Tracker::Tracker(const Tracker& other)
    : ball_(other.ball_),
      shape_(other.shape_),
      memory_(other.memory_ ? other.memory_->Copy() : nullptr) {}

Tracker::Tracker() = default;
Tracker::Tracker(Tracker&& other) noexcept = default;
Tracker& Tracker::operator=(Tracker&& other) noexcept = default;
Tracker& Tracker::operator=(const Tracker& other) { return *this = Tracker(other); }
Tracker::~Tracker() = default;

const Shape& Tracker::shape() const { return shape_->shape; }
const TrackerOptions& Tracker::options() const { return shape_->options; }

// Removes the quiet ball (the disc in which the last answer holds), so that no move is answered by
// it, and the memory (the edges near the shape), so that no move is answered from it.
void Tracker::Forget() {
  ball_.radius2[0] = ball_.radius2[1] = -1;
  memory_.reset();
}

size_t Tracker::memory_bytes() const {
  return sizeof(*this) + (memory_ ? memory_->memory_bytes() : 0);
}

MoveTiers& MoveTiers::operator+=(const MoveTiers& other) {
  quiet += other.quiet;
  near += other.near;
  refresh += other.refresh;
  cold += other.cold;
  return *this;
}

void MoveAnswers::Clear() {
  clear.clear();
  counts.clear();
  polygon_ids.clear();
  edge_counts.clear();
  edges.clear();
  first_touches.clear();
  errors.clear();
  quiet_radii.clear();
  tiers = {};
  memory_growth = 0;
}

// Compares all members but the quiet radii (how far each shape may move while its answer holds),
// the tiers (how many moves were answered in which way) and the memory growth, which depend on what
// the trackers remember.
bool SameVerdicts(const MoveAnswers& a, const MoveAnswers& b) {
  return a.clear == b.clear && a.counts == b.counts && a.polygon_ids == b.polygon_ids &&
         a.edge_counts == b.edge_counts && a.edges == b.edges &&
         a.first_touches == b.first_touches && a.errors == b.errors;
}

// Counts the items: each item is either clear (a bit of `clear`) or has an entry in `counts`.
bool Fits(const MoveColumns& moves, const MoveAnswers& answers) {
  size_t items = answers.counts.size();
  for (const uint64_t word : answers.clear) items += static_cast<size_t>(std::popcount(word));
  return items == moves.size() && answers.clear.size() == (items + 63) / 64 &&
         answers.first_touches.size() == (moves.sweeps() ? answers.counts.size() : 0);
}

}  // namespace carom
