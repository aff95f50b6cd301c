// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the readers of maps share: files of the shared folder, scenes that were made
// from them by another program, areas, and rays that must meet the same edges.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "carom/cast.h"
#include "carom/scene.h"
#include "client/formats/scene_reader.h"
#include "client/maps/map_import.h"
#include "tests/conformance/fixture.h"
#include "tests/support/random.h"

namespace carom::testing {

using Ring = std::vector<Vec2>;
using Reader = absl::StatusOr<ImportedMap> (*)(std::string_view, const ImportOptions&,
                                               const FileOpener&);

// Opens the files of a map, by name.
inline FileOpener OpenFrom(std::map<std::string, std::string> files) {
  return [files = std::move(files)](std::string_view path) -> absl::StatusOr<std::string> {
    const auto file = files.find(std::string(path));
    if (file == files.end()) return absl::NotFoundError("no such file");
    return file->second;
  };
}

inline ImportedMap Imported(Reader read, std::string_view bytes, const ImportOptions& options = {},
                            std::map<std::string, std::string> files = {}) {
  absl::StatusOr<ImportedMap> map = read(bytes, options, OpenFrom(std::move(files)));
  EXPECT_TRUE(map.ok()) << map.status();
  return map.ok() ? *std::move(map) : ImportedMap{};
}

// Returns the message of the error, or "" with a failure if there is none.
inline std::string ErrorOf(Reader read, std::string_view bytes, const ImportOptions& options = {},
                           std::map<std::string, std::string> files = {}) {
  const absl::StatusOr<ImportedMap> map = read(bytes, options, OpenFrom(std::move(files)));
  EXPECT_FALSE(map.ok());
  if (map.ok()) return "";
  EXPECT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(map.status().message());
}

// Leaves y as it is in the file.
inline ImportOptions Unflipped(ImportOptions options = {}) {
  options.flip_y = false;
  return options;
}

// Returns the options with one choice of a layer.
inline ImportOptions WithLayer(std::string name, LayerUse use = LayerUse::kDefault) {
  ImportOptions options = Unflipped();
  options.layers.push_back({std::move(name), std::nullopt, use});
  return options;
}

inline Ring RingOf(const Polygon& polygon, size_t ring = 0) {
  const auto vertices = polygon.ring(ring);
  return {vertices.begin(), vertices.end()};
}

inline void ExpectRing(const Polygon& polygon, size_t ring, const Ring& expected) {
  ASSERT_LT(ring, polygon.ring_count());
  const Ring found = RingOf(polygon, ring);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].x, expected[i].x) << "vertex " << i;
    EXPECT_EQ(found[i].y, expected[i].y) << "vertex " << i;
  }
}

// Returns the area of a ring, positive if it is counter-clockwise with y up.
inline double SignedArea(const Ring& ring) {
  double twice = 0;
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 a = ring[i], b = ring[(i + 1) % ring.size()];
    twice += a.x * b.y - a.y * b.x;
  }
  return twice / 2;
}

// Returns the area of polygons whose first ring contains the others.
inline double AreaOf(const std::vector<Polygon>& polygons) {
  double area = 0;
  for (const Polygon& polygon : polygons) {
    for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
      if (polygon.is_open(ring) || polygon.solidity() == Solidity::kBoundary) continue;
      const double part = std::abs(SignedArea(RingOf(polygon, ring)));
      area += ring == 0 ? part : -part;
    }
  }
  return area;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns a scene of the shared folder, with its polygons moved by `place`.
inline std::vector<Polygon> SharedScene(
    const std::string& data, const std::string& source, const std::string& file,
    const std::function<Vec2(Vec2)>& place = [](Vec2 p) { return p; }) {
  const absl::StatusOr<SceneFile> scenes = SceneFile::Read(data + "/scenes/" + source + ".jsonl");
  EXPECT_TRUE(scenes.ok()) << scenes.status();
  if (!scenes.ok()) return {};
  const std::optional<size_t> index = scenes->Find(source + "/" + file);
  EXPECT_TRUE(index.has_value()) << file;
  if (!index) return {};
  const absl::StatusOr<std::vector<Polygon>> read = scenes->polygons(*index);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return {};
  std::vector<Polygon> polygons;
  for (const Polygon& polygon : *read) {
    PolygonSpec spec = polygon.spec();
    for (RingSpec& ring : spec.rings) {
      for (Vec2& vertex : ring.vertices) vertex = place(vertex);
    }
    polygons.push_back(Polygon::Create(std::move(spec), {.max_vertices = 1 << 24}).value());
  }
  return polygons;
}

// Returns, for each of `count` segments across the polygons of `box_of`, where it enters polygons.
inline std::vector<std::vector<double>> Hits(const std::vector<Polygon>& polygons, const Box& box,
                                             size_t count = 1000) {
  const SceneLimits limits{.max_polygons = 1 << 24, .max_vertices = 1 << 26};
  const Scene::Ptr scene = Scene::Create(polygons, 1, limits).value();
  SplitMix64 random(40);
  std::vector<double> ax, ay, bx, by;
  for (size_t i = 0; i < count; ++i) {
    ax.push_back(box.min.x + random.Unit() * (box.max.x - box.min.x));
    ay.push_back(box.min.y + random.Unit() * (box.max.y - box.min.y));
    bx.push_back(box.min.x + random.Unit() * (box.max.x - box.min.x));
    by.push_back(box.min.y + random.Unit() * (box.max.y - box.min.y));
  }
  CastOptions options;
  options.mode = CastMode::kAll;
  options.max_hits = kMaxMaxHits;
  CastAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(CastSegments(*scene, {ax, ay, bx, by}, options, answers, meter));
  std::vector<std::vector<double>> hits(count);
  size_t next = 0;
  for (size_t i = 0; i < count; ++i) {
    for (uint32_t hit = 0; hit < answers.counts[i]; ++hit) {
      hits[i].push_back(answers.hits[next++].fraction);
    }
  }
  return hits;
}

inline Box BoxOf(const std::vector<Polygon>& polygons) {
  Box box;
  for (const Polygon& polygon : polygons) box.Extend(polygon.bounds());
  return box;
}

// Expects two lists of polygons to have the same count and area, and to be met by 1,000 segments at
// the same fractions, within `tolerance`.
inline void ExpectSamePlaces(const std::vector<Polygon>& found,
                             const std::vector<Polygon>& expected, double tolerance = 0) {
  ASSERT_EQ(found.size(), expected.size());
  const double area = AreaOf(expected);
  EXPECT_NEAR(AreaOf(found), area, 1e-12 * std::abs(area) + tolerance);
  const Box box = BoxOf(expected);
  const auto a = Hits(found, box), b = Hits(expected, box);
  size_t hit_count = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].size(), b[i].size()) << "segment " << i;
    for (size_t k = 0; k < a[i].size(); ++k) EXPECT_NEAR(a[i][k], b[i][k], tolerance);
    hit_count += a[i].size();
  }
  EXPECT_GT(hit_count, 0u);
}

// Returns the texts of what was skipped, `what: why`, in order.
inline std::vector<std::string> SkippedOf(const ImportedMap& map) {
  std::vector<std::string> texts;
  for (const SkippedPart& part : map.skipped) texts.push_back(part.what + ": " + part.why);
  return texts;
}

}  // namespace carom::testing
