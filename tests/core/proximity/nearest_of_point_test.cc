// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The nearest polygons of points and discs, which bounds narrow down, against the general search of
// every polygon: the same polygons, and what decides the distance to the bit.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "index/scene_grid.h"
#include "index/scene_index.h"
#include "proximity/closest.h"
#include "proximity/distance_query.h"
#include "proximity/nearest_points.h"
#include "tests/core/grid_scenes.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::nearest_of_point_test {
namespace {

using internal::Closest;
using internal::DistanceQuery;
using internal::FindClosest;

using internal::LengthSum;
using internal::MeasuredPolygon;
using internal::PlacedShape;

class NearestOfPointTest : public ::testing::Test {
 protected:
  // All polygons of a scene in the general path: those at the least distance within reach, by id.
  static std::vector<MeasuredPolygon> General(const std::vector<carom::IndexedPolygon>& polygons,
                                              const PlacedShape& mover, double max_distance) {
    const LengthSum touch{mover.radius(), 0, 0};
    const LengthSum reach{mover.radius(), 0, max_distance};
    const auto is_within = [](const Closest& closest, const LengthSum& sum) {
      return IsCoreWithin(closest, sum, SquareBounds(sum));
    };
    std::vector<MeasuredPolygon> nearest;
    WorkMeter meter;
    for (const carom::IndexedPolygon& polygon : polygons) {
      const auto closest = FindClosest(PlacedShape(polygon), mover, {touch, HUGE_VAL}, meter);
      if (!closest || !is_within(*closest, reach)) continue;
      const bool is_touching = is_within(*closest, touch);
      int order = -1;
      if (!nearest.empty()) {
        const MeasuredPolygon& best = nearest[0];
        order = is_touching || best.is_touching
                    ? static_cast<int>(best.is_touching) - static_cast<int>(is_touching)
                    : internal::Compare(*closest->approach, *best.closest.approach);
      }
      if (order > 0) continue;
      if (order < 0) nearest.clear();
      nearest.push_back({&polygon, *closest, is_touching});
    }
    return nearest;
  }

  void CompareClosest(const MeasuredPolygon& a, const MeasuredPolygon& b) {
    ASSERT_EQ(a.fixed->polygon().id(), b.fixed->polygon().id());
    ASSERT_EQ(a.is_touching, b.is_touching);
    ASSERT_EQ(a.closest.kind, b.closest.kind);
    ASSERT_EQ(a.closest.edge_a, b.closest.edge_a);
    ASSERT_EQ(a.closest.ring, b.closest.ring);
    ASSERT_EQ(a.closest.approach.has_value(), b.closest.approach.has_value());
    if (!a.closest.approach) return;
    ASSERT_EQ(a.closest.approach->edge.a, b.closest.approach->edge.a);
    ASSERT_EQ(a.closest.approach->edge.b, b.closest.approach->edge.b);
    ASSERT_EQ(a.closest.approach->distance2.low, b.closest.approach->distance2.low);
  }

  void Compare(std::vector<Polygon> polygons, const std::vector<Vec2>& points, Random& random) {
    std::vector<carom::IndexedPolygon> indexed;
    for (const Polygon& polygon : polygons) indexed.emplace_back(polygon);
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    std::vector<MeasuredPolygon> near;
    WorkMeter meter;
    DistanceOptions options;
    options.mode = DistanceMode::kNearest;
    DistanceQuery query(*scene, options, near, meter);
    for (const Vec2 point : points) {
      const double radius = random.Below(4) == 0 ? random.Unit() : 0;
      const double reach = random.Below(3) == 0 ? HUGE_VAL : 3 * random.Unit();
      const PlacedShape mover(Capsule{{point, point}, radius});
      ASSERT_TRUE(query.Run(mover, reach));
      const std::vector<MeasuredPolygon> general = General(indexed, mover, reach);
      ++all_;
      hits_ += near.size();
      ASSERT_EQ(near.size(), general.size())
          << absl::StrFormat("{%a, %a} radius %a reach %a", point.x, point.y, radius, reach);
      for (size_t i = 0; i < near.size() && !HasFatalFailure(); ++i)
        CompareClosest(near[i], general[i]);
      if (HasFatalFailure()) {
        FAIL() << absl::StrFormat("{%a, %a} radius %a reach %a", point.x, point.y, radius, reach);
      }
    }
  }

