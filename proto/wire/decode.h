// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// From messages to core values.
//
// With encode.h, the only door between protobuf messages and core values: geometry.cc has polygons,
// shapes and scenes, questions.cc and answers.cc the two sides of a group. A request is refused
// here for its form (unknown enum value, missing member, columns of unequal length), and by the
// core's `Create` and `Check` functions for its content. Field paths are those of the message,
// relative to the message that the caller passes. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/tracker_table.h"
#include "carom/v1/geometry.pb.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.pb.h"

namespace carom::wire {

// A polygon. Errors: those of `Polygon::Create`, and INVALID_ARGUMENT for an unknown enum value or
// `x` and `y` of unequal length.
absl::StatusOr<Polygon> DecodePolygon(const v1::Polygon& message, const PolygonLimits& limits);

// All of `messages`, appended to `out`, or the first 16 offences and their number; field paths
// begin with `<path>[i]`, i counted from `first_index`. On an error `out` is left as it was.
absl::Status DecodePolygons(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages,
                            absl::string_view path, size_t first_index, const PolygonLimits& limits,
                            std::vector<Polygon>& out);

// A moving shape. Errors: those of `DecodePolygon` below `polygon`, those of `Shape::Create` below
// `capsule`, and INVALID_ARGUMENT for neither. How many vertices it may have (`kMaxMovingVertices`)
// is checked where it is used, by `CheckGroup` and `TrackerTable::Define`.
absl::StatusOr<Shape> DecodeShape(const v1::Shape& message);

// The edits of a commit; field paths begin with `edits[i]`.
absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(
    const google::protobuf::RepeatedPtrField<v1::Edit>& messages, const PolygonLimits& limits);

// A group as the core reads it. The spans point into the message and into what is beside `group`.
struct DecodedGroup {
  Group group;
  std::vector<Polygon> polygons;  // the shapes of `group.polygons`
  std::vector<Shape> shapes;      // those of all other kinds, one after the other
  std::vector<double> floats;     // columns that came as floats, widened
  GroupKindSet kinds;             // those that the message has

  // Room for polygons and shapes in all.
  size_t shape_capacity() const { return polygons.capacity() + shapes.capacity(); }
};

// Fills `out`, whose capacity is reused, and checks it (`CheckGroup`). `message` outlives the use
// of `out`. The target and `min_version` are the caller's to read.
absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out);

// Definitions of trackers as the core reads them. The spans point into the message and into the
// shapes.
struct DecodedTrackers {
  std::vector<std::vector<Shape>> shapes;  // of each
  std::vector<TrackerDefinitions> definitions;
};

// Fills `out`; field paths begin with `trackers[i]`. What the definitions ask for is checked by
// `TrackerTable::Define`. `messages` outlive the use of `out`.
absl::Status DecodeTrackers(
    const google::protobuf::RepeatedPtrField<v1::TrackerDefinitions>& messages,
    DecodedTrackers& out);

// Nothing and INVALID_ARGUMENT naming `coherence` for an unknown value.
absl::StatusOr<Coherence> DecodeCoherence(int wire);

// The answers of a group, as a client reads them. INTERNAL if the columns do not fit together,
// which an honest server never sends. The status member is the caller's to read.
absl::Status DecodeGroupAnswers(const v1::GroupAnswer& message, GroupAnswers& out);

}  // namespace carom::wire
