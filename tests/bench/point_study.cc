// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The paper's other study: a moving point and a polygon of n vertices. Its mask of signs kept from
// step to step beside ray crossings, signed areas (the covering), our own cold location, and a
// tracker. And what a quiet step costs, and bullets that are tracked.

#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/covering.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/study_figures.h"

namespace carom::bench {
namespace {

// The crossings of a ray to the right, in plain doubles, as in every textbook: not exact.
bool HoldsByCrossings(const Outline& outline, Vec2 p) {
  bool inside = false;
  for (size_t i = 0, j = outline.size() - 1; i < outline.size(); j = i++) {
    const Vec2 a = outline[i];
    const Vec2 b = outline[j];
    if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) * (p.y - a.y) / (b.y - a.y) + a.x) {
      inside = !inside;
    }
  }
  return inside;
}

template <class Holds>
Question Steps(const Placements& way, Holds holds) {
  return [&way, holds](size_t begin, size_t end) mutable {
    uint64_t hits = 0;
    for (size_t i = begin; i < end; ++i) hits += holds(Vec2{way.x[i], way.y[i]}) ? 1 : 0;
    return hits;
  };
}

Question TrackedPoint(const Scene& scene, const Placements& way) {
  std::vector<Tracker> trackers{*Tracker::Create(*Shape::Create(Capsule{}))};
  return [&scene, &way, trackers, answers = MoveAnswers()](size_t begin, size_t end) mutable {
    WorkMeter meter;
    const auto part = [&](const auto& column) {
      return std::span(column).subspan(begin, end - begin);
    };
    MoveTrackers(scene, {trackers, part(way.mover), part(way.x), part(way.y)}, {}, answers, meter);
    return answers.counts.size();
  };
}

void RunFigure(Bench& bench, const Figure& figure, Path kind) {
  const Placements way = MakePath(kind, false);
  const Points points{way.x, way.y};
  Carom ours(std::vector<Outline>{figure.outline});
  const Polygon polygon = ours.scene()->polygon(0);
  const std::vector<Timing> timings = RunInterleaved(
      {{"signs kept",
        Steps(way, [tracker = PointTracker(polygon)](
                       Vec2 p) mutable { return tracker.MoveTo(p) != Location::kOutside; })},
       {"crossings", Steps(way, [&](Vec2 p) { return HoldsByCrossings(figure.outline, p); })},
       {"signed areas", Steps(way,
                              [&](Vec2 p) {
                                return LocateByCovering(polygon, {0, 0}, p) != Location::kOutside;
                              })},
       {"cold location", ours.Holds(points)},
       {"tracker", TrackedPoint(*ours.scene(), way)}},
      way.size(), bench.rounds());
  bench.report.Timings(absl::StrCat("point_study_", figure.name, "_", Name(kind)), timings);
}

// A tracker far from everything, by small steps.
void RunQuiet(Bench& bench) {
  Carom ours(std::vector<Outline>{{{1e6, 0}, {1e6 + 1, 0}, {1e6, 1}}});
  Movers movers{{RegularOutline(8, 1)}, {}};
  for (size_t i = 0; i < bench.queries(); ++i) {
    const double angle = 1e-3 * static_cast<double>(i);
    movers.placements.mover.push_back(0);
    movers.placements.x.push_back(100 * std::cos(angle));
    movers.placements.y.push_back(100 * std::sin(angle));
    movers.placements.c.push_back(std::cos(angle));
    movers.placements.s.push_back(std::sin(angle));
  }
  const std::vector<Timing> timings =
      RunInterleaved({{"quiet", ours.Tracked(movers, Coherence::kOn)},
                      {"cold", ours.Tracked(movers, Coherence::kOff)}},
                     bench.queries(), bench.rounds());
  bench.report.Timings("quiet_step", timings);
  bench.report.Add({"quiet_step_ns", timings[0].ns, "-", 0, ValueAtMost(10), "in cache"});
}

