// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/group.h"

#include <initializer_list>
#include <span>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom {
namespace {

struct Column {
  const char* field;
  size_t size;
};

// Adds an offence for each of `columns` that is not as long as the first.
void CheckLengths(std::initializer_list<Column> columns, Refusal& refusal) {
  const Column& first = *columns.begin();
  for (const Column& column : columns) {
    if (column.size != first.size) {
      refusal.Add(column.field,
                  absl::StrCat("must have as many entries as ", first.field, ", ", first.size));
    }
  }
}

// The same for a column that may be left out.
void CheckOptional(Column column, Column first, Refusal& refusal) {
  if (column.size != 0) CheckLengths({first, column}, refusal);
}

void CheckPolygons(const PolygonColumns& columns, Refusal& refusal) {
  const Column first{"polygons.x", columns.x.size()};
  CheckLengths({first, {"polygons.y", columns.y.size()}}, refusal);
  CheckOptional({"polygons.shape", columns.shape.size()}, first, refusal);
  if (columns.shape.empty() && !columns.x.empty()) {
    CheckLengths({first, {"polygons.shapes", columns.shapes.size()}}, refusal);
  }
  if (!columns.c.empty() || !columns.s.empty()) {
    CheckLengths({first, {"polygons.c", columns.c.size()}, {"polygons.s", columns.s.size()}},
                 refusal);
    if (!columns.angle.empty()) {
      refusal.Add("polygons.angle", "must be absent where c and s are given");
    }
  }
  CheckOptional({"polygons.angle", columns.angle.size()}, first, refusal);
}

absl::Status CheckShapes(std::span<const Polygon> shapes) {
  Refusal refusal;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].vertex_count() > kMaxMovingVertices) {
      refusal.Add(absl::StrCat("polygons.shapes[", i, "]"),
                  absl::StrCat("must have at most ", kMaxMovingVertices,
                               " vertices (vertices a moving shape)"));
    }
  }
  return refusal.status(absl::StatusCode::kResourceExhausted);
}

}  // namespace

void GroupAnswers::Clear() {
  version = 0;
  segments.Clear();
  points.Clear();
  circles.Clear();
  polygons.Clear();
}

absl::Status CheckGroup(const Group& group) {
  Refusal refusal;
  const SegmentColumns& segments = group.segments;
  CheckLengths({{"segments.ax", segments.ax.size()},
                {"segments.ay", segments.ay.size()},
                {"segments.bx", segments.bx.size()},
                {"segments.by", segments.by.size()}},
               refusal);
  if (group.cast_options.max_hits < 1 || group.cast_options.max_hits > kMaxMaxHits) {
    refusal.Add("segments.max_hits", absl::StrCat("must be in [1, ", kMaxMaxHits, "]"));
  }
  CheckLengths({{"points.x", group.points.x.size()}, {"points.y", group.points.y.size()}}, refusal);
  CheckLengths({{"circles.x", group.circles.x.size()},
                {"circles.y", group.circles.y.size()},
                {"circles.radius", group.circles.radius.size()}},
               refusal);
  CheckPolygons(group.polygons, refusal);
  if (!refusal.empty()) return refusal.status();
  return CheckShapes(group.polygons.shapes);
}

absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter) {
  out.version = scene.version();
  const bool finished =
      CastSegments(scene, group.segments, group.cast_options, out.segments, meter) &&
      LocatePoints(scene, group.points, group.point_mask, out.points, meter) &&
      OverlapCircles(scene, group.circles, group.circle_options, out.circles, meter) &&
      OverlapPolygons(scene, group.polygons, group.polygon_options, out.polygons, meter);
  if (finished && !meter.stopped()) return absl::OkStatus();
  if (meter.out_of_rows()) {
    return absl::ResourceExhaustedError("the answers have too many rows (answer rows a frame)");
  }
  return absl::DeadlineExceededError("the work was stopped: the frame's budget or deadline ended");
}

}  // namespace carom
