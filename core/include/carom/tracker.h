// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does this shape touch, when it has hardly moved since it was last asked?
//
// A `Tracker` is a moving shape and what its last moves learned of the scene (Jimenez, Segura and
// Feito, "Polygon-Polygon Collision Detection in 2D", in the sound form of docs/coherence.md).
// `MoveTrackers` answers what each touches at its pose. The memory makes that cheap and is never
// seen in an answer: the same shape, pose and scene give the same bytes, whatever was asked before,
// and with the memory switched off. Shapes that are asked about once are for carom/overlap.h.
//
//   std::vector<Tracker> trackers = {Tracker::Create(shape).value()};
//   const double x[] = {10}, y[] = {2};
//   MoveAnswers out;
//   WorkMeter meter;
//   MoveTrackers(*scene, {.trackers = trackers, .x = x, .y = y}, {}, out, meter);
//   // out.clear[0] == 1: item 0 touches nothing
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: verdicts are exact;
// the fraction of a sweep without turning is that of carom/sweep.h, with turning an interval. Cost:
// O(1) a move where the answer cannot have changed, else that of carom/overlap.h at most.
// Thread-safe for distinct trackers. Cheaper: carom/overlap.h for one question; richer:
// carom/contact.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/batch.h"
#include "carom/geometry.h"
#include "carom/overlap.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/work_meter.h"

namespace carom {

class TrackerTable;

namespace internal {

class TrackerMemory;
struct TrackedShape;
struct TrackerAccess;

// The last answer of a tracker, and the disc about the reference point in which it holds at any
// rotation. It is all that a quiet move reads of its tracker.
struct QuietBall {
  Vec2 center;                   // the reference point of the last answer
  double radius2[2] = {-1, -1};  // squared, under IDS and under EDGES; below 0 where none holds
  uint64_t scene_state = 0;      // of the scene of that answer; 0 is no scene's
  uint32_t moves = 0;            // since the last influence mask was made
  uint32_t touched_count = 0;    // polygons
  uint64_t touched_id = 0;       // of the first one
};

}  // namespace internal

// What each answer of a tracker considers, for its lifetime.
struct TrackerOptions {
  uint64_t mask = kEveryCategory;
  // In [0, 2^53]. Above 0, polygons at most so far away count as touched, and edges likewise;
  // exactly, as `DistanceMode::kWithin` has it.
  double within = 0;
};

// A shape and its memory. Copies share the shape; each has a memory of its own. One moved from may
// only be assigned to or destroyed. Thread-safe as an int is: two threads may move two trackers,
// and not one.
//
// Memory: `memory_bytes`, at most 256 where the shape is clear of everything, and at most
// `kMaxMemoryBytes`. The shape is kept once for all copies. The polygons near by, up to 64, live on
// until the tracker is moved again or forgets, even if they leave the scene.
class Tracker {
 public:
  static constexpr size_t kMaxMemoryBytes = 65536;

  // INVALID_ARGUMENT naming `within`. Cost O(vertices).
  static absl::StatusOr<Tracker> Create(Shape shape, const TrackerOptions& options = {});

  // Without a shape: a move of it is answered with UNKNOWN_TRACKER.
  Tracker();
  Tracker(const Tracker& other);
  Tracker(Tracker&& other) noexcept;
  Tracker& operator=(const Tracker& other);
  Tracker& operator=(Tracker&& other) noexcept;
  ~Tracker();

  bool is_defined() const { return shape_ != nullptr; }
  // Of one that is defined.
  const Shape& shape() const;
  const TrackerOptions& options() const;

  // Drops the memory; answers stay the same, the next one takes longer.
  void Forget();
  // Of all but the shape.
  size_t memory_bytes() const;

 private:
  friend struct internal::TrackerAccess;
  friend class TrackerTable;

