// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/influence.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "index/box_tree.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// `RootDown` returns a lower bound of a root from a lower bound of its square, `RootUp` an upper
// bound from an upper bound.
double RootDown(double square) { return square > 0 ? std::sqrt(square) * kDown : 0; }
double RootUp(double square) { return std::sqrt(square) * kUp; }

}  // namespace

// bound[k] is a reading of the odometer (the length of all moves of the shape) before which the
// shape reaches none of the eight edges of byte k. Rounds `reading` up to a float, so that no byte
// with a bound of at most `reading` is missed. Caps a reading beyond all floats at the largest
// float, since a byte without bits has the bound +inf and must not be returned.
LaneBits MaskWord::BytesUpTo(double reading) const {
  constexpr double kMost = std::numeric_limits<float>::max();
  const float most = reading < kMost ? RoundedUp(reading) : std::numeric_limits<float>::max();
  return Bits(LoadLanes(&bound[0]) <= most, LoadLanes(&bound[4]) <= most);
}

std::span<MaskWord> NeighborQuery::WordsOf(const Neighbor& neighbor) const {
  return words_.subspan(neighbor.first_word, neighbor.word_count);
}

NeighborQuery::Run NeighborQuery::ByteOf(const Neighbor& neighbor, size_t byte) {
  const size_t first = byte * kLanes;
  return {first, std::min(first + kLanes, neighbor.polygon.polygon().edge_count())};
}

// Measures the distances of a run of edges (up to eight) from the reference point of the shape.
// Does not repeat this for the run that was measured last: the byte (eight edges) that is nearest
// is often also the byte where a query finds contact.
void NeighborQuery::Measure(PointDistances& distances, Run run) {
  if (measured_.first == run.first && measured_.last == run.last) return;
  measured_ = run;
  meter_.Spend(run.last - run.first);
  distances.Measure(run.first, run.last);
}

// Returns the edges of the run (up to eight consecutive edges) that may be within the bounding
// radius of the shape's reference point. Every point of the shape is within this radius. Clears the
// bits beyond the end of a run of fewer than eight edges, since they stand for no edges of the run.
LaneBits NeighborQuery::InReach(const PointDistances& distances, Run run) const {
  const LaneBits present = (LaneBits{1} << (run.last - run.first)) - 1;
  return distances.Within(posed_.bounding_radius() * posed_.bounding_radius() * kUp) & present;
}

// Returns a lower bound of the distance from the reference point of the shape to the nearest of the
// neighbor's edges that are in the influence mask (the edges near the shape, kept from move to
// move), and sets `neighbor.nearest` to the byte (eight edges) of this edge. Measures the edges of
// a byte only while the stored bound of the byte allows one of them to be nearer than all edges
// measured before. The byte that was nearest last time comes first: it most often is nearest again,
// and then few other bytes are read.
double NeighborQuery::NearestEdge(Neighbor& neighbor, PointDistances& distances) {
  double nearest = HUGE_VAL;
  const auto measure = [&](Run run) {
    Measure(distances, run);
    const double distance = RootDown(distances.lower());
    if (distance < nearest) {
      nearest = distance;
      neighbor.nearest = static_cast<uint32_t>(run.first / kLanes);
    }
    return distance;
  };
  if (neighbor.is_small()) {
    const size_t edges = neighbor.polygon.polygon().edge_count();
    for (size_t byte = 0; byte * kLanes < edges; ++byte) measure(ByteOf(neighbor, byte));
    return nearest;
  }
  const size_t guess = neighbor.nearest;
  if (neighbor.is_dense) {
    measure(ByteOf(neighbor, guess));
    double limit2 = distances.upper();
    neighbor.polygon.VisitRuns(
        meter_,
        [&](const Box& box) {
          return LowerDistance2(box, {p_, p_}) <= limit2;
        },
        [&](size_t first, size_t last) {
          measure({first, last});
          limit2 = std::min(limit2, distances.upper());
          return !meter_.stopped();
        });
    return nearest;
  }
  meter_.Spend(neighbor.word_count);
  mask_work_ += neighbor.word_count;
  // Measures byte k (eight edges) of a word of the mask, and stores the distance of its nearest
  // edge as a bound. Clears the bits of edges that cannot come into reach while the mask lasts.
  const auto renew = [&](MaskWord& word, size_t k) {
    mask_work_ += kLanes;
    const double distance = measure(ByteOf(neighbor, word.index * kLanes + k));
    const auto out = static_cast<uint64_t>(~distances.Within(out_of_mask2_) & 0xff);
    word.bits &= ~(out << (8 * k));
    const bool is_left = (word.bits >> (8 * k) & 0xff) != 0;
    word.bound[k] = is_left ? RoundedDown((odometer_ + distance) * kDown)
                            : std::numeric_limits<float>::infinity();
  };
  const std::span<MaskWord> words = WordsOf(neighbor);
  for (MaskWord& word : words) {
    if (word.index == guess / kLanes) renew(word, guess % kLanes);
  }
  for (MaskWord& word : words) {
    for (LaneBits bytes = word.BytesUpTo((odometer_ + nearest) * kUp); bytes != 0;
         bytes &= bytes - 1) {
      const auto k = static_cast<size_t>(std::countr_zero(bytes));
      // `nearest` may have shrunk since `bytes` was computed.
      const bool may_be_nearer = word.bound[k] <= (odometer_ + nearest) * kUp;
      if (may_be_nearer && word.index * kLanes + k != guess) renew(word, k);
    }
  }
  return nearest;
}

