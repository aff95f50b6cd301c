// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a tracked shape at a pose share a point with some edges, exactly?
//
// The edges come from an influence mask, so they are few and near. Only what comes near them of the
// shape is placed: a run of edges when its bounding circle does, and all of the shape when a point
// must be located in it. Verdicts are those of the placed vertices (docs/conventions.md, Placing);
// circles and boxes only skip what they prove to be apart.
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

// What one pose after the other keeps placed parts in. Each pose has a number, and a part is valid
// if it has the number of the pose at hand, so nothing needs to be cleared. Bounded by the largest
// shape. Not thread-safe.
struct PoseScratch {
  struct PlacedRun {
    uint64_t pose = 0;  // for which it was placed
    EdgeCluster edges;
  };

  // The placed vertices of a polygon of at most so many, valid if `few_pose` is `pose`. They are
  // read in pairs, so if their number is odd, the last one is there twice.
  static constexpr size_t kFew = 16;
  Vec2 few[kFew];
  uint64_t few_pose = 0;
  std::vector<PlacedRun> runs;  // by node of the outline
  uint64_t pose = 0;            // the number of the pose at hand
  MovingShape whole;
};

// A tracked shape at a pose, placed as far as its answers need it. Once the meter has stopped,
// answers are meaningless. The shape and the scratch outlive it, and a scratch serves one pose at a
// time.
class PosedShape {
 public:
  // The position is normalised, and the rotation is one. With an angle, which outlives it, that is
  // the rotation, and is computed where an answer depends on it.
  PosedShape(const TrackedShape& shape, const Pose& pose, PoseScratch& scratch, WorkMeter& meter,
             const double* angle = nullptr);

  const TrackedShape& shape() const { return shape_; }
  Vec2 position() const { return pose_.position; }
  const Pose& pose() {
    if (angle_ != nullptr) Turn();
    return pose_;
  }
  WorkMeter& meter() const { return meter_; }

  // Whether every placed vertex is accepted. If not, no other question about the shape may follow.
  bool IsAccepted();
  // No point of the shape, nor any within `within` of it, is farther than this from the reference
  // point, at any accepted rotation. An upper bound: rounded up.
  double bounding_radius() const { return bounding_radius_; }
  // Each point nearer than this to the reference point belongs to the shape or is within `within`
  // of it, at any accepted rotation. A lower bound; not above 0 if there may be no such point.
  double inscribed_radius() const { return inscribed_radius_; }

  // Whether the shape and the edge share a point, or with a `within` are at most that far apart.
  bool Meets(const Segment& edge);

  // True proves that the shape lies strictly on one side of the edge's line, so that it meets none
  // of the edge: the pruning by signs of Jimenez, Segura and Feito. False decides nothing.
  bool IsOnOneSide(const Segment& edge);

  // A shape without a `within` and a polygon share a point in exactly these cases: a pair of their
  // edges does, the shape contains a ring of the polygon, or the polygon one of the shape. Each has
  // its question; the latter two rely on the answer to those before them.

  // A pair of edges that share a point, if there is one. Of a capsule, all of it counts as edge 0.
  std::optional<Witness> FindWitness(std::span<const NearEdge> edges);
  // Whether the edge `fixed` and the moving edge of `witness` share a point.
  bool IsWitness(const Segment& fixed, const Witness& witness);
  // Whether the shape contains a ring of `polygon`, no edge of which meets an edge of the shape.
  // `edges` has all edges in reach that `IsOnOneSide` does not exclude.
  bool ContainsRing(const Polygon& polygon, std::span<const NearEdge> edges);
  // Whether the polygon, none of whose edges meets the shape, contains a ring of the shape.
  bool IsContainedIn(const IndexedPolygon& polygon);
  // Whether the shape is connected for sure: one ring, or a capsule.
  bool IsOneRing() const;

  // With a `within`, the cases above do not suffice, and this answers the whole question.
  bool has_within() const { return kind_ == Kind::kWithin; }
  bool IsWithin(const IndexedPolygon& polygon);
  // All of the shape, placed, for kernels; null where a vertex is not accepted, and once the meter
  // has stopped. O(n), the first time.
  MovingShape* Whole();

 private:
  enum class Kind : uint8_t { kPolygon, kCapsule, kWithin };

  // `FindWitness` below a node of the outline; `box` holds all `edges`.
  std::optional<Witness> FindWitness(size_t node, std::span<const NearEdge> edges, const Box& box);
  std::optional<Witness> FindInRun(size_t node, std::span<const NearEdge> edges);
  // The edges of the run `node`, placed.
  const EdgeCluster& PlacedRun(size_t node);
  // The vertices, placed, of a polygon for which `IsFew` holds.
  const Vec2* PlacedFew();
  bool IsFew() const { return shape_.shape.vertex_count() <= PoseScratch::kFew; }
  bool IsWithin(const PlacedShape& fixed);
  // Whether `p` is inside or on the placed polygon.
  bool ContainsPoint(Vec2 p);

  // Of a capsule.
  Capsule PlacedCapsule();
  void Turn();

  const TrackedShape& shape_;
  Pose pose_;
  const double* angle_;
  PoseScratch& scratch_;
  WorkMeter& meter_;
  Kind kind_;
  double error_;  // no placed point is farther than this from where exact arithmetic has it
  double bounding_radius_;
  double inscribed_radius_;
  bool has_whole_ = false;  // the scratch holds it
};

}  // namespace carom::internal
