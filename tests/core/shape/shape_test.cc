// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/shape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "carom/status.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"

namespace carom::testing::shape_test {
namespace {

std::vector<std::string> FieldsOf(const absl::Status& status) {
  std::vector<std::string> fields;
  for (const Violation& violation : Violations(status)) fields.push_back(violation.field);
  return fields;
}

TEST(ShapeTest, ACapsuleIsKeptAsGivenAndReadAsNumbersAreRead) {
  const Shape shape = Shape::Create({{{1, -0.0}, {0x1p-141, 4}}, 0x1p-150}).value();
  ASSERT_NE(shape.capsule(), nullptr);
  EXPECT_EQ(shape.polygon(), nullptr);
  EXPECT_EQ(shape.capsule()->axis.a, (Vec2{1, 0}));
  EXPECT_FALSE(std::signbit(shape.capsule()->axis.a.y));
  EXPECT_EQ(shape.capsule()->axis.b, (Vec2{0, 4}));
  EXPECT_EQ(shape.capsule()->radius, 0);
  EXPECT_EQ(shape.vertex_count(), 2u);
}

TEST(ShapeTest, EveryBadNumberIsNamed) {
  const auto fields = [](const Capsule& capsule) {
    return FieldsOf(Shape::Create(capsule).status());
  };
  const double large = std::nextafter(kMaxCoordinate, HUGE_VAL);
  EXPECT_EQ(fields({{{NAN, large}, {-HUGE_VAL, -large}}, -1}),
            (std::vector<std::string>{"ax", "ay", "bx", "by", "radius"}));
  EXPECT_EQ(fields({{}, NAN}), std::vector<std::string>{"radius"});
  EXPECT_EQ(fields({{}, -0x1p-1074}), std::vector<std::string>{"radius"});
  EXPECT_TRUE(Shape::Create({{{kMaxCoordinate, -kMaxCoordinate}, {}}, kMaxCoordinate}).ok());
  EXPECT_TRUE(Shape::Create({{}, -0.0}).ok());
}

TEST(ShapeTest, APolygonIsAShape) {
  const Shape shape = Polygon::Create({1, {{{{0, 0}, {2, 0}, {1, 3}}}}}).value();
  ASSERT_NE(shape.polygon(), nullptr);
  EXPECT_EQ(shape.capsule(), nullptr);
  EXPECT_EQ(shape.vertex_count(), 3u);
  EXPECT_EQ(shape.bounds().max, (Vec2{2, 3}));
}

// Law: the box holds axis +- radius on each axis, exactly, and is at most two steps wider.
TEST(ShapeTest, BoundsHoldTheCapsule) {
  Random random(1);
  for (int i = 0; i < Repeats(2000, 20000); ++i) {
    const Grid grid{.mixed = true};
    const Capsule capsule{{grid.Point(random), grid.Point(random)},
                          std::abs(grid.Coordinate(random))};
    const Box box = Shape::Create(capsule).value().bounds();
    const Box axis = BoundsOf(capsule.axis);
    ASSERT_LE(Exact(box.min.x), Exact(axis.min.x) - Exact(capsule.radius));
    ASSERT_LE(Exact(box.min.y), Exact(axis.min.y) - Exact(capsule.radius));
    ASSERT_GE(Exact(box.max.x), Exact(axis.max.x) + Exact(capsule.radius));
    ASSERT_GE(Exact(box.max.y), Exact(axis.max.y) + Exact(capsule.radius));
    ASSERT_GE(std::nextafter(std::nextafter(box.min.x, HUGE_VAL), HUGE_VAL),
              axis.min.x - capsule.radius);
  }
  const Box point = Shape::Create({{{1, 2}, {1, 2}}, 0}).value().bounds();
  EXPECT_EQ(point.min, point.max);
}

TEST(ShapeTest, PlacingTurnsTheAxisAndKeepsTheRadius) {
  const Shape shape = Shape::Create({{{1, 0}, {3, 0}}, 0.5}).value();
  const Shape placed = Placed(shape, {{10, 20}, 0, 1}).value();
  ASSERT_NE(placed.capsule(), nullptr);
  EXPECT_EQ(placed.capsule()->axis.a, (Vec2{10, 21}));
  EXPECT_EQ(placed.capsule()->axis.b, (Vec2{10, 23}));
  EXPECT_EQ(placed.capsule()->radius, 0.5);
  const Shape triangle = Polygon::Create({1, {{{{0, 0}, {2, 0}, {1, 3}}}}}).value();
  const Shape moved = Placed(triangle, {{5, 5}, 1, 0}).value();
  ASSERT_NE(moved.polygon(), nullptr);
  EXPECT_EQ(moved.bounds().max, (Vec2{7, 8}));
}

// A batch read the position of a pose as 0 below 2^-140, and `Placed` took it as it was: added to a
// coordinate of 2^-100, whose last bit is 2^-152, it made another vertex than the batch's.
TEST(ShapeTest, PlacingReadsThePositionAsBatchesDo) {
  const Pose tiny{{0x1p-141, -0x1p-141}, 1, 0};
  const Vec2 p{0x1p-100, 0x1p-100};
  EXPECT_EQ(Placed(tiny, p), p);
  const Shape capsule = Shape::Create({{p, {3, 0}}, 0}).value();
  EXPECT_EQ(Placed(capsule, tiny)->capsule()->axis.a, p);
  const Polygon polygon = Polygon::Create({1, {{{p, {1, 0}, {1, 1}}}}}).value();
  EXPECT_EQ(Placed(Shape(polygon), tiny)->polygon()->edge(0).a, p);
  EXPECT_EQ(PlacedPolygon(polygon, tiny)->edge(0).a, p);
  // At 2^-140 it counts.
  EXPECT_EQ(Placed(Pose{{0x1p-140, 0}}, p), (Vec2{0x1p-100 + 0x1p-140, 0x1p-100}));
}

TEST(ShapeTest, PlacingOutOfRangeIsRefused) {
  const Shape capsule = Shape::Create({{{0, 0}, {2, 0}}, 1}).value();
  const Pose far{{kMaxCoordinate, 0}, 1, 0};
  EXPECT_EQ(Placed(capsule, far).status().code(), absl::StatusCode::kInvalidArgument);
  const Shape polygon = Polygon::Create({1, {{{{0, 0}, {2, 0}}}}}).value();
  EXPECT_EQ(Placed(polygon, far).status().code(), absl::StatusCode::kInvalidArgument);
  // The surface may leave the range: only vertices and ends are coordinates.
  EXPECT_TRUE(Placed(Shape::Create({{}, 1}).value(), far).ok());
}

}  // namespace
}  // namespace carom::testing::shape_test
