// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/support/heap.h"

namespace carom::bench {
namespace {

using testing::HeapMeter;

constexpr OutlineKind kKinds[] = {OutlineKind::kStar, OutlineKind::kComb, OutlineKind::kCoastline};

// Goals over many cases, by their geometric mean.
class Means {
 public:
  void Add(const std::vector<Timing>& timings) {
    ours_.push_back(timings[0].ns);
    theirs_.push_back(timings[1].ns);
    differences_ += HitsAgree(timings[0].hits, timings[1].hits) ? 0 : 1;
    worst_ = std::min(worst_, timings[1].ns / timings[0].ns);
    instructions_.push_back(timings[0].instructions);
  }

  Row RowOf(const std::string& name, double goal) const {
    return {name,
            GeometricMean(ours_),
            "geos prepared",
            GeometricMean(theirs_),
            RatioAtLeast(goal),
            absl::StrCat(ours_.size(), " cases, ", differences_, " with other hits, least ratio ",
                         worst_),
            differences_ == 0,
            instructions_[0] > 0 ? GeometricMean(instructions_) : 0};
  }

 private:
  std::vector<double> ours_, theirs_, instructions_;
  int differences_ = 0;
  double worst_ = 1e300;
};

// Bytes of the scene's heap beyond those of the polygon, once asked, a vertex.
double IndexBytesPerVertex(const Outline& outline) {
  const Points center{{0}, {0}};
  std::vector<Polygon> polygons = MakePolygons({outline});
  HeapMeter meter;
  Carom ours(MakeScene(std::move(polygons)));
  ours.Holds(center)(0, 1);
  return static_cast<double>(meter.bytes()) / static_cast<double>(outline.size());
}

// The medians of both builds, in turns.
std::pair<double, double> Builds(OutlinePeer& ours, OutlinePeer& theirs, int rounds) {
  std::vector<double> a, b;
  for (int round = 0; round <= rounds; ++round) {
    const double x = ours.BuildNanoseconds();
    const double y = theirs.BuildNanoseconds();
    if (round == 0) continue;  // to warm up
    a.push_back(x);
    b.push_back(y);
  }
  return {Median(a), Median(b)};
}

Points SquarePoints(size_t count) {
  Random random(5);
  Points points;
  for (size_t i = 0; i < count; ++i) {
    points.x.push_back(random.Between(-1, 1));
    points.y.push_back(random.Between(-1, 1));
  }
  return points;
}

void RunPointInPolygon(Bench& bench) {
  const Points points = SquarePoints(bench.queries());
  Means means;
  double most_bytes = 0;
  std::vector<double> our_builds, their_builds;
  double worst_build = 0;
  for (const OutlineKind kind : kKinds) {
    for (const size_t n : {size_t{100}, size_t{1000}, size_t{10000}, size_t{100000}}) {
      if (bench.quick && n > 10000) continue;
      const std::string name = absl::StrCat("point_in_", Name(kind), "_", n);
      const Outline outline = MakeOutline(kind, n, 6);
      Carom ours(std::vector<Outline>{outline});
      const std::unique_ptr<OutlinePeer> geos = MakeGeos(outline);
      const Question theirs = geos->Holds(points);
      const size_t queries = QueriesWithin(0.3, theirs, bench.queries());
      const std::vector<Timing> timings = RunInterleaved(
          {{"carom", ours.Holds(points)}, {"geos", theirs}}, queries, bench.rounds());
      bench.report.Timings(name, timings);
      means.Add(timings);
      const double bytes = IndexBytesPerVertex(outline);
      const auto [our_build, their_build] = Builds(ours, *geos, 5);
      bench.report.Figure(name + " index", bytes, "bytes a vertex");
      bench.report.Figure(name + " build", our_build / 1000, "us",
                          absl::StrCat("geos ", their_build / 1000, " us"));
      // The fixed part of a scene is not the index's.
      if (n >= 1000) most_bytes = std::max(most_bytes, bytes);
      our_builds.push_back(our_build);
      their_builds.push_back(their_build);
      worst_build = std::max(worst_build, our_build / their_build);
    }
  }
  bench.report.Add(means.RowOf("point_in_polygon_vs_geos", 15));
  bench.report.Add({"point_in_polygon_index_bytes_per_vertex", most_bytes, "-", 0, ValueAtMost(64),
                    "the most, of 1000 vertices or more"});
  bench.report.Add({"point_in_polygon_build_vs_geos", GeometricMean(our_builds), "geos prepared",
                    GeometricMean(their_builds), RatioAtMost(2),
                    absl::StrCat("at worst ", worst_build)});
}

void RunPolygonPolygon(Bench& bench) {
  Means means;
  for (const OutlineKind kind : kKinds) {
    for (const size_t n : {size_t{100}, size_t{1000}, size_t{10000}}) {
      for (const size_t m : {size_t{10}, size_t{100}, size_t{1000}}) {
        if (bench.quick && n * m > 100000) continue;
        const std::string name = absl::StrCat("polygon_polygon_", Name(kind), "_", n, "x", m);
        const Outline outline = MakeOutline(kind, n, 7);
        Movers movers{{MakeOutline(kind, m, 8)}, {}};
        for (Vec2& p : movers.outlines[0]) p = {p.x / 4, p.y / 4};
        movers.placements = RandomPlacements(1, 1.25, m < 1000 ? 16384 : 4096, n + m);
        Carom ours(std::vector<Outline>{outline});
        const std::unique_ptr<OutlinePeer> geos = MakeGeos(outline);
        const Question theirs = geos->Touches(movers);
        const size_t queries = QueriesWithin(0.3, theirs, movers.placements.size());
        const std::vector<Timing> timings =
            RunInterleaved({{"carom", ours.Touches(movers)}, {"geos", theirs}}, queries,
                           std::min(5, bench.rounds()));
        bench.report.Timings(name, timings);
        means.Add(timings);
      }
    }
  }
  bench.report.Add(means.RowOf("polygon_polygon_vs_geos", 10));
}

}  // namespace

void RunOutlines(Bench& bench) {
  if (bench.Wants("point_in_polygon")) {
    bench.report.Title("point_in_polygon");
    RunPointInPolygon(bench);
  }
  if (bench.Wants("polygon_polygon")) {
    bench.report.Title("polygon_polygon");
    RunPolygonPolygon(bench);
  }
}

}  // namespace carom::bench
