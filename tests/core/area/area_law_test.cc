// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The laws of areas (docs/conventions.md, 22, and 5 to 10 for areas), on seeded random scenes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "carom/visibility.h"
#include "tests/core/area/area_cases.h"
#include "tests/core/one_item.h"
#include "tests/support/repeats.h"

namespace carom::testing::area_law_test {
namespace {

struct Case {
  TestScene scene;
  EyeCase eye;
};

Case RandomCase(Random& random, int i) {
  const Grid grid{4 + random.Below(6), i % 2 == 0 ? 1 : 0.1, i % 4 == 0 ? 15 : 0};
  Case made{RandomScene(random, grid), {}};
  const Grid eyes{grid.size * 2, grid.scale / 2, i % 3 == 0 ? 20 : 0};
  made.eye.eye = eyes.Point(random);
  made.eye.range = grid.scale * (1 + 8 * random.Unit());
  made.eye.policy = i % 2 == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  return made;
}

// The piece that a ray from the eye meets, or none if that is in doubt: for a direction close to
// the start of a piece, if the piece is thin, or if a start is so near the eye that rounding turns
// it.
const AreaPiece* PieceAt(const AreaAnswers& area, const EyeCase& eye, Vec2 direction) {
  const size_t n = area.pieces.size();
  if (n == 1) return &area.pieces[0];
  double most = 0;
  bool is_clear = false;
  const AreaPiece* best = nullptr;
  const double angle = std::atan2(direction.y, direction.x);
  const auto turn_to = [&](const AreaPiece& piece) {
    const double at = std::atan2(piece.start.y - eye.eye.y, piece.start.x - eye.eye.x);
    return at - angle > 0 ? at - angle - 2 * std::acos(-1) : at - angle;
  };
  for (const AreaPiece& piece : area.pieces) {
    const Vec2 d{piece.start.x - eye.eye.x, piece.start.y - eye.eye.y};
    if (std::hypot(d.x, d.y) < 1e-6 * eye.range) return nullptr;
    const double turn = turn_to(piece);
    if (turn > -1e-9 || turn < -6.283185) return nullptr;
    if (best != nullptr && turn < most - 1e-13) continue;
    // Two pieces that begin in about one direction, but for steps along the line of sight.
    const bool is_tie = best != nullptr && turn <= most + 1e-13;
    is_clear = !is_tie || (is_clear && best->kind == AreaPieceKind::kSight);
    best = &piece;
    most = is_tie ? std::max(most, turn) : turn;
  }
  return is_clear && best->kind != AreaPieceKind::kSight ? best : nullptr;
}

Vec2 RandomDirection(Random& random) {
  const CosSin at = SinCos(8 * random.Unit());
  return {at.c, at.s};
}

TEST(AreaLawTest, ACastFromTheEyeEndsOnThePieceInItsDirection) {
  Random random(4311);
  int asked = 0;
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    const auto [scene, eye] = RandomCase(random, i);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers area = AreasOf(*scene.scene, {eye});
    if (area.pieces.empty()) continue;
    CastOptions options;
    options.inside_policy = eye.policy;
    for (int k = 0; k < 8; ++k) {
      const Vec2 direction = RandomDirection(random);
      const AreaPiece* const piece = PieceAt(area, eye, direction);
      if (piece == nullptr) continue;
      const double length = std::hypot(direction.x, direction.y);
      const CastAnswers cast =
          CastOne(*scene.scene, carom::Ray{eye.eye, direction, 0, eye.range / length}, options);
      ++asked;
      if (cast.hits.empty()) {
        EXPECT_EQ(piece->kind, AreaPieceKind::kArc);
      } else {
        EXPECT_EQ(piece->kind, AreaPieceKind::kEdge);
        EXPECT_EQ(piece->polygon_id, cast.hits[0].polygon_id);
        EXPECT_EQ(piece->edge, cast.hits[0].edge);
      }
    }
  }
  EXPECT_GT(asked, 4000);
}

// By the crossing number of the boundary, with arcs as chords of small steps.
double DistanceInArea(const AreaAnswers& area, const EyeCase& eye, Vec2 q) {
  const Vec2 direction{q.x - eye.eye.x, q.y - eye.eye.y};
  const AreaPiece* const piece = PieceAt(area, eye, direction);
  if (piece == nullptr) return NAN;
  const double length = std::hypot(direction.x, direction.y);
  if (piece->kind != AreaPieceKind::kEdge) return eye.range - length;
  const auto index = static_cast<size_t>(piece - area.pieces.data());
  const Vec2 a = piece->start, b = area.pieces[(index + 1) % area.pieces.size()].start;
  const Vec2 along{b.x - a.x, b.y - a.y};
  const double k = direction.x * along.y - direction.y * along.x;
  const double c = (a.x - eye.eye.x) * along.y - (a.y - eye.eye.y) * along.x;
  return (c / k - 1) * length;
}

TEST(AreaLawTest, APointIsInTheAreaExactlyIfItIsSeen) {
  Random random(4312);
  int asked = 0;
  for (int i = 0; i < Repeats(3000, 100000) && !HasFailure(); i += 2) {
    auto [scene, eye] = RandomCase(random, i);
    eye.policy = InsidePolicy::kReportStart;
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers area = AreasOf(*scene.scene, {eye});
    if (area.pieces.empty()) continue;
    for (int k = 0; k < 8; ++k) {
      const double r = eye.range * random.Unit();
      const Vec2 d = RandomDirection(random);
      const Vec2 q{eye.eye.x + r * d.x, eye.eye.y + r * d.y};
      const double inside = DistanceInArea(area, eye, q);
      if (!(std::abs(inside) > 1e-9)) continue;
      SightAnswers sight;
      WorkMeter meter;
      TestLinesOfSight(*scene.scene, {{&eye.eye.x, 1}, {&eye.eye.y, 1}, {&q.x, 1}, {&q.y, 1}}, {},
                       sight, meter);
      EXPECT_EQ(sight.visible[0] != 0, inside > 0) << q.x << " " << q.y;
      ++asked;
    }
  }
  EXPECT_GT(asked, 2000);
}

TEST(AreaLawTest, MoreRangeAddsAndMoreWallsTakeAway) {
  Random random(4313);
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    auto [scene, eye] = RandomCase(random, i);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    EyeCase far = eye;
    far.range *= 1 + random.Unit();
    const AreaAnswers area = AreasOf(*scene.scene, {eye, far});
    const double slack = far.range * far.range * 0x1p-48;
    EXPECT_LE(area.areas[0], area.areas[1] + slack);
    std::vector<PolygonSpec> fewer = scene.specs;
    fewer.pop_back();
    EXPECT_GE(AreasOf(*MakeScene(fewer).scene, {eye}).areas[0], area.areas[0] - slack);
  }
}

