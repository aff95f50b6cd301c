// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/grid_block.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "carom/polygon.h"

namespace carom::internal {
namespace {

std::vector<Polygon> Triangles(size_t count) {
  std::vector<Polygon> polygons;
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<double>(i);
    PolygonSpec spec;
    spec.id = i;
    spec.rings.push_back({{{x, 0}, {x + 1, 0}, {x, 1}}, false});
    polygons.push_back(*Polygon::Create(std::move(spec)));
  }
  return polygons;
}

// Wherever the polygons lie, and whether by their place or by a table.
TEST(CellPolygonsTest, FindsEachByItsNumber) {
  for (const size_t count : {1, 2, 100}) {
    const std::vector<Polygon> owned = Triangles(count);
    const std::vector<Unowned<Polygon>> polygons(owned.begin(), owned.end());
    for (const uint32_t most : {UINT32_MAX, uint32_t{0}}) {
      const CellPolygons numbers(polygons, most);
      for (const Unowned<Polygon>& polygon : polygons) {
        const uint32_t number = numbers.NumberOf(polygon);
        EXPECT_EQ(numbers.MemoryOf(number), polygon->memory());
        EXPECT_EQ(numbers.At(number)->id(), polygon->id());
      }
    }
  }
}

TEST(CellPolygonsTest, TableHasNumbersFromZero) {
  const std::vector<Polygon> owned = Triangles(3);
  const std::vector<Unowned<Polygon>> polygons(owned.begin(), owned.end());
  const CellPolygons numbers(polygons, 0);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(numbers.NumberOf(polygons[i]), i);
}

TEST(CellPolygonsTest, MayBeOfNone) {
  EXPECT_EQ(CellPolygons(std::span<const Unowned<Polygon>>()).MemoryOf(0), nullptr);
}

}  // namespace
}  // namespace carom::internal
