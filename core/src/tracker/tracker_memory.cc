// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/tracker_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "index/box_tree.h"
#include "index/scene_index.h"
#include "index/scene_traversal.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// A mask that is left within fewer moves did not pay. After `kMaxMisses` masks in a row that did
// not, the tracker backs off for `kBackoffMoves` moves; then two more masks that do not pay make it
// back off four times as long, up to `kMaxBackoffMoves`. One that pays starts all over.
constexpr uint32_t kFewMoves = 3;
constexpr uint16_t kMaxMisses = 6;
constexpr uint16_t kMaxBackoffMoves = 1024;
// A mask that lasted so long pays, whatever a cold move takes.
constexpr uint32_t kManyMoves = 1024;

// Work that the meter does not count, in its units. Fitted once to times that were measured, since
// the core has no clock; they steer what is remembered and change no answer.
constexpr uint64_t kFixedWork = 64;    // of making a mask
constexpr uint64_t kNeighborWork = 8;  // of a neighbor in making it
constexpr uint64_t kPassedWork = 3;    // of a neighbor at each query
constexpr uint64_t kColdWork = 16;     // of a cold move, whose own units take half as long
constexpr uint64_t kCastWork = 6;      // of a cold move that its sweep has answered

// The distance, rounded up.
double PathLength(Vec2 from, Vec2 to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  return std::sqrt(dx * dx + dy * dy) * kUp;
}

// A lower bound of the distance of `p` from the nearest edge of the scene. The search is pruned by
// upper bounds of squared distances, `limit2`; the answer is the least lower bound.
double NearestEdge(const Scene& scene, uint64_t mask, Vec2 p, WorkMeter& meter) {
  const Box from{p, p};
  double limit2 = HUGE_VAL;
  double least2 = HUGE_VAL;
  const auto may_be_nearer = [&](const Box& box) { return LowerDistance2(box, from) <= limit2; };
  scene.index().TraverseNearest(meter, from, limit2, [&](const IndexedPolygon& indexed) {
    const Polygon& polygon = indexed.polygon();
    if ((polygon.category() & mask) == 0 || !may_be_nearer(polygon.bounds())) return true;
    PointDistances distances(polygon, p);
    return indexed.VisitRuns(meter, may_be_nearer, [&](size_t first, size_t last) {
      if (!meter.Spend(last - first)) return false;
      distances.Measure(first, last);
      limit2 = std::min(limit2, distances.upper());
      least2 = std::min(least2, distances.lower());
      return true;
    });
  });
  return least2 > 0 ? std::sqrt(least2) * kDown : 0;
}

void Fetch(const void* begin, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(static_cast<const char*>(begin) + i);
}

uint32_t Capped(uint64_t work) {
  return static_cast<uint32_t>(std::min<uint64_t>(work, std::numeric_limits<uint32_t>::max()));
}

// Gives back memory that a much larger mask took.
template <class T>
void Trim(std::vector<T>& values) {
  if (values.capacity() > 4 * values.size()) values.shrink_to_fit();
}

}  // namespace

bool TrackerMemory::IsWorthwhile(uint32_t moves) {
  if (backoff_ == 0) return cold_work_ > 0 || limit_ < 0 || moves >= kManyMoves;
  --backoff_;
  return false;
}

// An average that forgets: a quarter of it is the last move.
void TrackerMemory::NoteColdMove(std::optional<uint64_t> looked_up) {
  const uint64_t work = looked_up ? kColdWork + *looked_up / 2 : kCastWork;
  cold_work_ = Capped(cold_work_ == 0 ? work : (3 * uint64_t{cold_work_} + work) / 4);
}

// The second condition limits the odometer: bounds are readings of it in floats, and at 2^16 times
// the known radius an ulp of them is 2^-7 of that radius, beyond which they would be of little use.
bool TrackerMemory::Reaches(const PosedShape& posed) const {
  return PathLength(center_, posed.position()) < limit_ && odometer_ < 0x1p16 * known_radius_;
}

