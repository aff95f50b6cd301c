// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of client/maps/outline.h, by their numbers, against brute force on random cells.

#include "client/maps/outline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace carom::testing {
namespace outline_test {

using LatticeRing = std::vector<LatticePoint>;
using UnitEdge = std::pair<LatticePoint, LatticePoint>;

int64_t TwiceArea(const LatticeRing& ring) {
  int64_t twice = 0;
  for (size_t i = 0; i < ring.size(); ++i) {
    const LatticePoint a = ring[i], b = ring[(i + 1) % ring.size()];
    twice += int64_t{a.x} * b.y - int64_t{a.y} * b.x;
  }
  return twice;
}

// Returns the edges of a ring of axis-parallel edges, cut into edges of length 1.
std::vector<UnitEdge> UnitEdges(const LatticeRing& ring) {
  std::vector<UnitEdge> edges;
  for (size_t i = 0; i < ring.size(); ++i) {
    LatticePoint at = ring[i];
    const LatticePoint end = ring[(i + 1) % ring.size()];
    const LatticePoint step{(end.x > at.x) - (end.x < at.x), (end.y > at.y) - (end.y < at.y)};
    EXPECT_NE(step.x == 0, step.y == 0);
    while (at != end) {
      const LatticePoint next{at.x + step.x, at.y + step.y};
      edges.push_back({at, next});
      at = next;
    }
  }
  return edges;
}

// A kind of lattice whose cells are rows of `width` unit squares.
struct Lattice {
  int32_t width = 1;
  std::vector<Outline> (*outline)(std::vector<Cell>) = OutlineCells;
};
constexpr Lattice kSquares{1, OutlineCells};
constexpr Lattice kBricks{2, OutlineBricks};

// Returns the unit edges around a cell, with the cell on the left.
std::vector<UnitEdge> EdgesAround(Cell cell, int32_t width) {
  const auto [x, y] = cell;
  std::vector<UnitEdge> edges = {{{x, y + 1}, {x, y}}, {{x + width, y}, {x + width, y + 1}}};
  for (int32_t i = 0; i < width; ++i) {
    edges.push_back({{x + i, y}, {x + i + 1, y}});
    edges.push_back({{x + i + 1, y + 1}, {x + i, y + 1}});
  }
  return edges;
}

// Returns the edges around cells that are not shared by two of them, and the number of components
// of the cells that are connected by the others.
std::pair<std::set<UnitEdge>, size_t> BruteForce(const std::vector<Cell>& cells, int32_t width) {
  std::map<UnitEdge, size_t> owner;
  for (size_t i = 0; i < cells.size(); ++i) {
    for (const UnitEdge& edge : EdgesAround(cells[i], width)) owner[edge] = i;
  }
  std::vector<std::vector<size_t>> neighbors(cells.size());
  std::set<UnitEdge> boundary;
  for (const auto& [edge, cell] : owner) {
    const auto other = owner.find({edge.second, edge.first});
    if (other == owner.end()) {
      boundary.insert(edge);
    } else {
      neighbors[cell].push_back(other->second);
    }
  }
  std::vector<bool> seen(cells.size());
  size_t components = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (seen[i]) continue;
    ++components;
    std::vector<size_t> stack = {i};
    seen[i] = true;
    while (!stack.empty()) {
      const size_t cell = stack.back();
      stack.pop_back();
      for (const size_t next : neighbors[cell]) {
        if (!seen[next]) stack.push_back(next);
        seen[next] = true;
      }
    }
  }
  return {boundary, components};
}

// Laws 3 to 5 for one outline.
void ExpectLaws(const Outline& outline, bool joins_collinear) {
  for (size_t r = 0; r < outline.rings.size(); ++r) {
    const LatticeRing& ring = outline.rings[r];
    EXPECT_EQ(TwiceArea(ring) > 0, r == 0);
    const auto by_row = [](LatticePoint a, LatticePoint b) {
      return a.y != b.y ? a.y < b.y : a.x < b.x;
    };
    EXPECT_EQ(std::ranges::min(ring, by_row), ring[0]);
    std::set<LatticePoint> visited;
    for (const auto& [from, to] : UnitEdges(ring)) EXPECT_TRUE(visited.insert(from).second);
    for (size_t i = 0; joins_collinear && i < ring.size(); ++i) {
      const LatticePoint a = ring[i], b = ring[(i + 1) % ring.size()];
      const LatticePoint c = ring[(i + 2) % ring.size()];
      EXPECT_NE(int64_t{b.x - a.x} * (c.y - b.y), int64_t{b.y - a.y} * (c.x - b.x));
    }
  }
}

