// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker remember of the scene around it, and how far may the tracker move while this
// memory holds?
//
// This is the sound form of the influence areas of Jimenez, Segura and Feito; docs/coherence.md has
// the proofs. Within `slack` of the point where the mask was made, the mask has every edge that the
// shape can touch, at any rotation.
//
// The slack balances two costs. Making a mask costs a, once in slack / step moves; querying it
// costs about b * slack a move, since a larger mask has more edges. a / slack + b * slack is least
// where both terms are equal. So whenever a mask is made, the slack is doubled if making the last
// mask took more work than all of its queries, or if the shape left the last mask within a few
// moves. The slack is halved if the last mask lasted and making it took less than a quarter of the
// work of its queries.
//
// No mask pays for a shape that goes far in each move. So the work of a mask, over its moves, is
// compared with the work of as many moves without memory, which is measured on one of them. After
// several masks in a row that took more work, the tracker backs off: it makes no mask for some
// moves.
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

// The memory of a tracker. Not thread-safe. A memory and the parts of its mask are one allocation:
// with many trackers, a move waits long for each page of memory that it reads.
class TrackerMemory {
 public:
  // Returns a memory without a mask.
  static std::unique_ptr<TrackerMemory> Create();
  std::unique_ptr<TrackerMemory> Copy() const;
  TrackerMemory(const TrackerMemory&) = delete;
  TrackerMemory& operator=(const TrackerMemory&) = delete;
  ~TrackerMemory() { Clear(); }
  static void operator delete(void* memory) { ::operator delete(memory); }

  // Maximum number of neighbors of a mask.
  static constexpr size_t kMaxNeighbors = 64;
  // Maximum number of words of a polygon; queries use the index of a polygon that would have more.
  // With 64 neighbors of 8 words of 48 bytes each, a mask stays within `Tracker::kMaxMemoryBytes`.
  static constexpr size_t kMaxWordsOfOne = 8;

  // Returns whether to make a mask for this move, `moves` moves after the last mask was made.
  // Returns false while the tracker backs off. Also returns false if the last mask did not last and
  // the work of a cold move is unknown, so that this move measures it. Called once for each move
  // that no mask reaches.
  bool IsWorthwhile(uint32_t moves);
  // Updates the average work of a cold move by one such move: by its units of work, or by a
  // constant if a sweep answered the move (nullopt).
  void RecordColdMove(std::optional<uint64_t> query_units);
  // Makes the mask about the shape, `moves` moves after the last mask was made. Returns false if
  // the tracker begins to back off, if the mask would be too large, and once the meter has stopped;
  // the memory then has no mask. `memory`, which is not null, may be replaced by another
  // allocation. `gathered` is a buffer.
  static bool Refresh(std::unique_ptr<TrackerMemory>& memory, const Scene& scene,
                      const PosedShape& posed, uint32_t moves, Influence& gathered);
  // Finds how far the nearest edge of the scene is, after the first query of a mask that limits the
  // clear radius. The next query may then find a larger radius.
  void Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter);
  // Returns whether the mask has all edges that the shape can touch at its pose.
  bool Reaches(const PosedShape& posed) const;

  // How far the shape may move from the pose of a query, at any rotation, so that it touches the
  // same polygons (`touch`), and so that it meets no edge (`clear`). 0 where it may not move.
  struct Radii {
    double touch = 0;
    double clear = 0;
    bool is_limited = false;  // whether `clear` ends at the mask's limit, not at an edge
  };
  // Which radii a query makes as large as the edges allow: only `touch`, which takes less, or both.
  enum class NeededRadii : uint8_t { kTouch, kBoth };
  // Queries whether the shape touches each neighbor, at a pose that the mask reaches. Under EDGES,
  // also stores the edges that meet the shape in the scratch. Once the meter has stopped, the mask
  // is dropped and the result is meaningless.
  Radii QueryNeighbors(PosedShape& posed, OverlapDetail detail, NeededRadii needed,
                       NeighborScratch& scratch, WorkMeter& meter);
  // Returns the neighbors that the shape touched at the last query: bit i for neighbor i. `id`
  // returns the id of a neighbor's polygon.
  uint64_t touched() const { return state_.touched; }
  uint64_t id(size_t i) const { return IdsBegin()[i]; }
  // Drops the mask.
  void Clear();

  // All edges nearer to the centre than the known radius are in the mask.
  Vec2 center() const { return state_.center; }
  double known_radius() const { return state_.known_radius; }

  // These three functions prefetch what the next query, at `p`, reads: this object and its
  // verdicts, then the neighbors with a verdict that ends before the query, then the polygons of
  // these neighbors. Each function reads what the function before it prefetched.
  void PrefetchSelf() const;
  // Returns the neighbors that it prefetched: bit i for neighbor i.
  uint64_t PrefetchNeighbors(Vec2 p) const;
  void PrefetchPolygons(uint64_t neighbors) const;

  size_t memory_bytes() const { return sizeof(*this) + state_.mask_bytes; }

 private:
  // All members but the mask.
  struct State {
    Vec2 center;        // the reference point for which the mask was made
    Vec2 anchor;        // the reference point of the last query, up to which the odometer counts
    double limit = -1;  // the slack of this mask; below 0 without a mask
    double known_radius = 0;
    double odometer = 0;
    // bits of `Verdict::touches` and, below, of `Verdict::is_by_box`: bit i for neighbor i
    uint64_t touched = 0;
    uint64_t by_box = 0;
    float slack = 0;            // slack for the next mask
    uint32_t query_work = 0;    // work of all queries of the last mask
    uint32_t refresh_work = 0;  // work of making the last mask; 0 if it cannot be judged
    // average work of a move without memory, a moving average; 0 if unknown
    uint32_t cold_work = 0;
    uint16_t mask_bytes = 0;  // bytes for a mask behind this object
    uint16_t word_count = 0;
    uint16_t backoff = 0;  // remaining moves without a mask
    uint8_t neighbor_count = 0;
    uint8_t misses : 4 = 0;    // masks in a row that did not pay
    uint8_t backoffs : 4 = 0;  // number of backoffs since a mask paid, up to kMaxBackoffs
  };

  explicit TrackerMemory(const State& state) : state_(state) {}
  // Returns a memory with the counts of `state` and without a mask, with room for `mask_bytes`
  // bytes.
  static std::unique_ptr<TrackerMemory> Create(const State& state, size_t mask_bytes);
  static size_t BytesOf(size_t neighbors, size_t words);
  static void Fit(std::unique_ptr<TrackerMemory>& memory, size_t mask_bytes);
  void Put(Influence& gathered);

  // Returns the part of the mask at `offset`. The parts are, by ascending polygon id: two columns
  // of the verdicts (until when each touches, and until when it is clear), the ids, the neighbors,
  // then the words, neighbor after neighbor.
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
  void DiscardMask();
  void SetLimit(double limit, const PosedShape& posed);
  bool Tune(const Scene& scene, const PosedShape& posed, uint32_t moves);

  State state_;
};

}  // namespace carom::internal
