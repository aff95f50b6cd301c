// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edge or corner of a small convex polygon does a moving capsule touch first? Highway
// compiles files that include this header once per instruction set (hwy/foreach_target.h).

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "numeric/double_vectors.h"
#include "numeric/exact.h"
#include "sweep/fast_overlap.h"
#include "sweep/fast_path.h"
#include "sweep/fast_touch.h"

#if defined(CAROM_CORE_SRC_FAST_CORNER_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CAROM_CORE_SRC_FAST_CORNER_H_
#undef CAROM_CORE_SRC_FAST_CORNER_H_
#else
#define CAROM_CORE_SRC_FAST_CORNER_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Decides where a capsule that moves by t d, for t in [0, 1], first touches a small convex polygon:
// where the point t d comes within the radius r of the convex hull of all corners z = (vertex of
// the polygon) - (end of the axis): at a side of the hull (an edge of polygon or axis) or a corner.
//
// A touch is certain if no other corner lies within `margin_`, on the inner side, of the line that
// supports the hull at the touch, and if a touch on a side is not within `margin_` of an end of the
// side. Then no other edge of the polygon ties with it. Let m be `margin_` and S >= 2m be `size_`.
// If a corner touches, edges without it are at least r + m away. If a side touches, an edge that
// shares an end of the side leads from that end, m away along the side, to corners m behind it: its
// points are either m / 2 away along the side, hence beyond r by at least m^2 / (8 (r + m)) >= m^2
// / (16 S), or m^2 / (2 S) behind the side. With m = 2^-12 S both are at least 2^-28 S, which takes
// a fraction of the path of at least 2^-28 S / |d|, or 2^-48 if |d| <= 2^20 S.
template <size_t kWidth>
class RoundTouch {
 public:
  HWY_INLINE RoundTouch(const FastPair& pair, const FastTarget& target)
      : target_(target),
        mover_(*pair.mover),
        ring_(target, mover_.ring.vertex(0)),
        reach_(target.extent + mover_.radius + std::abs(mover_.d.x) + std::abs(mover_.d.y)),
        slack_(256 * kFilterUnit * reach_ * reach_) {
    // `size_` is at least the width of the shape plus its radius plus the width of the polygon.
    const Box& box = pair.fixed->polygon().bounds();
    size_ = 2 * (mover_.ring.extent + mover_.radius +
                 std::max(box.max.x - box.min.x, box.max.y - box.min.y));
    margin_ = 0x1p-12 * size_;
  }

  HWY_INLINE void Decide(double limit, const PathBounds& bounds, FastTouch& touch) {
    if (!(reach_ <= 0x1p20 * size_)) return;
    SetCorners();
    if (bounds.enter_high < 0 && bounds.leave_low > 0 && OverlapsAtStart()) {
      touch.verdict = TouchVerdict::kOverlap;
      return;
    }
    bool misses_side = false;
    if (std::has_single_bit(bounds.last) && bounds.along_low > 0) {
      const auto place = static_cast<uint32_t>(std::countr_zero(bounds.last));
      if (MeetsSide(place, bounds, touch, misses_side)) return SetIfWithin(touch);
    }
    MeetCorner(misses_side, limit, touch);
    const bool is_uncertain = touch.verdict == TouchVerdict::kUncertain;
    if (is_uncertain && StaysSeparated(limit)) touch.verdict = TouchVerdict::kNone;
  }

 private:
  static constexpr size_t kGroups = RingLanes<kWidth>::kGroups;
  static constexpr size_t kCorners = 2 * kWidth;
  using CornerColumn = std::array<double, kCorners>;

  // Sets the verdict kTouch if the touch is certainly neither at the start nor at the path's end.
  static HWY_INLINE void SetIfWithin(FastTouch& touch) {
    if (touch.low > 0 && touch.high < 1) touch.verdict = TouchVerdict::kTouch;
  }

