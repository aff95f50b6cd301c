// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fast path of contacts against the general path: the same answers, to the bit; and how many
// pairs of polygons it leaves.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "contact/contact_batch.h"
#include "numeric/exact.h"
#include "tests/core/grid_scenes.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::fast_contact_test {
namespace {

using internal::ContactBatchPath;
using internal::ContactCounts;

std::vector<uint64_t> WordsOf(const Contact& contact) {
  std::vector<uint64_t> words{static_cast<uint64_t>(contact.kind), contact.point_count};
  const auto add = [&](double value) { words.push_back(std::bit_cast<uint64_t>(value)); };
  add(contact.normal.x);
  add(contact.normal.y);
  add(contact.depth);
  for (const ContactPoint& point : contact.points) {
    add(point.point.x);
    add(point.point.y);
    add(point.depth);
    words.push_back(point.polygon_feature);
    words.push_back(point.mover_feature);
  }
  return words;
}

// Movers, and where they are.
struct Movers {
  void Add(uint32_t number, Vec2 at, double c, double s) {
    shape.push_back(number);
    poses[0].push_back(at.x);
    poses[1].push_back(at.y);
    poses[2].push_back(c);
    poses[3].push_back(s);
  }
  void AddTurned(uint32_t number, Vec2 at, double angle) {
    Add(number, at, std::cos(angle), std::sin(angle));
  }
  // By a multiple of a right angle.
  void AddSquarely(uint32_t number, Vec2 at, int turn) {
    constexpr double kCos[] = {1, 0, -1, 0};
    Add(number, at, kCos[turn % 4], kCos[(turn + 3) % 4]);
  }

  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> poses[4];
};

Polygon PolygonOf(Ring ring, uint64_t id = 0) {
  PolygonSpec spec;
  spec.id = id;
  spec.rings = {{std::move(ring)}};
  return Polygon::Create(spec).value();
}

class FastContactTest : public ::testing::Test {
 protected:
  static ContactColumns ColumnsOf(const Movers& movers) {
    ContactColumns columns;
    columns.movers.shapes = movers.shapes;
    columns.movers.shape = movers.shape;
    columns.movers.x = movers.poses[0];
    columns.movers.y = movers.poses[1];
    columns.movers.c = movers.poses[2];
    columns.movers.s = movers.poses[3];
    return columns;
  }

  ContactAnswers AnswerOf(const Scene& scene, const Movers& movers) {
    return Answer(scene, ColumnsOf(movers), ContactBatchPath::kFast);
  }

  void Compare(const Scene& scene, const Movers& movers) {
    ContactColumns columns = ColumnsOf(movers);
    const std::vector<double> mass(movers.shape.size(), 3);
    columns.mass = columns.polygon_mass = mass;
    const ContactAnswers fast = Answer(scene, columns, ContactBatchPath::kFast);
    const ContactAnswers general = Answer(scene, columns, ContactBatchPath::kGeneral);
    ASSERT_EQ(fast.counts, general.counts);
    ASSERT_EQ(fast.polygon_ids, general.polygon_ids);
    ASSERT_EQ(fast.errors, general.errors);
    ASSERT_EQ(fast.splits.size(), general.splits.size());
    contacts_ += fast.contacts.size();
    size_t row = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      for (const size_t end = row + fast.counts[i]; row < end; ++row) {
        ASSERT_EQ(WordsOf(fast.contacts[row]), WordsOf(general.contacts[row]))
            << ToCode(scene, fast.polygon_ids[row], movers, i);
        ASSERT_EQ(fast.splits[row].mover, general.splits[row].mover);
      }
    }
  }

  // Prints what is left to the general path. Returns its share of the pairs.
  double Report(const char* input) {
    const auto share = [&](size_t part) {
      return 100 * static_cast<double>(part) / static_cast<double>(counts_.pairs);
    };
    std::printf(
        "%s: %zu pairs, %zu contacts; axes alone %.4f %%, undecided %.4f %%, not for the fast path "
        "%.4f %%\n",
        input, counts_.pairs, contacts_, share(counts_.axes), share(counts_.undecided),
        share(counts_.not_fast));
    const double left = share(counts_.axes + counts_.undecided);
    contacts_ = 0;
    counts_ = {};
    return left;
  }

