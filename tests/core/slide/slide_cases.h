// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Slides of one item, and players that walk about.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

#include "blocking/blocking_overlap.h"
#include "blocking/blocking_sweep.h"
#include "carom/sincos.h"
#include "carom/slide.h"
#include "tests/core/random_scene.h"
#include "tests/core/sweep/sweep_cases.h"

namespace carom::testing {

// What moves, and where.
struct Player {
  const Scene& scene;
  const Shape& shape;
  double skin = 0;
  double reach = 1.5;              // of the pushes of a walk, by coordinate
  const Bodies* bodies = nullptr;  // considered, too, if there are any

  World world() const { return {scene, bodies}; }
  Scope scope() const { return {.against = bodies == nullptr ? Against::kScene : Against::kBoth}; }
};

inline SlideAnswers Slide(const Player& player, const Pose& pose, const std::vector<Vec2>& pushes,
                          const SlideOptions& options = {}) {
  std::vector<double> dx, dy;
  for (const Vec2 d : pushes) dx.push_back(d.x), dy.push_back(d.y);
  const auto count = static_cast<uint32_t>(pushes.size());
  SlideColumns columns;
  columns.movers = {
      {&player.shape, 1}, {}, {&pose.position.x, 1}, {&pose.position.y, 1}, {&pose.c, 1},
      {&pose.s, 1},       {}, player.scope()};
  columns.dx = dx;
  columns.dy = dy;
  columns.pushes = {&count, 1};
  columns.skin = {&player.skin, 1};
  SlideAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(SlideShapes(player.world(), columns, options, answers, meter));
  return answers;
}

inline SweepAnswers SweepBy(const Player& player, const Pose& pose, Vec2 d,
                            const SweepOptions& options) {
  SweepColumns columns;
  columns.movers = {
      {&player.shape, 1}, {}, {&pose.position.x, 1}, {&pose.position.y, 1}, {&pose.c, 1},
      {&pose.s, 1},       {}, player.scope()};
  columns.dx = {&d.x, 1};
  columns.dy = {&d.y, 1};
  columns.skin = {&player.skin, 1};
  SweepAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(SweepShapes(player.world(), columns, options, answers, meter));
  return answers;
}

// Whether the shape overlaps anything in more than touch.
inline bool Overlaps(const Player& player, const Pose& pose) {
  const SweepAnswers answers =
      SweepBy(player, pose, {0, 0}, {CastMode::kAny, InsidePolicy::kBlocking});
  return answers.counts[0] != 0;
}

// As poses are read: what is below the smallest magnitude is 0.
inline Vec2 AsRead(Vec2 p) {
  const auto read = [](double v) { return std::abs(v) < kSmallestMagnitude ? 0 : v; };
  return {read(p.x), read(p.y)};
}

// Each leg, asked again as a sweep, is the same, and ends where the next begins.
inline void ExpectLegsReplay(const Player& player, Pose pose, const SlideAnswers& slide,
                             const SlideOptions& options = {}) {
  for (size_t i = 0; i < slide.legs.size(); ++i) {
    const SlideLeg& leg = slide.legs[i];
    ASSERT_EQ(leg.from, AsRead(pose.position));
    const SweepAnswers again =
        SweepBy(player, pose, leg.d, {CastMode::kClosest, options.inside_policy});
    ASSERT_EQ(again.counts[0], leg.has_hit ? 1u : 0u);
    if (leg.has_hit) ExpectSameHit(again.hits[0], leg.hit);
    pose.position = again.safe[0];
  }
  EXPECT_EQ(AsRead(slide.rows[0].position), AsRead(pose.position));
}

inline Shape RegularPolygon(int vertices, double radius, double turn = 0) {
  PolygonSpec spec;
  spec.rings.resize(1);
  for (int i = 0; i < vertices; ++i) {
    const CosSin at = SinCos(turn + 6.283185307179586 * i / vertices);
    spec.rings[0].vertices.push_back({radius * at.c, radius * at.s});
  }
  return ShapeOf(spec);
}

inline Shape BoxShape(double width, double height) {
  PolygonSpec spec;
  const double w = width / 2;
  const double h = height / 2;
  spec.rings = {{{{-w, -h}, {w, -h}, {w, h}, {-w, h}}, false}};
  return ShapeOf(spec);
}

// Whether the origin of the shape, which it holds inside, meets anything between two positions: no
// sweep is needed to see that.
inline bool OriginMeets(const Player& player, Vec2 from, Vec2 to) {
  CastOptions options;
  options.mode = CastMode::kAny;
  CastAnswers answers;
  WorkMeter meter;
  const SegmentColumns path{{&from.x, 1}, {&from.y, 1}, {&to.x, 1}, {&to.y, 1}, player.scope()};
  EXPECT_TRUE(CastSegments(player.world(), path, options, answers, meter));
  return answers.counts[0] != 0;
}

struct WalkCounts {
  int ticks = 0;
  int blocked = 0;
  int overlapping = 0;
  int crossing = 0;
  int stuck = 0;
  int continued = 0;  // chains that ran out of contacts within a hundredth of their push
};

// Where a push ends that goes on with what is left when its contacts have run out, as along a
// finely divided curve.
inline SlideRow Continued(const Player& player, Pose pose, const SlideAnswers& slide) {
  SlideRow row = slide.rows[0];
  for (int i = 0; i < 64 && row.legs == SlideOptions().max_contacts; ++i) {
    if (row.left == Vec2{}) break;
    pose.position = row.position;
    row = Slide(player, pose, {row.left}).rows[0];
  }
  return row;
}

inline double Distance(Vec2 a, Vec2 b) { return std::hypot(a.x - b.x, a.y - b.y); }

// Whether some direction that keeps more than a twentieth of the push is free for a fiftieth of it.
inline bool HasFreeRay(const Player& player, const Pose& pose, Vec2 push) {
  for (int degrees = -87; degrees <= 87; ++degrees) {
    const CosSin turn = SinCos(degrees * 0.017453292519943295);
    const Vec2 d{0.02 * (turn.c * push.x - turn.s * push.y),
                 0.02 * (turn.s * push.x + turn.c * push.y)};
    const SweepAnswers sweep =
        SweepBy(player, pose, d, {CastMode::kAny, InsidePolicy::kBlockingLeave});
    if (sweep.counts[0] == 0) return true;
  }
  return false;
}

// Walks one player for some ticks of random pushes, from a free pose.
inline void Walk(const Player& player, Pose pose, int ticks, Random& random, WalkCounts& counts) {
  Vec2 push{player.reach, 0};
  for (int i = 0; i < ticks && !::testing::Test::HasFailure(); ++i) {
    if (i % 5 == 0) {
      push = {player.reach * (2 * random.Unit() - 1), player.reach * (2 * random.Unit() - 1)};
      if (random.Below(4) == 0) push.x = 0;
      if (random.Below(4) == 0) push.y = 0;
    }
    if (push == Vec2{}) continue;
    const SlideAnswers slide = Slide(player, pose, {push});
    ASSERT_TRUE(slide.errors.empty());
    ++counts.ticks;
    Pose end = pose;
    end.position = slide.rows[0].position;
    counts.blocked += slide.legs[0].has_hit ? 1 : 0;
    if (Overlaps(player, end)) ++counts.overlapping;
    if (i % 8 == 0) ExpectLegsReplay(player, pose, slide);
    for (size_t k = 0; k < slide.legs.size(); ++k) {
      const Vec2 to = k + 1 < slide.legs.size() ? slide.legs[k + 1].from : end.position;
      const Vec2 from = slide.legs[k].from;
      const Pose start{from, pose.c, pose.s};
      const SweepAnswers path = SweepBy(player, start, {to.x - from.x, to.y - from.y},
                                        {CastMode::kAny, InsidePolicy::kBlocking});
      if (path.counts[0] != 0 || OriginMeets(player, from, to)) ++counts.crossing;
    }
    const double least = 0.01 * std::hypot(push.x, push.y);
    if (Distance(end.position, pose.position) < least) {
      const SlideRow row = Continued(player, pose, slide);
      counts.continued += row.position == end.position ? 0 : 1;
      const Pose last{row.position, pose.c, pose.s};
      // A push that is used up has gone as far as walls kept of it.
      if (Distance(row.position, pose.position) < least && !(row.left == Vec2{}) &&
          HasFreeRay(player, last, push)) {
        ++counts.stuck;
        ADD_FAILURE() << absl::StrFormat("stuck at {%a, %a} c %a s %a push {%a, %a}",
                                         pose.position.x, pose.position.y, pose.c, pose.s, push.x,
                                         push.y);
      }
    }
    pose = end;
  }
}

// Such as players are.
inline std::vector<Shape> PlayerShapes(double size) {
  return {CircleOf({0, 0}, size / 2), CapsuleOf({0, -size / 4}, {0, size / 4}, size / 3),
          BoxShape(size, 1.25 * size), RegularPolygon(8, size / 2)};
}

}  // namespace carom::testing
