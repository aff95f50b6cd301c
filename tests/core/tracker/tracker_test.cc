// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of docs/coherence.md: what a tracker remembers is never seen in an answer.

#include "carom/tracker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/distance.h"
#include "carom/overlap.h"
#include "carom/sincos.h"
#include "carom/sweep.h"
#include "tests/core/tracker/journey.h"
#include "tests/support/repeats.h"

namespace carom::testing {
namespace {

using ::testing::ElementsAre;

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
TEST(TrackerLawTest, SmoothWaysAreTheSameWarmAndCold) {
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
          const CosSin way = SinCos(7 * random.Unit());
          const double length = radius * (random.Below(2) == 0 ? 1 - 1e-12 : random.Unit());
          pose.position.x += length * way.c;
          pose.position.y += length * way.s;
          // As the position rounds, the way may get longer.
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

Scene::Ptr SceneOf(std::vector<PolygonSpec> specs) {
  std::vector<Polygon> polygons;
  for (PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(std::move(spec)).value());
  return Scene::Create(std::move(polygons)).value();
}

PolygonSpec BoxSpec(uint64_t id, Vec2 min, Vec2 max) {
  return {id, {{{min, {max.x, min.y}, max, {min.x, max.y}}}}};
}

Tracker UnitDisc() {
  return Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()).value();
}

MoveAnswers MoveTo(const Scene& scene, std::vector<Tracker>& trackers, std::vector<double> x,
                   std::vector<double> y, const MoveOptions& options = {}) {
  MoveAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(MoveTrackers(scene, {trackers, {}, x, y}, options, answers, meter));
  return answers;
}

TEST(TrackerTest, AnswersWhatIsTouched) {
  const Scene::Ptr scene = SceneOf(
      {BoxSpec(7, {0, 0}, {4, 4}), BoxSpec(3, {4, 0}, {8, 4}), BoxSpec(9, {20, 0}, {40, 20})});
  std::vector<Tracker> trackers(4, UnitDisc());
  const MoveAnswers answers =
      MoveTo(*scene, trackers, {4, -1, -1.5, 30}, {-1, 2, 2, 10}, {OverlapDetail::kEdges});
  EXPECT_THAT(answers.clear, ElementsAre(0b0100));
  EXPECT_THAT(answers.counts, ElementsAre(2, 1, 1));
  EXPECT_THAT(answers.polygon_ids, ElementsAre(3, 7, 7, 9));
  EXPECT_THAT(answers.edge_counts, ElementsAre(2, 2, 1, 0));
  EXPECT_THAT(answers.edges, ElementsAre(EdgeRef{0, 0}, EdgeRef{0, 3}, EdgeRef{0, 0}, EdgeRef{0, 1},
                                         EdgeRef{0, 3}));
}

TEST(TrackerTest, KeepsADistance) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  std::vector<Tracker> trackers{
      Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value(), {kEveryCategory, 2})
          .value()};
  EXPECT_THAT(MoveTo(*scene, trackers, {-3}, {2}).polygon_ids, ElementsAre(7));
  EXPECT_THAT(MoveTo(*scene, trackers, {std::nextafter(-3, -4)}, {2}).clear, ElementsAre(1));
}

TEST(TrackerTest, RefusesWhatIsNotADistance) {
  for (const double within : {-1.0, HUGE_VAL, std::nan("")}) {
    const auto made = Tracker::Create(Shape::Create(Capsule{}).value(), {kEveryCategory, within});
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(made.status().message(), ::testing::HasSubstr("within"));
  }
}

TEST(TrackerTest, OneBadMoveLeavesTheOthers) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  std::vector<Tracker> trackers(2, UnitDisc());
  const std::vector<uint32_t> tracker{0, 1, 2, 0, 0, 1};
  const std::vector<double> x{2, -9, 0, std::nan(""), 2, 0x1p53};
  const std::vector<double> y{2, -9, 0, 2, 2, 0};
  const std::vector<double> c{1, 1, 1, 1, 2, 1};
  const std::vector<double> s{0, 0, 0, 0, 0, 0};
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff, Coherence::kOn}) {
    MoveAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, {trackers, tracker, x, y, c, s},
                             {OverlapDetail::kIds, coherence, true}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(0b100010));
    EXPECT_THAT(answers.counts, ElementsAre(1, 0, 0, 0));
    EXPECT_THAT(answers.polygon_ids, ElementsAre(7));
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{2, ItemColumn::kTracker, ItemFault::kUnknownTracker},
                            ItemError{3, ItemColumn::kX, ItemFault::kNotAccepted},
                            ItemError{4, ItemColumn::kC, ItemFault::kNotARotation}));
    EXPECT_EQ(answers.quiet_radii.size(), 6);
  }
}

