// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a tracker remember of the scene around it, and how far may the tracker move while this
// memory holds?
//
// The memory is an influence mask, the sound form of the influence areas of Jimenez, Segura and
// Feito: while the shape is within the distance `slack` of the point where the mask was made, the
// mask has every edge of the scene that the shape can touch, at any rotation. docs/coherence.md has
// the proofs.
//
// The slack balances two costs. A mask lasts slack / step moves of length `step`, and making it
// costs some constant a. A query of the mask costs about b * slack, for some constant b, since a
// larger mask has more edges. The cost of a move, a * step / slack + b * slack, is least where both
// terms are equal. So whenever a mask is made, the slack is doubled if making the last mask took
// more work than all of its queries, or if the shape left the last mask within a few moves. The
// slack is halved if the last mask lasted and making it took less than a quarter of the work of its
// queries.
//
// No mask pays for a shape that goes far in each move. So the work of a mask, over its moves, is
// compared with the work of as many moves without memory (cold moves), which is measured on one of
// them. After several masks in a row that took more work than cold moves, the tracker backs off: it
// makes no mask for some moves.
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

// The memory of a tracker: an influence mask (the edges near the shape, kept from move to move) and
// the last verdicts (for each polygon near the shape: whether the shape touches it, and after which
// length of further moves this may change). Not thread-safe. The object and the arrays of its mask
// are one allocation: with many trackers, a move waits long for each page of memory that it reads.
class TrackerMemory {
 public:
  // Returns a memory without a mask.
  static std::unique_ptr<TrackerMemory> Create();
  std::unique_ptr<TrackerMemory> Copy() const;
  TrackerMemory(const TrackerMemory&) = delete;
  TrackerMemory& operator=(const TrackerMemory&) = delete;
  ~TrackerMemory() { Clear(); }
  static void operator delete(void* memory) { ::operator delete(memory); }

  // Maximum number of neighbors, the polygons near the shape that a mask holds.
  static constexpr size_t kMaxNeighbors = 64;
  // Maximum number of words (64 edges each) that a mask stores for one polygon; queries use the
  // edge index of a polygon that would need more. With 64 neighbors of 8 words of 48 bytes each, a
  // mask stays within `Tracker::kMaxMemoryBytes`.
  static constexpr size_t kMaxWordsOfOne = 8;

