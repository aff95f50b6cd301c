// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/ours.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <thread>
#include <utility>

#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/distance.h"
#include "carom/group.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/sincos.h"
#include "carom/slide.h"
#include "carom/sweep.h"
#include "tests/bench/random.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

// The benchmark's own input is valid; anything else is a mistake in it.
template <class T>
T ValueOf(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "bench: %s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

// `count` of a column, from `at` on.
template <class T>
std::span<const T> Part(const std::vector<T>& column, size_t at, size_t count) {
  return std::span<const T>(column).subspan(at, count);
}

// Calls ask(at, count) for batches of at most `batch` and sums what it returns.
template <class Ask>
uint64_t InBatches(size_t begin, size_t end, size_t batch, Ask ask) {
  uint64_t hits = 0;
  for (size_t at = begin; at < end; at += batch) hits += ask(at, std::min(batch, end - at));
  return hits;
}

uint64_t Sum(const std::vector<uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

std::vector<Shape> MakeShapes(const std::vector<Outline>& outlines) {
  std::vector<Shape> shapes;
  for (Polygon& polygon : MakePolygons(outlines)) shapes.emplace_back(std::move(polygon));
  return shapes;
}

// The part of `at` as columns of moving shapes of type S.
template <class S>
PlacedColumns<S> Moved(const std::vector<S>& shapes, const Placements& at, size_t begin,
                       size_t count) {
  return {shapes,
          Part(at.mover, begin, count),
          Part(at.x, begin, count),
          Part(at.y, begin, count),
          Part(at.c, begin, count),
          Part(at.s, begin, count),
          {}};
}

}  // namespace

std::vector<Polygon> MakePolygons(const std::vector<Outline>& outlines) {
  std::vector<Polygon> polygons;
  polygons.reserve(outlines.size());
  for (size_t i = 0; i < outlines.size(); ++i) {
    PolygonSpec spec;
    spec.id = i;
    spec.rings = {{outlines[i], false}};
    polygons.push_back(ValueOf(Polygon::Create(std::move(spec))));
  }
  return polygons;
}

Scene::Ptr MakeScene(std::vector<Polygon> polygons, const Workers& workers) {
  return ValueOf(Scene::Create(std::move(polygons), 1, {}, workers));
}

Workers Threads(size_t count) {
  Workers workers;
  workers.parts = count;
  workers.run = [](size_t parts, const std::function<void(size_t)>& work) {
    std::vector<std::thread> others;
    for (size_t i = 1; i < parts; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
  };
  return workers;
}

Question Carom::Casts(const Segments& segments) {
  CastOptions options;
  options.detail = CastDetail::kNormal;  // what the peers answer
  return [this, &segments, options, answers = CastAnswers()](size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      CastSegments(*scene_,
                   {Part(segments.ax, at, count), Part(segments.ay, at, count),
                    Part(segments.bx, at, count), Part(segments.by, at, count)},
                   options, answers, meter);
      return answers.hits.size();
    });
  };
}

// As one group a tick: the discs are placed, and owned by a player each; no bullet hits the one
// that fires it.
Question Carom::MatchTicks(const Segments& bullets, const Ticks& ticks) {
  std::vector<Shape> shapes{ValueOf(Shape::Create(Capsule{{}, ticks.radius}))};
  std::vector<uint32_t> owners(std::max(ticks.discs, ticks.bullets));
  for (size_t i = 0; i < owners.size(); ++i) {
    owners[i] = 1 + static_cast<uint32_t>(i % ticks.discs);
  }
  return [this, &bullets, &ticks, shapes, owners, which = std::vector<uint32_t>(ticks.discs, 0),
          answers = GroupAnswers()](size_t begin, size_t end) mutable {
    return InBatches(begin, end, ticks.bullets, [&](size_t at, size_t count) {
      const size_t first = at / ticks.bullets * ticks.discs;
      WorkMeter meter;
      Group group;
      group.bodies.placed = {shapes, which, Part(ticks.at.x, first, ticks.discs),
                             Part(ticks.at.y, first, ticks.discs)};
      group.bodies.owner = Part(owners, 0, ticks.discs);
      group.segments = {Part(bullets.ax, at, count), Part(bullets.ay, at, count),
                        Part(bullets.bx, at, count), Part(bullets.by, at, count)};
      group.segments.scope.against = Against::kBoth;
      group.segments.scope.ignore_owner = Part(owners, 0, count);
      group.cast_options.detail = CastDetail::kNormal;
      if (!EvaluateGroup(*scene_, group, answers, meter).ok()) std::abort();
      return answers.segments.hits.size();
    });
  };
}

