// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a pushed shape end up if it slides along what it meets?
//
// `SlideShapes` moves shapes by displacements, along walls and into corners, and never gets stuck
// in them: the motion of a character controller in a tick. A slide is a chain of legs, each a sweep
// under a blocking policy (carom/sweep.h).
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {-4}, y[] = {2}, dx[] = {5}, dy[] = {1};
//   SlideAnswers out;
//   WorkMeter meter;
//   SlideShapes(*scene, {{shapes, {}, x, y}, dx, dy}, {}, out, meter);
//   // out.rows[0].position: (-1, 3), up the wall of polygon 7; out.legs[0].hit.normal: (-1, 0)
//
// For players that slide around each other, set the scope (carom/batch.h) to the scene and the
// bodies of the group, and ignore_owner to the player's own owner. The bodies stay where they are.
//
// Lengths are in the unit of the caller's coordinates. Touching does not count as a hit: a shape
// may slide along and leave what it touches. The unit normal points from the obstacle to the shape.
// Error: poses are safe poses (carom/sweep.h), within 8 ulp of the exact ones. Cost: for each leg a
// sweep, and about as much again for its safe pose. Thread-safe. Cheaper alternative:
// carom/sweep.h. More powerful: carom/depenetrate.h for a shape that overlaps already.
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
  InsidePolicy inside_policy = InsidePolicy::kBlockingLeave;  // BLOCKING or BLOCKING_LEAVE
  uint32_t max_contacts = 4;  // a push ends after this many; in [1, kMaxContacts]
  uint64_t mask = kEveryCategory;
};

// Slides in columns: item i starts at its pose and is pushed by one displacement after the other
// without turning. The columns dx and dy contain the displacements of all items, item after item;
// item i has pushes[i] of them, in [1, kMaxPushes], or one each if the `pushes` column is empty.
// Several displacements are for steps (up, along, down). `skin` is as in `SweepColumns`. The movers
// are shapes that the blocking policies accept.
struct SlideColumns {
  ShapeColumns movers;  // movers.scope is the scope of the batch
  std::span<const double> dx, dy;
  std::span<const uint32_t> pushes = {};
  std::span<const double> skin = {};

  size_t size() const { return movers.size(); }
};

// One leg: the sweep by `d` from the position `from`, under the policy, scope, mask and skin of the
// slide. A call of `SweepShapes` for this sweep under CLOSEST answers `hit`, if there is a hit, and
// a safe pose, which is where the next leg starts or the slide ends.
struct SlideLeg {
  Vec2 from;
  Vec2 d;
  bool has_hit = false;
  SweepHit hit;  // meaningless without has_hit
};

struct SlideRow {
  Vec2 position;      // position at the end of the slide
  Vec2 left;          // unused part of the last push, in its given direction; 0 if it was used up
  uint32_t legs = 0;  // at least one for each push of nonzero length
};

// The laws of slides. If the start overlaps nothing in more than touch, the end overlaps nothing in
// more than touch. A leg goes to the safe pose of its sweep. If the fraction of the sweep is t, (1
// - t) of the rest of the push remains. Let U be the set of directions in which the shape is
// blocked at the hit (carom/sweep.h), together with the directions in which it is blocked at
// earlier contacts of the slide that are still within 8 ulp and the skin. If U contains the
// direction of the push, the next leg is the part of the rest that the blocking ray keeps, in the
// direction of the ray; otherwise the next leg is the whole rest. A leg is rounded so that it does
// not enter U. The push ends when it is used up, when no ray keeps any part of it, when a leg would
// be at most 8 ulp long or above 2^53 in a coordinate, and after `max_contacts` contacts. For a
// push along a straight wall, the part of the push along the wall is kept within 8 ulp of the
// largest coordinate. In a corner, repeating the push gives the pose again.
struct SlideAnswers {
  std::vector<SlideRow> rows;     // row i belongs to item i; all 0 for an item in error
  std::vector<SlideLeg> legs;     // for each item in turn: its legs
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Slides each item and replaces the contents of `out`. Returns false if `meter` stopped the work;
// `out` is then meaningless. Thread-safe without bodies.
bool SlideShapes(const World& world, const SlideColumns& columns, const SlideOptions& options,
                 SlideAnswers& out, WorkMeter& meter);

}  // namespace carom
