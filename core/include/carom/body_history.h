// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a shot hit where its shooter saw the others, some ticks ago?
//
// A `BodyHistory` keeps a list of bodies and their poses by tick. A group names it in place of
// bodies, and each item is answered as of a moment of its own (`Scope::as_of`), also between two
// ticks. Start with `Create`, then `Add` the poses of every tick.
//
//   BodyDefinition players;
//   players.shapes = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   BodyHistory history = BodyHistory::Create(players).value();
//   const double before[] = {8}, after[] = {12}, y[] = {1};
//   history.Add({.tick = 100, .x = before, .y = y}).IgnoreError();
//   history.Add({.tick = 101, .x = after, .y = y}).IgnoreError();
//   const double as_of[] = {100.25};
//   group.body_history = &history;
//   group.segments.scope = {Against::kBoth, {}, {}, as_of};
//   // the bullet meets the body at x = 8 + 0.25 (12 - 8) = 9
//
// Law: the answer of an item as of tick k equals, byte for byte, that of a group whose bodies have
// the poses of tick k. In between, the same holds with the poses of `At`. docs/conventions.md,
// "Body sets", has the rules. Lengths are in the unit of the caller's coordinates, moments in
// ticks, angles in radians. Touching and order are those of carom/bodies.h. Cost: O(bodies) to add
// a tick; 16 bytes a pose without rotation, 24 with an angle, 32 with (c, s), and at most two bits;
// copies share the ticks, so a copy costs O(ticks). Thread-safe: const functions of one object, and
// all functions of distinct copies. Cheaper alternative: carom/bodies.h, for one moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/bodies.h"
#include "carom/shape.h"

namespace carom {

namespace internal {
struct BodyTick;
struct DefinedBodies;
}  // namespace internal

// The largest number of ticks that a history keeps.
inline constexpr uint32_t kMaxKeepTicks = 256;
// The largest number of a tick: every tick is also a double.
inline constexpr uint64_t kMaxTick = uint64_t{1} << 53;
// The largest magnitude of a position, and the largest distance of a point of a shape from its
// reference point. No pose between two ticks then places a vertex out of the accepted range.
inline constexpr double kMaxPastPosition = 0x1p52;
inline constexpr double kMaxPastExtent = 0x1p51;

// Which rotation does a body have between ticks k and k + 1, at k + f? `kNearest`: that of k for
// f < 1/2, and else that of k + 1. `kLinear`: the angle between the two, turning the shorter way;
// exactly opposite angles turn counter-clockwise. `kLinear` needs ticks with angles, or without
// rotation.
enum class BodyRotation : uint8_t { kNearest, kLinear };

// The bodies of a history, which never change: body i is shapes[shape[i]].
struct BodyDefinition {
  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;     // index into `shapes`; empty: body i has shapes[i]
  std::vector<uint64_t> category;  // compared with the mask of a question; empty: 1
  std::vector<uint32_t> owner;     // see `Scope::ignore_owner`; 0 or empty: no owner
  uint32_t keep_ticks = 64;        // how many ticks are kept, the last that came: [1, 256]

  size_t size() const { return shape.empty() ? shapes.size() : shape.size(); }
};

// The poses of all bodies at one tick. `x` and `y` have an entry for each body; c and s, or angle,
// have as many, or are empty: no rotation. Words of bits have the bit of body i at i % 64 of word
// i / 64.
struct PoseColumns {
  uint64_t tick = 0;                       // [0, kMaxTick]
  std::span<const double> x = {}, y = {};  // at most 2^52 in magnitude
  std::span<const double> c = {}, s = {};  // |c^2 + s^2 - 1| <= 1e-6
  std::span<const double> angle = {};      // radians, counter-clockwise, |angle| <= 2^20
  std::span<const uint64_t> alive = {};    // bits; empty: every body is alive
  std::span<const uint64_t> teleported =
      {};  // bits: no interpolation from the tick before; or empty
};

// The bodies of a moment, as a group takes them. `columns()` is valid while this object and the
// history exist.
struct PastBodies {
  std::vector<double> x, y, c, s;  // c and s are empty without rotations
  std::vector<uint64_t> category;  // 0 for bodies that are not alive
  BodyColumns rest = {};           // shapes and owners

  BodyColumns columns() const;
};

// Bodies and their poses by tick. See the top of the file.
class BodyHistory {
 public:
  // Makes a history without bodies.
  BodyHistory();
  BodyHistory(const BodyHistory&);
  BodyHistory(BodyHistory&&) noexcept;
  BodyHistory& operator=(const BodyHistory&);
  BodyHistory& operator=(BodyHistory&&) noexcept;
  ~BodyHistory();

  // Makes a history without ticks. Errors: INVALID_ARGUMENT naming `shape[i]`, `category`, `owner`,
  // `keep_ticks`, or `shapes[i]` for a shape beyond `kMaxPastExtent`; RESOURCE_EXHAUSTED naming
  // `shapes`, `shapes[i]` or `bodies` for more than `kMaxBodies` bodies, a shape of more than
  // `kMaxMovingVertices` vertices, or more than 16 times as many in all bodies.
  static absl::StatusOr<BodyHistory> Create(BodyDefinition definition);

  // Adds a tick, above all earlier ones, and drops the oldest tick if more than `keep_ticks` are
  // kept. A kept tick with the same poses changes nothing; nor does a tick below all that are kept,
  // so a history may begin anywhere. INVALID_ARGUMENT, and no change, naming a column of wrong
  // length, a number out of range, columns of rotations that differ from those of the ticks kept,
  // or `tick` for a kept tick with other poses and for one that was left out between two others.
  absl::Status Add(const PoseColumns& poses);

  size_t size() const;  // bodies
  size_t tick_count() const { return ticks_.size(); }
  uint32_t keep_ticks() const;
  // Return the oldest and the newest tick that is kept; 0 without ticks.
  uint64_t oldest_tick() const;
  uint64_t newest_tick() const;
  // Returns whether tick `tick` is kept.
  bool HasTick(uint64_t tick) const { return Find(tick) < ticks_.size(); }
  // Returns whether an item as of that moment is answered: the tick is kept or, between two ticks,
  // both are. False for NaN.
  bool Has(double as_of) const;
  // Returns whether `rotation` can be asked: false for `kLinear` with ticks of (c, s).
  bool Allows(BodyRotation rotation) const;
  // Sets `out` to the bodies of the moment. Returns false if `Has` returns false.
  bool At(double as_of, BodyRotation rotation, PastBodies& out) const;

  // Return upper bounds of the bytes that definition and ticks take, of those of the definition,
  // and of those that `ticks` ticks of `bodies` bodies take with rotations.
  size_t memory_bytes() const;
  size_t defined_bytes() const;
  static size_t TickBytes(size_t bodies, size_t ticks);

  // For the query code of the library. Not part of the stable interface.
  const internal::DefinedBodies& defined() const { return *defined_; }
  const internal::BodyTick& tick_at(size_t index) const { return *ticks_[index]; }
  // Returns the index of a tick among those kept; `tick_count()` if it is not kept.
  size_t Find(uint64_t tick) const;

 private:
  absl::Status Check(const PoseColumns& poses) const;

  std::shared_ptr<const internal::DefinedBodies> defined_;
  std::vector<std::shared_ptr<const internal::BodyTick>> ticks_;  // ascending
};

}  // namespace carom
