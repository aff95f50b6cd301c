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

// Root of a lower, respectively upper, bound of a square.
double RootDown(double square) { return square > 0 ? std::sqrt(square) * kDown : 0; }
double RootUp(double square) { return std::sqrt(square) * kUp; }

}  // namespace

// The reading is rounded up to a float, so that no byte is missed. One beyond all floats is capped,
// since a byte without bits has the bound +inf and must not be among them.
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

// Measuring the same run twice is common: the nearest byte is where contact is found too.
void NeighborQuery::Measure(PointDistances& distances, Run run) {
  if (measured_.first == run.first && measured_.last == run.last) return;
  measured_ = run;
  meter_.Spend(run.last - run.first);
  distances.Measure(run.first, run.last);
}

// A run may be shorter than eight, and what its other lanes hold is not of it.
LaneBits NeighborQuery::InReach(const PointDistances& distances, Run run) const {
  const LaneBits present = (LaneBits{1} << (run.last - run.first)) - 1;
  return distances.Within(posed_.bounding_radius() * posed_.bounding_radius() * kUp) & present;
}

// A lower bound of the distance of the nearest edge in the mask; the byte that it is in becomes
// `neighbor.nearest`. Runs are measured only while their bounds allow them to be nearer than all
// before. The one that was nearest last time comes first: it most often is again, and then few
// others are read.
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
  // Measures a byte of the mask and writes its bound anew, by law (1). The bits of edges that can
  // no longer come into reach are cleared; a byte without bits is never read again.
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
      // The nearest distance may have shrunk since the bytes were chosen.
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

// (2) While the reference point is farther than the bounding radius from every edge of the polygon,
// no edge of the shape meets one, and all of the shape lies in one face of the plane that the edges
// cut up: the face of the reference point. So it is touched exactly if that point is inside.
// `distance` is a lower bound of the distance from the nearest edge. If it shows this, writes until
// when by law (1) and returns true.
bool NeighborQuery::IsClear(Neighbor& neighbor, Verdict& verdict, double distance) {
  if (distance <= posed_.bounding_radius()) return false;
  verdict.touches = IsInside(neighbor);
  verdict.clear_until = ReadingDown((odometer_ + (distance - posed_.bounding_radius())) * kDown);
  verdict.touch_until = verdict.clear_until;
  verdict.is_by_box = false;
  neighbor.side_until = ReadingDown((odometer_ + distance) * kDown);
  return true;
}

// The same by the polygon's box: no edge is nearer than the box, and whatever is outside of the box
// is outside of the polygon. Cheap, and enough for most neighbors.
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

// (3) The straight path between two points meets no edge if one of them is farther from every edge
// than they are from each other: then both are inside, or both outside. So the side is computed
// again only once the odometer has passed the distance that was known from the edges.
bool NeighborQuery::IsInside(Neighbor& neighbor) {
  if (odometer_ < neighbor.side_until) return neighbor.is_inside;
  neighbor.is_inside = LocateInPolygon(neighbor.polygon, p_, meter_).location != Location::kOutside;
  neighbor.side_until = 0;
  return neighbor.is_inside;
}

// (4) The inscribed disc about the reference point belongs to the shape, at any rotation, so a
// polygon is touched while a point of it is within the inscribed radius. `distance` is an upper
// bound of the signed distance from the polygon, which is below 0 inside and 1-Lipschitz as well: a
// reference point that leaves the polygon has first gone as far as the nearest edge was.
bool NeighborQuery::IsInscribedTouched(Verdict& verdict, double distance) const {
  const double depth = posed_.inscribed_radius() - distance;
  if (!(depth > 0)) return false;
  verdict.touches = true;
  verdict.touch_until = ReadingDown((odometer_ + depth) * kDown);
  return true;
}

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
  // An edge is in reach. The disc decides first: what it says lasts, a pair of edges does not.
  neighbor.inscribed_from = HUGE_VALF;
  if (posed_.inscribed_radius() > 0) {
    neighbor.inscribed_from = ReadingDown(odometer_ + (distance - posed_.inscribed_radius()));
    Measure(distances, ByteOf(neighbor, neighbor.nearest));
    if (IsInscribedTouched(verdict, RootUp(distances.upper()))) return;
    if (IsInside(neighbor) && IsInscribedTouched(verdict, -distance)) return;
  }
  verdict.touches = IsTouched(neighbor, distances);
}

// Whether the neighbor, which was touched, still is for the reason of last time or one close by:
// the disc in the nearest byte, the pair of edges that met, or edges beside the one of that pair.
// False decides nothing.
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
  // If the disc may touch, the full query pays: what it finds lasts for more moves. For a small
  // neighbor the full query is hardly more than this one.
  if (neighbor.is_small() || is_disc_near) return false;
  const size_t byte = neighbor.witness.fixed / kLanes;
  for (const size_t near : {byte, byte + 1, byte - 1}) {
    // Also false for byte 0 less 1, which wraps around.
    const bool is_there = near * kLanes < polygon.edge_count();
    if (is_there && IsTouchedBy(neighbor, distances, ByteOf(neighbor, near))) return true;
  }
  return false;
}

// Runs the exact kernel on the edges of a run that are in reach, but for those whose line has all
// of the shape on one side, and appends these edges to `near`. Returns whether one of them meets an
// edge of the shape; that pair is the witness then.
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

// (5) Whether an edge in reach meets one of the shape or, if none does, whether the shape contains
// a ring of the polygon or the polygon a ring of the shape.
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

// Whether the polygon contains the shape, given that no edge of the polygon meets the shape. A
// shape of one ring is connected, so all of it is on one side: if the reference point belongs to
// it, on that point's side, which is often known. Otherwise each ring of the shape decides for
// itself.
bool NeighborQuery::IsContained(Neighbor& neighbor) {
  return posed_.IsOneRing() && posed_.inscribed_radius() > 0
             ? IsInside(neighbor)
             : posed_.IsContainedIn(neighbor.polygon);
}

// Every edge in reach is tested, since all that meet the shape are part of the answer: no witness
// ends the search, and nothing but law (2) saves a query.
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
