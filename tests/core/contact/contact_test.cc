// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/contact.h"
#include "carom/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "shape/convex_core.h"
#include "tests/core/random_scene.h"
#include "tests/support/oracle_contact.h"
#include "tests/support/repeats.h"

namespace carom::testing::contact_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Shape Ring(std::vector<Vec2> vertices) {
  PolygonSpec spec;
  spec.rings = {{std::move(vertices)}};
  return Polygon::Create(spec).value();
}
Shape Box(double x0, double y0, double x1, double y1) {
  return Ring({{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}});
}
Shape Disc(double x, double y, double radius) {
  return Shape::Create(Capsule{{{x, y}, {x, y}}, radius}).value();
}
Shape CapsuleOf(Vec2 a, Vec2 b, double radius) {
  return Shape::Create(Capsule{{a, b}, radius}).value();
}

void ExpectContact(const std::optional<Contact>& contact, Vec2 normal, double depth) {
  ASSERT_TRUE(contact);
  EXPECT_EQ(contact->normal, normal);
  EXPECT_EQ(contact->depth, depth);
}

// ---- Faults of a published description of the method, one test each.

TEST(ContactTest, AContainedShapeIsPushedTheWholeWayOut) {
  // Taking the lesser overlap of the projections, the article moves a contained box by its own
  // width at most, which leaves it inside.
  ExpectContact(Collide(Box(0, 0, 10, 10), Box(6, 4, 7, 5)), {1, 0}, 4);
  ExpectContact(Collide(Box(6, 4, 7, 5), Box(0, 0, 10, 10)), {-1, 0}, 4);
}

TEST(ContactTest, TheNormalPointsFromTheFixedShapeToTheMover) {
  // The article never turns the vector: it pushes both ways alike.
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(3, 1, 7, 3)), {1, 0}, 1);
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(-3, 1, 1, 3)), {-1, 0}, 1);
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(1, 3, 3, 7)), {0, 1}, 1);
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(1, -3, 3, 1)), {0, -1}, 1);
}

TEST(ContactTest, TheNearestVertexOfACircleIsNearestByDistance) {
  // The article takes the vertex of the least dot product with the centre. From (5, 7) the corner
  // (2, 3) of this square is at distance 5; the least dot product has (0, 0).
  const Shape square = Ring({{0, 0}, {2, 0}, {2, 3}, {0, 3}});
  const std::optional<Contact> contact = Collide(square, Disc(5, 7, 6));
  ASSERT_TRUE(contact);
  EXPECT_DOUBLE_EQ(contact->normal.x, 0.6);
  EXPECT_DOUBLE_EQ(contact->normal.y, 0.8);
  EXPECT_EQ(contact->depth, 1);
  EXPECT_EQ(contact->points[0].polygon_feature, 4u);
  EXPECT_FALSE(Collide(square, Disc(5, 7, std::nextafter(5, 0))));
  ExpectContact(Collide(square, Disc(5, 7, 5)), contact->normal, 0);
}

TEST(ContactTest, ADuplicateVertexHidesNoOverlap) {
  // An edge of length 0 has the axis (0, 0) in the article, on which 0 <= 0 rejects every overlap.
  const Shape doubled = Ring({{0, 0}, {0, 0}, {4, 0}, {4, 4}, {4, 4}, {4, 4}, {0, 4}});
  ExpectContact(Collide(doubled, Box(3, 1, 7, 3)), {1, 0}, 1);
  ExpectContact(Collide(Box(3, 1, 7, 3), doubled), {-1, 0}, 1);
}

TEST(ContactTest, OneOverlapOfACircleSufficesHoweverDeepItIs) {
  // The article pushes by the diameter at most, "in several steps".
  ExpectContact(Collide(Box(0, 0, 20, 20), Disc(17, 10, 1)), {1, 0}, 4);
}

// ---- Laws