// A stream of angles in a quiet ball is not turned into rotations, but checked.
TEST(TrackerTest, AQuietMoveStillNeedsARotation) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {100, 0}, {104, 4})});
  std::vector<Tracker> trackers(1, UnitDisc());
  const double at = 0;
  const double bad_angle = 0x1.0p21;
  const double bad_c = 1.1;
  for (int i = 0; i < 3; ++i) {
    MoveAnswers answers;
    WorkMeter meter;
    const std::span<const double> one{&at, 1};
    ASSERT_TRUE(MoveTrackers(*scene, {trackers, {}, one, one, {}, {}, one}, {}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(1));
    EXPECT_EQ(answers.tiers.quiet, i == 0 ? 0 : 1);
    ASSERT_TRUE(MoveTrackers(*scene, {trackers, {}, one, one, {}, {}, {&bad_angle, 1}}, {}, answers,
                             meter));
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{0, ItemColumn::kAngle, ItemFault::kAngleOutOfRange}));
    ASSERT_TRUE(
        MoveTrackers(*scene, {trackers, {}, one, one, {&bad_c, 1}, one}, {}, answers, meter));
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{0, ItemColumn::kC, ItemFault::kNotARotation}));
  }
}

TEST(TrackerTest, AnEditWakesOnlyThoseItMeets) {
  Scene::Ptr scene = SceneOf({BoxSpec(1, {0, 5}, {4, 9}), BoxSpec(2, {1000, 5}, {1004, 9})});
  std::vector<Tracker> trackers(2, UnitDisc());
  const std::vector<double> x{0, 1000};
  const std::vector<double> y{0, 0};
  EXPECT_EQ(MoveTo(*scene, trackers, x, y).tiers.refresh, 2);
  EXPECT_EQ(MoveTo(*scene, trackers, x, y).tiers.quiet, 2);
  const auto commit = [&](SceneEdit edit) {
    scene = scene->Commit({std::move(edit)}, scene->version() + 1).value();
  };
  commit(ReplacePolygon{Polygon::Create(BoxSpec(2, {999, -1}, {1001, 1})).value()});
  const MoveAnswers answers = MoveTo(*scene, trackers, x, y);
  EXPECT_EQ(answers.tiers.refresh, 1);
  EXPECT_EQ(answers.tiers.quiet, 1);
  EXPECT_THAT(answers.polygon_ids, ElementsAre(2));
  // Several edits later, and far away.
  for (uint64_t i = 0; i < 10; ++i) {
    const auto at = static_cast<double>(i) * 10;
    commit(AddPolygon{Polygon::Create(BoxSpec(10 + i, {at, 2000}, {at + 1, 2001})).value()});
  }
  EXPECT_EQ(MoveTo(*scene, trackers, x, y).tiers.refresh, 0);
  // The old form counts as the new one does.
  commit(RemovePolygon{2});
  EXPECT_THAT(MoveTo(*scene, trackers, x, y).clear, ElementsAre(0b11));
  // Another scene is not an edit.
  const Scene::Ptr other = SceneOf({BoxSpec(5, {-1, -1}, {1, 1})});
  EXPECT_THAT(MoveTo(*other, trackers, x, y).clear, ElementsAre(0b10));
}

TEST(TrackerTest, MemoryIsBounded) {
  const Scene::Ptr clear = SceneOf({BoxSpec(7, {100, 0}, {104, 4})});
  std::vector<Tracker> trackers(1, UnitDisc());
  MoveTo(*clear, trackers, {0}, {0});
  EXPECT_LE(trackers[0].memory_bytes(), 256);
  // A shape over thousands of polygons, and over one of many edges.
  Random random(1);
  std::vector<PolygonSpec> specs{{0, {StarRing(random, {0, 0}, 50, 0.1, 100000)}}};
  for (uint64_t i = 1; i < 3000; ++i) {
    const Vec2 at{100 * random.Unit() - 50, 100 * random.Unit() - 50};
    specs.push_back(BoxSpec(i, at, {at.x + 0.1, at.y + 0.1}));
  }
  const Scene::Ptr full = SceneOf(std::move(specs));
  trackers[0] = Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 40}).value()).value();
  for (int i = 0; i < 100; ++i) {
    MoveTo(*full, trackers, {0.01 * i}, {0});
    ASSERT_LE(trackers[0].memory_bytes(), Tracker::kMaxMemoryBytes);
  }
}

