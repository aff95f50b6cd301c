// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What moves?
//
// A `Shape` is what a client moves through a scene: a capsule (a circle, a segment and a point are
// capsules too) or a polygon, described about its reference point. `Placed` puts one at a pose.
// Batches take many shapes at many poses as `ShapeColumns`.
//
//   const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
//   const Shape moved = Placed(disc, {{2, 3}}).value();
//   // moved.capsule()->axis.a: (2, 3)
//   const Box bounds = moved.bounds();  // from (1, 2) to (3, 4), or rounded outward
//
// Lengths are in the unit of the caller's coordinates, angles in radians. Error: a placed vertex is
// rounded as `Placed` of carom/geometry.h says; that shape is then taken as exact. Cost: O(n) to
// place, n the vertices of the shape. Thread-safe. Cheaper: carom/geometry.h for plain values;
// richer: carom/tracker.h, a shape with a memory.
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

// The vertices of a moving shape at most: each item of a batch places all of them.
inline constexpr size_t kMaxMovingVertices = 4096;

// OK, or RESOURCE_EXHAUSTED naming `field` for more vertices than that. `CheckGroup` and
// `TrackerTable::Define` call it for all shapes; a program that calls queries without them need
// not.
absl::Status CheckMovingVertices(size_t vertex_count, absl::string_view field);

// A capsule or a polygon, valid by construction. Thread-safe: no member function writes.
class Shape {
 public:
  // Any polygon; its id, category and user data are ignored.
  Shape(Polygon polygon) : value_(std::move(polygon)) {}  // NOLINT: a polygon is a shape

  // Reads numbers as `Normalized` does. INVALID_ARGUMENT naming `ax`, `ay`, `bx`, `by` or `radius`
  // for a number that is not accepted, or a radius below 0.
  static absl::StatusOr<Shape> Create(const Capsule& capsule);

  // One of the two is not null.
  const Polygon* polygon() const { return std::get_if<Polygon>(&value_); }
  const Capsule* capsule() const { return std::get_if<Capsule>(&value_); }

  // The smallest box that holds the shape, for a capsule rounded outward.
  Box bounds() const;
  // 2 for a capsule.
  size_t vertex_count() const { return polygon() ? polygon()->vertex_count() : 2; }

 private:
  explicit Shape(const Capsule& capsule) : value_(capsule) {}

  friend bool PlaceInto(const Shape& shape, const Pose& pose, std::optional<Shape>& placed);

  std::variant<Capsule, Polygon> value_;
};

// The shape with its vertices, or the ends of its axis, placed as points are (carom/geometry.h);
// what verdicts take as exact. INVALID_ARGUMENT if one leaves the accepted range. Cost O(vertices).
absl::StatusOr<Shape> Placed(const Shape& shape, const Pose& pose);

// The same for whoever places often, as `PlaceInto` of a polygon.
bool PlaceInto(const Shape& shape, const Pose& pose, std::optional<Shape>& placed);

// Moving shapes of type S: item i is shapes[shape[i]] at the pose (x[i], y[i], c[i], s[i]). An
// empty `shape` column means shapes[i]; empty c and s mean no rotation, unless `angle` (radians,
// counter-clockwise, |angle| <= 2^20) is given instead.
template <class S>
struct PlacedColumns {
  std::span<const S> shapes = {};
  std::span<const uint32_t> shape = {};
  std::span<const double> x = {}, y = {}, c = {}, s = {}, angle = {};
  Scope scope = {};  // of the question that the shapes are the items of

  size_t size() const { return x.size(); }
};

using PolygonColumns = PlacedColumns<Polygon>;
using ShapeColumns = PlacedColumns<Shape>;

}  // namespace carom
