// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// An eye sees a body if the body shares a point with the interior of the area. The interior is open
// and star-shaped about the eye, so it then has a point of an edge of the body, unless the body
// contains the eye: an edge that is nearer than the envelope in some of its directions, or, if all
// edges of the body are on a line with the eye, a vertex. A body with a radius or a margin is seen
// if its core is nearer than that to the area: if a vertex of the core is in the area, the core
// contains the eye, or an edge of the core is near the boundary of the area.

#include "carom/sees.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "area/area_finder.h"
#include "area/area_reach.h"
#include "area/targets.h"
#include "base/thread_scratch.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "numeric/exact.h"
#include "numeric/exact_count.h"
#include "shape/meets_box.h"

namespace carom {
namespace {

using internal::AreaFinder;
using internal::Blocker;
using internal::Body;
using internal::QueryFilter;
using internal::TwoDoubles;

// What is in doubt about a shape by less than this part of the largest coordinate is decided by the
// whole area.
constexpr double kDoubt = 0x1p-48;

Box Grown(const Box& box, double by) {
  return {{internal::NextBelow(box.min.x - by), internal::NextBelow(box.min.y - by)},
          {internal::NextAbove(box.max.x + by), internal::NextAbove(box.max.y + by)}};
}

// What one observer asks.
struct Observer {
  internal::EyeQuestion asked;
  QueryFilter bodies;
  double margin;
};

// Finds the bodies that one observer after the other sees. Its memory is kept from batch to batch.
class SeeFinder {
 public:
  // Finds what the observer sees, and sets its bits in `seen`. An observer that looks for few
  // bodies is answered without its memory, which is then set to null. Returns false once the meter
  // stops the work.
  bool Find(const World& world, Observer& observer, uint64_t* seen, WorkMeter& meter);
  // Returns whether a polygon contains the eye of the last observer.
  bool starts_inside() const { return finder_.starts_inside(); }
  // Returns whether the observer looks for so many bodies that it is worth preparing for them.
  bool LooksAtMany() const { return !is_part_ || bodies_.size() > 4; }
  internal::EyeTier tier() const { return finder_.tier(); }
  bool IsWorthCaching() const {
    return finder_.IsWorthCaching() && whole_.IsWorthCaching() && blockers_.capacity() < 1024;
  }

 private:
  bool Collect(const World& world, const Observer& observer, WorkMeter& meter);
  bool DropHidden(const World& world, const Observer& observer, WorkMeter& meter);
  bool FindWalls(const World& world, const Observer& observer, WorkMeter& meter);
  bool FindWhole(const World& world, const Observer& observer, WorkMeter& meter);
  bool Sees(const World& world, const Observer& observer, Body& body, WorkMeter& meter);
  bool IsNear(const World& world, const Observer& observer, const internal::GrownShape& shape,
              WorkMeter& meter);
  bool ContainsEye(const IndexedPolygon& core, WorkMeter& meter) const;
  bool IsInside(Vec2 vertex, WorkMeter& meter);
  bool HasVertexInside(const Polygon& core, WorkMeter& meter);
  bool HasEdgeInside(const IndexedPolygon& core, uint32_t index, WorkMeter& meter);