// Story: shapes that go half the way to the next polygon in each move took four times as long with
// memory as without. Where it does not pay it is switched off, and back on.
TEST(TrackerTest, MemoryIsSwitchedOffWhereItDoesNotPay) {
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 0; i < 2500; ++i) {
    const Vec2 at{10 * static_cast<double>(i % 50), 10 * static_cast<double>(i / 50)};
    specs.push_back(BoxSpec(i, at, {at.x + 4, at.y + 4}));
  }
  const Scene::Ptr scene = SceneOf(std::move(specs));
  std::vector<Tracker> trackers(1, UnitDisc());
  double x = 0;
  const auto travel = [&](double step, int moves) {
    MoveTiers tiers;
    for (int i = 0; i < moves; ++i) {
      x = std::fmod(x + step, 480);
      tiers += MoveTo(*scene, trackers, {x}, {207}).tiers;
    }
    return tiers;
  };
  travel(5.3, 400);
  const MoveTiers fast = travel(5.3, 2000);
  EXPECT_GT(fast.cold, 1800u);
  EXPECT_LT(fast.refresh, 20u);
  travel(0.01, 1200);
  const MoveTiers slow = travel(0.01, 1000);
  EXPECT_GT(slow.quiet, 900u);
  EXPECT_EQ(slow.cold, 0u);
}

// Story: the ball about a shape in a room ended where its mask did, far from the walls.
TEST(TrackerTest, TheQuietBallOfARoomReachesItsWalls) {
  std::vector<PolygonSpec> specs{{0, {}}};
  specs[0].rings = {{{{-500, -500}, {500, -500}, {500, 500}, {-500, 500}}}};
  specs[0].solidity = Solidity::kBoundary;
  for (uint64_t i = 1; i <= 200; ++i) {
    const Vec2 at{2000 + 2.0 * static_cast<double>(i % 15),
                  2000 + 2.0 * static_cast<double>(i / 15)};
    specs.push_back(BoxSpec(i, at, {at.x + 1, at.y + 1}));
  }
  const Scene::Ptr scene = SceneOf(std::move(specs));
  std::vector<Tracker> trackers(1, UnitDisc());
  const MoveAnswers answers =
      MoveTo(*scene, trackers, {0}, {0}, {OverlapDetail::kIds, Coherence::kOn, true});
  EXPECT_NEAR(answers.quiet_radii[0], 499, 1e-3);
  EXPECT_EQ(MoveTo(*scene, trackers, {0}, {490}).tiers.quiet, 1);
}

// Story: each of these doubled the slack at every move, until the mask's ball was no float.
TEST(TrackerTest, TheSlackStaysFinite) {
  Scene::Ptr scene = SceneOf({BoxSpec(1, {2, 0}, {3, 1}), BoxSpec(2, {50, 0}, {60, 9})});
  const Scene::Ptr other = SceneOf({BoxSpec(1, {2, 0}, {3, 1})});
  std::vector<Tracker> trackers(1, UnitDisc());
  std::vector<Tracker> large{
      Tracker::Create(Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0x1p52}).value()).value()};
  for (int i = 0; i < 3000; ++i) {
    const double x = 0.5 + 0.01 * (i % 100);
    const double top = 1 + 0.5 * (i % 2);
    scene = scene
                ->Commit({ReplacePolygon{Polygon::Create(BoxSpec(1, {2, 0}, {3, top})).value()}},
                         scene->version() + 1)
                .value();
    ASSERT_EQ(MoveTo(*scene, trackers, {x}, {0}).clear[0], x < 1 ? 1 : 0) << i;
    ASSERT_EQ(MoveTo(*other, trackers, {x}, {0}).clear[0], x < 1 ? 1 : 0) << i;
    ASSERT_EQ(MoveTo(*scene, large, {0}, {0}).counts[0], 2) << i;
    ASSERT_EQ(MoveTo(*scene, trackers, {1e15 * (i % 7)}, {-1e15}).clear[0], 1) << i;
  }
}