template <class Visit>
void NeighborQuery::VisitInReach(const Neighbor& neighbor, const Visit& visit) {
  if (neighbor.is_small()) {
    const size_t edges = neighbor.polygon.polygon().edge_count();
    for (size_t byte = 0; byte * kLanes < edges; ++byte) {
      if (!visit(ByteOf(neighbor, byte))) return;
    }
    return;
  }
  if (neighbor.is_dense) {
    const double r = posed_.bounding_radius() * kUp;
    const MeetsBox in_reach{{{p_.x - r, p_.y - r}, {p_.x + r, p_.y + r}}};
    neighbor.polygon.VisitRuns(meter_, in_reach, [&](size_t first, size_t last) {
      return visit(Run{first, last});
    });
    return;
  }
  for (const MaskWord& word : WordsOf(neighbor)) {
    for (LaneBits bytes = word.BytesUpTo((odometer_ + posed_.bounding_radius()) * kUp); bytes != 0;
         bytes &= bytes - 1) {
      const auto k = static_cast<size_t>(std::countr_zero(bytes));
      if (!visit(ByteOf(neighbor, word.index * kLanes + k))) return;
    }
  }
}

// Applies law (2) of docs/coherence.md: While the reference point of the shape is farther than the
// bounding radius (within which all points of the shape lie) from every edge of the polygon, no
// edge of the shape meets an edge of the polygon, and all of the shape lies in one face of the
// plane as divided by the polygon's edges: in the face of the reference point. So the shape touches
// the polygon exactly if the reference point is inside. `distance` is a lower bound of the distance
// from the reference point to the nearest edge. If `distance` exceeds the bounding radius, stores
// the verdict, and the reading of the odometer (the length of all moves since the mask was made)
// until which the verdict holds, and returns true.
bool NeighborQuery::IsClear(Neighbor& neighbor, Verdict& verdict, double distance) {
  if (distance <= posed_.bounding_radius()) return false;
  verdict.touches = IsInside(neighbor);
  verdict.clear_until = ReadingDown((odometer_ + (distance - posed_.bounding_radius())) * kDown);
  verdict.touch_until = verdict.clear_until;
  verdict.is_by_box = false;
  neighbor.side_until = ReadingDown((odometer_ + distance) * kDown);
  return true;
}

// Applies `IsClear`, which stores a verdict if all edges are farther than the bounding radius from
// the reference point, to the distance of the polygon's bounding box from this point: no edge is
// nearer than the box, and a point outside the box is outside the polygon. Cheap, and enough for
// most neighbors (polygons near the shape).
bool NeighborQuery::IsBoxClear(Neighbor& neighbor, Verdict& verdict) {
  ++mask_work_;
  const FloatBox& box = neighbor.box;
  const double distance =
      RootDown(LowerDistance2({{box.min_x, box.min_y}, {box.max_x, box.max_y}}, {p_, p_}));
  if (distance <= posed_.bounding_radius()) return false;
  neighbor.is_inside = false;
  neighbor.side_until = HUGE_VALF;
  verdict.is_by_box = IsClear(neighbor, verdict, distance);
  return true;
}

void NeighborQuery::UpdateBound(Neighbor& neighbor, Verdict& verdict) {
  PointDistances distances(neighbor.polygon.polygon(), p_);
  measured_ = {};
  IsClear(neighbor, verdict, NearestEdge(neighbor, distances));
  verdict.is_by_box = false;
}

