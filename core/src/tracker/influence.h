// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges may a moving shape reach, and how long do all other edges stay out of reach?
//
// This is the influence mask of Jimenez, Segura and Feito: a bit for each edge that has the
// reference point in its influence area. The area is kept as a distance, since a move of a given
// length changes a distance by at most this length. docs/coherence.md has the numbered laws:
//
//   (1) A distance is 1-Lipschitz: if an edge is d away from p, it is at least d - |p - q| away
//       from q, wherever q is.
//
// The odometer is the sum of the lengths of all moves of the reference point since the mask was
// made, each rounded up. So |p - q| is at most the difference of its readings at p and at q, and a
// bound is stored once, as the reading up to which the bound holds: at reading o, an edge that is d
// away gets o + d, and is certainly out of reach r until the odometer passes o + d - r.
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

// The bits of 64 consecutive edges of a polygon, eight edges to a byte. A mask keeps only words
// with a bit set. At first, all bits of a byte are set if the box of its edges is near. A bit is
// cleared when its edge is measured and is too far away to come into reach while the mask lasts.
struct MaskWord {
  uint64_t bits = 0;  // bit i: edge 64 * index + i
  uint32_t index = 0;
  // bound[k] - odometer is a lower bound of the distance of the edges of byte k. It is +inf if the
  // byte has no bit set.
  std::array<float, kLanes> bound;

  // Returns the bytes whose bound is at most `reading`: bit k for byte k.
  LaneBits BytesUpTo(double reading) const;
};

// A polygon that has edges in the mask, or that contains the reference point. A polygon without an
// edge index has few edges: all of them are in the mask, without words. The verdict on a neighbor
// is stored apart from it (tracker/verdict.h).
struct Neighbor {
  explicit Neighbor(const IndexedPolygon& its_polygon)
      : polygon(its_polygon),
        box(its_polygon.polygon().bounds()),
        has_witness(false),
        is_inside(false),
        is_dense(false) {}

  bool is_small() const { return polygon.edge_index() == nullptr; }

  IndexedPolygon polygon;
  FloatBox box;  // the polygon's box: most queries end at it and do not read the polygon
  // Readings of the odometer, rounded down, which hold at any rotation.
  float side_until = 0;      // until this reading, exclusive, `is_inside` holds
  float inscribed_from = 0;  // before this reading, the inscribed disc reaches no edge
  uint32_t nearest = 0;      // the byte of edges found nearest last: edges 8 * nearest + 0..7
  Witness witness;           // the pair of edges that met last, if `has_witness`
  uint16_t first_word = 0;
  uint8_t word_count = 0;
  bool has_witness : 1;
  bool is_inside : 1;  // whether the polygon contains the reference point
  // whether too many edges are near for words, so that queries use the polygon's index
  bool is_dense : 1;
};

// The parts of a mask while they are gathered. Reused from mask to mask.
struct Influence {
  std::vector<const IndexedPolygon*> polygons;  // polygons that may have edges in the mask
  std::vector<Neighbor> neighbors;              // neighbors by ascending polygon id
  std::vector<Verdict> verdicts;                // one for each neighbor
  // words of the neighbors in turn; the words of one neighbor by ascending index
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
  // Under EDGES, for each neighbor: how many of its edges meet the shape. `touched` has these
  // edges.
  std::vector<uint32_t> edge_counts;
  Touched touched;
};

// Queries a shape at a pose against the neighbors in its mask, one neighbor at a time, and updates
// the bounds and verdicts of a neighbor that no longer hold. Once the meter has stopped, the bounds
// and verdicts that it wrote are meaningless.
class NeighborQuery {
 public:
  // `words` are the words of all neighbors, and `odometer` is the reading at the pose. Edges
  // farther than `out_of_mask` from the reference point are out of reach as long as the mask lasts.
  NeighborQuery(std::span<MaskWord> words, PosedShape& posed, double odometer, double out_of_mask,
                NeighborScratch& scratch)
      : words_(words),
        posed_(posed),
        p_(posed.position()),
        odometer_(odometer),
        out_of_mask2_(out_of_mask * out_of_mask * (1 + 0x1p-50)),
        scratch_(scratch),
        meter_(posed.meter()) {}

  // Updates whether the shape touches the neighbor, and until when, given that the neighbor's last
  // verdict no longer holds.
  void UpdateTouch(Neighbor& neighbor, Verdict& verdict);
  // Updates the verdict unless it still holds, and appends to the scratch the edges that meet the
  // shape, and their number.
  void UpdateEdges(Neighbor& neighbor, Verdict& verdict);
  // Replaces the bound from the neighbor's box, which shows that the neighbor is clear, by the
  // bound from the neighbor's edges, which is at least as large.
  void UpdateBound(Neighbor& neighbor, Verdict& verdict);

  // Returns the work units spent so far that grow with the size of the mask.
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
  // Calls visit(run) for the runs that may have an edge in reach, while `visit` returns true.
  template <class Visit>
  void VisitInReach(const Neighbor& neighbor, const Visit& visit);
  double NearestEdge(Neighbor& neighbor, PointDistances& distances);
  static Run ByteOf(const Neighbor& neighbor, size_t byte);
  void Measure(PointDistances& distances, Run run);
  // Returns the edges in reach of the run measured last: bit k for edge first + k.
  LaneBits InReach(const PointDistances& distances, Run run) const;
  std::span<MaskWord> WordsOf(const Neighbor& neighbor) const;

  std::span<MaskWord> words_;
  PosedShape& posed_;
  Vec2 p_;  // the reference point
  double odometer_;
  double out_of_mask2_;
  NeighborScratch& scratch_;
  WorkMeter& meter_;
  uint64_t mask_work_ = 0;
  Run measured_;  // the run that was measured last
};

}  // namespace carom::internal