void ExpectAllLaws(const std::vector<Cell>& cells, const Lattice& lattice) {
  const auto [boundary, components] = BruteForce(cells, lattice.width);
  const std::vector<Outline> outlines = lattice.outline(cells);
  EXPECT_EQ(outlines.size(), components);  // law 1
  int64_t twice_area = 0;
  std::set<UnitEdge> found;
  for (const Outline& outline : outlines) {
    ExpectLaws(outline, lattice.width == 1);
    for (const LatticeRing& ring : outline.rings) {
      twice_area += TwiceArea(ring);
      for (const UnitEdge& edge : UnitEdges(ring)) EXPECT_TRUE(found.insert(edge).second);
    }
  }
  EXPECT_EQ(twice_area, int64_t{2} * lattice.width * static_cast<int64_t>(cells.size()));
  EXPECT_EQ(found, boundary);  // law 2
}

// Returns random cells of a rectangle; `density` is the probability of each.
std::vector<Cell> RandomCells(SplitMix64& random, int32_t width, int32_t height, double density) {
  std::vector<Cell> cells;
  for (int32_t y = 0; y < height; ++y) {
    for (int32_t x = 0; x < width; ++x) {
      if (random.Unit() < density) cells.push_back({x - width / 2, y - height / 2});
    }
  }
  return cells;
}

TEST(Outline, IsThatOfTheHeader) {
  const std::vector<Outline> l = OutlineCells({{0, 0}, {1, 0}, {0, 1}});
  ASSERT_EQ(l.size(), 1u);
  ASSERT_EQ(l[0].rings.size(), 1u);
  EXPECT_EQ(l[0].rings[0], (LatticeRing{{0, 0}, {2, 0}, {2, 1}, {1, 1}, {1, 2}, {0, 2}}));
}

TEST(Outline, OfNothingIsEmpty) {
  EXPECT_TRUE(OutlineCells({}).empty());
  EXPECT_TRUE(OutlineBricks({}).empty());
  EXPECT_TRUE(OutlineRings({}).empty());
  EXPECT_TRUE(OutlineBoxes({}, 0)->outlines.empty());
}

