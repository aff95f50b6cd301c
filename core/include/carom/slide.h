// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a shape come to that is pushed and slides along what it meets?
//
// `SlideShapes` moves shapes by displacements, along walls and into corners, without ever getting
// stuck in them: what a character controller does in a tick. It is a chain of legs, each a sweep
// under a blocking policy (carom/sweep.h).
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {-4}, y[] = {2}, dx[] = {5}, dy[] = {1};
//   SlideAnswers out;
//   WorkMeter meter;
//   SlideShapes(*scene, {{shapes, {}, x, y}, dx, dy}, {}, out, meter);
//   // out.rows[0].position: (-1, 3), up the wall of polygon 7; out.legs[0].hit.normal: (-1, 0)
//
// Players slide around each other by a scope (carom/batch.h) against the scene and the bodies of
// the group, which stay where they are, with the player's own owner passed over.
//
// Lengths are in the unit of the caller's coordinates. Touching does not count: what is touched may
// be slid along and left. Normal: the unit normal is from what is hit to the shape. Error: poses
// are safe ones, within 8 ulp of the exact ones. Cost: that of a sweep for each leg, and about as
// much again for its safe pose. Thread-safe. Cheaper: carom/sweep.h; richer: carom/depenetrate.h
// for a shape that overlaps already.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/shape.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"

namespace carom {

inline constexpr uint32_t kMaxContacts = 8;
inline constexpr uint32_t kMaxPushes = 4;

struct SlideOptions {
  InsidePolicy inside_policy = InsidePolicy::kBlockingLeave;  // or BLOCKING
  uint32_t max_contacts = 4;  // one push ends with that many; in [1, kMaxContacts]
  uint64_t mask = kEveryCategory;
};

// Item i starts at its pose and is pushed by one displacement after the other without turning. The
// displacements of all items stand in (dx, dy), item after item: pushes[i] of them, in [1,
// kMaxPushes], are item i's; an empty column means one each. Several are for steps (up, along,
// down). `skin` as for sweeps. Movers are those that the blocking policies take.
struct SlideColumns {
  ShapeColumns movers;  // with the scope of the batch
  std::span<const double> dx, dy;
  std::span<const uint32_t> pushes = {};
  std::span<const double> skin = {};

  size_t size() const { return movers.size(); }
};

// One leg: the sweep by `d` from the position `from`, under the slide's policy, scope, mask and
// skin. Asked so with CLOSEST, it answers `hit`, if any, and as its safe pose where the next leg
// starts, or the slide ends.
struct SlideLeg {
  Vec2 from;
  Vec2 d;
  bool has_hit = false;
  SweepHit hit;  // meaningless without has_hit
};

struct SlideRow {
  Vec2 position;      // at the end
  Vec2 left;          // what is left of the last push, as it was given: 0 where it was used up
  uint32_t legs = 0;  // at least one for each push that is not of length zero
};

// The laws. A start that overlaps nothing in more than touch ends so. A leg goes to the safe pose
// of its sweep, with the fraction t. What is left of the push is (1 - t) of what was left before.
// All of U counts, the directions in which the shape is blocked at the hit (carom/sweep.h),
// together with those at contacts that this slide met before and that are still within 8 ulp and
// the skin. Where U holds the push, the next leg is as much of what is left as the blocking ray
// keeps, in the ray's direction; else it is all that is left. It is rounded so that it does not
// enter U. The push ends where it is used up, where no ray keeps any of it, where a leg would be 8
// ulp at most or above 2^53 in a coordinate, and after `max_contacts` contacts. Of a push along a
// straight wall the part along the wall is kept within 8 ulp of the largest coordinate. In a corner
// the same push again gives the same pose.
struct SlideAnswers {
  std::vector<SlideRow> rows;     // of item i; those in error are all 0
  std::vector<SlideLeg> legs;     // item after item
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe without bodies.
bool SlideShapes(const World& world, const SlideColumns& columns, const SlideOptions& options,
                 SlideAnswers& out, WorkMeter& meter);

}  // namespace carom