// Bullets that are tracked: points whose moves are sweeps from where they were, until they hit
// something; then they begin anew elsewhere. Against casting each step's segment, all in one batch.
// `cells_per_tick` is how far they go.
void RunBullets(Bench& bench, const World& world, const Scene::Ptr& scene, double cells_per_tick) {
  const size_t count = bench.quick ? 4096 : 65536;
  const Points start = FreePoints(world, count, 70);
  Random random(71);
  std::vector<double> dx, dy;
  for (size_t i = 0; i < count; ++i) {
    const double way = random.Between(0, 2 * std::numbers::pi);
    dx.push_back(cells_per_tick * kCell * std::cos(way));
    dy.push_back(cells_per_tick * kCell * std::sin(way));
  }
  const Tracker point = *Tracker::Create(*Shape::Create(Capsule{}));
  std::vector<Tracker> trackers(count, point);
  std::vector<double> x = start.x, y = start.y, from_x, from_y;
  std::vector<double> tracked, cast;
  MoveTiers tiers;
  size_t hits[2] = {0, 0};
  std::vector<bool> is_gone(count);
  const int ticks = bench.quick ? 40 : 200;
  for (int tick = 0; tick < ticks; ++tick) {
    for (size_t i = 0; i < count; ++i) {
      if (!is_gone[i]) continue;
      const size_t other = (7 * i + static_cast<size_t>(tick)) % count;
      x[i] = start.x[other];
      y[i] = start.y[other];
    }
    from_x = x;
    from_y = y;
    for (size_t i = 0; i < count; ++i) {
      x[i] += dx[i];
      y[i] += dy[i];
    }
    WorkMeter meter;
    MoveAnswers moved;
    CastAnswers casts;
    CastOptions options;
    options.detail = CastDetail::kFraction;
    const double begin = ThreadNanoseconds();
    MoveTrackers(*scene, {trackers, {}, x, y, {}, {}, {}, from_x, from_y}, {}, moved, meter);
    const double middle = ThreadNanoseconds();
    CastSegments(*scene, {from_x, from_y, x, y}, options, casts, meter);
    const double end = ThreadNanoseconds();
    for (size_t i = 0; i < count; ++i) is_gone[i] = casts.counts[i] > 0;
    if (tick >= ticks / 4) {
      tracked.push_back((middle - begin) / static_cast<double>(count));
      cast.push_back((end - middle) / static_cast<double>(count));
      tiers.quiet += moved.tiers.quiet;
    }
    hits[0] += moved.counts.size();
    hits[1] += casts.hits.size();
  }
  bench.report.Figure(
      absl::StrCat("bullets_", cells_per_tick, "_cells_a_tick tracked"), Median(tracked), "ns",
      absl::StrFormat("cast %.1f ns, %.2f times as long; %.1f %% quiet; %d hits, cast %d",
                      Median(cast), Median(cast) / Median(tracked),
                      100.0 * static_cast<double>(tiers.quiet) /
                          (static_cast<double>(tracked.size()) * static_cast<double>(count)),
                      hits[0], hits[1]));
}

}  // namespace

void RunPointStudy(Bench& bench) {
  if (bench.Wants("point_study")) {
    bench.report.Title("point_study");
    for (const size_t n : {size_t{10}, size_t{100}, size_t{1000}, size_t{10000}}) {
      if (bench.quick && n > 100) continue;
      const std::optional<Figure> figure = MakeFigure(FigureKind::kStar, n, bench.maps);
      for (const Path way : {Path::kNear, Path::kLinear}) RunFigure(bench, *figure, way);
    }
  }
  if (bench.Wants("quiet_step")) {
    bench.report.Title("quiet_step");
    RunQuiet(bench);
  }
  if (bench.Wants("bullets_tracked")) {
    bench.report.Title("bullets_tracked");
    const World world = DenseWorld(bench.quick ? 10000 : 100000);
    const Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
    for (const double cells : {0.001, 0.004, 0.02, 0.1, 1.0})
      RunBullets(bench, world, scene, cells);
  }
}

}  // namespace carom::bench
