// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// At which safe position does a leg (a straight move) of a slide end, for a capsule that moves
// freely or meets a wall, if filters can decide?
//
// This is the fast path of `SlideShapes` (docs/adr/0027-slides-by-faces.md) for legs without a skin
// that meet nothing, one edge or one vertex, and end at a safe pose near the exact one. Its answers
// equal those of the exact search (blocking/blocking_sweep.h, blocking/blocking_safe.h). If the
// filters cannot decide a leg, the leg falls back to the exact search.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "blocking/blocking_arcs.h"
#include "blocking/blocking_sweep.h"
#include "blocking/free_offset.h"
#include "carom/geometry.h"
#include "carom/shape.h"
#include "carom/sweep.h"
#include "carom/work_meter.h"
#include "numeric/box_distance.h"
#include "slide/near_edges.h"
#include "slide/round_corner.h"
#include "slide/round_face.h"

namespace carom::internal {

// Decides, by filters, the legs of a slide, one at a time, for a capsule. A push is a requested
// displacement; obstacles deflect it into legs: straight moves, each after the first along the wall
// (an edge or vertex of an obstacle) that the leg before it hit. A leg ends at a safe position:
// there and on the way the shape overlaps nothing in more than touch (its interior meets no
// obstacle). A contact is an edge or vertex of an obstacle that the shape touches at a hit. An
// object is reused for many slides. Not thread-safe.
class FastSlide {
 public:
  FastSlide(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter), offset_(meter) {}

  // Sets the shape of later calls and its pose, whose range the caller has checked. Returns false
  // if the fast path does not accept the shape: if it is not a capsule, has no radius, or is placed
  // out of range.
  bool Start(const Shape& shape, const Pose& pose);

  // kUndecided: filters cannot decide the leg, and the caller runs the exact search. kFree: the leg
  // hits nothing. kHit: the leg hits an edge or a vertex.
  enum class Verdict : uint8_t { kUndecided, kFree, kHit };
  // Decides the leg by the displacement d, which is not 0, of the shape at position `from`. If
  // `start_overlap` is kUnchecked, tests that the shape overlaps nothing in more than touch at
  // `from`; kNone means that the caller has proven it. If the verdict is kFree or kHit, the shape
  // overlaps nothing in more than touch at `from`, and `position` returns the end of this leg; if
  // it is kHit, the members from `SetHit` to `EndsInCorner` refer to this leg's hit.
  Verdict Leg(Vec2 from, Vec2 d, BlockingSweep::StartOverlap start_overlap);

  // Returns the bounding box of the shape at a position.
  Box BoundsAt(Vec2 position) {
    MoveTo(position);
    return Bounds();
  }
  // Returns the safe position at which the leg (the straight move that `Leg` decided last) ends.
  Vec2 position() const { return next_; }
  // `SetHit` fills the answer row of the leg's hit; `hit` must be a default-constructed row. `time`
  // returns the time of the hit, and `contacts` the contacts at that time.
  void SetHit(SweepHit& hit) const;
  SweepTime time() const;
  std::span<const BlockingContact> contacts() const { return {contacts_.data(), contact_count_}; }
  // Sets `next` to the component, along the wall that the leg hit, of `left`, the part of the push
  // (the requested displacement) that remains after the leg; sets `next` to nothing if no such
  // component remains. The displacement of the leg must be the whole push. Returns false if filters
  // cannot decide `next`.
  bool Redirect(Vec2 left, std::optional<Vec2>& next) const;
  // Returns whether the hit certainly ends the push: all contacts in `earlier`, those of the legs
  // before, are with one edge, the shape still touches that edge, and it is in the corner between
  // that edge and the edge that the leg hits.
  bool EndsInCorner(Vec2 push, std::span<const BlockingContact> earlier);
  // Returns an upper bound of an ulp of the coordinates of the shape on its path.
  double ulp() const { return move_.ulp; }

 private:
  static constexpr size_t kMostFaces = 6;