Question Carom::Contacts(const Movers& movers) {
  return [this, &movers, shapes = MakeShapes(movers.outlines), answers = ContactAnswers()](
             size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      ContactColumns columns;
      columns.movers = Moved(shapes, movers.placements, at, count);
      FindContacts(*scene_, columns, {}, answers, meter);
      return answers.contacts.size();
    });
  };
}

Question Carom::Nearest(const Points& points, double radius) {
  std::vector<Shape> shapes{ValueOf(Shape::Create(Capsule{}))};
  return [this, &points, shapes, which = std::vector<uint32_t>(points.size(), 0),
          within = std::vector<double>(points.size(), radius),
          answers = DistanceAnswers()](size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      DistanceColumns columns;
      columns.movers.shapes = shapes;
      columns.movers.shape = Part(which, at, count);
      columns.movers.x = Part(points.x, at, count);
      columns.movers.y = Part(points.y, at, count);
      columns.max_distance = Part(within, at, count);
      MeasureDistances(*scene_, columns, {}, answers, meter);
      return static_cast<uint64_t>(
          std::count_if(answers.counts.begin(), answers.counts.end(),
                        [](uint32_t count_of_one) { return count_of_one > 0; }));
    });
  };
}

Question Carom::Holds(const Points& points) {
  return [this, &points, answers = LocateAnswers()](size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      LocatePoints(*scene_, {Part(points.x, at, count), Part(points.y, at, count)}, kEveryCategory,
                   answers, meter);
      return Sum(answers.counts);
    });
  };
}

Question Carom::Touches(const Movers& movers) {
  return [this, &movers, polygons = MakePolygons(movers.outlines), answers = OverlapAnswers()](
             size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      OverlapPolygons(*scene_, Moved(polygons, movers.placements, at, count), {}, answers, meter);
      return Sum(answers.counts);
    });
  };
}

Shape ShapeOf(const Sweeps& sweeps) {
  const Outline& outline = sweeps.outline;
  if (outline.size() > 2) return Shape(MakePolygons({outline})[0]);
  return ValueOf(Shape::Create(Capsule{{outline[0], outline[1]}, sweeps.radius}));
}

Question Carom::Swept(const Sweeps& sweeps) {
  return [this, &sweeps, shapes = std::vector<Shape>{ShapeOf(sweeps)}, answers = SweepAnswers()](
             size_t begin, size_t end) mutable {
    return InBatches(begin, end, batch_, [&](size_t at, size_t count) {
      WorkMeter meter;
      SweepShapes(*scene_,
                  {Moved(shapes, sweeps.from, at, count), Part(sweeps.to_x, at, count),
                   Part(sweeps.to_y, at, count)},
                  {}, answers, meter);
      return answers.hits.size();
    });
  };
}

