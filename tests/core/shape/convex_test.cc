// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/convex.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "carom/predicates.h"
#include "carom/ring.h"
#include "tests/core/one_item.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::convex_test {
namespace {

using carom::Segment;

const Ring kSquare{{0, 0}, {4, 0}, {4, 4}, {0, 4}};

ConvexRing Convex(const Ring& ring) { return ConvexRing::Create(ring).value(); }

Scene::Ptr SceneOf(const Ring& ring) { return MakeScene({{1, {{ring}}}}).scene; }

// What a cast under REPORT_START answers, as a clip.
std::optional<Clip> CastAsClip(const Scene& scene, const Segment& segment) {
  CastOptions options;
  options.mode = CastMode::kAll;
  const CastAnswers answers = CastOne(scene, segment, options);
  if (answers.hits.empty()) return std::nullopt;
  const CastHit& hit = answers.hits[0];
  Clip clip;
  clip.entry_fraction = hit.fraction;
  clip.exit_fraction = hit.exit_fraction;
  if (hit.feature != Feature::kNone) clip.entry_edge = hit.edge.edge;
  if (hit.has_exit_edge) clip.exit_edge = hit.exit_edge.edge;
  clip.entry_normal = hit.normal;
  clip.exit_normal = hit.exit_normal;
  return clip;
}

// Near `ring`: a vertex, a point on or about an edge, a point of the grid.
Vec2 AnyPoint(Random& random, const Grid& grid, const Ring& ring) {
  const auto vertex = [&] {
    return ring[static_cast<size_t>(random.Below(static_cast<int>(ring.size())))];
  };
  const int kind = random.Below(4);
  if (kind == 0) return vertex();
  if (kind > 2) return Normalized(grid.Point(random));
  const Vec2 a = vertex();
  const Vec2 b = vertex();
  const double t = kind == 1 ? 0.5 : random.Unit();
  Vec2 p{a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
  if (random.Below(3) == 0) p.x = std::nextafter(p.x, random.Below(2) == 0 ? -HUGE_VAL : HUGE_VAL);
  return Normalized(Vec2{std::clamp(p.x, -kMaxCoordinate, kMaxCoordinate),
                         std::clamp(p.y, -kMaxCoordinate, kMaxCoordinate)});
}

// By hand.

TEST(ConvexTest, SideOfAHalfPlane) {
  const HalfPlane above{{0, 0}, {1, 0}};
  EXPECT_EQ(Side(above, {5, 0x1p-140}), 1);
  EXPECT_EQ(Side(above, {-5, 0}), 0);
  EXPECT_EQ(Side(above, {5, -0x1p-140}), -1);
  EXPECT_EQ(Side({{1, 1}, {1, 1}}, {7, 9}), 0);
}

TEST(ConvexTest, CreateRefusesWhatIsNoConvexRing) {
  const Ring ring;
  EXPECT_EQ(ConvexRing::Create(ring).status().code(), absl::StatusCode::kInvalidArgument);
  const Ring dart{{0, 0}, {4, 0}, {1, 1}, {0, 4}};
  EXPECT_EQ(ConvexRing::Create(dart).status().code(), absl::StatusCode::kInvalidArgument);
  const Ring nan{{0, 0}, {4, NAN}, {0, 4}};
  EXPECT_EQ(ConvexRing::Create(nan).status().code(), absl::StatusCode::kInvalidArgument);
  const Ring far{{0, 0}, {std::nextafter(kMaxCoordinate, HUGE_VAL), 0}};
  EXPECT_EQ(ConvexRing::Create(far).status().code(), absl::StatusCode::kInvalidArgument);
  // Convex only once 2^-141 is read as 0.
  const Ring almost{{0, 0}, {2, 0x1p-141}, {4, 0}, {0, 4}};
  EXPECT_TRUE(ConvexRing::Create(almost).ok());
}

TEST(ConvexTest, ClipGivesBothEndsWithTheirNormals) {
  const Clip clip = *Convex(kSquare).ClipSegment({{-4, 1}, {12, 1}});
  EXPECT_EQ(clip, (Clip{0.25, 0.5, 3, 1, {-1, 0}, {1, 0}}));
  Ring clockwise(kSquare.rbegin(), kSquare.rend());
  const Clip same = *Convex(clockwise).ClipSegment({{-4, 1}, {12, 1}});
  EXPECT_EQ(same.entry_normal, (Vec2{-1, 0}));
  EXPECT_EQ(same.exit_normal, (Vec2{1, 0}));
}

TEST(ConvexTest, ClipWithinHasNoEdgesAndAMissNoAnswer) {
  const ConvexRing square = Convex(kSquare);
  EXPECT_EQ(square.ClipSegment({{1, 1}, {2, 3}}), Clip{});
  EXPECT_EQ(square.ClipSegment({{5, 0}, {5, 4}}), std::nullopt);
  EXPECT_EQ(square.ClipSegment({{5, 1}, {9, 1}}), std::nullopt);
  EXPECT_EQ(square.ClipSegment({{-3, 2}, {2, -2}}), std::nullopt);
}

TEST(ConvexTest, TouchingIsAPartOfOnePoint) {
  const ConvexRing square = Convex(kSquare);
  const Clip corner = *square.ClipSegment({{-4, 4}, {4, -4}});
  EXPECT_EQ(corner.entry_fraction, 0.5);
  EXPECT_EQ(corner.exit_fraction, 0.5);
  EXPECT_EQ(corner.entry_edge, 0u);
  EXPECT_EQ(square.ClipSegment({{-4, std::nextafter(4, 0)}, {4, -4}}), std::nullopt);
  const Clip along = *square.ClipSegment({{1, 4}, {3, 4}});
  EXPECT_EQ(along, (Clip{0, 1, 2, 2, {0, 0}, {0, 0}}));
}

TEST(ConvexTest, ClipOfAPointAndByAPoint) {
  const ConvexRing square = Convex(kSquare);
  EXPECT_EQ(square.ClipSegment({{1, 1}, {1, 1}}), (Clip{0, 0, {}, {}, {}, {}}));
  EXPECT_EQ(square.ClipSegment({{4, 4}, {4, 4}}), (Clip{0, 0, 1, 1, {}, {}}));
  EXPECT_EQ(square.ClipSegment({{5, 4}, {5, 4}}), std::nullopt);
  const ConvexRing point = Convex({{1, 1}});
  EXPECT_EQ(point.ClipSegment({{0, 0}, {4, 4}}), (Clip{0.25, 0.25, 0, 0, {}, {}}));
  EXPECT_EQ(point.ClipSegment({{0, 0}, {4, 5}}), std::nullopt);
  const ConvexRing line = Convex({{1, 0}, {1, 2}});
  EXPECT_EQ(line.ClipSegment({{0, 1}, {2, 1}}), (Clip{0.5, 0.5, 0, 0, {-1, 0}, {1, 0}}));
}

TEST(ConvexTest, ABoxClipsAsItsRing) {
  const Box box{{0, 0}, {4, 2}};
  EXPECT_EQ(ClipSegment({{-4, 1}, {12, 1}}, box), (Clip{0.25, 0.5, 3, 1, {-1, 0}, {1, 0}}));
  EXPECT_EQ(ClipSegment({{1, 4}, {1, -4}}, box), (Clip{0.25, 0.5, 2, 0, {0, 1}, {0, -1}}));
  EXPECT_EQ(ClipSegment({{1, 1}, {2, 1}}, box), Clip{});
  // Through the corner {4, 2}: the least edge there that is not parallel.
  EXPECT_EQ(ClipSegment({{0, 2}, {8, 2}}, box)->exit_edge, 1u);
  EXPECT_EQ(ClipSegment({{8, 4}, {4, 2}}, box)->entry_edge, 1u);
}

TEST(ConvexTest, AnEmptyBoxAndNumbersOutOfRangeHoldNothing) {
  EXPECT_EQ(ClipSegment({{0, 0}, {1, 1}}, Box{}), std::nullopt);
  EXPECT_EQ(ClipSegment({{0, 0}, {1, 1}}, Box{{2, 0}, {-2, 1}}), std::nullopt);
  EXPECT_EQ(ClipSegment({{0, 0}, {1, 1}}, Box{{0, 0}, {1, HUGE_VAL}}), std::nullopt);
  EXPECT_EQ(ClipSegment({{0, NAN}, {1, 1}}, Box{{0, 0}, {1, 1}}), std::nullopt);
  EXPECT_EQ(ClipSegment({{0, 0}, {0, 0}}, Box{{0, 0}, {0, 0}}), (Clip{0, 0, 0, 0, {}, {}}));
  EXPECT_EQ(Convex(kSquare).ClipSegment({{0, 0}, {HUGE_VAL, 1}}), std::nullopt);
  EXPECT_EQ(Convex(kSquare).Locate({NAN, 1}), Location::kOutside);
}

TEST(ConvexTest, LocateIsExactAtEveryVertexAndEdge) {
  const Ring ring{{3, 1}, {5, 1}, {7, 3}, {7, 5}, {5, 7}, {3, 7}, {1, 5}, {1, 3}};
  const ConvexRing octagon = Convex(ring);
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 v = ring[i];
    const Vec2 w = ring[(i + 1) % ring.size()];
    const Vec2 middle{(v.x + w.x) / 2, (v.y + w.y) / 2};
    EXPECT_EQ(octagon.Locate(v), Location::kBoundary);
    EXPECT_EQ(octagon.Locate(middle), Location::kBoundary);
    const auto ulp_towards = [&](Vec2 p, Vec2 q) {
      return Vec2{std::nextafter(p.x, q.x), std::nextafter(p.y, q.y)};
    };
    EXPECT_EQ(octagon.Locate(ulp_towards(middle, {4, 4})), Location::kInside);
    EXPECT_EQ(octagon.Locate(ulp_towards(middle, {2 * middle.x - 4, 2 * middle.y - 4})),
              Location::kOutside);
  }
}

// Laws.

TEST(ConvexLawTest, LocatesAsASceneDoes) {
  Random random(31);
  int counts[3] = {};
  const int rings = Repeats(2000, 60000);
  for (int i = 0; i < rings; ++i) {
    const Grid grid = AnyGrid(random);
    const Ring ring = RandomConvexRing(random, grid, 20);
    const ConvexRing convex = Convex(ring);
    const Scene::Ptr scene = SceneOf(ring);
    for (int k = 0; k < 10; ++k) {
      const Vec2 p = AnyPoint(random, grid, ring);
      const Location want = LocateOne(*scene, p);
      ASSERT_EQ(convex.Locate(p), want) << ToCode(ring) << ToCode(p);
      ++counts[static_cast<int>(want)];
    }
  }
  for (const int count : counts) EXPECT_GT(count, rings / 2);
}

TEST(ConvexLawTest, ClipsAsACastDoes) {
  Random random(32);
  int hits = 0;
  const int rings = Repeats(2000, 60000);
  for (int i = 0; i < rings; ++i) {
    const Grid grid = AnyGrid(random);
    const Ring ring = RandomConvexRing(random, grid, 14);
    const ConvexRing convex = Convex(ring);
    const Scene::Ptr scene = SceneOf(ring);
    for (int k = 0; k < 10; ++k) {
      const Segment segment{AnyPoint(random, grid, ring), AnyPoint(random, grid, ring)};
      const std::optional<Clip> want = CastAsClip(*scene, segment);
      ASSERT_EQ(convex.ClipSegment(segment), want) << ToCode(ring) << ToCode(segment);
      hits += want.has_value();
    }
  }
  EXPECT_GT(hits, rings);
}

TEST(ConvexLawTest, ABoxClipsAsACastOfItsCorners) {
  Random random(33);
  int hits = 0;
  const int boxes = Repeats(3000, 100000);
  for (int i = 0; i < boxes; ++i) {
    const Grid grid = AnyGrid(random);
    Box box;
    box.Extend(Normalized(grid.Point(random)));
    box.Extend(Normalized(grid.Point(random)));
    const Ring ring{box.min, {box.max.x, box.min.y}, box.max, {box.min.x, box.max.y}};
    const Scene::Ptr scene = SceneOf(ring);
    for (int k = 0; k < 5; ++k) {
      const Segment segment{AnyPoint(random, grid, ring), AnyPoint(random, grid, ring)};
      const std::optional<Clip> want = CastAsClip(*scene, segment);
      ASSERT_EQ(ClipSegment(segment, box), want) << ToCode(ring) << ToCode(segment);
      ASSERT_EQ(Intersects(segment, box), want.has_value()) << ToCode(ring) << ToCode(segment);
      hits += want.has_value();
    }
  }
  EXPECT_GT(hits, boxes);
}

TEST(ConvexLawTest, TheReversedSegmentIsInTheSamePart) {
  Random random(34);
  const int count = Repeats(5000, 200000);
  for (int i = 0; i < count; ++i) {
    const Grid grid = AnyGrid(random);
    const Ring ring = RandomConvexRing(random, grid);
    const ConvexRing convex = Convex(ring);
    const Segment segment{AnyPoint(random, grid, ring), AnyPoint(random, grid, ring)};
    const std::optional<Clip> there = convex.ClipSegment(segment);
    const std::optional<Clip> back = convex.ClipSegment({segment.b, segment.a});
    ASSERT_EQ(there.has_value(), back.has_value()) << ToCode(ring) << ToCode(segment);
    if (!there || segment.a == segment.b) continue;
    ASSERT_EQ(there->entry_edge, back->exit_edge) << ToCode(ring) << ToCode(segment);
    ASSERT_EQ(there->exit_edge, back->entry_edge) << ToCode(ring) << ToCode(segment);
    ASSERT_EQ(there->entry_normal, back->exit_normal) << ToCode(ring) << ToCode(segment);
    ASSERT_EQ(there->exit_normal, back->entry_normal) << ToCode(ring) << ToCode(segment);
  }
}

}  // namespace
}  // namespace carom::testing::convex_test
