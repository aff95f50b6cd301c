// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws 12 to 15 of docs/conventions.md, which concern every question at once. First what may be
// changed in the asking without changing an answer (12), then what answers of different kinds owe
// each other (13 to 15).
// Scenes and questions sit on small grids, where everything coincides, or a little beside them.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "tests/core/battery.h"
#include "tests/core/random_scene.h"
#include "tests/support/repeats.h"

namespace carom::testing::laws_test {
namespace {

using Ids = std::vector<uint64_t>;

// A scene's description and a battery for it.
struct Case {
  std::vector<PolygonSpec> specs;
  Battery battery;
};

Scene::Ptr SceneOf(const std::vector<PolygonSpec>& specs) {
  std::vector<Polygon> polygons;
  for (const PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(spec).value());
  return Scene::Create(std::move(polygons)).value();
}

Case RandomCase(Random& random, const Grid& grid) {
  Case result;
  const int count = 1 + random.Below(6);
  for (int i = 0; i < count; ++i) {
    result.specs.push_back(RandomPolygon(random, grid, static_cast<uint64_t>(i * 3)));
  }
  result.battery = RandomBattery(random, grid, 4);
  return result;
}

std::string Code(const std::vector<PolygonSpec>& specs) {
  std::string code = "\n";
  for (const PolygonSpec& spec : specs) code += ToCode(spec);
  return code;
}

void ExpectSame(const std::vector<std::string>& got, const std::vector<std::string>& want,
                const Case& asked, uint64_t seed) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i], want[i]) << "item " << i << ", case " << seed << Code(asked.specs);
  }
}

// Calls check(random, case, number) for a random case of the grids that all laws share.
template <class Check>
void ForCases(uint64_t seed, int usual, int in_the_long_suite, const Grid& grid, Check check) {
  const int repeats = Repeats(usual, in_the_long_suite);
  for (int i = 0; i < repeats && !::testing::Test::HasFailure(); ++i) {
    Random random(seed * 1000003 + static_cast<uint64_t>(i));
    Grid sized = grid;
    sized.size = 3 + random.Below(6);
    check(random, RandomCase(random, sized), static_cast<uint64_t>(i));
  }
}

constexpr Grid kExactGrid{.size = 6, .scale = 1, .percent_off = 0};
constexpr Grid kRoughGrid{.size = 6, .scale = 1, .percent_off = 15};

TEST(LawsTest, TheOrderOfPolygonsChangesNothing) {
  ForCases(1, 60, 6000, kRoughGrid, [](Random& random, const Case& asked, uint64_t number) {
    std::vector<PolygonSpec> shuffled = asked.specs;
    for (size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[static_cast<size_t>(random.Below(static_cast<int>(i)))]);
    }
    ExpectSame(Answers(*SceneOf(shuffled), asked.battery, Depth::kAll),
               Answers(*SceneOf(asked.specs), asked.battery, Depth::kAll), asked, number);
  });
}

TEST(LawsTest, TheOrderOfABatchChangesNothing) {
  ForCases(2, 60, 6000, kRoughGrid, [](Random&, const Case& asked, uint64_t number) {
    const Scene::Ptr scene = SceneOf(asked.specs);
    std::vector<std::string> forward = Answers(*scene, asked.battery, Depth::kAll);
    std::vector<std::string> reversed = Answers(*scene, asked.battery.Reversed(), Depth::kAll);
    std::sort(forward.begin(), forward.end());
    std::sort(reversed.begin(), reversed.end());
    ExpectSame(reversed, forward, asked, number);
  });
}

// The same sets of points, described otherwise: another first vertex, the other way round (all
// rings at once, since NON_ZERO sums them), doubled vertices, midpoints where they are exact.
PolygonSpec Redescribed(Random& random, PolygonSpec spec) {
  const bool reverse = random.Below(2) == 0;
  for (RingSpec& ring : spec.rings) {
    std::vector<Vec2>& v = ring.vertices;
    if (!ring.open && v.size() >= 2 && v.front() == v.back()) v.pop_back();
    if (!ring.open)
      std::rotate(v.begin(), v.begin() + random.Below(static_cast<int>(v.size())), v.end());
    if (reverse) std::reverse(v.begin(), v.end());
    std::vector<Vec2> longer;
    for (size_t i = 0; i < v.size(); ++i) {
      longer.push_back(v[i]);
      if (random.Below(4) == 0) longer.push_back(v[i]);
      if (i + 1 == v.size() && ring.open) continue;
      const Vec2 next = v[(i + 1) % v.size()];
      const Vec2 middle{(v[i].x + next.x) / 2, (v[i].y + next.y) / 2};
      if (random.Below(3) == 0 && IsOnSegment(middle, {v[i], next})) longer.push_back(middle);
    }
    if (!ring.open) longer.push_back(longer.front());
    v = longer;
  }
  return spec;
}

