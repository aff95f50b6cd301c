// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which bodies observers see: the corners of the definition, and its laws on seeded random scenes.

#include "carom/sees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "carom/locate.h"
#include "carom/predicates.h"
#include "tests/core/area/area_cases.h"
#include "tests/support/repeats.h"

namespace carom::testing::sees_test {
namespace {

// Bodies that are given as shapes at their reference points, and what makes them.
struct Players {
  std::vector<Shape> shapes;
  std::vector<double> x, y;
  std::vector<uint64_t> category;
  std::vector<uint32_t> owner;

  void Add(Shape shape, Vec2 at) {
    shapes.push_back(std::move(shape));
    x.push_back(at.x);
    y.push_back(at.y);
  }
  BodyColumns columns() const { return {{shapes, {}, x, y}, category, owner}; }
  Bodies Place() const { return Bodies::Create(columns()).value(); }
};

Shape Disc(double radius) { return Shape::Create(Capsule{{{0, 0}, {0, 0}}, radius}).value(); }
Shape Stick(Vec2 to, double radius) { return Shape::Create(Capsule{{{0, 0}, to}, radius}).value(); }
Shape Ring(std::vector<Vec2> vertices, Solidity solidity = Solidity::kSolid) {
  PolygonSpec spec;
  spec.id = 1;
  spec.solidity = solidity;
  spec.rings.push_back({std::move(vertices)});
  return Shape(Polygon::Create(spec).value());
}
Shape Square(double side) { return Ring({{0, 0}, {side, 0}, {side, side}, {0, side}}); }

SeeAnswers SeenBy(const World& world, const std::vector<EyeCase>& eyes, double margin = 0,
                  Scope scope = {}) {
  std::vector<double> x, y, range, from, to;
  for (const EyeCase& eye : eyes) {
    x.push_back(eye.eye.x);
    y.push_back(eye.eye.y);
    range.push_back(eye.range);
    if (!eye.sector) continue;
    from.push_back(eye.sector->first);
    to.push_back(eye.sector->second);
  }
  SeeOptions options;
  options.inside_policy = eyes.empty() ? InsidePolicy::kReportStart : eyes[0].policy;
  options.margin = margin;
  SeeAnswers out;
  WorkMeter meter;
  EXPECT_TRUE(FindSeen(world, {x, y, range, from, to, scope}, options, out, meter));
  return out;
}

bool Sees(const Scene& scene, const EyeCase& eye, Shape shape, Vec2 at, double margin = 0) {
  Players players;
  players.Add(std::move(shape), at);
  const Bodies bodies = players.Place();
  const SeeAnswers answers = SeenBy({scene, &bodies}, {eye}, margin);
  EXPECT_EQ(answers.counts[0], answers.Sees(0, 0) ? 1u : 0u);
  return answers.Sees(0, 0);
}

// A wall from (2, -1) to (3, 1).
Scene::Ptr Wall() {
  PolygonSpec spec;
  spec.id = 7;
  spec.rings.push_back({{{2, -1}, {3, -1}, {3, 1}, {2, 1}}});
  return Scene::Create({Polygon::Create(spec).value()}).value();
}

TEST(SeesTest, ABodyBehindAWallIsHiddenAndAShoulderIsSeen) {
  const Scene::Ptr scene = Wall();
  const EyeCase eye{{0, 0}, 16};
  EXPECT_FALSE(Sees(*scene, eye, Square(1), {4, 0}));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {-4, 0}));
  // The ray past (2, 1) is y = x / 2: at x = 4 it is at y = 2.
  EXPECT_FALSE(Sees(*scene, eye, Square(1), {4, 1}));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {4, 1 + 0x1p-51}));
  EXPECT_FALSE(Sees(*scene, eye, Ring({{4, 0}, {4, 2}, {6, 1}}), {0, 0}));
  EXPECT_TRUE(Sees(*scene, eye, Ring({{4, 0}, {4, 2 + 0x1p-51}, {6, 1}}), {0, 0}));
  // On the far side of the wall, sharing an edge with it; and on the near side.
  EXPECT_FALSE(Sees(*scene, eye, Square(1), {3, -0.5}));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {1, -0.5}));
}

