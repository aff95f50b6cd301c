// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "base/hit_collector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/cast.h"
#include "carom/work_meter.h"
#include "tests/support/random.h"

namespace carom::internal::hit_collector_test {
namespace {

struct Hit {
  int time = 0;
  uint64_t id = 0;

  internal::HitSource source() const { return {false, id}; }
  friend bool operator==(const Hit&, const Hit&) = default;
  friend bool operator<(const Hit& a, const Hit& b) {
    return std::tie(a.time, a.id) < std::tie(b.time, b.id);
  }
};

int CompareTimes(const Hit& a, const Hit& b) { return a.time - b.time; }

using Collector = HitCollector<Hit>;

std::vector<Hit> Kept(Collector& collector, const std::vector<Hit>& hits) {
  WorkMeter meter;
  for (const Hit& hit : hits) collector.Add(hit, CompareTimes, meter);
  collector.Finish(CompareTimes, meter);
  return {collector.hits().begin(), collector.hits().end()};
}

// In random order, of few times, so that many tie.
std::vector<Hit> RandomHits(testing::SplitMix64& random) {
  std::vector<Hit> hits(random.Next() % 40);
  for (size_t i = 0; i < hits.size(); ++i) hits[i] = {static_cast<int>(random.Next() % 8), i};
  for (size_t i = hits.size(); i > 1; --i) std::swap(hits[i - 1], hits[random.Next() % i]);
  return hits;
}

TEST(HitCollectorTest, AnyKeepsTheFirstThatComesAndIsDone) {
  Collector collector;
  collector.Start(CastMode::kAny, 64);
  WorkMeter meter;
  EXPECT_FALSE(collector.is_done());
  EXPECT_TRUE(collector.Add({5, 1}, CompareTimes, meter));
  EXPECT_TRUE(collector.is_done());
  EXPECT_EQ(collector.Finish(CompareTimes, meter), 1u);
  EXPECT_FALSE(collector.is_truncated());
}

TEST(HitCollectorTest, ClosestKeepsTheLeastInTheTotalOrder) {
  Collector collector;
  testing::SplitMix64 random(11);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<Hit> hits = RandomHits(random);
    collector.Start(CastMode::kClosest, 64);
    std::vector<Hit> expected;
    if (!hits.empty()) expected = {*std::min_element(hits.begin(), hits.end())};
    ASSERT_EQ(Kept(collector, hits), expected);
    ASSERT_FALSE(collector.is_truncated());
    ASSERT_FALSE(collector.is_done());
  }
}

TEST(HitCollectorTest, AllKeepsTheFirstMaxHitsWhateverTheOrder) {
  Collector collector;
  testing::SplitMix64 random(12);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Hit> hits = RandomHits(random);
    const auto max_hits = static_cast<uint32_t>(1 + random.Next() % 20);
    collector.Start(i % 2 == 0 ? CastMode::kAll : CastMode::kAllPassages, max_hits);
    std::vector<Hit> expected = hits;
    std::sort(expected.begin(), expected.end());
    expected.resize(std::min<size_t>(hits.size(), max_hits));
    ASSERT_EQ(Kept(collector, hits), expected);
    ASSERT_EQ(collector.is_truncated(), hits.size() > max_hits);
  }
}

// What users narrow their search by: a hit that comes after the last one, while the collector is
// full, changes nothing, and `Add` says so.
TEST(HitCollectorTest, WhileFullOnlyHitsBeforeTheLastOneMatter) {
  testing::SplitMix64 random(13);
  for (int i = 0; i < 1000; ++i) {
    Collector collector;
    collector.Start(CastMode::kAll, 3);
    WorkMeter meter;
    for (const Hit& hit : RandomHits(random)) {
      const bool was_full = collector.is_full();
      const Hit last = was_full ? collector.last() : Hit{};
      ASSERT_EQ(collector.Add(hit, CompareTimes, meter), !was_full || hit < last);
      ASSERT_TRUE(!was_full || !(last < collector.last()));
    }
  }
}

TEST(HitCollectorTest, InsidePolicies) {
  for (const InsidePolicy policy :
       {InsidePolicy::kReportStart, InsidePolicy::kIgnore, InsidePolicy::kExit}) {
    const ReportedPassage outside = ApplyInsidePolicy(policy, false);
    EXPECT_EQ(outside.index, 0u);
    EXPECT_FALSE(outside.at_exit);
    const ReportedPassage inside = ApplyInsidePolicy(policy, true);
    EXPECT_EQ(inside.index, policy == InsidePolicy::kIgnore ? 1u : 0u);
    EXPECT_EQ(inside.at_exit, policy == InsidePolicy::kExit);
  }
}

struct Answers {
  std::vector<uint32_t> counts = std::vector<uint32_t>(4);
  std::vector<Hit> hits;
  std::vector<uint32_t> truncated;
};

bool Written(CastMode mode, uint64_t max_rows, Answers& out) {
  Collector collector;
  collector.Start(mode, 2);
  WorkMeter meter;
  meter.set_max_rows(max_rows);
  for (const Hit& hit : {Hit{7, 1}, Hit{3, 2}, Hit{3, 1}}) {
    if (!collector.is_done()) collector.Add(hit, CompareTimes, meter);
  }
  const auto measure = [&](size_t rank) { return collector.hits()[rank]; };
  return collector.Write(2, out, CompareTimes, measure, meter);
}

TEST(HitCollectorTest, WritesTheAnswerOfAnItem) {
  Answers all;
  EXPECT_TRUE(Written(CastMode::kAll, 100, all));
  EXPECT_EQ(all.counts, (std::vector<uint32_t>{0, 0, 2, 0}));
  EXPECT_EQ(all.hits, (std::vector<Hit>{{3, 1}, {3, 2}}));
  EXPECT_EQ(all.truncated, std::vector<uint32_t>{2});
  Answers closest;
  EXPECT_TRUE(Written(CastMode::kClosest, 100, closest));
  EXPECT_EQ(closest.hits, (std::vector<Hit>{{3, 1}}));
  EXPECT_TRUE(closest.truncated.empty());
  Answers any;
  EXPECT_TRUE(Written(CastMode::kAny, 0, any));
  EXPECT_EQ(any.counts[2], 1u);
  EXPECT_TRUE(any.hits.empty());
}

TEST(HitCollectorTest, MoreRowsThanTheMeterHasLeftStopTheWork) {
  Answers out;
  EXPECT_FALSE(Written(CastMode::kAll, 1, out));
}

}  // namespace
}  // namespace carom::internal::hit_collector_test
