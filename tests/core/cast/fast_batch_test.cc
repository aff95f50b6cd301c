// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fast path of the commonest casts against the general path: the same answers, to the bit; and
// how many lines it leaves.

#include "cast/fast_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "index/scene_index.h"
#include "index/scene_traversal.h"
#include "tests/core/grid_scenes.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"
#include "tests/support/repeats.h"

namespace carom::testing::fast_batch_test {
namespace {

using carom::Ray;
using carom::Segment;
using internal::Line;

std::vector<uint64_t> WordsOf(const CastHit& hit) {
  std::vector<uint64_t> words{
      hit.polygon_id,     hit.edge.ring,      hit.edge.edge,
      hit.exit_edge.ring, hit.exit_edge.edge, static_cast<uint64_t>(hit.feature),
      hit.starts_inside,  hit.ends_inside,    hit.has_exit_edge};
  for (const double value : {hit.fraction, hit.exit_fraction, hit.point.x, hit.point.y,
                             hit.normal.x, hit.normal.y, hit.exit_normal.x, hit.exit_normal.y}) {
    words.push_back(std::bit_cast<uint64_t>(value));
  }
  return words;
}

// Columns of segments, some of which are no lines.
struct Columns {
  explicit Columns(const std::vector<Segment>& segments) {
    for (const Segment& s : segments) {
      ax.push_back(s.a.x);
      ay.push_back(s.a.y);
      bx.push_back(s.b.x);
      by.push_back(s.b.y);
    }
  }
  SegmentColumns view() const { return {ax, ay, bx, by}; }

  std::vector<double> ax, ay, bx, by;
};

// Lines that are cast in batches, by both paths, under some of the questions that both answer.
class FastBatchTest : public ::testing::Test {
 protected:
  void Compare(const Scene& scene, const std::vector<Line>& lines, Random& random) {
    const auto line_of = [&](size_t i, Line& line) {
      line = lines[i];
      return true;
    };
    Compare(scene, {lines.size(), line_of, nullptr, &hard_}, random);
  }

  // Now and then a number is read as 0, or is not accepted.
  void Compare(const Scene& scene, std::vector<Segment> segments, Random& random) {
    for (Segment& segment : segments) {
      if (random.Below(100) != 0) continue;
      constexpr double kOdd[] = {-0.0, 1e-50, -1e-50, 0x1p53, -0x1.8p53, HUGE_VAL, NAN};
      (random.Below(2) == 0 ? segment.a.x : segment.b.y) = kOdd[random.Below(7)];
    }
    const Columns columns(segments);
    const SegmentColumns view = columns.view();
    const auto line_of = [&](size_t i, Line& line) {
      const auto& [a, b] = segments[i];
      ItemChecker check(i, answers_->errors);
      if (!check.Coordinate(ItemColumn::kAx, a.x) || !check.Coordinate(ItemColumn::kAy, a.y) ||
          !check.Coordinate(ItemColumn::kBx, b.x) || !check.Coordinate(ItemColumn::kBy, b.y)) {
        return false;
      }
      line = Line(Segment{Normalized(a), Normalized(b)});
      return true;
    };
    Compare(scene, {segments.size(), line_of, &view, &hard_}, random);
  }