TEST(LawsTest, TheDescriptionOfARingChangesNoVerdict) {
  ForCases(3, 60, 6000, kExactGrid, [](Random& random, const Case& asked, uint64_t number) {
    std::vector<PolygonSpec> other = asked.specs;
    for (PolygonSpec& spec : other) spec = Redescribed(random, spec);
    ExpectSame(Answers(*SceneOf(other), asked.battery, Depth::kVerdicts),
               Answers(*SceneOf(asked.specs), asked.battery, Depth::kVerdicts), asked, number);
  });
}

TEST(LawsTest, ScalingByAPowerOfTwoChangesOnlyScale) {
  ForCases(4, 60, 6000, kRoughGrid, [](Random& random, const Case& asked, uint64_t number) {
    const Frame2 frame{std::ldexp(1.0, random.Below(120) - 80), {}};
    std::vector<PolygonSpec> scaled = asked.specs;
    for (PolygonSpec& spec : scaled) spec = In(frame, spec);
    std::vector<std::string> got =
        Answers(*SceneOf(scaled), asked.battery.In(frame), Depth::kAll, frame);
    std::vector<std::string> want = Answers(*SceneOf(asked.specs), asked.battery, Depth::kAll);
    // Down there 2^-138 shows, which certified intervals allow for, and the last bits of small
    // displacements are read as 0.
    if (frame.scale < 0x1p-40) {
      for (auto* texts : {&got, &want}) {
        std::erase_if(*texts, [](const std::string& text) {
          return text.starts_with("rotating") || text.starts_with("free");
        });
      }
    }
    ExpectSame(got, want, asked, number);
  });
}

TEST(LawsTest, MovingEverythingExactlyChangesNoVerdict) {
  ForCases(5, 60, 6000, kExactGrid, [](Random& random, Case asked, uint64_t number) {
    for (Mover& mover : asked.battery.movers) mover.angle = mover.to_angle = 0;
    for (FanItem& fan : asked.battery.fans) fan.range = 0;  // beam ends would be rounded
    const Frame2 frame{1, {std::ldexp(random.Below(9) - 4, 20), random.Below(1000) * 0.25}};
    std::vector<PolygonSpec> moved = asked.specs;
    for (PolygonSpec& spec : moved) spec = In(frame, spec);
    ExpectSame(Answers(*SceneOf(moved), asked.battery.In(frame), Depth::kVerdicts),
               Answers(*SceneOf(asked.specs), asked.battery, Depth::kVerdicts), asked, number);
  });
}

// --- What answers of different kinds owe each other ----------------------------------------------

// Asks one item at a time, as sets of ids.
class Asker {
 public:
  explicit Asker(const std::vector<PolygonSpec>& specs) : scene_(SceneOf(specs)) {}

  const Scene& scene() const { return *scene_; }