void TrackerMemory::Clear() {
  influence_.verdicts.clear();
  influence_.neighbors.clear();
  influence_.words.clear();
  limit_ = -1;
  touch_radius_ = clear_radius_ = 0;
}

void TrackerMemory::FetchSelf() const { Fetch(this, sizeof *this); }

void TrackerMemory::FetchVerdicts() const {
  constexpr size_t kMost = 16;
  const std::vector<Verdict>& verdicts = influence_.verdicts;
  Fetch(verdicts.data(), std::min(verdicts.size(), kMost) * sizeof(Verdict));
}

uint64_t TrackerMemory::FetchNeighbors(Vec2 p) const {
  static_assert(kMaxNeighbors <= 64);
  const double reading = odometer_ + PathLength(anchor_, p);
  uint64_t due = 0;
  for (size_t i = 0; i < influence_.verdicts.size(); ++i) {
    if (influence_.verdicts[i].touch_until > reading) continue;
    due |= uint64_t{1} << i;
    Fetch(&influence_.neighbors[i], sizeof(Neighbor));
  }
  return due;
}

void TrackerMemory::FetchPolygons(uint64_t neighbors) const {
  for (; neighbors != 0; neighbors &= neighbors - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(neighbors));
    if (i >= influence_.neighbors.size()) return;
    Fetch(influence_.neighbors[i].polygon.polygon().memory(), 256);
  }
}

// Sets the slack of the next mask, and judges the last one. One that was dropped, by an edit say,
// has no limit any more and says nothing about the slack.
void TrackerMemory::Tune(const Scene& scene, const PosedShape& posed, uint32_t moves) {
  if (refresh_work_ > 0) {
    const bool pays =
        moves >= kManyMoves ||
        (moves >= kFewMoves && refresh_work_ + query_work_ <= uint64_t{moves} * cold_work_);
    misses_ = pays ? 0 : misses_ + 1;
    if (pays) next_backoff_ = kBackoffMoves;
  }
  if (slack_ == 0) {
    slack_ = std::max(posed.bounding_radius() / 2, scene.index().spacing() / 4);
  } else if (limit_ >= 0) {
    if (moves < kFewMoves || refresh_work_ > query_work_) {
      slack_ *= 2;
    } else if (moves > 4 * kFewMoves && uint64_t{4} * refresh_work_ < query_work_) {
      slack_ /= 2;
    }
  }
  // A slack larger than the scene is of no use, and the bound keeps the known radius a finite
  // float.
  const double least = posed.bounding_radius() * 0x1p-10;
  slack_ = std::clamp(slack_, least, posed.bounding_radius() + 4 * scene.index().magnitude());
}

bool TrackerMemory::Refresh(const Scene& scene, const PosedShape& posed, uint32_t moves,
                            WorkMeter& meter) {
  Tune(scene, posed, moves);
  if (misses_ >= kMaxMisses) {
    misses_ = kMaxMisses - 2;  // so that two more decide
    backoff_ = next_backoff_;
    next_backoff_ = std::min<uint16_t>(4 * next_backoff_, kMaxBackoffMoves);
    return GiveUp();
  }
  center_ = anchor_ = posed.position();
  odometer_ = 0;
  query_work_ = 0;
  const uint64_t before = meter.used();
  for (int attempt = 0; attempt < 3; ++attempt, slack_ /= 4) {
    // The bounding radius grows with the magnitude of the position, as placing errs more there: by
    // far less than this over the slack.
    known_radius_ = (posed.bounding_radius() + slack_) * (1 + 0x1p-40);
    Clear();
    // A mask that is too large is tried again with a quarter of the slack, twice.
    if (Gather(scene, posed.shape().options.mask, meter)) break;
    if (meter.stopped() || attempt == 2) {
      backoff_ = kBackoffMoves;
      return GiveUp();
    }
  }
  Trim(influence_.verdicts);
  Trim(influence_.neighbors);
  Trim(influence_.words);
  SetLimit(slack_, posed);
  meter.Spend(kNeighborWork * influence_.neighbors.size());
  refresh_work_ = Capped(kFixedWork + meter.used() - before);
  return !meter.stopped() || GiveUp();
}

