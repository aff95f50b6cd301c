// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/convex.h"

#include <algorithm>
#include <array>

#include "carom/predicates.h"
#include "carom/ring.h"
#include "carom/status.h"
#include "shape/fraction.h"
#include "shape/measures.h"

namespace carom {
namespace {

using internal::DominantAxis;
using internal::Fraction;
using internal::Line;
using internal::Meeting;

// Returns true if `a` is before `b` in lexicographic order: by x, and by y where x is equal. It is
// the order from left to right after turning the axes by an infinitesimal angle.
bool IsBefore(Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

// Finds the part of a segment of length > 0 that is inside a convex ring. The part is an interval
// of the segment. Each end of the part is an end of the segment, if that end is strictly inside the
// ring, or else a point of the ring. To find the points of the ring, the class visits every edge
// that shares a point with the segment: the part begins at the first shared point (the entry) and
// ends at the last one (the exit).
class Clipper {
 public:
  explicit Clipper(const Segment& segment) : segment_(segment), line_(segment), axis_(line_) {}

  std::optional<Clip> Clipped(std::span<const Vec2> ring, Location start, Location end);

 private:
  // One end of the part of the segment inside the ring, and the edge of the ring on which this end
  // lies; no edge if the end is strictly inside the ring.
  struct End {
    Fraction at;
    std::optional<uint32_t> edge;
    // True if the edge lies on the line of the segment.
    bool parallel = false;
    // The sign of the cross product (edge vector) x (segment vector), from which `NormalOf` gets
    // the side of the edge to which the normal points.
    int cross = 0;
  };

  void Touch(uint32_t index, const Segment& edge, int side_a, int side_b);
  void TouchAlong(uint32_t index, const Segment& edge);
  void Keep(End& best, const End& touch, int better) const;
  Vec2 NormalOf(std::span<const Vec2> ring, const End& end, int towards) const;

  Segment segment_;
  Line line_;
  DominantAxis axis_;
  End entry_;
  End exit_;
};

std::optional<Clip> Clipper::Clipped(std::span<const Vec2> ring, Location start, Location end) {
  const int first_side = Orientation(segment_.a, segment_.b, ring[0]);
  int side_a = first_side;
  for (size_t i = 0; i < ring.size(); ++i) {
    const bool is_last = i + 1 == ring.size();
    const Segment edge{ring[i], ring[is_last ? 0 : i + 1]};
    const int side_b = is_last ? first_side : Orientation(segment_.a, segment_.b, edge.b);
    if (side_a * side_b <= 0) Touch(static_cast<uint32_t>(i), edge, side_a, side_b);
    side_a = side_b;
  }
  if (!entry_.edge && start == Location::kOutside) return std::nullopt;
  if (start == Location::kInside) entry_ = {};
  if (end == Location::kInside) exit_ = {Fraction::End(line_), {}};
  Clip clip;
  clip.entry_fraction = entry_.at.Rounded(line_);
  clip.exit_fraction = exit_.at.Rounded(line_);
  clip.entry_edge = entry_.edge;
  clip.exit_edge = exit_.edge;
  if (!entry_.at.is_start()) clip.entry_normal = NormalOf(ring, entry_, -1);
  if (!exit_.at.is_end()) clip.exit_normal = NormalOf(ring, exit_, 1);
  return clip;
}

// Handles an edge that shares a point with the line of the segment: its ends lie on the sides
// `side_a` and `side_b` of that line (-1, 0 or 1), not both strictly on one side. If the shared
// point is on the segment, it may become the entry or the exit (the first or last point of the
// segment in the ring).
void Clipper::Touch(uint32_t index, const Segment& edge, int side_a, int side_b) {
  if (side_a == 0 && side_b == 0) return TouchAlong(index, edge);
  const Meeting meeting = side_a == 0   ? Fraction::OfVertex(line_, axis_, edge.a)
                          : side_b == 0 ? Fraction::OfVertex(line_, axis_, edge.b)
                                        : Fraction::OfCrossing(line_, edge);
  if (meeting.range != 0) return;
  const End touch{meeting.at, index, false, side_a > side_b ? 1 : -1};
  Keep(entry_, touch, -1);
  Keep(exit_, touch, 1);
}

// Handles an edge that lies on the line of the segment, or an edge of length zero that is a point
// of this line.
void Clipper::TouchAlong(uint32_t index, const Segment& edge) {
  const bool in_order = axis_.Compare(edge.a, edge.b) <= 0;
  const Meeting first = Fraction::OfVertex(line_, axis_, in_order ? edge.a : edge.b);
  const Meeting last = Fraction::OfVertex(line_, axis_, in_order ? edge.b : edge.a);
  if (first.range > 0 || last.range < 0) return;
  Keep(entry_, {first.range < 0 ? Fraction::Start(line_) : first.at, index, true}, -1);
  Keep(exit_, {last.range > 0 ? Fraction::End(line_) : last.at, index, true}, 1);
}

// `best` is the entry (first point) or the exit (last point) of the segment in the ring as found so
// far, `touch` another point that segment and ring share. Replaces `best` if `touch` is further
// along the segment in the direction `better` (-1: towards the start, 1: towards the end). If both
// are equally far, replaces `best` if it is parallel and `touch` is not. The caller visits the
// edges in ascending order, so in other ties the edge with the least index stays.
void Clipper::Keep(End& best, const End& touch, int better) const {
  const int order = best.edge ? Fraction::Compare(line_, touch.at, best.at) * better : 1;
  if (order > 0 || (order == 0 && best.parallel && !touch.parallel)) best = touch;
}

Vec2 Clipper::NormalOf(std::span<const Vec2> ring, const End& end, int towards) const {
  if (!end.edge || end.parallel) return {};
  const size_t i = *end.edge;
  const Segment edge{ring[i], ring[i + 1 == ring.size() ? 0 : i + 1]};
  return internal::UnitNormal(edge, end.cross * towards);
}

// Returns the result of clipping a segment of length zero, the point `p`, to the ring. `location`
// is the location of `p` relative to the ring. Every edge counts as parallel to such a segment, so
// the result has no normals.
std::optional<Clip> ClippedPoint(std::span<const Vec2> ring, Vec2 p, Location location) {
  if (location == Location::kOutside) return std::nullopt;
  Clip clip{0, 0, {}, {}, {}, {}};
  for (size_t i = 0; i < ring.size() && location == Location::kBoundary; ++i) {
    if (!IsOnSegment(p, {ring[i], ring[i + 1 == ring.size() ? 0 : i + 1]})) continue;
    clip.entry_edge = clip.exit_edge = static_cast<uint32_t>(i);
    break;
  }
  return clip;
}

template <class Locate>
std::optional<Clip> ClippedToRing(std::span<const Vec2> ring, const Segment& given,
                                  const Locate& locate) {
  if (!IsAccepted(given.a) || !IsAccepted(given.b)) return std::nullopt;
  const Segment segment{Normalized(given.a), Normalized(given.b)};
  const Location start = locate(segment.a);
  if (segment.a == segment.b) return ClippedPoint(ring, segment.a, start);
  return Clipper(segment).Clipped(ring, start, locate(segment.b));
}

Location LocateInBox(const Box& box, Vec2 p) {
  if (!box.Contains(p)) return Location::kOutside;
  const bool strictly = box.min.x < p.x && p.x < box.max.x && box.min.y < p.y && p.y < box.max.y;
  return strictly ? Location::kInside : Location::kBoundary;
}

// Returns the two ends of a ring that lies on one line, or its one point.
std::vector<Vec2> EndsOf(std::span<const Vec2> ring) {
  const auto [first, last] = std::minmax_element(ring.begin(), ring.end(), IsBefore);
  if (*first == *last) return {*first};
  return {*first, *last};
}

// Returns the vertices at which a convex ring turns; no vertex if the ring lies on one line.
// Consecutive duplicates count as one vertex.
std::vector<Vec2> TurningVertices(std::span<const Vec2> ring) {
  std::vector<Vec2> distinct;
  for (const Vec2 v : ring) {
    if (distinct.empty() || !(distinct.back() == v)) distinct.push_back(v);
  }
  while (distinct.size() > 1 && distinct.front() == distinct.back()) distinct.pop_back();
  std::vector<Vec2> corners;
  const size_t n = distinct.size();
  for (size_t i = 0; i < n; ++i) {
    const Vec2 before = distinct[i == 0 ? n - 1 : i - 1];
    const Vec2 after = distinct[i + 1 == n ? 0 : i + 1];
    if (Orientation(before, distinct[i], after) != 0) corners.push_back(distinct[i]);
  }
  return corners;
}

}  // namespace

int Side(const HalfPlane& half_plane, Vec2 p) { return Orientation(half_plane.a, half_plane.b, p); }

std::optional<Clip> ClipSegment(const Segment& segment, const Box& box) {
  if (box.empty() || !IsAccepted(box.min) || !IsAccepted(box.max)) return std::nullopt;
  const Box read{Normalized(box.min), Normalized(box.max)};
  const std::array<Vec2, 4> ring{
      read.min, {read.max.x, read.min.y}, read.max, {read.min.x, read.max.y}};
  return ClippedToRing(ring, segment, [&read](Vec2 p) { return LocateInBox(read, p); });
}

absl::StatusOr<ConvexRing> ConvexRing::Create(std::span<const Vec2> ring) {
  if (ring.empty()) return InvalidField("ring", "must have at least one vertex");
  ConvexRing result;
  for (const Vec2 v : ring) {
    if (!IsAccepted(v)) {
      return InvalidField("ring", "must have coordinates that are finite and at most 2^53");
    }
    result.vertices_.push_back(Normalized(v));
  }
  if (!IsConvex(result.vertices_)) {
    return InvalidField("ring", "must be convex: turning one way, once");
  }
  std::vector<Vec2>& corners = result.corners_;
  corners = TurningVertices(result.vertices_);
  if (corners.empty()) corners = EndsOf(result.vertices_);
  if (WindingSign(corners) < 0) std::reverse(corners.begin(), corners.end());
  std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end(), IsBefore),
              corners.end());
  const auto greatest = std::max_element(corners.begin(), corners.end(), IsBefore);
  result.lower_count_ = static_cast<size_t>(greatest - corners.begin()) + 1;
  return result;
}

