// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

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
#include "tests/core/tracker/journey.h"
#include "tests/core/tracker/tracker_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::tracker_test {
namespace {

using ::testing::ElementsAre;

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

TEST(TrackerTest, MemoryOfManyNeighborsIsGivenBack) {
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
}  // namespace carom::testing::tracker_test
