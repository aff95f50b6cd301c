// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Random starts in every shared scene: in at least 99 of 100 the shape gets free, and is in
// contact with nothing where it then stands. One case for each file of scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "carom/contact.h"
#include "carom/depenetrate.h"
#include "client/formats/scene_reader.h"
#include "tests/conformance/fixture.h"
#include "tests/core/random_scene.h"

namespace carom::testing {
namespace {

constexpr int kStarts = 40;

Shape Ring(const std::vector<Vec2>& unit, double scale) {
  PolygonSpec spec;
  spec.rings.emplace_back();
  for (const Vec2 p : unit) spec.rings[0].vertices.push_back({p.x * scale, p.y * scale});
  return Polygon::Create(spec).value();
}

// A triangle, a box, a hexagon, a circle, a capsule and an L, of extent `size`.
std::vector<Shape> MoversOf(double size) {
  const double r = size / 2;
  return {Ring({{-1, -1}, {1, -1}, {0, 1}}, r),
          Ring({{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}, r),
          Ring({{1, 0}, {0.5, 0.9}, {-0.5, 0.9}, {-1, 0}, {-0.5, -0.9}, {0.5, -0.9}}, r),
          Shape::Create(Capsule{{}, r}).value(),
          Shape::Create(Capsule{{{-r / 2, 0}, {r / 2, 0}}, r / 2}).value(),
          Ring({{-1, -1}, {1, -1}, {1, 0}, {0, 0}, {0, 1}, {-1, 1}}, r)};
}

struct Tally {
  int starts = 0;
  int overlapping = 0;
  int finished = 0;
  int jumped = 0;
  uint64_t steps = 0;
  double moved = 0;  // in sizes of the mover, over all that moved
};

void RunScene(const Scene& scene, Random& random, Tally& tally) {
  const Box& box = scene.bounds();
  const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
  for (int i = 0; i < kStarts; ++i) {
    const double size = extent * 0.002 * std::pow(10.0, random.Unit());
    const std::vector<Shape> shapes = MoversOf(size);
    const auto shape = static_cast<uint32_t>(i) % static_cast<uint32_t>(shapes.size());
    const double x = box.min.x + (box.max.x - box.min.x) * random.Unit();
    const double y = box.min.y + (box.max.y - box.min.y) * random.Unit();
    const double angle = 6.28 * random.Unit();
    ShapeColumns columns;
    columns.shapes = shapes;
    columns.shape = {&shape, 1};
    columns.x = {&x, 1};
    columns.y = {&y, 1};
    columns.angle = {&angle, 1};
    DepenetrateAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(Depenetrate(scene, columns, {}, out, meter));
    ASSERT_TRUE(out.errors.empty());
    ++tally.starts;
    tally.overlapping += out.steps[0] > 0 ? 1 : 0;
    tally.finished += out.finished[0];
    tally.jumped += out.steps[0] == DepenetrateOptions{}.max_steps ? 1 : 0;
    tally.steps += out.steps[0];
    tally.moved += std::hypot(out.positions[0].x - x, out.positions[0].y - y) / size;
    if (out.finished[0] == 0) continue;
    // Free by another road: no contact is found there.
    ContactColumns there;
    there.movers = columns;
    there.movers.x = {&out.positions[0].x, 1};
    there.movers.y = {&out.positions[0].y, 1};
    ContactAnswers contacts;
    ASSERT_TRUE(FindContacts(scene, there, {}, contacts, meter));
    EXPECT_TRUE(contacts.polygon_ids.empty());
  }
}

class DepenetrateScenesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DepenetrateScenesTest, RandomStartsGetFree) {
  CAROM_NEEDS_SHARED_DIR(data);
  const absl::StatusOr<SceneFile> file = SceneFile::Read(data + "/scenes/" + GetParam() + ".jsonl");
  ASSERT_TRUE(file.ok()) << file.status();
  Tally tally;
  Random random(41);
  for (size_t i = 0; i < file->size(); ++i) {
    absl::StatusOr<std::vector<Polygon>> polygons = file->polygons(i);
    ASSERT_TRUE(polygons.ok()) << polygons.status();
    const Scene::Ptr scene = Scene::Create(*std::move(polygons)).value();
    if (scene->bounds().empty() || (scene->bounds().max.x <= scene->bounds().min.x &&
                                    scene->bounds().max.y <= scene->bounds().min.y)) {
      continue;
    }
    RunScene(*scene, random, tally);
  }
  ASSERT_GT(tally.starts, 0);
  std::string figures =
      std::to_string(tally.finished) + " of " + std::to_string(tally.starts) + " free, " +
      std::to_string(tally.overlapping) + " of which overlapped, " + std::to_string(tally.jumped) +
      " by a jump, " + std::to_string(tally.steps) + " pushes, " +
      std::to_string(tally.moved / std::max(1, tally.overlapping)) + " sizes moved on average";
  RecordProperty("figures", figures);
  GTEST_LOG_(INFO) << figures;
  EXPECT_GE(tally.finished * 100, tally.starts * 99);
}

INSTANTIATE_TEST_SUITE_P(Files, DepenetrateScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace carom::testing