  // Mostly all lines are tried; else what is left untried depends on those before.
  void Compare(const Scene& scene, internal::FastSource source, Random& random) {
    source.always_tries_fast_path = random.Below(8) != 0;
    CastOptions options;
    options.detail = static_cast<CastDetail>(random.Below(4));
    constexpr CastMode kModes[] = {CastMode::kClosest, CastMode::kClosest, CastMode::kAny,
                                   CastMode::kAll};
    options.mode = kModes[random.Below(4)];
    if (random.Below(4) == 0) options.max_hits = 1 + static_cast<uint32_t>(random.Below(4));
    if (random.Below(8) == 0) options.mask = 2;
    options.reflect = random.Below(4) == 0;
    if (random.Below(2) == 0) options.inside_policy = InsidePolicy::kIgnore;
    if (random.Below(4) == 0) {
      options.inside_policy = InsidePolicy::kExit;
      source.undecided_count = nullptr;  // each line that starts inside
    }
    CastAnswers fast;
    CastAnswers general;
    WorkMeter meter;
    answers_ = &fast;
    ASSERT_TRUE(internal::CastFast(scene, options, source, fast, meter));
    answers_ = &general;
    ASSERT_TRUE(
        internal::CastGeneral(scene, options, source.count, source.line_of, general, meter));
    all_ += source.count;
    hits_ += general.hits.size();
    ASSERT_EQ(fast.counts, general.counts);
    ASSERT_EQ(fast.hits.size(), general.hits.size());
    ASSERT_EQ(fast.errors, general.errors);
    ASSERT_EQ(fast.truncated, general.truncated);
    ASSERT_EQ(fast.reflections, general.reflections);
    errors_ += general.errors.size();
    size_t k = 0;
    for (size_t i = 0; i < source.count; ++i) {
      if (options.mode == CastMode::kAny || general.counts[i] == 0) continue;
      Line line{Segment{}};
      source.line_of(i, line);
      for (const size_t end = k + general.counts[i]; k < end; ++k) {
        ASSERT_EQ(WordsOf(fast.hits[k]), WordsOf(general.hits[k])) << ToCode(line);
      }
    }
  }
  static std::string ToCode(const Line& line) {
    return absl::StrFormat("{%a, %a} + t {%a, %a}", line.origin.x, line.origin.y, line.dx.high,
                           line.dy.high);
  }

  double hard_share() const { return static_cast<double>(hard_) / static_cast<double>(all_); }
  // Prints how many lines are left to the general path.
  void Report(const char* input) const {
    std::printf("%s: %zu lines, %zu hits, %.4f %% left\n", input, all_, hits_, 100 * hard_share());
  }

