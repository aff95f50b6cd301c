// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges may a moving shape reach, and how long do all other edges stay out of reach?
//
// This is the influence mask of Jimenez, Segura and Feito: a bit for each edge that may have the
// reference point of the shape in its influence area. The area is kept as a distance from the edge,
// since a move of a given length changes a distance by at most this length. docs/coherence.md has
// the numbered laws:
//
//   (1) A distance is 1-Lipschitz: if an edge is d away from a point p, it is at least d - |p - q|
//       away from any other point q.
//
// The odometer is the sum of the lengths of all moves of the reference point since the mask was
// made, each rounded up. If the reference point moves from p to q, |p - q| is at most the
// difference of the readings of the odometer at p and at q. So a bound is stored once, as the
// reading up to which it holds: if an edge is d away at reading o, the stored bound is o + d, and
// the edge is certainly farther away than a distance r until the odometer passes o + d - r.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/box_tree.h"
#include "numeric/lanes.h"
#include "shape/point_distances.h"
#include "tracker/posed_shape.h"
#include "tracker/touched.h"
#include "tracker/verdict.h"

namespace carom::internal {

// 64 bits of an influence mask (the edges near a tracked shape, kept from move to move): one bit
// for each of 64 consecutive edges of a polygon, so that a byte stands for eight edges. A mask
// stores only words with a bit set. When the mask is made, all bits of a byte are set if the
// bounding box of its eight edges is within the radius about the shape in which the mask has all
// edges. A bit is cleared when its edge is measured and is too far away for the shape to reach it
// while the mask lasts.
struct MaskWord {
  uint64_t bits = 0;  // bit i: edge 64 * index + i
  uint32_t index = 0;
  // For the eight edges of byte k: bound[k] minus the reading of the odometer (the length of all
  // moves since the mask was made) is a lower bound of their distance from the shape's reference
  // point. bound[k] is +inf if the byte has no bit set.
  std::array<float, kLanes> bound;

  // Returns the bytes (eight edges each) with a bound of at most `reading`, a reading of the
  // odometer: bit k for byte k.
  LaneBits BytesUpTo(double reading) const;
};

// A polygon near a tracked shape: it has edges in the shape's influence mask (the edges near the
// shape, kept from move to move), or contains the reference point of the shape. A polygon without
// an edge index has few edges: all of them count as in the mask, and the mask stores no words for
// the polygon. The verdict whether the shape touches the neighbor is stored apart from it
// (tracker/verdict.h).
struct Neighbor {
  explicit Neighbor(const IndexedPolygon& its_polygon)
      : polygon(its_polygon),
        box(its_polygon.polygon().bounds()),
        has_witness(false),
        is_inside(false),
        is_dense(false) {}

  bool is_small() const { return polygon.edge_index() == nullptr; }

  IndexedPolygon polygon;
  // The polygon's bounding box. Most queries are decided by this box and do not read the polygon.
  FloatBox box;
  // The next two members are readings of the odometer (the length of all moves since the mask was
  // made), rounded down. They hold at any rotation of the shape.
  float side_until = 0;  // `is_inside` holds while the reading is less than this
  // Before this reading, the disc inside the shape about its reference point reaches no edge.
  float inscribed_from = 0;
  // The eight consecutive edges that were nearest when last measured: edges 8 * nearest to 8 *
  // nearest + 7.
  uint32_t nearest = 0;
  // The edge of the polygon and the edge of the shape that were found to meet last. Valid if
  // `has_witness`.
  Witness witness;
  // The words (64 edges each) of this polygon in the mask's array of words: `word_count` words from
  // index `first_word` on.
  uint16_t first_word = 0;
  uint8_t word_count = 0;
  bool has_witness : 1;
  bool is_inside : 1;  // whether the polygon contains the reference point
  // Whether the polygon has more near edges than the mask has words for, so that queries use the
  // edge index of the polygon instead.
  bool is_dense : 1;
};

// The parts of an influence mask (the edges near a tracked shape, kept from move to move) while
// they are gathered from the scene. Reused from mask to mask.
struct Influence {
  // polygons of the scene that may have edges in the mask
  std::vector<const IndexedPolygon*> polygons;
  std::vector<Neighbor> neighbors;  // polygons in the mask, by ascending id
  std::vector<Verdict> verdicts;    // one for each neighbor: does the shape touch it?
  // The words (bits of 64 edges each) of all neighbors, neighbor after neighbor; the words of one
  // neighbor are sorted by `MaskWord::index`.
  std::vector<MaskWord> words;

