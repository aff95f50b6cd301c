// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fast path of sweeps against the exact search: the same answers, to the bit; and how many
// items it leaves.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/sweep.h"
#include "numeric/exact.h"
#include "sweep/sweep_batch.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::testing::fast_sweep_test {
namespace {

using internal::SweepCounts;
using internal::SweepRun;
using internal::SweepWay;

std::vector<uint64_t> WordsOf(const SweepHit& hit) {
  std::vector<uint64_t> words{hit.polygon_id, hit.starts_inside, hit.ties, hit.has_edge};
  for (const double value : {hit.fraction, hit.point.x, hit.point.y, hit.normal.x, hit.normal.y}) {
    words.push_back(std::bit_cast<uint64_t>(value));
  }
  if (hit.has_edge) words.insert(words.end(), {hit.edge.ring, hit.edge.edge});
  return words;
}

// Shapes and paths: anywhere, or in steps of a quarter, so that much touches, ties and runs along.
class Cases {
 public:
  Cases(uint64_t seed, bool is_lattice)
      : random_(seed), is_lattice_(is_lattice), is_dense_(seed % 16 == 7) {
    scale_ = std::ldexp(1, static_cast<int>(Below(5)) * 12 - 24);
    double far = Below(3) == 0 ? 0x1p20 * scale_ : 0;
    if (seed % 9 == 4) {  // the ends of what is accepted
      scale_ = seed % 2 == 0 ? 0x1p49 : 0x1p-98;
      far = 0;
    }
    offset_ = {far, -far};
  }

  Vec2 Step(double reach) { return {scale_ * Coordinate(reach), scale_ * Coordinate(reach)}; }
  Vec2 Place(double reach) {
    const Vec2 step = Step(reach);
    return {offset_.x + step.x, offset_.y + step.y};
  }
  std::vector<Vec2> Ring() {
    std::vector<Vec2> ring;
    const size_t count = 3 + Below(6 + (Below(40) == 0 ? 3 : 0));
    const bool is_clockwise = Below(2) == 0;
    if (is_lattice_) {
      const double w = 0.25 + 0.25 * static_cast<double>(Below(4));
      const double h = 0.25 + 0.25 * static_cast<double>(Below(4));
      ring = {{0, 0}, {w, 0}, {w, h}, {0, h}};
      if (Below(3) == 0) ring.pop_back();
    } else {
      std::vector<double> angles;
      for (size_t i = 0; i < count; ++i) angles.push_back(2 * std::numbers::pi * random_.Unit());
      std::ranges::sort(angles);
      for (const double angle : angles) ring.push_back({std::cos(angle), std::sin(angle)});
    }
    if (is_clockwise) std::ranges::reverse(ring);
    for (Vec2& p : ring) p = {scale_ * p.x, scale_ * p.y};
    return ring;
  }
  std::shared_ptr<const Scene> MakeScene() {
    std::vector<Polygon> polygons;
    // Now and then more than a window has room for, of some items at least.
    const size_t count = is_dense_ ? 4000 : 1 + Below(24);
    const bool has_hollow = Below(6) == 0;
    for (uint64_t id = 0; id < count; ++id) {
      const Vec2 at = Place(is_dense_ ? 60 : 6);
      std::vector<Vec2> ring = Ring();
      for (Vec2& p : ring) p = {p.x + at.x, p.y + at.y};
      PolygonSpec spec{is_dense_ ? id + 1 : id * 7 % 32 + 1, {{ring}}};
      if (has_hollow && Below(8) == 0) spec.solidity = Solidity::kBoundary;
      spec.category = 1 + Below(3);
      polygons.push_back(Polygon::Create(spec).value());
    }
    return Scene::Create(std::move(polygons)).value();
  }
  Shape Mover() {
    if (Below(2) != 0) return Shape(Polygon::Create({0, {{Ring()}}}).value());
    const double radius = std::abs(Coordinate(is_dense_ ? 1 + Below(20) : 1)) * scale_;
    const Vec2 a = Step(1);
    const Vec2 b = Below(4) == 0 ? a : Step(1);
    return Shape::Create(Capsule{{a, b}, Below(8) == 0 ? 0 : radius}).value();
  }
  double Angle() {
    const double angle = 2 * std::numbers::pi * random_.Unit();
    return is_lattice_ ? 0 : angle;
  }
  uint64_t Below(uint64_t bound) { return random_.Next() % bound; }

 private:
  double Coordinate(double reach) {
    const double value = reach * (2 * random_.Unit() - 1);
    return is_lattice_ ? std::round(4 * value) / 4 : value;
  }