TEST(AreaLawTest, SectorsMakeUpTheWhole) {
  Random random(4314);
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    auto [scene, eye] = RandomCase(random, i);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const double a = random.Below(4) == 0 ? 0 : 6 * random.Unit(), b = a + 6.2 * random.Unit();
    const double whole = AreasOf(*scene.scene, {eye}).areas[0];
    eye.sector = {a, b};
    double parts = AreasOf(*scene.scene, {eye}).areas[0];
    eye.sector = {b, a + 0x1.921fb54442d18p+2};
    parts += AreasOf(*scene.scene, {eye}).areas[0];
    EXPECT_NEAR(parts, whole, 1e-12 * eye.range * eye.range);
  }
}

// The order of polygons changes no byte; another start of the rings, another winding and repeated
// vertices change edge numbers alone.
TEST(AreaLawTest, TheFormOfPolygonsChangesNothing) {
  Random random(4315);
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    auto [scene, eye] = RandomCase(random, i);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers want = AreasOf(*scene.scene, {eye});
    std::vector<PolygonSpec> specs = scene.specs;
    std::reverse(specs.begin(), specs.end());
    const AreaAnswers reordered = AreasOf(*MakeScene(specs).scene, {eye});
    EXPECT_EQ(reordered.pieces, want.pieces);
    EXPECT_EQ(reordered.areas, want.areas);
    for (PolygonSpec& spec : specs) {
      for (RingSpec& ring : spec.rings) {
        std::reverse(ring.vertices.begin(), ring.vertices.end());
        if (!ring.open)
          std::rotate(ring.vertices.begin(), ring.vertices.begin() + 1, ring.vertices.end());
        ring.vertices.insert(ring.vertices.begin(), ring.vertices[0]);
      }
    }
    const AreaAnswers other = AreasOf(*MakeScene(specs).scene, {eye});
    EXPECT_EQ(other.starts_inside, want.starts_inside);
    EXPECT_NEAR(other.areas[0], want.areas[0], 0x1p-48 * eye.range * eye.range);
    // Coincident edges of one polygon may change places in the order of edges, and with them the
    // places where pieces begin.
    ASSERT_FALSE(want.pieces.empty() != other.pieces.empty());
  }
}

