// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fast path of slides against the exact search: the same answers, to the bit; and how many legs
// it leaves.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/slide.h"
#include "numeric/exact.h"
#include "slide/slide_batch.h"
#include "tests/support/random.h"
#include "tests/support/repeats.h"

namespace carom::testing::fast_slide_test {
namespace {

using internal::SlideCounts;
using internal::SlideRun;
using internal::SlideSearch;

void AddWords(std::vector<uint64_t>& words, Vec2 p) {
  words.insert(words.end(), {std::bit_cast<uint64_t>(p.x), std::bit_cast<uint64_t>(p.y)});
}

std::vector<uint64_t> WordsOf(const SlideLeg& leg) {
  std::vector<uint64_t> words{leg.has_hit};
  AddWords(words, leg.from);
  AddWords(words, leg.d);
  if (!leg.has_hit) return words;
  const SweepHit& hit = leg.hit;
  words.insert(words.end(), {hit.polygon_id, hit.starts_inside, hit.ties, hit.has_edge, hit.is_body,
                             std::bit_cast<uint64_t>(hit.fraction)});
  AddWords(words, hit.point);
  AddWords(words, hit.normal);
  if (hit.has_edge) words.insert(words.end(), {hit.edge.ring, hit.edge.edge});
  return words;
}

std::vector<uint64_t> WordsOf(const SlideRow& row) {
  std::vector<uint64_t> words{row.legs};
  AddWords(words, row.position);
  AddWords(words, row.left);
  return words;
}

enum class Map : uint8_t { kRandom, kTiles, kStars };

// Scenes, shapes and pushes: anywhere, in tiles that touch, or between the spikes of stars.
class Cases {
 public:
  Cases(uint64_t seed, Map map) : random_(seed), map_(map) {
    scale_ = std::ldexp(1, static_cast<int>(Below(5)) * 12 - 24);
    const double far = Below(3) == 0 ? 0x1p16 * scale_ : 0;
    offset_ = {far, -far};
  }

  Scene::Ptr MakeScene() {
    std::vector<Polygon> polygons;
    const size_t count = map_ == Map::kTiles ? 40 : 4 + Below(16);
    for (uint64_t id = 0; id < count; ++id) {
      PolygonSpec spec{id * 7 % 64 + 1, {{Ring()}}};
      if (Below(12) == 0) spec.solidity = Solidity::kBoundary;
      spec.category = 1 + Below(3);
      polygons.push_back(Polygon::Create(spec).value());
    }
    return Scene::Create(std::move(polygons)).value();
  }
  Shape Mover() {
    const Vec2 a = Step(0.4);
    const double radius = scale_ * (map_ == Map::kTiles ? 0.25 : 0.05 + 0.5 * random_.Unit());
    switch (Below(4)) {
      case 0:
        return Shape::Create(Capsule{{a, a}, radius}).value();
      case 1:
        return Shape::Create(Capsule{{a, Step(0.4)}, radius}).value();
      default:
        return Shape::Create(Capsule{{a, {a.x, a.y + 0.75 * scale_}}, radius}).value();
    }
  }
  Vec2 Place(double reach) {
    const Vec2 step = Step(reach);
    return {offset_.x + step.x, offset_.y + step.y};
  }
  // Few are longer than the shape is wide, and many along an axis of coordinates.
  Vec2 Push() {
    const double reach = Below(10) == 0 ? 4 : 0.3;
    Vec2 push{scale_ * reach * (2 * random_.Unit() - 1), scale_ * reach * (2 * random_.Unit() - 1)};
    if (Below(5) == 0) push.x = 0;
    if (Below(5) == 0) push.y = 0;
    return push;
  }
  double Angle() {
    const double angle = 2 * std::numbers::pi * random_.Unit();
    return map_ == Map::kTiles || Below(2) == 0 ? 0 : angle;
  }
  uint64_t Below(uint64_t bound) { return random_.Next() % bound; }

 private:
  Vec2 Step(double reach) { return {scale_ * Coordinate(reach), scale_ * Coordinate(reach)}; }
  double Coordinate(double reach) {
    const double value = reach * (2 * random_.Unit() - 1);
    return map_ == Map::kTiles ? std::round(4 * value) / 4 : value;
  }
  std::vector<Vec2> Ring() {
    std::vector<Vec2> ring;
    Vec2 at = Place(4);
    if (map_ == Map::kTiles) {
      at = {offset_.x + scale_ * (static_cast<double>(Below(8)) - 4),
            offset_.y + scale_ * (static_cast<double>(Below(8)) - 4)};
      ring = {{0, 0}, {1, 0}, {1, Below(4) == 0 ? 0.5 : 1.0}, {0, 1}};
    } else {
      const size_t count = map_ == Map::kStars ? 8 + Below(30) : 3 + Below(6);
      std::vector<double> angles;
      for (size_t i = 0; i < count; ++i) angles.push_back(2 * std::numbers::pi * random_.Unit());
      std::ranges::sort(angles);
      for (const double angle : angles) {
        const double length = map_ == Map::kStars ? 0.6 + 1.2 * random_.Unit() : 1;
        ring.push_back({length * std::cos(angle), length * std::sin(angle)});
      }
    }
    if (Below(2) == 0) std::ranges::reverse(ring);
    for (Vec2& p : ring) p = {at.x + scale_ * p.x, at.y + scale_ * p.y};
    return ring;
  }

