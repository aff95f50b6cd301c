// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "blocking/blocking_mover.h"

#include <span>

#include "carom/predicates.h"
#include "numeric/exact.h"
#include "shape/convex_core.h"

namespace carom::internal {
namespace {

// Returns whether the edge from b to c leads back along the edge from a to b, so that the two
// successive edges overlap.
bool FoldsBack(Vec2 a, Vec2 b, Vec2 c) {
  return Orientation(a, b, c) == 0 && DotSign(b, a, b, c) > 0;
}

}  // namespace

// `CrossSign` and `DotSign` of four points decide by a filter in doubles first; if the filter is
// uncertain, they multiply the differences of the coordinates exactly.
int CrossSign(const Direction& a, const Direction& b) {
  return CrossSign(a.from, a.to, b.from, b.to);
}
int DotSign(const Direction& a, const Direction& b) { return DotSign(a.from, a.to, b.from, b.to); }

// A direction in the sector is counter-clockwise of the first ray and clockwise of the last; in a
// sector of more than half a turn, one of the two suffices.
bool Sector::Contains(const Direction& u) const {
  const bool after_first = CrossSign(first, u) > 0;
  if (turn == 0) return after_first;
  const bool before_last = CrossSign(u, last) > 0;
  return turn > 0 ? after_first && before_last : after_first || before_last;
}

// Finds the orientation of the ring as the turn at its lexicographically least vertex: in a simple
// ring that vertex is a strict corner of the convex hull.
std::optional<ItemFault> BlockingMover::Take(const PlacedShape& shape, WorkMeter& meter) {
  shape_ = &shape;
  if (shape.radius() > 0) return std::nullopt;
  if (shape.polygon() == nullptr) return ItemFault::kNoInterior;
  const Polygon& polygon = shape.polygon()->polygon();
  if (polygon.solidity() == Solidity::kBoundary) return ItemFault::kNoInterior;
  const std::span<const Vec2> ring = polygon.ring(0);
  if (polygon.is_one_closed_ring()) {
    const Convexity convexity = ConvexityOf(ring);
    turn_ = convexity == Convexity::kStrictClockwise ? -1 : 1;
    if (convexity == Convexity::kStrict || turn_ < 0) return std::nullopt;
  }
  size_t least = 0;
  bool is_flat = true;
  for (size_t i = 0; i < ring.size(); ++i) {
    const bool is_less =
        ring[i].x != ring[least].x ? ring[i].x < ring[least].x : ring[i].y < ring[least].y;
    if (is_less) least = i;
    is_flat = is_flat && Orientation(ring[0], ring[i], ring[(i + 1) % ring.size()]) == 0;
  }
  if (!polygon.is_one_closed_ring()) return ItemFault::kNotSimple;
  if (is_flat) return ItemFault::kNoInterior;
  turn_ = Orientation(Before(least), ring[least], After(least));
  if (turn_ == 0 || !IsSimple(meter)) return ItemFault::kNotSimple;
  return std::nullopt;
}

bool BlockingMover::IsPointEdge(size_t edge) const {
  const Segment e = shape_->edge(edge);
  return e.a == e.b;
}

// Consecutive vertices may be equal: `After` and `Before` skip edges of length 0, which have no
// direction.
Vec2 BlockingMover::After(size_t vertex) const {
  const size_t n = vertex_count();
  size_t i = vertex;
  for (size_t k = 0; k < n && this->vertex(i) == this->vertex(vertex); ++k) i = (i + 1) % n;
  return this->vertex(i);
}

Vec2 BlockingMover::Before(size_t vertex) const {
  const size_t n = vertex_count();
  size_t i = vertex;
  for (size_t k = 0; k < n && this->vertex(i) == this->vertex(vertex); ++k) i = (i + n - 1) % n;
  return this->vertex(i);
}

// Two edges of a simple ring share a point only if the second begins at the end of the first, and
// then the second must not fold back onto the first.
bool BlockingMover::IsSimple(WorkMeter& meter) const {
  std::vector<Segment> edges;
  for (size_t i = 0; i < vertex_count(); ++i) {
    if (!IsPointEdge(i)) edges.push_back(shape_->edge(i));
  }
  for (size_t i = 0; i < edges.size(); ++i) {
    const size_t next = (i + 1) % edges.size();
    if (FoldsBack(edges[i].a, edges[i].b, edges[next].b)) return false;
    const Box box = BoundsOf(edges[i]);
    const size_t last = i == 0 ? edges.size() - 1 : edges.size();
    if (!meter.Spend(1 + (last - i) / 8)) return false;
    for (size_t j = i + 2; j < last; ++j) {
      if (box.Intersects(BoundsOf(edges[j])) && Intersects(edges[i], edges[j])) return false;
    }
  }
  return true;
}

// The interior is to the left of a counter-clockwise ring, so the inner sector at a vertex extends
// counter-clockwise from the ray to the next vertex up to the ray to the previous vertex. In a
// clockwise ring both rays change places.
Sector BlockingMover::SectorAt(size_t vertex) const {
  const Vec2 p = this->vertex(vertex);
  const Vec2 next = After(vertex);
  const Vec2 previous = Before(vertex);
  const int turn = Orientation(previous, p, next) * turn_;
  if (turn_ > 0) return {{p, next}, {p, previous}, turn};
  return {{p, previous}, {p, next}, turn};
}

}  // namespace carom::internal