TEST(SeesTest, TheRangeAndTheSectorAreOpen) {
  const Scene::Ptr scene = Scene::Create({}).value();
  const EyeCase eye{{0, 0}, 5};
  EXPECT_FALSE(Sees(*scene, eye, Square(1), {3, 4}));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {3, std::nextafter(4, 0)}));
  EXPECT_FALSE(Sees(*scene, eye, Ring({{5, -1}, {5, 1}, {6, 0}}), {0, 0}));
  EXPECT_FALSE(Sees(*scene, eye, Disc(1), {6 + 0x1p-40, 0}));
  EXPECT_TRUE(Sees(*scene, eye, Disc(1), {6 - 0x1p-40, 0}));
  const EyeCase right{{0, 0}, 5, {{-1, 1}}};
  EXPECT_TRUE(Sees(*scene, right, Square(1), {2, 0}));
  EXPECT_FALSE(Sees(*scene, right, Square(1), {-2, 0}));
  EXPECT_FALSE(Sees(*scene, right, Disc(1), {-1 - 0x1p-40, 0}));
  EXPECT_TRUE(Sees(*scene, right, Disc(1), {-1 + 0x1p-40, 0}));
  EXPECT_FALSE(Sees(*scene, right, Disc(0.5), {0, 2}));
  EXPECT_TRUE(Sees(*scene, right, Disc(1.25), {0, 2}));  // 2 cos 1 = 1.08
}

TEST(SeesTest, BodiesWithoutInteriorAreSeen) {
  const Scene::Ptr scene = Wall();
  const EyeCase eye{{0, 0}, 16};
  for (const auto& [shape, is_far] :
       {std::pair{Disc(0), false}, std::pair{Stick({1, 0}, 0), false},
        std::pair{Stick({0, 1}, 0), false},
        std::pair{Ring({{0, 0}, {1, 0}, {0, 1}}, Solidity::kBoundary), false}}) {
    EXPECT_TRUE(Sees(*scene, eye, shape, {1, 0}));
    EXPECT_FALSE(Sees(*scene, eye, shape, {4, 0}));
    EXPECT_FALSE(is_far);
  }
  // On a line with the eye, one end before the wall; and one that ends where the wall is.
  EXPECT_TRUE(Sees(*scene, eye, Stick({8, 0}, 0), {1, 0}));
  EXPECT_FALSE(Sees(*scene, eye, Stick({8, 0}, 0), {2, 0}));
  EXPECT_FALSE(Sees(*scene, eye, Stick({8, 0}, 0), {16, 0}));
  // Along the line of sight past the corner (2, 1), and a little beside it.
  EXPECT_FALSE(Sees(*scene, eye, Stick({2, 1}, 0), {4, 2}));
  EXPECT_TRUE(Sees(*scene, eye, Stick({2, 1}, 0), {4, 2 + 0x1p-51}));
}

TEST(SeesTest, WhatContainsTheEyeIsSeenUnlessTheEyeIsInAWall) {
  const Scene::Ptr scene = Wall();
  EXPECT_TRUE(Sees(*scene, {{0, 0}, 1}, Square(8), {-4, -4}));
  EXPECT_TRUE(Sees(*scene, {{0, 0}, 1}, Square(8), {0, 0}));
  EXPECT_TRUE(Sees(*scene, {{0, 0}, 1}, Disc(4), {3, 0}));
  EyeCase inside{{2.5, 0}, 16};
  EXPECT_FALSE(Sees(*scene, inside, Square(8), {-4, -4}));
  inside.policy = InsidePolicy::kIgnore;
  EXPECT_TRUE(Sees(*scene, inside, Square(8), {-4, -4}));
  EXPECT_TRUE(Sees(*scene, inside, Square(1), {8, 0}));
}

