// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/tracker_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <new>

#include "index/box_tree.h"
#include "index/scene_index.h"
#include "index/scene_traversal.h"
#include "numeric/box_distance.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// An influence mask (the edges near the shape, kept from move to move) counts as one that did not
// pay (took more work than it saved) if the shape leaves it within `kFewMoves` moves. After
// `kMaxMisses` masks in a row that did not pay, the tracker backs off: it makes no mask for
// `kBackoffMoves` moves. Two more masks that do not pay then make it back off four times as long,
// up to `kMaxBackoffs` times. A mask that pays sets the counts of misses and of backoffs to 0.
constexpr uint32_t kFewMoves = 3;
constexpr uint8_t kMaxMisses = 6;
constexpr uint16_t kBackoffMoves = 64;
constexpr uint8_t kMaxBackoffs = 2;
// A mask that lasted so many moves pays, however little work a cold move (a move without memory)
// takes.
constexpr uint32_t kManyMoves = 1024;

// Work of trackers that the work meter does not count, in units of the meter. The numbers were
// fitted once to measured times, since the core has no clock. They steer when trackers make masks
// and change no answer.
constexpr uint64_t kFixedWork = 64;    // constant part of the work of making a mask
constexpr uint64_t kNeighborWork = 8;  // work for a near polygon when a mask is made
constexpr uint64_t kPassedWork = 3;    // work for a near polygon of the mask at each query
// Work of a cold move (a move without memory), in addition to half of the units of its query.
constexpr uint64_t kColdWork = 16;
// Work of a cold move that needs no query, because its sweep found that it touches nothing.
constexpr uint64_t kCastWork = 6;

// Returns the distance between the points, rounded up.
double PathLength(Vec2 from, Vec2 to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  return std::sqrt(dx * dx + dy * dy) * kUp;
}

// Returns a lower bound of the distance from `p` to the nearest edge of the scene, among polygons
// with a category in `mask`. The search skips boxes beyond `limit2`, the smallest of the upper
// bounds of squared distances of the edges measured so far; the result is the root of the smallest
// of the lower bounds of these squared distances.
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

}  // namespace

std::unique_ptr<TrackerMemory> TrackerMemory::Create() { return Create({}, 0); }

std::unique_ptr<TrackerMemory> TrackerMemory::Create(const State& state, size_t mask_bytes) {
  static_assert(alignof(TrackerMemory) >= alignof(MaskWord));
  static_assert(alignof(Neighbor) <= alignof(uint64_t) && alignof(uint64_t) == alignof(MaskWord) &&
                sizeof(Neighbor) % alignof(MaskWord) == 0);
  static_assert(kMaxNeighbors * (2 * sizeof(float) + sizeof(uint64_t) + sizeof(Neighbor) +
                                 kMaxWordsOfOne * sizeof(MaskWord)) <=
                std::numeric_limits<uint16_t>::max());
  State kept = state;
  kept.neighbor_count = 0;
  kept.word_count = 0;
  kept.mask_bytes = static_cast<uint16_t>(mask_bytes);
  void* const place = ::operator new(sizeof(TrackerMemory) + mask_bytes);
  return std::unique_ptr<TrackerMemory>(new (place) TrackerMemory(kept));
}

size_t TrackerMemory::BytesOf(size_t neighbors, size_t words) {
  return 2 * ColumnSize(neighbors) * sizeof(float) +
         neighbors * (sizeof(uint64_t) + sizeof(Neighbor)) + words * sizeof(MaskWord);
}

std::unique_ptr<TrackerMemory> TrackerMemory::Copy() const {
  auto copy = Create(state_, BytesOf(state_.neighbor_count, state_.word_count));
  copy->state_.neighbor_count = state_.neighbor_count;
  copy->state_.word_count = state_.word_count;
  std::copy_n(At<char>(0), neighbors_at(), copy->At<char>(0));
  std::uninitialized_copy_n(NeighborsBegin(), state_.neighbor_count, copy->NeighborsBegin());
  std::uninitialized_copy_n(WordsBegin(), state_.word_count, copy->WordsBegin());
  return copy;
}

