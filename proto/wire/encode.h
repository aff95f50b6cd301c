// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do core values (types of the geometry library below core/) become protobuf messages?
// Decoding: wire/decode.h.
//
// Each function replaces what the message had in the fields that the function writes, and keeps the
// memory of the fields for reuse.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "carom/body_history.h"
#include "carom/explain.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/tracker_table.h"
#include "carom/v1/geometry.pb.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.pb.h"

namespace carom::wire {

void EncodePolygon(const Polygon& polygon, v1::Polygon& message);

void EncodeShape(const Shape& shape, v1::Shape& message);

void EncodeEdit(const SceneEdit& edit, v1::Edit& message);

// Writes the queries and bodies of a group (the queries about one scene), and the rotation of its
// body set. The caller writes the fields of `message` for the scene, for `min_version` and for the
// handle of the body set. Omits kinds without queries.
void EncodeGroup(const Group& group, v1::Group& message);

// Writes the bodies of a body set and `keep_ticks`. The caller writes the handle and the fork.
void EncodeBodySet(const BodyDefinition& definition, v1::BodySet& message);
// Returns bytes that are equal for definitions of the same bodies with equal `keep_ticks`, whether
// columns are absent or written out.
std::string BodySetBytes(const BodyDefinition& definition);
// Writes the poses of a tick, as floats if every number is exactly a float. The caller writes the
// handle of the body set.
void EncodePoses(const PoseColumns& poses, v1::BodyPoses& message);

void EncodeTrackers(const TrackerDefinitions& definitions, v1::TrackerDefinitions& message);

v1::Coherence EncodeCoherence(Coherence coherence);

// Writes the answers to every kind of query of `group` and the version of the scene, and clears the
// field `status`, which the caller may set afterwards.
void EncodeGroupAnswers(const Group& group, const GroupAnswers& answers, v1::GroupAnswer& message);

// Writes an explanation of a query, as the response of Explain.
void EncodeExplanation(const Explanation& explanation, v1::ExplainResponse& message);

// Writes `bounds`, which must not be empty.
void EncodeBounds(const Box& bounds, v1::Bounds& message);

// Writes the summary of a scene: its name, version, counts and bounds. `name` is the full name,
// `scenes/` and an id.
void EncodeScene(absl::string_view name, const Scene& scene, v1::Scene& message);

}  // namespace carom::wire
