// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Batches of many trackers: whether each moves once decides how a batch is gone through, and never
// what it answers.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "carom/tracker.h"
#include "tests/core/random_scene.h"

namespace carom::testing::tracker_batch_test {
namespace {

constexpr size_t kTrackers = 300;

Polygon Square(uint64_t id, double x, double y, double half) {
  const std::vector<Vec2> ring{
      {x - half, y - half}, {x + half, y - half}, {x + half, y + half}, {x - half, y + half}};
  return Polygon::Create({id, {{ring}}}).value();
}

Scene::Ptr Field(Random& random) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 100; ++id) {
    const double x = static_cast<double>(id % 10) * 4;
    const double y = static_cast<double>(id / 10) * 4;
    polygons.push_back(Square(id, x + random.Unit(), y + random.Unit(), 0.5 + random.Unit()));
  }
  return Scene::Create(std::move(polygons)).value();
}

// Which trackers a batch moves.
enum class Order : uint8_t { kAll, kAscending, kShuffled, kTwice, kUnknown };

std::vector<uint32_t> TrackersOf(Order order, Random& random) {
  std::vector<uint32_t> trackers(order == Order::kAll ? 0 : kTrackers);
  std::iota(trackers.begin(), trackers.end(), uint32_t{0});
  if (order == Order::kAscending) {
    std::erase_if(trackers, [&](uint32_t) { return random.Below(4) == 0; });
  } else if (order == Order::kTwice) {
    for (uint32_t& tracker : trackers) tracker = static_cast<uint32_t>(random.Below(kTrackers / 2));
  } else if (order == Order::kUnknown) {
    for (uint32_t& tracker : trackers) tracker *= random.Below(9) == 0 ? 1000 : 1;
  }
  if (order == Order::kShuffled) {
    for (size_t i = trackers.size() - 1; i > 0; --i) {
      std::swap(trackers[i], trackers[random.Below(i + 1)]);
    }
  }
  return trackers;
}

class Crowd {
 public:
  explicit Crowd(uint64_t seed) : random_(seed), scene_(Field(random_)) {
    const std::vector<Vec2> ring{{-0.5, -0.25}, {0.5, -0.25}, {0.5, 0.25}, {-0.5, 0.25}};
    Polygon shape = Polygon::Create({1, {{ring}}}).value();
    trackers_.assign(kTrackers, Tracker::Create(std::move(shape)).value());
    trackers_[7] = Tracker();
    for (size_t i = 0; i < kTrackers; ++i)
      at_.push_back({40 * random_.Unit(), 40 * random_.Unit()});
  }

  // Moves them a little in batches of that order, and compares with answers without memory.
  void Step(Order order, OverlapDetail detail) {
    const std::vector<uint32_t> index = TrackersOf(order, random_);
    const size_t count = order == Order::kAll ? kTrackers : index.size();
    std::vector<double> x, y, angle;
    for (size_t i = 0; i < count; ++i) {
      Vec2& at = at_[(index.empty() ? i : index[i]) % kTrackers];
      at.x += 0.05 * (random_.Unit() - 0.5);
      at.y += 0.05 * (random_.Unit() - 0.5);
      x.push_back(random_.Below(200) == 0 ? NAN : at.x);
      y.push_back(at.y);
      angle.push_back(7 * random_.Unit());
    }
    const MoveColumns moves{trackers_, index, x, y, {}, {}, angle};
    WorkMeter meter;
    ASSERT_TRUE(MoveTrackers(*scene_, moves, {detail, Coherence::kOff}, cold_, meter));
    ASSERT_TRUE(MoveTrackers(*scene_, moves, {detail, Coherence::kOn}, warm_, meter));
    ASSERT_TRUE(SameVerdicts(cold_, warm_));
    ASSERT_TRUE(Fits(moves, warm_));
    quiet_ += warm_.tiers.quiet;
    const MoveTiers& tiers = warm_.tiers;
    EXPECT_LE(tiers.quiet + tiers.near + tiers.refresh + tiers.cold, count);
  }

  uint64_t quiet() const { return quiet_; }

 private:
  Random random_;
  Scene::Ptr scene_;
  std::vector<Tracker> trackers_;
  std::vector<Vec2> at_;
  MoveAnswers cold_, warm_;
  uint64_t quiet_ = 0;
};

TEST(TrackerBatchTest, TheOrderOfTrackersIsNotSeen) {
  Crowd crowd(3);
  for (int frame = 0; frame < 60; ++frame) {
    for (const Order order : {Order::kAll, Order::kAscending, Order::kShuffled, Order::kTwice,
                              Order::kUnknown, Order::kAll}) {
      const bool has_edges = frame % 5 == 4;
      crowd.Step(order, has_edges ? OverlapDetail::kEdges : OverlapDetail::kIds);
      ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
  }
  EXPECT_GT(crowd.quiet(), 60 * 6 * kTrackers / 4);
}

}  // namespace
}  // namespace carom::testing::tracker_batch_test
