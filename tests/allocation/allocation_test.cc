// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Warm queries allocate nothing: answers reuse their columns, batches what their thread keeps.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "carom/carom.h"
#include "carom/group.h"
#include "tests/support/abi_group.h"
#include "tests/support/heap.h"
#include "tests/support/random.h"

namespace carom {
namespace {

using testing::SplitMix64;

constexpr size_t kItems = 300;
constexpr double kHalf = 40;

// A ring of `vertices` around `center`: regular, or a star where `inner` is below 1.
std::vector<Vec2> Ring(Vec2 center, size_t vertices, double radius, double inner) {
  std::vector<Vec2> ring;
  for (size_t i = 0; i < vertices; ++i) {
    const double angle = 6.283 * static_cast<double>(i) / static_cast<double>(vertices);
    const double r = i % 2 == 0 ? radius : radius * inner;
    ring.push_back({center.x + r * std::cos(angle), center.y + r * std::sin(angle)});
  }
  return ring;
}

Polygon MakePolygon(uint64_t id, std::vector<Vec2> ring) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings = {{std::move(ring), false}};
  return Polygon::Create(std::move(spec)).value();
}

// Convex polygons and stars on a grid, some of which overlap.
Scene::Ptr MakeScene() {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 400; ++id) {
    const auto column = static_cast<double>(id % 20);
    const auto row = static_cast<double>((id - id % 20) / 20);
    const Vec2 center{4 * column - kHalf, 4 * row - kHalf};
    const bool is_star = id % 3 == 0;
    polygons.push_back(
        MakePolygon(id, Ring(center, is_star ? 12 : 3 + id % 6,
                             0.5 + 0.3 * static_cast<double>(id % 7), is_star ? 0.6 : 1)));
  }
  return Scene::Create(std::move(polygons)).value();
}

class AllocationTest : public ::testing::Test {
 protected:
  AllocationTest() {
    SplitMix64 random(7);
    const auto uniform = [&](double low, double high) {
      return low + (high - low) * random.Unit();
    };
    for (size_t i = 0; i < kItems; ++i) {
      x_.push_back(uniform(-kHalf, kHalf));
      y_.push_back(uniform(-kHalf, kHalf));
      to_x_.push_back(x_[i] + uniform(-9, 9));
      to_y_.push_back(y_[i] + uniform(-9, 9));
      dx_.push_back(to_x_[i] - x_[i]);
      dy_.push_back(to_y_[i] - y_[i]);
      length_.push_back(uniform(0.1, 2));
      angle_.push_back(uniform(-3, 3));
      shape_.push_back(static_cast<uint32_t>(i % shapes_.size()));
      polygon_.push_back(static_cast<uint32_t>(i % polygons_.size()));
      count_.push_back(8);
    }
  }

  ShapeColumns Movers() const { return {shapes_, shape_, x_, y_, {}, {}, angle_}; }

  // In the last of several equal passes. Lines under way change places, so some take a while until
  // each has room.
  void ExpectNone(const std::function<bool(WorkMeter&)>& ask) {
    constexpr int kLast = 8;
    for (int pass = 0; pass <= kLast; ++pass) {
      WorkMeter meter;
      const uint64_t before = testing::AllocationCount();
      ASSERT_TRUE(ask(meter));
      const uint64_t count = testing::AllocationCount() - before;
      if (pass == kLast) {
        EXPECT_EQ(count, 0u);
      }
    }
  }

  Scene::Ptr scene_ = MakeScene();
  std::vector<Polygon> polygons_{MakePolygon(0, Ring({}, 4, 1, 1)),
                                 MakePolygon(0, Ring({}, 8, 1, 1)),
                                 MakePolygon(0, Ring({}, 12, 1, 0.5))};
  std::vector<Shape> shapes_{polygons_[0],
                             polygons_[1],
                             polygons_[2],
                             Shape::Create({{{0, 0}, {1, 0}}, 0.5}).value(),
                             Shape::Create({{{0, 0}, {0, 0}}, 0.75}).value(),
                             Shape::Create({}).value()};
  std::vector<double> x_, y_, to_x_, to_y_, dx_, dy_, length_, angle_;
  std::vector<uint32_t> shape_, polygon_, count_;
};

TEST_F(AllocationTest, Casts) {
  for (const CastMode mode : {CastMode::kAny, CastMode::kClosest, CastMode::kAll}) {
    CastOptions options;
    options.mode = mode;
    CastAnswers answers;
    ExpectNone([&](WorkMeter& meter) {
      return CastSegments(*scene_, {x_, y_, to_x_, to_y_}, options, answers, meter);
    });
    ExpectNone([&](WorkMeter& meter) {
      return CastRays(*scene_, {x_, y_, dx_, dy_, {}, {}}, options, answers, meter);
    });
  }
}

TEST_F(AllocationTest, Points) {
  LocateAnswers answers;
  ExpectNone([&](WorkMeter& meter) {
    return LocatePoints(*scene_, {x_, y_}, kEveryCategory, answers, meter);
  });
}