  void Clear() {
    polygons.clear();
    neighbors.clear();
    verdicts.clear();
    words.clear();
  }
};

// Buffers of a `NeighborQuery`. Reused from move to move. Not thread-safe.
struct NeighborScratch {
  PoseScratch pose;
  std::vector<NearEdge> near;
  // Under `OverlapDetail::kEdges`, for each neighbor: how many of its edges meet the shape. The
  // edges themselves are in `touched.edges`.
  std::vector<uint32_t> edge_counts;
  Touched touched;
};

// Tests a shape at a pose against the neighbors (near polygons) in its influence mask (the edges
// near the shape, kept from move to move), one neighbor at a time. Replaces the stored verdict on a
// neighbor, and the stored bounds of the distances of its edges, if they no longer hold. The
// bounding radius is a distance from the reference point within which all points of the shape lie.
// Once the meter has stopped the work, the verdicts and bounds that were written are meaningless.
class NeighborQuery {
 public:
  // `words` are the mask's words (64 edges each) of all neighbors. `odometer` is the length of all
  // moves since the mask was made. The shape cannot reach edges farther than `out_of_mask` from its
  // reference point while the mask holds.
  NeighborQuery(std::span<MaskWord> words, PosedShape& posed, double odometer, double out_of_mask,
                NeighborScratch& scratch)
      : words_(words),
        posed_(posed),
        p_(posed.position()),
        odometer_(odometer),
        out_of_mask2_(out_of_mask * out_of_mask * (1 + 0x1p-50)),
        scratch_(scratch),
        meter_(posed.meter()) {}

  // Computes whether the shape touches the neighbor, and until which reading of the odometer this
  // verdict holds. Stores both in `verdict`, which no longer holds at the call.
  void UpdateTouch(Neighbor& neighbor, Verdict& verdict);
  // Updates the verdict unless it still holds. Appends the edges of the neighbor that meet the
  // shape to `touched.edges` of the scratch, and their number to `edge_counts`.
  void UpdateEdges(Neighbor& neighbor, Verdict& verdict);
  // Measures the edges of a neighbor that its bounding box proves to be clear of the shape. The
  // distance of the nearest edge is at least the distance of the box, so the new verdict holds for
  // at least as many moves as the verdict by the box.
  void UpdateBound(Neighbor& neighbor, Verdict& verdict);

  // Returns how many units of the work of this query grow with the size of the mask: what a larger
  // mask costs in each query.
  uint64_t mask_work() const { return mask_work_; }

 private:
  // At most eight consecutive edges of a neighbor, from `first` to before `last`.
  struct Run {
    size_t first = 0;
    size_t last = 0;
  };

  bool IsBoxClear(Neighbor& neighbor, Verdict& verdict);
  bool IsClear(Neighbor& neighbor, Verdict& verdict, double distance);
  bool IsInscribedTouched(Verdict& verdict, double distance) const;
  bool IsStillTouched(Neighbor& neighbor, Verdict& verdict, PointDistances& distances);
  bool IsTouched(Neighbor& neighbor, PointDistances& distances);
  bool IsTouchedBy(Neighbor& neighbor, PointDistances& distances, Run run);
  bool IsInside(Neighbor& neighbor);
  bool IsContained(Neighbor& neighbor);
  // Calls visit(run) for each run of edges that may have an edge within the bounding radius of the
  // reference point, while `visit` returns true.
  template <class Visit>
  void VisitInReach(const Neighbor& neighbor, const Visit& visit);
  double NearestEdge(Neighbor& neighbor, PointDistances& distances);
  static Run ByteOf(const Neighbor& neighbor, size_t byte);
  void Measure(PointDistances& distances, Run run);
  // Returns the edges of `run`, the run measured last, that may be within the bounding radius of
  // the reference point: bit k for edge run.first + k.
  LaneBits InReach(const PointDistances& distances, Run run) const;
  std::span<MaskWord> WordsOf(const Neighbor& neighbor) const;

  std::span<MaskWord> words_;
  PosedShape& posed_;
  Vec2 p_;  // reference point of the shape at its pose
  double odometer_;
  double out_of_mask2_;
  NeighborScratch& scratch_;
  WorkMeter& meter_;
  uint64_t mask_work_ = 0;
  Run measured_;  // the run of edges that was measured last
};

}  // namespace carom::internal
