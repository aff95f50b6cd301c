// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Culling may let too much pass, never too little: whatever box a line meets exactly, the descent
// tells of.
#include "index/line_traversal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "index/line_interval.h"
#include "tests/core/random_scene.h"

namespace carom::testing::line_traversal_test {
namespace {

using CastLine = internal::Line;
using internal::Frontier;
using internal::LineCull;
using internal::LineDescent;
using internal::LineInterval;
using internal::SceneIndex;
using internal::Slot;

using Ids = std::set<uint64_t>;

// Keeps what it is given.
class Witness final : public internal::LineObserver {
 public:
  explicit Witness(const SceneIndex& scene) : scene_(scene) {}

  void Visit(const Frontier& pairs) override {
    for (size_t i = 0; i < pairs.count; ++i) {
      const Slot slot = Slot::Of(pairs.targets[i]);
      const IndexedPolygon& indexed = scene_.tile(slot.tile).entries()[slot.index];
      seen.emplace(pairs.lines[i], indexed.polygon().id());
    }
  }
  Ids OfLine(size_t line) const {
    Ids ids;
    for (const auto& [which, id] : seen) {
      if (which == line) ids.insert(id);
    }
    return ids;
  }

  std::set<std::pair<size_t, uint64_t>> seen;

 private:
  const SceneIndex& scene_;
};

// What is seen along all of the line, and stretch by stretch.
Ids Seen(const SceneIndex& scene, const CastLine& line, bool is_whole = true) {
  const auto descent = std::make_unique<LineDescent>();
  Witness witness(scene);
  WorkMeter meter;
  LineInterval stretch;
  stretch.Start(line, scene, is_whole);
  while (true) {
    const bool is_last = stretch.end() == line.t_max;
    descent->lines[0] = LineCull(line, stretch.bounds(), scene.magnitude());
    descent->Run(scene, 1, witness, meter);
    if (is_last) return witness.OfLine(0);
    stretch.Advance(line, line.t_max);
  }
}

Polygon BoxAt(uint64_t id, Vec2 a, Vec2 b) { return Polygon::Create({id, {{{a, b}}}}).value(); }

// Boxes all over a square of side `size`, of sides below `most`.
std::vector<Polygon> Boxes(Random& random, uint64_t count, double size, double most) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < count; ++id) {
    const Vec2 a{size * random.Unit(), size * random.Unit()};
    polygons.push_back(BoxAt(id, a, {a.x + most * random.Unit(), a.y + most * random.Unit()}));
  }
  return polygons;
}

TEST(LineTraversalTest, NoBoxThatASegmentMeetsIsLeftOut) {
  Random random(0xf1196);
  int met = 0;
  for (const double scale : {1.0, 1e-9, 0x1p-138, 1e9, 0x1p46}) {
    for (int round = 0; round < 40; ++round) {
      // Far from the origin or about it; on a grid, so that corners are met exactly, or not.
      const double from = round % 3 == 0 ? 60 * scale : 0;
      const auto coordinate = [&] {
        const double value = round % 2 == 0 ? random.Below(40) : 40 * random.Unit();
        return Normalized(from + value * scale);
      };
      std::vector<Polygon> polygons;
      for (uint64_t id = 0; id < 700; ++id) {
        const Vec2 a{coordinate(), coordinate()};
        const Vec2 size{4 * scale * random.Unit(), 4 * scale * random.Unit()};
        polygons.push_back(BoxAt(id, a, {a.x + size.x, a.y + size.y}));
      }
      const SceneIndex scene(polygons, Workers{});
      for (int i = 0; i < 30; ++i) {
        const carom::Segment segment{{coordinate(), coordinate()}, {coordinate(), coordinate()}};
        const Ids seen = Seen(scene, segment);
        const Ids in_stretches = Seen(scene, segment, false);
        for (const Polygon& polygon : polygons) {
          if (!Intersects(segment, polygon.bounds())) continue;
          ++met;
          ASSERT_TRUE(seen.contains(polygon.id())) << scale << " " << round << " " << i;
          ASSERT_TRUE(in_stretches.contains(polygon.id())) << scale << " " << round << " " << i;
        }
      }
    }
  }
  EXPECT_GT(met, 10000);
}