  internal::QuietBall ball_;  // first: a quiet move reads one cache line of its tracker
  std::shared_ptr<const internal::TrackedShape> shape_;
  std::unique_ptr<internal::TrackerMemory> memory_;
};

// OFF: as if every tracker had forgotten, and none learns. It costs more and changes no byte.
enum class Coherence : uint8_t { kOn, kOff };

struct MoveOptions {
  OverlapDetail detail = OverlapDetail::kIds;
  Coherence coherence = Coherence::kOn;
  bool quiet_radii = false;  // fills `MoveAnswers::quiet_radii`
  // Of sweeps that turn, a length as in `RotatingSweepColumns`; 0: 2^-10 of the shape's extent. A
  // shape of extent 0, its reference point alone, never turns, whatever its rotations.
  double tolerance = 0;
  // Bytes by which the memories may grow. Once they have, a tracker that would learn anew forgets,
  // and is answered as under OFF. Exceeded by one tracker at most.
  int64_t memory_budget = std::numeric_limits<int64_t>::max();
};

// Item i moves trackers[tracker[i]] to the pose (x[i], y[i], c[i], s[i]). An empty `tracker` column
// means trackers[first_tracker + i]; rotations as in `PlacedColumns`. With from_x and from_y, which
// are both there or both empty, the moves are sweeps from those positions, with from_c and from_s,
// or from_angle, as their rotations; without these the shape does not turn on its path.
struct MoveColumns {
  std::span<Tracker> trackers = {};
  std::span<const uint32_t> tracker = {};
  std::span<const double> x = {}, y = {}, c = {}, s = {}, angle = {};
  std::span<const double> from_x = {}, from_y = {}, from_c = {}, from_s = {}, from_angle = {};
  uint32_t first_tracker = 0;

  size_t size() const { return x.size(); }
  bool sweeps() const { return !from_x.empty(); }
};

// What a sweep touches first: as `SweepShapes` has it under REPORT_START where the shape does not
// turn or has extent 0, low = high, the exact fraction; else as `SweepRotating` does. `within`
// counts at the end only, not on the path.
struct FirstTouch {
  bool touches = false;  // else the path is clear, and the rest is 0
  uint64_t polygon_id = 0;
  double low = 0;
  double high = 0;
  // As a `SweepHit` has them, of a tracker that is a point a `CastHit`. No edge and a normal of 0
  // where the shape turns, for its touch is an interval.
  bool has_edge = false;
  EdgeRef edge = {};
  Vec2 normal = {};  // of length 1, from the polygon to the shape, or 0

  friend bool operator==(const FirstTouch&, const FirstTouch&) = default;
};

// How many moves each tier answered. Advice: not part of the answer.
struct MoveTiers {
  uint64_t quiet = 0;    // within the quiet ball, by a compare
  uint64_t near = 0;     // by the edges in the influence mask
  uint64_t refresh = 0;  // by the index, which made another mask
  uint64_t cold = 0;     // without memory

  MoveTiers& operator+=(const MoveTiers& other);
};

struct MoveAnswers {
  std::vector<uint64_t> clear;   // bit i % 64 of word i / 64: item i touches nothing
  std::vector<uint32_t> counts;  // of each item that is not clear, in order: polygons it touches
  std::vector<uint64_t> polygon_ids;  // item after item, ascending
  std::vector<uint32_t> edge_counts;  // under EDGES, as `OverlapAnswers`
  std::vector<EdgeRef> edges;
  // Of sweeps, beside `counts`. An item is clear only if its path is; the polygons are those that
  // it touches at its end.
  std::vector<FirstTouch> first_touches;
  std::vector<ItemError> errors;  // ascending by index; these items are not clear and touch nothing
  // On request, for each item a length r >= 0: with the reference point less than r away, and not
  // beyond 2^51 from the origin, at any rotation, the answer is the same in this version of the
  // scene (of a sweep: the answer to its end). 0 while an edge meets the shape, and for a move that
  // was answered without memory.
  // Advice: how long it is depends on what is remembered. After a refresh it is at least half of
  // (the distance from the reference point to the nearest edge - the shape's extent - within),
  // where that is positive and not lost in the rounding of coordinates.
  std::vector<double> quiet_radii;
  MoveTiers tiers;
  int64_t memory_growth = 0;  // of all trackers, in bytes. Advice.

  void Clear();
};

// Whether all but the advice is the same: what coherence must not change.
bool SameVerdicts(const MoveAnswers& a, const MoveAnswers& b);

// Whether the answers have as many items as the moves, as it is not when nothing was answered, or
// when they come from elsewhere. Columns are taken to fit each other.
bool Fits(const MoveColumns& moves, const MoveAnswers& answers);

// Returns false if `meter` stopped the work; `out` is then meaningless, but for its
// `memory_growth`. Cost of a move: O(1) in the quiet ball; near edges, those of the mask that may
// have come within reach; a lookup in the index at most once per slack travelled, after an edit
// near by, and at each move of a shape that goes so far that memory does not pay. Thread-safe for
// distinct trackers.
bool MoveTrackers(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                  MoveAnswers& out, WorkMeter& meter);

}  // namespace carom