TEST(TrackerTest, ACrowdIsForgotten) {
  Random random(2);
  std::vector<PolygonSpec> specs;
  for (uint64_t i = 1; i < 200; ++i) {
    const Vec2 at{10 * random.Unit() - 5, 10 * random.Unit() - 5};
    specs.push_back(BoxSpec(i, at, {at.x + 0.1, at.y + 0.1}));
  }
  const Scene::Ptr scene = SceneOf(std::move(specs));
  std::vector<Tracker> trackers(1, UnitDisc());
  for (int i = 0; i < 400; ++i) MoveTo(*scene, trackers, {0.01 * i}, {0});
  MoveTo(*scene, trackers, {1000}, {0});
  EXPECT_LE(trackers[0].memory_bytes(), 256);
}

// One batch may name a tracker many times; the last pose counts for the next one.
TEST(TrackerTest, ManyMovesOfOneTrackerInABatchThatSweeps) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  std::vector<double> x, y, from_x;
  for (int i = 0; i < 200; ++i) {
    from_x.push_back(-10 + 0.1 * i);
    x.push_back(-10 + 0.1 * (i + 1));
    y.push_back(2);
  }
  const std::vector<uint32_t> tracker(x.size(), 0);
  MoveAnswers answers[2];
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    std::vector<Tracker> trackers(1, UnitDisc());
    const MoveColumns moves{trackers, tracker, x, y, {}, {}, {}, from_x, y};
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kEdges, coherence},
                             answers[static_cast<int>(coherence)], meter));
  }
  EXPECT_EQ(answers[0].clear, answers[1].clear);
  EXPECT_EQ(answers[0].counts, answers[1].counts);
  EXPECT_EQ(answers[0].edges, answers[1].edges);
  EXPECT_EQ(answers[0].first_touches, answers[1].first_touches);
}

// More rows than there may be stop the work, warm and cold alike.
TEST(TrackerTest, RowsAreCapped) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  std::vector<Tracker> trackers(3, UnitDisc());
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff, Coherence::kOn}) {
    const std::vector<double> at(3, 2);
    for (const uint64_t rows : {2, 3}) {
      MoveAnswers answers;
      WorkMeter meter;
      meter.set_max_rows(rows);
      EXPECT_EQ(MoveTrackers(*scene, {trackers, {}, at, at}, {OverlapDetail::kIds, coherence},
                             answers, meter),
                rows == 3);
      EXPECT_EQ(meter.out_of_rows(), rows == 2);
    }
  }
}

// A table of trackers may have gaps; a batch may move a part of it.
TEST(TrackerTest, ATrackerWithoutAShapeIsUnknown) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  std::vector<Tracker> trackers(4);
  EXPECT_FALSE(trackers[0].is_defined());
  trackers[1] = UnitDisc();
  trackers[3] = UnitDisc();
  const std::vector<double> at{2, 2, 2};
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff, Coherence::kOn}) {
    MoveAnswers answers;
    WorkMeter meter;
    MoveColumns moves{trackers, {}, at, at};
    moves.first_tracker = 2;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(0));
    EXPECT_THAT(answers.counts, ElementsAre(0, 1, 0));
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{0, ItemColumn::kTracker, ItemFault::kUnknownTracker},
                            ItemError{2, ItemColumn::kTracker, ItemFault::kUnknownTracker}));
    moves.first_tracker = ~uint32_t{0};
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_EQ(answers.errors.size(), 3);
  }
}

// Memories end at the budget, and say by how much they grew.
TEST(TrackerTest, MemoryHasABudget) {
  Journey journey(JourneyKind::kStars, 77);
  std::vector<Tracker>& trackers = journey.trackers();
  const auto bytes = [&] {
    size_t sum = 0;
    for (const Tracker& tracker : trackers) sum += tracker.memory_bytes();
    return static_cast<int64_t>(sum);
  };
  for (const int64_t budget : {int64_t{0}, int64_t{1}, int64_t{2000}, int64_t{1} << 40}) {
    for (int frame = 0; frame < 50; ++frame) {
      for (Pose& pose : journey.poses()) pose.position.x += 3;
      const int64_t before = bytes();
      const MoveAnswers answers = journey.Move({.memory_budget = budget});
      EXPECT_EQ(answers.memory_growth, bytes() - before);
      EXPECT_LE(answers.memory_growth, budget + static_cast<int64_t>(Tracker::kMaxMemoryBytes));
      EXPECT_LE(answers.tiers.refresh, budget == 0 ? 0 : trackers.size());
      for (Tracker& tracker : trackers) {
        if (frame % 10 == 0) tracker.Forget();
      }
    }
  }
}

