// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a shape touch that moves only a little between two questions?
//
// A `Tracker` is a moving shape with a memory of what its last moves found in the scene (Jimenez,
// Segura and Feito, "Polygon-Polygon Collision Detection in 2D", in the sound form of
// docs/coherence.md). `MoveTrackers` returns what each shape touches at its pose. The memory makes
// moves cheap and never changes an answer: equal shape, pose and scene give equal bytes, whatever
// was asked before, and also with the memory switched off. For shapes that are queried once use
// carom/overlap.h.
//
//   std::vector<Tracker> trackers = {Tracker::Create(shape).value()};
//   const double x[] = {10}, y[] = {2};
//   MoveAnswers out;
//   WorkMeter meter;
//   MoveTrackers(*scene, {.trackers = trackers, .x = x, .y = y}, {}, out, meter);
//   // out.clear[0] == 1: item 0 touches nothing
//
// Lengths are in the unit of the caller's coordinates. Touching counts. Error: verdicts are exact;
// a sweep without turning has the fraction of carom/sweep.h, a sweep with turning an interval.
// Cost: O(1) for a move if the answer cannot have changed, otherwise at most the cost of
// carom/overlap.h. Thread-safe for distinct trackers. Cheaper alternative: carom/overlap.h for one
// question. More powerful: carom/contact.h.
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

// The last answer of a tracker, and the disc about the reference point in which the answer holds at
// any rotation. A move in this disc (a quiet move) reads nothing else of its tracker.
struct QuietBall {
  Vec2 center;                   // the reference point of the last answer
  double radius2[2] = {-1, -1};  // squared radius, under IDS and under EDGES; below 0: no disc
  uint64_t scene_state = 0;    // state of the last answer's scene; 0 is not the state of any scene
  uint32_t moves = 0;          // number of moves since the last influence mask was made
  uint32_t touched_count = 0;  // number of polygons that the shape touches
  uint64_t touched_id = 0;     // id of the first polygon that the shape touches
};

}  // namespace internal

// The polygons that all answers of a tracker consider, for its lifetime.
struct TrackerOptions {
  uint64_t mask = kEveryCategory;
  // In [0, 2^53]. If above 0, polygons and edges at a distance of at most `within` count as
  // touched; exactly, as for `DistanceMode::kWithin`.
  double within = 0;
};

// A shape with a memory. Copies share the shape, and each copy has its own memory. A moved-from
// tracker may only be assigned to or destroyed. Thread-safe as an int is: two threads may move two
// trackers, but not one tracker.
//
// Memory: `memory_bytes`, at most 256 if the shape is clear of everything, and at most
// `kMaxMemoryBytes`. All copies share one shape in memory. Up to 64 polygons near by stay alive
// until the tracker is moved again or forgets, even if an edit removes them from the scene.
class Tracker {
 public:
  static constexpr size_t kMaxMemoryBytes = 65536;

  // Creates a tracker of `shape`. INVALID_ARGUMENT naming `within` if it is out of range. Cost
  // O(vertices).
  static absl::StatusOr<Tracker> Create(Shape shape, const TrackerOptions& options = {});

  // Makes a tracker without a shape: a move of it is answered with UNKNOWN_TRACKER.
  Tracker();
  Tracker(const Tracker& other);
  Tracker(Tracker&& other) noexcept;
  Tracker& operator=(const Tracker& other);
  Tracker& operator=(Tracker&& other) noexcept;
  ~Tracker();

  bool is_defined() const { return shape_ != nullptr; }
  // Return the shape and the options; the tracker must be defined.
  const Shape& shape() const;
  const TrackerOptions& options() const;

  // Drops the memory. No answer changes, but the next answer takes longer.
  void Forget();
  // Returns the bytes of the tracker without its shape.
  size_t memory_bytes() const;

 private:
  friend struct internal::TrackerAccess;
  friend class TrackerTable;

  internal::QuietBall ball_;  // first, so that a quiet move reads one cache line of its tracker
  std::shared_ptr<const internal::TrackedShape> shape_;
  std::unique_ptr<internal::TrackerMemory> memory_;
};

// Whether trackers use their memories. OFF: each move is answered as if its tracker had no memory,
// and no memory is written. OFF costs more and changes no byte of an answer.
enum class Coherence : uint8_t { kOn, kOff };

struct MoveOptions {
  OverlapDetail detail = OverlapDetail::kIds;
  Coherence coherence = Coherence::kOn;
  bool quiet_radii = false;  // fills `MoveAnswers::quiet_radii`
  // The tolerance of sweeps that turn, a length as in `RotatingSweepColumns`; 0: 2^-10 of the
  // shape's extent. A shape of extent 0 (its reference point alone) never turns, whatever its
  // rotations.
  double tolerance = 0;
  // Bytes by which the memories may grow. Once they have grown so much, a tracker that needs
  // another memory forgets and is answered as under OFF. At most one tracker exceeds the budget.
  int64_t memory_budget = std::numeric_limits<int64_t>::max();
};