  std::set<uint64_t> Cast(const carom::Segment& s, CastMode mode = CastMode::kAll) const {
    CastAnswers answers;
    WorkMeter meter;
    CastSegments(*scene_, Columns(s), {.mode = mode}, answers, meter);
    std::set<uint64_t> ids;
    for (const CastHit& hit : answers.hits) ids.insert(hit.polygon_id);
    return ids;
  }
  bool Sees(const carom::Segment& s) const {
    SightAnswers answers;
    WorkMeter meter;
    TestLinesOfSight(*scene_, Columns(s), {}, answers, meter);
    return answers.visible[0] != 0;
  }
  std::set<uint64_t> Touching(const Capsule& c) const {
    OverlapAnswers answers;
    WorkMeter meter;
    OverlapCapsules(
        *scene_,
        {{&c.axis.a.x, 1}, {&c.axis.a.y, 1}, {&c.axis.b.x, 1}, {&c.axis.b.y, 1}, {&c.radius, 1}},
        {}, answers, meter);
    return {answers.polygon_ids.begin(), answers.polygon_ids.end()};
  }
  std::set<uint64_t> Touching(const Mover& mover) const {
    const Polygon placed = *Placed(mover).polygon();
    const double zero = 0;
    OverlapAnswers answers;
    WorkMeter meter;
    PolygonColumns columns{.shapes = {&placed, 1},
                           .shape = {},
                           .x = {&zero, 1},
                           .y = {&zero, 1},
                           .c = {},
                           .s = {},
                           .angle = {}};
    OverlapPolygons(*scene_, columns, {}, answers, meter);
    return {answers.polygon_ids.begin(), answers.polygon_ids.end()};
  }
  std::set<uint64_t> Within(const Mover& mover, double distance) const {
    DistanceAnswers answers;
    WorkMeter meter;
    const Shape placed = Placed(mover);
    MeasureDistances(*scene_, {At(placed), {&distance, 1}}, {.mode = DistanceMode::kWithin},
                     answers, meter);
    return {answers.polygon_ids.begin(), answers.polygon_ids.end()};
  }
  std::set<uint64_t> InContact(const Mover& mover) const {
    ContactAnswers answers;
    WorkMeter meter;
    const Shape placed = Placed(mover);
    FindContacts(*scene_, {At(placed), {}, {}}, {}, answers, meter);
    return {answers.polygon_ids.begin(), answers.polygon_ids.end()};
  }
  // The polygons hit at all, or at fraction 0.
  std::set<uint64_t> Swept(const Shape& placed, Vec2 d, bool at_start) const {
    SweepAnswers answers;
    WorkMeter meter;
    SweepShapes(*scene_, {At(placed), {&d.x, 1}, {&d.y, 1}}, {.mode = CastMode::kAll}, answers,
                meter);
    std::set<uint64_t> ids;
    for (const SweepHit& hit : answers.hits) {
      if (!at_start || hit.fraction == 0) ids.insert(hit.polygon_id);
    }
    return ids;
  }
  std::set<uint64_t> ArcHits(const ArcItem& arc) const {
    ArcAnswers answers;
    WorkMeter meter;
    CastArcs(*scene_,
             {{&arc.p.x, 1},
              {&arc.p.y, 1},
              {&arc.v.x, 1},
              {&arc.v.y, 1},
              {&arc.a.x, 1},
              {&arc.a.y, 1},
              {&arc.duration, 1}},
             {.mode = CastMode::kAll}, answers, meter);
    std::set<uint64_t> ids;
    for (const ArcHit& hit : answers.hits) ids.insert(hit.polygon_id);
    return ids;
  }
  std::set<uint64_t> RayHits(const carom::Ray& ray) const {
    CastAnswers answers;
    WorkMeter meter;
    CastRays(*scene_,
             {{&ray.origin.x, 1},
              {&ray.origin.y, 1},
              {&ray.direction.x, 1},
              {&ray.direction.y, 1},
              {&ray.t_min, 1},
              {&ray.t_max, 1}},
             {.mode = CastMode::kAll}, answers, meter);
    std::set<uint64_t> ids;
    for (const CastHit& hit : answers.hits) ids.insert(hit.polygon_id);
    return ids;
  }

  static Shape Placed(const Mover& mover) {
    const CosSin rotation = SinCos(mover.angle);
    return carom::Placed(mover.shape, {mover.position, rotation.c, rotation.s}).value();
  }

 private:
  static SegmentColumns Columns(const carom::Segment& s) {
    return {{&s.a.x, 1}, {&s.a.y, 1}, {&s.b.x, 1}, {&s.b.y, 1}};
  }
  static ShapeColumns At(const Shape& placed) {
    static const double zero = 0;
    return {.shapes = {&placed, 1},
            .shape = {},
            .x = {&zero, 1},
            .y = {&zero, 1},
            .c = {},
            .s = {},
            .angle = {}};
  }

  Scene::Ptr scene_;
};

std::set<uint64_t> Union(std::set<uint64_t> a, const std::set<uint64_t>& b) {
  a.insert(b.begin(), b.end());
  return a;
}