TEST(Outline, CellsThatTouchInACornerAreApart) {
  const std::vector<Outline> two = OutlineCells({{0, 0}, {1, 1}});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].rings[0], (LatticeRing{{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
  EXPECT_EQ(two[1].rings[0], (LatticeRing{{1, 1}, {2, 1}, {2, 2}, {1, 2}}));
}

// A hole that touches the outer boundary in a corner, and two holes that touch each other there.
TEST(Outline, RingsOfOneOutlineThatTouchInACornerAreApart) {
  std::vector<Cell> cells;
  const char* rows[] = {"#####", "#.###", "##.##", "####."};
  for (int32_t y = 0; y < 4; ++y) {
    for (int32_t x = 0; x < 5; ++x) {
      if (rows[y][x] == '#') cells.push_back({x, y});
    }
  }
  const std::vector<Outline> outlines = OutlineCells(cells);
  ASSERT_EQ(outlines.size(), 1u);
  ASSERT_EQ(outlines[0].rings.size(), 3u);
  EXPECT_EQ(outlines[0].rings[0], (LatticeRing{{0, 0}, {5, 0}, {5, 3}, {4, 3}, {4, 4}, {0, 4}}));
  EXPECT_EQ(outlines[0].rings[1], (LatticeRing{{1, 1}, {1, 2}, {2, 2}, {2, 1}}));
  EXPECT_EQ(outlines[0].rings[2], (LatticeRing{{2, 2}, {2, 3}, {3, 3}, {3, 2}}));
  ExpectAllLaws(cells, kSquares);
}

TEST(Outline, FollowsTheLawsOnRandomSquares) {
  SplitMix64 random(401);
  for (int round = 0; round < 400; ++round) {
    const auto width = static_cast<int32_t>(1 + random.Next() % 14);
    const auto height = static_cast<int32_t>(1 + random.Next() % 14);
    ExpectAllLaws(RandomCells(random, width, height, 0.1 + 0.85 * random.Unit()), kSquares);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(Outline, FollowsTheLawsOnRandomBricks) {
  SplitMix64 random(402);
  for (int round = 0; round < 400; ++round) {
    const auto width = static_cast<int32_t>(1 + random.Next() % 10);
    std::vector<Cell> bricks = RandomCells(random, width, 10, 0.1 + 0.85 * random.Unit());
    for (Cell& brick : bricks) brick.x = 2 * brick.x + (brick.y & 1);
    ExpectAllLaws(bricks, kBricks);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(Outline, OrderAndRepetitionOfCellsDoNotMatter) {
  SplitMix64 random(403);
  for (int round = 0; round < 50; ++round) {
    std::vector<Cell> cells = RandomCells(random, 12, 12, 0.6);
    const std::vector<Outline> expected = OutlineCells(cells);
    for (size_t i = cells.size(); i-- > 1;) std::swap(cells[i], cells[random.Next() % (i + 1)]);
    cells.insert(cells.end(), cells.begin(), cells.begin() + cells.size() / 2);
    const std::vector<Outline> found = OutlineCells(cells);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].rings, expected[i].rings);
  }
}

TEST(Outline, OfRingsIsThatOfTheSameCells) {
  SplitMix64 random(404);
  for (int round = 0; round < 100; ++round) {
    const std::vector<Cell> cells = RandomCells(random, 10, 10, 0.3 + 0.6 * random.Unit());
    std::vector<LatticeRing> rings;
    for (const Outline& cell : SeparateCells(cells)) rings.push_back(cell.rings[0]);
    const std::vector<Outline> expected = OutlineCells(cells);
    const std::vector<Outline> found = OutlineRings(rings);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].rings, expected[i].rings);
  }
}

// Six triangles around a vertex, in all 64 subsets: parts that only meet in the center are apart.
TEST(Outline, OfTrianglesKeepsPartsThatMeetInAVertexApart) {
  const LatticePoint corners[] = {{2, 0}, {1, 2}, {-1, 2}, {-2, 0}, {-1, -2}, {1, -2}};
  for (uint32_t subset = 0; subset < 64; ++subset) {
    std::vector<LatticeRing> triangles;
    size_t components = 0;
    for (uint32_t i = 0; i < 6; ++i) {
      if ((subset >> i & 1) == 0) continue;
      triangles.push_back({{0, 0}, corners[i], corners[(i + 1) % 6]});
      if ((subset >> ((i + 5) % 6) & 1) == 0) ++components;
    }
    if (subset == 63) components = 1;
    const std::vector<Outline> outlines = OutlineRings(triangles);
    EXPECT_EQ(outlines.size(), components);
    int64_t twice_area = 0;
    for (const Outline& outline : outlines) {
      EXPECT_EQ(outline.rings.size(), 1u);
      twice_area += TwiceArea(outline.rings[0]);
    }
    EXPECT_EQ(twice_area, 4 * static_cast<int64_t>(triangles.size()));
  }
}

// Two parts of one component meet in a vertex with the empty cells between them: the ring that
// takes the wrong edge there would join the hole with the outer ring.
TEST(Outline, OfAnAnnulusOfTrianglesHasASimpleOuterRing) {
  const std::vector<LatticeRing> cells = {{{0, 0}, {4, 0}, {3, 1}, {1, 1}},
                                          {{4, 0}, {4, 4}, {3, 3}, {3, 1}},
                                          {{4, 4}, {0, 4}, {1, 3}, {3, 3}},
                                          {{0, 4}, {0, 0}, {1, 1}, {1, 3}},
                                          {{1, 1}, {3, 1}, {2, 2}}};
  const std::vector<Outline> outlines = OutlineRings(cells);
  ASSERT_EQ(outlines.size(), 1u);
  ASSERT_EQ(outlines[0].rings.size(), 2u);
  EXPECT_EQ(outlines[0].rings[0], (LatticeRing{{0, 0}, {4, 0}, {4, 4}, {0, 4}}));
  EXPECT_EQ(outlines[0].rings[1], (LatticeRing{{1, 1}, {1, 3}, {3, 3}, {3, 1}, {2, 2}}));
}

TEST(Outline, OverlappingRingsEnd) {
  const LatticeRing square = {{0, 0}, {2, 0}, {2, 2}, {0, 2}};
  EXPECT_FALSE(OutlineRings(std::vector<LatticeRing>{square, square, square}).empty());
}

TEST(Outline, OfBoxesIsThatOfTheCellsThatTheyCover) {
  SplitMix64 random(405);
  for (int round = 0; round < 1500; ++round) {
    std::vector<LatticeBox> boxes;
    std::set<std::pair<int32_t, int32_t>> covered;
    for (size_t i = 0, count = 1 + random.Next() % 25; i < count; ++i) {
      const auto x = static_cast<int32_t>(random.Next() % 12);
      const auto y = static_cast<int32_t>(random.Next() % 12);
      const auto w = static_cast<int32_t>(1 + random.Next() % 4);
      const auto h = static_cast<int32_t>(1 + random.Next() % 4);
      boxes.push_back({{x, y}, {x + w, y + h}});
      for (int32_t row = y; row < y + h; ++row) {
        for (int32_t column = x; column < x + w; ++column) covered.insert({row, column});
      }
    }
    std::vector<Cell> cells;
    cells.reserve(covered.size());
    for (const auto& [row, column] : covered) cells.push_back({column, row});
    const std::vector<Outline> expected = OutlineCells(cells);
    const std::optional<BoxUnion> found = OutlineBoxes(boxes, 10000);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(found->outlines.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(found->outlines[i].rings, expected[i].rings);
    }
    // A box is in the outline of the cell at its corner.
    for (size_t i = 0; i < boxes.size(); ++i) {
      const LatticePoint corner = boxes[i].min;
      size_t crossings = 0;
      for (const LatticeRing& ring : found->outlines[found->outline_of[i]].rings) {
        for (const auto& [from, to] : UnitEdges(ring)) {
          crossings += from.y != to.y && std::min(from.y, to.y) == corner.y && from.x <= corner.x;
        }
      }
      EXPECT_EQ(crossings % 2, 1u);
    }
    if (HasFailure()) FAIL() << "round " << round;
  }
}

// Boxes that are apart do not cut each other: as many pieces as boxes, however many lines.
TEST(Outline, OfBoxesThatAreApartTakesOnePieceEach) {
  std::vector<LatticeBox> boxes;
  boxes.reserve(1000);
  for (int32_t i = 0; i < 1000; ++i) boxes.push_back({{3 * i, i}, {3 * i + 2, i + 1000}});
  const std::optional<BoxUnion> found = OutlineBoxes(boxes, boxes.size());
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->outlines.size(), boxes.size());
}

TEST(Outline, OfBoxesIsBounded) {
  const std::vector<LatticeBox> boxes = {{{0, 0}, {1, 9}}, {{1, 2}, {4, 3}}};
  EXPECT_FALSE(OutlineBoxes(boxes, 3).has_value());  // three pieces and one
  EXPECT_TRUE(OutlineBoxes(boxes, 4).has_value());
}

TEST(Outline, HoldsAtTheGreatestCoordinates) {
  const int32_t most = kMaxLattice - 1;
  const std::vector<Outline> outlines = OutlineCells({{-kMaxLattice, -kMaxLattice}, {most, most}});
  ASSERT_EQ(outlines.size(), 2u);
  EXPECT_EQ(outlines[1].rings[0][2], (LatticePoint{kMaxLattice, kMaxLattice}));
  const std::optional<BoxUnion> box =
      OutlineBoxes({{{{-kMaxLattice, -kMaxLattice}, {kMaxLattice, kMaxLattice}}}}, 1);
  ASSERT_TRUE(box.has_value());
  EXPECT_EQ(TwiceArea(box->outlines[0].rings[0]), int64_t{8} * kMaxLattice * kMaxLattice);
}

TEST(Outline, SeparateCellsAreTheirOutlines) {
  const std::vector<Cell> cells = {{0, 0}, {1, 0}, {-3, 7}};
  const std::vector<Outline> squares = SeparateCells(cells), bricks = SeparateBricks(cells);
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(squares[i].rings, OutlineCells({cells[i]})[0].rings);
    EXPECT_EQ(bricks[i].rings, OutlineBricks({cells[i]})[0].rings);
  }
}