  size_t all_ = 0;
  size_t hits_ = 0;
};

Polygon Ringed(Random& random, uint64_t id, Ring ring) {
  PolygonSpec spec;
  spec.id = id;
  spec.fill_rule = random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
  spec.rings = {{std::move(ring)}};
  return Polygon::Create(spec).value();
}

// Stars of 1 to 80 vertices all over a square, and points anywhere, at vertices and on edges.
TEST_F(NearestOfPointTest, AmongStars) {
  Random random(1811);
  for (int i = 0; i < Repeats(60, 3000) && !HasFailure(); ++i) {
    const int count = 1 + random.Below(60);
    const double size = 2 * std::sqrt(count);
    std::vector<Polygon> polygons;
    for (int k = 0; k < count; ++k) {
      const Vec2 center{size * random.Unit(), size * random.Unit()};
      const int vertices = random.Below(5) == 0 ? 1 + random.Below(80) : 1 + random.Below(9);
      polygons.push_back(Ringed(random, static_cast<uint64_t>(k),
                                RingAbout(random, center, 0.1 + random.Unit(), vertices)));
    }
    std::vector<Vec2> points;
    for (int k = 0; k < 1000; ++k) {
      const Polygon& polygon = polygons[static_cast<size_t>(random.Below(count))];
      const carom::Segment edge =
          polygon.edge(static_cast<size_t>(random.Below(static_cast<int>(polygon.edge_count()))));
      const double t = random.Unit();
      const int kind = random.Below(8);
      if (kind == 0) {
        points.push_back(edge.a);
      } else if (kind == 1) {
        points.push_back(
            {edge.a.x + t * (edge.b.x - edge.a.x), edge.a.y + t * (edge.b.y - edge.a.y)});
      } else {
        points.push_back({size * random.Unit(), size * random.Unit()});
      }
    }
    Compare(polygons, points, random);
  }
  EXPECT_GT(hits_, all_ / 2);
}

// Everything ties: rings on a small grid, some of them twice, and points of a grid twice as fine.
TEST_F(NearestOfPointTest, OnLattices) {
  Random random(1812);
  for (int i = 0; i < Repeats(1500, 150000) && !HasFailure(); ++i) {
    const Grid grid = AnyGrid(random);
    std::vector<Polygon> polygons;
    const int count = 1 + random.Below(10);
    for (int k = 0; k < count; ++k) {
      Ring ring =
          random.Below(2) == 0 ? RandomRing(random, grid, 9) : RandomConvexRing(random, grid);
      polygons.push_back(Ringed(random, static_cast<uint64_t>(2 * k), ring));
      if (random.Below(5) != 0) continue;
      polygons.push_back(Ringed(random, static_cast<uint64_t>(2 * k + 1), std::move(ring)));
    }
    std::vector<Vec2> points;
    for (int k = 0; k < 30; ++k) {
      const Vec2 p = grid.Point(random);
      const Vec2 q = grid.Point(random);
      points.push_back(Normalized(random.Below(2) == 0 ? p : Vec2{(p.x + q.x) / 2, p.y}));
    }
    Compare(polygons, points, random);
  }
}

// Points that are measured by cells and by the general path, which takes them where they are placed
// shapes: a rotation by nothing makes the difference.
class CellsAndGeneralPath {
 public:
  // Compares a batch as it is asked for, and each item for which cells are tried.
  void Compare(const Scene& scene, const std::vector<Vec2>& points,
               const std::vector<double>& reaches, uint64_t mask) {
    const std::vector<uint32_t> which(points.size(), 0);
    const std::vector<double> c(points.size(), 1);
    const std::vector<double> s(points.size(), 0);
    std::vector<double> x;
    std::vector<double> y;
    for (const Vec2 p : points) {
      x.push_back(p.x);
      y.push_back(p.y);
    }
    const DistanceOptions options{DistanceMode::kNearest, mask};
    const DistanceColumns columns{{shapes_, which, x, y}, reaches};
    DistanceAnswers fast;
    DistanceAnswers general;
    WorkMeter meter;
    ASSERT_TRUE(
        MeasureDistances(scene, {{shapes_, which, x, y, c, s}, reaches}, options, general, meter));
    ASSERT_TRUE(MeasureDistances(scene, columns, options, fast, meter));
    ExpectEqual(fast, general);
    AnswerByCells(scene, columns, options, general, fast);
    ExpectEqual(fast, general);
  }