// The memory of a tracker is one allocation: this object and, behind it, room for an influence
// mask. Replaces the memory by a larger allocation if a mask of `mask_bytes` bytes does not fit
// behind the object, and by a smaller one if the mask would leave more than half of the room
// unused. The replacement has no mask.
void TrackerMemory::Fit(std::unique_ptr<TrackerMemory>& memory, size_t mask_bytes) {
  const size_t room = memory->state_.mask_bytes;
  if (mask_bytes > room || 2 * mask_bytes < room) memory = Create(memory->state_, mask_bytes);
}

// Stores the gathered influence mask (the edges near the shape) in this memory, which must have
// room for it and must hold no mask. Moves the neighbors (the polygons near the shape) out of
// `gathered`.
void TrackerMemory::Put(Influence& gathered) {
  const size_t count = gathered.neighbors.size();
  state_.neighbor_count = static_cast<uint8_t>(count);
  state_.word_count = static_cast<uint16_t>(gathered.words.size());
  state_.touched = state_.by_box = 0;
  std::fill_n(TouchBegin(), 2 * column(), std::numeric_limits<float>::infinity());
  for (size_t i = 0; i < count; ++i) {
    SetVerdict(i, gathered.verdicts[i]);
    IdsBegin()[i] = gathered.neighbors[i].polygon.polygon().id();
  }
  std::uninitialized_move_n(gathered.neighbors.begin(), count, NeighborsBegin());
  std::uninitialized_copy_n(gathered.words.begin(), gathered.words.size(), WordsBegin());
}

Verdict TrackerMemory::verdict(size_t i) {
  return {TouchBegin()[i], ClearBegin()[i], (state_.touched >> i & 1) != 0,
          (state_.by_box >> i & 1) != 0};
}

void TrackerMemory::SetVerdict(size_t i, const Verdict& verdict) {
  const uint64_t bit = uint64_t{1} << i;
  TouchBegin()[i] = verdict.touch_until;
  ClearBegin()[i] = verdict.clear_until;
  state_.touched = (state_.touched & ~bit) | (uint64_t{verdict.touches} << i);
  state_.by_box = (state_.by_box & ~bit) | (uint64_t{verdict.is_by_box} << i);
}

bool TrackerMemory::IsWorthwhile(uint32_t moves) {
  if (state_.backoff == 0) return state_.cold_work > 0 || state_.limit < 0 || moves >= kManyMoves;
  --state_.backoff;
  return false;
}

// Updates a moving average of the work of cold moves (moves without memory), in which the last move
// has the weight of a quarter.
void TrackerMemory::RecordColdMove(std::optional<uint64_t> query_units) {
  const uint64_t work = query_units ? kColdWork + *query_units / 2 : kCastWork;
  state_.cold_work =
      Capped(state_.cold_work == 0 ? work : (3 * uint64_t{state_.cold_work} + work) / 4);
}

// Returns whether the shape is within the limit of the mask: how far the shape may move from
// `center`, the position where the mask was made. The second condition limits the odometer, the
// length of all moves since the mask was made. Bounds of distances are stored as readings of the
// odometer in floats, and at 2^16 times the known radius (the mask has all edges of the scene
// nearer to `center` than this radius) an ulp of a reading is 2^-7 of that radius; bounds beyond
// would be of little use.
bool TrackerMemory::Reaches(const PosedShape& posed) const {
  return PathLength(state_.center, posed.position()) < state_.limit &&
         state_.odometer < 0x1p16 * state_.known_radius;
}

void TrackerMemory::Clear() {
  std::destroy_n(NeighborsBegin(), state_.neighbor_count);
  state_.neighbor_count = 0;
  state_.word_count = 0;
  state_.touched = state_.by_box = 0;
  state_.limit = -1;
}