TEST(LineTraversalTest, RaysReachTheEndsOfTheWorld) {
  const double m = kMaxCoordinate;
  std::vector<Polygon> polygons;
  const Vec2 corners[] = {{m, m}, {-m, m}, {m, -m}, {-m, -m}, {m, 0}, {0, -m}};
  for (uint64_t id = 0; id < std::size(corners); ++id) {
    polygons.push_back(BoxAt(id, corners[id], corners[id]));
  }
  polygons.push_back(BoxAt(9, {0x1p-140, 0x1p-140}, {0x1p-140, 0x1p-140}));
  const SceneIndex scene(polygons, Workers{});
  for (uint64_t id = 0; id < std::size(corners); ++id) {
    const Vec2 direction{corners[id].x / 0x1p53, corners[id].y / 0x1p53};
    EXPECT_TRUE(Seen(scene, CastLine(carom::Ray{{0, 0}, direction})).contains(id)) << id;
    EXPECT_TRUE(
        Seen(scene, CastLine(carom::Ray{{0, 0}, {direction.x * 0x1p-140, direction.y * 0x1p-140}}))
            .contains(id))
        << id;
  }
  EXPECT_TRUE(Seen(scene, CastLine(carom::Ray{{0, 0}, {1, 1}})).contains(9));
  EXPECT_TRUE(Seen(scene, CastLine(carom::Segment{{0, 0}, {0x1p-140, 0x1p-140}})).contains(9));
}

TEST(LineTraversalTest, ManyLinesSeeWhatEachAloneDoes) {
  Random random(77);
  const SceneIndex scene(Boxes(random, 3000, 100, 1), Workers{});
  const auto descent = std::make_unique<LineDescent>();
  std::vector<CastLine> lines;
  for (size_t i = 0; i < LineDescent::kMaxLines; ++i) {
    const auto coordinate = [&random] { return 100 * random.Unit(); };
    lines.emplace_back(carom::Segment{{coordinate(), coordinate()}, {coordinate(), coordinate()}});
    descent->lines[i] = LineCull(lines[i], lines[i].bounds, scene.magnitude());
  }
  Witness together(scene);
  WorkMeter meter;
  descent->Run(scene, lines.size(), together, meter);
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(together.OfLine(i), Seen(scene, lines[i])) << i;
  }
  EXPECT_GT(meter.used(), 0u);
  WorkMeter stopped([] { return true; });
  Witness after(scene);
  descent->Run(scene, lines.size(), after, stopped);
  EXPECT_TRUE(stopped.stopped());
  EXPECT_TRUE(after.seen.empty());
}

// More pairs than a frontier opens at once, on every level.
TEST(LineTraversalTest, EveryLineSeesAllThatCoverEachOther) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 5000; ++id) polygons.push_back(BoxAt(id, {-1, -1}, {1, 1}));
  const SceneIndex scene(polygons, Workers{});
  const auto descent = std::make_unique<LineDescent>();
  const CastLine line(carom::Segment{{-2, 0}, {2, 0.5}});
  for (LineCull& cull : descent->lines) cull = LineCull(line, line.bounds, scene.magnitude());
  Witness witness(scene);
  WorkMeter meter;
  descent->Run(scene, LineDescent::kMaxLines, witness, meter);
  EXPECT_EQ(witness.seen.size(), LineDescent::kMaxLines * polygons.size());
}

