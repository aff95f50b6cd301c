// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "carom/polygon.h"
#include "index/scene_index.h"
#include "tests/core/random_scene.h"

namespace carom::testing::curve_test {
namespace {

constexpr double kCells = 0x1p31;

// Level by level, as docs/bundle.md has it.
uint64_t PlaceByLevels(uint32_t x, uint32_t y) {
  uint64_t place = 0;
  for (int bit = 30; bit >= 0; --bit) {
    const uint32_t right = x >> bit & 1;
    const uint32_t upper = y >> bit & 1;
    place = 4 * place + ((3 * right) ^ upper);
    if (upper == 0) {
      if (right == 1) {
        x = ~x;
        y = ~y;
      }
      std::swap(x, y);
    }
  }
  return place;
}

uint64_t PlaceOf(uint32_t x, uint32_t y) {
  static const internal::Curve curve({{0, 0}, {kCells, kCells}});
  const Vec2 p{x + 0.5, y + 0.5};
  return curve.KeyOf(Polygon::Create({1, {{{p}}}}).value()).place;
}

// Bundles hold what these places order, so that they may never change.
TEST(CurveTest, PlacesAreThoseOfTheDefinition) {
  Random random(1891);
  for (int i = 0; i < 20000; ++i) {
    const int level = random.Below(31);
    const auto x = static_cast<uint32_t>(random.Next() >> 33) >> level;
    const auto y = static_cast<uint32_t>(random.Next() >> 33) >> level;
    ASSERT_EQ(PlaceOf(x, y), PlaceByLevels(x, y)) << x << " " << y;
  }
  EXPECT_EQ(PlaceOf(0, 0), 0u);
  EXPECT_EQ(PlaceOf(0x7FFFFFFF, 0), (uint64_t{1} << 62) - 1);
}

TEST(CurveTest, WhatIsOutsideOfTheFrameIsAtItsBorder) {
  const internal::Curve curve({{0, 0}, {4, 4}});
  const auto place = [&](Vec2 p) {
    return curve.KeyOf(Polygon::Create({1, {{{p}}}}).value()).place;
  };
  EXPECT_EQ(place({-9, -9}), place({0, 0}));
  EXPECT_EQ(place({0x1p53, -0x1p53}), place({4, 0}));
  const internal::Curve point({{3, 3}, {3, 3}});
  EXPECT_EQ(point.KeyOf(Polygon::Create({1, {{{{8, -8}}}}}).value()).place, 0u);
}

}  // namespace
}  // namespace carom::testing::curve_test