  size_t reached() const { return reached_; }  // points that are in a square with cells
  double left_share() const { return static_cast<double>(left_) / static_cast<double>(items_); }
  // Prints how many items cells leave to the general path. One that is no point counts among them.
  void Report(const char* input) {
    std::printf("%s: %zu points, %zu in squares with cells, %zu nearest polygons; %.4f %% left\n",
                input, items_, reached_, nearest_, 100 * left_share());
    items_ = left_ = nearest_ = reached_ = 0;
  }

 private:
  static bool HasCells(const Scene& scene, Vec2 p) {
    const internal::SceneGrid& grid = scene.index().grid();
    if (grid.empty()) return false;
    const double x = (p.x - grid.corner().x) * grid.squares_per_length();
    const double y = (p.y - grid.corner().y) * grid.squares_per_length();
    if (!(x >= 0 && y >= 0 && x < grid.width() && y < grid.height())) return false;
    WorkMeter meter;
    return grid.block(scene.index(), static_cast<int>(x), static_cast<int>(y), meter)->has_cells();
  }

  // Answers as cells do, whatever was left of late, and takes what they leave from `general`.
  void AnswerByCells(const Scene& scene, const DistanceColumns& columns,
                     const DistanceOptions& options, const DistanceAnswers& general,
                     DistanceAnswers& out) {
    WorkMeter meter;
    out.Clear();
    out.counts.assign(columns.size(), 0);
    out.errors = general.errors;
    internal::NearestPoints points(scene, columns, options, out, meter);
    points.AlwaysTryFastPath();
    size_t row = 0;
    for (size_t i = 0; i < columns.size(); ++i) {
      const size_t count = general.counts[i];
      reached_ += HasCells(scene, {columns.movers.x[i], columns.movers.y[i]}) ? 1 : 0;
      if (!points.Answer(i)) {
        out.counts[i] = general.counts[i];
        for (size_t k = row; k < row + count; ++k) {
          out.polygon_ids.push_back(general.polygon_ids[k]);
          out.rows.push_back(general.rows[k]);
        }
        ++left_;
      }
      row += count;
    }
    points.Finish();
    items_ += columns.size();
    nearest_ += row;
  }

  static void ExpectEqual(const DistanceAnswers& fast, const DistanceAnswers& general) {
    ASSERT_EQ(fast.counts, general.counts);
    ASSERT_EQ(fast.polygon_ids, general.polygon_ids);
    ASSERT_EQ(fast.errors, general.errors);
    ASSERT_EQ(fast.rows.size(), general.rows.size());
    for (size_t i = 0; i < general.rows.size(); ++i) {
      const DistanceRow& a = fast.rows[i];
      const DistanceRow& b = general.rows[i];
      ASSERT_EQ(std::bit_cast<uint64_t>(a.distance), std::bit_cast<uint64_t>(b.distance)) << i;
      for (const auto& [p, q] : {std::pair(a.point, b.point), {a.mover_point, b.mover_point}}) {
        ASSERT_EQ(std::bit_cast<uint64_t>(p.x), std::bit_cast<uint64_t>(q.x)) << i;
        ASSERT_EQ(std::bit_cast<uint64_t>(p.y), std::bit_cast<uint64_t>(q.y)) << i;
      }
      ASSERT_EQ(a.has_edge, b.has_edge) << i;
      if (a.has_edge) {
        ASSERT_EQ(a.edge, b.edge) << i;
      }
    }
  }