 private:
  ContactAnswers Answer(const Scene& scene, const ContactColumns& columns, ContactBatchPath path) {
    ContactAnswers answers;
    answers.counts.assign(columns.size(), 0);
    WorkMeter meter;
    ContactCounts counts;
    EXPECT_TRUE(internal::RunContacts({scene, columns, {}, path}, answers, meter, &counts));
    if (path == ContactBatchPath::kFast) {
      counts_.pairs += counts.pairs;
      counts_.axes += counts.axes;
      counts_.undecided += counts.undecided;
      counts_.not_fast += counts.not_fast;
    }
    return answers;
  }

  static std::string ToCode(const Scene& scene, uint64_t id, const Movers& movers, size_t i) {
    const auto ring_of = [](const Polygon& polygon) {
      return carom::testing::ToCode(Ring(polygon.vertices().begin(), polygon.vertices().end()));
    };
    std::string code = absl::StrFormat("Pose{{%a, %a}, %a, %a}", movers.poses[0][i],
                                       movers.poses[1][i], movers.poses[2][i], movers.poses[3][i]);
    const Polygon* const mover = movers.shapes[movers.shape[i]].polygon();
    if (mover != nullptr) code += ring_of(*mover);
    for (size_t k = 0; k < scene.polygon_count(); ++k) {
      if (scene.polygon(k).id() == id) code += ring_of(scene.polygon(k));
    }
    return code;
  }

  ContactCounts counts_;
  size_t contacts_ = 0;
};

Ring Regular(int count, double radius, Vec2 center = {0, 0}) {
  Ring ring;
  for (int i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * i / count;
    ring.push_back({center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)});
  }
  return ring;
}

Ring BoxRing(double w, double h) { return {{-w, -h}, {w, -h}, {w, h}, {-w, h}}; }

// The corners of a hull of random points, of either direction.
Ring RandomHull(Random& random, Vec2 center, double radius) {
  Ring ring = Hull(RingAbout(random, center, radius, 3 + random.Below(8)));
  if (random.Below(3) == 0) std::reverse(ring.begin(), ring.end());
  return ring;
}

// The same on a grid; now and then with points between the corners.
Ring GridHull(Random& random, const Grid& grid) {
  if (random.Below(8) == 0) return RandomConvexRing(random, grid);
  Ring ring = Hull(RandomRing(random, grid, 12));
  if (random.Below(3) == 0) std::reverse(ring.begin(), ring.end());
  return ring;
}

// Small convex polygons, with some of other kinds among them.
Scene::Ptr Scattered(Random& random, int count, double size, int percent_odd) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) {
    const Vec2 center{size * random.Unit(), size * random.Unit()};
    const bool is_odd = random.Below(100) < percent_odd;
    polygons.push_back(PolygonOf(
        is_odd ? RingAbout(random, center, 1, 3 + random.Below(9)) : RandomHull(random, center, 1),
        static_cast<uint64_t>(i ^ 5)));
  }
  return Scene::Create(std::move(polygons)).value();
}

// Without filters all is left.
void ExpectAtMost(double percent, double most) {
  if (internal::kHasFilters) {
    EXPECT_LE(percent, most);
  }
}

TEST_F(FastContactTest, RandomPolygons) {
  Random random(1901);
  for (int i = 0; i < Repeats(12, 2000) && !HasFailure(); ++i) {
    const int count = random.Below(4) == 0 ? 1000 : 1 + random.Below(200);
    const double size = 1.8 * std::sqrt(count);
    const Scene::Ptr scene = Scattered(random, count, size, 0);
    Movers movers;
    const double radius = i % 3 == 0 ? 2 : 0.5;
    for (uint32_t k = 0; k < 40; ++k) {
      movers.shapes.emplace_back(PolygonOf(RandomHull(random, {0.3, 0.1}, radius)));
    }
    for (int k = 0; k < 600; ++k) {
      movers.AddTurned(static_cast<uint32_t>(random.Below(40)),
                       {size * random.Unit(), size * random.Unit()}, 6.283 * random.Unit());
    }
    Compare(*scene, movers);
  }
  ExpectAtMost(Report("random"), 1);
}