TEST(ContactTest, TouchingIsAContactOfDepthZero) {
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(4, 1, 8, 3)), {1, 0}, 0);
  EXPECT_FALSE(Collide(Box(0, 0, 4, 4), Box(std::nextafter(4, 5), 1, 8, 3)));
  ExpectContact(Collide(Box(0, 0, 4, 4), Disc(5, 2, 1)), {1, 0}, 0);
  EXPECT_FALSE(Collide(Box(0, 0, 4, 4), Disc(std::nextafter(5, 6), 2, 1)));
  ExpectContact(Collide(Disc(0, 0, 2), Disc(3, 0, 1)), {1, 0}, 0);
}

TEST(ContactTest, TiesGoToTheFixedShapesEdgesInOrderThenTheMovers) {
  // All four ways are equally long: the first edge of the fixed square is its lower side.
  ExpectContact(Collide(Box(0, 0, 4, 4), Box(1, 1, 3, 3)), {0, -1}, 3);
  ExpectContact(Collide(Ring({{4, 0}, {4, 4}, {0, 4}, {0, 0}}), Box(1, 1, 3, 3)), {1, 0}, 3);
  // A segment has both sides: towards the mover's centre.
  ExpectContact(Collide(Ring({{0, 0}, {4, 0}}), Ring({{1, 0}, {3, 0}, {3, 0}, {2, 2}})), {0, 1}, 0);
  // A centred one: +.
  ExpectContact(Collide(Ring({{0, 0}, {0, 4}}), Box(-1, 1, 1, 3)), {1, 0}, 1);
}

TEST(ContactTest, PointsInOnePlacePartAlongX) {
  ExpectContact(Collide(Ring({{3, 4}}), Ring({{3, 4}})), {1, 0}, 0);
  ExpectContact(Collide(Disc(3, 4, 1), Disc(3, 4, 2)), {1, 0}, 3);
  EXPECT_FALSE(Collide(Ring({{3, 4}}), Ring({{3, 5}})));
  EXPECT_FALSE(Collide(Ring({{0, 0}, {1, 0}}), Ring({{2, 0}, {3, 0}})));
  ExpectContact(Collide(Ring({{0, 0}, {2, 0}}), Ring({{2, 0}, {3, 0}})), {0, 1}, 0);
}

TEST(ContactTest, HollowPolygonsGiveNoContact) {
  PolygonSpec spec;
  spec.rings = {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}};
  spec.solidity = Solidity::kBoundary;
  const Shape hollow = Polygon::Create(spec).value();
  EXPECT_FALSE(Collide(hollow, Box(3, 1, 7, 3)));
  EXPECT_FALSE(Collide(Box(3, 1, 7, 3), hollow));
}

TEST(ContactTest, ConvexityIsOfOneTurnOneWay) {
  const auto is_convex = [](std::vector<Vec2> ring) { return IsConvex(ring); };
  EXPECT_TRUE(is_convex({{0, 0}}));
  EXPECT_TRUE(is_convex({{0, 0}, {0, 0}}));
  EXPECT_TRUE(is_convex({{0, 0}, {4, 0}, {2, 0}, {3, 0}}));
  EXPECT_TRUE(is_convex({{0, 0}, {2, 0}, {4, 0}, {4, 4}, {4, 4}, {0, 4}, {0, 0}}));
  EXPECT_TRUE(is_convex({{0, 4}, {4, 4}, {4, 0}, {0, 0}}));
  // A notch, a spike, a pentagram, a square walked twice.
  EXPECT_FALSE(is_convex({{0, 0}, {4, 0}, {4, 4}, {2, 3}, {0, 4}}));
  EXPECT_FALSE(is_convex({{0, 0}, {6, 0}, {4, 0}, {4, 4}, {0, 4}}));
  EXPECT_FALSE(is_convex({{0, 3}, {2, -3}, {-3, 1}, {3, 1}, {-2, -3}}));
  EXPECT_FALSE(is_convex({{0, 0}, {4, 0}, {4, 4}, {0, 4}, {0, 0}, {4, 0}, {4, 4}, {0, 4}}));
  EXPECT_FALSE(is_convex({{0, 0}, {2, 0x1p-140}, {4, 0}, {4, 4}, {0, 4}}));
}