  SplitMix64 random_;
  bool is_lattice_;
  bool is_dense_;
  double scale_;
  Vec2 offset_;
};

// A batch of sweeps.
struct Sweeps {
  explicit Sweeps(Cases& cases, size_t count) {
    for (int i = 0; i < 20; ++i) shapes.push_back(cases.Mover());
    for (size_t i = 0; i < count; ++i) {
      shape.push_back(static_cast<uint32_t>(cases.Below(shapes.size())));
      const Vec2 from = cases.Place(7);
      const Vec2 step = cases.Below(20) == 0 ? Vec2{} : cases.Step(4);
      x.push_back(cases.Below(100) == 0 ? NAN : from.x);
      y.push_back(from.y);
      angle.push_back(cases.Angle());
      to_x.push_back(from.x + step.x);
      to_y.push_back(cases.Below(100) == 0 ? HUGE_VAL : from.y + step.y);
    }
  }
  SweepColumns Columns() const { return {{shapes, shape, x, y, {}, {}, angle}, to_x, to_y}; }

  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y, angle, to_x, to_y;
};

void ExpectSame(const Scene& scene, const Sweeps& sweeps, const SweepOptions& options,
                SweepCounts& counts) {
  SweepAnswers fast;
  SweepAnswers exact;
  WorkMeter meter;
  const SweepColumns columns = sweeps.Columns();
  const SweepRun run{scene, columns, options};
  const SweepRun exact_run{scene, columns, options, SweepWay::kGeneral};
  ASSERT_TRUE(RunSweeps(run, fast, meter, &counts));
  ASSERT_TRUE(RunSweeps(exact_run, exact, meter));
  ASSERT_EQ(fast.counts, exact.counts);
  ASSERT_EQ(fast.truncated, exact.truncated);
  ASSERT_EQ(fast.errors.size(), exact.errors.size());
  for (size_t i = 0; i < fast.errors.size(); ++i) {
    ASSERT_EQ(fast.errors[i].index, exact.errors[i].index);
    ASSERT_EQ(fast.errors[i].column, exact.errors[i].column);
    ASSERT_EQ(fast.errors[i].fault, exact.errors[i].fault);
  }
  ASSERT_EQ(fast.hits.size(), exact.hits.size());
  size_t row = 0;
  for (size_t i = 0; i < sweeps.shape.size(); ++i) {
    for (uint32_t k = 0; k < fast.counts[i] && !fast.hits.empty(); ++k, ++row) {
      ASSERT_EQ(WordsOf(fast.hits[row]), WordsOf(exact.hits[row])) << "item " << i;
    }
  }
}

// Modes and policies, each in turn.
SweepOptions OptionsOf(int number) {
  SweepOptions options;
  constexpr CastMode kModes[] = {CastMode::kClosest, CastMode::kClosest, CastMode::kClosest,
                                 CastMode::kAny, CastMode::kAll};
  constexpr InsidePolicy kPolicies[] = {InsidePolicy::kReportStart, InsidePolicy::kReportStart,
                                        InsidePolicy::kIgnore, InsidePolicy::kExit};
  options.mode = kModes[number % 5];
  options.inside_policy = kPolicies[number % 4];
  if (number % 7 == 0) options.mask = 2;
  return options;
}

// Compares many batches, and returns what was done of all.
SweepCounts Compare(bool is_lattice, int scenes) {
  SweepCounts all;
  for (int i = 0; i < scenes && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrFormat("scene %d", i));
    Cases cases(0x53eeb000 + static_cast<uint64_t>(i), is_lattice);
    const std::shared_ptr<const Scene> scene = cases.MakeScene();
    const Sweeps sweeps(cases, 250);
    SweepCounts counts;
    ExpectSame(*scene, sweeps, OptionsOf(i), counts);
    all.touches += counts.touches;
    all.overlaps += counts.overlaps;
    all.fallbacks += counts.fallbacks;
  }
  std::printf("touches %zu, overlaps %zu, left %zu\n", all.touches, all.overlaps, all.fallbacks);
  return all;
}

TEST(FastSweepTest, AnswersAsTheExactSearchAmongRandomShapes) {
  const SweepCounts counts = Compare(false, Repeats(160, 40000));
  if (internal::kHasFilters) {
    EXPECT_GT(counts.touches, counts.fallbacks / 4);
  }
}

TEST(FastSweepTest, AnswersAsTheExactSearchWhereMuchTouches) { Compare(true, Repeats(160, 20000)); }

}  // namespace
}  // namespace carom::testing::fast_sweep_test
