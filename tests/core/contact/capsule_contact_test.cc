// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "carom/contact.h"
#include "carom/polygon.h"
#include "carom/shape.h"

namespace carom::testing::capsule_contact_test {
namespace {

Shape Ring(std::vector<Vec2> vertices) {
  PolygonSpec spec;
  spec.rings = {{std::move(vertices)}};
  return Polygon::Create(spec).value();
}
Shape Box(double x0, double y0, double x1, double y1) {
  return Ring({{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}});
}
Shape CapsuleOf(Vec2 a, Vec2 b, double radius) {
  return Shape::Create(Capsule{{a, b}, radius}).value();
}

TEST(CapsuleContactTest, AnObliqueCapsuleIsMeasuredToItsOwnSide) {
  // The clipped axis of a capsule was lowered by its radius along the reference normal, as if it
  // were parallel to the reference edge: the second point came out at (4, -0.95) with depth 1.9, in
  // the middle of neither surface. The capsule's side is r / cos below its axis.
  const Shape block = Ring({{0, -4}, {4, -4}, {4, 0}, {0, 0}});
  const Shape capsule = CapsuleOf({2, -0.5}, {6, 2.7}, 3);
  const std::optional<Contact> contact = Collide(block, capsule);
  ASSERT_TRUE(contact);
  EXPECT_EQ(contact->normal, (Vec2{0, 1}));
  EXPECT_EQ(contact->depth, 3.5);
  ASSERT_EQ(contact->point_count, 2u);
  // The axis is 1.1 above the corner, its slope 0.8: depth 3 sqrt(1 + 0.64) - 1.1.
  EXPECT_EQ(contact->points[1], (ContactPoint{{2, -1.75}, 3.5, 5, 0}));
  const double depth = 3 * std::sqrt(1.64) - 1.1;
  EXPECT_NEAR(contact->points[0].depth, depth, 1e-15);
  EXPECT_EQ(contact->points[0].point.x, 4);
  EXPECT_NEAR(contact->points[0].point.y, -depth / 2, 1e-15);
  EXPECT_EQ(contact->points[0].polygon_feature, 4u);
  EXPECT_EQ(contact->points[0].mover_feature, 1u);
}

TEST(CapsuleContactTest, AnObliqueCapsuleEndsOnItsSideOrItsCap) {
  // The end of the axis over the floor is no other case: its surface is the side's, at x = 6.
  const double root = std::sqrt(1.64);
  const std::optional<Contact> on_side =
      Collide(Box(-20, -20, 20, 0), CapsuleOf({2, -0.5}, {6, 2.7}, 3));
  ASSERT_TRUE(on_side);
  ASSERT_EQ(on_side->point_count, 2u);
  EXPECT_NEAR(on_side->points[0].depth, 3 * root - 2.7, 1e-15);
  EXPECT_EQ(on_side->points[0].point.x, 6);
  // Cut at x = 3.5, before the side begins (x = 3.87): one below the cap about (2, -0.5).
  const std::optional<Contact> on_cap =
      Collide(Box(0, -4, 3.5, 0), CapsuleOf({2, -0.5}, {6, 2.7}, 3));
  ASSERT_TRUE(on_cap);
  ASSERT_EQ(on_cap->point_count, 2u);
  EXPECT_NEAR(on_cap->points[0].depth, 0.5 + std::sqrt(9 - 2.25), 1e-15);
  EXPECT_EQ(on_cap->points[0].point.x, 3.5);
}

}  // namespace
}  // namespace carom::testing::capsule_contact_test
