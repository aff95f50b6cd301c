// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is an overlap-free position for this shape?
//
// `Depenetrate` pushes each moving shape out of the polygons that it overlaps and returns whether
// the shape got free. A push resolves all contacts of one position, the deepest first, with a
// margin of some ulp that doubles from push to push. If all pushes but the last leave the shape
// stuck (in a passage narrower than the shape, or where polygons tile the plane), the last push is
// a jump from the start to the first overlap-free position on rings around the start, which may be
// on the other side of a wall: `steps` is then max_steps. A shape is not freed only if no position
// that was tried is free. carom/contact.h returns one contact.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {3.5}, y[] = {2};
//   DepenetrateAnswers out;
//   WorkMeter meter;
//   Depenetrate(*scene, {shapes, {}, x, y}, {}, out, meter);
//   // out.finished[0] == 1, out.positions[0] is a few ulp right of (5, 2)
//
// Lengths are in the unit of the caller's coordinates. Touching counts as overlap. Error:
// `finished` is exact; the translation is not the least. Cost: O(log n) for each push plus the
// contacts of its position, at most max_steps pushes, n the polygons of the scene. Thread-safe.
// Cheaper alternative: carom/contact.h for one contact.
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
  // The largest number of pushes of an item; in [1, 1024] (a number outside is read as the nearest
  // number in the range). With 1 there is no jump.
  uint32_t max_steps = 64;
  uint64_t mask = kEveryCategory;
};

inline constexpr uint32_t kMaxDepenetrateSteps = 1024;

// One entry per item. An item in error does not move, is not finished and has 0 steps.
struct DepenetrateAnswers {
  // The last position of the reference point: (x, y) of a pose with the rotation of the item.
  std::vector<Vec2> positions;
  // 1 if the shape at this position shares no point with any polygon considered (decided exactly),
  // else 0. Hollow polygons count as obstacles, too.
  std::vector<uint8_t> finished;
  std::vector<uint32_t> steps;    // number of pushes, including a jump
  std::vector<ItemError> errors;  // items in error, ascending by index

  void Clear();
};

// Moves each shape and replaces the contents of `out`. Returns false if `meter` stopped the work;
// `out` is then meaningless. Thread-safe.
bool Depenetrate(const Scene& scene, const ShapeColumns& movers, const DepenetrateOptions& options,
                 DepenetrateAnswers& out, WorkMeter& meter);

}  // namespace carom
