// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of docs/coherence.md: what a tracker remembers is never seen in an answer.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "carom/sincos.h"
#include "carom/tracker.h"
#include "tests/core/tracker/journey.h"
#include "tests/support/repeats.h"

namespace carom::testing::tracker_law_test {
namespace {

// Law: warm bytes = cold bytes, whatever happened before.
void TravelAndCompare(JourneyKind kind, uint64_t seed, int journeys, int frames) {
  for (int i = 0; i < journeys; ++i) {
    Journey journey(kind, seed + static_cast<uint64_t>(i));
    for (int frame = 0; frame < frames; ++frame) {
      ASSERT_TRUE(journey.Step()) << journey.story();
    }
  }
}

TEST(TrackerLawTest, CoincidencesAreTheSameWarmAndCold) {
  TravelAndCompare(JourneyKind::kGrid, 100, Repeats(40, 2000), 250);
}
TEST(TrackerLawTest, SmoothPathsAreTheSameWarmAndCold) {
  TravelAndCompare(JourneyKind::kStars, 200, Repeats(20, 1200), 400);
}
TEST(TrackerLawTest, LargeOutlinesAreTheSameWarmAndCold) {
  TravelAndCompare(JourneyKind::kOutlines, 300, Repeats(6, 100), 250);
}
TEST(TrackerLawTest, AllMagnitudesAreTheSameWarmAndCold) {
  TravelAndCompare(JourneyKind::kMagnitudes, 400, Repeats(30, 500), 120);
}

// Law: with the reference point moved by less than the quiet radius, at any rotation, the answer is
// the same.
// Adds to `asked` the motions of trackers that have such a radius.
void MoveWithinQuietRadius(JourneyKind kind, uint64_t seed, int journeys, int motions, int& asked) {
  for (int i = 0; i < journeys; ++i) {
    Journey journey(kind, seed + static_cast<uint64_t>(i));
    Random& random = journey.random();
    for (int frame = 0; frame < 40; ++frame) {
      ASSERT_TRUE(journey.Step()) << journey.story();
      MoveOptions options{OverlapDetail::kEdges, Coherence::kOn, true};
      const MoveAnswers before = journey.Move(options);
      options.coherence = Coherence::kOff;
      const std::vector<Pose> poses = journey.poses();
      for (int motion = 0; motion < motions; ++motion) {
        for (size_t k = 0; k < poses.size(); ++k) {
          Pose& pose = journey.poses()[k];
          pose = poses[k];
          const double radius = before.quiet_radii[k];
          if (!(radius > 0)) continue;
          ++asked;
          const CosSin heading = SinCos(7 * random.Unit());
          const double length = radius * (random.Below(2) == 0 ? 1 - 1e-12 : random.Unit());
          pose.position.x += length * heading.c;
          pose.position.y += length * heading.s;
          // As the position rounds, the path may get longer.
          while (std::hypot(pose.position.x - poses[k].position.x,
                            pose.position.y - poses[k].position.y) >= radius * (1 - 1e-15)) {
            pose.position.x = (pose.position.x + poses[k].position.x) / 2;
            pose.position.y = (pose.position.y + poses[k].position.y) / 2;
          }
          const CosSin turn = SinCos(7 * random.Unit());
          pose.c = turn.c * (1 + 4e-7 * (2 * random.Unit() - 1));
          pose.s = turn.s * (1 + 4e-7 * (2 * random.Unit() - 1));
        }
        const MoveAnswers after = journey.Move(options);
        ASSERT_TRUE(before.clear == after.clear && before.counts == after.counts &&
                    before.polygon_ids == after.polygon_ids && before.edges == after.edges &&
                    before.errors == after.errors)
            << journey.story();
      }
      journey.poses() = poses;
    }
  }
}

TEST(TrackerLawTest, NothingChangesWithinTheQuietRadius) {
  int asked = 0;
  MoveWithinQuietRadius(JourneyKind::kGrid, 500, Repeats(10, 300), 20, asked);
  MoveWithinQuietRadius(JourneyKind::kStars, 600, Repeats(10, 300), 20, asked);
  MoveWithinQuietRadius(JourneyKind::kOutlines, 700, Repeats(2, 60), 20, asked);
  EXPECT_GE(asked, Repeats(30000, 1000000));
}

double DistanceOf(Vec2 p, const carom::Segment& edge) {
  const double ex = edge.b.x - edge.a.x;
  const double ey = edge.b.y - edge.a.y;
  const double length2 = ex * ex + ey * ey;
  double t = length2 > 0 ? ((p.x - edge.a.x) * ex + (p.y - edge.a.y) * ey) / length2 : 0;
  t = std::fmin(1, std::fmax(0, t));
  return std::hypot(edge.a.x + t * ex - p.x, edge.a.y + t * ey - p.y);
}

// Law: after a refresh the quiet radius is at least half of what there is.
TEST(TrackerLawTest, TheQuietRadiusIsAtLeastHalfOfTheClearance) {
  const Tracker disc = Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 2}).value()).value();
  int checked = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Journey journey(JourneyKind::kStars, 800 + seed);
    const Scene& scene = journey.scene();
    for (int i = 0; i < 20; ++i) {
      const Vec2 p{300 * journey.random().Unit() - 150, 300 * journey.random().Unit() - 150};
      double nearest = HUGE_VAL;
      for (size_t k = 0; k < scene.polygon_count(); ++k) {
        const Polygon& polygon = scene.polygon(k);
        for (size_t e = 0; e < polygon.edge_count(); ++e) {
          nearest = std::fmin(nearest, DistanceOf(p, polygon.edge(e)));
        }
      }
      std::vector<Tracker> trackers{disc};
      MoveAnswers answers;
      WorkMeter meter;
      ASSERT_TRUE(MoveTrackers(scene, {trackers, {}, {&p.x, 1}, {&p.y, 1}},
                               {OverlapDetail::kIds, Coherence::kOn, true}, answers, meter));
      EXPECT_EQ(answers.tiers.refresh, 1);
      if (nearest - 2 > 1e-6) {
        ++checked;
        EXPECT_GE(answers.quiet_radii[0], (nearest - 2) / 2) << journey.story();
        EXPECT_LE(answers.quiet_radii[0], nearest - 2) << journey.story();
      } else {
        EXPECT_EQ(answers.quiet_radii[0], 0) << journey.story();
      }
    }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace carom::testing::tracker_law_test
