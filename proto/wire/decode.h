// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// From messages to core values.
//
// With encode.h, the only files in which protobuf messages and core values meet. A request is
// refused here for its form (unknown enum value, missing member, columns of unequal length), and by
// the core's `Create` and `Check` functions for its content. Field paths are those of the message,
// relative to the message that the caller passes. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/scene.h"
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

// The edits of a commit; field paths begin with `edits[i]`.
absl::StatusOr<std::vector<SceneEdit>> DecodeEdits(
    const google::protobuf::RepeatedPtrField<v1::Edit>& messages, const PolygonLimits& limits);

// A group as the core reads it. The spans point into the message and into `shapes`.
struct DecodedGroup {
  Group group;
  std::vector<Polygon> shapes;
};

// Fills `out`, whose capacity is reused, and checks it (`CheckGroup`). `message` outlives the use
// of `out`. The target and `min_version` are the caller's to read.
absl::Status DecodeGroup(const v1::Group& message, DecodedGroup& out);

// The answers of a group, as a client reads them. INTERNAL if the columns do not fit together,
// which an honest server never sends. The status member is the caller's to read.
absl::Status DecodeGroupAnswers(const v1::GroupAnswer& message, GroupAnswers& out);

}  // namespace carom::wire