  // Returns whether to make a mask for this move, `moves` moves after the last mask was made.
  // Returns false while the tracker backs off (makes no masks, since the last ones took too much
  // work). Also returns false if the tracker still has the last mask, which lasted fewer than
  // `kManyMoves` moves, and the work of a cold move, a move without memory, is unknown: this move
  // is then answered cold, to measure this work. Called once for each move that no mask covers.
  bool IsWorthwhile(uint32_t moves);
  // Adds one cold move (a move answered without memory) to the moving average of the work of cold
  // moves. `query_units` are the units of work of its query; nullopt if the sweep of the move's
  // path found that the shape touches nothing, so that the move needed no query, which counts as a
  // constant.
  void RecordColdMove(std::optional<uint64_t> query_units);
  // Makes a mask about the shape, `moves` moves after the last mask was made. Returns false if the
  // tracker begins to back off (to make no masks for some moves), if the mask would be too large,
  // and once the meter has stopped; the memory then has no mask. `memory`, which is not null, may
  // be replaced by another allocation. `gathered` is a buffer that is reused from mask to mask.
  static bool Refresh(std::unique_ptr<TrackerMemory>& memory, const Scene& scene,
                      const PosedShape& posed, uint32_t moves, Influence& gathered);
  // Extends `known_radius` (all edges of the scene within this radius are in the mask) to the
  // distance of the nearest edge of the scene. Called after the first query of a mask, if the size
  // of the mask and not an edge limits `Radii::clear`; the next query may then return a larger
  // radius.
  void Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter);
  // Returns whether the mask has all edges of the scene that the shape can touch at its pose.
  bool Reaches(const PosedShape& posed) const;

  // How far the shape may move from the pose of a query, at any rotation, so that it touches the
  // same polygons (`touch`), and so that it meets no edge (`clear`). 0 if it may not move at all.
  struct Radii {
    double touch = 0;
    double clear = 0;
    // Whether the size of the mask, and not the distance of an edge, limits `clear`.
    bool is_limited = false;
  };
  // Which members of `Radii` a query makes as large as the edges allow: only `touch`, which takes
  // less work, or both.
  enum class NeededRadii : uint8_t { kTouch, kBoth };
  // Decides for each neighbor (near polygon) in the mask whether the shape touches it, at a pose
  // for which `Reaches` holds. Under OverlapDetail::kEdges, also stores the edges that meet the
  // shape in the scratch. Once the meter has stopped, the mask is dropped and the result is
  // meaningless.
  Radii QueryNeighbors(PosedShape& posed, OverlapDetail detail, NeededRadii needed,
                       NeighborScratch& scratch, WorkMeter& meter);
  // `touched` returns the neighbors (near polygons) that the shape touched at the last query: bit i
  // for neighbor i. `id` returns the polygon id of neighbor i.
  uint64_t touched() const { return state_.touched; }
  uint64_t id(size_t i) const { return IdsBegin()[i]; }
  size_t neighbor_count() const { return state_.neighbor_count; }
  // Drops the influence mask, so that the next query has to make another one.
  void Clear();

  // All edges of the scene that are nearer to `center`, the position where the mask was made, than
  // `known_radius` are in the mask.
  Vec2 center() const { return state_.center; }
  // How far the shape may move from `center` while the mask holds; below 0 without a mask.
  double limit() const { return state_.limit; }
  double known_radius() const { return state_.known_radius; }

  // These three functions prefetch the memory that the next query, at position `p`, reads:
  // `PrefetchSelf` this object and its verdicts; `PrefetchNeighbors` the neighbors (near polygons
  // in the mask) with a verdict that no longer holds at `p`; `PrefetchPolygons` the polygons of
  // these neighbors. Each function reads what the function before it prefetched.
  void PrefetchSelf() const;
  // Returns the neighbors (near polygons) that it prefetched: bit i for neighbor i.
  uint64_t PrefetchNeighbors(Vec2 p) const;
  void PrefetchPolygons(uint64_t neighbors) const;

  size_t memory_bytes() const { return sizeof(*this) + state_.mask_bytes; }

 private:
  // All members but the arrays of the mask.
  struct State {
    // The position of the shape for which the mask was made.
    Vec2 center;
    // The position of the shape at the last query.
    Vec2 anchor;
    // How far the shape may move from `center` while the mask holds; below 0 without a mask.
    double limit = -1;
    // The mask has all edges of the scene that are nearer to `center` than this radius.
    double known_radius = 0;
    // The sum of the lengths of all moves from `center` to `anchor`.
    double odometer = 0;
    // For each neighbor (near polygon) i, bit i of two members of its verdict: `Verdict::touches`
    // in `touched`, and `Verdict::is_by_box` in `by_box`.
    uint64_t touched = 0;
    uint64_t by_box = 0;
    // The slack of the next mask: how far the shape may move while that mask holds.
    float slack = 0;
    uint32_t query_work = 0;  // units of work of all queries of the last mask
    // The work of making the last mask; 0 if no mask was made, or if `DiscardMask` dropped it, so
    // that `Tune` does not judge it.
    uint32_t refresh_work = 0;
    // Moving average of the work of a cold move (a move without memory); 0 if unknown.
    uint32_t cold_work = 0;
    // The room in bytes for the arrays of a mask, which are allocated behind this object.
    uint16_t mask_bytes = 0;
    uint16_t word_count = 0;
    // The number of next moves for which the tracker makes no mask, since its last masks took too
    // much work.
    uint16_t backoff = 0;
    uint8_t neighbor_count = 0;
    // The number of masks in a row that did not pay: that took more work than moves without memory,
    // or that the shape left within a few moves.
    uint8_t misses : 4 = 0;
    // How often the tracker backed off (stopped making masks for some moves) since a mask last took
    // less work than moves without memory; at most `kMaxBackoffs`.
    uint8_t backoffs : 4 = 0;
  };

  explicit TrackerMemory(const State& state) : state_(state) {}
  // Returns a memory with the members of `state`, but without a mask, and with room for
  // `mask_bytes` bytes of a mask.
  static std::unique_ptr<TrackerMemory> Create(const State& state, size_t mask_bytes);
  static size_t BytesOf(size_t neighbors, size_t words);
  static void Fit(std::unique_ptr<TrackerMemory>& memory, size_t mask_bytes);
  void Put(Influence& gathered);

  // Returns the array of the mask that begins `offset` bytes behind this object. The arrays, each
  // sorted by polygon id, are: `Verdict::touch_until` of each neighbor, `Verdict::clear_until` of
  // each neighbor, the polygon ids, the neighbors, and the words (64 edges each), neighbor after
  // neighbor.
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
