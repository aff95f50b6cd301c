// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "shape/convex_core.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "carom/predicates.h"
#include "carom/ring.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

bool LexicallyLess(Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); }

// Returns the indices of the vertices of the strict convex hull (without vertices on its edges),
// counter-clockwise from the lexicographically least vertex, by Andrew's monotone chain. Of
// vertices that coincide, it takes the one with the least index.
absl::InlinedVector<uint32_t, 8> Hull(std::span<const Vec2> p) {
  absl::InlinedVector<uint32_t, 8> order(p.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) {
    return p[i] == p[j] ? i < j : LexicallyLess(p[i], p[j]);
  });
  order.erase(
      std::unique(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return p[i] == p[j]; }),
      order.end());
  if (order.size() <= 2) return order;
  absl::InlinedVector<uint32_t, 8> hull;
  const auto add = [&](uint32_t i, size_t base) {
    while (hull.size() >= base + 2 &&
           Orientation(p[hull[hull.size() - 2]], p[hull.back()], p[i]) <= 0) {
      hull.pop_back();
    }
    hull.push_back(i);
  };
  for (const uint32_t i : order) add(i, 0);
  const size_t base = hull.size() - 1;
  for (size_t k = order.size() - 1; k-- > 0;) add(order[k], base);
  hull.pop_back();
  return hull;
}

// Returns the least index of an edge of positive length on the way along the ring from vertex
// `from` to vertex `to`.
uint32_t LeastEdge(std::span<const Vec2> ring, uint32_t from, uint32_t to) {
  uint32_t least = from;
  bool found = false;
  const auto n = static_cast<uint32_t>(ring.size());
  for (uint32_t i = from; i != to; i = i + 1 == n ? 0 : i + 1) {
    if (ring[i] == ring[i + 1 == n ? 0 : i + 1]) continue;
    if (!found || i < least) least = i;
    found = true;
  }
  return least;
}

// Returns the least index of an edge that points in the direction of a -> b, for a ring that lies
// on the line through a and b.
uint32_t LeastEdgeAlong(std::span<const Vec2> ring, Vec2 a, Vec2 b) {
  const auto n = static_cast<uint32_t>(ring.size());
  for (uint32_t i = 0; i < n; ++i) {
    if (DotSign(ring[i], ring[i + 1 == n ? 0 : i + 1], a, b) > 0) return i;
  }
  return 0;
}

// Returns a - b, rounded. The sign of each component is exact, because a difference of unequal
// accepted coordinates does not underflow.
Vec2 Minus(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }

// Returns true if the vector `edge` points to the right, or straight up. The expression has no
// branches, because they would be hard to predict.
bool PointsRight(Vec2 edge) {
  return (static_cast<int>(edge.x > 0) | (static_cast<int>(edge.x == 0) & (edge.y > 0))) != 0;
}

// Returns kStrict or kStrictClockwise if a floating-point filter is certain that all turns of the
// ring have one sign, and the ring goes round once. Otherwise returns kNone: the filter is
// undecided or the ring is not strictly convex.
Convexity FilteredConvexity(std::span<const Vec2> ring) {
  if (ring.size() < 3) return Convexity::kNone;
  Vec2 before = Minus(ring.back(), ring[ring.size() - 2]);
  Vec2 at = ring.back();
  bool was_right = PointsRight(before);
  bool all_left = true;
  bool all_right = true;
  size_t changes = 0;
  for (const Vec2 next : ring) {
    const Vec2 after = Minus(next, at);
    const RoundedCross turn(before.x * after.y, before.y * after.x);
    all_left &= turn.value > turn.error();
    all_right &= turn.value < -turn.error();
    const bool is_right = PointsRight(after);
    changes += was_right != is_right ? 1 : 0;
    was_right = is_right;
    before = after;
    at = next;
  }
  if (changes != 2) return Convexity::kNone;
  if (all_left) return Convexity::kStrict;
  return all_right ? Convexity::kStrictClockwise : Convexity::kNone;
}

}  // namespace

