// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// From core values to messages; the other half of decode.h.
//
// Each function clears what it writes, keeping the message's memory for reuse.
#pragma once

#include "absl/strings/string_view.h"
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

// Everything but the target and `min_version`. Batches without items are left absent.
void EncodeGroup(const Group& group, v1::Group& message);

void EncodeTrackers(const TrackerDefinitions& definitions, v1::TrackerDefinitions& message);

v1::Coherence EncodeCoherence(Coherence coherence);

// The columns of every batch that `group` asks; no status.
void EncodeGroupAnswers(const Group& group, const GroupAnswers& answers, v1::GroupAnswer& message);

// A box that is not empty.
void EncodeBounds(const Box& bounds, v1::Bounds& message);

// The summary of a scene. `name` is `scenes/{scene}`.
void EncodeScene(absl::string_view name, const Scene& scene, v1::Scene& message);

}  // namespace carom::wire