  std::vector<Body*> bodies_;  // those that may be within range
  internal::Targets targets_;
  AreaFinder finder_;  // in the directions of `targets_`, unless these are everywhere
  AreaFinder whole_;   // in every direction
  bool is_part_ = false, has_whole_ = false;
  std::vector<Blocker> blockers_;
};

bool SeeFinder::ContainsEye(const IndexedPolygon& core, WorkMeter& meter) const {
  const Vec2 p = finder_.eye().position();
  return core.polygon().bounds().Contains(p) &&
         internal::LocateInPolygon(core, p, meter).location != Location::kOutside;
}

// Returns whether a vertex is in the interior of the area.
bool SeeFinder::IsInside(Vec2 vertex, WorkMeter& meter) {
  internal::Eye& eye = finder_.eye();
  const size_t sources = eye.source_count(), edges = eye.edges().size();
  const uint32_t line = eye.AddLine({vertex, vertex});
  const bool is_inside = finder_.envelope().IsInside(eye, eye.edges()[line].begin, meter);
  eye.RemoveFrom(sources, edges);
  return is_inside;
}

bool SeeFinder::HasVertexInside(const Polygon& core, WorkMeter& meter) {
  const size_t count = core.edge_count();
  for (size_t i = 0; i < count && meter.Spend(1); ++i) {
    if (IsInside(core.edge(i).a, meter)) return true;
  }
  return false;
}

// Returns whether an edge is nearer than the envelope in some of its directions. An edge of a body
// is nearer than an edge of the scene with which it coincides in no direction.
bool SeeFinder::HasEdgeInside(const IndexedPolygon& core, uint32_t index, WorkMeter& meter) {
  internal::Eye& eye = finder_.eye();
  const size_t sources = eye.source_count(), edges = eye.edges().size();
  eye.AddSource({&core.polygon(), index, true});
  bool is_inside = false;
  const internal::MeetsBox near{eye.bounds()};
  core.VisitEdges(meter, near, [&](size_t i, const Segment& edge) {
    if (!eye.AddEdge(edge, i)) return true;
    const auto number = static_cast<uint32_t>(eye.edges().size() - 1);
    const internal::EyeEdge& added = eye.edges()[number];
    blockers_.clear();
    internal::AddBlocker(added.begin, added.end, number, blockers_);
    for (const Blocker& blocker : blockers_) {
      is_inside = is_inside || finder_.envelope().ShowsPartOf(eye, blocker, meter);
    }
    return !is_inside;
  });
  eye.RemoveFrom(sources, edges);
  return is_inside;
}

Box BoundsOf(const Body& body, double margin) {
  return margin > 0 ? Grown(body.bounds(), margin) : body.bounds();
}

// Returns the bounds with a space about them that is larger than all slack.
Box TargetOf(const Box& bounds, Vec2 eye) {
  return Grown(bounds, kDoubt * internal::LargestCoordinate(eye, bounds));
}

// The result is meaningless once the meter has stopped the work.
bool SeeFinder::Sees(const World& world, const Observer& observer, Body& body, WorkMeter& meter) {
  const IndexedPolygon& core = body.core();
  const Box bounds = BoundsOf(body, observer.margin);
  if (!finder_.MayBeSeen(bounds, meter)) return false;
  if (ContainsEye(core, meter) || HasVertexInside(core.polygon(), meter)) return true;
  const TwoDoubles radius = internal::TwoSum(body.radius(), observer.margin);
  if (radius.high == 0) return HasEdgeInside(core, body.index(), meter);
  return IsNear(world, observer, {core, radius, bounds}, meter);
}

// Whether a shape is near the whole area, as pieces of the whole area say that are the same
// whatever else the observer looks for. The area in the directions of the targets answers where it
// leaves no doubt.
bool SeeFinder::IsNear(const World& world, const Observer& observer,
                       const internal::GrownShape& shape, WorkMeter& meter) {
  if (!finder_.FindRows(meter)) return false;
  if (!is_part_) return internal::IsNearBoundary(finder_, shape, internal::kReachSlack, meter);
  if (!internal::IsNearBoundary(finder_, shape, kDoubt, meter)) return false;
  const double most = internal::LargestCoordinate(finder_.eye().position(), shape.bounds);
  if (shape.radius.high > 2 * kDoubt * most &&
      internal::IsNearBoundary(finder_, shape, -kDoubt, meter)) {
    return true;
  }
  if (!has_whole_ && !FindWhole(world, observer, meter)) return false;
  return internal::IsNearBoundary(whole_, shape, internal::kReachSlack, meter);
}

bool SeeFinder::FindWhole(const World& world, const Observer& observer, WorkMeter& meter) {
  internal::EyeQuestion asked = observer.asked;
  asked.memory = nullptr;
  has_whole_ = whole_.Prepare(world, asked, meter) && whole_.Find(world, asked, meter) &&
               whole_.FindRows(meter);
  return has_whole_;
}

// Lists the bodies that may be within range. An observer without a sector looks in their directions
// alone.
bool SeeFinder::Collect(const World& world, const Observer& observer, WorkMeter& meter) {
  const internal::EyeItem& eye = observer.asked.item;
  bodies_.clear();
  targets_.Start(eye.disc.center);
  const Vec2 p = eye.disc.center;
  const double r = eye.disc.radius;
  const Box disc = Grown({p, p}, r);
  const internal::MeetsBox near{Grown(disc, observer.margin)};
  internal::VisitBodies(world, observer.bodies, meter, near, [&](Body& body) {
    const Box bounds = BoundsOf(body, observer.margin);
    if (!bounds.Intersects(disc)) return true;
    bodies_.push_back(&body);
    targets_.Add(TargetOf(bounds, p));
    return meter.Spend(8);
  });
  if (!meter.Spend(bodies_.size())) return false;
  targets_.Join();
  is_part_ = eye.sector == internal::SectorKind::kWhole && !targets_.is_everywhere();
  return !meter.stopped();
}

// Drops the bodies that the walls in the nearer half of the way to the farthest one hide, with the
// space about them: most bodies, so that few directions are left to look in.
bool SeeFinder::DropHidden(const World& world, const Observer& observer, WorkMeter& meter) {
  if (!finder_.FindToward(targets_, targets_.reach() / 2, world, observer.asked, meter)) {
    return false;
  }
  const Vec2 eye = observer.asked.item.disc.center;
  targets_.Start(eye);
  std::erase_if(bodies_, [&](const Body* body) {
    const Box target = TargetOf(BoundsOf(*body, observer.margin), eye);
    const bool is_hidden = !finder_.MayBeSeen(target, meter);
    if (!is_hidden) targets_.Add(target);
    return is_hidden;
  });
  targets_.Join();
  return !meter.stopped();
}

// Finds the walls in the directions of the bodies, or all around.
bool SeeFinder::FindWalls(const World& world, const Observer& observer, WorkMeter& meter) {
  if (!is_part_) return finder_.Find(world, observer.asked, meter);
  const bool is_cold = finder_.tier() == internal::EyeTier::kCold;
  if (LooksAtMany() && is_cold && !DropHidden(world, observer, meter)) return false;
  return finder_.FindToward(targets_, targets_.reach(), world, observer.asked, meter);
}

bool SeeFinder::Find(const World& world, Observer& observer, uint64_t* seen, WorkMeter& meter) {
  has_whole_ = false;
  if (!Collect(world, observer, meter)) return false;
  if (!LooksAtMany()) observer.asked.memory = nullptr;
  if (!finder_.Prepare(world, observer.asked, meter) || !FindWalls(world, observer, meter)) {
    return false;
  }
  if (!finder_.has_area()) return true;
  for (Body* const body : bodies_) {
    if (!meter.Spend(1)) return false;
    if (!Sees(world, observer, *body, meter)) continue;
    seen[body->index() / 64] |= uint64_t{1} << body->index() % 64;
  }
  return !meter.stopped();
}

// Returns which bodies an item looks for: those of every category.
QueryFilter BodiesOf(const Scope& scope, size_t i) {
  QueryFilter filter = QueryFilter::Of(scope, i, kEveryCategory);
  filter.scene = false;
  filter.bodies = true;
  filter.mask = kEveryCategory;
  return filter;
}

// Returns which polygons block the sight of an item.
QueryFilter WallsOf(const Scope& scope, size_t i, uint64_t mask) {
  QueryFilter filter = QueryFilter::Of(scope, i, mask);
  filter.scene = true;
  filter.bodies = false;
  return filter;
}

}  // namespace

void SeeAnswers::Clear() {
  counts.clear();
  seen.clear();
  starts_inside.clear();
  errors.clear();
  tiers = {};
}

bool FindSeen(const World& world, const AreaColumns& observers, const SeeOptions& options,
              SeeAnswers& out, WorkMeter& meter) {
  out.Clear();
  const size_t bodies = world.bodies == nullptr ? 0 : world.bodies->size();
  const size_t words = (bodies + 63) / 64;
  if (!meter.SpendRows(words * observers.size())) return false;
  out.counts.assign(observers.size(), 0);
  out.seen.assign(words * observers.size(), 0);
  out.starts_inside.assign(observers.size(), 0);
  const double margin = Normalized(options.margin);
  const internal::ExactCountScope exact_count(meter);
  internal::ThreadScratch<SeeFinder> finder;
  internal::EyeMemories memories(observers);
  for (size_t i = 0; i < observers.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    Observer observer{{{}, WallsOf(observers.scope, i, options.mask), options.inside_policy},
                      BodiesOf(observers.scope, i),
                      margin};
    if (!ReadEye(observers, i, check, observer.asked.item)) continue;
    observer.asked.memory = memories.Begin(i);
    uint64_t* const seen = out.seen.data() + i * words;
    const uint64_t before = meter.used();
    if (!finder->Find(world, observer, seen, meter)) return false;
    memories.End(observer.asked.memory, finder->tier(), meter.used() - before, out.tiers);
    out.starts_inside[i] = finder->starts_inside() ? 1 : 0;
    for (size_t w = 0; w < words; ++w)
      out.counts[i] += static_cast<uint32_t>(std::popcount(seen[w]));
  }
  if (finder->IsWorthCaching()) finder.Return();
  return true;
}

}  // namespace carom