// Tries a filter first. The exact path rests on this law: if all turns of a closed curve have one
// sign, they add up to 2 pi k. The directions of its edges then change k times from right
// (`PointsRight`) to left, and k times back, so a ring that goes round once (k = 1) has two
// changes. A spike, where an edge runs back along the edge before it, turns by pi, but its
// `Orientation` is 0, like that of a straight vertex. A ring with k = 1 and a spike needs no
// special case: its other turns add up to pi, so every edge points into one closed half circle, and
// the edges sum to zero only if all lie on one line, where no turn has a sign.
Convexity ConvexityOf(std::span<const Vec2> ring) {
  if (const Convexity found = FilteredConvexity(ring); found != Convexity::kNone) return found;
  if (ring.empty()) return Convexity::kNone;
  const size_t n = ring.size();
  const auto edge = [ring, n](size_t i) { return Segment{ring[i], ring[i + 1 == n ? 0 : i + 1]}; };
  size_t last = n;
  while (last > 0 && edge(last - 1).a == edge(last - 1).b) --last;
  if (last == 0) return Convexity::kWeak;
  Segment before = edge(last - 1);
  int turning = 0;
  size_t turns = 0;
  int changes = 0;
  for (size_t i = 0; i < last; ++i) {
    const Segment after = edge(i);
    if (after.a == after.b) continue;
    const int turn = Orientation(before.a, before.b, after.b);
    if (turn * turning < 0) return Convexity::kNone;
    if (turn != 0) turning = turn;
    turns += turn != 0 ? 1 : 0;
    changes +=
        PointsRight(Minus(before.b, before.a)) != PointsRight(Minus(after.b, after.a)) ? 1 : 0;
    before = after;
  }
  if (turning != 0 && changes != 2) return Convexity::kNone;
  if (turns < n || n < 3) return Convexity::kWeak;
  return turning > 0 ? Convexity::kStrict : Convexity::kStrictClockwise;
}

Convexity ConvexityOf(const Polygon& polygon) {
  if (polygon.solidity() != Solidity::kSolid || polygon.ring_count() != 1) return Convexity::kNone;
  return ConvexityOf(polygon.ring(0));
}

ConvexCore::ConvexCore(std::span<const Vec2> ring, Convexity convexity) : ring_(ring) {
  if (convexity == Convexity::kStrict) return;
  if (convexity != Convexity::kStrictClockwise) {
    BuildHull(ring);
    return;
  }
  // The ring winds clockwise, so the hull is the ring reversed: hull edge k starts at ring vertex n
  // - 1 - k and runs backwards along ring edge n - 2 - k.
  const auto n = static_cast<uint32_t>(ring.size());
  hull_.assign(ring.rbegin(), ring.rend());
  vertex_index_.reserve(n);
  edge_index_.reserve(n);
  for (uint32_t k = 0; k < n; ++k) {
    vertex_index_.push_back(n - 1 - k);
    edge_index_.push_back((2 * n - 2 - k) % n);
  }
}

ConvexCore::ConvexCore(const Segment& segment, double radius)
    : ConvexCore(segment, radius, 0, 1, 0) {
  if (size() == 2) edge_index_[1] = 1;
}

ConvexCore::ConvexCore(const Segment& segment, double radius, uint32_t tail, uint32_t head,
                       uint32_t edge)
    : radius_(radius), hull_{segment.a}, vertex_index_{tail} {
  if (segment.a == segment.b) return;
  hull_.push_back(segment.b);
  vertex_index_.push_back(head);
  edge_index_ = {edge, edge};
}

uint32_t ConvexCore::edge_order(size_t k) const {
  return size() == 2 ? std::min(edge_index_[0], edge_index_[1]) : edge_index(k);
}

void ConvexCore::BuildHull(std::span<const Vec2> ring) {
  vertex_index_ = Hull(ring);
  vertex_index_.shrink_to_fit();
  hull_.reserve(vertex_index_.size());
  for (const uint32_t i : vertex_index_) hull_.push_back(ring[i]);
  SetEdgeIndices(ring);
}

// Sets, for each edge of the hull of `ring`, the index of the edge of the ring that stands for it:
// the least index among the edges of the ring that lie along the hull edge.
void ConvexCore::SetEdgeIndices(std::span<const Vec2> ring) {
  const size_t n = size();
  if (n == 1) return;
  if (n == 2) {
    edge_index_ = {LeastEdgeAlong(ring, hull_[0], hull_[1]),
                   LeastEdgeAlong(ring, hull_[1], hull_[0])};
    return;
  }
  // The hull winds counter-clockwise. If the ring winds clockwise, only one hull vertex has a
  // lesser index in the ring than the next hull vertex.
  size_t rises = 0;
  for (size_t k = 0; k < n; ++k) {
    rises += vertex_index_[k] < vertex_index_[Next(k)] ? 1 : 0;
  }
  const bool clockwise = rises == 1;
  edge_index_.reserve(n);
  for (size_t k = 0; k < n; ++k) {
    uint32_t from = vertex_index_[k];
    uint32_t to = vertex_index_[Next(k)];
    if (clockwise) std::swap(from, to);
    edge_index_.push_back(LeastEdge(ring, from, to));
  }
}

}  // namespace carom::internal
