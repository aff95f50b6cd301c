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
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/bounce.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/slide.h"
#include "client/cli/eval/bodies_line.h"

namespace carom::cli {

// Which polygons contain `p`?
struct PointQuery {
  Vec2 p;
};

// Which polygons does the segment hit, and which contain its start?
struct SegmentQuery {
  Segment segment;
  InsidePolicy inside = InsidePolicy::kReportStart;
};

// Which polygons does the circle touch?
struct CircleQuery {
  Circle circle;
};

// Which polygons does the shape touch? It has at most kMaxMovingVertices vertices.
struct PolygonQuery {
  Polygon shape;
};

// Which polygons are nearest to the shape, and at which distance? The shape has at most
// kMaxMovingVertices vertices.
struct DistanceQuery {
  Polygon shape;
};

// Which polygons does the shape, a polygon or a circle, touch first when it moves by the
// displacement `d`?
struct SweepQuery {
  Shape shape;
  Vec2 d;
};

// Which polygon does the shape touch first when it moves from the pose by the displacement `d`?
// Under a blocking policy: which polygon blocks the shape?
struct PosedSweepQuery {
  Shape shape;
  Pose pose;
  Vec2 d;
  InsidePolicy inside = InsidePolicy::kReportStart;
  // gap, along the normals, that the answered safe position keeps between the shape and what blocks
  // it; for blocking policies only
  double skin = 0;
};

// Where does the shape end when the displacements `pushes` move it from the pose and it slides
// along obstacles?
struct SlideQuery {
  Shape shape;
  Pose pose;
  std::vector<Vec2> pushes;  // 1 to kMaxPushes displacements
  SlideOptions options;
  double skin = 0;
};

// Which path does the segment take when it bounces off polygons?
struct BounceQuery {
  Segment segment;
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// Which path does the ray take when it bounces off polygons?
struct RayBounceQuery {
  Vec2 origin;
  Vec2 direction;
  double t_max = 0;          // the ray ends at origin + t_max * direction; infinite: no end
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// What are the contacts of the convex shape with the convex polygons that it touches?
struct ContactQuery {
  Polygon shape;
};

// Which polygons does the tracker (a shape that the evaluator keeps under a handle) touch at the
// pose?
struct MoveQuery {
  uint32_t handle = 0;
  Pose pose;
};

using Query =
    std::variant<PointQuery, SegmentQuery, CircleQuery, PolygonQuery, DistanceQuery, SweepQuery,
                 ContactQuery, MoveQuery, PosedSweepQuery, SlideQuery, BounceQuery, RayBounceQuery>;

// Returns the approximate size of the encoded query, in units of an encoded vertex.
size_t VertexCount(const Query& query);

// Replaces the scene by `polygons`.
struct SceneLine {
  std::vector<Polygon> polygons;
};

// Replaces the scene by scene `id` of the file `file`, a relative path.
struct LoadLine {
  std::string file;
  std::string id;
};

// Sets the bodies (placed shapes besides the scene) for the following queries, until the scene is
// replaced.
struct BodiesLine {
  BodyTable bodies;
};

// Defines the tracker with the name `tracker`. The shape has at most kMaxMovingVertices vertices.
struct TrackLine {
  uint64_t tracker = 0;
  Polygon shape;
};

// A move of the tracker that the user has named `tracker`; a `MoveQuery` refers to the tracker by
// its handle instead.
struct NamedMove {
  uint64_t tracker = 0;
  Pose pose;
};

// A parsed line.
struct Line {
  // The JSON text of the member `q`, or empty if the line does not have it.
  std::string q;
  // An error has at least one field violation, the first of which names the faulty member by its
  // path in the JSON line, such as c[2]. The code is INVALID_ARGUMENT, or RESOURCE_EXHAUSTED over a
  // limit.
  absl::StatusOr<std::variant<SceneLine, LoadLine, BodiesLine, TrackLine, NamedMove, Query>>
      content;
  // polygons and bodies that a query or move considers; default for other lines
  ItemScope scope;
};

// Parses a line. Returns nullopt if `text` is not JSON.
std::optional<Line> ParseLine(std::string_view text);

// Returns the policy with the name "report", "ignore" or "exit", or nullopt for another word.
std::optional<InsidePolicy> InsidePolicyNamed(std::string_view word);
// Returns the policy with the name "report", "ignore", "exit", "blocking" or "blocking_leave", or
// nullopt for another word.
std::optional<InsidePolicy> SweepPolicyNamed(std::string_view word);

}  // namespace carom::cli
