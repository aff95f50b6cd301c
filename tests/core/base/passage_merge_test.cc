// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "base/passage_merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "carom/work_meter.h"
#include "tests/support/random.h"

namespace carom::internal::passage_merge_test {
namespace {

// A time that is no double: the quotient of two integers, the denominator positive.
struct Quotient {
  int n = 0;
  int d = 1;

  friend bool operator==(const Quotient& a, const Quotient& b) { return a.n * b.d == b.n * a.d; }
  friend std::ostream& operator<<(std::ostream& out, const Quotient& t) {
    return out << t.n << '/' << t.d;
  }
};

struct Touch {
  Quotient begin;
  Quotient end;
  int id = 0;

  int source() const { return id; }
};

using Interval = std::pair<Quotient, Quotient>;

// From 0 to `limit`; the gaps that begin at the times of `filled` are inside.
struct Path {
  Quotient limit{10, 1};
  std::vector<Quotient> filled;
  int locations = 0;
  size_t last_next = 0;

  static Quotient Start() { return {0, 1}; }
  Quotient Limit() const { return limit; }
  static int Compare(const Quotient& a, const Quotient& b) {
    const int left = a.n * b.d;
    const int right = b.n * a.d;
    return (left > right) - (left < right);
  }
  bool IsGapInside(const Quotient& begin, size_t next) {
    ++locations;
    EXPECT_GE(next, last_next);
    last_next = next;
    return std::find(filled.begin(), filled.end(), begin) != filled.end();
  }
};

using Merge = PassageMerge<Quotient, Touch, Path>;

std::vector<Interval> Merged(std::vector<Touch> touches, bool starts_inside, Path& path) {
  WorkMeter meter;
  const auto compare = [&](const Quotient& a, const Quotient& b) { return path.Compare(a, b); };
  SortTouches(touches, compare, meter);
  Merge merge(touches, starts_inside, path, meter);
  std::vector<Interval> passages;
  size_t next = 0;
  while (const auto passage = merge.Next()) {
    passages.emplace_back(passage->begin, passage->end);
    EXPECT_EQ(passage->first, next);  // law 4
    for (size_t i = passage->first; i < passage->last; ++i) {
      EXPECT_GE(path.Compare(touches[i].begin, passage->begin), 0);
      EXPECT_LE(path.Compare(touches[i].end, passage->end), 0);
    }
    next = passage->last;
  }
  EXPECT_EQ(next, touches.size());
  return passages;
}

TEST(PassageMergeTest, Law1OneLocationDecidesAboutAGap) {
  Path path;
  path.filled = {{3, 1}};
  const std::vector<Touch> touches = {
      {{2, 1}, {3, 1}, 0}, {{5, 1}, {5, 1}, 1}, {{8, 1}, {8, 1}, 2}};
  EXPECT_EQ(Merged(touches, false, path),
            (std::vector<Interval>{{{2, 1}, {5, 1}}, {{8, 1}, {8, 1}}}));
  EXPECT_EQ(path.locations, 3);
}

TEST(PassageMergeTest, Law2ClosedIntervalsThatTouchAreOne) {
  Path path;
  EXPECT_EQ(Merged({{{1, 1}, {2, 1}, 0}, {{4, 2}, {3, 1}, 1}}, false, path),
            (std::vector<Interval>{{{1, 1}, {3, 1}}}));
  EXPECT_EQ(path.locations, 1);  // after 3 alone
}

TEST(PassageMergeTest, Law2ALongTouchCoversShortOnes) {
  Path path;
  EXPECT_EQ(Merged({{{1, 1}, {9, 1}, 0}, {{2, 1}, {3, 1}, 1}, {{7, 2}, {4, 1}, 2}}, false, path),
            (std::vector<Interval>{{{1, 1}, {9, 1}}}));
}

TEST(PassageMergeTest, IntervalsThatAreApartByLittleAreTwo) {
  Path path;
  EXPECT_EQ(Merged({{{1, 1}, {2000, 1000}, 0}, {{2001, 1000}, {3, 1}, 1}}, false, path).size(), 2u);
}

TEST(PassageMergeTest, Law3TheStartAndTheLimitEndPassages) {
  Path inside;
  inside.filled = {{0, 1}};
  EXPECT_EQ(Merged({}, true, inside), (std::vector<Interval>{{{0, 1}, {10, 1}}}));
  Path leaves;
  leaves.filled = {{0, 1}};
  EXPECT_EQ(Merged({{{4, 1}, {4, 1}, 0}}, true, leaves), (std::vector<Interval>{{{0, 1}, {4, 1}}}));
  Path enters;
  enters.filled = {{4, 1}};
  EXPECT_EQ(Merged({{{4, 1}, {4, 1}, 0}}, false, enters),
            (std::vector<Interval>{{{4, 1}, {10, 1}}}));
  Path outside;
  EXPECT_TRUE(Merged({}, false, outside).empty());
  EXPECT_EQ(outside.locations, 0);
}

TEST(PassageMergeTest, ATouchAtTheLimitNeedsNoLocation) {
  Path path;
  EXPECT_EQ(Merged({{{9, 1}, {20, 2}, 0}}, false, path),
            (std::vector<Interval>{{{9, 1}, {10, 1}}}));
  EXPECT_EQ(path.locations, 0);
}

TEST(PassageMergeTest, TouchesOfOneTimeAreSortedBySource) {
  std::vector<Touch> touches = {{{2, 2}, {1, 1}, 3}, {{1, 1}, {5, 1}, 1}, {{0, 1}, {0, 1}, 7}};
  WorkMeter meter;
  const Path path;
  SortTouches(
      touches, [&](const Quotient& a, const Quotient& b) { return path.Compare(a, b); }, meter);
  EXPECT_EQ(touches[0].id, 7);
  EXPECT_EQ(touches[1].id, 1);
  EXPECT_EQ(touches[2].id, 3);
}

TEST(PassageMergeTest, AStoppedMeterEndsIt) {
  WorkMeter meter([] { return true; });
  while (meter.Spend(WorkMeter::kInterval)) {
  }
  Path path;
  const std::vector<Touch> touches = {{{1, 1}, {2, 1}, 0}};
  Merge merge(touches, false, path, meter);
  EXPECT_FALSE(merge.Next());
}

int Below(testing::SplitMix64& random, int bound) {
  return static_cast<int>(random.Next() % static_cast<uint64_t>(bound));
}

// Time as cells: cell 2k is the time k / 3, cell 2k + 1 the open interval after it. Touches cover
// some of them; each run of the others is a gap, inside or not by a coin.
class Cells {
 public:
  explicit Cells(testing::SplitMix64& random) : is_in_(2 * kLimit + 1, false) {
    const int count = Below(random, 7);
    for (int i = 0; i < count; ++i) {
      const int begin = Below(random, kLimit + 1);
      const int end = std::min(kLimit, begin + Below(random, 4) * Below(random, 2));
      touches_.push_back({{begin, 3}, {2 * end, 6}, i});
      for (int cell = 2 * begin; cell <= 2 * end; ++cell) is_in_[cell] = true;
    }
    path_.limit = {kLimit, 3};
    const std::vector<bool> touched = is_in_;
    for (size_t cell = 0; cell < touched.size(); ++cell) {
      if (touched[cell] || (cell > 0 && !touched[cell - 1])) continue;
      if (Below(random, 2) == 0) continue;
      path_.filled.push_back({static_cast<int>(cell / 2), 3});
      for (size_t i = cell; i < touched.size() && !touched[i]; ++i) is_in_[i] = true;
    }
  }