  // A line, or a corner (a vertex and an end of the capsule's axis), that separates the shape at
  // the start of the leg from one or more edges of `near_` that the path may touch. These edges lie
  // behind the line or corner: on the side away from the shape.
  struct Near {
    template <class Front, class... Arguments>
    Near(std::in_place_type_t<Front> type, size_t its_edge, const Arguments&... arguments)
        : front(type, arguments...), edge(its_edge) {}

    // the line (`RoundFace`) or the corner, behind which the edge lies
    std::variant<RoundFace, RoundCorner> front;
    size_t edge;  // index in `near_` of the edge from which `front` was made
    // bit i is set if the shape meets edge i of `near_` at the time `entry`
    uint32_t edges = 0;
    bool is_only_contact = true;  // at `entry` the shape meets no edges but `edges`
    // how far the capsule stays from `front` on its path
    PathSide path;
    // when the distance of the axis from `front` becomes the radius, or nothing if it never does
    std::optional<FaceEntry> entry;
    // the time of the entry, rounded up, computed on demand
    double time = 0;
    // the unit normal at the entry of a corner, if its rounding is certain
    std::optional<Vec2> normal;

    bool IsBehind(const Segment& other) const {
      return std::visit([&](const auto& side) { return side.IsBehind(other); }, front);
    }
  };

  Box CoreBounds() const {
    const auto& [a, b] = move_.axis;
    return {{std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}};
  }
  Box Bounds() const { return Grown(CoreBounds(), move_.radius); }
  bool MoveTo(Vec2 position);
  bool Place(Vec2 position, Segment& axis) const;
  bool FindHit(BlockingSweep::StartOverlap start_overlap);
  bool IsCovered() const;
  bool Gather();
  bool ClassifyEdges();
  bool AddEdge(size_t edge);
  bool AddVertex(size_t edge);
  bool AddCorner(size_t edge, double until);
  double LatestEnd() const;
  template <class IsBehind>
  void Add(Near& near, const std::optional<Vec2>& vertex, const IsBehind& is_behind);
  bool IsBehindAny(size_t edge) const;
  bool FindFirst();
  bool AreClearAtHit() const;
  void FindContacts();
  void AddContact(BlockingContact::Kind kind, const EdgeMeeting& meeting, uint32_t moving);
  std::optional<Vec2> SafePose();
  std::optional<Vec2> SafeOffset(Vec2 base, double ulp);
  double UlpOfPath() const;
  Side SafeAt(Vec2 position) const;
  bool IsAtStart(Vec2 position, double ulp) const;
  bool IsStillAt(const BlockingContact& contact, double most) const;

  const Obstacles& obstacles_;
  WorkMeter& meter_;
  const UnclearEdgesFunction unclear_edges_ = UnclearEdges();
  NearEdges near_;
  FreeOffset offset_;

  // The axis of the capsule before it is placed, and the pose; `move_` holds the placed axis.
  Segment described_;
  Pose pose_;

  // The state of the current leg: the straight move that `Leg` decides.
  RoundMove move_;
  // the distance, in each coordinate, by which edges must be off the path to count as clear, for
  // all legs in the box that `near_` covers
  double margin_ = 0;
  // bit i is set if the path is not proven clear of edge i of `near_`
  uint32_t unclear_ = 0;
  // the bits of `unclear_` for which `AddEdge` found no line in front of the edge; such an edge
  // must lie behind a line or corner of another edge
  uint32_t behind_ = 0;
  // the first `face_count_` elements: the lines and corners in front of the edges that the path may
  // touch
  std::array<std::optional<Near>, kMostFaces> faces_;
  size_t face_count_ = 0;
  Near* first_ = nullptr;  // the element of `faces_` that is hit, or null
  // The time of the hit (a fraction of the path, 1 without a hit), the position at which the leg
  // ends, the normal and the point of the hit, and its contacts.
  double fraction_ = 1;
  Vec2 next_;
  Vec2 normal_;
  Vec2 point_;
  std::array<BlockingContact, 2> contacts_;
  size_t contact_count_ = 0;
};

}  // namespace carom::internal