// Prefetches this object and the arrays behind it up to the neighbors (near polygons). Assumes that
// there are eight neighbors, since their number is not read yet; most trackers have few.
void TrackerMemory::PrefetchSelf() const {
  Fetch(this, sizeof *this + BytesOf(8, 0) - 8 * sizeof(Neighbor));
}

// Prefetches the due neighbors: those with a verdict that no longer holds at position `p`. Among
// the other neighbors, also prefetches the one with the verdict that ends first, if this end comes
// from the distance of the neighbor's bounding box, since the query may measure the neighbor's
// edges.
uint64_t TrackerMemory::PrefetchNeighbors(Vec2 p) const {
  static_assert(kMaxNeighbors <= 64);
  const float reading = ReadingUp(state_.odometer + PathLength(state_.anchor, p));
  const VerdictEnds ends = EndsAt(TouchBegin(), ClearBegin(), column(), reading);
  const uint64_t due =
      ends.due |
      (state_.by_box == 0 ? 0 : state_.by_box & UpTo(TouchBegin(), column(), ends.touch));
  for (uint64_t left = due; left != 0; left &= left - 1) {
    Fetch(NeighborsBegin() + std::countr_zero(left), sizeof(Neighbor));
  }
  return due;
}

void TrackerMemory::PrefetchPolygons(uint64_t neighbors) const {
  for (; neighbors != 0; neighbors &= neighbors - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(neighbors));
    if (i >= state_.neighbor_count) return;
    Fetch(NeighborsBegin()[i].polygon.polygon().memory(), 256);
  }
}

// A mask (influence mask) has the edges near the shape, for many moves. Sets the slack of the next
// mask (how far the shape may move while that mask holds), and judges whether the last mask took
// less work than moves without memory. A mask that was dropped, for example by an edit, has no
// limit and does not affect the slack. Returns false if the tracker begins to back off, that is, to
// make no masks for some moves.
bool TrackerMemory::Tune(const Scene& scene, const PosedShape& posed, uint32_t moves) {
  if (state_.refresh_work > 0) {
    const bool pays = moves >= kManyMoves ||
                      (moves >= kFewMoves && uint64_t{state_.refresh_work} + state_.query_work <=
                                                 uint64_t{moves} * state_.cold_work);
    ++state_.misses;
    if (pays) state_.misses = state_.backoffs = 0;
  }
  if (state_.slack == 0) {
    state_.slack =
        static_cast<float>(std::max(posed.bounding_radius() / 2, scene.index().spacing() / 4));
  } else if (state_.limit >= 0) {
    if (moves < kFewMoves || state_.refresh_work > state_.query_work) {
      state_.slack *= 2;
    } else if (moves > 4 * kFewMoves && uint64_t{4} * state_.refresh_work < state_.query_work) {
      state_.slack /= 2;
    }
  }
  // A slack larger than the scene is of no use, and the upper bound also keeps the known radius
  // (bounding radius + slack) a finite float.
  const double least = posed.bounding_radius() * 0x1p-10;
  const double most = posed.bounding_radius() + 4 * scene.index().magnitude();
  state_.slack = static_cast<float>(std::clamp<double>(state_.slack, least, most));
  if (state_.misses < kMaxMisses) return true;
  state_.misses = kMaxMisses - 2;  // so that two more masks decide whether to back off again
  state_.backoff = static_cast<uint16_t>(kBackoffMoves << 2 * state_.backoffs);
  if (state_.backoffs < kMaxBackoffs) ++state_.backoffs;
  return false;
}

bool TrackerMemory::Refresh(std::unique_ptr<TrackerMemory>& memory, const Scene& scene,
                            const PosedShape& posed, uint32_t moves, Influence& gathered) {
  const bool is_made =
      memory->Tune(scene, posed, moves) && memory->MakeMask(scene, posed, gathered, posed.meter());
  if (!is_made) {
    memory->DiscardMask();
    gathered.Clear();
  }
  Fit(memory, BytesOf(gathered.neighbors.size(), gathered.words.size()));
  memory->Put(gathered);
  gathered.Clear();
  return is_made;
}