  std::vector<Interval> Passages() const {
    std::vector<Interval> passages;
    for (size_t cell = 0; cell < is_in_.size(); ++cell) {
      if (!is_in_[cell]) continue;
      const bool is_first = cell == 0 || !is_in_[cell - 1];
      if (is_first) passages.push_back({{static_cast<int>(cell / 2), 3}, {}});
      passages.back().second = {static_cast<int>((cell + 1) / 2), 3};
    }
    return passages;
  }

  bool starts_inside() const { return is_in_[0]; }
  const std::vector<Touch>& touches() const { return touches_; }
  Path path() const { return path_; }

 private:
  static constexpr int kLimit = 12;

  std::vector<bool> is_in_;
  std::vector<Touch> touches_;
  Path path_;
};

TEST(PassageMergeTest, EqualsAWalkOverCells) {
  testing::SplitMix64 random(20261);
  size_t several = 0;
  for (int i = 0; i < 20000; ++i) {
    const Cells cells(random);
    Path path = cells.path();
    const std::vector<Interval> expected = cells.Passages();
    ASSERT_EQ(Merged(cells.touches(), cells.starts_inside(), path), expected) << "case " << i;
    several += expected.size() > 2 ? 1 : 0;
  }
  EXPECT_GT(several, 1000u);
}

}  // namespace
}  // namespace carom::internal::passage_merge_test