// Moves in columns: item i moves trackers[tracker[i]] to the pose (x[i], y[i], c[i], s[i]). An
// empty `tracker` column means trackers[first_tracker + i]; rotations are as in `PlacedColumns`.
// The columns from_x and from_y are both set or both empty. If they are set, the moves are sweeps
// from these positions, with the rotations from_c and from_s, or from_angle; without a rotation to
// start from, the shape does not turn on its path.
struct MoveColumns {
  std::span<Tracker> trackers = {};
  std::span<const uint32_t> tracker = {};
  std::span<const double> x = {}, y = {}, c = {}, s = {}, angle = {};
  std::span<const double> from_x = {}, from_y = {}, from_c = {}, from_s = {}, from_angle = {};
  uint32_t first_tracker = 0;

  size_t size() const { return x.size(); }
  bool sweeps() const { return !from_x.empty(); }
};

// What a sweep touches first. If the shape does not turn or has extent 0, low = high is the
// fraction of `SweepShapes` under REPORT_START; otherwise low and high are the bounds of
// `SweepRotating`. `within` counts at the end of the path only.
struct FirstTouch {
  bool touches = false;  // false: the path is clear, and the other members are 0
  uint64_t polygon_id = 0;
  double low = 0;
  double high = 0;
  // As in a `SweepHit`, or in a `CastHit` if the tracker is a point. If the shape turns, there is
  // no edge and the normal is 0, because the touch is an interval.
  bool has_edge = false;
  EdgeRef edge = {};
  Vec2 normal = {};  // unit normal from the polygon to the shape, or 0

  friend bool operator==(const FirstTouch&, const FirstTouch&) = default;
};

// How many moves each tier answered. Advice: not part of the answer.
struct MoveTiers {
  uint64_t quiet = 0;    // answered in the quiet ball, by a comparison
  uint64_t near = 0;     // answered by the edges in the influence mask
  uint64_t refresh = 0;  // answered by the index, which made another influence mask
  uint64_t cold = 0;     // answered without memory

  MoveTiers& operator+=(const MoveTiers& other);
};

struct MoveAnswers {
  std::vector<uint64_t> clear;   // bit i % 64 of word i / 64 is set: item i touches nothing
  std::vector<uint32_t> counts;  // for each item that is not clear, in order: polygons it touches
  std::vector<uint64_t> polygon_ids;  // for each item in turn: ascending
  std::vector<uint32_t> edge_counts;  // under EDGES, as in `OverlapAnswers`
  std::vector<EdgeRef> edges;
  // For sweeps, one entry per count. An item is clear only if its path is clear; polygon_ids are
  // the polygons that it touches at the end of its path.
  std::vector<FirstTouch> first_touches;
  std::vector<ItemError> errors;  // ascending by index; an item in error has the count 0
  // On request, a length r >= 0 for each item: if the reference point moves by less than r, and not
  // beyond 2^51 from the origin, the answer stays the same in this version of the scene, at any
  // rotation (for a sweep: the answer at its end). 0 while an edge meets the shape, and for a move
  // that was answered without memory.
  // Advice: the length depends on what the tracker remembers. After a refresh it is at least half
  // of (the distance from the reference point to the nearest edge - the shape's extent - within),
  // if this is positive and not lost in the rounding of coordinates.
  std::vector<double> quiet_radii;
  MoveTiers tiers;
  int64_t memory_growth = 0;  // growth of all memories, in bytes; advice

  void Clear();
};

// Returns whether two answers are equal except for the advice: coherence must not change any other
// member.
bool SameVerdicts(const MoveAnswers& a, const MoveAnswers& b);

// Returns whether `answers` has as many items as `moves`. It has not if nothing was answered, or if
// it answers other moves. The columns of each argument are assumed to fit each other.
bool Fits(const MoveColumns& moves, const MoveAnswers& answers);

// Moves the trackers and replaces the contents of `out`. Returns false if `meter` stopped the work;
// `out` is then meaningless, except for its `memory_growth`. Cost of a move: O(1) in the quiet
// ball; near edges, the edges of the influence mask that may have come within reach; a lookup in
// the index at most once for each slack travelled, after an edit near by, and at each move of a
// shape that moves so far that memory does not pay. Thread-safe for distinct trackers.
bool MoveTrackers(const Scene& scene, const MoveColumns& moves, const MoveOptions& options,
                  MoveAnswers& out, WorkMeter& meter);

}  // namespace carom
