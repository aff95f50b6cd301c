// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// An eye sees a body if the body shares a point with the interior of the area. The interior is open
// and star-shaped about the eye, so it then has a point of an edge of the body, unless the body
// contains the eye: an edge that is nearer than the envelope in some of its directions, or, if all
// edges of the body are on a line with the eye, a vertex. A body with a radius or a margin is seen if
// its core is nearer than that to the area: if a vertex of the core is in the area, the core contains
// the eye, or an edge of the core is near the boundary of the area.

#include "carom/sees.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "area/area_finder.h"
#include "area/area_reach.h"
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

Box Grown(const Box& box, double by) {
  return {{internal::NextBelow(box.min.x - by), internal::NextBelow(box.min.y - by)},
          {internal::NextAbove(box.max.x + by), internal::NextAbove(box.max.y + by)}};
}

// Finds the bodies that one observer after the other sees. Its memory is kept from batch to batch.
class SeeFinder {
 public:
  AreaFinder& finder() { return finder_; }

  // Returns whether the observer that `finder()` has found an area for sees a body. The result is
  // meaningless once the meter has stopped the work.
  bool Sees(Body& body, double margin, WorkMeter& meter);
  bool IsWorthCaching() const { return finder_.IsWorthCaching() && blockers_.capacity() < 1024; }

 private:
  bool ContainsEye(const IndexedPolygon& core, WorkMeter& meter) const;
  bool IsInside(Vec2 vertex, WorkMeter& meter);
  bool HasVertexInside(const Polygon& core, WorkMeter& meter);
  bool HasEdgeInside(const IndexedPolygon& core, uint32_t index, WorkMeter& meter);

  AreaFinder finder_;
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

bool SeeFinder::Sees(Body& body, double margin, WorkMeter& meter) {
  const IndexedPolygon& core = body.core();
  const Box bounds = margin > 0 ? Grown(body.bounds(), margin) : body.bounds();
  if (!finder_.MayBeSeen(bounds, meter)) return false;
  if (ContainsEye(core, meter) || HasVertexInside(core.polygon(), meter)) return true;
  const TwoDoubles radius = internal::TwoSum(body.radius(), margin);
  if (radius.high == 0) return HasEdgeInside(core, body.index(), meter);
  return finder_.FindRows(meter) && internal::IsNearBoundary(finder_, core, radius, bounds, meter);
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

// Sets the bits of the bodies that the observer sees. Returns false once the meter stops the work.
bool Mark(SeeFinder& finder, const World& world, const QueryFilter& filter, double margin,
          uint64_t* seen, WorkMeter& meter) {
  const internal::MeetsBox near{Grown(finder.finder().eye().bounds(), margin)};
  internal::VisitBodies(world, filter, meter, near, [&](Body& body) {
    if (!meter.Spend(1)) return false;
    if (finder.Sees(body, margin, meter)) seen[body.index() / 64] |= uint64_t{1} << body.index() % 64;
    return !meter.stopped();
  });
  return !meter.stopped();
}

}  // namespace

void SeeAnswers::Clear() {
  counts.clear();
  seen.clear();
  starts_inside.clear();
  errors.clear();
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
  for (size_t i = 0; i < observers.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    internal::EyeItem item;
    if (!ReadEye(observers, i, check, item)) continue;
    AreaFinder& area = finder->finder();
    if (!area.Find(world, item, WallsOf(observers.scope, i, options.mask), options.inside_policy,
                   meter)) {
      return false;
    }
    out.starts_inside[i] = area.starts_inside() ? 1 : 0;
    if (!area.has_area() || bodies == 0) continue;
    uint64_t* const seen = out.seen.data() + i * words;
    if (!Mark(*finder, world, BodiesOf(observers.scope, i), margin, seen, meter)) return false;
    for (size_t w = 0; w < words; ++w) out.counts[i] += static_cast<uint32_t>(std::popcount(seen[w]));
  }
  if (finder->IsWorthCaching()) finder.Return();
  return true;
}

}  // namespace carom
