// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are moving bodies hit beside the polygons of a scene?
//
// `Bodies` are placed shapes that exist for one group of questions: the players of a tick, doors,
// crates. A batch of the scope kBodies or kBoth (carom/batch.h) considers bodies as it considers
// the polygons of the scene. The library keeps no bodies from group to group: to ask about an
// earlier tick, pass the poses of that tick. For shapes that stay from tick to tick see
// carom/scene.h.
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
// index of the body, ring, edge). The key is the exact fraction or distance; if the body is a
// circle or a capsule with a radius, the exact value rounded up to a double. Cost: O(n log n) to
// place n bodies; a question that considers bodies costs O(log n + bodies near by) more. Not
// thread-safe: bodies serve one batch at a time. Cheaper alternative: carom/scene.h. More powerful:
// carom/group.h.
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

// The largest number of bodies of a group.
inline constexpr size_t kMaxBodies = 4096;

// Bodies in columns: body i is item i of `placed`. A column that is not empty is as long as
// `placed.x`.
struct BodyColumns {
  ShapeColumns placed;
  std::span<const uint64_t> category = {};  // compared with the mask of a question; empty: 1
  std::span<const uint32_t> owner = {};     // see `Scope::ignore_owner`; 0 or empty: no owner

  size_t size() const { return placed.size(); }
};

// Placed bodies. The shapes must outlive them.
class Bodies {
 public:
  // Makes an empty set of bodies.
  Bodies();
  Bodies(Bodies&&) noexcept;
  Bodies& operator=(Bodies&&) noexcept;
  ~Bodies();

  // Places the bodies; the columns are of equal length. Errors: INVALID_ARGUMENT naming
  // `bodies.placed.x[i]` (or c, angle, shape) for each body that cannot be placed, the first 16 and
  // their number; RESOURCE_EXHAUSTED naming `bodies` if there are more than `kMaxBodies` bodies, or
  // more than 16 * `kMaxMovingVertices` vertices in all.
  static absl::StatusOr<Bodies> Create(const BodyColumns& columns);

  size_t size() const;

  // Returns the bodies for the query code of the library. Not part of the stable interface.
  internal::BodySet& set() const { return *set_; }

 private:
  std::unique_ptr<internal::BodySet> set_;
};

// What a batch is tested against: a scene and, optionally, bodies, both of which must outlive the
// world. A scene converts implicitly, since most batches have no bodies. A function that is
// thread-safe for a scene is thread-safe for a world without bodies; bodies serve one batch at a
// time.
struct World {
  World(const Scene& its_scene, const Bodies* its_bodies = nullptr)  // NOLINT
      : scene(its_scene), bodies(its_bodies) {}

  const Scene& scene;
  const Bodies* bodies;  // null: no bodies
};

}  // namespace carom
