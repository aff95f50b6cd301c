// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/box_raster.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "carom/geometry.h"

namespace carom::internal {
namespace {

struct Lines {
  void Add(Vec2 a, Vec2 b) {
    ax.push_back(a.x);
    ay.push_back(a.y);
    bx.push_back(b.x);
    by.push_back(b.y);
  }
  Box BoundsOfLine(size_t i) const { return BoundsOf({{ax[i], ay[i]}, {bx[i], by[i]}}); }
  EndColumns columns() const { return {ax, ay, bx, by}; }

  std::vector<double> ax, ay, bx, by;
};

BoxRaster RasterOf(const std::vector<Box>& boxes) {
  Box frame;
  for (const Box& box : boxes) frame.Extend(box);
  BoxRaster raster;
  raster.Start(frame);
  for (const Box& box : boxes) raster.Add(box);
  return raster;
}

bool MeetsAny(const Box& box, const std::vector<Box>& boxes) {
  for (const Box& other : boxes) {
    if (other.Intersects(box)) return true;
  }
  return false;
}

// Boxes about `origin` of which many touch, where floats are coarse too, and lines of all lengths:
// no line that meets a box is passed over, whatever the count; and of short ones most others are.
TEST(BoxRasterTest, PassesOverNoLineThatMeetsABox) {
  std::mt19937_64 random(5);
  const auto below = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  size_t passed_over = 0, apart = 0;
  for (int round = 0; round < 600; ++round) {
    const double origin = round % 3 == 0 ? 0 : std::ldexp(below(1), round % 53);
    const auto at = [&] { return origin + std::floor(below(1000)); };
    std::vector<Box> boxes;
    for (int i = 0; i < 20; ++i) {
      const Vec2 min{at(), at()};
      boxes.push_back({min, {min.x + std::floor(below(20)), min.y + std::floor(below(20))}});
    }
    const BoxRaster raster = RasterOf(boxes);
    Lines lines;
    const size_t count = 1 + random() % 64, begin = random() % 7;
    const double length = std::ldexp(1, static_cast<int>(random() % 12));
    for (size_t i = 0; i < begin + count; ++i) {
      const Vec2 a{at(), at()};
      lines.Add(a, {a.x + std::floor(below(length)), a.y - std::floor(below(length))});
    }
    const uint64_t bits = raster.Meeting(lines.columns(), begin, count);
    if (count < 64) {
      EXPECT_EQ(bits >> count, 0u);
    }
    for (size_t k = 0; k < count; ++k) {
      const bool may_meet = (bits >> k & 1) != 0;
      const bool meets = MeetsAny(lines.BoundsOfLine(begin + k), boxes);
      EXPECT_TRUE(may_meet || !meets) << round << ' ' << k;
      if (round % 3 != 0 || length > 8) continue;
      apart += meets ? 0 : 1;
      passed_over += may_meet ? 0 : 1;
    }
  }
  EXPECT_GT(passed_over, apart * 9 / 10);
  EXPECT_GT(apart, 1000u);
}

// A frame without area, and coordinates that no line may have.
TEST(BoxRasterTest, TakesWhateverComes) {
  const BoxRaster point = RasterOf({{{3, 4}, {3, 4}}});
  Lines lines;
  lines.Add({3, 4}, {3, 4});
  lines.Add({2, 4}, {5, 4});
  lines.Add({2, 5}, {5, 5});
  EXPECT_EQ(point.Meeting(lines.columns(), 0, 3), 3u);
  const BoxRaster origin = RasterOf({{{0, 0}, {0, 0}}});
  Lines nothing;  // which is read as 0
  nothing.Add({-0x1p-141, -0x1p-141}, {-0x1.8p-141, -0x1.fffffffffffffp-141});
  EXPECT_EQ(origin.Meeting(nothing.columns(), 0, 1), 1u);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Lines wild;
  for (const double value : {kInfinity, -kInfinity, std::nan(""), 1e300, -1e300}) {
    wild.Add({value, value}, {0, 0});
    wild.Add({0, value}, {value, 3});
  }
  const BoxRaster raster = RasterOf({{{-1, -1}, {1, 1}}, {{5, 5}, {9, 9}}});
  (void)raster.Meeting(wild.columns(), 0, wild.ax.size());
}

}  // namespace
}  // namespace carom::internal
