// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/fast_manifold.h"

#include <cmath>
#include <span>
#include <utility>

#include "contact/manifold.h"
#include "numeric/exact.h"

#ifndef CAROM_CORE_SRC_FAST_MANIFOLD_CC_  // compiled once, for all instruction sets
#define CAROM_CORE_SRC_FAST_MANIFOLD_CC_
namespace carom::internal {
namespace {

using Column = ContactBlock::Column;
using Points = ContactBlock::Points;

// Unevaluated sums of two doubles, one in each lane: the value of a lane is high + low.
struct Pairs {
  Column high, low;
};
struct PairPoints {
  Pairs x, y;
};

// Sums of two products, one in each lane: the value is high + low. The error of the value is given
// as a fraction of `scale`: the sum of the magnitudes of both products, or the magnitude of the
// value if it is exact.
struct Sums {
  Column high, low, scale;
};

// A lane holds one contact; its reference edge is the edge that gives the normal of the contact.
// Chooses, in the lanes of the set `lanes`, which of the two edges at s, the support vertex of the
// other polygon, faces the reference edge from p to q. Decides one lane at a time by
// `CompareAngles`, as the general path (`ConvexContact`) does.
void ChooseByGeneralPath(uint32_t lanes, ContactBlock& block) {
  for (size_t i = 0; i < ContactBlock::kSize; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const Segment to_next{block.s.at(i), block.next.at(i)};
    const Segment from_before{block.before.at(i), block.s.at(i)};
    int order = CompareAngles({block.p.at(i), block.q.at(i)}, to_next, from_before);
    const ContactBlock::Indices& indices = block.indices[i];
    if (order == 0) order = indices.EdgeToBefore() < indices.EdgeToNext() ? 1 : -1;
    block.towards_next[i] = -order;
  }
}

// A lane holds one contact; its reference edge is the edge that gives the normal of the contact.
// Sets, in the lanes of the set `lanes`, on which side of p and of q, the ends of the reference
// edge, s and w lie, the ends of the facing edge: the exact sign of the dot product of q - p with
// each of s - p, s - q, w - p and w - q. Decides one lane at a time.
void OrderExactly(uint32_t lanes, ContactBlock& block) {
  for (size_t i = 0; i < ContactBlock::kSize; ++i) {
    if ((lanes >> i & 1) == 0) continue;
    const Vec2 p = block.p.at(i);
    const Vec2 q = block.q.at(i);
    const Vec2 s = block.s.at(i);
    const Vec2 w = block.towards_next[i] > 0 ? block.next.at(i) : block.before.at(i);
    block.s_from_p[i] = DotSign(p, s, p, q);
    block.s_from_q[i] = DotSign(q, s, p, q);
    block.w_from_p[i] = DotSign(p, w, p, q);
    block.w_from_q[i] = DotSign(q, w, p, q);
  }
}

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/contact/fast_manifold.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/double_vectors.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

// Sets bit i + k of `bits` for each lane k that is set in `mask`.
HWY_INLINE void PutBits(Mask mask, uint32_t& bits, size_t i) { bits |= BitsOf(mask) << i; }

// --- Pairs of doubles -------------------------------------------------------------------------

HWY_INLINE void Put(Pair value, Pairs& pairs, size_t i) {
  Put(value.high, pairs.high, i);
  Put(value.low, pairs.low, i);
}

// Sets `difference` to a - b, exactly, in the lanes from i on that one vector holds.
inline void SetDifference(const Points& a, const Points& b, size_t i, PairPoints& difference) {
  Put(TwoDiff(At(a.x, i), At(b.x, i)), difference.x, i);
  Put(TwoDiff(At(a.y, i), At(b.y, i)), difference.y, i);
}

// Sets `sum` to the cross product of the vectors a and b (if kIsCross), or to their dot product.
//
// Error: the product of two low parts, which is left out, is u^2 = 2^-106 (with u = 2^-53) of the
// product of the high parts. Up to eight operations, each with a relative error of u, round terms
// of at most 4u of both products. So the sum errs by less than 2^-101 of `sum.scale`, here the sum
// of the magnitudes of both products. The sum is exact if no factor and no product has a low part;
// `sum.scale` is then the magnitude of the sum.
template <bool kIsCross>
inline void SetSum(const PairPoints& a, const PairPoints& b, size_t i, Sums& sum) {
  const Pairs& b_x = kIsCross ? b.y : b.x;  // factor of the x coordinate of a
  const Pairs& b_y = kIsCross ? b.x : b.y;
  const V sign = All(kIsCross ? -0.0 : 0.0);
  const V x = At(a.x.high, i);
  const V x_low = At(a.x.low, i);
  const V y = hn::Xor(At(a.y.high, i), sign);
  const V y_low = hn::Xor(At(a.y.low, i), sign);
  const Pair left = TwoProduct(x, At(b_x.high, i));
  const Pair right = TwoProduct(y, At(b_y.high, i));
  const Pair highs = TwoSum(left.high, right.high);
  const V lows = Add(hn::MulAdd(x, At(b_x.low, i), Mul(x_low, At(b_x.high, i))),
                     hn::MulAdd(y, At(b_y.low, i), Mul(y_low, At(b_y.high, i))));
  Put(highs.high, sum.high, i);
  Put(Add(highs.low, Add(Add(left.low, right.low), lows)), sum.low, i);
  const V factors = hn::Or(hn::Or(x_low, At(b_x.low, i)), hn::Or(y_low, At(b_y.low, i)));
  const V rest = hn::Or(factors, hn::Or(left.low, right.low));
  const V magnitude = Add(Abs(left.high), Abs(right.high));
  Put(IfThenElse(hn::Eq(rest, All(0)), Abs(highs.high), magnitude), sum.scale, i);
}
inline void SetCross(const PairPoints& a, const PairPoints& b, size_t i, Sums& cross) {
  SetSum<true>(a, b, i, cross);
}
inline void SetDot(const PairPoints& a, const PairPoints& b, size_t i, Sums& dot) {
  SetSum<false>(a, b, i, dot);
}
inline void Choose(Mask mask, const Points& yes, const Points& no, size_t i, Points& chosen) {
  Put(IfThenElse(mask, At(yes.x, i), At(no.x, i)), chosen.x, i);
  Put(IfThenElse(mask, At(yes.y, i), At(no.y, i)), chosen.y, i);
}

// Sets `quotient` to n / d: the high part is the rounded quotient, the low part the rounded
// quotient of the remainder. The relative error is at most 2^-103, in addition to the relative
// errors of n and d.
inline void SetQuotient(const Pairs& n, const Pairs& d, size_t i, Pairs& quotient) {
  const V divisor = At(d.high, i);
  const V high = hn::Div(At(n.high, i), divisor);
  const Pair product = TwoProduct(high, divisor);
  const V rest = Sub(Sub(At(n.high, i), product.high), product.low);
  const V low = Add(rest, Sub(At(n.low, i), Mul(high, At(d.low, i))));
  Put(Pair{high, hn::Div(low, divisor)}, quotient, i);
}

// Sets `root` to the square root of `square`, by one Newton step from the rounded root. The
// relative error is at most 2^-103, in addition to half of the relative error of `square`.
inline void SetRoot(const Sums& square, size_t i, Pairs& root) {
  const V high = hn::Sqrt(At(square.high, i));
  const Pair product = TwoProduct(high, high);
  const V rest = Sub(Sub(At(square.high, i), product.high), product.low);
  Put(Pair{high, hn::Div(Add(rest, At(square.low, i)), Add(high, high))}, root, i);
}

// Sets `product` to n times f, rounded to a double, or to NaN if the errors leave this rounding
// uncertain. n errs by at most 2^-101 of n.scale (the sum of the magnitudes of its terms, or its
// own magnitude), and f by 2^-97 of itself. The general path (`ConvexContact`), which must round to
// the same double, errs by 2^-98 of n.scale and by 2^-95 of the quotient that it computes. `slack`,
// 2^-88 of n.scale times |f|, covers all of these errors.
inline void SetProduct(const Sums& n, const Pairs& f, size_t i, Column& product) {
  const V n_high = At(n.high, i);
  const V f_high = At(f.high, i);
  const Pair highs = TwoProduct(n_high, f_high);
  const V low = Add(highs.low, hn::MulAdd(n_high, At(f.low, i), Mul(At(n.low, i), f_high)));
  const V slack = Mul(All(kHasFilters ? 0x1p-88 : 1), Mul(At(n.scale, i), Abs(f_high)));
  const V least = Add(highs.high, Sub(low, slack));
  const Mask is_certain = hn::Eq(least, Add(highs.high, Add(low, slack)));
  Put(IfThenElse(is_certain, Add(least, All(0)), All(NAN)), product, i);
}

// Sets `term` to the value high + low, and its scale, relative to which its error is bounded, to
// |high|.
inline void SetTerm(V high, V low, size_t i, Sums& term) {
  Put(high, term.high, i);
  Put(low, term.low, i);
  Put(Abs(high), term.scale, i);
}

// --- The contact ------------------------------------------------------------------------------

// Chooses which of the two edges at the support vertex s of the other shape (the vertex that is
// deepest past the reference edge) is more nearly parallel to the reference edge E (from p to q),
// the edge that gives the normal of the contact: the one with the smaller squared sine, compared by
// cross-multiplication. Returns the lanes where the choice is certain.
//
// Let f and g be the edges from s to `next` and from `before` to s, and u = 2^-53. Each cross
// product with E is within 4u |E| |f| of its exact value, so its square times g^2 is within 15u of
// E^2 f^2 g^2, and the difference of both such products within 32u. If the difference exceeds 128u
// of E^2 f^2 g^2, the sines differ by far more than `CompareAngles` counts as equal.
inline Mask ChooseEdges(ContactBlock& block, size_t i) {
  const V ex = Sub(At(block.q.x, i), At(block.p.x, i));
  const V ey = Sub(At(block.q.y, i), At(block.p.y, i));
  const V fx = Sub(At(block.next.x, i), At(block.s.x, i));
  const V fy = Sub(At(block.next.y, i), At(block.s.y, i));
  const V gx = Sub(At(block.s.x, i), At(block.before.x, i));
  const V gy = Sub(At(block.s.y, i), At(block.before.y, i));
  const V e2 = hn::MulAdd(ex, ex, Mul(ey, ey));
  const V f2 = hn::MulAdd(fx, fx, Mul(fy, fy));
  const V g2 = hn::MulAdd(gx, gx, Mul(gy, gy));
  const V f_cross = hn::MulSub(ex, fy, Mul(ey, fx));
  const V g_cross = hn::MulSub(ex, gy, Mul(ey, gx));
  const V towards = Sub(Mul(Mul(g_cross, g_cross), f2), Mul(Mul(f_cross, f_cross), g2));
  Put(towards, block.towards_next, i);
  const V error = Mul(All(128 * kFilterUnit), Mul(e2, Mul(f2, g2)));
  return hn::Gt(Abs(towards), error);
}

// Sets `position` to the dot product of the reference edge e (the edge that gives the normal of the
// contact) and the vector from `from` to v: the position of v along the edge, times the length of
// the edge. Returns the lanes where its sign is certain.
inline Mask SetPosition(const PairPoints& e, const Points& v, const Points& from, size_t i,
                        Column& position) {
  const V forth = Mul(At(e.x.high, i), Sub(At(v.x, i), At(from.x, i)));
  const V up = Mul(At(e.y.high, i), Sub(At(v.y, i), At(from.y, i)));
  const V sum = Add(forth, up);
  Put(sum, position, i);
  return hn::Ge(Abs(sum), Mul(All(kCrossError), Add(Abs(forth), Abs(up))));
}

// Intermediate results of contacts, one in each lane, once it is chosen which edge of the other
// shape faces the reference edge e (the edge that gives the contact's normal).
struct Measures {
  // the end of the facing edge that is not the support vertex s
  Points w;
  PairPoints e;
  Pairs length, inverse;  // length of the reference edge, and 1 / length
  // dot product of the reference edge and the facing edge; NaN where its terms nearly cancel
  Column along;
  // how deep s and w, the ends of the facing edge, lie past the reference edge
  Column s_depth, w_depth;
  // how deep the facing edge lies below the ends p and q of the reference edge, along the normal of
  // the reference edge
  Column depth_below_p, depth_below_q;
};

// Sets the reference edge from p to q, its length, the inverse of its length and its outward unit
// normal.
inline void SetReference(ContactBlock& block, size_t i, Measures& measures) {
  Sums square;
  SetDifference(block.q, block.p, i, measures.e);
  SetDot(measures.e, measures.e, i, square);
  SetRoot(square, i, measures.length);
  Pairs one;
  Put(Pair{All(1), All(0)}, one, i);
  SetQuotient(one, measures.length, i, measures.inverse);
  Sums term;
  SetTerm(At(measures.e.y.high, i), At(measures.e.y.low, i), i, term);
  SetProduct(term, measures.inverse, i, block.outward.x);
  SetTerm(hn::Neg(At(measures.e.x.high, i)), hn::Neg(At(measures.e.x.low, i)), i, term);
  SetProduct(term, measures.inverse, i, block.outward.y);
}

// Sets `depth` to how deep the point v lies past the reference edge, which begins at p: the cross
// product of the edge and v - p, divided by the length of the edge.
inline void SetDepth(const Points& v, const Points& p, size_t i, const Measures& measures,
                     Column& depth) {
  PairPoints to_v;
  Sums cross;
  SetDifference(v, p, i, to_v);
  SetCross(measures.e, to_v, i, cross);
  SetProduct(cross, measures.inverse, i, depth);
}

// The edge of the other shape that faces the reference edge: its tail, and the vector f from its
// tail to its head, which is the next vertex counter-clockwise around the other shape.
struct Facing {
  Points tail;
  PairPoints f;
  Pairs factor;  // -|E| / (E . f), where E is the reference edge
};

// Sets `depth` to how deep the facing edge f, the edge of the other shape that faces the reference
// edge E, lies below y, an end of E, along the normal of E: -|E| f x (y - tail) / (E . f), as
// derived at `EdgeManifold::AddClippedEnd` (manifold.cc).
inline void SetDepthBelow(const Points& y, const Facing& edge, size_t i, Column& depth) {
  PairPoints to_y;
  Sums cross;
  SetDifference(y, edge.tail, i, to_y);
  SetCross(edge.f, to_y, i, cross);
  SetProduct(cross, edge.factor, i, depth);
}

// Sets w (the end of the facing edge that is not s, the support vertex), the dot product of the
// reference edge E and the facing edge f, the depths of s and w past E, and the depths of f below
// the ends of E. E . f errs by 2^-101 of its scale (the sum of the magnitudes of its two products),
// and hence by 2^-97 of itself where it is at least a sixteenth of its scale.
inline void SetDepths(const ContactBlock& block, size_t i, Measures& measures) {
  const Mask is_next = hn::Gt(At(block.towards_next, i), All(0));
  Choose(is_next, block.next, block.before, i, measures.w);
  SetDepth(block.s, block.p, i, measures, measures.s_depth);
  SetDepth(measures.w, block.p, i, measures, measures.w_depth);
  Facing edge;
  Points head;
  Choose(is_next, block.s, measures.w, i, edge.tail);
  Choose(is_next, measures.w, block.s, i, head);
  SetDifference(head, edge.tail, i, edge.f);
  Sums along;
  SetDot(measures.e, edge.f, i, along);
  const V a = At(along.high, i);
  const Mask is_large = hn::Gt(Abs(a), Mul(All(0x1p-4), At(along.scale, i)));
  Put(IfThenElse(is_large, a, All(NAN)), measures.along, i);
  Pairs back;
  Put(Pair{hn::Neg(a), hn::Neg(At(along.low, i))}, back, i);
  SetQuotient(measures.length, back, i, edge.factor);
  SetDepthBelow(block.p, edge, i, measures.depth_below_p);
  SetDepthBelow(block.q, edge, i, measures.depth_below_q);
}

// Sets where s and w, the ends of the facing edge (of the other shape), lie along the reference
// edge (the edge that gives the normal of the contact), relative to the ends p and q of the
// reference edge. Returns the lanes where the signs of all four positions are certain.
inline Mask SetPositions(const Measures& measures, size_t i, ContactBlock& block) {
  const Mask s = And(SetPosition(measures.e, block.s, block.p, i, block.s_from_p),
                     SetPosition(measures.e, block.s, block.q, i, block.s_from_q));
  const Mask w = And(SetPosition(measures.e, measures.w, block.p, i, block.w_from_p),
                     SetPosition(measures.e, measures.w, block.q, i, block.w_from_q));
  return And(s, w);
}

// Sets the depth of a contact point, and moves the point along the outward normal of the reference
// edge, by half of the depth, to midway between both shapes: outward if the point is a vertex of
// the other shape (`is_vertex`), else inward from an end of the reference edge.
inline void SetEnd(Mask is_vertex, V depth, size_t i, const Points& outward,
                   ContactBlock::End& end) {
  const V shift = Mul(All(0.5), IfThenElse(is_vertex, depth, hn::Neg(depth)));
  const V x = Add(At(end.point.x, i), Mul(At(outward.x, i), shift));
  Put(Add(x, All(0)), end.point.x, i);
  const V y = Add(At(end.point.y, i), Mul(At(outward.y, i), shift));
  Put(Add(y, All(0)), end.point.y, i);
  Put(Add(Max(depth, All(0)), All(0)), end.depth, i);
}

// Sets the points and depths of the contacts as `EdgeManifold::AddPoints` (manifold.cc) does. Each
// lane holds one contact. If a contact gets no point or one of its numbers is uncertain, leaves its
// bit in `is_certain` clear, so that the caller computes the contact by the general path.
inline void SetContacts(const Measures& measures, size_t i, ContactBlock& block) {
  const V zero = All(0);
  const V s_depth = At(measures.s_depth, i);
  const Mask is_next = hn::Gt(At(block.towards_next, i), zero);
  const Mask s_is_low = hn::Not(hn::Xor(is_next, hn::Gt(At(measures.along, i), zero)));
  const auto low_of = [&](const Column& s, const Column& w)
                          HWY_ATTR { return IfThenElse(s_is_low, At(s, i), At(w, i)); };
  const auto high_of = [&](const Column& s, const Column& w)
                           HWY_ATTR { return IfThenElse(s_is_low, At(w, i), At(s, i)); };
  const Mask is_past_q = hn::Ge(low_of(block.s_from_q, block.w_from_q), zero);
  const Mask is_before_p = hn::Le(high_of(block.s_from_p, block.w_from_p), zero);
  const Mask low_is_vertex = hn::Ge(low_of(block.s_from_p, block.w_from_p), zero);
  const Mask high_is_vertex = hn::Le(high_of(block.s_from_q, block.w_from_q), zero);
  const V low = IfThenElse(low_is_vertex, low_of(measures.s_depth, measures.w_depth),
                           At(measures.depth_below_p, i));
  const V high = IfThenElse(high_is_vertex, high_of(measures.s_depth, measures.w_depth),
                            At(measures.depth_below_q, i));
  Points at;
  Choose(s_is_low, block.s, measures.w, i, at);
  Choose(low_is_vertex, at, block.p, i, block.low.point);
  SetEnd(low_is_vertex, low, i, block.outward, block.low);
  Choose(s_is_low, measures.w, block.s, i, at);
  Choose(high_is_vertex, at, block.q, i, block.high.point);
  SetEnd(high_is_vertex, high, i, block.outward, block.high);
  Put(Add(Max(s_depth, zero), zero), block.depth, i);

  const Mask has_low = hn::Or(is_past_q, hn::AndNot(is_before_p, hn::Ge(low, zero)));
  const Mask has_high = hn::Or(is_before_p, hn::AndNot(is_past_q, hn::Ge(high, zero)));
  // An uncertain number is NaN, which does not equal itself, so these comparisons fail in a lane
  // with an uncertain number.
  const V all =
      Add(Add(At(block.outward.x, i), At(block.outward.y, i)), Add(s_depth, At(measures.along, i)));
  const Mask ends =
      And(hn::Or(hn::Eq(low, low), is_before_p), hn::Or(hn::Eq(high, high), is_past_q));
  const Mask is_certain = And(And(hn::Eq(all, all), ends), hn::Or(has_low, has_high));
  PutBits(has_low, block.has_low, i);
  PutBits(has_high, block.has_high, i);
  PutBits(low_is_vertex, block.low_is_vertex, i);
  PutBits(high_is_vertex, block.high_is_vertex, i);
  PutBits(s_is_low, block.s_is_low, i);
  PutBits(is_certain, block.is_certain, i);
}

void MeasureLanes(ContactBlock& block, uint32_t lanes) {
  constexpr size_t kSize = ContactBlock::kSize;
  const size_t step = hn::Lanes(D());
  Measures measures;
  uint32_t chosen = 0;
  for (size_t i = 0; i < kSize; i += step) PutBits(ChooseEdges(block, i), chosen, i);
  if ((lanes & ~chosen) != 0) ChooseByGeneralPath(lanes & ~chosen, block);
  uint32_t placed = 0;
  for (size_t i = 0; i < kSize; i += step) {
    SetReference(block, i, measures);
    SetDepths(block, i, measures);
    PutBits(SetPositions(measures, i, block), placed, i);
  }
  if ((lanes & ~placed) != 0) OrderExactly(lanes & ~placed, block);
  block.has_low = block.has_high = block.low_is_vertex = block.high_is_vertex = 0;
  block.s_is_low = block.is_certain = 0;
  for (size_t i = 0; i < kSize; i += step) SetContacts(measures, i, block);
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(MeasureLanes);

// The fixed polygon, with those members of `FastMover` that the template `SetLane` uses.
struct FixedRing {
  Vec2 vertex(size_t i) const { return ring[i]; }

  const Vec2* ring;
  uint32_t size;
  bool is_clockwise;
};

// Sets the input of a lane (one contact) of `block`: the ends p and q of the reference edge (the
// edge that gives the normal of the contact), and the support vertex s (the vertex deepest past
// this edge) of the other polygon with the vertices next to it, in counter-clockwise order,
// whichever way the polygons wind.
template <class Reference, class Other>
inline void SetLane(const FastAxis& axis, const Reference& reference, const Other& other,
                    size_t lane, ContactBlock& block) {
  const uint32_t s = axis.support;
  const uint32_t k = axis.edge;
  uint32_t p = k;
  uint32_t q = k + 1 == reference.size ? 0 : k + 1;
  uint32_t next = s + 1 == other.size ? 0 : s + 1;
  uint32_t before = (s == 0 ? other.size : s) - 1;
  if (reference.is_clockwise) std::swap(p, q);
  if (other.is_clockwise) std::swap(next, before);
  const auto byte = [](uint32_t i) { return static_cast<uint8_t>(i); };
  block.indices[lane] = {axis.edge,
                         byte(p),
                         byte(q),
                         axis.support,
                         byte(next),
                         byte(before),
                         axis.fixed_is_reference,
                         other.is_clockwise};
  block.p.Set(lane, reference.vertex(p));
  block.q.Set(lane, reference.vertex(q));
  block.s.Set(lane, other.vertex(s));
  block.next.Set(lane, other.vertex(next));
  block.before.Set(lane, other.vertex(before));
}

}  // namespace

void SetLane(const FastPair& pair, const FastMover& mover, size_t lane, ContactBlock& block) {
  const std::span<const Vec2> ring = pair.polygon().vertices();
  const FixedRing fixed{ring.data(), static_cast<uint32_t>(ring.size()), pair.is_clockwise()};
  if (pair.axis.fixed_is_reference) {
    SetLane(pair.axis, fixed, mover, lane, block);
  } else {
    SetLane(pair.axis, mover, fixed, lane, block);
  }
}

void Measure(size_t count, ContactBlock& block) {
  HWY_DYNAMIC_DISPATCH(MeasureLanes)(block, (uint32_t{1} << count) - 1);
}

void WriteLane(const ContactBlock& block, size_t lane, Contact& contact) {
  const ContactBlock::Indices& indices = block.indices[lane];
  const auto has = [lane](uint32_t mask) { return (mask >> lane & 1) != 0; };
  const bool is_next = block.towards_next[lane] > 0;
  const uint32_t edge = 2 * (is_next ? indices.EdgeToNext() : indices.EdgeToBefore()) + 1;
  const uint32_t w = is_next ? indices.next : indices.before;
  const auto add = [&](const ContactBlock::End& end, bool is_vertex, uint32_t cut_at, bool is_s) {
    const uint32_t reference = is_vertex ? 2 * uint32_t{indices.edge} + 1 : 2 * cut_at;
    const uint32_t other = is_vertex ? 2 * (is_s ? indices.s : w) : edge;
    ContactPoint& point = contact.points[contact.point_count++];
    point.point = end.point.at(lane);
    point.depth = end.depth[lane];
    point.polygon_feature = indices.fixed_is_reference ? reference : other;
    point.mover_feature = indices.fixed_is_reference ? other : reference;
  };
  // The contact points are ordered along the direction that is the contact normal turned
  // counter-clockwise by a right angle.
  const bool s_is_low = has(block.s_is_low);
  const auto add_low = [&] {
    if (has(block.has_low)) add(block.low, has(block.low_is_vertex), indices.p, s_is_low);
  };
  contact.depth = block.depth[lane];
  contact.normal = block.outward.at(lane);
  if (indices.fixed_is_reference) add_low();
  if (has(block.has_high)) add(block.high, has(block.high_is_vertex), indices.q, !s_is_low);
  if (indices.fixed_is_reference) return;
  add_low();
  contact.normal = {-contact.normal.x + 0.0, -contact.normal.y + 0.0};
}

}  // namespace carom::internal
#endif  // HWY_ONCE
