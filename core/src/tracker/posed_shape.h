// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a tracked shape at a pose share a point with some edges, exactly?
//
// The edges come from an influence mask, so they are few and near. What of the shape is placed is
// what comes near them: a run of edges when its circle does, all of it when a point must be told
// inside from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "index/indexed_polygon.h"
#include "index/placed_shape.h"
#include "proximity/polygon_pair.h"
#include "tracker/tracked_shape.h"

namespace carom::internal {

// An edge of a polygon of the scene, and its number there.
struct NearEdge {
  uint32_t index = 0;
  Segment edge;
};

// Two edges that share a point: one of the scene, one of the shape (0 for a capsule).
struct Witness {
  uint32_t fixed = 0;
  uint32_t moving = 0;
};

// The memory that poses work with, one after the other; bounded by the largest shape. Not
// thread-safe.
struct PoseScratch {
  struct PlacedRun {
    uint64_t pose = 0;  // for which it was placed
    EdgeCluster edges;
  };

  // A polygon of few vertices, placed, if `few_pose` is the pose; the last one again where their
  // number is odd.
  static constexpr size_t kFew = 16;
  Vec2 few[kFew];
  uint64_t few_pose = 0;
  std::vector<PlacedRun> runs;
  uint64_t pose = 0;
  MovingShape whole;
};

// Once the meter has stopped, answers are meaningless. The shape and the scratch outlive it; there
// is one of them at a time for a scratch.
class PosedShape {
 public:
  // The position is normalised, and the rotation is one.
  PosedShape(const TrackedShape& shape, const Pose& pose, PoseScratch& scratch, WorkMeter& meter);

  const TrackedShape& shape() const { return shape_; }
  const Pose& pose() const { return pose_; }
  WorkMeter& meter() const { return meter_; }

  // Whether every placed vertex is accepted. If not, nothing else may be asked.
  bool IsAccepted();
  // All points of the shape, and those within `within` of it, are at most so far from the reference
  // point, at any rotation that is accepted.
  double bounding_radius() const { return bounding_radius_; }
  // The disc of this radius about the reference point belongs to them; below 0 for none.
  double inscribed_radius() const { return inscribed_radius_; }

  // Whether the shape, or a point within `within` of it, is on the edge.
  bool Meets(const Segment& edge);

  // Whether it is easily seen that the edge's line has all of a polygon on one side, so that it
  // meets none of the edge: the paper's pruning by signs.
  bool IsOnOneSide(const Segment& edge);

  // The rest tells in parts whether it shares a point with a polygon: by a pair of edges that do,
  // a ring of the polygon in the shape, or one of the shape in the polygon.

  // A pair that shares a point, if there is one; with a capsule its moving edge is 0.
  std::optional<Witness> FindWitness(std::span<const NearEdge> edges);
  // Whether the edge and the witness' moving one do.
  bool IsWitness(const Segment& fixed, const Witness& witness);
  // Whether the shape holds a ring of `polygon`; `edges`, those of it that are in reach and meet
  // none of the shape.
  bool HoldsRing(const Polygon& polygon, std::span<const NearEdge> edges);
  // Whether the polygon, none of whose edges is met, holds a ring of the shape.
  bool IsContainedIn(const IndexedPolygon& polygon);
  // Whether all of the shape hangs together: one ring, or a capsule.
  bool IsOneRing() const;
  // All of it for a shape with a `within`, where the parts do not do.
  bool has_within() const { return kind_ == Kind::kWithin; }
  bool IsWithin(const IndexedPolygon& polygon);
  // All of the shape, placed, for kernels; null where a vertex is not accepted, and once the meter
  // has stopped. O(n), the first time.
  MovingShape* Whole();

 private:
  enum class Kind : uint8_t { kPolygon, kCapsule, kWithin };

  std::optional<Witness> FindWitness(size_t node, std::span<const NearEdge> edges, const Box& box);
  // Run `node`, placed.
  const EdgeCluster& PlacedRun(size_t node);
  // The vertices of a polygon of few, placed.
  const Vec2* PlacedFew();
  bool IsFew() const { return shape_.shape.vertex_count() <= PoseScratch::kFew; }
  bool IsWithin(const PlacedShape& fixed);
  bool HoldsPoint(Vec2 p);

  // Of a capsule.
  Capsule PlacedCapsule() const;

  const TrackedShape& shape_;
  Pose pose_;
  PoseScratch& scratch_;
  WorkMeter& meter_;
  Kind kind_;
  double error_;  // of placing
  double bounding_radius_;
  double inscribed_radius_;
  bool has_whole_ = false;  // the scratch holds it
};

}  // namespace carom::internal