// Squares, triangles and walls in the cells of a grid, some of which touch, and four walls about a
// room in which there may be more: most polygons are behind others.
std::vector<PolygonSpec> Thicket(Random& random) {
  const int side = 4 + random.Below(20), percent = 15 + random.Below(40);
  std::vector<PolygonSpec> specs;
  const auto add = [&](const std::vector<Vec2>& vertices) {
    PolygonSpec& spec = specs.emplace_back();
    spec.id = specs.size();
    spec.rings.push_back({vertices, false});
  };
  for (int i = 0; i < side * side; ++i) {
    if (random.Below(100) >= percent) continue;
    const double x = 4 * (i % side), y = 4 * (i / side);
    std::vector<Vec2> vertices{{x, y}, {x + 2 + random.Below(3), y + random.Below(2)}};
    for (int more = random.Below(3); more > 0; --more) {
      vertices.push_back({x + 4 * random.Unit(), y + 1 + random.Below(4)});
    }
    add(vertices);
  }
  const double low = random.Below(40), high = low + 4 + random.Below(40);
  const Vec2 corners[] = {{low, low}, {high, low}, {high, high}, {low, high}};
  for (int i = 0; i < 4; ++i) add({corners[i], corners[(i + 1) % 4]});
  return specs;
}

// Eyes leave out what is beyond a distance, or behind an edge; what they leave out changes no byte.
TEST(AreaLawTest, PolygonsWithoutAPieceChangeNothing) {
  Random random(4318);
  int enclosed = 0, hidden = 0;
  for (int i = 0; i < Repeats(1000, 50000) && !HasFailure(); ++i) {
    const std::vector<PolygonSpec> specs = Thicket(random);
    const EyeCase eye{{80 * random.Unit(), 80 * random.Unit()}, std::exp2(8 * random.Unit())};
    const TestScene scene = MakeScene(specs);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers want = AreasOf(*scene.scene, {eye});
    if (want.starts_inside[0] != 0) continue;
    std::vector<PolygonSpec> seen;
    std::ranges::copy_if(specs, std::back_inserter(seen), [&](const PolygonSpec& spec) {
      return std::ranges::any_of(want.pieces, [&](const AreaPiece& piece) {
        return piece.kind == AreaPieceKind::kEdge && piece.polygon_id == spec.id;
      });
    });
    enclosed += std::ranges::none_of(
        want.pieces, [](const AreaPiece& piece) { return piece.kind == AreaPieceKind::kArc; });
    hidden += seen.size() < specs.size() / 2;
    const AreaAnswers got = AreasOf(*MakeScene(seen).scene, {eye});
    EXPECT_EQ(got.pieces, want.pieces);
    EXPECT_EQ(got.areas, want.areas);
  }
  EXPECT_GT(enclosed, 20);
  EXPECT_GT(hidden, 300);
}