  // Stores the corner (vertex in ring lane k) - (end j of the axis) at index k + kWidth j.
  HWY_INLINE void SetCorners() {
    for (size_t j = 0; j < 2; ++j) {
      for (size_t g = 0; g < kGroups; ++g) {
        const size_t at = j * kWidth + g * kLaneCount;
        hn::StoreU(Sub(ring_.x[g], All(mover_.ring.from_x[j])), D(), &x_[at]);
        hn::StoreU(Sub(ring_.y[g], All(mover_.ring.from_y[j])), D(), &y_[at]);
      }
    }
  }

  // Calls visit(i) for each SIMD vector of corners; i is the index of its first corner.
  template <class Visit>
  HWY_INLINE void VisitCorners(const Visit& visit) const {
    for (size_t i = 0; i < mover_.ring.size * kWidth; i += kLaneCount) visit(i);
  }

  // Maps corners, as bits k + kWidth j (lane k), to bits l + 8 j (polygon vertex l, axis end j).
  HWY_INLINE uint32_t CornersOf(uint32_t bits) const {
    constexpr uint32_t kEnd = (uint32_t{1} << kWidth) - 1;
    return ring_.lanes.VerticesOf(bits & kEnd) | ring_.lanes.VerticesOf(bits >> kWidth)
                                                     << kMostFastVertices;
  }
  HWY_INLINE size_t LaneOf(size_t corner) const {
    return ring_.lanes.LaneOf(corner % kMostFastVertices) + corner / kMostFastVertices * kWidth;
  }

  HWY_INLINE double Along(size_t corner, Vec2 v) const {
    const size_t lane = LaneOf(corner);
    return x_[lane] * v.x + y_[lane] * v.y;
  }
  // Returns the bits of the corners z with a dot product z . v of at most `bound`.
  HWY_INLINE uint32_t CornersUpTo(double bound, Vec2 v) const {
    uint32_t bits = 0;
    VisitCorners([&](size_t i) HWY_ATTR {
      const V along = hn::MulAdd(At(&x_[i]), All(v.x), Mul(At(&y_[i]), All(v.y)));
      bits |= BitsOf(hn::Le(along, All(bound))) << i;
    });
    return CornersOf(bits);
  }

  // Returns the counter-clockwise vector of edge `at` of the polygon (`is_fixed`) or of the axis.
  HWY_INLINE Vec2 EdgeOf(bool is_fixed, uint32_t at) const {
    if (!is_fixed) return {mover_.ring.edges.x[at], mover_.ring.edges.y[at]};
    const Vec2 a = target_.ring[at];
    const Vec2 b = target_.ring[at + 1 < target_.ring.size() ? at + 1 : 0];
    const double turn = target_.is_clockwise ? -1 : 1;
    return {turn * (b.x - a.x), turn * (b.y - a.y)};
  }

  // Returns whether the path certainly meets side `place` of the hull (edge `place` of the polygon,
  // or from 8 on of the axis) between the side's ends; if so, sets kind and vertices of `touch`.
  // Sets `is_missed` if it certainly meets the side's line beyond the ends. Other corners must be
  // farther inward than the side by the margin; `bound` is the margin times |e|, the side's length.
  HWY_INLINE bool MeetsSide(uint32_t place, const PathBounds& bounds, FastTouch& touch,
                            bool& is_missed) const {
    const bool is_fixed = place < kMostFastVertices;
    const uint32_t at = place % kMostFastVertices;
    const Vec2 e = EdgeOf(is_fixed, at);
    const double length2 = e.x * e.x + e.y * e.y;
    const double bound = margin_ * std::sqrt(length2);
    const double t = bounds.enter_low + (bounds.enter_high - bounds.enter_low) / 2;
    if (!(slack_ < bound / 8) || !IsShort(bounds.enter_high - bounds.enter_low)) return false;
    // On the hull, which contains negated ends of the axis, an edge of the axis runs backward.
    const Vec2 inward = is_fixed ? Vec2{-e.y, e.x} : Vec2{e.y, -e.x};
    const auto next = static_cast<uint32_t>(at + 1 < target_.ring.size() ? at + 1 : 0);
    uint32_t ends = 0;
    uint32_t vertex = at;
    uint32_t end = 0;
    if (is_fixed) {
      // The end of the axis that meets the edge first.
      end = mover_.ring.size > 1 && Along(kMostFastVertices + at, inward) < Along(at, inward);
      ends = (uint32_t{1} << at | uint32_t{1} << next) << end * kMostFastVertices;
    } else {
      vertex = ForemostVertex(inward);
      ends = uint32_t{1} << vertex | uint32_t{1} << (vertex + kMostFastVertices);
    }
    const auto first = static_cast<size_t>(std::countr_zero(ends));
    const size_t other = static_cast<size_t>(std::bit_width(ends)) - 1;
    const double foot = t * (mover_.d.x * e.x + mover_.d.y * e.y);
    const double from = std::min(Along(first, e), Along(other, e));
    const double to = std::max(Along(first, e), Along(other, e));
    is_missed = foot < from - bound || foot > to + bound;
    if (!(foot > from + bound && foot < to - bound)) return false;
    if (CornersUpTo(Along(first, inward) + bound, inward) != ends) return false;
    touch.kind = is_fixed ? TouchKind::kFixedEdge : TouchKind::kMovingEdge;
    touch.fixed = static_cast<uint8_t>(vertex);
    touch.moving = static_cast<uint8_t>(is_fixed ? end : at);
    return true;
  }

