// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/grid_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "carom/polygon.h"
#include "tests/core/random_scene.h"

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

// The items of a cell and those that links lead to.
std::vector<uint32_t> ItemsOf(const GridBlock& block, int x, int y,
                              bool (*is_meant)(uint8_t, uint8_t)) {
  std::vector<uint32_t> items;
  const GridCell* cell = block.cells() + (y * block.cells_along() + x);
  while (true) {
    for (size_t lane = 0; lane < GridCell::kMost; ++lane) {
      if ((cell->present >> lane & 1) != 0 && is_meant(cell->min_x[lane], cell->min_y[lane])) {
        items.push_back(cell->items[lane]);
      }
    }
    if (cell->next == 0) return items;
    cell = block.cells() + cell->next;
  }
}

// Whoever looks at several cells passes over those boxes that begin at 0 in one behind the first.
TEST(GridBlockTest, WhatBeginsAtZeroIsInTheCellBefore) {
  testing::Random random(31);
  constexpr double kSide = 24;
  std::vector<Polygon> owned;
  for (uint64_t id = 0; id < 600; ++id) {
    // On the units of cells, just below or above them, and anywhere.
    const auto place = [&] {
      const double unit = kSide / 14 / GridCell::kUnits;
      const double at = kSide * random.Unit();
      const int kind = random.Below(4);
      return kind == 0 ? at
                       : unit * (std::round(at / unit) + GridBlock::kMargin + (kind - 2) * 0x1p-40);
    };
    const Vec2 p{place(), place()};
    PolygonSpec spec;
    spec.id = id;
    spec.rings.push_back({{p, {p.x + random.Unit(), p.y}, {p.x, p.y + random.Unit()}}, false});
    owned.push_back(*Polygon::Create(std::move(spec)));
  }
  const GridBlock block({0, 0}, kSide, {owned.begin(), owned.end()});
  ASSERT_TRUE(block.has_cells());
  ASSERT_EQ(block.cells_along(), 14);
  size_t seen = 0;
  for (int y = 0; y < 14; ++y) {
    for (int x = 0; x < 14; ++x) {
      const auto expect_in = [&](const std::vector<uint32_t>& items, int x_before, int y_before) {
        const auto all = ItemsOf(block, x_before, y_before, [](uint8_t, uint8_t) { return true; });
        for (const uint32_t item : items) EXPECT_EQ(std::count(all.begin(), all.end(), item), 1);
        seen += items.size();
      };
      if (x > 0)
        expect_in(ItemsOf(block, x, y, [](uint8_t at, uint8_t) { return at == 0; }), x - 1, y);
      if (y > 0)
        expect_in(ItemsOf(block, x, y, [](uint8_t, uint8_t at) { return at == 0; }), x, y - 1);
    }
  }
  EXPECT_GT(seen, 300u);
}

}  // namespace
}  // namespace carom::internal