TEST(LineTraversalTest, AStoppedLineSeesNothing) {
  Random random(78);
  const SceneIndex scene(Boxes(random, 1000, 10, 1), Workers{});
  const auto descent = std::make_unique<LineDescent>();
  const CastLine line(carom::Segment{{0, 0}, {10, 10}});
  descent->lines[0] = descent->lines[1] = LineCull(line, line.bounds, scene.magnitude());
  descent->lines[0].Stop();
  Witness witness(scene);
  WorkMeter meter;
  descent->Run(scene, 2, witness, meter);
  EXPECT_TRUE(witness.OfLine(0).empty());
  EXPECT_FALSE(witness.OfLine(1).empty());
}

// Tiles that were edited have trees of other heights than full ones.
TEST(LineTraversalTest, TilesOfAllSizes) {
  Random random(79);
  std::vector<Polygon> polygons = Boxes(random, 4000, 100, 1);
  const SceneIndex base(polygons, Workers{});
  std::vector<const Polygon*> gone;
  for (const Polygon& polygon : polygons) {
    if (polygon.bounds().min.x < 20 && polygon.id() % 8 != 0) gone.push_back(&polygon);
  }
  std::vector<Polygon> arriving;
  for (uint64_t id = 4000; id < 4400; ++id) {
    const Vec2 a{80 + random.Unit(), 80 + random.Unit()};
    arriving.push_back(BoxAt(id, a, {a.x + 0.01, a.y + 0.01}));
  }
  const SceneIndex scene(base, gone, arriving);
  size_t least = 9;
  size_t most = 0;
  for (size_t at = 0; at < scene.tree().count(); ++at) {
    least = std::min(least, scene.tile(at).tree().level_count());
    most = std::max(most, scene.tile(at).tree().level_count());
  }
  EXPECT_LT(least, most);
  for (int i = 0; i < 100; ++i) {
    const carom::Segment segment{{100 * random.Unit(), 100 * random.Unit()},
                                 {100 * random.Unit(), 100 * random.Unit()}};
    const Ids seen = Seen(scene, segment);
    for (size_t k = 0; k < scene.polygon_count(); ++k) {
      if (!Intersects(segment, scene.polygon(k).bounds())) continue;
      ASSERT_TRUE(seen.contains(scene.polygon(k).id())) << i;
    }
  }
}

TEST(LineStretchTest, FollowEachOtherToTheEnd) {
  Random random(80);
  const SceneIndex scene(Boxes(random, 3000, 100, 1), Workers{});
  const carom::Ray rays[] = {{{50, 50}, {1, 0.25}},
                             {{-1e6, 50}, {1, 0}},
                             {{50, 50}, {0, -1e-9}, 3e9},
                             {{200, 200}, {1, 1}},
                             {{0, 0}, {1, 1}, 0, 1e6}};
  for (const carom::Ray& ray : rays) {
    const CastLine line(ray);
    LineInterval stretch;
    stretch.Start(line, scene, false);
    double end = line.t_min;
    int count = 1;
    for (; stretch.end() < line.t_max; ++count) {
      ASSERT_GT(stretch.end(), end);
      ASSERT_LT(count, 20);
      end = stretch.end();
      stretch.Advance(line, line.t_max);
    }
    EXPECT_EQ(stretch.end(), line.t_max);
  }
  // Many along a line are as far apart as many in a plane.
  std::vector<Polygon> row;
  for (uint64_t id = 0; id < 1000; ++id) {
    row.push_back(BoxAt(id, {id * 1.0, 0}, {id + 0.5, 0}));
  }
  EXPECT_NEAR(SceneIndex(row, Workers{}).spacing(), 1, 0.01);
  LineInterval stretch;
  const CastLine line(carom::Segment{{0, 0}, {100, 100}});
  stretch.Start(line, scene, true);
  EXPECT_EQ(stretch.end(), 1);
  stretch.Start(line, scene, false);
  EXPECT_LT(stretch.end(), 0.5);
  stretch.Advance(line, 0.5);
  EXPECT_LE(stretch.end(), 0.5);
}

}  // namespace
}  // namespace carom::testing::line_traversal_test
