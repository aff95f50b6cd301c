// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is an overlap-free position for this shape?
//
// `Depenetrate` pushes each moving shape out of whatever polygons it overlaps and says whether it
// got free. A push answers all contacts of one position, the deepest first, with a margin of some
// ulp that doubles from push to push. Where all pushes but the last leave it stuck (in a passage
// narrower than itself, or where polygons tile the plane), the last one is a jump from the start to
// the first overlap-free position on rings around it, which may be on the other side of a wall:
// `steps` is then max_steps. It fails only where no position tried is free. One contact is in
// carom/contact.h.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {3.5}, y[] = {2};
//   DepenetrateAnswers out;
//   WorkMeter meter;
//   Depenetrate(*scene, {shapes, {}, x, y}, {}, out, meter);
//   // out.finished[0] == 1, out.positions[0] is a few ulp right of (5, 2)
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: whether it finished
// is exact; the translation is not the least. Cost: O(log n) a push and the contacts of that
// position, at most max_steps pushes, n the polygons of the scene. Thread-safe. Cheaper:
// carom/contact.h for one contact; richer: none.
#pragma once

#include <cstdint>
#include <vector>

#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

struct DepenetrateOptions {
  // Pushes at most, per item; in [1, 1024] (a number outside is read as the nearest within). With 1
  // there is no jump.
  uint32_t max_steps = 64;
  uint64_t mask = kEveryCategory;
};

inline constexpr uint32_t kMaxDepenetrateSteps = 1024;

// One entry an item. For an error: no move, not finished, 0 steps.
struct DepenetrateAnswers {
  // Where the reference point ends, as (x, y) of a pose with the item's rotation.
  std::vector<Vec2> positions;
  // 1 where the shape at that pose shares no point with any polygon considered (decided exactly),
  // else 0. Hollow polygons block too.
  std::vector<uint8_t> finished;
  std::vector<uint32_t> steps;    // pushes made, a jump included
  std::vector<ItemError> errors;  // ascending by index

  void Clear();
};

// Returns false if `meter` stopped the work; `out` is then meaningless. Thread-safe.
bool Depenetrate(const Scene& scene, const ShapeColumns& movers, const DepenetrateOptions& options,
                 DepenetrateAnswers& out, WorkMeter& meter);

}  // namespace carom