// With shapes that are not for the fast path, scales, and poses that are refused.
TEST_F(FastContactTest, ShapesOfEveryKind) {
  Random random(1902);
  for (int i = 0; i < Repeats(12, 2000) && !HasFailure(); ++i) {
    const int count = 1 + random.Below(200);
    const double size = 1.8 * std::sqrt(count);
    const Scene::Ptr scene = Scattered(random, count, size, 30);
    Movers movers;
    for (uint32_t k = 0; k < 20; ++k) {
      const int vertices = 1 + random.Below(12);
      movers.shapes.emplace_back(PolygonOf(RingAbout(random, {0, 0}, 1, vertices)));
      movers.shapes.emplace_back(PolygonOf(Regular(3 + random.Below(8), random.Unit())));
    }
    movers.shapes.push_back(Shape::Create(Capsule{{{0, 0}, {1, 0}}, 0.5}).value());
    movers.shapes.emplace_back(PolygonOf({{0, 0}, {1, 0}, {2, 0}, {2, 1}}));
    movers.shapes.emplace_back(PolygonOf({{-3, 0}, {3, 0.001}, {0, 0.01}}));
    const int shapes = static_cast<int>(movers.shapes.size());
    for (int k = 0; k < 400; ++k) {
      Vec2 at{size * random.Unit(), size * random.Unit()};
      if (random.Below(50) == 0) at.x = random.Below(2) == 0 ? 0x1p53 : NAN;
      movers.AddTurned(static_cast<uint32_t>(random.Below(shapes)), at, 6.283 * random.Unit());
    }
    Compare(*scene, movers);
  }
  Report("every kind");
}

// A large mover has more pairs than are looked at together.
TEST_F(FastContactTest, LargeMovers) {
  Random random(1903);
  const Scene::Ptr scene = Scattered(random, 3000, 60, 10);
  Movers movers;
  movers.shapes.emplace_back(PolygonOf(Regular(8, 40)));
  movers.shapes.emplace_back(PolygonOf(Regular(5, 2)));
  for (int k = 0; k < Repeats(12, 600); ++k) {
    movers.AddTurned(static_cast<uint32_t>(k % 2), {60 * random.Unit(), 60 * random.Unit()}, k);
  }
  Compare(*scene, movers);
  Report("large");
}

// Boxes that share their sides, and boxes, octagons and diamonds that walk among them.
TEST_F(FastContactTest, TileMaps) {
  Random random(1904);
  constexpr int kSide = 30;
  for (const double tile : {1.0, 0.1}) {
    std::vector<Polygon> polygons;
    for (int i = 0; i < kSide * kSide; ++i) {
      if (random.Below(3) == 0) continue;
      const double x = i % kSide;
      const double y = i / kSide;
      Ring ring{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}};
      for (Vec2& v : ring) v = {v.x * tile, v.y * tile};
      if (random.Below(2) == 0) std::reverse(ring.begin(), ring.end());
      polygons.push_back(PolygonOf(ring, static_cast<uint64_t>(i)));
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    Movers movers;
    for (const double size : {0.5, 0.4, 1.0}) {
      movers.shapes.emplace_back(PolygonOf(BoxRing(size * tile, size * tile / 2)));
      movers.shapes.emplace_back(PolygonOf(Regular(8, size * tile)));
      movers.shapes.emplace_back(PolygonOf(Regular(4, size * tile)));
      movers.shapes.emplace_back(PolygonOf({{0, 0}, {0, size * tile}, {size * tile, 0}}));
    }
    const int shapes = static_cast<int>(movers.shapes.size());
    for (int steps : {0, 2, 8}) {
      for (int k = 0; k < Repeats(2000, 200000) && !HasFailure(); ++k) {
        const auto place = [&] {
          const double at = steps == 0 ? random.Unit() * kSide : random.Below(kSide * steps);
          return tile * at / std::max(steps, 1);
        };
        const double x = place();
        movers.AddSquarely(static_cast<uint32_t>(random.Below(shapes)), {x, place()},
                           random.Below(4));
      }
      Compare(*scene, movers);
      Report(absl::StrFormat("tiles of %g, places in steps of 1/%d", tile, steps).c_str());
      movers.shape.clear();
      for (std::vector<double>& column : movers.poses) column.clear();
    }
  }
}

