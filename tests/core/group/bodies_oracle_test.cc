// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes and bodies, polygons and round ones, against the rational oracle: what is met and where,
// in one total order, with masks and owners that are passed over. Round bodies are met at the first
// double at which they are, which the oracle searches for without solving anything.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/bodies.h"
#include "carom/cast.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/sweep.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_body.h"
#include "tests/support/oracle_distance.h"
#include "tests/support/oracle_sweep.h"
#include "tests/support/repeats.h"

namespace carom::testing::bodies_oracle_test {
namespace {

// One body as both sides have it.
struct AnyBody {
  PolygonSpec polygon;  // without rings: round
  OracleRoundBody round;
  uint64_t category = 1;
  uint32_t owner = 0;

  bool is_round() const { return polygon.rings.empty(); }
};

// A scene, bodies, and what the item of a batch considers of them.
struct TestWorld {
  TestScene scene;
  std::vector<AnyBody> bodies;
  std::vector<Shape> shapes;
  std::vector<double> zeros;
  std::vector<uint64_t> category;
  std::vector<uint32_t> owner;
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;
  Against against = Against::kBoth;

  Scope scope() const { return {against, {&mask, 1}, {&ignore_owner, 1}}; }
  bool asks_scene() const { return against != Against::kBodies; }
  bool Considers(const AnyBody& body) const {
    return (body.category & mask) != 0 && (ignore_owner == 0 || body.owner != ignore_owner);
  }
  Bodies Placed() const {
    return Bodies::Create({{shapes, {}, zeros, zeros}, category, owner}).value();
  }
  std::string ToCode() const {
    std::string code = absl::StrCat(scene.ToCode(), "bodies, mask ", mask, ", but for owner ",
                                    ignore_owner, ":\n");
    for (const AnyBody& body : bodies) {
      const auto& [a, b, radius] = body.round;
      absl::StrAppend(&code, "category ", body.category, ", owner ", body.owner, ": ");
      absl::StrAppend(&code, body.is_round() ? absl::StrFormat("{{%a, %a}, {%a, %a}, %a}\n", a.x,
                                                               a.y, b.x, b.y, radius)
                                             : carom::testing::ToCode(body.polygon));
    }
    return code;
  }
};

AnyBody RandomBody(Random& random, const Grid& grid) {
  AnyBody body;
  if (random.Below(3) == 0) {
    body.polygon = RandomPolygon(random, grid, 0);
  } else {
    const Vec2 a = Normalized(grid.Point(random));
    const Vec2 b = random.Below(2) == 0 ? a : Normalized(grid.Point(random));
    double radius = 0;
    while (radius < 0x1p-100) radius = std::abs(grid.Coordinate(random)) / (1 + random.Below(3));
    body.round = {{a.x, a.y}, {b.x, b.y}, radius};
  }
  body.category = random.Below(4) == 0 ? 2 : 1;
  body.owner = static_cast<uint32_t>(random.Below(3));
  return body;
}

TestWorld RandomWorld(Random& random, const Grid& grid) {
  TestWorld world{RandomScene(random, grid), {}, {}, {}, {}, {}};
  for (int left = 1 + random.Below(5); left > 0; --left) {
    const AnyBody& body = world.bodies.emplace_back(RandomBody(random, grid));
    const auto& [a, b, radius] = body.round;
    world.shapes.push_back(body.is_round()
                               ? Shape::Create(Capsule{{{a.x, a.y}, {b.x, b.y}}, radius}).value()
                               : Shape(Polygon::Create(body.polygon).value()));
    world.category.push_back(body.category);
    world.owner.push_back(body.owner);
  }
  world.zeros.assign(world.bodies.size(), 0);
  world.mask = random.Below(3) == 0 ? 1 : kEveryCategory;
  world.ignore_owner = static_cast<uint32_t>(random.Below(3));
  world.against = random.Below(4) == 0 ? Against::kBodies : Against::kBoth;
  return world;
}

// Calls check(random, grid, world, bodies) for the worlds of the suite.
template <class Check>
void ForRandomWorlds(uint64_t seed, Check check) {
  const int cases = Repeats(60, 10000);
  for (int i = 0; i < cases && !::testing::Test::HasFailure(); ++i) {
    Random random(seed + static_cast<uint64_t>(i));
    const Grid grid{4 + random.Below(5), std::ldexp(1, 20 * random.Below(3) - 20),
                    i % 3 == 0 ? 0 : 15};
    const TestWorld world = RandomWorld(random, grid);
    const Bodies bodies = world.Placed();
    SCOPED_TRACE(absl::StrCat("case ", i, world.ToCode()));
    for (int q = 0; q < 6 && !::testing::Test::HasFailure(); ++q) {
      check(random, grid, world, bodies);
    }
  }
}

// A row of the expected answer: what orders it, and what it names.
struct Row {
  Rational key;
  bool is_body = false;
  uint64_t id = 0;
  bool starts_inside = false;

