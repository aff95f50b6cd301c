// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tracker/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/core/random_scene.h"

namespace carom::testing::verdict_test {
namespace {

using internal::ColumnSize;

// A column of few different numbers, so that some are equal, filled up as a memory does it.
std::vector<float> RandomColumn(Random& random, size_t count) {
  std::vector<float> column(ColumnSize(count), HUGE_VALF);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t number = random.Below(9);
    column[i] = number == 8 ? HUGE_VALF : static_cast<float>(number);
  }
  return column;
}

TEST(VerdictTest, ColumnsAreWhatLoopsSay) {
  Random random(1);
  for (size_t count = 0; count <= 64; ++count) {
    for (int round = 0; round < 50; ++round) {
      const std::vector<float> touch = RandomColumn(random, count);
      const std::vector<float> clear = RandomColumn(random, count);
      const auto reading = static_cast<float>(random.Below(9)) - 0.5F * random.Below(2);
      uint64_t due = 0;
      float least = HUGE_VALF, later_touch = HUGE_VALF, later_clear = HUGE_VALF;
      for (size_t i = 0; i < count; ++i) {
        least = std::min(least, touch[i]);
        if (touch[i] <= reading) {
          due |= uint64_t{1} << i;
        } else {
          later_touch = std::min(later_touch, touch[i]);
          later_clear = std::min(later_clear, clear[i]);
        }
      }
      EXPECT_EQ(internal::UpTo(touch.data(), touch.size(), reading), due);
      EXPECT_EQ(internal::LeastOf(touch.data(), touch.size()), least);
      const auto ends = internal::EndsAt(touch.data(), clear.data(), touch.size(), reading);
      EXPECT_EQ(ends.due, due);
      EXPECT_EQ(ends.touch, later_touch);
      EXPECT_EQ(ends.clear, later_clear);
    }
  }
}

TEST(VerdictTest, ReadingsAreRoundedToTheirSide) {
  Random random(2);
  for (int i = 0; i < 100000; ++i) {
    const double reading = std::ldexp(random.Unit(), static_cast<int>(random.Below(260)) - 200);
    EXPECT_LE(internal::ReadingDown(reading), reading);
    EXPECT_GE(internal::ReadingUp(reading), reading);
    EXPECT_LE(internal::ReadingUp(reading) - internal::ReadingDown(reading),
              reading * 0x1p-21 + 0x1p-146);
  }
  EXPECT_LE(internal::ReadingDown(0), 0);
  EXPECT_GE(internal::ReadingUp(0), 0);
}

}  // namespace
}  // namespace carom::testing::verdict_test