// Vertex on vertex, edge along edge, one shape in the place of another.
TEST_F(FastContactTest, Touches) {
  Random random(1905);
  for (int i = 0; i < Repeats(60, 8000) && !HasFailure(); ++i) {
    const int count = 1 + random.Below(60);
    const double size = 1.8 * std::sqrt(count);
    const Scene::Ptr scene = Scattered(random, count, size, 0);
    Movers movers;
    for (uint32_t k = 0; k < 10; ++k) {
      movers.shapes.emplace_back(PolygonOf(RandomHull(random, {0, 0}, 1)));
      const Polygon& twin = scene->polygon(static_cast<size_t>(random.Below(count)));
      movers.shapes.emplace_back(PolygonOf(Ring(twin.vertices().begin(), twin.vertices().end())));
      movers.shapes.emplace_back(PolygonOf(BoxRing(0.5, 0.25)));
    }
    for (int k = 0; k < 200; ++k) {
      const auto number = static_cast<uint32_t>(random.Below(30));
      const Polygon& fixed = scene->polygon(static_cast<size_t>(random.Below(count)));
      const carom::Segment edge =
          fixed.edge(static_cast<size_t>(random.Below(static_cast<int>(fixed.edge_count()))));
      const Vec2 along{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
      const double length = std::hypot(along.x, along.y);
      const double t = random.Below(3) == 0 ? 0 : random.Unit();
      const Vec2 at{edge.a.x + t * along.x, edge.a.y + t * along.y};
      switch (random.Below(3)) {
        case 0:
          movers.AddSquarely(number, random.Below(2) == 0 ? Vec2{0, 0} : at, random.Below(4));
          break;
        case 1:
          movers.Add(number, at, along.x / length, along.y / length);
          break;
        default:
          movers.AddTurned(number, at, 6.283 * random.Unit());
      }
    }
    Compare(*scene, movers);
  }
  Report("touches");
}

// Everything coincides; polygons of every kind and scale.
TEST_F(FastContactTest, Lattices) {
  Random random(1906);
  for (int i = 0; i < Repeats(600, 100000) && !HasFailure(); ++i) {
    const Grid grid = AnyGrid(random);
    std::vector<Polygon> polygons;
    const int count = 1 + random.Below(12);
    for (int k = 0; k < count; ++k) {
      polygons.push_back(PolygonOf(GridHull(random, grid), static_cast<uint64_t>(count - k)));
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    Movers movers;
    for (int k = 0; k < 8; ++k) {
      movers.shapes.emplace_back(PolygonOf(GridHull(random, grid)));
    }
    for (int k = 0; k < 40; ++k) {
      movers.AddSquarely(static_cast<uint32_t>(random.Below(8)), grid.Point(random),
                         random.Below(4));
    }
    Compare(*scene, movers);
  }
  Report("lattice");
}

// Polygons from cells against those from trees: in scenes of every kind, before and after commits.
TEST_F(FastContactTest, OverCells) {
  Random random(1907);
  for (int i = 0; i < Repeats(20, 2000) && !HasFailure(); ++i) {
    const int count = 1 + random.Below(random.Below(3) == 0 ? 4000 : 400);
    const GridScene grid = AnyGridScene(random, count);
    Scene::Ptr scene = Made(grid, random, count);
    Movers movers;
    for (uint32_t k = 0; k < 8; ++k) {
      const double radius = grid.scale * (random.Below(4) == 0 ? 8 : 1) * random.Unit();
      movers.shapes.emplace_back(PolygonOf(RandomHull(random, {0, 0}, radius)));
      movers.shapes.emplace_back(PolygonOf(Regular(8, radius)));
      movers.shapes.emplace_back(PolygonOf(RingAbout(random, {0, 0}, radius, 12)));
    }
    for (int k = 0; k < 120; ++k) {
      Vec2 at = grid.Place(random);
      if (random.Below(10) == 0) at.x += grid.scale * grid.size * (2 * random.Unit() - 1);
      movers.AddTurned(static_cast<uint32_t>(random.Below(24)), at, 6.283 * random.Unit());
    }
    for (int version = 0; version < 3; ++version) {
      Compare(*scene, movers);
      scene = Edited(*scene, grid, random, count);
    }
  }
  Report("over cells");
}

// Pairs are answered some hundred at a time, and rows of a mover whose pairs were cut in two came
// in the order of ids of each part. All pairs of a mover are answered together, or its rows are
// sorted.
TEST_F(FastContactTest, RowsAreByIdWhereAWindowHasManyPairs) {
  Random random(1908);
  const Scene::Ptr scene = Scattered(random, 4000, 60, 0);
  Movers movers;
  for (const double radius : {1.0, 2.0, 4.0})
    movers.shapes.emplace_back(PolygonOf(Regular(8, radius)));
  for (int k = 0; k < 400; ++k) {
    movers.AddTurned(static_cast<uint32_t>(random.Below(3)),
                     {60 * random.Unit(), 60 * random.Unit()}, k);
  }
  Compare(*scene, movers);
  const ContactAnswers answers = AnswerOf(*scene, movers);
  auto row = answers.polygon_ids.begin();
  for (const uint32_t count : answers.counts) {
    EXPECT_TRUE(std::is_sorted(row, row + count));
    row += count;
  }
}

}  // namespace
}  // namespace carom::testing::fast_contact_test