// Drops the mask and gives its memory back, and leaves nothing for `Tune` to judge. Returns false.
bool TrackerMemory::GiveUp() {
  Clear();
  Trim(influence_.verdicts);
  Trim(influence_.neighbors);
  Trim(influence_.words);
  refresh_work_ = 0;
  query_work_ = 0;
  return false;
}

// Below the limit no placed vertex leaves the range of coordinates, and each position is accepted,
// so that a quiet move needs no check of either. (Half of the range leaves room for the rounding.)
void TrackerMemory::SetLimit(double limit, const PosedShape& posed) {
  const double magnitude = std::max(std::abs(center_.x), std::abs(center_.y));
  limit_ = std::min(limit, kMaxCoordinate / 2 - magnitude - posed.bounding_radius());
}

// No edge of the scene is nearer to the centre than the nearest one, so what is known reaches up to
// it, without more edges in the mask: the mask of a ball that has none.
void TrackerMemory::Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter) {
  const double nearest = NearestEdge(scene, posed.shape().options.mask, center_, meter);
  if (meter.stopped() || nearest <= known_radius_) return;
  known_radius_ = nearest;
  SetLimit((nearest - posed.bounding_radius()) * (1 - 0x1p-40), posed);
}

bool TrackerMemory::Gather(const Scene& scene, uint64_t category_mask, WorkMeter& meter) {
  const double r = known_radius_ * kUp;
  const Box ball{{center_.x - r, center_.y - r}, {center_.x + r, center_.y + r}};
  bool fits = true;
  VisitPolygons(scene, category_mask, meter, MeetsBox{ball}, [&](const IndexedPolygon& indexed) {
    fits = GatherFrom(indexed, meter);
    return fits && !meter.stopped();
  });
  if (!fits || meter.stopped()) return false;
  std::sort(influence_.neighbors.begin(), influence_.neighbors.end(),
            [](const Neighbor& a, const Neighbor& b) {
              return a.polygon.polygon().id() < b.polygon.polygon().id();
            });
  influence_.verdicts.reserve(influence_.neighbors.size());
  for (const Neighbor& neighbor : influence_.neighbors) influence_.verdicts.emplace_back(neighbor);
  return true;
}

// Adds what the mask has of one polygon. Returns false if it gets too large. Nothing is measured
// here: the first bound of a run of edges is the distance of its box, and queries measure what
// comes near.
//
// A run may begin within a byte or a word and go on in the next. (1 << n) - 1 has the n lowest bits
// set, for the edges i to end - 1 of one byte; shifted by i mod 64 they are those of the word.
bool TrackerMemory::GatherFrom(const IndexedPolygon& indexed, WorkMeter& meter) {
  const Polygon& polygon = indexed.polygon();
  if (LowerDistance2(polygon.bounds(), {center_, center_}) > known_radius_ * known_radius_ * kUp) {
    return true;
  }
  Neighbor neighbor(indexed);
  std::vector<MaskWord>& words = influence_.words;
  neighbor.first_word = static_cast<uint32_t>(words.size());
  const double limit2 = known_radius_ * known_radius_ * kUp;
  if (neighbor.is_small()) {
    influence_.neighbors.push_back(std::move(neighbor));
    return influence_.neighbors.size() <= kMaxNeighbors;
  }
  double box2 = 0;  // of the box that was asked about last, which is that of the run visited next
  double nearest2 = HUGE_VAL;
  const auto is_near = [&](const Box& box) {
    box2 = LowerDistance2(box, {center_, center_});
    return box2 <= limit2;
  };
  indexed.VisitRuns(meter, is_near, [&](size_t first, size_t last) {
    if (meter.stopped()) return false;
    if (box2 < nearest2) {
      nearest2 = box2;
      neighbor.nearest = static_cast<uint32_t>(first / kLanes);
    }
    const float distance = RoundedDown(std::sqrt(box2) * kDown);
    for (size_t i = first; i < last;) {
      const auto index = static_cast<uint32_t>(i / 64);
      if (words.size() == neighbor.first_word || words.back().index != index) {
        words.push_back({0, index, {}});
        words.back().bound.fill(std::numeric_limits<float>::infinity());
      }
      const size_t end = std::min(last, (i / kLanes + 1) * kLanes);  // of the byte
      words.back().bits |= ((uint64_t{1} << (end - i)) - 1) << (i % 64);
      float& bound = words.back().bound[i % 64 / kLanes];
      bound = std::min(bound, distance);
      i = end;
    }
    neighbor.is_dense = words.size() - neighbor.first_word > kMaxWordsOfOne;
    return !neighbor.is_dense;
  });
  if (neighbor.is_dense) words.resize(neighbor.first_word);
  neighbor.word_count = static_cast<uint32_t>(words.size()) - neighbor.first_word;
  if (neighbor.word_count == 0 && !neighbor.is_dense) {
    if (!polygon.bounds().Contains(center_)) return true;
    neighbor.is_inside = LocateInPolygon(indexed, center_, meter).location != Location::kOutside;
    if (!neighbor.is_inside) return true;
    // All edges are out of reach, and the shape is inside: so it stays while the mask lasts.
    neighbor.touches = true;
    neighbor.touch_until = neighbor.clear_until = neighbor.side_until = HUGE_VAL;
  }
  influence_.neighbors.push_back(std::move(neighbor));
  return influence_.neighbors.size() <= kMaxNeighbors;
}

