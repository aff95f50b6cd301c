// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Areas of sight in every shared scene: what the pieces say is what lines of sight say, the starts
// are in counter-clockwise order, and eyes that walk get the same areas with trackers. One case for
// each file of scenes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "carom/area.h"
#include "carom/predicates.h"
#include "carom/visibility.h"
#include "client/formats/scene_reader.h"
#include "tests/conformance/fixture.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

// The part of the way to a piece by which a point is nearer or farther than it.
constexpr double kPart = 1e-6;

struct AreaCounts {
  int eyes = 0, pieces = 0, checked = 0, out_of_order = 0;
  EyeTiers tiers;
};

struct Eyes {
  std::vector<double> x, y, range;
};

// Eyes near vertices, where most is in sight.
Eyes PickEyes(const Scene& scene, size_t count, Random& random) {
  const Box& box = scene.bounds();
  const double extent = std::max(box.max.x - box.min.x, box.max.y - box.min.y);
  const auto pick = [&](size_t n) {
    return static_cast<size_t>(random.Below(static_cast<int>(n)));
  };
  Eyes eyes;
  for (size_t i = 0; i < count; ++i) {
    const Polygon& polygon = scene.polygon(pick(scene.polygon_count()));
    const Vec2 vertex = polygon.vertices()[pick(polygon.vertex_count())];
    const double away = extent * 0.1 * std::pow(0.01, random.Unit());
    eyes.x.push_back(vertex.x + away * (2 * random.Unit() - 1));
    eyes.y.push_back(vertex.y + away * (2 * random.Unit() - 1));
    eyes.range.push_back(extent * 0.5 * std::pow(0.1, random.Unit()));
  }
  return eyes;
}

AreaAnswers AreasOf(const Scene& scene, const Eyes& eyes, InsidePolicy policy,
                    std::span<EyeTracker> trackers = {}) {
  AreaAnswers out;
  AreaOptions options;
  options.inside_policy = policy;
  options.max_rows = 65536;
  WorkMeter meter;
  AreaColumns columns{eyes.x, eyes.y, eyes.range};
  columns.trackers = trackers;
  EXPECT_TRUE(FindAreas(scene, columns, options, out, meter));
  return out;
}

// The points of the pieces on edges, halfway between two starts in angle, a little nearer than the
// edge and a little farther: the first is visible, and the second is not.
void CheckPieces(const Scene& scene, Vec2 eye, std::span<const AreaPiece> pieces,
                 AreaCounts& counts) {
  std::vector<double> ax, ay, bx, by;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Vec2 a = pieces[i].start, b = pieces[(i + 1) % pieces.size()].start;
    ++counts.pieces;
    counts.out_of_order +=
        pieces.size() > 1 && Orientation(eye, a, b) < 0 && pieces[i].kind != AreaPieceKind::kArc
            ? 1
            : 0;
    if (pieces[i].kind != AreaPieceKind::kEdge) continue;
    const Vec2 u{a.x - eye.x, a.y - eye.y}, v{b.x - eye.x, b.y - eye.y};
    const Vec2 middle{(u.x + v.x) / 2, (u.y + v.y) / 2};
    // The distances of the two points from the line of the edge, and of their line from the starts,
    // must be beyond all rounding.
    const double cross = u.x * v.y - u.y * v.x;
    const double height = kPart * cross / std::hypot(b.x - a.x, b.y - a.y);
    const double width = cross / std::max(std::hypot(u.x, u.y), std::hypot(v.x, v.y)) / 2;
    const double most = std::max({std::abs(a.x), std::abs(a.y), std::abs(eye.x), std::abs(eye.y)});
    if (!(std::min(height, width) > 0x1p-46 * most)) continue;
    for (const double part : {1 - kPart, 1 + kPart}) {
      ax.push_back(eye.x);
      ay.push_back(eye.y);
      bx.push_back(eye.x + part * middle.x);
      by.push_back(eye.y + part * middle.y);
    }
    ++counts.checked;
  }
  SightAnswers sights;
  WorkMeter meter;
  ASSERT_TRUE(TestLinesOfSight(scene, {ax, ay, bx, by}, {}, sights, meter));
  for (size_t i = 0; i < sights.visible.size(); ++i) {
    ASSERT_EQ(sights.visible[i] != 0, i % 2 == 0)
        << "eye " << eye.x << " " << eye.y << " to " << bx[i] << " " << by[i];
  }
}

