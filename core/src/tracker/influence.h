// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges may come within reach of a moving shape, and which cannot yet?
//
// The influence mask of Jimenez, Segura and Feito: a bit for each edge whose influence area holds
// the reference point, here kept as a distance, which is what moving by a length bounds. The
// numbered laws are those of docs/coherence.md:
//
//   (1) A distance is 1-Lipschitz: if an edge is d away from p, it is at least d - |p - q| away
//       from q, wherever q is.
//
// The odometer is the sum of the lengths of all moves of the reference point since the mask was
// made, each rounded up. So |p - q| is at most the difference of its readings at p and at q, and a
// bound is written down once, as the reading up to which it holds: at reading o, an edge that is d
// away gets o + d, and is surely out of reach r until the odometer passes o + d - r.
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

// 64 consecutive edges of a polygon, eight to a byte. Only words with a bit set are kept. All bits
// of a byte are set at first, by its box; a bit is cleared when its edge is measured and is too far
// away to come into reach while the mask lasts.
struct MaskWord {
  uint64_t bits = 0;  // bit i: edge 64 * index + i
  uint32_t index = 0;
  // For byte k: its edges are at least bound[k] - odometer away; +inf where no bit is set.
  std::array<float, kLanes> bound;

  // The bytes whose bound is at most `reading`: bit k for byte k.
  LaneBits BytesUpTo(double reading) const;
};

// A polygon of which the mask has edges, or that contains the reference point. If it has no edge
// index, it has few edges: all of them are in the mask, without words. What it last said is apart
// from it (tracker/verdict.h).
struct Neighbor {
  explicit Neighbor(const IndexedPolygon& its_polygon)
      : polygon(its_polygon),
        box(its_polygon.polygon().bounds()),
        has_witness(false),
        is_inside(false),
        is_dense(false) {}

  bool is_small() const { return polygon.edge_index() == nullptr; }

  IndexedPolygon polygon;
  FloatBox box;  // of the polygon: most queries end here and do not read the polygon
  // Readings of the odometer, rounded down. Until the first, exclusive, at any rotation:
  float side_until = 0;      // `is_inside` holds
  float inscribed_from = 0;  // from here on the inscribed disc may reach an edge, and not before
  uint32_t nearest = 0;      // the byte that was found nearest: its edges are 8 * nearest + 0..7
  Witness witness;           // if `has_witness`: the pair of edges that met last
  uint16_t first_word = 0;
  uint8_t word_count = 0;
  bool has_witness : 1;
  bool is_inside : 1;  // the polygon contains the reference point
  bool is_dense : 1;   // too many of its edges are near for words: its index is queried instead
};

// The edges in reach of a ball, by polygon, as they are gathered. Reused from mask to mask.
struct Influence {
  std::vector<const IndexedPolygon*> polygons;  // that may have some
  std::vector<Neighbor> neighbors;              // by ascending polygon id
  std::vector<Verdict> verdicts;                // of each neighbor
  std::vector<MaskWord> words;  // neighbor after neighbor, each one's by ascending index

  void Clear() {
    polygons.clear();
    neighbors.clear();
    verdicts.clear();
    words.clear();
  }
};

// What a neighbor query works with. Reused from move to move. Not thread-safe.
struct NeighborScratch {
  PoseScratch pose;
  std::vector<NearEdge> near;
  // Under EDGES: of each neighbor, how many of its edges meet the shape; which do is in `touched`.
  std::vector<uint32_t> edge_counts;
  Touched touched;
};

// A query of a shape at a pose about the neighbors in its mask, one neighbor at a time: it brings
// up to date what they remember, where that has run out. Once the meter has stopped, what it wrote
// is meaningless.
class NeighborQuery {
 public:
  // `words` are those of the neighbors, `odometer` is its reading at the pose. Edges farther than
  // `out_of_mask` from the reference point are out of reach as long as the mask lasts.
  NeighborQuery(std::span<MaskWord> words, PosedShape& posed, double odometer, double out_of_mask,
                NeighborScratch& scratch)
      : words_(words),
        posed_(posed),
        p_(posed.position()),
        odometer_(odometer),
        out_of_mask2_(out_of_mask * out_of_mask * (1 + 0x1p-50)),
        scratch_(scratch),
        meter_(posed.meter()) {}

  // Brings up to date whether the neighbor, whose last verdict no longer holds, is touched, and
  // until when that holds.
  void UpdateTouch(Neighbor& neighbor, Verdict& verdict);
  // Likewise, and appends the edges that meet the shape to the scratch.
  void UpdateEdges(Neighbor& neighbor, Verdict& verdict);
  // For a neighbor that is clear by its box: the bound by its edges, which is at least as far.
  void UpdateBound(Neighbor& neighbor, Verdict& verdict);

  // Work units that grow with the size of the mask.
  uint64_t mask_work() const { return mask_work_; }

 private:
  // At most eight consecutive edges of a neighbor.
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
  // Calls visit(run) for the runs that may have an edge in reach, while it returns true.
  template <class Visit>
  void VisitInReach(const Neighbor& neighbor, const Visit& visit);
  double NearestEdge(Neighbor& neighbor, PointDistances& distances);
  static Run ByteOf(const Neighbor& neighbor, size_t byte);
  void Measure(PointDistances& distances, Run run);
  // The edges of the run measured that are in reach: bit k for edge first + k.
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
  Run measured_;  // the run whose distances were measured last
};

}  // namespace carom::internal
