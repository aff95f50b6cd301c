// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker remember of the scene about it, and how far may it move for that to hold?
//
// The sound form of the influence areas of Jimenez, Segura and Feito; docs/coherence.md has the
// proofs. Within `slack` of where the mask was made, every edge that the shape can touch, at any
// rotation, is in it.
//
// The slack balances two costs. Making a mask costs a, once in slack / step moves; querying it
// costs about b * slack a move, since a larger mask has more edges. a / slack + b * slack is least
// where both terms are equal: so whenever a mask is made, the slack is doubled if making the last
// one took more work than all queries of it, or if it was left within a few moves, and halved if it
// took less than a quarter of that.
//
// No mask pays for a shape that goes far in each move. So the work of a mask, over its moves, is
// compared with that of as many moves without memory, which is measured on one of them; after
// several masks in a row that took more, the tracker backs off: it makes none for some moves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "carom/geometry.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "tracker/influence.h"
#include "tracker/posed_shape.h"
#include "tracker/tracked_shape.h"
#include "tracker/verdict.h"

namespace carom::internal {

// Not thread-safe. A memory and the parts of its mask are one allocation: where trackers are many,
// each page of memory that a move reads takes long to find.
class TrackerMemory {
 public:
  // One without a mask.
  static std::unique_ptr<TrackerMemory> Create();
  std::unique_ptr<TrackerMemory> Copy() const;
  TrackerMemory(const TrackerMemory&) = delete;
  TrackerMemory& operator=(const TrackerMemory&) = delete;
  ~TrackerMemory() { Clear(); }
  static void operator delete(void* memory) { ::operator delete(memory); }

  // No mask has more neighbors.
  static constexpr size_t kMaxNeighbors = 64;
  // A polygon that would have more words is queried by its index instead. With 64 neighbors of 8
  // words of 48 bytes each, a mask stays within `Tracker::kMaxMemoryBytes`.
  static constexpr size_t kMaxWordsOfOne = 8;

  // Whether to make a mask for this move, `moves` moves after the last one was made: not while the
  // tracker backs off, nor if the last mask did not last and the work of a cold move is not known
  // yet, which this move is to measure. Called once for each move that no mask reaches.
  bool IsWorthwhile(uint32_t moves);
  // Learns what a cold move takes: its units of work, or nothing if a sweep had answered it.
  void NoteColdMove(std::optional<uint64_t> looked_up);
  // Makes the mask about the shape, `moves` moves after the last one. Returns false if the tracker
  // begins to back off, if the mask would be too large, and once the meter has stopped; there is no
  // mask then.
  // `memory`, which is there, may be replaced; `gathered` is anyone's.
  static bool Refresh(std::unique_ptr<TrackerMemory>& memory, const Scene& scene,
                      const PosedShape& posed, uint32_t moves, Influence& gathered);
  // After the first query of a mask, if its clear radius ends at the mask's limit: finds how far
  // the nearest edge of the scene is, and the next query may find a larger radius.
  void Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter);
  // Whether the mask has all edges that the shape can touch at its pose.
  bool Reaches(const PosedShape& posed) const;

  // How far the shape may be from the pose of a query, at any rotation, so that the same polygons
  // are touched, respectively so that no edge is met. 0 where it may not move.
  struct Radii {
    double touch = 0;
    double clear = 0;
    bool is_limited = false;  // the latter ends at the mask's limit, not at an edge
  };
  // Whether both are as large as the edges allow, or only the first one, which takes less.
  enum class Asked : uint8_t { kTouch, kBoth };
  // Finds out at a pose that the mask reaches whether each neighbor is touched and, under EDGES,
  // which of its edges meet the shape, in the scratch. Once the meter has stopped, there is no
  // mask, and what it returns means nothing.
  Radii QueryNeighbors(PosedShape& posed, OverlapDetail detail, Asked asked,
                       NeighborScratch& scratch, WorkMeter& meter);
  // Which neighbors the shape touched at the last query, bit i for neighbor i, and the ids of their
  // polygons.
  uint64_t touched() const { return state_.touched; }
  uint64_t id(size_t i) const { return IdsBegin()[i]; }
  // Drops the mask.
  void Clear();