Walks Carom::RandomWalks(const World& world, size_t ticks) const {
  constexpr size_t kPlayers = 200;
  Walks walks{{{0, -0.3}, {0, 0.3}}, 0.4, {}, {}};
  const Points anywhere = FreePoints(world, 4 * kPlayers, 5);
  const std::vector<Shape> shape{ValueOf(Shape::Create(Capsule{walks.axis, walks.radius}))};
  const std::vector<double> still(anywhere.size(), 0);
  const std::vector<uint32_t> which(anywhere.size(), 0);
  SweepAnswers answers;
  WorkMeter meter;
  SweepShapes(*scene_, {{shape, which, anywhere.x, anywhere.y}, {}, {}, still, still},
              {CastMode::kAny, InsidePolicy::kBlocking}, answers, meter);
  for (size_t i = 0; i < anywhere.size() && walks.players() < kPlayers; ++i) {
    if (answers.counts[i] != 0) continue;
    walks.start.x.push_back(anywhere.x[i]);
    walks.start.y.push_back(anywhere.y[i]);
  }
  Random random(6);
  std::vector<Vec2> pushes(walks.players());
  walks.pushes.reserve(ticks * walks.players());
  for (size_t tick = 0; tick < ticks; ++tick) {
    for (Vec2& push : pushes) {
      if (tick % 30 == 0) {
        const CosSin at = SinCos(6.283185307179586 * random.Unit());
        push = {at.c / 6, at.s / 6};
      }
      walks.pushes.push_back(push);
    }
  }
  return walks;
}

// A batch a tick.
Question Carom::Walked(const Walks& walks, std::vector<Vec2>& trace) {
  std::vector<Shape> shapes{ValueOf(Shape::Create(Capsule{walks.axis, walks.radius}))};
  std::vector<double> dx, dy;
  dx.reserve(walks.pushes.size());
  dy.reserve(walks.pushes.size());
  for (const Vec2 push : walks.pushes) {
    dx.push_back(push.x);
    dy.push_back(push.y);
  }
  return [this, &walks, &trace, shapes, dx, dy, which = std::vector<uint32_t>(walks.players(), 0),
          at = Points(), answers = SlideAnswers()](size_t begin, size_t end) mutable {
    if (begin == 0) at = walks.start;
    return InBatches(begin, end, walks.players(), [&](size_t first, size_t count) {
      WorkMeter meter;
      SlideShapes(*scene_,
                  {{shapes, which, at.x, at.y}, Part(dx, first, count), Part(dy, first, count)}, {},
                  answers, meter);
      for (size_t p = 0; p < count; ++p) {
        const Vec2 position = answers.rows[p].position;
        at.x[p] = position.x;
        at.y[p] = position.y;
        trace[first + p] = position;
      }
      return count;
    });
  };
}

Question Carom::Tracked(const Movers& movers, Coherence coherence, MoveTiers* tiers) {
  std::vector<Tracker> trackers{ValueOf(Tracker::Create(MakeShapes(movers.outlines)[0]))};
  return [this, &movers, trackers, coherence, tiers, answers = MoveAnswers()](size_t begin,
                                                                              size_t end) mutable {
    const Placements& at = movers.placements;
    return InBatches(begin, end, batch_, [&](size_t first, size_t count) {
      WorkMeter meter;
      MoveTrackers(*scene_,
                   {trackers,
                    Part(at.mover, first, count),
                    Part(at.x, first, count),
                    Part(at.y, first, count),
                    Part(at.c, first, count),
                    Part(at.s, first, count),
                    {}},
                   {OverlapDetail::kIds, coherence}, answers, meter);
      if (tiers != nullptr) {
        tiers->quiet += answers.tiers.quiet;
        tiers->near += answers.tiers.near;
        tiers->refresh += answers.tiers.refresh;
        tiers->cold += answers.tiers.cold;
      }
      return static_cast<uint64_t>(answers.counts.size());
    });
  };
}

double Carom::BuildNanoseconds() {
  std::vector<Polygon> polygons;
  for (size_t i = 0; i < scene_->polygon_count(); ++i) polygons.push_back(scene_->polygon(i));
  const Points center{{0}, {0}};
  const double start = ThreadNanoseconds();
  Carom fresh(MakeScene(std::move(polygons)));
  fresh.Holds(center)(0, 1);
  const double end = ThreadNanoseconds();
  return end - start;
}

}  // namespace carom::bench