TEST(SeesTest, AMarginGrowsTheBody) {
  const Scene::Ptr scene = Wall();
  const EyeCase eye{{0, 0}, 16};
  // The square's corner (4, 1) is 2 / sqrt(5) from the ray y = x / 2.
  const double distance = 2 / std::sqrt(5.0);
  EXPECT_FALSE(Sees(*scene, eye, Square(1), {4, 0}, distance - 1e-12));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {4, 0}, distance + 1e-12));
  EXPECT_TRUE(Sees(*scene, eye, Disc(distance), {4, 1}, 1e-12));
  EXPECT_FALSE(Sees(*scene, eye, Disc(distance - 0.5), {4, 1}, 0.5 - 1e-12));
  EXPECT_TRUE(Sees(*scene, eye, Square(1), {4, 0}, 0x1p53));
}

TEST(SeesTest, OwnersCategoriesAndErrors) {
  const Scene::Ptr scene = Wall();
  Players players;
  for (int i = 0; i < 70; ++i) players.Add(Disc(0.25), {-1 - i * 0.125, 0});
  players.owner.assign(70, 0);
  players.owner[1] = players.owner[69] = 5;
  players.category.assign(70, 1);
  players.category[2] = 0;
  const Bodies bodies = players.Place();
  const std::vector<uint32_t> ignored = {5, 0};
  const SeeAnswers answers =
      SeenBy({*scene, &bodies}, {{{0, 0}, 100}, {{0, 0}, -1}}, 0, {Against::kScene, {}, ignored});
  ASSERT_EQ(answers.words(), 2u);
  EXPECT_EQ(answers.counts, (std::vector<uint32_t>{67, 0}));
  EXPECT_EQ(answers.seen[0], ~uint64_t{6});
  EXPECT_EQ(answers.seen[1], 0x1fu);
  EXPECT_EQ(answers.seen[2] | answers.seen[3], 0u);
  ASSERT_EQ(answers.errors.size(), 1u);
  EXPECT_EQ(answers.errors[0], (ItemError{1, ItemColumn::kRange, ItemFault::kNegativeLength}));
  EXPECT_FALSE(answers.Sees(0, 70));
  EXPECT_FALSE(answers.Sees(0, 1000));
  const SeeAnswers none = SeenBy(*scene, {{{2.5, 0}, 1}});
  EXPECT_EQ(none.words(), 0u);
  EXPECT_EQ(none.starts_inside, (std::vector<uint8_t>{1}));
}

// --- Laws

struct Case {
  TestScene scene;
  EyeCase eye;
  Players players;
};

Shape RandomShape(Random& random, const Grid& grid) {
  for (;;) {
    const absl::StatusOr<Polygon> polygon = Polygon::Create(RandomPolygon(random, grid, 1));
    if (polygon.ok()) return Shape(*polygon);
  }
}