  const std::vector<Shape> shapes_{Shape::Create(Capsule{}).value()};
  size_t items_ = 0;
  size_t reached_ = 0;
  size_t left_ = 0;
  size_t nearest_ = 0;
};

// Without filters all are left.
void ExpectLeftAtMost(double share, double most) {
  if (internal::kHasFilters) {
    EXPECT_LE(share, most);
  }
}

// Over cells and trees of every kind of scene, and of what commits make of it.
TEST_F(NearestOfPointTest, OverCells) {
  Random random(1813);
  CellsAndGeneralPath ways;
  for (int i = 0; i < Repeats(25, 2500) && !HasFailure(); ++i) {
    const int count = random.Below(4) == 0 ? 4000 : 1 + random.Below(1000);
    const GridScene grid = AnyGridScene(random, count);
    Scene::Ptr scene = Made(grid, random, count);
    for (int edit = 0; edit < 3 && !HasFailure(); ++edit) {
      std::vector<Vec2> points;
      std::vector<double> reaches;
      for (int k = 0; k < 500; ++k) {
        Vec2 p = grid.Place(random);
        const Polygon& polygon = scene->polygon(
            static_cast<size_t>(random.Below(static_cast<int>(scene->polygon_count()))));
        const carom::Segment edge = polygon.edge(0);
        const int kind = random.Below(12);
        if (kind == 0) p = edge.a;
        if (kind == 1) p = {(edge.a.x + edge.b.x) / 2, (edge.a.y + edge.b.y) / 2};
        if (kind == 2) p = {p.x + 2 * grid.scale * grid.size, p.y};
        if (kind == 3) p.x = random.Below(2) == 0 ? NAN : 0x1.8p53;
        points.push_back(p);
        const double reach = grid.scale * (random.Below(2) == 0 ? 3 : 0.3) * random.Unit();
        reaches.push_back(random.Below(3) == 0 ? HUGE_VAL : random.Below(50) == 0 ? -1 : reach);
      }
      ways.Compare(*scene, points, reaches, random.Below(4) == 0 ? 2 : kEveryCategory);
      for (size_t k = 0; k < 20; ++k) {
        ways.Compare(*scene, {points[k]}, {reaches[k]}, kEveryCategory);
      }
      if (scene->polygon_count() > 8) scene = Edited(*scene, grid, random, count);
    }
  }
  ways.Report("scenes of all kinds");
}

// Points anywhere among polygons that are apart, as in most maps.
TEST_F(NearestOfPointTest, CellsOfRandomScenes) {
  Random random(1814);
  CellsAndGeneralPath ways;
  for (int i = 0; i < Repeats(4, 400) && !HasFailure(); ++i) {
    const int side = 8 + random.Below(50);
    std::vector<Polygon> polygons;
    for (int k = 0; k < side * side; ++k) {
      const Vec2 center{4 * (k % side + random.Unit()), 4 * (k / side + random.Unit())};
      polygons.push_back(
          Ringed(random, static_cast<uint64_t>(k),
                 RingAbout(random, center, 0.4 + 0.8 * random.Unit(), 3 + random.Below(6))));
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    std::vector<Vec2> points;
    std::vector<double> reaches;
    for (int k = 0; k < 5000; ++k) {
      points.push_back({4 * side * random.Unit(), 4 * side * random.Unit()});
      reaches.push_back(random.Below(2) == 0 ? HUGE_VAL : 4 * random.Unit());
    }
    ways.Compare(*scene, points, reaches, kEveryCategory);
  }
  ExpectLeftAtMost(ways.left_share(), 0.1);
  ways.Report("random");
}

// Boxes on the squares of a board, two thirds of them, which share sides and corners, some of them
// twice; or triangles, halves of these squares. `step` is a side.
Scene::Ptr Board(Random& random, int side, double step, bool has_triangles) {
  std::vector<Polygon> polygons;
  const auto add = [&](Ring ring) {
    polygons.push_back(Ringed(random, polygons.size(), std::move(ring)));
  };
  for (int i = 0; i < side * side; ++i) {
    if (random.Below(3) == 0) continue;
    const double x = step * (i % side);
    const double y = step * (i / side);
    const double right = step * (i % side + 1);
    const double top = step * (i / side + 1);
    const Ring box{{x, y}, {right, y}, {right, top}, {x, top}};
    if (has_triangles) {
      add({box[0], box[1], box[2]});
      add({box[0], box[2], box[3]});
    } else {
      for (int k = 0; k < (random.Below(20) == 0 ? 2 : 1); ++k) add(box);
    }
  }
  return Scene::Create(std::move(polygons)).value();
}

// Ties everywhere: points of a board anywhere, and of a lattice of halves and of quarters of its
// squares, where two to eight polygons are equally near or touch the point.
TEST_F(NearestOfPointTest, CellsOfBoards) {
  Random random(1815);
  CellsAndGeneralPath ways;
  size_t reached = 0;
  for (const bool is_lattice : {false, true}) {
    for (int i = 0; i < Repeats(6, 1200) && !HasFailure(); ++i) {
      constexpr double kSteps[] = {1, 0.1, 3, 1.0 / 3, 1e-6};
      const int side = 10 + random.Below(40);
      const double step = kSteps[random.Below(5)];
      const Scene::Ptr scene = Board(random, side, step, random.Below(3) == 0);
      std::vector<Vec2> points;
      std::vector<double> reaches;
      for (int k = 0; k < 4500; ++k) {
        const int parts = is_lattice ? 2 + 2 * random.Below(2) : 1 << 20;
        points.push_back({step * random.Below(side * parts + 1) / parts,
                          step * random.Below(side * parts + 1) / parts});
        const double reach = step * random.Below(9) / 4;
        reaches.push_back(random.Below(3) == 0 ? HUGE_VAL : reach);
      }
      ways.Compare(*scene, points, reaches, kEveryCategory);
    }
    reached += ways.reached();
    ways.Report(is_lattice ? "tile maps, points of a lattice" : "tile maps, points anywhere");
  }
  EXPECT_GE(reached, static_cast<size_t>(Repeats(50'000, 10'000'000)));
}

// Rings of every kind on a lattice, many of them, so that there are cells.
TEST_F(NearestOfPointTest, CellsOfLattices) {
  Random random(1816);
  CellsAndGeneralPath ways;
  for (int i = 0; i < Repeats(10, 1000) && !HasFailure(); ++i) {
    const int side = 20 + random.Below(30);
    std::vector<Polygon> polygons;
    for (int k = 0; k < side * side / 4; ++k) {
      const double x = random.Below(side);
      const double y = random.Below(side);
      Ring ring;
      const int vertices = 3 + random.Below(4);
      for (int v = 0; v < vertices; ++v) {
        ring.push_back({x + random.Below(4) / 2.0, y + random.Below(4) / 2.0});
      }
      polygons.push_back(Ringed(random, static_cast<uint64_t>(k), std::move(ring)));
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    std::vector<Vec2> points;
    std::vector<double> reaches;
    for (int k = 0; k < 2000; ++k) {
      const Vec2 p{random.Below(8 * side) / 8.0, random.Below(8 * side) / 8.0};
      points.push_back(random.Below(4) == 0 ? Vec2{side * random.Unit(), p.y} : p);
      reaches.push_back(random.Below(3) == 0 ? HUGE_VAL : random.Below(9) / 4.0);
    }
    ways.Compare(*scene, points, reaches, kEveryCategory);
  }
  ways.Report("rings on lattices");
}

}  // namespace
}  // namespace carom::testing::nearest_of_point_test