  HWY_INLINE uint32_t ForemostVertex(Vec2 inward) const {
    uint32_t best = 0;
    for (uint32_t i = 1; i < target_.ring.size(); ++i) {
      if (Along(i, inward) < Along(best, inward)) best = i;
    }
    return best;
  }

  // Returns whether the fraction `span` of the path is shorter than `margin_` / 16.
  HWY_INLINE bool IsShort(double span) const {
    return span * (std::abs(mover_.d.x) + std::abs(mover_.d.y)) < margin_ / 16;
  }

  // Returns the index of the corner with the least value in `values`.
  HWY_INLINE size_t LeastOf(const CornerColumn& values) const {
    V least = All(HUGE_VAL);
    VisitCorners([&](size_t i) HWY_ATTR { least = Min(least, At(&values[i])); });
    least = hn::MinOfLanes(D(), least);
    uint32_t bits = 0;
    VisitCorners([&](size_t i) HWY_ATTR { bits |= BitsOf(hn::Le(At(&values[i]), least)) << i; });
    return static_cast<size_t>(std::countr_zero(bits));
  }

  // Returns whether the line perpendicular to the vector z, the corner nearest to the origin,
  // certainly separates the capsule from the polygon until the fraction `limit` of the path.
  HWY_INLINE bool StaysSeparated(double limit) const {
    alignas(64) CornerColumn squares;
    VisitCorners([&](size_t i) HWY_ATTR {
      const V x = At(&x_[i]);
      const V y = At(&y_[i]);
      hn::StoreU(hn::MulAdd(x, x, Mul(y, y)), D(), &squares[i]);
    });
    const size_t nearest = LeastOf(squares);
    const Vec2 z{x_[nearest], y_[nearest]};
    const double gap = -mover_.radius * std::sqrt(squares[nearest]) - 2 * slack_;
    const double closing = mover_.d.x * z.x + mover_.d.y * z.y;
    return CornersUpTo(std::max(closing, 0.0) * std::fmin(limit, 1) - gap, z) == 0;
  }