Case RandomCase(Random& random, int i, bool has_sector) {
  const Grid grid{4 + random.Below(6), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
  Case made{RandomScene(random, grid), {}, {}};
  const Grid eyes{grid.size * 2, grid.scale / 2, i % 3 == 0 ? 20 : 0};
  made.eye.eye = eyes.Point(random);
  made.eye.range = grid.scale * (1 + random.Below(16) * 0.5);
  made.eye.policy = i % 2 == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  if (has_sector) {
    const double from = 7 * random.Unit() - 3.5;
    made.eye.sector = {from, from + 0.05 + 6 * random.Unit()};
  }
  const Grid small{1 + random.Below(4), grid.scale / 2, 0};
  for (int k = 0; k < 8; ++k) made.players.Add(RandomShape(random, small), grid.Point(random));
  return made;
}

// Whether an edge of the body is on a line with the eye, or the body contains the eye: in these
// cases an area in which the body blocks may have no edge of it, though the body is seen.
bool IsSpecial(const Shape& shape, Vec2 at, Vec2 eye, const Scene& empty) {
  Players one;
  one.Add(shape, at);
  const Bodies body = one.Place();
  LocateAnswers located;
  WorkMeter meter;
  PointColumns point{{&eye.x, 1}, {&eye.y, 1}};
  point.scope.against = Against::kBodies;
  LocatePoints({empty, &body}, point, kEveryCategory, located, meter);
  if (located.counts[0] != 0) return true;
  const Polygon placed = PlacedPolygon(*shape.polygon(), {at, 1, 0}).value();
  for (size_t i = 0; i < placed.edge_count(); ++i) {
    if (Orientation(eye, placed.edge(i).a, placed.edge(i).b) == 0) return true;
  }
  return false;
}

TEST(SeesLawTest, ABodyIsSeenExactlyIfAnAreaThatItBlocksHasAnEdgeOfIt) {
  Random random(4361);
  const Scene::Ptr empty = Scene::Create({}).value();
  int seen = 0, hidden = 0;
  for (int i = 0; i < Repeats(2000, 60000) && !HasFailure(); ++i) {
    const auto [scene, eye, players] = RandomCase(random, i, i % 3 == 0);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const Bodies bodies = players.Place();
    const SeeAnswers answers = SeenBy({*scene.scene, &bodies}, {eye});
    for (size_t k = 0; k < players.x.size(); ++k) {
      const Vec2 at{players.x[k], players.y[k]};
      if (IsSpecial(players.shapes[k], at, eye.eye, *empty)) continue;
      Players one;
      one.Add(players.shapes[k], at);
      const Bodies body = one.Place();
      const AreaAnswers area = AreasOf({*scene.scene, &body}, {eye}, {Against::kBoth});
      const bool has_edge = std::any_of(area.pieces.begin(), area.pieces.end(),
                                        [](const AreaPiece& piece) { return piece.is_body; });
      EXPECT_EQ(answers.Sees(0, k), has_edge)
          << ToCode(players.shapes[k].polygon()->spec()) << " at " << at.x << " " << at.y;
      ++(has_edge ? seen : hidden);
    }
  }
  EXPECT_GT(seen, 800);
  EXPECT_GT(hidden, 2000);
}

// The distance between a point and a segment, in doubles.
double DistanceOf(Vec2 p, Vec2 a, Vec2 b) {
  const double dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
  const double t =
      length2 == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length2, 0.0, 1.0);
  return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

// The distance of an area, with its arcs as chords of many small steps, from a segment that does
// not cross its boundary and of which no end is in the area; at most 0.001 too large.
double DistanceOf(const AreaAnswers& area, const EyeCase& eye, Vec2 a, Vec2 b) {
  double least = HUGE_VAL;
  const auto count = [&](Vec2 c, Vec2 d) {
    least = std::min({least, DistanceOf(a, c, d), DistanceOf(b, c, d), DistanceOf(c, a, b),
                      DistanceOf(d, a, b)});
    const bool crosses = Orientation(a, b, c) * Orientation(a, b, d) < 0 &&
                         Orientation(c, d, a) * Orientation(c, d, b) < 0;
    if (crosses) least = 0;
  };
  for (size_t i = 0; i < area.pieces.size(); ++i) {
    const Vec2 c = area.pieces[i].start, d = area.pieces[(i + 1) % area.pieces.size()].start;
    if (area.pieces[i].kind != AreaPieceKind::kArc) {
      count(c, d);
      continue;
    }
    const double from = std::atan2(c.y - eye.eye.y, c.x - eye.eye.x);
    double to = std::atan2(d.y - eye.eye.y, d.x - eye.eye.x);
    while (to <= from + 1e-12) to += 2 * std::acos(-1);
    Vec2 last = c;
    for (int k = 1; k <= 400; ++k) {
      const double angle = from + (to - from) * k / 400;
      const Vec2 next{eye.eye.x + eye.range * std::cos(angle),
                      eye.eye.y + eye.range * std::sin(angle)};
      count(last, next);
      last = next;
    }
  }
  return least;
}

// An arc that is close to nothing or to everything cannot be told apart by its ends.
bool HasDoubtfulArc(const AreaAnswers& area) {
  for (size_t i = 0; i < area.pieces.size() && area.pieces.size() > 1; ++i) {
    const Vec2 c = area.pieces[i].start, d = area.pieces[(i + 1) % area.pieces.size()].start;
    if (area.pieces[i].kind == AreaPieceKind::kArc && std::hypot(c.x - d.x, c.y - d.y) < 1e-6) {
      return true;
    }
  }
  return false;
}

TEST(SeesLawTest, ACapsuleIsSeenIfItsAxisIsNearerToTheAreaThanItsRadius) {
  Random random(4362);
  int seen = 0, hidden = 0;
  for (int i = 0; i < Repeats(1500, 40000) && !HasFailure(); ++i) {
    auto [scene, eye, unused] = RandomCase(random, i, i % 3 == 0);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers area = AreasOf(*scene.scene, {eye});
    if (area.pieces.empty() || HasDoubtfulArc(area)) continue;
    for (int k = 0; k < 8; ++k) {
      const double scale = i % 2 == 0 ? 1 : 0.1;
      const Vec2 a{scale * 10 * random.Unit(), scale * 10 * random.Unit()};
      const Vec2 along{scale * 4 * (random.Unit() - 0.5), scale * 4 * (random.Unit() - 0.5)};
      const double radius = scale * 1.5 * random.Unit() + 0.01 * scale;
      const double margin = k % 2 == 0 ? 0 : radius * random.Unit();
      const Vec2 b{a.x + along.x, a.y + along.y};
      const bool answer = Sees(*scene.scene, eye, Stick(along, radius - margin), a, margin);
      // Without a radius, an axis that is a point or a stick is seen if it is in the area.
      const bool is_in =
          Sees(*scene.scene, eye, Stick(along, 0), a) || DistanceOf(eye.eye, a, b) < radius - 1e-9;
      const double distance = is_in ? 0 : DistanceOf(area, eye, a, b);
      if (std::abs(distance - radius) < 0.002 * scale) continue;
      EXPECT_EQ(answer, distance < radius)
          << a.x << " " << a.y << " " << b.x << " " << b.y << " radius " << radius << " margin "
          << margin << " distance " << distance;
      ++(answer ? seen : hidden);
    }
  }
  EXPECT_GT(seen, 2000);
  EXPECT_GT(hidden, 1000);
}

TEST(SeesLawTest, MoreRangeMoreMarginAndFewerWallsHideNothing) {
  Random random(4363);
  for (int i = 0; i < Repeats(1000, 40000) && !HasFailure(); ++i) {
    auto [scene, eye, players] = RandomCase(random, i, i % 3 == 0);
    eye.policy = InsidePolicy::kIgnore;
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const Bodies bodies = players.Place();
    const World world{*scene.scene, &bodies};
    const SeeAnswers base = SeenBy(world, {eye});
    EyeCase farther = eye;
    farther.range *= 1.5;
    const Scene::Ptr empty = Scene::Create({}).value();
    const SeeAnswers more[] = {SeenBy(world, {eye}, 1e-300), SeenBy(world, {eye}, 0.25),
                               SeenBy(world, {farther}), SeenBy({*empty, &bodies}, {eye})};
    for (const SeeAnswers& other : more) {
      for (size_t w = 0; w < base.seen.size(); ++w) {
        EXPECT_EQ(base.seen[w] & ~other.seen[w], 0u);
      }
    }
  }
}

TEST(SeesLawTest, SectorsMakeUpTheWhole) {
  Random random(4364);
  for (int i = 0; i < Repeats(1000, 40000) && !HasFailure(); ++i) {
    auto [scene, eye, players] = RandomCase(random, i, false);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const Bodies bodies = players.Place();
    const World world{*scene.scene, &bodies};
    const double margin = i % 2 == 0 ? 0 : 0.125;
    const SeeAnswers whole = SeenBy(world, {eye}, margin);
    const double cuts[] = {-3, -3 + 3 * random.Unit(), 3 * random.Unit(), 3.2831};
    std::vector<uint64_t> all(whole.seen.size());
    for (int k = 0; k < 3; ++k) {
      eye.sector = {cuts[k], cuts[k + 1]};
      const SeeAnswers part = SeenBy(world, {eye}, margin);
      for (size_t w = 0; w < all.size(); ++w) all[w] |= part.seen[w];
    }
    EXPECT_EQ(all, whole.seen);
  }
}

}  // namespace
}  // namespace carom::testing::sees_test
