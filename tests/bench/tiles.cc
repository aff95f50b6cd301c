// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A map of boxes that touch, the commonest of games: how long does it take, and how much do the
// fast paths leave to the general ones? Rounding decides nothing there, so ties are what it is
// about.

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cast/fast_batch.h"
#include "contact/contact_batch.h"
#include "proximity/nearest_points.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

void AddShare(Bench& bench, const std::string& name, size_t left, size_t all) {
  bench.report.Figure(absl::StrCat(name, " left to the general path"),
                      100 * static_cast<double>(left) / static_cast<double>(all), "%");
}

void RunCastsOfTiles(Bench& bench, const World& world, Carom& ours, const std::string& name,
                     const Segments& segments) {
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world);
  const std::unique_ptr<ScenePeer> tree = MakeChipmunk(world, ChipmunkIndex::kTree);
  Carom singles(ours.scene(), 1);
  bench.report.Timings(name, RunInterleaved({{"carom", ours.Casts(segments)},
                                             {"carom one by one", singles.Casts(segments)},
                                             {"box2d", box2d ? box2d->Casts(segments) : Question()},
                                             {tree->name(), tree->Casts(segments)}},
                                            segments.size(), bench.rounds()));
  const auto line_of = [&](size_t i, internal::Line& line) {
    line =
        internal::Line(Segment{{segments.ax[i], segments.ay[i]}, {segments.bx[i], segments.by[i]}});
    return true;
  };
  size_t left = 0;
  internal::FastSource source{segments.size(), line_of, nullptr, &left};
  source.always_tries_fast_path = true;
  CastAnswers answers;
  WorkMeter meter;
  internal::CastFast(*ours.scene(), {}, source, answers, meter);
  AddShare(bench, name, left, segments.size());
}

void RunContactsOfTiles(Bench& bench, const World& world, Carom& ours, const std::string& name,
                        const Movers& movers) {
  const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world, movers.outlines);
  const std::unique_ptr<ScenePeer> tree = MakeChipmunk(world, ChipmunkIndex::kTree);
  bench.report.Timings(
      name, RunInterleaved({{"carom", ours.Contacts(movers)},
                            {"box2d", box2d ? box2d->Contacts(movers) : Question()},
                            {"box2d shape", box2d ? box2d->ContactsByShape(movers) : Question()},
                            {tree->name(), tree->Contacts(movers)}},
                           movers.placements.size(), bench.rounds()));
  const std::vector<Shape> shapes{MakePolygons(movers.outlines)[0]};
  const Placements& at = movers.placements;
  ContactColumns columns;
  columns.movers = {shapes, at.mover, at.x, at.y, at.c, at.s, {}};
  ContactAnswers answers;
  answers.counts.assign(at.size(), 0);
  internal::ContactCounts counts;
  WorkMeter meter;
  internal::RunContacts({*ours.scene(), columns, {}}, answers, meter, &counts);
  AddShare(bench, name, counts.axes + counts.undecided + counts.not_fast, counts.pairs);
}

void RunNearestOfTiles(Bench& bench, const World& world, Carom& ours, const std::string& name,
                       const Points& points) {
  const double radius = kCell / 2;
  const std::unique_ptr<ScenePeer> tree = MakeChipmunk(world, ChipmunkIndex::kTree);
  bench.report.Timings(name, RunInterleaved({{"carom", ours.Nearest(points, radius)},
                                             {tree->name(), tree->Nearest(points, radius)}},
                                            points.size(), bench.rounds()));
  const std::vector<Shape> shapes{Shape::Create(Capsule{}).value()};
  const std::vector<uint32_t> which(points.size(), 0);
  const std::vector<double> within(points.size(), radius);
  const DistanceColumns columns{{shapes, which, points.x, points.y}, within};
  DistanceAnswers answers;
  answers.counts.assign(points.size(), 0);
  WorkMeter meter;
  const DistanceOptions options;
  internal::NearestPoints nearest(*ours.scene(), columns, options, answers, meter);
  nearest.AlwaysTryFastPath();
  size_t left = 0;
  for (size_t i = 0; i < points.size(); ++i) left += nearest.Answer(i) ? 0 : 1;
  nearest.Finish();
  AddShare(bench, name, left, points.size());
}

// On the half places of the map: corners, middles of sides, and of boxes.
double OnLattice(double value) { return std::round(value / (kCell / 2)) * (kCell / 2); }

}  // namespace

void RunTiles(Bench& bench) {
  const std::string name = "tiles_300";
  if (!bench.Wants(name)) return;
  bench.report.Title(name);
  const World world = TileWorld(bench.quick ? 100 : 300);
  Carom ours(world.polygons);
  const Segments anyhow = FreeSegments(world, bench.queries(), kCell, 20);
  RunCastsOfTiles(bench, world, ours, name + "_cast_short", anyhow);
  RunCastsOfTiles(bench, world, ours, name + "_cast_long",
                  FreeSegments(world, bench.queries(), 100 * kCell, 21));
  Segments corners = anyhow;
  for (std::vector<double>* column : {&corners.ax, &corners.ay, &corners.bx, &corners.by}) {
    for (double& value : *column) value = OnLattice(value);
  }
  RunCastsOfTiles(bench, world, ours, name + "_cast_lattice", corners);
  Movers movers{{RegularOutline(4, kCell / 4)},
                RandomPlacements(1, world.half(), bench.queries(), 22)};
  RunContactsOfTiles(bench, world, ours, name + "_contacts_turned", movers);
  // Upright boxes, as most movers of such maps are.
  movers.outlines = {{{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}};
  for (double& c : movers.placements.c) c = 1;
  for (double& s : movers.placements.s) s = 0;
  RunContactsOfTiles(bench, world, ours, name + "_contacts_upright", movers);
  Points points = FreePoints(world, bench.queries(), 23);
  RunNearestOfTiles(bench, world, ours, name + "_nearest", points);
  for (double& x : points.x) x = OnLattice(x);
  for (double& y : points.y) y = OnLattice(y);
  RunNearestOfTiles(bench, world, ours, name + "_nearest_lattice", points);
}

}  // namespace carom::bench