// Records the seconds of 4,000 x 4,000 filled cells, and of 1,000 x 1,000 random ones.
TEST(Outline, OfLargeGridsIsFast) {
  const auto seconds = [](const std::vector<Cell>& cells, std::vector<Outline>& outlines) {
    const auto start = std::chrono::steady_clock::now();
    outlines = OutlineCells(cells);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  SplitMix64 random(406);
  std::vector<Outline> outlines;
  const std::vector<Cell> full = RandomCells(random, 4000, 4000, 1);
  RecordProperty("full_seconds", std::to_string(seconds(full, outlines)));
  ASSERT_EQ(outlines.size(), 1u);
  EXPECT_EQ(outlines[0].rings[0],
            (LatticeRing{{-2000, -2000}, {2000, -2000}, {2000, 2000}, {-2000, 2000}}));
  const std::vector<Cell> half = RandomCells(random, 1000, 1000, 0.5);
  RecordProperty("random_seconds", std::to_string(seconds(half, outlines)));
  int64_t twice_area = 0;
  for (const Outline& outline : outlines) {
    for (const LatticeRing& ring : outline.rings) twice_area += TwiceArea(ring);
  }
  EXPECT_EQ(twice_area, 2 * static_cast<int64_t>(half.size()));
}

}  // namespace outline_test
}  // namespace carom::testing