  // Decides a touch on a corner z. With A = d . d, B = d . z, C = z x d and the radius r, the path
  // enters the circle of radius r about z at t = (B - sqrt(A r^2 - C^2)) / A. A coordinate of z
  // errs by 4 u R (u = 2^-53, R = `target_.extent`), so B and C err by 8 u R (|d.x| + |d.y|); `c`
  // is twice that.
  HWY_INLINE void MeetCorner(bool misses_side, double limit, FastTouch& touch) const {
    const Vec2 d = mover_.d;
    const double a = d.x * d.x + d.y * d.y;
    if (!(a > 0)) return;
    const double ar2 = a * (mover_.radius * mover_.radius);
    const double c = 16 * kFilterUnit * target_.extent * (std::abs(d.x) + std::abs(d.y));
    alignas(64) CornerColumn lows;
    alignas(64) CornerColumn rests;
    alignas(64) CornerColumn errors;
    VisitCorners([&](size_t i) HWY_ATTR {
      const V x = At(&x_[i]);
      const V y = At(&y_[i]);
      const V cross = hn::MulSub(x, All(d.y), Mul(y, All(d.x)));
      const V square = Mul(cross, cross);
      const V rest = Sub(All(ar2), square);
      const V error = hn::MulAdd(All(16 * kFilterUnit), Add(square, All(ar2)),
                                 Mul(All(c), hn::MulAdd(All(2), Abs(cross), All(c))));
      const V along = hn::MulAdd(x, All(d.x), Mul(y, All(d.y)));
      const V most = Add(rest, error);
      const V root = hn::Sqrt(Max(most, All(0)));
      const V low = hn::Div(Sub(Sub(along, All(c)), Mul(root, All(kUp))), All(a));
      hn::StoreU(IfThenElse(hn::Lt(most, All(0)), All(HUGE_VAL), low), D(), &lows[i]);
      hn::StoreU(rest, D(), &rests[i]);
      hn::StoreU(error, D(), &errors[i]);
    });
    const size_t corner = LeastOf(lows);
    const double first = std::fmin(lows[corner], 2);  // 2 if no circle is met
    const double low = first - 8 * kFilterUnit * std::abs(first);
    if (misses_side && low > std::fmin(limit, 1)) {
      touch.verdict = TouchVerdict::kNone;
      return;
    }
    const double root = std::sqrt(std::max(rests[corner] - errors[corner], 0.0));
    const double high = (x_[corner] * d.x + y_[corner] * d.y + c - root * kDown) / a;
    touch.high = high + 8 * kFilterUnit * std::abs(high);
    if (!(rests[corner] > 4 * errors[corner]) || !IsShort(touch.high - low)) return;
    const double t = low + (touch.high - low) / 2;
    const Vec2 inward{x_[corner] - t * d.x, y_[corner] - t * d.y};
    const double bound = margin_ * mover_.radius;
    if (!(slack_ < bound / 8)) return;
    const double along = x_[corner] * inward.x + y_[corner] * inward.y;
    const uint32_t foremost = CornersUpTo(along + bound, inward);
    if (!std::has_single_bit(foremost) || foremost != CornersOf(uint32_t{1} << corner)) return;
    touch.low = low;
    touch.kind = TouchKind::kVertices;
    touch.fixed = static_cast<uint8_t>(std::countr_zero(foremost) % kMostFastVertices);
    touch.moving = static_cast<uint8_t>(std::countr_zero(foremost) / kMostFastVertices);
    SetIfWithin(touch);
  }

  // Returns whether the shapes certainly overlap at the start: a corner or a side of the hull is
  // nearer to the origin than the radius, or the polygon contains an end of the axis.
  HWY_INLINE bool OverlapsAtStart() const {
    const double radius2 = mover_.radius * mover_.radius - 2 * target_.error;
    bool overlaps = false;
    VisitCorners([&](size_t i) HWY_ATTR {
      const V square = hn::MulAdd(At(&x_[i]), At(&x_[i]), Mul(At(&y_[i]), At(&y_[i])));
      overlaps = overlaps || !hn::AllFalse(D(), hn::Lt(square, All(radius2)));
    });
    for (size_t j = 0; j < mover_.ring.size && !overlaps; ++j)
      overlaps = OverlapsEnd(target_, mover_, ring_, j);
    return overlaps || (mover_.edge_count > 0 && OverlapsAxis(target_, mover_, ring_));
  }

  const FastTarget& target_;
  const SweptMover& mover_;
  const LocalRing<kWidth> ring_;
  const double reach_;
  const double slack_;  // bounds the error of any sum of two products of coordinates
  double size_;
  double margin_;
  alignas(64) CornerColumn x_;
  alignas(64) CornerColumn y_;
};

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard of fast_corner.h, once per instruction set
