// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Parses the JSON lines that `carom eval` reads.
//
// `ParseLine` turns a line of JSON into a query, a definition (a scene, bodies or a tracker), or an
// error that names the faulty member. `ParseLine` performs all checks that need no scene, so that
// the error does not depend on the evaluator.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/area.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/distance.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/slide.h"
#include "client/cli/eval/bodies_line.h"
#include "client/cli/eval/soft_walls.h"

namespace carom::cli {

// Which polygons contain `p`?
struct PointQuery {
  Vec2 p;
};

// Which polygons does the segment hit, and which polygons contain its start? `inside` decides what
// the hits list for a polygon that contains the start: a hit at the start, no hit before the
// segment has left the polygon, or the point where the segment leaves the polygon.
// With `soft`, the first hit is what stops the segment past soft walls.
struct SegmentQuery {
  Segment segment;
  InsidePolicy inside = InsidePolicy::kReportStart;
  std::optional<SoftWalls> soft = std::nullopt;
};

// Do the ends of the segment see each other, past soft walls?
struct SightQuery {
  Segment segment;
  SoftWalls soft;
};

// Which polygons does the circle touch?
struct CircleQuery {
  Circle circle;
};

// Which polygons does the shape touch? The shape has at most kMaxMovingVertices vertices.
struct PolygonQuery {
  Polygon shape;
};

// Which polygons are nearest to the shape, and how far are they? The shape has at most
// kMaxMovingVertices vertices.
struct DistanceQuery {
  Polygon shape;
};

// Which at most `k` polygons, within `max_distance` of the shape, are nearest to it, and how far
// are they? The shape has at most kMaxMovingVertices vertices.
struct NearestQuery {
  Shape shape;
  uint32_t k = 1;  // in [1, kMaxNearestK]
  double max_distance = 0;
};

// Which polygons does the shape, a polygon or a circle, touch first when it moves by the
// displacement `d`?
struct SweepQuery {
  Shape shape;
  Vec2 d;
};

// Which polygon does the shape touch first when it moves from the pose by the displacement `d`? If
// `inside` is kBlocking or kBlockingLeave: which polygon blocks the shape, that is, which one would
// it overlap in more than touch?
struct PosedSweepQuery {
  Shape shape;
  Pose pose;
  Vec2 d;
  InsidePolicy inside = InsidePolicy::kReportStart;
  // distance, along the normal of the hit, between the shape at the answered safe position and the
  // polygon or body that blocks the shape; 0 unless `inside` is kBlocking or kBlockingLeave
  double skin = 0;
};

// At which position does the shape end if it moves from the pose by the displacements `pushes`, one
// after the other, and slides along the polygons and bodies (placed shapes besides the scene) that
// block it?
struct SlideQuery {
  Shape shape;
  Pose pose;
  std::vector<Vec2> pushes;  // 1 to kMaxPushes displacements
  SlideOptions options;
  double skin = 0;
};

// Which path does a point take that moves along the segment, from its first end, and is reflected
// at each polygon that it meets?
struct BounceQuery {
  Segment segment;
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// Which path does a point take that moves along the ray and is reflected at each polygon that it
// meets?
struct RayBounceQuery {
  Vec2 origin;
  Vec2 direction;
  // Limits the whole path, all legs together: without a bounce, the path ends at
  // origin + t_max * direction. Infinite: no end.
  double t_max = 0;
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// Which area, within the distance `range`, is visible from the point `eye`?
struct AreaQuery {
  Vec2 eye;
  double range = 0;
  // first and second side of the sector, in radians; without value, every direction
  std::optional<std::pair<double, double>> cone = std::nullopt;
  InsidePolicy inside = InsidePolicy::kReportStart;  // kReportStart or kIgnore
};

// Which bodies, grown by `margin`, does an observer at `eye` see?
struct SeesQuery {
  AreaQuery area;
  double margin = 0;
};

// What are the contacts of the convex shape with the convex polygons that it touches?
struct ContactQuery {
  Polygon shape;
};

// Which polygons does the tracker (a shape that the evaluator keeps under the number `handle`)
// touch at the pose?
struct MoveQuery {
  uint32_t handle = 0;
  Pose pose;
};

using Query =
    std::variant<PointQuery, SegmentQuery, CircleQuery, PolygonQuery, DistanceQuery, SweepQuery,
                 ContactQuery, MoveQuery, PosedSweepQuery, SlideQuery, BounceQuery, RayBounceQuery,
                 NearestQuery, SightQuery, AreaQuery, SeesQuery>;

// Returns the approximate encoded size of the query, in units of the encoded size of a vertex.
size_t VertexCount(const Query& query);

// A line that replaces the polygons of the scene by `polygons`.
struct SceneLine {
  std::vector<Polygon> polygons;
};

// A line that replaces the scene by the scene `id` of the file `file`, a relative path.
struct LoadLine {
  std::string file;
  std::string id;
};

// A line that sets the bodies (placed shapes besides the scene) for the queries of later lines,
// until a line replaces the scene.
struct BodiesLine {
  BodyTable bodies;
};

// A line that adds a tick: the poses of the bodies of the last bodies line.
struct PosesLine {
  PoseTable poses;
};

// A line that defines the tracker (a shape that later lines move) with the name `tracker`. The
// shape has at most kMaxMovingVertices vertices.
struct TrackLine {
  uint64_t tracker = 0;
  Polygon shape;
};

// A line that moves the tracker (a shape that an earlier line defined) with the name `tracker` and
// asks which polygons it touches; a `MoveQuery` refers to the tracker by its handle instead of the
// name.
struct NamedMove {
  uint64_t tracker = 0;
  Pose pose;
};

// A parsed JSON line of `carom eval`.
struct Line {
  // The JSON text of the member `q`, which the answer repeats; empty if the line does not have `q`.
  std::string q;
  // The definition (of a scene, bodies or a tracker), move or query of the line, or an error. An
  // error has at least one field violation, the first of which names the faulty member by its path
  // in the JSON line, such as c[2]. The code is INVALID_ARGUMENT, or RESOURCE_EXHAUSTED if the line
  // exceeds a limit.
  absl::StatusOr<
      std::variant<SceneLine, LoadLine, BodiesLine, PosesLine, TrackLine, NamedMove, Query>>
      content;
  // which polygons and bodies (placed shapes beside the scene) a query or move considers; the
  // default value for other kinds of lines
  ItemScope scope;
};

// Parses a JSON line of `carom eval`. Returns nullopt if `text` is not JSON.
std::optional<Line> ParseLine(std::string_view text);

// Returns the inside policy (what a segment query reports for a polygon that contains its start)
// with the name `word`: "report", "ignore" or "exit". Returns nullopt for any other word.
std::optional<InsidePolicy> InsidePolicyNamed(std::string_view word);
// Returns the inside policy of a sweep or slide with the name `word`: "report", "ignore", "exit",
// "blocking" or "blocking_leave". Returns nullopt for any other word.
std::optional<InsidePolicy> SweepPolicyNamed(std::string_view word);

}  // namespace carom::cli