TEST(ContactTest, SplitsGiveEachTheShareOfTheOther) {
  Contact contact;
  contact.normal = {0, 1};
  contact.depth = 4;
  EXPECT_EQ(SplitByMass(contact, 1, 3).fixed, (Vec2{0, -3}));
  EXPECT_EQ(SplitByMass(contact, 1, 3).mover, (Vec2{0, 1}));
  EXPECT_EQ(SplitByMass(contact, kInfinity, 3).fixed, (Vec2{0, 0}));
  EXPECT_EQ(SplitByMass(contact, kInfinity, 3).mover, (Vec2{0, 4}));
  EXPECT_EQ(SplitByMass(contact, 3, kInfinity).fixed, (Vec2{0, -4}));
  EXPECT_EQ(SplitByMass(contact, 1e308, 1e308).mover, (Vec2{0, 2}));
  EXPECT_EQ(SplitByMass(contact, 5e-324, 1e308).fixed, (Vec2{0, -4}));
  EXPECT_FALSE(std::signbit(SplitByMass(contact, 1, 3).fixed.x));
}

// ---- Manifold

TEST(ContactTest, ABoxOnAFloorHasTwoPointsMidwayInOrder) {
  const std::optional<Contact> contact = Collide(Box(0, 0, 10, 2), Box(3, 1.5, 5, 4));
  ExpectContact(contact, {0, 1}, 0.5);
  ASSERT_EQ(contact->point_count, 2u);
  // Along the normal turned counter-clockwise: to the left.
  EXPECT_EQ(contact->points[0], (ContactPoint{{5, 1.75}, 0.5, 5, 2}));
  EXPECT_EQ(contact->points[1], (ContactPoint{{3, 1.75}, 0.5, 5, 0}));
}

TEST(ContactTest, AnOverhangIsCutAtTheEndOfTheReferenceEdge) {
  const std::optional<Contact> contact = Collide(Box(0, 0, 10, 2), Box(8, 1.5, 12, 4));
  ExpectContact(contact, {0, 1}, 0.5);
  ASSERT_EQ(contact->point_count, 2u);
  EXPECT_EQ(contact->points[0], (ContactPoint{{10, 1.75}, 0.5, 4, 1}));
  EXPECT_EQ(contact->points[1], (ContactPoint{{8, 1.75}, 0.5, 5, 0}));
}

TEST(ContactTest, ACornerGivesOnePoint) {
  const std::optional<Contact> contact = Collide(Box(0, 0, 10, 2), Ring({{5, 2}, {7, 4}, {3, 4}}));
  ExpectContact(contact, {0, 1}, 0);
  ASSERT_EQ(contact->point_count, 1u);
  EXPECT_EQ(contact->points[0], (ContactPoint{{5, 2}, 0, 5, 0}));
  EXPECT_EQ(Collide(Box(0, 0, 1, 1), Box(1, 1, 2, 2))->point_count, 1u);
}

TEST(ContactTest, ACapsuleLyingOnAFloorHasTwoPoints) {
  const std::optional<Contact> contact =
      Collide(Box(0, 0, 10, 2), CapsuleOf({3, 2.75}, {5, 2.75}, 1));
  ExpectContact(contact, {0, 1}, 0.25);
  ASSERT_EQ(contact->point_count, 2u);
  EXPECT_EQ(contact->points[0], (ContactPoint{{5, 1.875}, 0.25, 5, 2}));
  EXPECT_EQ(contact->points[1], (ContactPoint{{3, 1.875}, 0.25, 5, 0}));
}

TEST(ContactTest, FeaturesStayUnderSmallMoves) {
  Random random(11);
  const Shape floor = Box(0, 0, 10, 2);
  const std::optional<Contact> at_rest = Collide(floor, Box(3, 1.5, 5, 4));
  for (int i = 0; i < 100; ++i) {
    const Pose pose{{0.1 * random.Unit(), 0.1 * random.Unit()}, 1, 0};
    const std::optional<Contact> moved = Collide(floor, Placed(Box(3, 1.5, 5, 4), pose).value());
    ASSERT_TRUE(moved);
    ASSERT_EQ(moved->point_count, 2u);
    for (int k = 0; k < 2; ++k) {
      EXPECT_EQ(moved->points[k].polygon_feature, at_rest->points[k].polygon_feature);
      EXPECT_EQ(moved->points[k].mover_feature, at_rest->points[k].mover_feature);
    }
  }
}

