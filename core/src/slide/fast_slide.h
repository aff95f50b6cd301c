// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a capsule end up that moves freely, or along a wall, where filters can decide?
//
// This is the fast path of `SlideShapes` (docs/adr/0027-slides-by-faces.md) for legs without skin
// that meet nothing, or meet one edge or vertex, and end at a safe pose next to the exact one. Its
// answers equal the answers of the exact search (blocking/blocking_sweep.h,
// blocking/blocking_safe.h). A leg that the filters cannot decide is undecided and falls back to
// the exact search.
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

// Decides the legs of one slide at a time. Reused from slide to slide. Not thread-safe.
class FastSlide {
 public:
  FastSlide(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter), offset_(meter) {}

  // Sets the shape of later calls, at an accepted pose. Returns false if the fast path does not
  // take the shape: if it is no capsule, has no radius, or is placed out of range.
  bool Start(const Shape& shape, const Pose& pose);

  enum class Verdict : uint8_t { kUndecided, kFree, kHit };
  // Decides the leg by d, not 0, of the shape at position `from`. Unless the leg is undecided, the
  // shape overlaps nothing in more than touch at `from`, which `start_overlap` may state
  // beforehand, and the results below are valid.
  Verdict Leg(Vec2 from, Vec2 d, BlockingSweep::StartOverlap start_overlap);

  // Returns the bounds of the shape at a position.
  Box BoundsAt(Vec2 position) {
    MoveTo(position);
    return Bounds();
  }
  // Returns the safe pose of the leg.
  Vec2 position() const { return next_; }
  // Sets the row of the leg's hit; `hit` must be a default row. `time` returns the time of the hit,
  // and `contacts` the contacts at that time.
  void SetHit(SweepHit& hit) const;
  SweepTime time() const;
  std::span<const BlockingContact> contacts() const { return {contacts_.data(), contact_count_}; }
  // Sets `next` to the part of `left` along the wall, or to nothing, after a hit by the push
  // itself. Returns false where that part is not certain.
  bool Redirect(Vec2 left, std::optional<Vec2>& next) const;
  // Returns whether a hit certainly ends the push, in the corner between the face that is hit and
  // the face of all `earlier` contacts, which the shape must still touch.
  bool EndsInCorner(Vec2 push, std::span<const BlockingContact> earlier);
  // Returns an upper bound of the ulp of the shape's bounds.
  double ulp() const { return move_.ulp; }

 private:
  static constexpr size_t kMostFaces = 6;

  // A face or corner in front of edges that the path is not clear of.
  struct Near {
    template <class Front, class... Arguments>
    Near(std::in_place_type_t<Front> type, size_t its_edge, const Arguments&... arguments)
        : front(type, arguments...), edge(its_edge) {}

    std::variant<RoundFace, RoundCorner> front;  // the face or corner, behind which the edge lies
    size_t edge;                                 // number of the edge in `near_`
    uint32_t edges = 0;                          // bits of the edges that are met at the entry
    bool is_only_contact = true;                 // the shape touches nothing else at the entry
    PathSide path;
    std::optional<FaceEntry> entry;  // when the path comes to `front`, or nothing
    double time = 0;                 // the entry rounded up, computed on demand
    std::optional<Vec2> normal;      // the normal of an entry at a vertex, if certain

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

  // The shape's axis as described, and its pose; `move_` has the axis as placed.
  Segment described_;
  Pose pose_;

  // The current leg.
  RoundMove move_;
  double margin_ = 0;     // margin of all legs in the zone of `near_`
  uint32_t unclear_ = 0;  // bits of edges of `near_` that the path is not clear of
  uint32_t behind_ = 0;   // bits of unclear edges that the shape is not in front of
  std::array<std::optional<Near>, kMostFaces> faces_;
  size_t face_count_ = 0;
  Near* first_ = nullptr;  // the one that is hit, or null
  double fraction_ = 1;
  Vec2 next_;
  Vec2 normal_;
  Vec2 point_;
  std::array<BlockingContact, 2> contacts_;
  size_t contact_count_ = 0;
};

}  // namespace carom::internal