// Story: a tracker that makes its mask anew at every step is slower than none.
TEST(TrackerTest, RefreshesAreRare) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Journey journey(JourneyKind::kStars, 900 + seed);
    std::vector<Tracker> trackers = journey.trackers();
    MoveTiers tiers;
    for (int step = 0; step < 600; ++step) {
      std::vector<double> x, y;
      for (size_t k = 0; k < trackers.size(); ++k) {
        const CosSin at = SinCos(0.01 * step + static_cast<double>(k));
        x.push_back(60 * at.c);
        y.push_back(60 * at.s);
      }
      const MoveAnswers answers = MoveTo(journey.scene(), trackers, x, y);
      tiers.refresh += answers.tiers.refresh;
      tiers.cold += answers.tiers.cold;
    }
    EXPECT_LT(10 * (tiers.refresh + tiers.cold), 600 * trackers.size()) << seed;
  }
}

// Story: between two frames a shape may pass through a wall. Asked as a sweep, it is found.
TEST(TrackerTest, ASweepFindsWhatWasTunnelled) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {4, -10}, {5, 10}), BoxSpec(3, {6, -10}, {7, 10})});
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    std::vector<Tracker> trackers(1, UnitDisc());
    const double from = 0;
    const double to = 20;
    const double y = 0;
    MoveColumns moves{trackers, {}, {&to, 1}, {&y, 1}};
    MoveAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(1));
    moves.from_x = {&from, 1};
    moves.from_y = {&y, 1};
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(0));
    EXPECT_THAT(answers.counts, ElementsAre(0));
    const double fraction = std::nextafter(0.15, 1);  // of a disc: 3/20 rounded up
    EXPECT_THAT(answers.first_touches, ElementsAre(FirstTouch{true, 7, fraction, fraction}));
  }
}

// Law: the way of a sweep is answered as `SweepShapes` has it. Those of points go by casts.
TEST(TrackerTest, AWayIsThatOfASweep) {
  int touched = 0;
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Repeats(400, 20000)); ++seed) {
    Random random(7000 + seed);
    Grid grid;
    grid.scale = std::ldexp(1.0, random.Below(40) - 20);
    grid.mixed = seed % 3 == 0;
    std::vector<Polygon> polygons;
    for (uint64_t id = 0; id < 6; ++id) {
      polygons.push_back(Polygon::Create(RandomPolygon(random, grid, id)).value());
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    const Vec2 at = random.Below(3) == 0 ? grid.Point(random) : Vec2{};
    const Shape point = Shape::Create(Capsule{{at, at}, 0}).value();
    const std::vector<Shape> shapes(20, point);
    std::vector<double> x, y, from_x, from_y;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Vec2 from = grid.Point(random);
      const Vec2 to = grid.Point(random);
      from_x.push_back(from.x);
      from_y.push_back(from.y);
      x.push_back(random.Below(4) == 0 ? from.x : to.x);
      y.push_back(to.y);
    }
    SweepAnswers sweeps;
    WorkMeter meter;
    ASSERT_TRUE(
        SweepShapes(*scene, {{shapes, {}, from_x, from_y, {}, {}, {}}, x, y}, {}, sweeps, meter));
    for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
      std::vector<Tracker> trackers(shapes.size(), Tracker::Create(point).value());
      MoveAnswers answers;
      ASSERT_TRUE(MoveTrackers(*scene, {trackers, {}, x, y, {}, {}, {}, from_x, from_y},
                               {OverlapDetail::kIds, coherence}, answers, meter));
      size_t row = 0, next = 0;
      for (size_t i = 0; i < shapes.size(); ++i) {
        FirstTouch way;
        if ((answers.clear[i / 64] >> (i % 64) & 1) == 0) way = answers.first_touches[next++];
        FirstTouch expected;
        if (sweeps.counts[i] > 0) {
          const SweepHit& hit = sweeps.hits[row++];
          expected = {true, hit.polygon_id, hit.fraction, hit.fraction};
          ++touched;
        }
        // The end of a move must be accepted too.
        const bool is_error = std::ranges::any_of(
            answers.errors, [&](const ItemError& error) { return error.index == i; });
        ASSERT_EQ(way, is_error ? FirstTouch{} : expected) << "seed " << seed << " item " << i;
      }
    }
  }
  EXPECT_GT(touched, 1000);
}