  SplitMix64 random_;
  Map map_;
  double scale_;
  Vec2 offset_;
};

// Players that are pushed about, all at once, some of them by three pushes a tick.
class Players {
 public:
  Players(Cases& cases, size_t count) : shapes_{cases.Mover(), cases.Mover(), cases.Mover()} {
    for (size_t i = 0; i < count; ++i) {
      const Vec2 at = cases.Place(4);
      shape_.push_back(static_cast<uint32_t>(i % shapes_.size()));
      x_.push_back(at.x);
      y_.push_back(at.y);
      angle_.push_back(cases.Angle());
      pushes_.push_back(i % 4 == 0 ? 3 : 1);
      dx_.resize(dx_.size() + pushes_.back());
      dy_.resize(dx_.size());
    }
  }

  // A tick, by both searches.
  void Walk(const Scene& scene, Cases& cases, const SlideOptions& options, SlideCounts& all) {
    for (size_t i = 0; i < dx_.size(); ++i) {
      if (cases.Below(6) != 0) continue;
      const Vec2 push = cases.Push();
      dx_[i] = push.x;
      dy_[i] = push.y;
    }
    const SlideColumns columns{{shapes_, shape_, x_, y_, {}, {}, angle_}, dx_, dy_, pushes_};
    SlideAnswers fast;
    SlideAnswers exact;
    WorkMeter meter;
    SlideCounts counts;
    const SlideRun run{scene, columns, options};
    const SlideRun exact_run{scene, columns, options, SlideSearch::kGeneral};
    ASSERT_TRUE(RunSlides(run, fast, meter, &counts));
    ASSERT_TRUE(RunSlides(exact_run, exact, meter));
    ASSERT_EQ(fast.legs.size(), exact.legs.size());
    for (size_t i = 0; i < fast.legs.size(); ++i) {
      ASSERT_EQ(WordsOf(fast.legs[i]), WordsOf(exact.legs[i])) << "leg " << i;
    }
    for (size_t i = 0; i < fast.rows.size(); ++i) {
      ASSERT_EQ(WordsOf(fast.rows[i]), WordsOf(exact.rows[i])) << "player " << i;
      x_[i] = fast.rows[i].position.x;
      y_[i] = fast.rows[i].position.y;
    }
    all.free += counts.free;
    all.hits += counts.hits;
    all.fallbacks += counts.fallbacks;
  }

 private:
  std::vector<Shape> shapes_;
  std::vector<uint32_t> shape_, pushes_;
  std::vector<double> x_, y_, angle_, dx_, dy_;
};

SlideCounts Compare(Map map, int scenes) {
  SlideCounts all;
  for (int i = 0; i < scenes && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(absl::StrFormat("scene %d", i));
    Cases cases(0x511de000 + static_cast<uint64_t>(i), map);
    const Scene::Ptr scene = cases.MakeScene();
    Players players(cases, 40);
    SlideOptions options;
    if (i % 3 == 0) options.inside_policy = InsidePolicy::kBlocking;
    if (i % 7 == 0) options.mask = 2;
    for (int tick = 0; tick < 40 && !::testing::Test::HasFailure(); ++tick) {
      players.Walk(*scene, cases, options, all);
    }
  }
  std::printf("free %zu, hits %zu, left %zu\n", all.free, all.hits, all.fallbacks);
  return all;
}

TEST(FastSlideTest, AnswersAsTheExactSearchAmongRandomShapes) {
  const SlideCounts counts = Compare(Map::kRandom, Repeats(20, 4000));
  if (internal::kHasFilters) {
    EXPECT_GT(counts.hits, counts.fallbacks / 4);
  }
}

TEST(FastSlideTest, AnswersAsTheExactSearchAmongTiles) { Compare(Map::kTiles, Repeats(20, 4000)); }

TEST(FastSlideTest, AnswersAsTheExactSearchAmongStars) { Compare(Map::kStars, Repeats(20, 4000)); }

}  // namespace
}  // namespace carom::testing::fast_slide_test