TEST_F(AllocationTest, Overlaps) {
  std::vector<double> max_x = x_;
  std::vector<double> max_y = y_;
  for (size_t i = 0; i < kItems; ++i) {
    max_x[i] += length_[i];
    max_y[i] += length_[i];
  }
  for (const OverlapDetail detail : {OverlapDetail::kIds, OverlapDetail::kEdges}) {
    OverlapOptions options;
    options.detail = detail;
    OverlapAnswers answers;
    ExpectNone([&](WorkMeter& meter) {
      return OverlapCircles(*scene_, {x_, y_, length_}, options, answers, meter);
    });
    ExpectNone([&](WorkMeter& meter) {
      return OverlapCapsules(*scene_, {x_, y_, to_x_, to_y_, length_}, options, answers, meter);
    });
    ExpectNone([&](WorkMeter& meter) {
      return OverlapBoxes(*scene_, {x_, y_, max_x, max_y}, options, answers, meter);
    });
    ExpectNone([&](WorkMeter& meter) {
      return OverlapPolygons(*scene_, {polygons_, polygon_, x_, y_, {}, {}, angle_}, options,
                             answers, meter);
    });
  }
}

TEST_F(AllocationTest, Contacts) {
  ContactAnswers answers;
  ExpectNone([&](WorkMeter& meter) {
    return FindContacts(*scene_, {Movers(), {}, {}}, {}, answers, meter);
  });
}

TEST_F(AllocationTest, Distances) {
  for (const DistanceMode mode :
       {DistanceMode::kNearest, DistanceMode::kAll, DistanceMode::kWithin}) {
    DistanceAnswers answers;
    DistanceOptions options;
    options.mode = mode;
    ExpectNone([&](WorkMeter& meter) {
      return MeasureDistances(*scene_, {Movers(), length_}, options, answers, meter);
    });
  }
}

TEST_F(AllocationTest, Areas) {
  AreaAnswers answers;
  AreaOptions options;
  options.inside_policy = InsidePolicy::kIgnore;
  ExpectNone([&](WorkMeter& meter) {
    return FindAreas(*scene_, {x_, y_, length_}, options, answers, meter);
  });
}

TEST_F(AllocationTest, Sees) {
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.5}).value(),
                          Polygon::Create({1, {{Ring({0, 0}, 5, 1, 1), false}}}).value()};
  std::vector<uint32_t> shape;
  for (size_t i = 0; i < x_.size(); ++i) shape.push_back(i % 2);
  const Bodies bodies = Bodies::Create({{shapes, shape, x_, y_}}).value();
  SeeAnswers answers;
  SeeOptions options;
  options.inside_policy = InsidePolicy::kIgnore;
  ExpectNone([&](WorkMeter& meter) {
    return FindSeen({*scene_, &bodies}, {x_, y_, length_}, options, answers, meter);
  });
}

// Story: a thread that once answered an eye in a hole of hundreds of thousands of edges kept their
// memory.
TEST_F(AllocationTest, AThreadDoesNotKeepTheMemoryOfAHugeArea) {
  PolygonSpec spec{1,
                   {{Ring({100, 0}, 4, 20, 1), false}, {Ring({100, 0}, 200000, 10, 0.9), false}}};
  const Scene::Ptr scene = Scene::Create({Polygon::Create(std::move(spec)).value()}).value();
  const double x[] = {100}, y[] = {0}, range[] = {20};
  const testing::HeapMeter heap;
  {
    AreaAnswers answers;
    WorkMeter meter;
    ASSERT_TRUE(FindAreas(*scene, {x, y, range}, {}, answers, meter));
    EXPECT_EQ(answers.truncated.size(), 1u);  // the eye sees all the edges
  }
  EXPECT_LT(heap.bytes(), 4 << 20);
}

// Calls of carom.h, with the answers read, for columns with stride 1 and with another stride.
TEST_F(AllocationTest, CInterface) {
  const testing::AbiScene scene = testing::MakeAbiScene(*scene_);
  const testing::AbiAnswers answers = testing::MakeAbiAnswers();
  auto world = testing::AbiStruct<carom_world>();
  world.scene = scene.get();
  auto segments = testing::AbiStruct<carom_segments>();
  segments.ax = testing::AbiColumn(x_);
  segments.ay = testing::AbiColumn(y_);
  segments.bx = testing::AbiColumn(to_x_);
  segments.by = testing::AbiColumn(to_y_);
  auto points = testing::AbiStruct<carom_points>();
  points.x = {x_.data(), x_.size() / 2, 2};
  points.y = {y_.data(), y_.size() / 2, 2};
  const carom_batch batches[] = {{CAROM_KIND_SEGMENTS, 0, &segments},
                                 {CAROM_KIND_POINTS, 0, &points}};
  auto hits = testing::AbiStruct<carom_cast_answers>();
  ExpectNone([&](WorkMeter&) {
    return carom_evaluate(&world, batches, 2, answers.get(), nullptr) == CAROM_OK &&
           carom_answers_read(answers.get(), CAROM_KIND_SEGMENTS, &hits, nullptr) == CAROM_OK;
  });
  EXPECT_GT(hits.fraction.length, 0u);
}

}  // namespace
}  // namespace carom
