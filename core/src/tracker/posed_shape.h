// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a tracked shape at a pose share a point with some edges of the scene, exactly?
//
// The edges come from an influence mask (the edges near the shape, kept from move to move), so they
// are few. Only the parts of the shape that come near the edges are placed: a run of at most eight
// edges of the shape when the bounding circle of the run comes near, and all of the shape when it
// must be decided whether the shape contains a point. Verdicts hold for the placed vertices
// (docs/conventions.md, Placing); circles and boxes only skip parts that they prove to be apart.
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

// Two edges that share a point: the edge with index `fixed` of a polygon of the scene, and the edge
// with index `moving` of the tracked shape (0 if the shape is a capsule).
struct Witness {
  uint32_t fixed = 0;
  uint32_t moving = 0;
};

// Parts of a shape placed at a pose, in memory that consecutive poses reuse. Each pose has a
// number, and a part is valid if it has the number of the current pose, so no part needs to be
// cleared. The size of the largest shape bounds the size of the memory. Not thread-safe.
struct PoseScratch {
  struct PlacedRun {
    uint64_t pose = 0;  // number of the pose for which `edges` were placed
    EdgeCluster edges;
  };

  // The placed vertices of a polygon of at most `kFew` vertices, valid if `few_pose` equals `pose`.
  // Two vertices are tested at a time, so the last one of an odd number of vertices is stored
  // twice.
  static constexpr size_t kFew = 16;
  Vec2 few[kFew];
  uint64_t few_pose = 0;
  // The placed runs of at most eight edges; the index of a run is its node in
  // `TrackedShape::nodes`, the tree of circles about the edges of the shape.
  std::vector<PlacedRun> runs;
  uint64_t pose = 0;  // number of the current pose
  MovingShape whole;
};

// A tracked shape at a pose. Places only the parts of the shape that its answers need. Answers are
// meaningless once the meter, which counts units of work, has stopped the work. The shape and the
// scratch must outlive the `PosedShape`, and a scratch serves one pose at a time.
class PosedShape {
 public:
  // Requires that the position of `pose` is normalised (`Normalized`) and its rotation is accepted
  // (`IsRotation`). `angle`, unless null, replaces the rotation and must outlive the `PosedShape`;
  // its cosine and sine are computed when an answer first depends on them.
  PosedShape(const TrackedShape& shape, const Pose& pose, PoseScratch& scratch, WorkMeter& meter,
             const double* angle = nullptr);

  const TrackedShape& shape() const { return shape_; }
  Vec2 position() const { return pose_.position; }
  const Pose& pose() {
    if (angle_ != nullptr) ComputeRotation();
    return pose_;
  }
  WorkMeter& meter() const { return meter_; }

  // Returns whether every placed vertex is in the accepted range of coordinates (at most 2^53 in
  // magnitude). If not, none of the tests below may be called.
  bool IsAccepted();
  // Returns an upper bound of the distance from the reference point of the shape (its position) to
  // every point that is in the shape or at most the option `within` away from it, at any accepted
  // rotation.
  double bounding_radius() const { return bounding_radius_; }
  // Returns a radius r such that each point nearer than r to the reference point (the position)
  // belongs to the shape or is at most the option `within` away from it, at any accepted rotation.
  // Rounded down; 0 or less if no such disc is certain.
  double inscribed_radius() const { return inscribed_radius_; }

  // Returns whether the shape and the edge share a point or, if the tracker has a `within` above 0,
  // are at most `within` apart.
  bool Meets(const Segment& edge);

  // Returns true only if the shape lies strictly on one side of the line through `edge`, so that
  // the shape does not meet the edge: the pruning by signs of Jimenez, Segura and Feito. False
  // decides nothing.
  bool IsOnOneSide(const Segment& edge);

  // A shape (of a tracker without a `within`) and a polygon share a point in exactly these cases: a
  // pair of their edges shares a point, the shape contains a ring of the polygon, or the polygon
  // contains a ring of the shape. `FindWitness`, `ContainsRing` and `IsContainedIn` decide these
  // cases, in this order; the latter two require that the cases before them do not hold.

  // Returns an edge of `edges` and an edge of the shape that share a point, if such a pair exists.
  // A capsule counts as one edge with index 0.
  std::optional<Witness> FindWitness(std::span<const NearEdge> edges);
  // Returns whether the edge `fixed` of the scene and edge `witness.moving` of the shape share a
  // point at this pose.
  bool IsWitness(const Segment& fixed, const Witness& witness);
  // Returns whether the shape contains a ring of `polygon`, given that no edge of `polygon` meets
  // an edge of the shape. `edges` must have all edges of `polygon` that are within the bounding
  // radius of the position, except those that `IsOnOneSide` excludes.
  bool ContainsRing(const Polygon& polygon, std::span<const NearEdge> edges);
  // Returns whether the polygon contains a ring of the shape, given that no edge of the polygon
  // meets the shape.
  bool IsContainedIn(const IndexedPolygon& polygon);
  // Returns whether the shape is certainly connected: a capsule, or a polygon of one ring.
  bool IsOneRing() const;

  // Returns whether the tracker has a `within` above 0, the distance at which polygons count as
  // touched. If so, `IsWithin` alone decides whether the shape touches a polygon, instead of
  // `FindWitness`, `ContainsRing` and `IsContainedIn`.
  bool has_within() const { return kind_ == Kind::kWithin; }
  bool IsWithin(const IndexedPolygon& polygon);
  // Returns the shape with all of its vertices placed at the pose, for functions that need all of
  // them; null if a placed vertex is out of range, and once the meter has stopped. The first call
  // takes O(n) for n vertices.
  MovingShape* Whole();

 private:
  enum class Kind : uint8_t { kPolygon, kCapsule, kWithin };

  // Implements `FindWitness` for the edges of the shape below node `node` of the tree of circles
  // (`TrackedShape::nodes`); `box` contains all of `edges`.
  std::optional<Witness> FindWitness(size_t node, std::span<const NearEdge> edges, const Box& box);
  std::optional<Witness> FindInRun(size_t node, std::span<const NearEdge> edges);
  // Returns the edges of the shape in `node`, a leaf of the tree of circles (at most eight edges),
  // placed at the pose.
  const EdgeCluster& PlacedRun(size_t node);
  // Returns the placed vertices of the shape, which must be a polygon with few vertices (`IsFew`).
  const Vec2* PlacedFew();
  bool IsFew() const { return shape_.shape.vertex_count() <= PoseScratch::kFew; }
  bool IsWithin(const PlacedShape& fixed);
  // Returns whether `p` is inside or on the placed polygon.
  bool ContainsPoint(Vec2 p);

  // Returns the capsule at the pose. The shape must be a capsule.
  Capsule PlacedCapsule();
  void ComputeRotation();

  const TrackedShape& shape_;
  Pose pose_;
  const double* angle_;
  PoseScratch& scratch_;
  WorkMeter& meter_;
  Kind kind_;
  // Bound of the distance of a placed point from its exact position, as placing rounds.
  double error_;
  double bounding_radius_;
  double inscribed_radius_;
  bool has_whole_ = false;  // whether `scratch_.whole` is placed
};

}  // namespace carom::internal