// Makes an influence mask (the edges of the scene near the shape) about the position of the shape.
// If the mask is too large, tries again with a quarter of the slack (how far the shape may move
// while the mask holds), twice. Returns false if the mask still is too large, and once the meter
// has stopped.
bool TrackerMemory::MakeMask(const Scene& scene, const PosedShape& posed, Influence& gathered,
                             WorkMeter& meter) {
  state_.center = state_.anchor = posed.position();
  state_.odometer = 0;
  state_.query_work = 0;
  const uint64_t before = meter.used();
  Clear();
  for (int attempt = 0;; ++attempt, state_.slack /= 4) {
    // The bounding radius grows with the magnitude of the position, as placing errs more at larger
    // coordinates. While the shape moves by at most the slack, the bounding radius grows by far
    // less than the factor 1 + 2^-40.
    state_.known_radius = (posed.bounding_radius() + state_.slack) * (1 + 0x1p-40);
    gathered.Clear();
    if (Gather(scene, posed.shape().options.mask, gathered, meter)) break;
    if (meter.stopped() || attempt == 2) {
      state_.backoff = kBackoffMoves;
      return false;
    }
  }
  SetLimit(state_.slack, posed);
  meter.Spend(kNeighborWork * gathered.neighbors.size());
  state_.refresh_work = Capped(kFixedWork + meter.used() - before);
  return !meter.stopped();
}

// Drops the influence mask, and sets the work that was counted for it to 0, so that `Tune` does not
// judge whether this mask saved work.
void TrackerMemory::DiscardMask() {
  Clear();
  state_.refresh_work = 0;
  state_.query_work = 0;
}

// Sets how far the shape may move from `center`, the position where the mask was made, while the
// mask holds. Within this limit no placed vertex leaves the accepted range of coordinates, and
// every position is accepted. So a move within the quiet ball (the disc in which the last answer
// holds) needs neither check. Half of the range leaves room for the rounding.
void TrackerMemory::SetLimit(double limit, const PosedShape& posed) {
  const double magnitude = std::max(std::abs(state_.center.x), std::abs(state_.center.y));
  state_.limit = std::min(limit, kMaxCoordinate / 2 - magnitude - posed.bounding_radius());
}

// Extends the known radius, the distance from `center` (the position where the mask was made)
// within which the mask has all edges of the scene, to the distance of the edge nearest to
// `center`. The mask needs no more edges for this, since no edge is nearer than the nearest one.
void TrackerMemory::Widen(const Scene& scene, const PosedShape& posed, WorkMeter& meter) {
  const double nearest = NearestEdge(scene, posed.shape().options.mask, state_.center, meter);
  if (meter.stopped() || nearest <= state_.known_radius) return;
  state_.known_radius = nearest;
  SetLimit((nearest - posed.bounding_radius()) * (1 - 0x1p-40), posed);
}