void TrackerMemory::QueryNeighbors(PosedShape& posed, OverlapDetail detail, Radii radii,
                                   NeighborScratch& scratch, WorkMeter& meter) {
  const Vec2 p = posed.position();
  odometer_ = (odometer_ + PathLength(anchor_, p)) * kUp;
  anchor_ = p;
  scratch.touched.edges.clear();
  scratch.edge_counts.clear();
  const double out_of_mask = (known_radius_ + PathLength(center_, p)) * kUp;
  NeighborQuery query(influence_, posed, odometer_, out_of_mask, scratch);
  std::vector<Verdict>& verdicts = influence_.verdicts;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    Neighbor& neighbor = influence_.neighbors[i];
    if (detail == OverlapDetail::kEdges) {
      query.UpdateEdges(neighbor);
    } else if (odometer_ < verdicts[i].touch_until) {
      continue;
    } else {
      query.UpdateTouch(neighbor);
    }
    verdicts[i].Update(neighbor);
  }
  meter.Spend(verdicts.size());
  // The radii end where the first neighbor's verdict does. If that bound comes from a box, the
  // edges are measured, which may put it later, until the first one is a bound by edges. Each turn
  // makes one neighbor final, so there are at most as many turns as neighbors.
  double touch_until = HUGE_VAL;
  double clear_until = HUGE_VAL;
  while (!verdicts.empty() && !meter.stopped()) {
    size_t first = 0;
    touch_until = clear_until = HUGE_VAL;
    for (size_t i = 0; i < verdicts.size(); ++i) {
      const Verdict& verdict = verdicts[i];
      const bool is_first = radii == Radii::kBoth ? verdict.clear_until < clear_until
                                                  : verdict.touch_until < touch_until;
      if (is_first) first = i;
      touch_until = std::min(touch_until, verdict.touch_until);
      clear_until = std::min(clear_until, verdict.clear_until);
    }
    Neighbor& neighbor = influence_.neighbors[first];
    const double until = radii == Radii::kBoth ? clear_until : touch_until;
    if (until == HUGE_VAL || !neighbor.is_by_box) break;
    query.UpdateBound(neighbor);
    verdicts[first].Update(neighbor);
  }
  if (meter.stopped()) {
    Clear();
    return;
  }
  const double left = (limit_ - PathLength(center_, p)) * kDown;
  is_limited_ = (clear_until - odometer_) * kDown > left;
  touch_radius_ = std::clamp((touch_until - odometer_) * kDown, 0.0, std::max(left, 0.0));
  clear_radius_ = std::clamp((clear_until - odometer_) * kDown, 0.0, std::max(left, 0.0));
  query_work_ += query.mask_work() + kPassedWork * influence_.neighbors.size();
}

}  // namespace carom::internal
