// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What moves beside the polygons of a scene, and is hit, too?
//
// `Bodies` are placed shapes that live for one group of questions: the players of a tick, doors,
// crates. A batch whose scope (carom/batch.h) is kBodies or kBoth considers them as it considers
// the polygons of the scene. Nothing is remembered: asking with the poses of an earlier tick asks
// about that tick. For what stays from tick to tick see carom/scene.h.
//
//   const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
//   const double x[] = {8}, y[] = {1};
//   const Bodies bodies = Bodies::Create({{shapes, {}, x, y}}).value();
//   const double ax[] = {6}, ay[] = {1}, bx[] = {10}, by[] = {1};
//   SegmentColumns bullets{ax, ay, bx, by};
//   bullets.scope.against = Against::kBoth;
//   CastAnswers out;
//   WorkMeter meter;
//   CastSegments({*scene, &bodies}, bullets, {}, out, meter);
//   // out.hits[0]: body 0 (is_body), fraction 0.25, normal (-1, 0)
//
// Lengths are in the unit of the caller's coordinates. Touching counts: a body is a closed set, as
// solid as any moving shape. The total order of hits is (key, scene before bodies, polygon id or
// index of the body, ring, edge); the key is the exact fraction or distance, or where the body is a
// circle or a capsule with a radius, the exact one rounded up to a double. Cost: O(n log n) to
// place n bodies; a question that considers them costs O(log n + bodies near by) more. Not
// thread-safe: bodies serve one batch at a time. Cheaper: carom/scene.h; richer: carom/group.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "carom/batch.h"
#include "carom/scene.h"
#include "carom/shape.h"

namespace carom {

namespace internal {
class BodySet;
}  // namespace internal

// The bodies of a group at most.
inline constexpr size_t kMaxBodies = 4096;

// Body i is item i of `placed`. Columns that are not empty are as long as `placed.x`.
struct BodyColumns {
  ShapeColumns placed;
  std::span<const uint64_t> category = {};  // what masks are compared with; empty: 1
  std::span<const uint32_t> owner = {};     // 0, as an empty column: nobody's

  size_t size() const { return placed.size(); }
};

// Placed bodies. Borrows the shapes.
class Bodies {
 public:
  // None.
  Bodies();
  Bodies(Bodies&&) noexcept;
  Bodies& operator=(Bodies&&) noexcept;
  ~Bodies();

  // Errors: INVALID_ARGUMENT naming `bodies.placed.x[i]` (or c, angle, shape) for each body that is
  // not to be placed, the first 16 and their number; RESOURCE_EXHAUSTED naming `bodies` over
  // `kMaxBodies`, or with more vertices than `kMaxMovingVertices` times 16 in all. Columns are of
  // equal length.
  static absl::StatusOr<Bodies> Create(const BodyColumns& columns);

  size_t size() const;

  // For the query sources of the library. Not part of the stable interface.
  internal::BodySet& set() const { return *set_; }

 private:
  std::unique_ptr<internal::BodySet> set_;
};

// What a batch is asked of. Implicit from a scene: most batches have no bodies. Borrows both. What
// is thread-safe for a scene is so for a world without bodies; bodies serve one batch at a time.
struct World {
  World(const Scene& its_scene, const Bodies* its_bodies = nullptr)  // NOLINT
      : scene(its_scene), bodies(its_bodies) {}

  const Scene& scene;
  const Bodies* bodies;  // null: none
};

}  // namespace carom