// Gathers the parts of an influence mask: the edges of the scene within the known radius of
// `center`, the position for which the mask is made. Adds the polygons by ascending id, so that the
// parts need not be sorted later. Returns false if the mask gets too large, and once the meter has
// stopped.
bool TrackerMemory::Gather(const Scene& scene, uint64_t category_mask, Influence& gathered,
                           WorkMeter& meter) const {
  // Maximum number of polygons with a bounding box within the known radius; most of them have an
  // edge within it.
  constexpr size_t kMaxPolygons = 4 * kMaxNeighbors;
  const double r = state_.known_radius * kUp;
  const Box center{state_.center, state_.center};
  const Box ball{{center.min.x - r, center.min.y - r}, {center.min.x + r, center.min.y + r}};
  std::vector<const IndexedPolygon*>& polygons = gathered.polygons;
  // Few of the polygons are in a processor cache, so several are prefetched before the first one is
  // read.
  std::array<const IndexedPolygon*, 32> found;
  size_t count = 0;
  const auto take = [&] {
    for (size_t i = 0; i < count; ++i) Fetch(found[i]->polygon().memory(), 128);
    for (size_t i = 0; i < count; ++i) {
      const Polygon& polygon = found[i]->polygon();
      const bool is_near = LowerDistance2(polygon.bounds(), center) <=
                           state_.known_radius * state_.known_radius * kUp;
      if (is_near && (polygon.category() & category_mask) != 0) polygons.push_back(found[i]);
    }
    count = 0;
    return polygons.size() <= kMaxPolygons;
  };
  scene.index().Traverse(meter, MeetsBox{ball}, [&](const IndexedPolygon& indexed) {
    __builtin_prefetch(&indexed);
    found[count++] = &indexed;
    return count < found.size() || take();
  });
  take();
  if (polygons.size() > kMaxPolygons || meter.stopped()) return false;
  const auto id = [](const IndexedPolygon* indexed) { return indexed->polygon().id(); };
  std::sort(polygons.begin(), polygons.end(),
            [&](const auto* a, const auto* b) { return id(a) < id(b); });
  for (const IndexedPolygon* const indexed : polygons) {
    if (!GatherFrom(*indexed, gathered, meter) || meter.stopped()) return false;
  }
  return true;
}

// Adds the edges of one polygon that may be within the known radius of `center`, the position for
// which the mask is made, to the mask. Returns false if the mask gets too large. Measures no edges:
// the first lower bound of the distances of a run of edges (up to eight) is the distance of the
// bounding box of the run, and queries later measure the runs that come near the shape.
//
// A run may begin within a byte (eight edges) or a word (64 edges) of the mask, and continue in the
// next one. (1 << n) - 1 has the n lowest bits set, for the n = end - i edges from i on in one
// byte; shifted by i mod 64 they are the bits in the word.
bool TrackerMemory::GatherFrom(const IndexedPolygon& indexed, Influence& gathered,
                               WorkMeter& meter) const {
  const Polygon& polygon = indexed.polygon();
  Neighbor neighbor(indexed);
  std::vector<MaskWord>& words = gathered.words;
  neighbor.first_word = static_cast<uint16_t>(words.size());
  const double limit2 = state_.known_radius * state_.known_radius * kUp;
  if (neighbor.is_small()) {
    gathered.neighbors.push_back(std::move(neighbor));
    gathered.verdicts.emplace_back();
    return gathered.neighbors.size() <= kMaxNeighbors;
  }
  // Squared distance from `state_.center` to the box that `is_near` tested last, which is the
  // bounding box of the run that is visited next.
  double box2 = 0;
  double nearest2 = HUGE_VAL;
  const auto is_near = [&](const Box& box) {
    box2 = LowerDistance2(box, {state_.center, state_.center});
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
      // the end of the byte (eight edges) of the mask, or the end of the run if that comes first
      const size_t end = std::min(last, (i / kLanes + 1) * kLanes);
      words.back().bits |= ((uint64_t{1} << (end - i)) - 1) << (i % 64);
      float& bound = words.back().bound[i % 64 / kLanes];
      bound = std::min(bound, distance);
      i = end;
    }
    neighbor.is_dense = words.size() - neighbor.first_word > kMaxWordsOfOne;
    return !neighbor.is_dense;
  });
  if (neighbor.is_dense) words.resize(neighbor.first_word);
  neighbor.word_count = static_cast<uint8_t>(words.size() - neighbor.first_word);
  Verdict verdict;
  if (neighbor.word_count == 0 && !neighbor.is_dense) {
    if (!polygon.bounds().Contains(state_.center)) return true;
    neighbor.is_inside =
        LocateInPolygon(indexed, state_.center, meter).location != Location::kOutside;
    if (!neighbor.is_inside) return true;
    // The shape can reach no edge of the polygon while the mask lasts, and it is inside the
    // polygon, where it stays as long as the mask lasts.
    verdict = {HUGE_VALF, HUGE_VALF, true, false};
    neighbor.side_until = HUGE_VALF;
  }
  gathered.neighbors.push_back(std::move(neighbor));
  gathered.verdicts.push_back(verdict);
  return gathered.neighbors.size() <= kMaxNeighbors;
}

