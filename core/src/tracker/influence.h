// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edges may come within reach of a moving shape, and which cannot yet?
//
// The influence mask of Jimenez, Segura and Feito: a bit for each edge whose influence area holds
// the reference point, here kept as a distance, which is what moving by a length bounds:
//
//   (1) A distance is 1-Lipschitz: with the reference point at p, an edge is at least
//       dist(q, edge) - |p - q| away, whatever q is.
//
// An odometer adds up the ways that the reference point was moved, rounded up, so |p - q| is at
// most the difference of two of its readings. So a bound is written down once, as the reading up to
// which it holds, and never touched until the odometer gets there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "index/box_tree.h"
#include "index/indexed_polygon.h"
#include "numeric/lanes.h"
#include "shape/point_distances.h"
#include "tracker/posed_shape.h"
#include "tracker/touched.h"

namespace carom::internal {

// 64 consecutive edges of a polygon, eight to a byte. Only words with a bit are kept. A bit is set
// for a whole byte at first, by its box, and taken back when the edge is measured and proves to be
// out of reach as long as the mask lasts.
struct MaskWord {
  uint64_t bits = 0;  // of edge 64 * index + i
  uint32_t index = 0;
  // Of byte k: its edges are at least bound[k] - odometer away; +inf where no bit is set.
  std::array<float, kLanes> bound;

  // The bytes whose bound is at most `reading`.
  LaneBits Until(double reading) const;
};

// A polygon that the mask has edges of, or that holds the reference point. Of one without an index
// all edges are in the mask, and it has no words.
struct Neighbor {
  explicit Neighbor(const IndexedPolygon& its_polygon)
      : polygon(its_polygon), box(its_polygon.polygon().bounds()) {}

  bool is_small() const { return polygon.edge_index() == nullptr; }

  IndexedPolygon polygon;
  FloatBox box;  // of the polygon: most looks read no more of it
  uint32_t first_word = 0;
  uint32_t word_count = 0;
  // Readings of the odometer up to which, exclusive, each holds at any rotation:
  double touch_until = 0;  // `touches`
  double clear_until = 0;  // no edge is met
  double side_until = 0;   // `is_inside`
  double core_from = 0;    // before that the shape's core does not reach an edge
  uint32_t nearest = 0;    // the byte that was found nearest, edge / 8
  Witness witness;
  bool has_witness = false;
  bool touches = false;    // the polygon is touched
  bool is_inside = false;  // it holds the reference point
  bool is_dense = false;   // it has too many edges near for words: its index is asked
  bool is_by_box = false;  // `clear_until` is that of the polygon's box
};

// The edges in reach of a ball, by polygon.
struct Influence {
  // By ascending polygon id.
  std::vector<Neighbor> neighbors;
  std::vector<MaskWord> words;

  size_t memory_bytes() const {
    return neighbors.capacity() * sizeof(Neighbor) + words.capacity() * sizeof(MaskWord);
  }
};

// What a look works with. Not thread-safe.
struct NeighborScratch {
  PoseScratch pose;
  std::vector<NearEdge> near;
  // Under EDGES: of each neighbor, how many of its edges are met; which they are is in `touched`.
  std::vector<uint32_t> edge_counts;
  Touched touched;
};

// A shape at a pose looks at its neighbors, where what they remember does not tell. Once the meter
// has stopped, what it tells is meaningless.
class NeighborQuery {
 public:
  // `odometer` is its reading at the pose. Edges farther than `out_of_mask` from the reference
  // point are out of reach as long as the mask lasts.
  NeighborQuery(Influence& influence, PosedShape& posed, double odometer, double out_of_mask,
                NeighborScratch& scratch)
      : words_(influence.words),
        posed_(posed),
        p_(posed.pose().position),
        odometer_(odometer),
        out_of_mask2_(out_of_mask * out_of_mask * (1 + 0x1p-50)),
        scratch_(scratch),
        meter_(posed.meter()) {}

  // Tells whether the neighbor is touched, and until when.
  void UpdateTouch(Neighbor& neighbor);
  // And which edges are met.
  void TellEdges(Neighbor& neighbor);
  // For a neighbor of which the box told: until when by its edges.
  void TellByEdges(Neighbor& neighbor);

  // Work units that grow with the size of the mask.
  uint64_t mask_work() const { return mask_work_; }

 private:
  // At most eight consecutive edges of a neighbor.
  struct Run {
    size_t first = 0;
    size_t last = 0;
  };

  bool IsBoxClear(Neighbor& neighbor);
  bool IsClear(Neighbor& neighbor, double distance);
  bool IsCoreTouched(Neighbor& neighbor, double distance);
  bool IsStillTouched(Neighbor& neighbor);
  bool IsTouched(Neighbor& neighbor, PointDistances& distances);
  bool IsTouchedBy(Neighbor& neighbor, PointDistances& distances, Run run);
  bool IsInside(Neighbor& neighbor);
  bool IsHeld(Neighbor& neighbor);
  // Calls visit(run) for the runs that may have an edge in reach, while it returns true.
  template <class Visit>
  void VisitInReach(const Neighbor& neighbor, const Visit& visit);
  double NearestEdge(Neighbor& neighbor, PointDistances& distances);
  static Run ByteOf(const Neighbor& neighbor, size_t byte);
  void Measure(PointDistances& distances, Run run);
  // The edges of the run measured that are in reach, from bit 0 on.
  LaneBits InReach(const PointDistances& distances, Run run) const;
  std::span<MaskWord> WordsOf(const Neighbor& neighbor) const;

  std::vector<MaskWord>& words_;
  PosedShape& posed_;
  Vec2 p_;
  double odometer_;
  double out_of_mask2_;
  NeighborScratch& scratch_;
  WorkMeter& meter_;
  uint64_t mask_work_ = 0;
  Run measured_;  // whose distances are at hand
};

}  // namespace carom::internal
