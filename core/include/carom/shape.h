// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which shapes can move through a scene?
//
// A `Shape` is what a client moves through a scene: a capsule (a circle, a segment and a point are
// capsules, too) or a polygon, described relative to its reference point. `Placed` returns a shape
// at a pose. Batches take many shapes at many poses as `ShapeColumns`.
//
//   const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
//   const Shape moved = Placed(disc, {{2, 3}}).value();
//   // moved.capsule()->axis.a: (2, 3)
//   const Box bounds = moved.bounds();  // from (1, 2) to (3, 4), or rounded outward
//
// Lengths are in the unit of the caller's coordinates, angles in radians. Error: a placed vertex is
// rounded as by `Placed` of carom/geometry.h; queries then take the placed shape as exact. Cost:
// O(n) to place a shape of n vertices. Thread-safe. Cheaper alternative: carom/geometry.h for plain
// values. More powerful: carom/tracker.h, a shape with a memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom {

// The largest number of vertices of a moving shape. Each item of a batch places all of them.
inline constexpr size_t kMaxMovingVertices = 4096;

// Returns OK, or RESOURCE_EXHAUSTED naming `field` if `vertex_count` is above `kMaxMovingVertices`.
// `CheckGroup` and `TrackerTable::Define` call this function for all shapes; a program that calls
// the batch functions directly does not need it.
absl::Status CheckMovingVertices(size_t vertex_count, absl::string_view field);

// A capsule or a polygon, valid by construction. Thread-safe: no member function writes.
class Shape {
 public:
  // Makes a shape of a polygon; ignores its id, category and user data.
  Shape(Polygon polygon) : value_(std::move(polygon)) {}  // NOLINT: a polygon is a shape

  // Creates a capsule. Reads numbers as `Normalized` does. INVALID_ARGUMENT naming `ax`, `ay`,
  // `bx`, `by` or `radius` for a number that is not accepted, or for a radius below 0.
  static absl::StatusOr<Shape> Create(const Capsule& capsule);

  // Returns the polygon or the capsule, or null if the shape is the other kind: exactly one of the
  // two functions returns null.
  const Polygon* polygon() const { return std::get_if<Polygon>(&value_); }
  const Capsule* capsule() const { return std::get_if<Capsule>(&value_); }

  // Returns the smallest box that contains the shape, rounded outward for a capsule.
  Box bounds() const;
  // Returns the number of vertices; 2 for a capsule.
  size_t vertex_count() const { return polygon() ? polygon()->vertex_count() : 2; }

 private:
  explicit Shape(const Capsule& capsule) : value_(capsule) {}

  friend bool PlaceInto(const Shape& shape, const Pose& pose, std::optional<Shape>& placed);

  std::variant<Capsule, Polygon> value_;
};

// Returns the shape at `pose`: its vertices, or the ends of its axis, are placed as by `Placed` of
// carom/geometry.h, and verdicts take the result as exact. INVALID_ARGUMENT if a placed point
// leaves the accepted range. Cost O(vertices).
absl::StatusOr<Shape> Placed(const Shape& shape, const Pose& pose);

// Sets `placed` to what `Placed` returns, for callers that place often: uses the memory of `placed`
// again as `PlaceInto` of a polygon does. Returns false where `Placed` would return an error.
bool PlaceInto(const Shape& shape, const Pose& pose, std::optional<Shape>& placed);

// Moving shapes of type S in columns: item i is shapes[shape[i]] at the pose (x[i], y[i], c[i],
// s[i]). An empty `shape` column means shapes[i]. Empty columns c and s mean no rotation, unless
// `angle` (radians, counter-clockwise, |angle| <= 2^20) is given instead.
template <class S>
struct PlacedColumns {
  std::span<const S> shapes = {};
  std::span<const uint32_t> shape = {};
  std::span<const double> x = {}, y = {}, c = {}, s = {}, angle = {};
  Scope scope = {};  // what the items are tested against

  size_t size() const { return x.size(); }
};

using PolygonColumns = PlacedColumns<Polygon>;
using ShapeColumns = PlacedColumns<Shape>;

}  // namespace carom