// Locates the point in O(log n). `corners_` holds the lower chain of the ring, which ascends in
// lexicographic order, then the upper chain, which descends. A point between the two ends of the
// chains is compared with one edge of each chain: the edge that has the point between its two ends
// in lexicographic order. In a ring without area both chains are the same edge.
Location ConvexRing::Locate(Vec2 given) const {
  if (!IsAccepted(given)) return Location::kOutside;
  const Vec2 p = Normalized(given);
  const Vec2 first = corners_.front();
  const Vec2 last = corners_[lower_count_ - 1];
  if (p == first || p == last) return Location::kBoundary;
  if (IsBefore(p, first) || IsBefore(last, p)) return Location::kOutside;
  const auto lower_end = corners_.begin() + static_cast<std::ptrdiff_t>(lower_count_);
  const auto right = std::lower_bound(corners_.begin(), lower_end, p, IsBefore);
  const int above_lower = Orientation(*(right - 1), *right, p);
  if (above_lower < 0) return Location::kOutside;
  const auto left = std::lower_bound(lower_end, corners_.end(), p,
                                     [](Vec2 corner, Vec2 q) { return IsBefore(q, corner); });
  const Vec2 upper_left = left == corners_.end() ? first : *left;
  const int below_upper = Orientation(*(left - 1), upper_left, p);
  if (below_upper < 0) return Location::kOutside;
  return above_lower == 0 || below_upper == 0 ? Location::kBoundary : Location::kInside;
}

std::optional<Clip> ConvexRing::ClipSegment(const Segment& segment) const {
  return ClippedToRing(vertices_, segment, [this](Vec2 p) { return Locate(p); });
}

}  // namespace carom
