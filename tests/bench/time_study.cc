// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The paper's time study: one mover about one figure, step by step, with and without memory, beside
// GEOS' prepared polygon and Box2D's convex pieces.

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/study_figures.h"
#include "tests/bench/surface_plot.h"

namespace carom::bench {
namespace {

// One figure, one mover, one way.
struct Cell {
  std::string name;
  FigureKind kind;
  size_t n, m;
  Path way;
  double warm, cold, geos;
  double box2d;  // 0 where there is none
  double hits;   // share of the steps
  MoveTiers tiers;
};

double TimeOf(const std::vector<Timing>& timings, const std::string& name) {
  for (const Timing& timing : timings) {
    if (timing.name == name) return timing.ns;
  }
  return 0;
}

// Who answers a cell. Box2D is null where it is not built.
struct Contenders {
  Carom& ours;
  OutlinePeer& geos;
  ScenePeer* box2d;
};

class Study {
 public:
  explicit Study(Bench& bench) : bench_(bench) {}

  void Run();

 private:
  void RunFigure(FigureKind kind, size_t n, const Figure& figure);
  void RunCell(Cell cell, const Contenders& contenders, const Figure& mover, bool turning);
  void Report();
  void Plot() const;

  Bench& bench_;
  std::vector<Cell> cells_;
  int differences_ = 0;
};

void Study::Run() {
  bench_.report.Title("time_study");
  std::printf("%-34s %8s %8s %9s %9s %6s  %s\n", "cell, ns a step", "tracked", "cold", "geos",
              "box2d", "touch", "quiet/near/refresh/cold, % of steps");
  for (const FigureKind kind : kFigureKinds) {
    for (const size_t n :
         {size_t{10}, size_t{50}, size_t{100}, size_t{500}, size_t{1000}, size_t{10000}}) {
      if (bench_.quick && n != 100) continue;
      const std::optional<Figure> figure = MakeFigure(kind, n, bench_.maps);
      if (figure) RunFigure(kind, n, *figure);
    }
  }
  Report();
  if (!bench_.quick) Plot();
}

void Study::RunFigure(FigureKind kind, size_t n, const Figure& figure) {
  Carom ours(std::vector<Outline>{figure.outline});
  const std::unique_ptr<OutlinePeer> geos = MakeGeos(figure.outline);
  World world;
  world.polygons = {figure.outline};
  world.pieces = figure.pieces;
  for (const size_t m : {size_t{3}, size_t{10}, size_t{50}, size_t{100}, size_t{1000}}) {
    if (bench_.quick && m != 10) continue;
    const Figure mover = MakeMover(m);
    const std::unique_ptr<ScenePeer> box2d = MakeBox2D(world, mover.pieces);
    for (const Path way : kPaths) {
      for (const bool turning : {false, true}) {
        const std::string name =
            absl::StrCat(figure.name, "x", m, "_", Name(way), turning ? "_turning" : "");
        RunCell({name, kind, n, m, way, 0, 0, 0, 0, 0, {}}, {ours, *geos, box2d.get()}, mover,
                turning);
      }
    }
  }
}

void Study::RunCell(Cell cell, const Contenders& contenders, const Figure& mover, bool turning) {
  const auto& [ours, geos, box2d] = contenders;
  const Movers movers{{mover.outline}, MakePath(cell.way, turning)};
  const size_t steps = movers.placements.size();
  const std::vector<Timing> timings = RunInterleaved(
      {{"tracked", ours.Tracked(movers, Coherence::kOn, &cell.tiers)},
       {"cold", ours.Tracked(movers, Coherence::kOff)},
       {"geos", geos.Touches(movers)},
       {"box2d", box2d ? box2d->Touched(movers.placements, kMoverRadius) : Question()}},
      steps, bench_.quick ? 1 : 3);
  cell.warm = TimeOf(timings, "tracked");
  cell.cold = TimeOf(timings, "cold");
  cell.geos = TimeOf(timings, "geos");
  cell.box2d = TimeOf(timings, "box2d");
  cell.hits = static_cast<double>(timings[0].hits) / static_cast<double>(steps);
  // Exact ones agree; Box2D has floats.
  if (timings[1].hits != timings[0].hits || timings[2].hits != timings[0].hits) ++differences_;
  const MoveTiers& tiers = cell.tiers;
  const double percent =
      100.0 / static_cast<double>(tiers.quiet + tiers.near + tiers.refresh + tiers.cold);
  std::printf(
      "%-34s %8.1f %8.1f %9.1f %9.1f %5.1f%%  %.1f/%.1f/%.2f/%.2f%s\n", cell.name.c_str(),
      cell.warm, cell.cold, cell.geos, cell.box2d, 100 * cell.hits,
      percent * static_cast<double>(tiers.quiet), percent * static_cast<double>(tiers.near),
      percent * static_cast<double>(tiers.refresh), percent * static_cast<double>(tiers.cold),
      2 * (tiers.refresh + tiers.cold) > tiers.quiet + tiers.near ? "  TOO MANY REFRESHES" : "");
  cells_.push_back(std::move(cell));
}

void Study::Report() {
  std::vector<double> warm, cold, geos, box2d, warm_beside_box2d;
  double least_geos = 1e300;
  double least_box2d = 1e300;
  size_t slower = 0;
  bool refreshes_rarely = true;
  for (const Cell& cell : cells_) {
    warm.push_back(cell.warm);
    cold.push_back(cell.cold);
    geos.push_back(cell.geos);
    least_geos = std::min(least_geos, cell.geos / cell.warm);
    if (cell.box2d > 0) {
      warm_beside_box2d.push_back(cell.warm);
      box2d.push_back(cell.box2d);
      least_box2d = std::min(least_box2d, cell.box2d / cell.warm);
      slower += cell.box2d < cell.warm;
    }
    const MoveTiers& tiers = cell.tiers;
    if (2 * (tiers.refresh + tiers.cold) > tiers.quiet + tiers.near) refreshes_rarely = false;
  }
  const bool valid = differences_ == 0 && refreshes_rarely;
  bench_.report.Add({"time_study_vs_geos", GeometricMean(warm), "geos prepared",
                     GeometricMean(geos), RatioAtLeast(30),
                     absl::StrCat(cells_.size(), " cells, ", differences_,
                                  " with other hits, least ratio ", least_geos),
                     valid});
  if (!box2d.empty()) {
    bench_.report.Add(
        {"time_study_vs_box2d_pieces", GeometricMean(warm_beside_box2d), "box2d",
         GeometricMean(box2d), RatioAtLeast(5),
         absl::StrCat(box2d.size(), " cells, ", slower, " slower, least ratio ", least_box2d),
         valid});
  }
  bench_.report.Figure("time_study cold path / tracked", GeometricMean(cold) / GeometricMean(warm),
                       "x");
}

// The paper's figure 5: the circle about the star, by both numbers of vertices.
void Study::Plot() const {
  const std::vector<size_t> columns{10, 50, 100, 500, 1000, 10000};
  const std::vector<size_t> rows{3, 10, 50, 100, 1000};
  std::vector<Surface> surfaces{
      {"Carom, tracked", {}}, {"GEOS, prepared", {}}, {"Box2D v3, pieces", {}}};
  for (Surface& surface : surfaces) {
    surface.times.assign(columns.size(), std::vector<double>(rows.size(), 0));
  }
  for (const Cell& cell : cells_) {
    if (cell.kind != FigureKind::kStar || cell.way != Path::kNear) continue;
    const auto i =
        static_cast<size_t>(std::find(columns.begin(), columns.end(), cell.n) - columns.begin());
    const auto k = static_cast<size_t>(std::find(rows.begin(), rows.end(), cell.m) - rows.begin());
    surfaces[0].times[i][k] = cell.warm;
    surfaces[1].times[i][k] = cell.geos;
    surfaces[2].times[i][k] = cell.box2d;
  }
  if (surfaces[2].times[0][0] == 0) surfaces.pop_back();
  std::ofstream(bench_.out + "/time_study.svg")
      << SurfacePlot("Time of a step, turning, on a circle about a star that it clears by 2 %",
                     columns, rows, surfaces);
}

}  // namespace

void RunTimeStudy(Bench& bench) {
  if (bench.Wants("time_study")) Study(bench).Run();
}

}  // namespace carom::bench
