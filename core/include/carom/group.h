// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One group of a frame: all that a tick asks of one scene.
//
// `EvaluateGroup` runs the batches of a group against one snapshot and fills the answers. It is
// the one path of every query: the server, the in-process library and `carom eval --local` all
// call it, so their answers are the same bytes. A frame is a list of groups; who picks each group's
// scene (by name, handle and version) is above the core.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "carom/cast.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"

namespace carom {

// Views, not copies: what the spans point to outlives the call. Empty columns ask nothing.
struct Group {
  CastOptions cast_options;
  SegmentColumns segments;
  uint64_t point_mask = kEveryCategory;
  PointColumns points;
  OverlapOptions circle_options;
  CircleColumns circles;
  OverlapOptions polygon_options;
  PolygonColumns polygons;

  // Items of all batches: what "queries a frame" limits.
  size_t query_count() const {
    return segments.size() + points.size() + circles.size() + polygons.size();
  }
};

struct GroupAnswers {
  uint64_t version = 0;  // of the scene that was read
  CastAnswers segments;
  LocateAnswers points;
  OverlapAnswers circles;
  OverlapAnswers polygons;

  void Clear();
};

// OK if the columns of each batch are of equal length and the options are in range; otherwise
// INVALID_ARGUMENT naming the field, such as `segments.by` or `segments.max_hits`. A shape
// with more than kMaxMovingVertices vertices is RESOURCE_EXHAUSTED naming `polygons.shapes[i]`.
absl::Status CheckGroup(const Group& group);

// Answers a group that `CheckGroup` accepts. If `meter` stopped the work, `out` is meaningless and
// the status DEADLINE_EXCEEDED, or RESOURCE_EXHAUSTED when the answers have too many rows.
// Thread-safe for distinct `out` and `meter`.
absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter);

}  // namespace carom
