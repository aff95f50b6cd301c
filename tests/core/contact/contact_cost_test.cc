// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What contacts cost against large polygons, in units of the work meter, and that they stop soon.

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "carom/contact.h"
#include "carom/depenetrate.h"
#include "carom/sincos.h"
#include "tests/core/random_scene.h"

namespace carom::testing::contact_cost_test {
namespace {

// Between two questions of a meter, and once more where a step counts ahead.
constexpr uint64_t kSoon = 3 * WorkMeter::kInterval;
constexpr size_t kMany = size_t{1} << 16;

Scene::Ptr SceneOf(std::vector<RingSpec> rings, FillRule rule = FillRule::kEvenOdd) {
  PolygonSpec spec{1, std::move(rings)};
  spec.fill_rule = rule;
  std::vector<Polygon> polygons;
  polygons.push_back(Polygon::Create(std::move(spec)).value());
  return Scene::Create(std::move(polygons)).value();
}

// A square of half side `half` with `count` vertices, evenly spread.
RingSpec Square(double half, size_t count) {
  RingSpec ring;
  const Vec2 corners[] = {{-half, -half}, {half, -half}, {half, half}, {-half, half}};
  const Vec2 ways[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  for (size_t side = 0; side < 4; ++side) {
    for (size_t k = 0; k < count / 4; ++k) {
      const double t = 2 * half * static_cast<double>(k) / static_cast<double>(count / 4);
      ring.vertices.push_back(
          {corners[side].x + ways[side].x * t, corners[side].y + ways[side].y * t});
    }
  }
  return ring;
}

// A round convex ring: every vertex is one of the hull.
RingSpec Round(double radius, size_t count) {
  RingSpec ring;
  for (size_t k = 0; k < count; ++k) {
    const CosSin at =
        SinCos(6.283185307179586 * static_cast<double>(k) / static_cast<double>(count));
    ring.vertices.push_back({radius * at.c, radius * at.s});
  }
  return ring;
}

// The square with one vertex pushed in: not convex.
RingSpec Dented(double half, size_t count) {
  RingSpec ring = Square(half, count);
  ring.vertices[count / 8].y += half / 4;
  return ring;
}

Shape BoxShape(double x0, double y0, double x1, double y1) {
  PolygonSpec spec;
  spec.rings = {{{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}}};
  return Polygon::Create(spec).value();
}

// `count` boxes in one place.
struct Movers {
  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y;

  Movers(size_t count, const Shape& mover, Vec2 at)
      : shapes{mover}, shape(count, 0), x(count, at.x), y(count, at.y) {}
  ShapeColumns columns() const {
    ShapeColumns columns;
    columns.shapes = shapes;
    columns.shape = shape;
    columns.x = x;
    columns.y = y;
    return columns;
  }
};

bool Contacts(const Scene& scene, const Movers& movers, WorkMeter& meter) {
  ContactAnswers out;
  ContactColumns columns;
  columns.movers = movers.columns();
  return FindContacts(scene, columns, {}, out, meter);
}

bool Frees(const Scene& scene, const Movers& movers, WorkMeter& meter) {
  DepenetrateAnswers out;
  return Depenetrate(scene, movers.columns(), {}, out, meter);
}

using Question = bool (*)(const Scene&, const Movers&, WorkMeter&);

// Stops after each of some numbers of units and checks that the work ends soon after.
void ExpectStopsSoon(Question ask, const Scene& scene, const Movers& movers) {
  for (const uint64_t units : {0u, 1u, 1000u, 5000u, 20000u}) {
    WorkMeter* asked = nullptr;
    WorkMeter meter([&] { return asked->used() >= units; });
    asked = &meter;
    const bool finished = ask(scene, movers, meter);
    EXPECT_EQ(finished, !meter.stopped()) << units;
    EXPECT_LE(meter.used(), units + kSoon) << units;
  }
}

TEST(ContactCostTest, TheWorkStopsSoonAtLargePolygons) {
  const Scene::Ptr scenes[] = {SceneOf({Square(64, kMany)}), SceneOf({Round(64, kMany)}),
                               SceneOf({Dented(64, kMany)})};
  const Shape box = BoxShape(-1, -1, 1, 1.5);
  const Shape disc = Shape::Create(Capsule{{{0, 0}, {1, 0}}, 0.5}).value();
  for (const Scene::Ptr& scene : scenes) {
    for (const Shape& shape : {box, disc}) {
      for (const Vec2 at : {Vec2{0, 0}, Vec2{0, 63}, Vec2{64.25, 0}}) {
        const Movers movers(2, shape, at);
        ExpectStopsSoon(Contacts, *scene, movers);
        ExpectStopsSoon(Frees, *scene, movers);
      }
    }
  }
}

TEST(ContactCostTest, EachContactWithALargeHullIsPaidFor) {
  const Scene::Ptr scene = SceneOf({Round(64, kMany)});
  WorkMeter meter;
  ASSERT_TRUE(Contacts(*scene, Movers(3, BoxShape(-1, -1, 1, 1), {63, 0}), meter));
  EXPECT_GE(meter.used(), 3 * kMany / 2);
}

// In the free corner of an L. Judging the L for each box would outlast the test.
TEST(ContactCostTest, ManyMoversNearALargePolygonCostWhatTheyMeet) {
  RingSpec ring;
  const Vec2 corners[] = {{0, 0}, {64, 0}, {64, 32}, {32, 32}, {32, 64}, {0, 64}};
  for (size_t side = 0; side < 6; ++side) {
    const Vec2 from = corners[side];
    const Vec2 to = corners[(side + 1) % 6];
    for (size_t k = 0; k < kMany / 4; ++k) {
      const double t = static_cast<double>(k) / static_cast<double>(kMany / 4);
      ring.vertices.push_back({from.x + (to.x - from.x) * t, from.y + (to.y - from.y) * t});
    }
  }
  const Scene::Ptr scene = SceneOf({ring});
  const Movers movers(20000, BoxShape(-1, -1, 1, 1), {48, 48});
  WorkMeter meter;
  ASSERT_TRUE(Contacts(*scene, movers, meter));
  EXPECT_LE(meter.used(), 20000u * 96);
  ASSERT_TRUE(Frees(*scene, movers, meter));
}

TEST(ContactCostTest, AMoverIsPaidForBeforeItIsPlaced) {
  const Scene::Ptr scene = SceneOf({Square(64, 4)});
  PolygonSpec spec;
  spec.rings = {Square(1, 4096)};
  const Shape large = Polygon::Create(spec).value();
  const Movers movers(100, large, {1000, 1000});
  WorkMeter* asked = nullptr;
  WorkMeter meter([&] { return asked->used() > 1; });
  asked = &meter;
  EXPECT_FALSE(Contacts(*scene, movers, meter));
  EXPECT_LE(meter.used(), 1 + 4096u);
}

// Nested squares wound alike: all edges but those of the outermost are within the filled region.
TEST(ContactCostTest, OnlyAnEdgeThatLeadsOutIsAWayOut) {
  const Shape box = BoxShape(-0.5, -0.5, 0.5, 0.25);
  for (const int n : {1, 2, 3, 4, 5, 10, 20, 100}) {
    PolygonSpec spec;
    spec.fill_rule = FillRule::kNonZero;
    for (int k = 0; k < n; ++k) spec.rings.push_back(Square(2 + k, 4));
    // Two rings at least are not convex.
    if (n == 1) spec.rings.push_back(spec.rings[0]);
    const std::optional<Contact> contact = Collide(Polygon::Create(spec).value(), box);
    ASSERT_TRUE(contact) << n;
    EXPECT_EQ(contact->kind, ContactKind::kFeature) << n;
    EXPECT_EQ(contact->depth, n + 0.5) << n;
  }
}

}  // namespace
}  // namespace carom::testing::contact_cost_test