// ---- Concave pairs

TEST(ContactTest, ANotchPushesAVertexOutOverItsNearestEdge) {
  const Shape notched =
      Ring({{0, 0}, {10, 0}, {10, 10}, {6, 10}, {6, 4}, {4, 4}, {4, 10}, {0, 10}});
  const std::optional<Contact> contact = Collide(notched, Box(5, 3.5, 5.5, 8));
  ExpectContact(contact, {0, 1}, 0.5);
  EXPECT_EQ(contact->kind, ContactKind::kFeature);
  EXPECT_EQ(contact->points[0].polygon_feature, 9u);
  EXPECT_FALSE(Collide(notched, Box(4.5, 5, 5.5, 8)));
  // A disc in the notch that reaches one wall.
  ExpectContact(Collide(notched, Disc(5.5, 8, 0.75)), {-1, 0}, 0.25);
}

TEST(ContactTest, CrossingBarsWithoutAVertexInsidePartTheShortWay) {
  const Shape bent = Ring({{0, 0}, {20, 0}, {20, 5}, {19, 5}, {19, 1}, {0, 1}});
  const std::optional<Contact> contact = Collide(bent, Box(4, -3, 5, 9));
  ASSERT_TRUE(contact);
  EXPECT_EQ(contact->kind, ContactKind::kFeature);
  ExpectContact(contact, {0, 1}, 4);
}

TEST(ContactTest, AConcavePairMeetsExactlyIfItOverlaps) {
  Random random(12);
  for (int i = 0; i < Repeats(1500, 100000); ++i) {
    const Grid grid{6, 1, 10};
    const PolygonSpec a = RandomPolygon(random, grid, 1);
    const PolygonSpec b = RandomPolygon(random, grid, 2);
    if (a.solidity == Solidity::kBoundary || b.solidity == Solidity::kBoundary) continue;
    const Shape fixed = Polygon::Create(a).value();
    const Shape mover = Polygon::Create(b).value();
    const bool overlap = !Oracle({ToOracle(a)}).Overlap(ToOracle(b)).ids.empty();
    const std::optional<Contact> contact = Collide(fixed, mover);
    const std::optional<Contact> back = Collide(mover, fixed);
    ASSERT_EQ(contact.has_value(), overlap) << ToCode(a) << ToCode(b);
    ASSERT_EQ(back.has_value(), overlap) << ToCode(a) << ToCode(b);
    if (!contact) continue;
    EXPECT_GE(contact->depth, 0);
    EXPECT_NEAR(std::hypot(contact->normal.x, contact->normal.y), 1, 1e-15);
    ASSERT_GE(contact->point_count, 1u);
    EXPECT_EQ(contact->depth, back->depth) << ToCode(a) << ToCode(b);
  }
}

// ---- Batches

