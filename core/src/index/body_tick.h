// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a `BodyHistory` keeps: the bodies (moving shapes that queries may hit), their poses at a
// tick, and the pose of a body at a moment between two ticks.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/body_history.h"
#include "carom/geometry.h"
#include "carom/sincos.h"

namespace carom::internal {

// Returns bit i of `words`; without words, `otherwise`.
inline bool BitOf(const std::vector<uint64_t>& words, size_t i, bool otherwise) {
  return words.empty() ? otherwise : (words[i / 64] >> (i % 64) & 1) != 0;
}

// How far a shape reaches from its reference point: without rotation, and in any rotation.
struct ShapeReach {
  Box upright;
  double radius = 0;  // rounded up, and for rotations of a length up to sqrt(1 + 1e-6)
};

// The definition of a history. Immutable.
struct DefinedBodies {
  BodyDefinition definition;
  std::vector<ShapeReach> reaches;  // of each entry of `definition.shapes`
  size_t memory_bytes = 0;

  size_t shape_of(size_t body) const {
    return definition.shape.empty() ? body : definition.shape[body];
  }
  uint64_t category(size_t body) const {
    return definition.category.empty() ? 1 : definition.category[body];
  }
  uint32_t owner(size_t body) const {
    return definition.owner.empty() ? 0 : definition.owner[body];
  }
};

// Which columns of rotations a tick has.
enum class RotationForm : uint8_t { kNone, kCosSin, kAngle };

// The poses of one tick. Immutable. `numbers` has the columns x, y and those of `form`, one after
// the other, read by `Normalized`, except (c, s).
struct BodyTick {
  uint64_t tick = 0;
  RotationForm form = RotationForm::kNone;
  size_t bodies = 0;
  std::vector<double> numbers;
  std::vector<uint64_t> alive, teleported;  // bits; empty: all, none

  Vec2 position(size_t body) const { return {numbers[body], numbers[bodies + body]}; }
  double third(size_t body) const { return numbers[2 * bodies + body]; }
  CosSin rotation(size_t body) const {
    if (form == RotationForm::kNone) return {1, 0};
    if (form == RotationForm::kAngle) return SinCos(third(body));
    return {third(body), numbers[3 * bodies + body]};
  }
  bool is_alive(size_t body) const { return BitOf(alive, body, true); }
  bool has_teleported(size_t body) const { return BitOf(teleported, body, false); }
};

// A moment of a history: at tick `a`, or the part `f` of the way from `a` to the next tick, `b`.
struct BodyMoment {
  const BodyTick* a = nullptr;  // null: the moment is not kept
  const BodyTick* b = nullptr;  // null: f = 0
  double f = 0;
  size_t index = 0;  // of tick `a` among those kept

  bool is_kept() const { return a != nullptr; }
  // Returns whether the body moves from `a` to `b`, rather than stays as at `a`.
  bool Moves(size_t body) const {
    return b != nullptr && a->is_alive(body) && b->is_alive(body) && !b->has_teleported(body);
  }
};

// Returns the moment `as_of` of `history`.
BodyMoment MomentOf(const BodyHistory& history, double as_of);

// Returns `from` + f * (`to` - `from`), each operation rounded once.
inline double Between(double from, double to, double f) { return from + f * (to - from); }

// Returns the rotation between two angles, turning the shorter way.
CosSin RotationBetween(double from, double to, double f);

// Returns where the body's reference point is at the moment, read by `Normalized`.
inline Vec2 PositionAt(const BodyMoment& moment, size_t body) {
  const Vec2 p = moment.a->position(body);
  if (!moment.Moves(body)) return p;
  const Vec2 q = moment.b->position(body);
  return Normalized(Vec2{Between(p.x, q.x, moment.f), Between(p.y, q.y, moment.f)});
}

// Returns the pose of the body at the moment.
Pose PoseAt(const BodyMoment& moment, size_t body, BodyRotation rotation);

}  // namespace carom::internal
