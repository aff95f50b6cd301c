// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Culling may let too much pass, never too little: whatever box a line meets exactly, a flight
// opens.
#include "line_traversal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "carom/predicates.h"
#include "random_scene.h"

namespace carom::testing {
namespace {

using internal::Flight;
using CastLine = internal::Line;
using internal::SceneIndex;

// Keeps what it is told.
class Witness final : public internal::FlightObserver {
 public:
  void Visit(size_t, const IndexedPolygon& indexed) override {
    seen.insert(indexed.polygon().id());
  }
  bool Finish(size_t) override { return false; }

  std::set<uint64_t> seen;
};

std::set<uint64_t> Seen(const SceneIndex& scene, const CastLine& line) {
  std::vector<Flight> flight(1);
  flight[0].Start(line, scene);
  Witness witness;
  WorkMeter meter;
  internal::Fly(scene, flight, witness, meter);
  return witness.seen;
}

Polygon BoxAt(uint64_t id, Vec2 a, Vec2 b) { return Polygon::Create({id, {{{a, b}}}}).value(); }

TEST(LineTraversalTest, NoBoxThatASegmentMeetsIsLeftOut) {
  Random random(0xf1196);
  int met = 0;
  for (const double scale : {1.0, 1e-9, 0x1p-138, 1e9, 0x1p46}) {
    for (int round = 0; round < 40; ++round) {
      // Far from the origin or about it; on a grid, so that corners are met exactly, or not.
      const double from = round % 3 == 0 ? 60 * scale : 0;
      const auto coordinate = [&] {
        const double value = round % 2 == 0 ? random.Below(40) : 40 * random.Unit();
        return Normalized(from + value * scale);
      };
      std::vector<Polygon> polygons;
      for (uint64_t id = 0; id < 700; ++id) {
        const Vec2 a{coordinate(), coordinate()};
        const Vec2 size{4 * scale * random.Unit(), 4 * scale * random.Unit()};
        polygons.push_back(BoxAt(id, a, {a.x + size.x, a.y + size.y}));
      }
      const SceneIndex scene(polygons, Workers{});
      for (int i = 0; i < 30; ++i) {
        const carom::Segment segment{{coordinate(), coordinate()}, {coordinate(), coordinate()}};
        const std::set<uint64_t> seen = Seen(scene, segment);
        for (const Polygon& polygon : polygons) {
          if (!Intersects(segment, polygon.bounds())) continue;
          ++met;
          ASSERT_TRUE(seen.contains(polygon.id())) << scale << " " << round << " " << i;
        }
      }
    }
  }
  EXPECT_GT(met, 10000);
}

TEST(LineTraversalTest, RaysReachTheEndsOfTheWorld) {
  const double m = kMaxCoordinate;
  std::vector<Polygon> polygons;
  const Vec2 corners[] = {{m, m}, {-m, m}, {m, -m}, {-m, -m}, {m, 0}, {0, -m}};
  for (uint64_t id = 0; id < std::size(corners); ++id) {
    polygons.push_back(BoxAt(id, corners[id], corners[id]));
  }
  polygons.push_back(BoxAt(9, {0x1p-140, 0x1p-140}, {0x1p-140, 0x1p-140}));
  const SceneIndex scene(polygons, Workers{});
  for (uint64_t id = 0; id < std::size(corners); ++id) {
    const Vec2 direction{corners[id].x / 0x1p53, corners[id].y / 0x1p53};
    EXPECT_TRUE(Seen(scene, CastLine(carom::Ray{{0, 0}, direction})).contains(id)) << id;
    EXPECT_TRUE(
        Seen(scene, CastLine(carom::Ray{{0, 0}, {direction.x * 0x1p-140, direction.y * 0x1p-140}}))
            .contains(id))
        << id;
  }
  EXPECT_TRUE(Seen(scene, CastLine(carom::Ray{{0, 0}, {1, 1}})).contains(9));
  EXPECT_TRUE(Seen(scene, CastLine(carom::Segment{{0, 0}, {0x1p-140, 0x1p-140}})).contains(9));
}

TEST(LineTraversalTest, ManyFlightsSeeWhatEachAloneDoes) {
  Random random(77);
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 3000; ++id) {
    const Vec2 a{100 * random.Unit(), 100 * random.Unit()};
    polygons.push_back(BoxAt(id, a, {a.x + random.Unit(), a.y + random.Unit()}));
  }
  const SceneIndex scene(polygons, Workers{});
  std::set<uint64_t> alone;
  std::vector<Flight> flights(internal::kMaxFlights);
  for (Flight& flight : flights) {
    const carom::Segment segment{{100 * random.Unit(), 100 * random.Unit()},
                                 {100 * random.Unit(), 100 * random.Unit()}};
    flight.Start(segment, scene);
    alone.merge(Seen(scene, segment));
  }
  Witness together;
  WorkMeter meter;
  internal::Fly(scene, flights, together, meter);
  EXPECT_EQ(together.seen, alone);
  EXPECT_GT(meter.used(), 0u);
  WorkMeter stopped([] { return true; });
  for (Flight& flight : flights) flight.Start(carom::Segment{{0, 0}, {100, 100}}, scene);
  internal::Fly(scene, flights, together, stopped);
  EXPECT_TRUE(stopped.stopped());
}

}  // namespace
}  // namespace carom::testing