// An eye looks for polygons part by part, and at all bodies at once: the answers are equal.
TEST(AreaLawTest, PolygonsBlockAsBodiesDo) {
  Random random(4319);
  const Scene::Ptr empty = Scene::Create({}).value();
  for (int i = 0; i < Repeats(500, 20000) && !HasFailure(); ++i) {
    const std::vector<PolygonSpec> specs = Thicket(random);
    EyeCase eye{{80 * random.Unit(), 80 * random.Unit()}, std::exp2(8 * random.Unit())};
    if (i % 2 == 0) eye.policy = InsidePolicy::kIgnore;
    if (i % 3 == 0) eye.sector = {i, i + 4 * random.Unit() + 0.1};
    const TestScene scene = MakeScene(specs);
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    std::vector<Shape> shapes;
    for (const PolygonSpec& spec : specs) shapes.emplace_back(Polygon::Create(spec).value());
    const std::vector<double> zeros(shapes.size(), 0);
    const Bodies bodies = Bodies::Create({{shapes, {}, zeros, zeros}}).value();
    AreaAnswers want = AreasOf(World(*empty, &bodies), {eye}, {.against = Against::kBodies});
    for (AreaPiece& piece : want.pieces) {
      if (piece.kind == AreaPieceKind::kEdge) ++piece.polygon_id;  // ids count from 1
      piece.is_body = false;
    }
    const AreaAnswers got = AreasOf(*scene.scene, {eye});
    EXPECT_EQ(got.pieces, want.pieces);
    EXPECT_EQ(got.areas, want.areas);
  }
}

TEST(AreaLawTest, ScaleAndPositionChangeNothingElse) {
  Random random(4316);
  for (int i = 0; i < Repeats(1500, 50000) && !HasFailure(); ++i) {
    Grid grid{4 + random.Below(6)};
    grid.percent_off = 0;
    const TestScene scene = RandomScene(random, grid);
    EyeCase eye{grid.Point(random), 1.0 + random.Below(9)};
    eye.policy = i % 2 == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
    SCOPED_TRACE(scene.ToCode() + eye.ToCode());
    const AreaAnswers want = AreasOf(*scene.scene, {eye});
    const double scale = std::ldexp(1, random.Below(120) - 80);
    const Vec2 by{random.Below(2) * 4096.0, random.Below(2) * -1024.0};
    std::vector<PolygonSpec> scaled = scene.specs, moved = scene.specs;
    for (size_t k = 0; k < scaled.size(); ++k) {
      for (size_t r = 0; r < scaled[k].rings.size(); ++r) {
        for (Vec2& v : scaled[k].rings[r].vertices) v = {v.x * scale, v.y * scale};
        for (Vec2& v : moved[k].rings[r].vertices) v = {v.x + by.x, v.y + by.y};
      }
    }
    EyeCase small = eye, there = eye;
    small.eye = {eye.eye.x * scale, eye.eye.y * scale};
    small.range *= scale;
    there.eye = {eye.eye.x + by.x, eye.eye.y + by.y};
    const AreaAnswers at_scale = AreasOf(*MakeScene(scaled).scene, {small});
    const AreaAnswers elsewhere = AreasOf(*MakeScene(moved).scene, {there});
    EXPECT_EQ(at_scale.areas[0], want.areas[0] * scale * scale);
    EXPECT_EQ(elsewhere.areas, want.areas);
    ASSERT_EQ(at_scale.pieces.size(), want.pieces.size());
    ASSERT_EQ(elsewhere.pieces.size(), want.pieces.size());
    for (size_t k = 0; k < want.pieces.size(); ++k) {
      const AreaPiece& piece = want.pieces[k];
      EXPECT_EQ(at_scale.pieces[k].start, (Vec2{piece.start.x * scale, piece.start.y * scale}));
      EXPECT_EQ(elsewhere.pieces[k].edge, piece.edge);
      EXPECT_EQ(elsewhere.pieces[k].kind, piece.kind);
      EXPECT_NEAR(elsewhere.pieces[k].start.x, piece.start.x + by.x, 0x1p-38);
    }
  }
}

TEST(AreaLawTest, AnAnswerDoesNotDependOnTheOthers) {
  Random random(4317);
  for (int i = 0; i < Repeats(300, 10000) && !HasFailure(); ++i) {
    const auto [scene, eye] = RandomCase(random, i);
    std::vector<EyeCase> eyes(3, eye);
    for (EyeCase& other : eyes) other.eye = Grid{12, 0.5, 10}.Point(random);
    const AreaAnswers together = AreasOf(*scene.scene, eyes);
    std::vector<AreaPiece> alone;
    for (const EyeCase& one : eyes) {
      const AreaAnswers answer = AreasOf(*scene.scene, {one});
      alone.insert(alone.end(), answer.pieces.begin(), answer.pieces.end());
    }
    EXPECT_EQ(together.pieces, alone);
  }
}

}  // namespace
}  // namespace carom::testing::area_law_test