// Returns whether the reference point is inside the polygon. Applies law (3) of docs/coherence.md:
// The straight path between two points meets no edge if one of the points is farther from every
// edge than the points are from each other. Then both points are inside, or both outside. So the
// answer is computed again only once the odometer (the length of all moves) has passed the known
// distance from the edges.
bool NeighborQuery::IsInside(Neighbor& neighbor) {
  if (odometer_ < neighbor.side_until) return neighbor.is_inside;
  neighbor.is_inside = LocateInPolygon(neighbor.polygon, p_, meter_).location != Location::kOutside;
  neighbor.side_until = 0;
  return neighbor.is_inside;
}

// Applies law (4) of docs/coherence.md: The shape contains a disc about its reference point at any
// rotation, so the shape touches a polygon while a point of the polygon is within the radius of the
// disc. `distance` is an upper bound of the signed distance of the reference point from the
// polygon. The signed distance is below 0 inside the polygon, and changes at most by the length of
// a move: a reference point that leaves the polygon has first moved as far as the nearest edge was.
// If the disc touches the polygon, stores the verdict, and the reading of the odometer (the length
// of all moves since the mask was made) until which the verdict holds, and returns true.
bool NeighborQuery::IsInscribedTouched(Verdict& verdict, double distance) const {
  const double depth = posed_.inscribed_radius() - distance;
  if (!(depth > 0)) return false;
  verdict.touches = true;
  verdict.touch_until = ReadingDown((odometer_ + depth) * kDown);
  return true;
}

// Decides whether the shape touches the neighbor (a polygon near it), and until which reading of
// the odometer (the length of all moves) this verdict holds. All points of the shape are within the
// bounding radius of its reference point; the inscribed disc is a disc about this point that the
// shape contains.
void NeighborQuery::UpdateTouch(Neighbor& neighbor, Verdict& verdict) {
  verdict.touch_until = verdict.clear_until = ReadingDown(odometer_);
  verdict.is_by_box = false;
  PointDistances distances(neighbor.polygon.polygon(), p_);
  measured_ = {};
  if (verdict.touches ? IsStillTouched(neighbor, verdict, distances)
                      : IsBoxClear(neighbor, verdict)) {
    return;
  }
  const double distance = NearestEdge(neighbor, distances);
  if (IsClear(neighbor, verdict, distance)) return;
  // At this point an edge of the polygon may be within the bounding radius of the reference point,
  // so that the shape may reach it. The inscribed disc of the shape is tested first, since its
  // verdict holds at any rotation and so lasts longer than a verdict by a pair of edges.
  neighbor.inscribed_from = HUGE_VALF;
  if (posed_.inscribed_radius() > 0) {
    neighbor.inscribed_from = ReadingDown(odometer_ + (distance - posed_.inscribed_radius()));
    Measure(distances, ByteOf(neighbor, neighbor.nearest));
    if (IsInscribedTouched(verdict, RootUp(distances.upper()))) return;
    if (IsInside(neighbor) && IsInscribedTouched(verdict, -distance)) return;
  }
  verdict.touches = IsTouched(neighbor, distances);
}

// Returns true if one of three tests proves that the shape still touches a neighbor that it
// touched: the inscribed disc (a disc about the reference point that the shape contains) reaches
// the nearest edges, the pair of edges that met last (the witness) still meets, or the shape meets
// another edge of the polygon with an index close to that of the polygon's edge in this pair. False
// leaves undecided whether the shape touches the neighbor.
bool NeighborQuery::IsStillTouched(Neighbor& neighbor, Verdict& verdict,
                                   PointDistances& distances) {
  scratch_.near.clear();
  const bool is_disc_near = odometer_ >= neighbor.inscribed_from;
  if (is_disc_near) {
    Measure(distances, ByteOf(neighbor, neighbor.nearest));
    if (IsInscribedTouched(verdict, RootUp(distances.upper()))) return true;
  }
  if (!neighbor.has_witness || posed_.has_within()) return false;
  const Polygon& polygon = neighbor.polygon.polygon();
  if (posed_.IsWitness(polygon.edge(neighbor.witness.fixed), neighbor.witness)) return true;
  // If the inscribed disc may touch, returns false, so that `UpdateTouch` makes the full query: a
  // verdict by the disc lasts for more moves. Does so for a small neighbor (a polygon with few
  // edges), too, since its full query costs hardly more than the test below.
  if (neighbor.is_small() || is_disc_near) return false;
  const size_t byte = neighbor.witness.fixed / kLanes;
  for (const size_t near : {byte, byte + 1, byte - 1}) {
    // For byte 0 (the first eight edges), `byte - 1` wraps around, and this comparison is false.
    const bool exists = near * kLanes < polygon.edge_count();
    if (exists && IsTouchedBy(neighbor, distances, ByteOf(neighbor, near))) return true;
  }
  return false;
}

