// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where does a capsule come to that walks freely, or along a wall, where filters can decide?
//
// The fast path of `SlideShapes` (docs/adr/0027-slides-by-faces.md): legs without skin that meet
// nothing, or run into one edge, not beyond its ends, and of which the safe pose is next to the
// exact one. It answers what the exact search does (blocking/blocking_sweep.h,
// blocking/blocking_safe.h), or leaves the leg to that.
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

// Reused from slide to slide. Not thread-safe.
class PlainSlide {
 public:
  PlainSlide(const Obstacles& obstacles, WorkMeter& meter)
      : obstacles_(obstacles), meter_(meter), offset_(meter) {}

  // The shape of the calls that follow, at a pose that is accepted. Returns false where it is not
  // taken: no capsule, without a radius, or placed out of range.
  bool Start(const Shape& shape, const Pose& pose);

  enum class Verdict : uint8_t { kLeft, kFree, kHit };
  // The leg by d, not 0, of the shape at that position. Where it is not left, the shape overlaps
  // nothing in more than touch, which `known` may say beforehand, and what follows may be asked.
  Verdict Leg(Vec2 from, Vec2 d, BlockingSweep::Known known);

  // Of the shape at that position.
  Box BoundsAt(Vec2 position) {
    MoveTo(position);
    return Bounds();
  }
  // The safe pose.
  Vec2 position() const { return next_; }
  // Of a hit: its row, in place of a default one, the time of it, and the contacts then.
  void SetHit(SweepHit& hit) const;
  SweepTime time() const;
  std::span<const BlockingContact> contacts() const { return {contacts_.data(), contact_count_}; }
  // Of a hit by the push itself: sets what is left of it, along the wall, or nothing. Returns false
  // where that is not certain.
  bool Redirect(Vec2 left, std::optional<Vec2>& next) const;
  // Of a hit: whether it surely leaves nothing of the push, for it ends in the corner between the
  // face that is hit and one that all `earlier` contacts are of and that the shape still touches.
  bool IsCornered(Vec2 push, std::span<const BlockingContact> earlier);
  // At least an ulp of the shape's bounds.
  double ulp() const { return move_.ulp; }

 private:
  static constexpr size_t kMostFaces = 6;

  // What the path is not clear of.
  struct Near {
    template <class Front, class... Arguments>
    Near(std::in_place_type_t<Front> type, size_t its_edge, const Arguments&... arguments)
        : front(type, arguments...), edge(its_edge) {}

    std::variant<RoundFace, RoundCorner> front;  // behind which it is
    size_t edge;                                 // of `near_`
    uint32_t edges = 0;                          // that are met then
    bool is_sole = true;                         // whether they touch nowhere else then
    PathSide path;
    std::optional<FaceEntry> entry;  // unless the path is apart from it
    double time = 0;                 // that rounded up, once it is asked
    std::optional<Vec2> normal;      // then, at a vertex, if it is certain

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
  bool Find(BlockingSweep::Known known);
  bool IsCovered() const;
  bool Gather();
  bool LookAt();
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

  // The shape as described, its rotation, and as it stands.
  Segment described_;
  Pose pose_;

  // The leg.
  RoundMove move_;
  double margin_ = 0;     // of all legs in the zone of `near_`
  uint32_t unclear_ = 0;  // edges of `near_`
  uint32_t behind_ = 0;   // those that the shape is not in front of
  std::array<std::optional<Near>, kMostFaces> faces_;
  size_t face_count_ = 0;
  Near* first_ = nullptr;  // that is hit
  double fraction_ = 1;
  Vec2 next_;
  Vec2 normal_;
  Vec2 point_;
  std::array<BlockingContact, 2> contacts_;
  size_t contact_count_ = 0;
};

}  // namespace carom::internal