// Reads the columns of readings (for each neighbor, the length of all moves until which its verdict
// holds) four floats at a time before it writes the verdicts that changed, since a load of four
// floats has to wait long for a store of one of them.
TrackerMemory::Radii TrackerMemory::QueryNeighbors(PosedShape& posed, OverlapDetail detail,
                                                   NeededRadii needed, NeighborScratch& scratch,
                                                   WorkMeter& meter) {
  const Vec2 p = posed.position();
  const double from_center = PathLength(state_.center, p);
  state_.odometer = (state_.odometer + PathLength(state_.anchor, p)) * kUp;
  state_.anchor = p;
  scratch.touched.edges.clear();
  scratch.edge_counts.clear();
  const double out_of_mask = (state_.known_radius + from_center) * kUp;
  NeighborQuery query({WordsBegin(), state_.word_count}, posed, state_.odometer, out_of_mask,
                      scratch);
  const size_t size = column();
  const size_t count = state_.neighbor_count;
  const bool is_both = needed == NeededRadii::kBoth;
  const float* const column = is_both ? ClearBegin() : TouchBegin();
  const bool has_edges = detail == OverlapDetail::kEdges;
  VerdictEnds ends{.due = count == 0 ? 0 : ~uint64_t{0} >> (64 - count)};
  if (!has_edges) ends = EndsAt(TouchBegin(), ClearBegin(), size, ReadingUp(state_.odometer));
  float until = is_both ? ends.clear : ends.touch;
  auto first = static_cast<size_t>(std::countr_zero(UpTo(column, size, until) & ~ends.due));
  const auto update = [&](size_t i, auto update_neighbor) {
    Verdict changed = verdict(i);
    (query.*update_neighbor)(NeighborsBegin()[i], changed);
    SetVerdict(i, changed);
    ends.touch = std::min(ends.touch, changed.touch_until);
    ends.clear = std::min(ends.clear, changed.clear_until);
    const float changed_until = is_both ? changed.clear_until : changed.touch_until;
    if (changed_until < until) {
      until = changed_until;
      first = i;
    }
  };
  for (uint64_t left = ends.due; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(std::countr_zero(left));
    update(i, has_edges ? &NeighborQuery::UpdateEdges : &NeighborQuery::UpdateTouch);
  }
  meter.Spend(count);
  // The radii of the result (how far the shape may move while its answer holds) end where the first
  // verdict ends, the verdict on neighbor `first`. If this end comes from the distance of the
  // neighbor's bounding box, the edges of the neighbor are measured, which may put the end later.
  // The loop takes at most one iteration for each neighbor.
  while (until < HUGE_VALF && (state_.by_box >> first & 1) != 0 && !meter.stopped()) {
    update(first, &NeighborQuery::UpdateBound);
    ends.touch = LeastOf(TouchBegin(), size);
    ends.clear = LeastOf(ClearBegin(), size);
    until = is_both ? ends.clear : ends.touch;
    first = static_cast<size_t>(std::countr_zero(UpTo(column, size, until)));
  }
  if (meter.stopped()) {
    Clear();
    return {};
  }
  state_.query_work = Capped(state_.query_work + query.mask_work() + kPassedWork * count);
  const double left = (state_.limit - from_center) * kDown;
  const auto radius = [&](double reading) {
    return std::clamp((reading - state_.odometer) * kDown, 0.0, std::max(left, 0.0));
  };
  return {radius(ends.touch), radius(ends.clear), (ends.clear - state_.odometer) * kDown > left};
}

}  // namespace carom::internal