// Tests exactly whether the shape meets an edge of the run (up to eight consecutive edges of the
// polygon). Skips edges beyond the bounding radius of the shape's reference point and edges with
// all of the shape on one side of their line, and appends the edges that it tests to
// `scratch_.near`. If one of them meets an edge of the shape, stores this pair as the witness and
// returns true.
bool NeighborQuery::IsTouchedBy(Neighbor& neighbor, PointDistances& distances, Run run) {
  const Polygon& polygon = neighbor.polygon.polygon();
  std::vector<NearEdge>& near = scratch_.near;
  const size_t before = near.size();
  Measure(distances, run);
  for (LaneBits edges = InReach(distances, run); edges != 0; edges &= edges - 1) {
    const size_t i = run.first + static_cast<size_t>(std::countr_zero(edges));
    const Segment edge = polygon.edge(i);
    if (!posed_.IsOnOneSide(edge)) near.push_back({static_cast<uint32_t>(i), edge});
  }
  if (near.size() == before) return false;
  const auto witness = posed_.FindWitness(std::span(near).subspan(before));
  neighbor.has_witness = witness.has_value();
  if (witness) neighbor.witness = *witness;
  return neighbor.has_witness;
}

// Decides exactly whether the shape touches the polygon of `neighbor`, by law (5) of
// docs/coherence.md: an edge of this polygon, within the bounding radius of the shape from the
// shape's reference point, meets an edge of the shape; or, if no edge does, the shape contains a
// ring of the polygon or the polygon contains a ring of the shape.
bool NeighborQuery::IsTouched(Neighbor& neighbor, PointDistances& distances) {
  neighbor.has_witness = false;
  if (posed_.has_within()) return posed_.IsWithin(neighbor.polygon);
  scratch_.near.clear();
  VisitInReach(neighbor, [&](Run run) {
    return !IsTouchedBy(neighbor, distances, run) && !meter_.stopped();
  });
  return neighbor.has_witness || posed_.ContainsRing(neighbor.polygon.polygon(), scratch_.near) ||
         IsContained(neighbor);
}

// Returns whether the polygon contains the shape, or at least one of the rings of the shape, given
// that no edge of the polygon meets the shape. A shape of one ring is connected, so all of it is
// inside or all of it is outside. If the reference point belongs to the shape, the location of this
// point decides, which `IsInside` often knows from an earlier move. Otherwise each ring of the
// shape is located by itself.
bool NeighborQuery::IsContained(Neighbor& neighbor) {
  return posed_.IsOneRing() && posed_.inscribed_radius() > 0
             ? IsInside(neighbor)
             : posed_.IsContainedIn(neighbor.polygon);
}

// Tests every edge within the bounding radius of the shape's reference point, since all edges that
// meet the shape are part of the answer. So one pair of edges that meets does not end the search,
// and the query is skipped only while all edges are farther than the bounding radius (law (2) of
// docs/coherence.md).
void NeighborQuery::UpdateEdges(Neighbor& neighbor, Verdict& verdict) {
  scratch_.edge_counts.push_back(0);
  if (odometer_ < verdict.clear_until) return;
  verdict.touch_until = verdict.clear_until = ReadingDown(odometer_);
  verdict.is_by_box = false;
  if (IsBoxClear(neighbor, verdict)) return;
  const Polygon& polygon = neighbor.polygon.polygon();
  PointDistances distances(polygon, p_);
  measured_ = {};
  if (IsClear(neighbor, verdict, NearestEdge(neighbor, distances))) return;
  neighbor.has_witness = false;
  const size_t before = scratch_.touched.edges.size();
  VisitInReach(neighbor, [&](Run run) {
    Measure(distances, run);
    for (LaneBits edges = InReach(distances, run); edges != 0; edges &= edges - 1) {
      const size_t i = run.first + static_cast<size_t>(std::countr_zero(edges));
      const Segment edge = polygon.edge(i);
      const bool meets = (posed_.has_within() || !posed_.IsOnOneSide(edge)) && posed_.Meets(edge);
      if (meter_.stopped()) return false;
      if (!meets) continue;
      scratch_.touched.edges.push_back(polygon.edge_ref(i));
      if (!meter_.SpendRows(1)) return false;
    }
    return true;
  });
  scratch_.edge_counts.back() = static_cast<uint32_t>(scratch_.touched.edges.size() - before);
  verdict.touches =
      scratch_.touched.edges.size() > before ||
      (posed_.has_within() ? posed_.IsWithin(neighbor.polygon) : IsContained(neighbor));
}

}  // namespace carom::internal