TEST(ContactTest, FindContactsAnswersByAscendingIdWithSplits) {
  PolygonSpec a{9, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}};
  PolygonSpec b{2, {{{{6, 0}, {9, 0}, {9, 4}, {6, 4}}}}};
  const TestScene scene = MakeScene({a, b});
  const std::vector<Shape> shapes = {Box(0, 0, 3, 1), Disc(0, 0, 1)};
  const std::vector<uint32_t> shape = {0, 1, 0, 7, 0};
  const std::vector<double> x = {3.5, 20, 3.5, 0, NAN}, y = {1, 0, 1, 0, 0};
  const std::vector<double> mass = {1, 1, kInfinity, 1, 1};
  const std::vector<double> polygon_mass = {3, 1, kInfinity, 1, 1};
  ContactColumns columns;
  columns.movers.shapes = shapes;
  columns.movers.shape = shape;
  columns.movers.x = x;
  columns.movers.y = y;
  columns.mass = mass;
  columns.polygon_mass = polygon_mass;
  ContactAnswers out;
  WorkMeter meter;
  ASSERT_TRUE(FindContacts(*scene.scene, columns, {}, out, meter));
  EXPECT_EQ(out.counts, (std::vector<uint32_t>{2, 0, 0, 0, 0}));
  EXPECT_EQ(out.polygon_ids, (std::vector<uint64_t>{2, 9}));
  ExpectContact(out.contacts[0], {-1, 0}, 0.5);
  ExpectContact(out.contacts[1], {1, 0}, 0.5);
  EXPECT_EQ(out.splits[1].mover, (Vec2{0.375, 0}));
  EXPECT_EQ(out.splits[1].fixed, (Vec2{-0.125, 0}));
  EXPECT_EQ(out.errors, (std::vector<ItemError>{{2, ItemColumn::kPolygonMass, ItemFault::kNotAMass},
                                                {3, ItemColumn::kShape, ItemFault::kUnknownShape},
                                                {4, ItemColumn::kX, ItemFault::kNotAccepted}}));
  for (const double bad : {0.0, -1.0, static_cast<double>(NAN)}) {
    const std::vector<double> masses(5, bad);
    columns.mass = masses;
    ASSERT_TRUE(FindContacts(*scene.scene, columns, {}, out, meter));
    EXPECT_EQ(out.errors[0], (ItemError{0, ItemColumn::kMass, ItemFault::kNotAMass}));
  }
  WorkMeter stopped([] { return true; });
  stopped.Spend(1);
  EXPECT_FALSE(FindContacts(*scene.scene, columns, {}, out, stopped));
}

TEST(ContactTest, ARotatedConvexShapeStaysConvex) {
  // Rounding bends the collinear side of the placed shape; it is convex as described.
  Random random(13);
  const Shape shape = Ring({{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 3}, {0, 3}});
  const TestScene scene = MakeScene({{1, {{{{-9, -9}, {9, -9}, {9, 9}, {-9, 9}}}}}});
  for (int i = 0; i < 200; ++i) {
    const double angle = 6 * random.Unit();
    const double x = 20 * random.Unit() - 10;
    const double y = 20 * random.Unit() - 10;
    ContactColumns columns;
    columns.movers.shapes = {&shape, 1};
    columns.movers.x = {&x, 1};
    columns.movers.y = {&y, 1};
    columns.movers.angle = {&angle, 1};
    ContactAnswers out;
    WorkMeter meter;
    ASSERT_TRUE(FindContacts(*scene.scene, columns, {}, out, meter));
    for (const Contact& contact : out.contacts) EXPECT_EQ(contact.kind, ContactKind::kConvex);
  }
}

// ---- Oracle