template <class Check>
void ForAskers(uint64_t seed, int usual, int in_the_long_suite, const Grid& grid, Check check) {
  ForCases(seed, usual, in_the_long_suite, grid, [&](Random&, const Case& asked, uint64_t number) {
    SCOPED_TRACE("case " + std::to_string(number) + Code(asked.specs));
    check(Asker(asked.specs), asked.battery);
  });
}

// Law 14.
TEST(LawsTest, SegmentsHitBothWaysAndWhatTheyTouch) {
  for (const Grid& grid : {kExactGrid, kRoughGrid}) {
    ForAskers(11, 500, 60000, grid, [](const Asker& ask, const Battery& battery) {
      for (const carom::Segment& s : battery.segments) {
        const auto ids = ask.Cast(s);
        ASSERT_EQ(ids, ask.Cast({s.b, s.a}));
        ASSERT_EQ(ids, ask.Cast(s, CastMode::kAllPassages));
        ASSERT_EQ(ids, ask.Touching({s, 0}));
        ASSERT_EQ(ids.empty(), ask.Sees(s));
        ASSERT_EQ(ids.empty(), ask.Sees({s.b, s.a}));
      }
    });
  }
}

// Law 14. On the exact grid differences are exact, and so is the middle of a segment.
TEST(LawsTest, SegmentsRaysArcsAndSweepsOfPointsAgree) {
  ForAskers(12, 500, 40000, kExactGrid, [](const Asker& ask, const Battery& battery) {
    for (const carom::Segment& s : battery.segments) {
      const auto ids = ask.Cast(s);
      const Vec2 d{s.b.x - s.a.x, s.b.y - s.a.y};
      const Vec2 middle{s.a.x + d.x / 2, s.a.y + d.y / 2};
      ASSERT_EQ(ids, Union(ask.Cast({s.a, middle}), ask.Cast({middle, s.b})));
      if (!(d == Vec2{})) {
        ASSERT_EQ(ids, ask.RayHits({s.a, d, 0, 1}));
      }
      ASSERT_EQ(ids, ask.ArcHits({s.a, d, {}, 1}));
      ASSERT_EQ(ids, ask.Swept(Shape::Create({{s.a, s.a}, 0}).value(), d, false));
      ASSERT_EQ(ids, ask.Swept(Shape::Create({{s.b, s.b}, 0}).value(), {-d.x, -d.y}, false));
    }
  });
}

// Law 13.
TEST(LawsTest, OverlapDistanceContactAndSweepAgreeAtTheStart) {
  for (const Grid& grid : {kExactGrid, kRoughGrid}) {
    ForAskers(13, 300, 40000, grid, [](const Asker& ask, const Battery& battery) {
      for (const Mover& mover : battery.movers) {
        const Shape placed = Asker::Placed(mover);
        const auto ids =
            placed.polygon() != nullptr ? ask.Touching(mover) : ask.Touching(*placed.capsule());
        ASSERT_EQ(ids, ask.Within(mover, 0));
        ASSERT_EQ(ids, ask.Swept(placed, {1, -2}, true));
        std::set<uint64_t> solid;
        const bool hollow =
            placed.polygon() != nullptr && placed.polygon()->solidity() == Solidity::kBoundary;
        for (const uint64_t id : ids) {
          if (!hollow && ask.scene().Find(id)->solidity() == Solidity::kSolid) solid.insert(id);
        }
        ASSERT_EQ(solid, ask.InContact(mover));
      }
    });
  }
}

// Law 15.
TEST(LawsTest, ASweepThereAndBackMeetsTheSame) {
  ForAskers(14, 300, 20000, kExactGrid, [](const Asker& ask, const Battery& battery) {
    for (const Mover& mover : battery.movers) {
      Mover turned = mover;
      turned.angle = 0;
      const Shape there = Asker::Placed(turned);
      const Vec2 d{mover.to.x - mover.position.x, mover.to.y - mover.position.y};
      turned.position = mover.to;
      const Shape back = Asker::Placed(turned);
      ASSERT_EQ(ask.Swept(there, d, false), ask.Swept(back, {-d.x, -d.y}, false));
    }
  });
}

}  // namespace
}  // namespace carom::testing::laws_test