  size_t all_ = 0;
  size_t hits_ = 0;
  size_t hard_ = 0;
  size_t errors_ = 0;
  CastAnswers* answers_ = nullptr;  // whose errors lines of segments leave
};

// A ring that sees its center from everywhere, at random distances: concave, mostly.
Ring Star(Random& random, Vec2 center, double radius, int count) {
  Ring ring;
  for (int i = 0; i < count; ++i) {
    const double angle = 6.283185307179586 * i / count;
    const double r = radius * (0.4 + 0.6 * random.Unit());
    ring.push_back({center.x + r * std::cos(angle), center.y + r * std::sin(angle)});
  }
  return ring;
}

// Stars, or rings that cross themselves, all over a square of side `size`, some of them
// overlapping.
Scene::Ptr Scattered(Random& random, int count, double size, bool tangled) {
  std::vector<Polygon> polygons;
  for (int i = 0; i < count; ++i) {
    PolygonSpec spec;
    spec.id = static_cast<uint64_t>(i);
    spec.category = 1 + static_cast<uint64_t>(random.Below(3));
    spec.fill_rule = random.Below(2) == 0 ? FillRule::kEvenOdd : FillRule::kNonZero;
    const Vec2 center{size * random.Unit(), size * random.Unit()};
    const int vertices = random.Below(4) == 0 ? 24 + random.Below(41) : 3 + random.Below(8);
    const double radius = 0.2 + 0.8 * random.Unit();
    spec.rings = {{tangled ? RingAbout(random, center, radius, vertices)
                           : Star(random, center, radius, vertices)}};
    polygons.push_back(Polygon::Create(spec).value());
  }
  return Scene::Create(std::move(polygons)).value();
}

Segment AnySegment(Random& random, double size) {
  const Vec2 a{size * random.Unit(), size * random.Unit()};
  const double length = random.Below(3) == 0 ? 2 * size : 3;
  return {a, {a.x + length * (2 * random.Unit() - 1), a.y + length * (2 * random.Unit() - 1)}};
}

Line AnyRay(Random& random, double size) {
  const auto [a, b] = AnySegment(random, size);
  Ray ray{a, {b.x - a.x, b.y - a.y}};
  if (random.Below(2) == 0) ray.t_min = random.Unit();
  if (random.Below(2) == 0) ray.t_max = ray.t_min + random.Unit();
  return Line(ray);
}

// Without filters every line is left.
void ExpectAtMost(double share, double most) {
  if (internal::kHasFilters) {
    EXPECT_LE(share, most);
  }
}

TEST_F(FastBatchTest, RandomLinesAmongRandomPolygons) {
  Random random(1801);
  for (int i = 0; i < Repeats(20, 1000) && !HasFailure(); ++i) {
    const int count = random.Below(4) == 0 ? 2000 : 1 + random.Below(400);
    const double size = 2 * std::sqrt(count);
    const Scene::Ptr scene = Scattered(random, count, size, false);
    std::vector<Segment> segments;
    std::vector<Line> rays;
    for (int k = 0; k < 2500; ++k) segments.push_back(AnySegment(random, size));
    for (int k = 0; k < 1200; ++k) rays.push_back(AnyRay(random, size));
    Compare(*scene, segments, random);
    Compare(*scene, rays, random);
  }
  Report("random");
  EXPECT_GT(hits_, all_ / 4);
  EXPECT_GT(errors_, 0);
  ExpectAtMost(hard_share(), 0.01);
}

// Lines through vertices and along edges, ends on both, from inside and outside.
TEST_F(FastBatchTest, LinesThatTouch) {
  Random random(1802);
  for (int i = 0; i < Repeats(150, 10000) && !HasFailure(); ++i) {
    const int count = 1 + random.Below(300);
    const double size = 2 * std::sqrt(count);
    const Scene::Ptr scene = Scattered(random, count, size, random.Below(2) == 0);
    const auto place = [&]() -> Vec2 {
      const Polygon& polygon = scene->polygon(static_cast<size_t>(random.Below(count)));
      const auto at = static_cast<size_t>(random.Below(static_cast<int>(polygon.edge_count())));
      const Segment edge = polygon.edge(at);
      const double t = random.Unit();
      switch (random.Below(4)) {
        case 0:
          return edge.a;
        case 1:
          return {edge.a.x + t * (edge.b.x - edge.a.x), edge.a.y + t * (edge.b.y - edge.a.y)};
        case 2:
          return {2 * edge.b.x - edge.a.x, 2 * edge.b.y - edge.a.y};
        default:
          return {size * random.Unit(), size * random.Unit()};
      }
    };
    std::vector<Segment> segments;
    const int lines = random.Below(2) == 0 ? 1 + random.Below(40) : 250;
    for (int k = 0; k < lines; ++k) {
      const Vec2 a = place();
      segments.push_back({a, place()});
    }
    Compare(*scene, segments, random);
  }
  Report("touching");
}

// Everything coincides, and polygons are of every kind, from 1 vertex to several rings.
TEST_F(FastBatchTest, Lattices) {
  Random random(1803);
  for (int i = 0; i < Repeats(1500, 150000) && !HasFailure(); ++i) {
    const Grid grid = AnyGrid(random);
    std::vector<Polygon> polygons;
    const int count = 1 + random.Below(12);
    for (int k = 0; k < count; ++k) {
      PolygonSpec spec = RandomPolygon(random, grid, static_cast<uint64_t>(count - k));
      if (random.Below(2) == 0) spec.rings.resize(1);
      if (random.Below(2) == 0) spec.rings[0].vertices = RandomConvexRing(random, grid);
      auto polygon = Polygon::Create(spec);
      if (polygon.ok()) polygons.push_back(*std::move(polygon));
    }
    const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
    std::vector<Segment> segments;
    const int lines = 1 + random.Below(40);
    for (int k = 0; k < lines; ++k) {
      const Vec2 a = grid.Point(random);
      segments.push_back({a, grid.Point(random)});
    }
    Compare(*scene, segments, random);
  }
  Report("lattice");
}

// Boxes that share their sides, some of them twice: the commonest maps of games.
TEST_F(FastBatchTest, TileMaps) {
  Random random(1804);
  constexpr int kSide = 40;
  std::vector<Polygon> polygons;
  for (int i = 0; i < kSide * kSide; ++i) {
    if (random.Below(3) == 0) continue;
    const double x = i % kSide;
    const double y = i / kSide;
    PolygonSpec spec;
    spec.rings = {{{{x, y}, {x + 1, y}, {x + 1, y + 1}, {x, y + 1}}}};
    for (int k = 0; k < (random.Below(20) == 0 ? 2 : 1); ++k) {
      spec.id = static_cast<uint64_t>(2 * i + 1 - k);
      polygons.push_back(Polygon::Create(spec).value());
    }
  }
  const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
  for (int i = 0; i < Repeats(10, 1000) && !HasFailure(); ++i) {
    std::vector<Segment> segments;
    for (int k = 0; k < 2000; ++k) segments.push_back(AnySegment(random, kSide));
    Compare(*scene, segments, random);
  }
  Report("tile map");
  ExpectAtMost(hard_share(), 0.1);
  for (int i = 0; i < Repeats(60, 6000) && !HasFailure(); ++i) {
    const auto place = [&] { return Vec2{random.Below(81) / 2.0, random.Below(81) / 2.0}; };
    std::vector<Segment> segments;
    for (int k = 0; k < (i % 20 == 0 ? 2000 : 250); ++k) {
      const Vec2 a = place();
      segments.push_back({a, place()});
    }
    Compare(*scene, segments, random);
  }
  Report("tile map, with lines from and to its corners");
}

// Every line used to go both ways in batches of 2 to 256, where each meets a polygon that the fast
// path is not for. What a thread was asked of late decides.
TEST_F(FastBatchTest, SmallBatchesAmongPolygonsThatAreNotForIt) {
  Random random(1806);
  std::vector<Polygon> polygons;
  for (int i = 0; i < 400; ++i) {
    const Vec2 center{2.0 * (i % 20), 2.0 * (i / 20)};
    polygons.push_back(
        Polygon::Create({.id = static_cast<uint64_t>(i), .rings = {{Star(random, center, 1, 100)}}})
            .value());
  }
  const Scene::Ptr scene = Scene::Create(std::move(polygons)).value();
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    std::vector<Line> lines;
    for (int k = 0; k < 1 + i % 60; ++k) {
      const Vec2 a{40 * random.Unit(), 40 * random.Unit()};
      lines.emplace_back(Segment{a, {a.x + 20, a.y + 20 * random.Unit()}});
    }
    Compare(*scene, lines, random);
  }
  constexpr size_t kLines = 16;
  const auto line_of = [](size_t i, Line& line) {
    line = Line(Segment{{-5, 2.3 * static_cast<double>(i)}, {45, 2.1 * static_cast<double>(i)}});
    return true;
  };
  CastAnswers out;
  std::vector<uint64_t> units;
  for (int i = 0; i < 64 + 160; ++i) {
    WorkMeter meter;
    ASSERT_TRUE(internal::CastFast(*scene, {}, {kLines, line_of}, out, meter));
    if (i >= 64) units.push_back(meter.used());
  }
  const uint64_t least = *std::ranges::min_element(units);
  EXPECT_EQ(std::ranges::count_if(units, [&](uint64_t of) { return of > least; }), 160 / 16);
}

// From anywhere about a scene to near by or far away, upright and level ones, and points.
Segment AnySegment(Random& random, const GridScene& grid) {
  const Vec2 a = grid.Place(random);
  const double length = grid.scale * (random.Below(2) == 0 ? 4 : grid.size) * random.Unit();
  const double angle = 6.3 * random.Unit();
  const Vec2 b{a.x + length * std::cos(angle), a.y + length * std::sin(angle)};
  switch (random.Below(10)) {
    case 0:
      return {a, {a.x, b.y}};
    case 1:
      return {a, {b.x, a.y}};
    case 2:
      return {a, grid.Place(random)};
    case 3:
      return {{a.x - 5 * grid.scale * grid.size, a.y}, b};
    case 4:
      return {{-0x1p50, a.y}, {0x1p50, b.y}};
    case 5:
      return {a, random.Below(4) == 0 ? a : b};
    default:
      return {a, b};
  }
}

// Lines over cells and trees of every kind of scene, and of what commits make of it; those that
// are single, too. The version before an edit answers as it did.
TEST_F(FastBatchTest, Cells) {
  Random random(1805);
  for (int i = 0; i < Repeats(30, 3000) && !HasFailure(); ++i) {
    const int count = random.Below(4) == 0 ? 4000 : 1 + random.Below(1000);
    const GridScene grid = AnyGridScene(random, count);
    Scene::Ptr scene = Made(grid, random, count);
    for (int edit = 0; edit < 4 && !HasFailure(); ++edit) {
      std::vector<Segment> segments;
      for (int k = 0; k < 300; ++k) segments.push_back(AnySegment(random, grid));
      Compare(*scene, segments, random);
      for (int k = 0; k < 30; ++k)
        Compare(*scene, std::vector<Segment>{segments[static_cast<size_t>(k)]}, random);
      std::vector<Line> rays;
      for (const Segment& s : segments) {
        const Vec2 d{s.b.x - s.a.x, s.b.y - s.a.y};
        if (d == Vec2{} || !IsAccepted(d)) continue;
        const double t_min = random.Below(2) == 0 ? 0 : random.Unit();
        rays.emplace_back(Ray{s.a, Normalized(d), t_min, random.Below(2) == 0 ? HUGE_VAL : 2.0});
      }
      Compare(*scene, rays, random);
      const Scene::Ptr before = scene;
      scene = Edited(*scene, grid, random, count);
      Compare(*before, segments, random);
    }
  }
  Report("cells");
}

// A commit forgot too few squares. A polygon whose box begins where the margin of the square before
// it ends, to the ulp, was hit after its removal by lines that begin in that square.
TEST_F(FastBatchTest, APolygonAtTheMarginOfASquareGoesWithItsCommit) {
  Random random(2311);
  const auto square = [](uint64_t id, Vec2 min, double side) {
    const Vec2 max{min.x + side, min.y + side};
    return Polygon::Create({.id = id, .rings = {{{min, {max.x, min.y}, max, {min.x, max.y}}}}})
        .value();
  };
  std::vector<Polygon> lattice;
  for (uint64_t i = 0; i < 3600; ++i) {
    const Vec2 min{static_cast<double>(i % 60), static_cast<double>(i / 60)};
    lattice.push_back(square(i, min, 0.5));
  }
  const Scene::Ptr base = Scene::Create(std::move(lattice)).value();
  const internal::SceneGrid& grid = base->index().grid();
  ASSERT_EQ(grid.width(), 6);
  const Vec2 corner = grid.CornerOf(3, 3);
  const double margin = grid.side() / 256;
  for (const bool is_along_x : {true, false}) {
    double at = (is_along_x ? corner.x : corner.y) + margin;
    for (int i = 0; i < 3; ++i) at = std::nextafter(at, -HUGE_VAL);
    for (int i = 0; i < 6; ++i, at = std::nextafter(at, HUGE_VAL)) {
      const auto point = [&](double along, double across) {
        return is_along_x ? Vec2{along, across} : Vec2{across, along};
      };
      const Segment segment{point(at - margin - 0.1, 20.6), point(at + 0.1, 20.7)};
      const std::vector<Segment> segments(9, segment);
      // No square of `base` is made, so each commit begins with none.
      const AddPolygon add{square(9000, point(at, 20.55), 0.25)};
      const Scene::Ptr with = base->Commit({add}, base->version() + 1).value();
      Compare(*with, segments, random);
      Compare(*with->Commit({RemovePolygon{9000}}, with->version() + 1).value(), segments, random);
    }
  }
}

// Squares own no polygons: a version has those of the versions before that are far from its edit,
// whose polygons are its own, when all of these versions are gone.
TEST_F(FastBatchTest, SquaresOutliveTheVersionsThatMadeThem) {
  Random random(7102);
  constexpr uint64_t kAlong = 60;
  const auto square = [](uint64_t id, double side) {
    const Vec2 min{static_cast<double>(id % kAlong), static_cast<double>(id / kAlong)};
    const Vec2 max{min.x + side, min.y + side};
    return Polygon::Create({.id = id, .rings = {{{min, {max.x, min.y}, max, {min.x, max.y}}}}})
        .value();
  };
  std::vector<Polygon> lattice;
  for (uint64_t id = 0; id < kAlong * kAlong; ++id) lattice.push_back(square(id, 0.5));
  Scene::Ptr scene = Scene::Create(std::move(lattice)).value();
  std::vector<Segment> segments;
  for (int i = 0; i < 200; ++i) {
    const Vec2 a{60 * random.Unit(), 60 * random.Unit()};
    segments.push_back({a, {60 * random.Unit(), a.y + random.Unit()}});
  }
  for (uint64_t version = 2; version < 30; ++version) {
    Compare(*scene, segments, random);
    const auto id = static_cast<uint64_t>(random.Below(kAlong * kAlong));
    scene =
        scene->Commit({ReplacePolygon{square(id, 0.25 + 0.5 * random.Unit())}}, version).value();
  }
  Compare(*scene, segments, random);
}

}  // namespace
}  // namespace carom::testing::fast_batch_test