  // All edges nearer than the known radius to the centre are in the mask.
  Vec2 center() const { return state_.center; }
  double known_radius() const { return state_.known_radius; }

  // Prefetch what the next query, at `p`, reads: this object and its verdicts; then the neighbors
  // whose verdict ends before; then their polygons. Each reads what the one before it prefetched.
  void FetchSelf() const;
  // Returns these neighbors: bit i for neighbor i.
  uint64_t FetchNeighbors(Vec2 p) const;
  void FetchPolygons(uint64_t neighbors) const;

  size_t memory_bytes() const { return sizeof(*this) + state_.mask_bytes; }

 private:
  // All but the mask.
  struct State {
    Vec2 center;        // the reference point for which the mask was made
    Vec2 anchor;        // that of the last query, up to which the odometer has counted
    double limit = -1;  // the slack that this mask has; below 0 without a mask
    double known_radius = 0;
    double odometer = 0;
    uint64_t touched = 0;  // of the verdicts, `touches` and `is_by_box`: bit i for neighbor i
    uint64_t by_box = 0;
    float slack = 0;            // that the next mask should have
    uint32_t query_work = 0;    // of all queries of the last mask
    uint32_t refresh_work = 0;  // of making it; 0 if there is nothing to judge by
    uint32_t cold_work = 0;     // of a move without memory, a moving average; 0: not known
    uint16_t mask_bytes = 0;    // that follow this object
    uint16_t word_count = 0;
    uint16_t backoff = 0;  // moves that are left without a mask
    uint8_t neighbor_count = 0;
    uint8_t misses : 4 = 0;    // masks in a row that did not pay
    uint8_t backoffs : 4 = 0;  // since one paid; no more than make a difference
  };

  explicit TrackerMemory(const State& state) : state_(state) {}
  // One with room for so many bytes of a mask, without one.
  static std::unique_ptr<TrackerMemory> Create(const State& state, size_t mask_bytes);
  static size_t BytesOf(size_t neighbors, size_t words);
  static void Fit(std::unique_ptr<TrackerMemory>& memory, size_t mask_bytes);
  void Put(Influence& gathered);

  // The mask, by ascending polygon id: two columns of the verdicts, until when each touches and is
  // clear, the ids, the neighbors, then the words, neighbor after neighbor.
  template <class T>
  T* At(size_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<char*>(this + 1) + offset);
  }
  template <class T>
  const T* At(size_t offset) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const char*>(this + 1) + offset);
  }
  size_t column() const { return ColumnSize(state_.neighbor_count); }
  size_t ids_at() const { return 2 * column() * sizeof(float); }
  size_t neighbors_at() const { return ids_at() + state_.neighbor_count * sizeof(uint64_t); }
  size_t words_at() const { return neighbors_at() + state_.neighbor_count * sizeof(Neighbor); }

  float* TouchBegin() { return At<float>(0); }
  float* ClearBegin() { return TouchBegin() + column(); }
  uint64_t* IdsBegin() { return At<uint64_t>(ids_at()); }
  Neighbor* NeighborsBegin() { return At<Neighbor>(neighbors_at()); }
  MaskWord* WordsBegin() { return At<MaskWord>(words_at()); }
  const float* TouchBegin() const { return At<float>(0); }
  const float* ClearBegin() const { return TouchBegin() + column(); }
  const uint64_t* IdsBegin() const { return At<uint64_t>(ids_at()); }
  const Neighbor* NeighborsBegin() const { return At<Neighbor>(neighbors_at()); }
  const MaskWord* WordsBegin() const { return At<MaskWord>(words_at()); }

  Verdict verdict(size_t i);
  void SetVerdict(size_t i, const Verdict& verdict);

  bool MakeMask(const Scene& scene, const PosedShape& posed, Influence& gathered, WorkMeter& meter);
  bool Gather(const Scene& scene, uint64_t category_mask, Influence& gathered,
              WorkMeter& meter) const;
  bool GatherFrom(const IndexedPolygon& indexed, Influence& gathered, WorkMeter& meter) const;
  void GiveUp();
  void SetLimit(double limit, const PosedShape& posed);
  bool Tune(const Scene& scene, const PosedShape& posed, uint32_t moves);

  State state_;
};

}  // namespace carom::internal
