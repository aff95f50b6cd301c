// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a tracked shape at a pose share a point with some edges, exactly?
//
// The edges come from an influence mask, so they are few and near. Only the parts of the shape that
// come near the edges are placed: a run of edges when its bounding circle comes near, and all of
// the shape when a point must be located in it. Verdicts hold for the placed vertices
// (docs/conventions.md, Placing); circles and boxes only skip what they prove to be apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "edges/placed_shape.h"
#include "proximity/polygon_pair.h"
#include "tracker/tracked_shape.h"

namespace carom::internal {

// An edge of a polygon of the scene, and its index in the polygon.
struct NearEdge {
  uint32_t index = 0;
  Segment edge;
};

// Two edges that share a point: `fixed` of the scene, `moving` of the shape (0 for a capsule).
struct Witness {
  uint32_t fixed = 0;
  uint32_t moving = 0;
};

// Placed parts of a shape, which consecutive poses reuse. Each pose has a number, and a part is
// valid if it has the number of the current pose, so nothing needs to be cleared. The size is
// bounded by the largest shape. Not thread-safe.
struct PoseScratch {
  struct PlacedRun {
    uint64_t pose = 0;  // number of the pose for which the run was placed
    EdgeCluster edges;
  };

  // The placed vertices of a polygon of at most `kFew` vertices, valid if `few_pose` is `pose`.
  // They are read in pairs, so the last one of an odd number of vertices is stored twice.
  static constexpr size_t kFew = 16;
  Vec2 few[kFew];
  uint64_t few_pose = 0;
  std::vector<PlacedRun> runs;  // placed runs by the node of the outline
  uint64_t pose = 0;            // number of the current pose
  MovingShape whole;
};

// A tracked shape at a pose, placed as far as its answers need. Once the meter has stopped, answers
// are meaningless. The shape and the scratch must outlive the `PosedShape`, and a scratch serves
// one pose at a time.
class PosedShape {
 public:
  // The position of `pose` is normalised, and its rotation is accepted. `angle`, unless null,
  // replaces the rotation and must outlive the `PosedShape`; its cosine and sine are computed when
  // an answer first depends on them.
  PosedShape(const TrackedShape& shape, const Pose& pose, PoseScratch& scratch, WorkMeter& meter,
             const double* angle = nullptr);

  const TrackedShape& shape() const { return shape_; }
  Vec2 position() const { return pose_.position; }
  const Pose& pose() {
    if (angle_ != nullptr) ComputeRotation();
    return pose_;
  }
  WorkMeter& meter() const { return meter_; }

  // Returns whether every placed vertex is accepted. If not, no other question about the shape may
  // follow.
  bool IsAccepted();
  // Returns an upper bound of the distance from the reference point to the points of the shape and
  // to the points within `within` of the shape, at any accepted rotation. Rounded up.
  double bounding_radius() const { return bounding_radius_; }
  // Returns a radius r such that each point nearer than r to the reference point belongs to the
  // shape or is within `within` of it, at any accepted rotation. A lower bound; not above 0 if no
  // point may be so near.
  double inscribed_radius() const { return inscribed_radius_; }

  // Returns whether the shape and the edge share a point, or with a `within` are at most that far
  // apart.
  bool Meets(const Segment& edge);

  // Returns true only if the shape lies strictly on one side of the edge's line, so that the shape
  // does not meet the edge: the pruning by signs of Jimenez, Segura and Feito. False decides
  // nothing.
  bool IsOnOneSide(const Segment& edge);

  // A shape without a `within` and a polygon share a point in exactly these cases: a pair of their
  // edges does, the shape contains a ring of the polygon, or the polygon contains a ring of the
  // shape. `FindWitness`, `ContainsRing` and `IsContainedIn` decide the cases; the latter two rely
  // on the cases before them not to hold.

  // Returns a pair of edges that share a point, if one exists. All of a capsule counts as its edge
  // 0.
  std::optional<Witness> FindWitness(std::span<const NearEdge> edges);
  // Returns whether the edge `fixed` and the moving edge of `witness` share a point.
  bool IsWitness(const Segment& fixed, const Witness& witness);
  // Returns whether the shape contains a ring of `polygon`, given that no edge of `polygon` meets
  // an edge of the shape. `edges` has all edges in reach that `IsOnOneSide` does not exclude.
  bool ContainsRing(const Polygon& polygon, std::span<const NearEdge> edges);
  // Returns whether the polygon contains a ring of the shape, given that no edge of the polygon
  // meets the shape.
  bool IsContainedIn(const IndexedPolygon& polygon);
  // Returns whether the shape is certainly connected: a capsule, or a polygon of one ring.
  bool IsOneRing() const;

  // Returns whether the shape has a `within`. If so, the cases above do not suffice, and `IsWithin`
  // alone decides whether the shape touches a polygon.
  bool has_within() const { return kind_ == Kind::kWithin; }
  bool IsWithin(const IndexedPolygon& polygon);
  // Returns all of the shape, placed, for kernels; null where a vertex is not accepted, and once
  // the meter has stopped. The first call takes O(n).
  MovingShape* Whole();

 private:
  enum class Kind : uint8_t { kPolygon, kCapsule, kWithin };

  // Implements `FindWitness` below a node of the outline; `box` contains all `edges`.
  std::optional<Witness> FindWitness(size_t node, std::span<const NearEdge> edges, const Box& box);
  std::optional<Witness> FindInRun(size_t node, std::span<const NearEdge> edges);
  // Returns the placed edges of the run `node`.
  const EdgeCluster& PlacedRun(size_t node);
  // Returns the placed vertices of a polygon for which `IsFew` holds.
  const Vec2* PlacedFew();
  bool IsFew() const { return shape_.shape.vertex_count() <= PoseScratch::kFew; }
  bool IsWithin(const PlacedShape& fixed);
  // Returns whether `p` is inside or on the placed polygon.
  bool ContainsPoint(Vec2 p);

  // Returns the placed capsule of a shape that is one.
  Capsule PlacedCapsule();
  void ComputeRotation();

  const TrackedShape& shape_;
  Pose pose_;
  const double* angle_;
  PoseScratch& scratch_;
  WorkMeter& meter_;
  Kind kind_;
  double error_;  // bound of the distance of a placed point from its exact position
  double bounding_radius_;
  double inscribed_radius_;
  bool has_whole_ = false;  // whether `scratch_.whole` is placed
};

}  // namespace carom::internal
