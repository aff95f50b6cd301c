// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

Polygon PolygonOf(const nlohmann::json& json) {
  PolygonSpec spec;
  spec.id = json.at("id").get<uint64_t>();
  if (json.at("fill") == "nonzero") spec.fill_rule = FillRule::kNonZero;
  for (const nlohmann::json& ring : json.at("rings")) {
    RingSpec& made = spec.rings.emplace_back();
    for (const nlohmann::json& p : ring) {
      made.vertices.push_back({p.at(0).get<double>(), p.at(1).get<double>()});
    }
  }
  return *Polygon::Create(std::move(spec));
}

// Segments anywhere in the scene's box, each a tenth of its diagonal long.
Segments SegmentsIn(const Box& box, size_t count) {
  Random random(14);
  const double length = std::hypot(box.max.x - box.min.x, box.max.y - box.min.y) / 10;
  Segments segments;
  for (size_t i = 0; i < count; ++i) {
    const Vec2 a{random.Between(box.min.x, box.max.x), random.Between(box.min.y, box.max.y)};
    const double angle = random.Between(0, 2 * std::numbers::pi);
    segments.Append(a, {a.x + length * std::cos(angle), a.y + length * std::sin(angle)});
  }
  return segments;
}

struct MapTimes {
  std::vector<double> casts, points;
  size_t polygons = 0;
};

void RunScene(const nlohmann::json& json, int rounds, MapTimes& times) {
  std::vector<Polygon> polygons;
  for (const nlohmann::json& polygon : json.at("polygons")) {
    polygons.push_back(PolygonOf(polygon));
  }
  if (polygons.empty()) return;
  times.polygons += polygons.size();
  constexpr size_t kQueries = 4096;
  Carom ours(MakeScene(std::move(polygons)));
  const Segments segments = SegmentsIn(ours.scene()->bounds(), kQueries);
  const Points points{segments.ax, segments.ay};
  const std::vector<Timing> timings = RunInterleaved(
      {{"casts", ours.Casts(segments)}, {"points", ours.Holds(points)}}, kQueries, rounds);
  times.casts.push_back(timings[0].ns);
  times.points.push_back(timings[1].ns);
}

}  // namespace

void RunMaps(Bench& bench) {
  if (!bench.Wants("maps")) return;
  bench.report.Title("maps");
  if (bench.maps.empty() || !std::filesystem::is_directory(bench.maps)) {
    std::printf("no folder of maps (--maps): left out\n");
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(bench.maps)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    MapTimes times;
    for (std::string line; std::getline(in, line);) {
      if (!line.empty()) RunScene(nlohmann::json::parse(line), 3, times);
    }
    if (times.casts.empty()) continue;
    const std::string note = absl::StrCat("geometric mean of ", times.casts.size(), " scenes, ",
                                          times.polygons, " polygons");
    bench.report.Figure(absl::StrCat("map ", file.stem().string(), " casts"),
                        GeometricMean(times.casts), "ns", note);
    bench.report.Figure(absl::StrCat("map ", file.stem().string(), " points"),
                        GeometricMean(times.points), "ns", note);
  }
}

}  // namespace carom::bench
