// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a line of `carom eval` ask?
//
// `ParseLine` turns a line of JSON into a question, a new scene, or a status that names the member
// at fault. Everything that can be checked without a scene is checked here, so that it does not
// matter who evaluates.
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

// Which polygons hold `p`?
struct PointQuery {
  Vec2 p;
};

// Which polygons does the segment hit, and which hold its start?
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

// How far is the shape from the nearest polygons, and which are they? Vertices as above.
struct DistanceQuery {
  Polygon shape;
};

// Which polygons does the shape, a polygon or a circle, touch first when it moves by `d`?
struct SweepQuery {
  Shape shape;
  Vec2 d;
};

// What blocks the shape, or does it touch first, when it moves from the pose by `d`?
struct PosedSweepQuery {
  Shape shape;
  Pose pose;
  Vec2 d;
  InsidePolicy inside = InsidePolicy::kReportStart;
  double skin = 0;  // of the blocking policies
};

// Where does the shape come to when it is pushed from the pose and slides? One displacement to
// kMaxPushes.
struct SlideQuery {
  Shape shape;
  Pose pose;
  std::vector<Vec2> pushes;
  SlideOptions options;
  double skin = 0;
};

// Where does the segment go when it bounces?
struct BounceQuery {
  Segment segment;
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// Where does the ray go when it bounces?
struct RayBounceQuery {
  Vec2 origin;
  Vec2 direction;
  double t_max = 0;          // infinite: no end
  uint32_t max_bounces = 0;  // in [1, kMaxBounces]
};

// What is the contact of the convex shape with each convex polygon that it touches?
struct ContactQuery {
  Polygon shape;
};

// What does the tracker touch at the pose?
struct MoveQuery {
  uint32_t handle = 0;
  Pose pose;
};

using Query =
    std::variant<PointQuery, SegmentQuery, CircleQuery, PolygonQuery, DistanceQuery, SweepQuery,
                 ContactQuery, MoveQuery, PosedSweepQuery, SlideQuery, BounceQuery, RayBounceQuery>;

// The vertices that the query sends.
size_t VertexCount(const Query& query);

// The scene from here on.
struct SceneLine {
  std::vector<Polygon> polygons;
};

// The scene from here on: scene `id` of the file `file`, a relative path.
struct LoadLine {
  std::string file;
  std::string id;
};

// The bodies of the questions from here on, until another scene.
struct BodiesLine {
  BodyTable bodies;
};

// The tracker of this name has the shape from here on. Vertices as above.
struct TrackLine {
  uint64_t tracker = 0;
  Polygon shape;
};

// A `MoveQuery` of the tracker of this name.
struct NamedMove {
  uint64_t tracker = 0;
  Pose pose;
};

struct Line {
  // The JSON text of the member `q`, empty if there is none.
  std::string q;
  // Errors carry one violation or more, whose first names the member at fault in the words of the
  // line. INVALID_ARGUMENT; RESOURCE_EXHAUSTED over a limit.
  absl::StatusOr<std::variant<SceneLine, LoadLine, BodiesLine, TrackLine, NamedMove, Query>>
      content;
  ItemScope scope;  // of a question
};

// Nothing if `text` is not JSON.
std::optional<Line> ParseLine(std::string_view text);

// The policy named "report", "ignore" or "exit"; nothing for another word.
std::optional<InsidePolicy> InsidePolicyNamed(std::string_view word);
// That or the one named "blocking" or "blocking_leave".
std::optional<InsidePolicy> SweepPolicyNamed(std::string_view word);

}  // namespace carom::cli