// A bar that turns by half a turn strikes what it touches at neither end.
TEST(TrackerTest, ASweepThatTurnsFindsWhatItStrikes) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {-0.5, 4}, {0.5, 5})});
  const Tracker bar =
      Tracker::Create(Polygon::Create(BoxSpec(0, {0, -0.1}, {6, 0.1})).value()).value();
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    std::vector<Tracker> trackers(1, bar);
    const double zero = 0;
    const double angle = 3;
    MoveColumns moves{trackers, {}, {&zero, 1}, {&zero, 1}, {}, {}, {&angle, 1}};
    moves.from_x = moves.from_y = moves.from_angle = {&zero, 1};
    MoveAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.counts, ElementsAre(0));
    ASSERT_EQ(answers.first_touches.size(), 1);
    const FirstTouch& touch = answers.first_touches[0];
    EXPECT_TRUE(touch.touches);
    EXPECT_EQ(touch.polygon_id, 7);
    EXPECT_LE(touch.low, touch.high);
    // The bar's upper side passes the corner (0.5, 4) a little before the bar stands upright.
    const double strikes = (std::atan2(4, 0.5) - std::asin(0.1 / std::hypot(4, 0.5))) / 3;
    EXPECT_NEAR(touch.high, strikes, 0.01);
    EXPECT_LE(touch.low, strikes);
  }
}

TEST(TrackerTest, WhatIsWrongWithTheStartOfASweep) {
  const Scene::Ptr scene = SceneOf({BoxSpec(7, {0, 0}, {4, 4})});
  const Tracker box =
      Tracker::Create(Polygon::Create(BoxSpec(0, {-4, -4}, {4, 4})).value()).value();
  std::vector<Tracker> trackers(5, box);
  const std::vector<double> x{9, 9, 9, 9, -0x1p52};
  const std::vector<double> y{9, 9, 9, 9, 9};
  const std::vector<double> angle{0, 0, 0, 0, 0};
  const std::vector<double> from_x{9, HUGE_VAL, 9, 0x1p53, 0x1.8p52};
  const std::vector<double> from_y{9, 9, 9, 9, 9};
  const std::vector<double> from_angle{0, 0, 0x1p30, 0, 0};
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff, Coherence::kOn}) {
    MoveAnswers answers;
    WorkMeter meter;
    const MoveColumns moves{trackers, {}, x, y, {}, {}, angle, from_x, from_y, {}, {}, from_angle};
    ASSERT_TRUE(MoveTrackers(*scene, moves, {OverlapDetail::kIds, coherence}, answers, meter));
    EXPECT_THAT(answers.clear, ElementsAre(1));
    EXPECT_EQ(answers.first_touches.size(), 4);
    EXPECT_THAT(answers.errors,
                ElementsAre(ItemError{1, ItemColumn::kFromX, ItemFault::kNotAccepted},
                            ItemError{2, ItemColumn::kFromAngle, ItemFault::kAngleOutOfRange},
                            ItemError{3, ItemColumn::kFromX, ItemFault::kPlacedOutOfRange},
                            ItemError{4, ItemColumn::kX, ItemFault::kNotAccepted}));
  }
}

// A budget that ends in the middle of a move leaves a tracker that answers right afterwards.
TEST(TrackerTest, AStoppedMeterLeavesNoHalfMemory) {
  for (uint64_t after = 0; after < 60; ++after) {
    Journey journey(JourneyKind::kOutlines, 7);
    for (int frame = 0; frame < 30; ++frame) {
      for (Pose& pose : journey.poses()) pose.position.x += 3;
      uint64_t asked = 0;
      WorkMeter meter([&] { return ++asked > after; });
      std::vector<double> x, y;
      for (const Pose& pose : journey.poses()) {
        x.push_back(pose.position.x);
        y.push_back(pose.position.y);
      }
      MoveAnswers answers;
      MoveTrackers(journey.scene(), {journey.trackers(), {}, x, y}, {}, answers, meter);
      ASSERT_TRUE(journey.Step()) << journey.story() << " after " << after;
    }
  }
}

}  // namespace
}  // namespace carom::testing
