// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker remember of the scene about it, and how far may it move for that to hold?
//
// The sound form of the influence areas of Jimenez, Segura and Feito; docs/coherence.md has the
// proofs. Within `slack` of where the mask was made, every edge that the shape can touch, at any
// rotation, is in it.
//
// The slack balances two costs. Making a mask costs a, once in slack / step moves; looking at its
// edges costs about b * slack a move, for the more of them there are. a / slack + b * slack is
// least where both terms are equal: so whenever a mask is made, the slack is doubled if making the
// last one took more work than all looks at it, or it did not last, and halved if it took less than
// a quarter of that.
//
// Neither pays where the shape goes far in a move. So the work of a mask, over its moves, is
// compared with that of a move without memory, which is asked for once; after several masks in a
// row that took more there is none for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "carom/geometry.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "tracker/influence.h"
#include "tracker/posed_shape.h"
#include "tracker/tracked_shape.h"

namespace carom::internal {

// Not thread-safe.
class TrackerMemory {
 public:
  // No mask is made of more.
  static constexpr size_t kMaxNeighbors = 64;
  // A polygon that would have more words is asked by its index instead.
  static constexpr size_t kMaxWordsOfOne = 8;

  // Whether a mask for this move may pay, `moves` moves after the last one was made: not while
  // there is a holiday, nor where the work of a move without memory is to be learned, as the mask
  // did not last. Asked once a move that no mask reaches.
  bool IsWorthwhile(uint32_t moves);
  // Learns what such a move takes: the units of work of looking it up, or nothing where that was
  // spared.
  void NoteColdMove(std::optional<uint64_t> looked_up);
  // Makes the mask about `p`, where the shape is, `moves` moves after the last one. Returns false
  // where it would be too large, and once the meter has stopped; there is no mask then.
  bool Refresh(const Scene& scene, const PosedShape& posed, uint32_t moves, WorkMeter& meter);
  // After the first look at it: whether what bounds the clear radius is the mask, not an edge. Then
  // `Widen` finds out how far the nearest edge is, for the next look.
  bool IsLimited() const { return is_limited_; }
  void Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter);
  // Whether the mask has all edges that the shape can touch at its pose.
  bool Reaches(const PosedShape& posed) const;

  // Looks from `p`, which the mask reaches: tells of each neighbor whether it is touched and, under
  // EDGES, in the scratch which of its edges are. Once the meter has stopped, there is no mask.
  void QueryNeighbors(PosedShape& posed, OverlapDetail detail, NeighborScratch& scratch,
                      WorkMeter& meter);
  const std::vector<Neighbor>& neighbors() const { return influence_.neighbors; }
  // Drops the mask.
  void Clear();
  // How far the shape may be from the last look, at any rotation, for the same polygons to be
  // touched, respectively for no edge to be met. 0 where it may not move.
  double touch_radius() const { return touch_radius_; }
  double clear_radius() const { return clear_radius_; }

  // All edges so near to the centre are in the mask.
  Vec2 center() const { return center_; }
  double known_radius() const { return known_radius_; }

  // Ask the processor for what the next look will read: this; then what it points to; then what
  // that points to.
  void FetchSelf() const;
  void FetchNeighbors() const;
  void FetchPolygons() const;

  size_t memory_bytes() const { return sizeof(*this) + influence_.memory_bytes(); }

 private:
  static constexpr uint16_t kBackoffMoves = 64;

  bool Gather(const Scene& scene, uint64_t category_mask, WorkMeter& meter);
  bool GatherFrom(const IndexedPolygon& indexed, WorkMeter& meter);
  bool GiveUp();
  void SetLimit(double limit, const PosedShape& posed);
  void Tune(const Scene& scene, const PosedShape& posed, uint32_t moves);
  Influence influence_;
  Vec2 center_;        // where the mask was made
  Vec2 anchor_;        // of the last look
  double slack_ = 0;   // what is asked for
  double limit_ = -1;  // what the mask has; below 0 without one
  double known_radius_ = 0;
  double odometer_ = 0;
  double touch_radius_ = 0;
  double clear_radius_ = 0;
  uint64_t refresh_work_ = 0;  // that the last mask took
  uint64_t look_work_ = 0;     // that all looks at it took
  uint64_t cold_work_ = 0;     // of a move without memory, about; 0: not known
  bool is_limited_ = false;
  uint16_t misses_ = 0;  // masks in a row that did not pay
  uint16_t next_backoff_ = kBackoffMoves;
  uint16_t backoff_ = 0;  // moves to come without a mask
};

}  // namespace carom::internal