// The hull of the points, by exact orientation, counter-clockwise.
std::vector<Xy> HullOf(std::vector<Xy> points) {
  std::sort(points.begin(), points.end(),
            [](Xy a, Xy b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Xy> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const size_t base = hull.size();
    for (const Xy p : points) {
      while (hull.size() >= base + 2 && Cross(Exact(hull.back()) - Exact(hull[hull.size() - 2]),
                                              Exact(p) - Exact(hull.back())) <= 0) {
        hull.pop_back();
      }
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

OracleConvex RandomConvex(Random& random, const Grid& grid) {
  const int kind = random.Below(6);
  std::vector<Xy> points;
  const int count = kind == 0 ? 1 + random.Below(2) : 3 + random.Below(6);
  for (int i = 0; i < count; ++i) {
    const Vec2 p = grid.Point(random);
    points.push_back(Flushed(Xy{p.x, p.y}));
  }
  OracleConvex shape;
  if (kind <= 1) {
    points.resize(1 + static_cast<size_t>(random.Below(2) && points.size() > 1));
    shape.ring = HullOf(points);
    shape.radius =
        grid.mixed ? Flushed(std::abs(grid.Coordinate(random))) : grid.scale * random.Below(4) / 2;
    shape.radius = Flushed(shape.radius);
    return shape;
  }
  const std::vector<Xy> hull = HullOf(points);
  for (size_t i = 0; i < hull.size(); ++i) {
    const Xy p = hull[i];
    const Xy q = hull[(i + 1) % hull.size()];
    shape.ring.push_back(p);
    if (random.Below(6) == 0) shape.ring.push_back(p);
    // A collinear vertex, where the middle is a double.
    const Xy middle = Flushed(Xy{(p.x + q.x) / 2, (p.y + q.y) / 2});
    if (random.Below(4) == 0 && Exact(p) + Exact(q) == Rational(2) * Exact(middle)) {
      shape.ring.push_back(middle);
    }
  }
  if (random.Below(2) == 0) std::reverse(shape.ring.begin(), shape.ring.end());
  std::rotate(shape.ring.begin(),
              shape.ring.begin() + random.Below(static_cast<int>(shape.ring.size())),
              shape.ring.end());
  return shape;
}

Shape ToShape(const OracleConvex& shape, bool is_capsule) {
  if (is_capsule) {
    return CapsuleOf({shape.ring.front().x, shape.ring.front().y},
                     {shape.ring.back().x, shape.ring.back().y}, shape.radius);
  }
  std::vector<Vec2> ring;
  for (const Xy p : shape.ring) ring.push_back({p.x, p.y});
  // The closing duplicate that is dropped.
  if (ring.size() > 1 && ring.front() == ring.back()) ring.push_back(ring.front());
  return Ring(ring);
}

std::string ToCode(const OracleConvex& shape) {
  std::string code = "{{";
  for (const Xy p : shape.ring) absl::StrAppendFormat(&code, "{%a, %a}, ", p.x, p.y);
  absl::StrAppendFormat(&code, "}, %a}\n", shape.radius);
  return code;
}

double Largest(const OracleConvex& shape) {
  double largest = shape.radius;
  for (const Xy p : shape.ring) largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  return largest;
}

// Laws of one contact. `n` and `core` are those of the oracle.
void CheckMeasures(const OracleConvex& fixed, const OracleConvex& mover, const Contact& contact,
                   const OracleContact& expected) {
  const RationalXy& n = expected.normal;
  const Rational length2 = Dot(n, n);
  const Rational radii = Exact(fixed.radius) + Exact(mover.radius);
  ASSERT_TRUE(IsUnitVectorWithin({contact.normal.x, contact.normal.y}, n, 1));
  // The depth within 4 ulp of itself, and 2^-96 of the radii.
  const Rational error = 4 * Exact(Ulp(contact.depth)) + radii * Exact(0x1p-96);
  const Rational depth = Exact(contact.depth);
  ASSERT_GE(CompareToQuotient(depth + error - radii, expected.core, length2), 0);
  ASSERT_LE(CompareToQuotient(depth - error - radii, expected.core, length2), 0);
  // Exactly 0 if they touch.
  const bool touch = CompareToQuotient(-radii, expected.core, length2) == 0;
  ASSERT_EQ(contact.depth == 0, touch);
  // Moved, they are apart by a bound at most or overlap by it at most.
  const RationalXy shift = depth * Exact(Xy{contact.normal.x, contact.normal.y});
  const double largest = std::max(Largest(fixed), Largest(mover));
  const Rational bound = (radii == 0 ? 8 : 16) * Exact(Ulp(largest));
  const Rational distance2 = OracleCoreDistance2(fixed, mover, shift);
  ASSERT_LE(distance2, (radii + bound) * (radii + bound));
  // The exact vector parts them: along n nothing is left by more than the bound.
  const Rational left = expected.core - Dot(n, shift);
  ASSERT_LE(CompareToQuotient(-radii - bound, left, length2), 0);
  ASSERT_GE(CompareToQuotient(bound - radii, left, length2), 0);
}

bool IsNear(const Digits& value, const Digits& expected, const Digits& bound) {
  return abs(value - expected) <= bound;
}

// What depths err by, beside 4 ulp of themselves: where there are radii, what they cancel; and in
// any case the oracle's own digits.
Digits SmallDepth(const OracleConvex& fixed, const OracleConvex& mover) {
  const bool is_round = fixed.radius + mover.radius > 0;
  return std::max(Largest(fixed), Largest(mover)) * Digits(is_round ? 0x1p-92 : 1e-250);
}

// Whether the features of the point are those of `expected`: the corner's shape names that vertex,
// the other one an edge, or a vertex where there is no reference.
bool NamesCorner(const OracleConvex& fixed, const OracleConvex& mover, const ContactPoint& point,
                 const OraclePoint& expected, OracleReference reference) {
  const bool is_corner_of_fixed =
      (reference == OracleReference::kFixed) == expected.is_of_reference &&
      reference != OracleReference::kNone;
  const OracleConvex& shape = is_corner_of_fixed ? fixed : mover;
  const uint32_t corner = is_corner_of_fixed ? point.polygon_feature : point.mover_feature;
  const uint32_t facing = is_corner_of_fixed ? point.mover_feature : point.polygon_feature;
  return corner % 2 == 0 && corner / 2 < shape.ring.size() &&
         Exact(shape.ring[corner / 2]) == expected.corner &&
         facing % 2 == (reference == OracleReference::kNone ? 0 : 1);
}

// Where the point is and how deep.
void CheckPoint(const OracleConvex& fixed, const OracleConvex& mover, const ContactPoint& point,
                const OraclePoint& expected) {
  const Digits bound = 8 * Ulp(std::max(Largest(fixed), Largest(mover)));
  ASSERT_TRUE(IsNear(point.point.x, expected.x, bound)) << (point.point.x - expected.x) / bound;
  ASSERT_TRUE(IsNear(point.point.y, expected.y, bound)) << (point.point.y - expected.y) / bound;
  const Digits depth_bound = 4 * Digits(Ulp(point.depth)) + SmallDepth(fixed, mover);
  const Digits depth = expected.depth > 0 ? expected.depth : Digits(0);
  ASSERT_TRUE(IsNear(point.depth, depth, depth_bound)) << (point.depth - depth) / depth_bound;
}

// All points are those of the oracle, but that one which rounds to the surface may be left out.
void CheckPoints(const OracleConvex& fixed, const OracleConvex& mover, const Contact& contact,
                 const OracleContact& axis) {
  std::vector<OraclePoint> expected = OraclePointsOf(fixed, mover, axis);
  if (expected.empty()) return;
  ASSERT_GE(contact.point_count, 1u);
  const auto is_named = [&](const OraclePoint& point) {
    return NamesCorner(fixed, mover, contact.points[0], point, axis.reference);
  };
  if (axis.reference == OracleReference::kNone) {
    // Any of the pairs of vertices.
    std::erase_if(expected, [&](const OraclePoint& point) { return !is_named(point); });
    expected.resize(std::min<size_t>(expected.size(), 1));
  }
  const Digits least = SmallDepth(fixed, mover);
  std::erase_if(expected, [&](const OraclePoint& point) { return point.depth < -least; });
  if (expected.size() != contact.point_count) {
    std::erase_if(expected, [&](const OraclePoint& point) {
      return point.depth <= least && !is_named(point);
    });
  }
  ASSERT_EQ(expected.size(), contact.point_count);
  for (uint32_t k = 0; k < contact.point_count; ++k) {
    ASSERT_TRUE(NamesCorner(fixed, mover, contact.points[k], expected[k], axis.reference));
    CheckPoint(fixed, mover, contact.points[k], expected[k]);
  }
}

void CheckAgainstOracle(uint64_t seed, const Grid& grid, int count) {
  Random random(seed);
  int contacts = 0;
  for (int i = 0; i < count; ++i) {
    const OracleConvex fixed = RandomConvex(random, grid);
    const OracleConvex mover = RandomConvex(random, grid);
    const std::string code = ToCode(fixed) + ToCode(mover);
    const Shape a = ToShape(fixed, fixed.radius > 0);
    const Shape b = ToShape(mover, mover.radius > 0);
    const std::optional<Contact> contact = Collide(a, b);
    const std::optional<OracleContact> expected = OracleContactOf(fixed, mover);
    ASSERT_EQ(contact.has_value(), expected.has_value()) << code;
    if (!contact) continue;
    ++contacts;
    ASSERT_EQ(contact->kind, ContactKind::kConvex) << code;
    CheckMeasures(fixed, mover, *contact, *expected);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << code;
    CheckPoints(fixed, mover, *contact, *expected);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << code;
    // The way back is as long.
    const std::optional<Contact> back = Collide(b, a);
    ASSERT_TRUE(back) << code;
    ASSERT_EQ(back->depth, contact->depth) << code;
    const OracleContact expected_back = *OracleContactOf(mover, fixed);
    CheckMeasures(mover, fixed, *back, expected_back);
    CheckPoints(mover, fixed, *back, expected_back);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << code;
  }
  EXPECT_GT(contacts, count / 10);
}

TEST(ContactTest, AgreesWithTheOracleOnGrids) {
  CheckAgainstOracle(21, Grid{6, 1, 0}, Repeats(300, 40000));
  CheckAgainstOracle(22, Grid{5, 1, 15}, Repeats(300, 40000));
}

TEST(ContactTest, AgreesWithTheOracleAtExtremeScales) {
  CheckAgainstOracle(23, Grid{6, 0x1p50, 5}, Repeats(100, 15000));
  CheckAgainstOracle(24, Grid{6, 0x1p-139, 0}, Repeats(100, 15000));
  CheckAgainstOracle(25, Grid{6, 1, 0, true}, Repeats(150, 20000));
}

TEST(ContactTest, ContainedOnesAgreeWithTheOracle) {
  Random random(26);
  for (int i = 0; i < Repeats(200, 50000); ++i) {
    OracleConvex fixed = RandomConvex(random, Grid{9, 4, 0});
    fixed.radius = 0;
    OracleConvex mover = RandomConvex(random, Grid{3, 0.5, 0});
    for (Xy& p : mover.ring) p = {p.x + 14, p.y + 14};
    const std::optional<OracleContact> expected = OracleContactOf(fixed, mover);
    const std::optional<Contact> contact =
        Collide(ToShape(fixed, false), ToShape(mover, mover.radius > 0));
    const std::string code = ToCode(fixed) + ToCode(mover);
    ASSERT_EQ(contact.has_value(), expected.has_value()) << code;
    if (contact) CheckMeasures(fixed, mover, *contact, *expected);
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << code;
  }
}

// Start, sense, duplicates and scale by a power of two change nothing but order of ties and scale.
TEST(ContactTest, ScalingByAPowerOfTwoScalesTheContact) {
  Random random(27);
  for (int i = 0; i < Repeats(200, 50000); ++i) {
    const OracleConvex fixed = RandomConvex(random, Grid{6, 1, 10});
    const OracleConvex mover = RandomConvex(random, Grid{6, 1, 10});
    const auto scaled = [](OracleConvex shape, double factor) {
      for (Xy& p : shape.ring) p = {p.x * factor, p.y * factor};
      shape.radius *= factor;
      return shape;
    };
    const auto contact_at = [&](double factor) {
      return Collide(ToShape(scaled(fixed, factor), fixed.radius > 0),
                     ToShape(scaled(mover, factor), mover.radius > 0));
    };
    const std::optional<Contact> contact = contact_at(1);
    const std::optional<Contact> large = contact_at(0x1p40);
    ASSERT_EQ(contact.has_value(), large.has_value());
    if (!contact) continue;
    EXPECT_EQ(contact->normal, large->normal);
    EXPECT_EQ(contact->depth * 0x1p40, large->depth);
    ASSERT_EQ(contact->point_count, large->point_count);
    EXPECT_EQ(contact->points[0].polygon_feature, large->points[0].polygon_feature);
    EXPECT_EQ(contact->points[0].mover_feature, large->points[0].mover_feature);
  }
}

}  // namespace
}  // namespace carom::testing::contact_test
