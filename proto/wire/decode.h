// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do protobuf messages become core values (types of the geometry library below core/)?
// Encoding: wire/encode.h.
//
// Only decode.h and encode.h convert between protobuf messages and core values: geometry.cc has
// polygons, shapes and scenes, questions.cc the queries of a group, answers.cc their answers. The
// functions here refuse a request for its form (unknown enum value, missing member, columns of
// unequal length); the `Create` and `Check` functions of the geometry core refuse it for its
// content. Field paths in errors are relative to the message that the caller passes. Thread-safe:
// pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/body_history.h"
#include "carom/explain.h"
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

// Returns the polygon of a message. Errors: those of `Polygon::Create`, and INVALID_ARGUMENT for an
// unknown enum value or for `x` and `y` of unequal length.
absl::StatusOr<Polygon> DecodePolygon(const v1::Polygon& message, const PolygonLimits& limits);

// Appends the polygons of all `messages` to `out`, or returns an error with the first 16 violations
// (refused fields) and the number of all violations. The field path of a violation begins with
// `<path>[i]`, where i is `first_index` plus the index of the message. After an error `out` is
// unchanged.
absl::Status DecodePolygons(const google::protobuf::RepeatedPtrField<v1::Polygon>& messages,
                            absl::string_view path, size_t first_index, const PolygonLimits& limits,
                            std::vector<Polygon>& out);

// Returns a moving shape. Errors: those of `DecodePolygon`, with field paths that begin with
// `polygon`; those of `Shape::Create`, with paths that begin with `capsule`; and INVALID_ARGUMENT
// if the message has neither a polygon nor a capsule. Does not limit the number of vertices:
// `CheckGroup` and `TrackerTable::Define` check that it is at most `kMaxMovingVertices`.
absl::StatusOr<Shape> DecodeShape(const v1::Shape& message);

// Returns the edits (additions, replacements and removals of polygons) that one commit applies to a
// scene. Field paths of errors begin with `edits[i]`.
absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(
    const google::protobuf::RepeatedPtrField<v1::Edit>& messages, const PolygonLimits& limits);

// A group (the queries about one scene) as the geometry core reads it. The spans of `group` point
// into the message and into the vectors `polygons`, `shapes` and `floats` below.
struct DecodedGroup {
  Group group;
  std::vector<Polygon> polygons;  // the shapes of `group.polygons`
  // the moving shapes of the other kinds of queries, one kind after the other, then the bodies
  // (placed shapes that queries can hit beside the scene)
  std::vector<Shape> shapes;
  std::vector<double> floats;  // columns that the client sent as floats, converted to doubles
  GroupKindSet kinds;          // the kinds of queries that the message has

  // Returns the number of polygons and shapes for which memory is allocated.
  size_t shape_capacity() const { return polygons.capacity() + shapes.capacity(); }
};

// Sets `out` to the group of `message`, reusing the memory of `out`, and checks the group with
// `CheckGroup`. `message` must exist as long as `out` is used. The caller reads the scene of the
// group and `min_version` from `message`. `history` is the body set that the message names, which
// must outlive the use of `out`; null if the stream has none of that handle, which is
// INVALID_ARGUMENT naming `body_set`.
absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out,
                         const BodyHistory* history = nullptr);

// Returns the definition of a body set (bodies that the server keeps, with their poses by tick).
// Field paths of errors begin with the name of a member, such as `shapes[i]`.
absl::StatusOr<BodyDefinition> DecodeBodySet(const v1::BodySet& message);

// The poses of a tick as the geometry core reads them. The spans of `poses` point into the message
// and into `floats`.
struct DecodedPoses {
  PoseColumns poses;
  std::vector<double> floats;
};

// Sets `out` to the poses of a message, which must exist as long as `out` is used. Returns
// INVALID_ARGUMENT naming `floats` for floats beside doubles; `BodyHistory::Add` checks the rest.
absl::Status DecodePoses(const v1::BodyPoses& message, DecodedPoses& out);

// Definitions of trackers (moving shapes that the server remembers between frames) as the geometry
// core reads them. The spans of `definitions` point into the message and into `shapes`.
struct DecodedTrackers {
  std::vector<std::vector<Shape>> shapes;  // the shapes of each entry of `definitions`
  std::vector<TrackerDefinitions> definitions;
};

// Sets `out` to the tracker definitions in `messages`. Field paths of errors begin with
// `trackers[i]`. `TrackerTable::Define` checks the content of the definitions. `messages` must
// exist as long as `out` is used.
absl::Status DecodeTrackers(
    const google::protobuf::RepeatedPtrField<v1::TrackerDefinitions>& messages,
    DecodedTrackers& out);

// Returns the value in the geometry core of the wire value `wire` of the enum v1::Coherence, or
// INVALID_ARGUMENT naming `coherence` for an unknown value.
absl::StatusOr<Coherence> DecodeCoherence(int wire);

// Sets `out` to the answers to a group of queries, for a client. Returns INTERNAL if the columns of
// the answers do not match each other, which a correct server never sends. The caller reads the
// status of the group from `message`.
absl::Status DecodeGroupAnswers(const v1::GroupAnswer& message, GroupAnswers& out);

// Returns an explanation of a query, for a client. Returns INTERNAL for the error of an item that
// the geometry core does not have.
absl::StatusOr<Explanation> DecodeExplanation(const v1::ExplainResponse& message);

}  // namespace carom::wire