  friend bool operator<(const Row& a, const Row& b) {
    if (a.key != b.key) return a.key < b.key;
    return a.is_body != b.is_body ? !a.is_body : a.id < b.id;
  }
};

// Calls add(shape, is_body, id) for the polygons that the item considers, in either place.
template <class F>
void ForPolygons(const TestWorld& world, F add) {
  for (const OracleShape& shape : world.scene.oracle.shapes()) {
    if (world.asks_scene() && (shape.category() & world.mask) != 0) add(shape, false, shape.id());
  }
  for (size_t i = 0; i < world.bodies.size(); ++i) {
    const AnyBody& body = world.bodies[i];
    if (world.Considers(body) && !body.is_round()) {
      add(OracleShape(ToOracle(body.polygon)), true, uint64_t{i});
    }
  }
}
template <class F>
void ForRoundBodies(const TestWorld& world, F add) {
  for (size_t i = 0; i < world.bodies.size(); ++i) {
    const AnyBody& body = world.bodies[i];
    if (world.Considers(body) && body.is_round()) add(body.round, uint64_t{i});
  }
}

Oracle OracleOfBodies(const TestWorld& world) {
  std::vector<OraclePolygon> polygons;
  for (size_t i = 0; i < world.bodies.size(); ++i) {
    const AnyBody& body = world.bodies[i];
    if (body.is_round() || !world.Considers(body)) continue;
    polygons.push_back(ToOracle(body.polygon));
    polygons.back().id = i;
  }
  return Oracle(polygons);
}

RationalXy Displacement(Vec2 a, Vec2 b) {
  return Exact(Flushed(Xy{b.x, b.y})) - Exact(Flushed(Xy{a.x, a.y}));
}

void ExpectCast(Random& random, const Grid& grid, const TestWorld& world, const Bodies& bodies) {
  const Vec2 a = grid.Point(random);
  const Vec2 b = random.Below(12) == 0 ? a : grid.Point(random);
  const bool ignores = random.Below(2) == 0;
  SCOPED_TRACE(absl::StrFormat("{%a, %a} {%a, %a} %d", a.x, a.y, b.x, b.y, ignores));
  std::vector<Row> expected;
  OracleCastOptions asked;
  asked.mode = OracleMode::kAll;
  asked.inside = ignores ? OracleInside::kIgnore : OracleInside::kReportStart;
  const OracleLine line = carom::testing::Segment({a.x, a.y}, {b.x, b.y});
  const auto add = [&](const Oracle& oracle, bool is_body, uint64_t mask) {
    asked.mask = mask;
    for (const OracleHit& hit : oracle.Cast(line, asked).hits) {
      expected.push_back({hit.at.fraction, is_body, hit.polygon, hit.passage.starts_inside});
    }
  };
  if (world.asks_scene()) add(world.scene.oracle, false, world.mask);
  add(OracleOfBodies(world), true, kEveryCategory);
  const OracleShape point = PointShape({a.x, a.y});
  const RationalXy d = Displacement(a, b);
  std::vector<double> exits(world.bodies.size());
  ForRoundBodies(world, [&](const OracleRoundBody& body, uint64_t id) {
    const auto first = FirstMeeting(point, 0, d, body);
    if (!first || (ignores && *first == 0)) return;
    expected.push_back({Exact(*first), true, id, *first == 0});
    exits[id] = IsZero(d) ? 0 : std::max(*first, LastMeeting(point, 0, d, body));
  });
  std::sort(expected.begin(), expected.end());
  CastOptions options;
  options.mode = CastMode::kAll;
  options.inside_policy = ignores ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  const SegmentColumns columns{{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}, world.scope()};
  CastAnswers all, closest;
  WorkMeter meter;
  const World asked_world(*world.scene.scene, &bodies);
  ASSERT_TRUE(CastSegments(asked_world, columns, options, all, meter));
  ASSERT_EQ(all.hits.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const CastHit& hit = all.hits[i];
    EXPECT_EQ(hit.is_body, expected[i].is_body);
    EXPECT_EQ(hit.polygon_id, expected[i].id);
    EXPECT_EQ(hit.fraction, NearestDouble(expected[i].key));
    EXPECT_EQ(hit.starts_inside, expected[i].starts_inside);
    const bool is_round = hit.is_body && world.bodies[hit.polygon_id].is_round();
    if (is_round) {
      EXPECT_EQ(hit.exit_fraction, exits[hit.polygon_id]);
    }
  }
  options.mode = CastMode::kClosest;
  ASSERT_TRUE(CastSegments(asked_world, columns, options, closest, meter));
  ASSERT_EQ(closest.hits.size(), expected.empty() ? 0u : 1u);
  if (expected.empty()) return;
  EXPECT_EQ(closest.hits[0].is_body, expected[0].is_body);
  EXPECT_EQ(closest.hits[0].polygon_id, expected[0].id);
}

TEST(BodiesOracleTest, Casts) { ForRandomWorlds(0xb0d1ca57, ExpectCast); }

// A polygon that moves, first touches in one order.
TEST(BodiesOracleTest, SweepsOfPolygons) {
  ForRandomWorlds(0xb0d15eed, [](Random& random, const Grid& grid, const TestWorld& world,
                                 const Bodies& bodies) {
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    const Vec2 d = random.Below(12) == 0 ? Vec2{} : Normalized(grid.Point(random));
    SCOPED_TRACE(absl::StrCat(carom::testing::ToCode(spec), absl::StrFormat("{%a, %a}", d.x, d.y)));
    const OracleShape mover(ToOracle(spec));
    std::vector<Row> expected;
    ForPolygons(world, [&](const OracleShape& fixed, bool is_body, uint64_t id) {
      const auto passages = SweepPassages(fixed, mover, {d.x, d.y});
      if (passages.empty()) return;
      const Rational& t = passages[0].begin;
      expected.push_back({t, is_body, id, Sign(t) == 0});
    });
    ForRoundBodies(world, [&](const OracleRoundBody& body, uint64_t id) {
      const auto first = FirstMeeting(mover, 0, Displacement({}, d), body);
      if (first) expected.push_back({Exact(*first), true, id, *first == 0});
    });
    std::sort(expected.begin(), expected.end());
    const Shape shape(Polygon::Create(spec).value());
    const double zero = 0;
    SweepColumns columns;
    columns.movers = {{&shape, 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}, world.scope()};
    columns.dx = {&d.x, 1};
    columns.dy = {&d.y, 1};
    SweepOptions options;
    options.mode = CastMode::kAll;
    SweepAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(SweepShapes({*world.scene.scene, &bodies}, columns, options, out, meter));
    ASSERT_EQ(out.hits.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const SweepHit& hit = out.hits[i];
      EXPECT_EQ(hit.is_body, expected[i].is_body);
      EXPECT_EQ(hit.polygon_id, expected[i].id);
      EXPECT_EQ(hit.fraction, NearestDouble(expected[i].key));
      EXPECT_EQ(hit.starts_inside, expected[i].starts_inside);
      EXPECT_EQ(hit.ties, i > 0 && expected[i].key == expected[i - 1].key);
    }
  });
}

// Two round shapes: radii are added exactly.
TEST(BodiesOracleTest, SweepsOfRoundShapes) {
  ForRandomWorlds(0xb0d1c1c1, [](Random& random, const Grid& grid, const TestWorld& world,
                                 const Bodies& bodies) {
    AnyBody mover = RandomBody(random, grid);
    while (!mover.is_round()) mover = RandomBody(random, grid);
    const Xy a = mover.round.a;
    const Xy b = mover.round.b;
    const double radius = mover.round.radius;
    const Vec2 d = random.Below(12) == 0 ? Vec2{} : Normalized(grid.Point(random));
    const OracleShape core({.rings = {{{a, b}, true}}, .solidity = OracleSolidity::kBoundary});
    SCOPED_TRACE(
        absl::StrFormat("{{%a, %a}, {%a, %a}, %a} {%a, %a}", a.x, a.y, b.x, b.y, radius, d.x, d.y));
    std::vector<Row> expected;
    ForRoundBodies(world, [&](const OracleRoundBody& body, uint64_t id) {
      const auto first = FirstMeeting(core, radius, Displacement({}, d), body);
      if (first) expected.push_back({Exact(*first), true, id, *first == 0});
    });
    std::sort(expected.begin(), expected.end());
    const Shape shape = Shape::Create(Capsule{{{a.x, a.y}, {b.x, b.y}}, radius}).value();
    const double zero = 0;
    SweepColumns columns;
    columns.movers = {{&shape, 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}, world.scope()};
    columns.movers.scope.against = Against::kBodies;
    columns.dx = {&d.x, 1};
    columns.dy = {&d.y, 1};
    SweepOptions options;
    options.mode = CastMode::kAll;
    SweepAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(SweepShapes({*world.scene.scene, &bodies}, columns, options, out, meter));
    // Polygons among the bodies are for `SweepOracleTest`: here the rows of the round ones count.
    std::erase_if(out.hits,
                  [&](const SweepHit& hit) { return !world.bodies[hit.polygon_id].is_round(); });
    ASSERT_EQ(out.hits.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(out.hits[i].polygon_id, expected[i].id);
      EXPECT_EQ(out.hits[i].fraction, NearestDouble(expected[i].key));
      EXPECT_EQ(out.hits[i].starts_inside, expected[i].starts_inside);
    }
  });
}

TEST(BodiesOracleTest, PointsAndCircles) {
  ForRandomWorlds(0xb0d10c1c, [](Random& random, const Grid& grid, const TestWorld& world,
                                 const Bodies& bodies) {
    const Vec2 p = grid.Point(random);
    const double radius = random.Below(3) == 0 ? 0 : std::abs(grid.Coordinate(random));
    SCOPED_TRACE(absl::StrFormat("{%a, %a} %a", p.x, p.y, radius));
    // Rows of the circle; a key of 1 says that it only touches.
    std::vector<Row> circle, point;
    const auto touch = [](int order) { return order == 0 ? Rational(1) : Rational(0); };
    const RationalXy at = Exact(Flushed(Xy{p.x, p.y}));
    const Rational reach = Exact(Flushed(radius));
    ForPolygons(world, [&](const OracleShape& shape, bool is_body, uint64_t id) {
      const OraclePlace place = shape.Locate(at);
      if (place != OraclePlace::kOutside) {
        point.push_back({touch(place == OraclePlace::kBoundary ? 0 : 1), is_body, id});
      }
      const int order = CompareRoot(SquaredDistance(at, shape), reach);
      if (order <= 0) circle.push_back({touch(order), is_body, id});
    });
    ForRoundBodies(world, [&](const OracleRoundBody& body, uint64_t id) {
      const Rational square = SquaredReach(PointShape({p.x, p.y}), {0, 0}, 0, 0, body);
      const int order = CompareRoot(square, Exact(body.radius));
      if (order <= 0) point.push_back({touch(order), true, id});
      const int reached = CompareRoot(square, reach + Exact(body.radius));
      // A disc without radius touches all that holds its centre.
      const int touches = Sign(reach) == 0 ? 0 : reached;
      if (reached <= 0) circle.push_back({touch(touches), true, id});
    });
    const auto by_name = [](const Row& a, const Row& b) {
      return a.is_body != b.is_body ? !a.is_body : a.id < b.id;
    };
    std::sort(circle.begin(), circle.end(), by_name);
    std::sort(point.begin(), point.end(), by_name);
    WorkMeter meter;
    const World asked(*world.scene.scene, &bodies);
    LocateAnswers located;
    ASSERT_TRUE(
        LocatePoints(asked, {{&p.x, 1}, {&p.y, 1}, world.scope()}, kEveryCategory, located, meter));
    ASSERT_EQ(located.polygon_ids.size(), point.size());
    for (size_t i = 0; i < point.size(); ++i) {
      EXPECT_EQ(located.polygon_ids[i], point[i].id);
      EXPECT_EQ(located.is_body[i] != 0, point[i].is_body);
      EXPECT_EQ(located.locations[i] == Location::kBoundary, point[i].key == 1);
    }
    OverlapAnswers overlaps;
    ASSERT_TRUE(OverlapCircles(asked, {{&p.x, 1}, {&p.y, 1}, {&radius, 1}, world.scope()}, {},
                               overlaps, meter));
    ASSERT_EQ(overlaps.polygon_ids.size(), circle.size());
    for (size_t i = 0; i < circle.size(); ++i) {
      EXPECT_EQ(overlaps.polygon_ids[i], circle[i].id);
      EXPECT_EQ(overlaps.is_body[i] != 0, circle[i].is_body);
      EXPECT_EQ(overlaps.touching[i] != 0, circle[i].key == 1);
    }
  });
}

// All that is nearest to a polygon: exact distances where both are polygons, else those rounded up.
TEST(BodiesOracleTest, NearestOfPolygons) {
  ForRandomWorlds(0xb0d1d157, [](Random& random, const Grid& grid, const TestWorld& world,
                                 const Bodies& bodies) {
    const PolygonSpec spec = RandomPolygon(random, grid, 0);
    SCOPED_TRACE(carom::testing::ToCode(spec));
    const OracleShape mover(ToOracle(spec));
    std::vector<Row> expected;  // by the square of the distance
    ForPolygons(world, [&](const OracleShape& fixed, bool is_body, uint64_t id) {
      expected.push_back({Nearness(fixed, mover).square, is_body, id});
    });
    ForRoundBodies(world, [&](const OracleRoundBody& body, uint64_t id) {
      const double distance =
          RootAtLeast(SquaredReach(mover, {0, 0}, 0, 0, body), Exact(body.radius));
      expected.push_back({Exact(distance) * Exact(distance), true, id});
    });
    std::sort(expected.begin(), expected.end());
    size_t tied = 0;
    while (tied < expected.size() && expected[tied].key == expected[0].key) ++tied;
    const Shape shape(Polygon::Create(spec).value());
    const double zero = 0;
    DistanceColumns columns;
    columns.movers = {{&shape, 1}, {}, {&zero, 1}, {&zero, 1}, {}, {}, {}, world.scope()};
    DistanceAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(MeasureDistances({*world.scene.scene, &bodies}, columns, {}, out, meter));
    ASSERT_EQ(out.polygon_ids.size(), tied);
    for (size_t i = 0; i < tied; ++i) {
      EXPECT_EQ(out.polygon_ids[i], expected[i].id);
      EXPECT_EQ(out.is_body[i] != 0, expected[i].is_body);
    }
    for (const uint32_t k : {1u, 1u + uint32_t(random.Below(6)), kMaxNearestK}) {
      const DistanceOptions options{DistanceMode::kNearestK, kEveryCategory, k};
      ASSERT_TRUE(MeasureDistances({*world.scene.scene, &bodies}, columns, options, out, meter));
      ASSERT_EQ(out.polygon_ids.size(), std::min<size_t>(k, expected.size()));
      for (size_t i = 0; i < out.polygon_ids.size(); ++i) {
        EXPECT_EQ(out.polygon_ids[i], expected[i].id) << "rank " << i;
        EXPECT_EQ(out.is_body[i] != 0, expected[i].is_body);
      }
    }
  });
}

}  // namespace
}  // namespace carom::testing::bodies_oracle_test