void CheckEyes(const Scene& scene, Random& random, AreaCounts& counts) {
  const Eyes eyes = PickEyes(scene, 8, random);
  const AreaAnswers areas = AreasOf(scene, eyes, InsidePolicy::kReportStart);
  size_t first = 0;
  for (size_t i = 0; i < eyes.x.size(); ++i) {
    const auto pieces = std::span(areas.pieces).subspan(first, areas.counts[i]);
    first += areas.counts[i];
    ++counts.eyes;
    ASSERT_NO_FATAL_FAILURE(CheckPieces(scene, {eyes.x[i], eyes.y[i]}, pieces, counts));
  }
}

// Eyes walk with trackers and without.
void CheckWalk(const Scene& scene, Random& random, AreaCounts& counts) {
  Eyes eyes = PickEyes(scene, 4, random);
  std::vector<EyeTracker> trackers(eyes.x.size());
  const double step = eyes.range[0] * 0.05 * std::pow(0.001, random.Unit());
  const InsidePolicy policy =
      random.Below(3) == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  for (int tick = 0; tick < 12; ++tick) {
    const AreaAnswers with = AreasOf(scene, eyes, policy, trackers);
    const AreaAnswers without = AreasOf(scene, eyes, policy);
    ASSERT_EQ(with.counts, without.counts);
    ASSERT_TRUE(with.pieces == without.pieces);
    ASSERT_EQ(with.areas, without.areas);
    counts.tiers.quiet += with.tiers.quiet;
    counts.tiers.refresh += with.tiers.refresh;
    counts.tiers.cold += with.tiers.cold;
    for (size_t i = 0; i < eyes.x.size(); ++i) {
      eyes.x[i] += step * (random.Unit() - 0.3);
      eyes.y[i] += step * (random.Unit() - 0.5);
    }
  }
}

class AreaScenesTest : public ::testing::TestWithParam<std::string> {};

TEST_P(AreaScenesTest, PiecesAreThoseOfLinesOfSight) {
  CAROM_NEEDS_SHARED_DIR(data);
  const absl::StatusOr<SceneFile> file = SceneFile::Read(data + "/scenes/" + GetParam() + ".jsonl");
  ASSERT_TRUE(file.ok()) << file.status();
  AreaCounts counts;
  Random random(4343);
  for (size_t i = 0; i < file->size(); ++i) {
    absl::StatusOr<std::vector<Polygon>> polygons = file->polygons(i);
    ASSERT_TRUE(polygons.ok()) << polygons.status();
    if (polygons->empty()) continue;
    const Scene::Ptr scene = Scene::Create(*std::move(polygons)).value();
    SCOPED_TRACE(::testing::Message() << "scene " << i);
    for (int k = 0; k < Repeats(3, 60); ++k) {
      ASSERT_NO_FATAL_FAILURE(CheckEyes(*scene, random, counts));
      ASSERT_NO_FATAL_FAILURE(CheckWalk(*scene, random, counts));
    }
  }
  GTEST_LOG_(INFO) << counts.eyes << " eyes, " << counts.pieces << " pieces, " << counts.checked
                   << " checked, " << counts.out_of_order << " starts out of order; "
                   << counts.tiers.quiet << " quiet, " << counts.tiers.refresh << " refreshed, "
                   << counts.tiers.cold << " cold";
  EXPECT_GT(counts.checked, counts.eyes);
  EXPECT_EQ(counts.out_of_order, 0);
  EXPECT_GT(counts.tiers.quiet, 0u);
}

INSTANTIATE_TEST_SUITE_P(Files, AreaScenesTest,
                         ::testing::Values("box2d", "clipper2", "earcut", "godot", "jts_wkt",
                                           "ldtk", "natural_earth", "polyanya", "world_geo"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace carom::testing
