// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sweeps that turn: worked examples, laws, and certificates checked by following random motions
// closely in extended precision, with placements and distances of their own.

#include "carom/rotating_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/cast.h"
#include "carom/overlap.h"
#include "carom/sincos.h"
#include "numeric/turn.h"
#include "tests/core/random_scene.h"
#include "tests/core/sweep/turning_case.h"
#include "tests/support/repeats.h"

namespace carom::testing::rotating_sweep_test {
namespace {

using Real = long double;

constexpr double kPi = 3.14159265358979323846;

Polygon MakePolygon(std::vector<Vec2> vertices) {
  return Polygon::Create({0, {{std::move(vertices), false}}}).value();
}

PolygonSpec Chain(uint64_t id, std::vector<Vec2> vertices) {
  PolygonSpec spec{id, {{std::move(vertices), true}}};
  spec.solidity = Solidity::kBoundary;
  return spec;
}

PolygonSpec Square(uint64_t id, double x, double y, double side) {
  return {id, {{{{x, y}, {x + side, y}, {x + side, y + side}, {x, y + side}}, false}}};
}

Shape Bar(double length) { return MakePolygon({{0, 0}, {length, 0}}); }

// The tip of the bar is at height 2 sin(t pi / 2): 1 at a third.
TEST(RotatingSweepTest, ABarTurnsIntoAWall) {
  const TestScene scene = MakeScene({Chain(5, {{-9, 1}, {9, 1}})});
  for (const double tolerance : {1e-1, 1e-3, 1e-6, 1e-9}) {
    const Turning m{Bar(2), PoseAt(0, 0, 0), PoseAt(0, 0, kPi / 2),
                    std::max(tolerance, 0x1p-20 * 4)};
    const RotatingSweepAnswers answers = Ask(*scene.scene, m);
    ASSERT_EQ(answers.hits.size(), 1u);
    EXPECT_EQ(answers.hits[0].polygon_id, 5u);
    EXPECT_LE(answers.hits[0].low, 1.0 / 3);
    EXPECT_NEAR(answers.hits[0].high, 1.0 / 3, m.tolerance);
  }
}

TEST(RotatingSweepTest, AFastBarDoesNotPassAThinWall) {
  const TestScene scene = MakeScene({Chain(5, {{50, -1e-3}, {50, 1e-3}})});
  const Turning m{MakePolygon({{-1, -0.01}, {1, -0.01}, {1, 0.01}, {-1, 0.01}}), PoseAt(0, 0, 0),
                  PoseAt(100, 0, 3), 1e-3};
  ASSERT_EQ(Ask(*scene.scene, m).hits.size(), 1u);
  const Shape circle = Shape::Create({{{0, 0}, {0, 0}}, 1e-3}).value();
  const RotatingSweepAnswers fast =
      Ask(*scene.scene, {circle, PoseAt(0, 0, 0), PoseAt(100, 0, 1), 1e-3});
  ASSERT_EQ(fast.hits.size(), 1u);
  EXPECT_NEAR(fast.hits[0].high, 0.5, 1e-4);
}

TEST(RotatingSweepTest, AHalfTurnGoesCounterClockwise) {
  const TestScene above = MakeScene({Square(1, -0.1, 0.9, 0.2)});
  const TestScene below = MakeScene({Square(1, -0.1, -1.1, 0.2)});
  const Shape bar = Bar(1.5);
  const Turning half{bar, {{0, 0}, 1, 0}, {{0, 0}, -1, 0}, 1e-3};
  EXPECT_EQ(Ask(*above.scene, half).hits.size(), 1u);
  EXPECT_EQ(Ask(*below.scene, half).hits.size(), 0u);
  const Turning odd{bar, {{0, 0}, 0.6, 0.8}, {{0, 0}, -0.6, -0.8}, 1e-3};
  EXPECT_EQ(Ask(*above.scene, odd).hits.size(), 1u);
  EXPECT_EQ(Ask(*below.scene, odd).hits.size(), 0u);
  // An ulp less than opposite is the shorter way on its own side.
  const double ulp = 0x1p-60;
  EXPECT_EQ(Ask(*below.scene, {bar, {{0, 0}, 1, 0}, {{0, 0}, -1, -ulp}, 1e-3}).hits.size(), 1u);
  EXPECT_EQ(Ask(*below.scene, {bar, {{0, 0}, 1, 0}, {{0, 0}, -1, ulp}, 1e-3}).hits.size(), 0u);
}

TEST(RotatingSweepTest, ContactAtTheStartFollowsThePolicy) {
  const TestScene scene = MakeScene({Square(8, 0, 0, 2), Square(3, 1, 0, 2), Square(6, 10, 0, 2)});
  const Shape box = MakePolygon({{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}});
  const Shape disc = Shape::Create({{{-0.25, 0}, {0.25, 0}}, 0.5}).value();
  for (const Shape& shape : {box, disc}) {
    const Turning m{shape, PoseAt(1.5, 1, 0), PoseAt(20, 1, 1), 1e-3};
    const RotatingSweepAnswers start = Ask(*scene.scene, m);
    ASSERT_EQ(start.hits.size(), 1u);
    EXPECT_EQ(start.hits[0].polygon_id, 3u);
    EXPECT_EQ(start.hits[0].low, 0);
    EXPECT_EQ(start.hits[0].high, 0);
    RotatingSweepOptions options;
    options.start_policy = StartPolicy::kIgnore;
    const RotatingSweepAnswers next = Ask(*scene.scene, m, options);
    ASSERT_EQ(next.hits.size(), 1u);
    EXPECT_EQ(next.hits[0].polygon_id, 6u);
    EXPECT_GT(next.hits[0].low, 0.3);
    options.mask = 2;
    EXPECT_TRUE(Ask(*scene.scene, m, options).hits.empty());
  }
}

// Polygon 1 is a thousandth of the tolerance away, 2 in contact.
TEST(RotatingSweepTest, AtZeroTheLeastInContactIsNamedNotTheLeastNearBy) {
  const TestScene scene = MakeScene({Square(1, 0, 1 + 1e-6, 2), Square(2, 0, -3, 2)});
  const Turning m{MakePolygon({{0, 0}, {1, 0}, {1, 2}}), PoseAt(0, -1, 0), PoseAt(9, 0, 1), 1e-3};
  ASSERT_EQ(Ask(*scene.scene, m).hits.size(), 1u);
  EXPECT_EQ(Ask(*scene.scene, m).hits[0].polygon_id, 2u);
}

// A body that came to rest beside a wall was stuck there: whatever it did next began within the
// tolerance. A motion away from the wall is clear.
TEST(RotatingSweepTest, LeavingAWallNearByIsClear) {
  const TestScene scene = MakeScene({Square(1, 0, -10, 10)});
  const Shape disc = Shape::Create({{{-1, 0}, {1, 0}}, 0.5}).value();
  for (const double gap : {1e-9, 1e-6, 1e-4, 4e-4}) {
    EXPECT_TRUE(
        Ask(*scene.scene, {disc, PoseAt(5, 0.5 + gap, 0), PoseAt(5, 4, 1), 1e-3}).hits.empty());
    EXPECT_EQ(
        Ask(*scene.scene, {disc, PoseAt(5, 0.5 + gap, 0), PoseAt(5, -4, 1), 1e-3}).hits.size(), 1u);
  }
  // There and back again.
  const RotatingSweepAnswers down =
      Ask(*scene.scene, {disc, PoseAt(5, 4, 0), PoseAt(5, 0, 0), 1e-3});
  ASSERT_EQ(down.hits.size(), 1u);
  const double y = 4 - 4 * down.hits[0].low;
  EXPECT_TRUE(Ask(*scene.scene, {disc, PoseAt(5, y, 0), PoseAt(5, 4, 0), 1e-3}).hits.empty());
}

TEST(RotatingSweepTest, WithoutAnyMotionTheAnswerIsTheOverlap) {
  const TestScene scene = MakeScene({Square(1, 0, 0, 1)});
  const auto count = [&](double x) {
    return Ask(*scene.scene, {MakePolygon({{0, 0}}), PoseAt(x, 1, 0), PoseAt(x, 1, 0), 1e-3})
        .counts[0];
  };
  EXPECT_EQ(count(1), 1u);
  EXPECT_EQ(count(std::nextafter(1.0, 2.0)), 0u);
}

TEST(RotatingSweepTest, ABadItemIsNamedAndTheOthersAreAnswered) {
  const TestScene scene = MakeScene({Square(1, 5, -1, 2)});
  const std::vector<Shape> shapes{Shape::Create({{{-4, 0}, {4, 0}}, 0.5}).value()};
  const double nan = std::nan("");
  const std::vector<uint32_t> shape{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> x{0, 0, nan, 0, 0, 0, 0, 0, 0, 0, 0x1p53, 0, 0};
  const std::vector<double> zero(13, 0.0);
  const std::vector<double> to_x{10, 10, 10, 0x1p54, 10, 10, 10, 10, 10, 10, 10, 0x1p53, 1e9};
  const std::vector<double> to_y{0, 0, 0, 0, nan, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> to_c{0, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1};
  const std::vector<double> to_s{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const std::vector<double> tolerance{0.01, 1, 1, 1, 1, 1, nan, -1, 0, 1e-12, 1e9, 1e12, 1};
  RotatingSweepAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(SweepRotating(
      *scene.scene, {{shapes, shape, x, zero, {}, {}, {}}, to_x, to_y, to_c, to_s, {}, tolerance},
      {}, answers, meter));
  const std::vector<ItemError> errors{{1, ItemColumn::kShape, ItemFault::kUnknownShape},
                                      {2, ItemColumn::kX, ItemFault::kNotAccepted},
                                      {3, ItemColumn::kToX, ItemFault::kNotAccepted},
                                      {4, ItemColumn::kToY, ItemFault::kNotAccepted},
                                      {5, ItemColumn::kToC, ItemFault::kNotARotation},
                                      {6, ItemColumn::kTolerance, ItemFault::kNotAccepted},
                                      {7, ItemColumn::kTolerance, ItemFault::kNegativeLength},
                                      {8, ItemColumn::kTolerance, ItemFault::kToleranceTooSmall},
                                      {9, ItemColumn::kTolerance, ItemFault::kToleranceTooSmall},
                                      {10, ItemColumn::kX, ItemFault::kPlacedOutOfRange},
                                      {11, ItemColumn::kToX, ItemFault::kPlacedOutOfRange},
                                      {12, ItemColumn::kTolerance, ItemFault::kToleranceTooSmall}};
  EXPECT_EQ(answers.errors, errors);
  EXPECT_EQ(answers.counts[0], 1u);
  // An angle instead, out of range for one item.
  const std::vector<double> angles{1, 0x1p21};
  const std::vector<double> two(2, 0.0), tolerances(2, 0.01);
  const std::vector<uint32_t> first(2, 0);
  ASSERT_TRUE(SweepRotating(
      *scene.scene, {{shapes, first, two, two, {}, {}, {}}, two, two, {}, {}, angles, tolerances},
      {}, answers, meter));
  EXPECT_EQ(answers.errors,
            (std::vector<ItemError>{{1, ItemColumn::kToAngle, ItemFault::kAngleOutOfRange}}));
}

TEST(RotatingSweepTest, WorkIsBoundedByWayOverTolerance) {
  // Sliding along a wall just outside of the tolerance, the worst case.
  const TestScene floor = MakeScene({Chain(1, {{-100, 0}, {900, 0}})});
  const Shape point = MakePolygon({{0, 0}});
  WorkMeter meter;
  const double x = 0, y = 0.00101, to_x = 8, tolerance = 1e-3;
  RotatingSweepAnswers answers;
  ASSERT_TRUE(SweepRotating(*floor.scene,
                            {{{&point, 1}, {}, {&x, 1}, {&y, 1}, {}, {}, {}},
                             {&to_x, 1},
                             {&y, 1},
                             {},
                             {},
                             {},
                             {&tolerance, 1}},
                            {}, answers, meter));
  EXPECT_EQ(answers.counts[0], 0u);
  // A distance query here: a vertex, the polygon, its edge, and that again.
  EXPECT_LT(meter.used(), 5 * (4 * 8 / 1e-3));
  WorkMeter stopping([] { return true; });
  EXPECT_FALSE(SweepRotating(*floor.scene,
                             {{{&point, 1}, {}, {&x, 1}, {&y, 1}, {}, {}, {}},
                              {&to_x, 1},
                              {&y, 1},
                              {},
                              {},
                              {},
                              {&tolerance, 1}},
                             {}, answers, stopping));
}

TEST(RotatingSweepTest, AnglesAndRotationsBetween) {
  Random random(77);
  const int cases = Repeats(3000, 1000000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const double angle =
        random.Below(4) == 0 ? std::ldexp(random.Unit(), -random.Below(60)) : kPi * random.Unit();
    const Real x = std::cos(Real{angle});
    const Real y = std::sin(Real{angle});
    EXPECT_NEAR(
        static_cast<double>(std::atan2(static_cast<Real>(static_cast<double>(y)),
                                       static_cast<Real>(static_cast<double>(x))) -
                            internal::AngleOf(static_cast<double>(x), static_cast<double>(y))),
        0, 0x1p-50)
        << angle;
    const Pose from = PoseAt(0, 0, 6 * random.Unit());
    const Pose to = PoseAt(0, 0, 6 * random.Unit());
    const double t = random.Unit();
    const CosSin got = internal::Turn(from, to).At(t);
    const Real start = std::atan2(Real{from.s}, Real{from.c});
    Real turn = std::atan2(Real{to.s}, Real{to.c}) - start;
    if (turn > std::acos(Real{-1})) turn -= 2 * std::acos(Real{-1});
    if (turn < -std::acos(Real{-1})) turn += 2 * std::acos(Real{-1});
    EXPECT_NEAR(static_cast<double>(std::cos(start + t * turn) - got.c), 0, internal::Turn::kError);
    EXPECT_NEAR(static_cast<double>(std::sin(start + t * turn) - got.s), 0, internal::Turn::kError);
  }
}

// The exact motion followed in extended precision.
struct RealVec {
  Real x, y;
};
struct RealEdge {
  RealVec a, b;
};

RealVec operator-(RealVec a, RealVec b) { return {a.x - b.x, a.y - b.y}; }
Real Cross(RealVec a, RealVec b) { return a.x * b.y - a.y * b.x; }
Real Dot(RealVec a, RealVec b) { return a.x * b.x + a.y * b.y; }

Real DistanceOf(RealVec p, const RealEdge& e) {
  const RealVec along = e.b - e.a;
  const Real squared = Dot(along, along);
  Real t = squared > 0 ? Dot(p - e.a, along) / squared : 0;
  t = std::clamp(t, Real{0}, Real{1});
  const RealVec off{p.x - e.a.x - t * along.x, p.y - e.a.y - t * along.y};
  return std::hypot(off.x, off.y);
}

bool Crosses(const RealEdge& a, const RealEdge& b) {
  const Real p = Cross(a.b - a.a, b.a - a.a), q = Cross(a.b - a.a, b.b - a.a);
  const Real r = Cross(b.b - b.a, a.a - b.a), s = Cross(b.b - b.a, a.b - b.a);
  return ((p > 0) != (q > 0)) && p != 0 && q != 0 && ((r > 0) != (s > 0)) && r != 0 && s != 0;
}

RealVec PlacedAt(const Turning& m, Real t, Vec2 p) {
  const Real pi = std::acos(Real{-1});
  const Real start = std::atan2(Real{m.from.s}, Real{m.from.c});
  Real turn = std::atan2(Real{m.to.s}, Real{m.to.c}) - start;
  const Real cross = Real{m.from.c} * m.to.s - Real{m.from.s} * m.to.c;
  if (turn > pi) turn -= 2 * pi;
  if (turn < -pi) turn += 2 * pi;
  if (cross == 0) turn = std::abs(turn);
  const Real r0 = std::hypot(Real{m.from.c}, Real{m.from.s});
  const Real r1 = std::hypot(Real{m.to.c}, Real{m.to.s});
  const Real scale = r0 + t * (r1 - r0);
  const Real c = scale * std::cos(start + t * turn);
  const Real s = scale * std::sin(start + t * turn);
  const Vec2 from = m.from.position, to = m.to.position;
  return {c * p.x - s * p.y + from.x + t * (Real{to.x} - from.x),
          s * p.x + c * p.y + from.y + t * (Real{to.y} - from.y)};
}

std::vector<RealEdge> EdgesAt(const Turning& m, Real t) {
  std::vector<RealEdge> edges;
  const auto add = [&](const carom::Segment& e) {
    edges.push_back({PlacedAt(m, t, e.a), PlacedAt(m, t, e.b)});
  };
  if (m.shape.capsule() != nullptr) {
    add(m.shape.capsule()->axis);
  } else {
    for (size_t i = 0; i < m.shape.polygon()->edge_count(); ++i) add(m.shape.polygon()->edge(i));
  }
  return edges;
}

// The distance between the edges, 0 where they cross; one may still be inside the other.
Real EdgeDistance(const std::vector<RealEdge>& mover, Real radius, const Polygon& polygon) {
  Real least = HUGE_VALL;
  for (size_t i = 0; i < polygon.edge_count(); ++i) {
    const carom::Segment e = polygon.edge(i);
    const RealEdge edge{{e.a.x, e.a.y}, {e.b.x, e.b.y}};
    for (const RealEdge& own : mover) {
      if (Crosses(own, edge)) return 0;
      least = std::min({least, DistanceOf(own.a, edge), DistanceOf(own.b, edge),
                        DistanceOf(edge.a, own), DistanceOf(edge.b, own)});
    }
  }
  return std::max(Real{0}, least - radius);
}

std::vector<uint64_t> OverlapIds(const Scene& scene, const Turning& m, const Pose& pose) {
  OverlapAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(OverlapPolygons(scene,
                              {{m.shape.polygon(), 1},
                               {},
                               {&pose.position.x, 1},
                               {&pose.position.y, 1},
                               {&pose.c, 1},
                               {&pose.s, 1},
                               {}},
                              {}, answers, meter));
  return answers.polygon_ids;
}

bool Holds(const std::vector<uint64_t>& ids, uint64_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The polygons that the mover overlaps at the start, ascending; nothing where extended precision
// cannot decide whether the placed doubles touch.
std::optional<std::vector<uint64_t>> IdsAtStart(const TestScene& scene, const Turning& m) {
  if (m.shape.capsule() == nullptr) return OverlapIds(*scene.scene, m, m.from);
  std::vector<uint64_t> ids;
  const std::vector<RealEdge> edges = EdgesAt(m, 0);
  const Xy a{static_cast<double>(edges[0].a.x), static_cast<double>(edges[0].a.y)};
  for (size_t i = 0; i < scene.scene->polygon_count(); ++i) {
    const Polygon& polygon = scene.scene->polygon(i);
    const Real gap = EdgeDistance(edges, 0, polygon) - m.shape.capsule()->radius;
    if (std::abs(gap) < Real{1e-9} * m.tolerance) return std::nullopt;
    if (scene.oracle.shapes()[i].Locate(a) != OraclePlace::kOutside || gap <= 0) {
      ids.push_back(polygon.id());
    }
  }
  return ids;
}

Real RadiusOf(const Turning& m) { return m.shape.capsule() ? m.shape.capsule()->radius : 0; }

// Before `low`, or at any time where there is no hit, the mover is away from every polygon that it
// does not overlap at the start.
void ExpectClearBefore(const Scene& scene, const Turning& m, const RotatingSweepAnswers& got,
                       const std::vector<uint64_t>& at_start, int samples) {
  const Real radius = RadiusOf(m);
  const bool is_clear = got.hits.empty();
  const double low = is_clear ? 1 : got.hits[0].low;
  for (size_t i = 0; i < scene.polygon_count(); ++i) {
    const Polygon& polygon = scene.polygon(i);
    if (Holds(at_start, polygon.id())) continue;
    for (int k = 0; k <= samples; ++k) {
      const Real t = Real{low} * k / samples;
      if (t >= low && !is_clear) break;
      EXPECT_GT(EdgeDistance(EdgesAt(m, t), radius, polygon), 0)
          << polygon.id() << " at " << static_cast<double>(t);
    }
  }
}

void ExpectHit(const Scene& scene, const Turning& m, const RotatingSweepHit& hit,
               const std::vector<uint64_t>& at_start) {
  const Real radius = RadiusOf(m);
  EXPECT_LE(0, hit.low);
  EXPECT_LE(hit.low, hit.high);
  EXPECT_LE(hit.high, 1);
  EXPECT_FALSE(Holds(at_start, hit.polygon_id));
  const std::vector<RealEdge> before = EdgesAt(m, hit.low);
  const std::vector<RealEdge> after = EdgesAt(m, hit.high);
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_LE(std::hypot(after[i].a.x - before[i].a.x, after[i].a.y - before[i].a.y), m.tolerance);
  }
  for (size_t i = 0; i < scene.polygon_count(); ++i) {
    const Polygon& polygon = scene.polygon(i);
    const Real distance = EdgeDistance(after, radius, polygon);
    if (polygon.id() == hit.polygon_id) {
      EXPECT_LE(distance, m.tolerance);
    } else if (polygon.id() < hit.polygon_id && !Holds(at_start, polygon.id())) {
      EXPECT_GT(distance, m.tolerance * Real{0.95}) << polygon.id();
    }
  }
}

// Every promise of the header, by samples.
void ExpectCertificate(const TestScene& scene, const Turning& m, StartPolicy policy, int samples) {
  SCOPED_TRACE(scene.ToCode() + m.ToCode());
  RotatingSweepOptions options;
  options.start_policy = policy;
  const RotatingSweepAnswers got = Ask(*scene.scene, m, options);
  ASSERT_TRUE(got.errors.empty());
  const auto at_start = IdsAtStart(scene, m);
  if (!at_start) return;
  if (policy == StartPolicy::kReportStart && !at_start->empty()) {
    ASSERT_EQ(got.hits.size(), 1u);
    EXPECT_EQ(got.hits[0].polygon_id, at_start->front());
    EXPECT_EQ(got.hits[0].low, 0);
    EXPECT_EQ(got.hits[0].high, 0);
    return;
  }
  ExpectClearBefore(*scene.scene, m, got, *at_start, samples);
  if (!got.hits.empty()) {
    ExpectHit(*scene.scene, m, got.hits[0], *at_start);
  } else if (m.shape.polygon() != nullptr) {
    for (const uint64_t id : OverlapIds(*scene.scene, m, m.to)) EXPECT_TRUE(Holds(*at_start, id));
  }
}

Shape RandomShape(Random& random, double scale) {
  if (random.Below(3) == 0) {
    const Grid grid{4, scale / 2, 0};
    const Vec2 a = grid.Point(random);
    const Vec2 b = random.Below(3) == 0 ? a : grid.Point(random);
    return Shape::Create({{a, b}, scale * random.Below(3) / 4}).value();
  }
  PolygonSpec spec = RandomPolygon(random, {4, scale / 2, 10}, 0);
  return Polygon::Create(spec).value();
}

Pose RandomPose(Random& random, const Grid& grid) {
  const Vec2 p = grid.Point(random);
  switch (random.Below(4)) {
    case 0: {
      constexpr Pose kExact[] = {{{}, 1, 0},  {{}, 0, 1},     {{}, -1, 0},
                                 {{}, 0, -1}, {{}, 0.6, 0.8}, {{}, -0.6, -0.8}};
      Pose pose = kExact[random.Below(6)];
      pose.position = p;
      return pose;
    }
    case 1: {
      Pose pose = PoseAt(p.x, p.y, 6.3 * random.Unit());
      pose.c *= 1 + 4e-7;
      pose.s *= 1 + 4e-7;
      return pose;
    }
    default:
      return PoseAt(p.x, p.y, 6.3 * random.Unit());
  }
}

TEST(RotatingSweepTest, RandomMotionsKeepTheirCertificate) {
  constexpr double kScales[] = {1, 1e-9, 1e9, 0x1p-100, 0x1p48};
  Random random(4711);
  const int cases = Repeats(300, 30000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const double scale = kScales[i % 5];
    const Grid grid{12, scale, 10};
    std::vector<PolygonSpec> specs;
    const int count = 1 + random.Below(4);
    for (int k = 0; k < count; ++k) {
      PolygonSpec spec = RandomPolygon(random, {5, scale, 10}, static_cast<uint64_t>(7 * k));
      const Vec2 offset{scale * random.Below(8), scale * random.Below(8)};
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p = {p.x + offset.x, p.y + offset.y};
      }
      specs.push_back(spec);
    }
    const TestScene scene = MakeScene(specs);
    constexpr double kTolerances[] = {1e-1, 1e-2, 1e-4};
    const Turning m{RandomShape(random, scale), RandomPose(random, grid), RandomPose(random, grid),
                    scale * kTolerances[random.Below(3)]};
    const auto policy = random.Below(2) == 0 ? StartPolicy::kReportStart : StartPolicy::kIgnore;
    ExpectCertificate(scene, m, policy, 150);
  }
}

// A far edge whose ends are at the limits of the range does not spoil a small motion's tolerance.
TEST(RotatingSweepTest, HugeEdgesNearBy) {
  const TestScene scene = MakeScene({Chain(5, {{-0x1p53, 1}, {0x1p53, 1}})});
  const Turning m{Bar(2), PoseAt(0, 0, 0), PoseAt(0, 0, kPi / 2), 1e-5};
  const RotatingSweepAnswers answers = Ask(*scene.scene, m);
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_LE(answers.hits[0].low, 1.0 / 3);
  EXPECT_NEAR(answers.hits[0].high, 1.0 / 3, 1e-5);
}

// A point that does not turn is a segment: what the cast hits at f, the sweep finds at f or, within
// the tolerance, before.
TEST(RotatingSweepTest, APointThatDoesNotTurnAgreesWithACast) {
  Random random(99);
  const Shape point = MakePolygon({{0, 0}});
  const int cases = Repeats(1000, 200000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const Grid grid{8, 1, 10};
    const TestScene scene = RandomScene(random, grid);
    const Vec2 a = grid.Point(random);
    const Vec2 b = grid.Point(random);
    const Turning m{point, {a, 1, 0}, {b, 1, 0}, 1e-3};
    SCOPED_TRACE(scene.ToCode() + m.ToCode());
    CastAnswers cast;
    WorkMeter meter;
    ASSERT_TRUE(
        CastSegments(*scene.scene, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, {}, cast, meter));
    const RotatingSweepAnswers got = Ask(*scene.scene, m);
    if (cast.hits.empty()) continue;
    ASSERT_EQ(got.hits.size(), 1u);
    EXPECT_LE(got.hits[0].low, cast.hits[0].fraction);
    if (cast.hits[0].fraction == 0) {
      EXPECT_EQ(got.hits[0].high, 0);
    }
  }
}

// Mirrored in the x axis, a motion has the same answer but for rounding; a half turn, which always
// goes counter-clockwise, is left out.
TEST(RotatingSweepTest, AMirroredMotionHasTheSameAnswer) {
  Random random(5);
  const int cases = Repeats(300, 50000);
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    const Grid grid{8, 1, 0};
    const TestScene scene = RandomScene(random, grid);
    std::vector<PolygonSpec> specs = scene.specs;
    for (PolygonSpec& spec : specs) {
      for (RingSpec& ring : spec.rings) {
        for (Vec2& p : ring.vertices) p.y = -p.y;
      }
    }
    const TestScene mirrored = MakeScene(specs);
    const Shape disc = Shape::Create({{{-1, 0}, {1, 0}}, 0.25}).value();
    const Pose from = PoseAt(-3, 4, random.Unit());
    const Pose to = PoseAt(12, random.Below(12), 3 * random.Unit());
    const auto mirror = [](Pose pose) {
      return Pose{{pose.position.x, -pose.position.y}, pose.c, -pose.s};
    };
    const RotatingSweepAnswers a = Ask(*scene.scene, {disc, from, to, 1e-3});
    const RotatingSweepAnswers b = Ask(*mirrored.scene, {disc, mirror(from), mirror(to), 1e-3});
    ASSERT_EQ(a.hits.size(), b.hits.size());
    if (a.hits.empty()) continue;
    EXPECT_EQ(a.hits[0].polygon_id, b.hits[0].polygon_id);
    EXPECT_NEAR(a.hits[0].high, b.hits[0].high, 1e-9);
  }
}

}  // namespace
}  // namespace carom::testing::rotating_sweep_test
