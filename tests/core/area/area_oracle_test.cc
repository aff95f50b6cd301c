// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Areas of sight against an oracle in rationals: the exact sequence of pieces and their edges, the
// starts, and the size.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "carom/area.h"
#include "carom/bodies.h"
#include "carom/sincos.h"
#include "tests/core/random_scene.h"
#include "tests/support/nasty.h"
#include "tests/support/oracle_area.h"
#include "tests/support/repeats.h"

namespace carom::testing::area_oracle_test {
namespace {

struct Eye {
  Vec2 at;
  double range = 1;
  bool has_sector = false;
  double from = 0, to = 0;
  InsidePolicy inside = InsidePolicy::kReportStart;
};

std::string ToCode(const Eye& eye) {
  return absl::StrFormat("Eye{{%a, %a}, %a, %d, %a, %a, InsidePolicy(%d)}", eye.at.x, eye.at.y,
                         eye.range, eye.has_sector, eye.from, eye.to, static_cast<int>(eye.inside));
}

AreaAnswers Find(const World& world, const Eye& eye, Against against = Against::kScene) {
  AreaColumns columns{{&eye.at.x, 1}, {&eye.at.y, 1}, {&eye.range, 1}};
  if (eye.has_sector) {
    columns.from = {&eye.from, 1};
    columns.to = {&eye.to, 1};
  }
  columns.scope.against = against;
  AreaOptions options;
  options.inside_policy = eye.inside;
  options.max_rows = 65536;
  AreaAnswers answers;
  WorkMeter meter;
  EXPECT_TRUE(FindAreas(world, columns, options, answers, meter));
  return answers;
}

OracleEye ToOracle(const Eye& eye) {
  OracleEye result;
  result.at = {eye.at.x, eye.at.y};
  result.range = eye.range;
  if (eye.has_sector) {
    const CosSin from = SinCos(eye.from), to = SinCos(eye.to);
    result.sector = OracleSector{{from.c, from.s}, {to.c, to.s}};
  }
  result.inside =
      eye.inside == InsidePolicy::kIgnore ? OracleInside::kIgnore : OracleInside::kReportStart;
  return result;
}

std::string NameOf(OracleAreaKind kind, bool is_body, const OracleEdge& edge) {
  if (kind == OracleAreaKind::kArc) return "arc";
  if (kind == OracleAreaKind::kSight) return "sight";
  return absl::StrCat(is_body ? "body " : "", edge.polygon, ":", edge.ring, ":", edge.edge);
}

std::vector<std::string> NamesOf(const OracleArea& area) {
  std::vector<std::string> names;
  for (const OracleAreaPiece& piece : area.pieces) {
    names.push_back(NameOf(piece.kind, piece.is_body, piece.edge));
  }
  return names;
}

std::vector<std::string> NamesOf(const AreaAnswers& area) {
  constexpr OracleAreaKind kKinds[] = {OracleAreaKind::kEdge, OracleAreaKind::kArc,
                                       OracleAreaKind::kSight};
  std::vector<std::string> names;
  for (const AreaPiece& piece : area.pieces) {
    names.push_back(NameOf(kKinds[static_cast<size_t>(piece.kind)], piece.is_body,
                           {piece.polygon_id, piece.edge.ring, piece.edge.edge}));
  }
  return names;
}

double Magnitude(double a, const Rational& b) {
  return std::max(std::abs(a), std::abs(NearestDouble(b)));
}

// How far the starts are from the exact ones.
struct Measured {
  int starts = 0;
  int beyond_two = 0;     // starts that are more than 2 ulp off in a coordinate
  int turned_back = 0;    // pairs of starts that turn clockwise though the exact ones do not
  double worst_area = 0;  // error of the size, in ulp of the square of the largest coordinate

  void operator+=(const Measured& other) {
    starts += other.starts;
    beyond_two += other.beyond_two;
    turned_back += other.turned_back;
    worst_area = std::max(worst_area, other.worst_area);
  }
};

RationalXy ExactOf(Vec2 p) { return Exact(Xy{p.x, p.y}); }

Measured MeasureStarts(const Eye& eye, const AreaAnswers& got, const OracleArea& want) {
  Measured measured;
  const Vec2 at{Flushed(eye.at.x), Flushed(eye.at.y)};
  for (size_t i = 0; i < want.pieces.size(); ++i) {
    const RationalXy& exact = want.pieces[i].start;
    const Vec2 start = got.pieces[i].start;
    double largest = std::max(std::abs(at.x), std::abs(at.y));
    largest = std::max({largest, Magnitude(0, exact.x), Magnitude(0, exact.y)});
    const Rational ulp = Exact(Ulp(largest));
    const RationalXy error = ExactOf(start) - exact;
    const Rational off = std::max(abs(error.x), abs(error.y));
    EXPECT_LE(off, 4 * ulp) << "start " << i;
    EXPECT_TRUE(!want.pieces[i].is_vertex || IsZero(error)) << "vertex " << i;
    ++measured.starts;
    measured.beyond_two += off > 2 * ulp ? 1 : 0;
    if (i == 0) continue;
    // A start at the eye has no direction.
    const RationalXy eye_at = ExactOf(at);
    const RationalXy u = ExactOf(got.pieces[i - 1].start) - eye_at, v = ExactOf(start) - eye_at;
    const RationalXy exact_u = want.pieces[i - 1].start - eye_at, exact_v = exact - eye_at;
    const bool is_ahead = Sign(Cross(exact_u, exact_v)) > 0 ||
                          (Sign(Cross(exact_u, exact_v)) == 0 && Sign(Dot(exact_u, exact_v)) > 0);
    measured.turned_back += is_ahead && Sign(Cross(u, v)) < 0 ? 1 : 0;
  }
  return measured;
}

// Compares one area with the oracle's.
Measured Compare(const Eye& eye, const AreaAnswers& got, const OracleArea& want) {
  EXPECT_TRUE(got.errors.empty());
  if (!got.errors.empty()) return {};
  EXPECT_EQ(got.counts, (std::vector<uint32_t>{static_cast<uint32_t>(want.pieces.size())}));
  EXPECT_EQ(got.starts_inside, (std::vector<uint8_t>{want.starts_inside}));
  EXPECT_EQ(NamesOf(got), NamesOf(want));
  if (::testing::Test::HasFailure()) return {};
  Measured measured = MeasureStarts(eye, got, want);
  const Rational largest =
      std::max({abs(Exact(eye.at.x)), abs(Exact(eye.at.y))}) + Exact(eye.range);
  const double unit = Ulp(NearestDouble(largest * largest));
  const Rational error = abs(Exact(got.areas[0]) - want.area) / Exact(unit);
  measured.worst_area = NearestDouble(error);
  EXPECT_LE(measured.worst_area, 16) << "area " << got.areas[0];
  return measured;
}

// The edges of bodies, as shapes whose ids are the indices of the bodies.
std::vector<OracleShape> ShapesOf(const std::vector<PolygonSpec>& specs) {
  std::vector<OracleShape> shapes;
  for (const PolygonSpec& spec : specs) shapes.emplace_back(carom::testing::ToOracle(spec));
  return shapes;
}

// On a lattice of whole numbers, half numbers or tenths, where points, walls and circles coincide.
struct Lattice {
  int size = 6;
  double scale = 1;

  Vec2 Point(Random& random) const {
    const double x = Number(random);
    return {x, Number(random)};
  }
  double Number(Random& random) const { return scale * random.Below(2 * size) / 2; }
};

Eye RandomEye(Random& random, const Lattice& lattice) {
  Eye eye;
  eye.at = lattice.Point(random);
  // 5 is the length of (3, 4); 1.25, 2.5 and 6.5 are those of others.
  constexpr double kRanges[] = {1, 2, 2.5, 3, 5, 6.5, 1.25, 20};
  eye.range = lattice.scale * kRanges[random.Below(8)];
  eye.inside = random.Below(2) == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
  if (random.Below(3) != 0) return eye;
  eye.has_sector = true;
  constexpr double kAngles[] = {0,
                                1.5707963267948966,
                                3.141592653589793,
                                -1.5707963267948966,
                                0.7853981633974483,
                                -2,
                                0.4636476090008061,
                                2.5};
  eye.from = kAngles[random.Below(8)];
  constexpr double kWidths[] = {1.5707963267948966,
                                3.141592653589793,
                                0.5,
                                0.7853981633974483,
                                4.71238898038469,
                                6,
                                6.283185307179586,
                                0.01};
  eye.to = eye.from + kWidths[random.Below(8)];
  if (eye.to - eye.from >= 6.283185307179586) eye.has_sector = false;
  return eye;
}

std::vector<PolygonSpec> RandomWalls(Random& random, const Grid& grid, int most) {
  std::vector<PolygonSpec> specs;
  const int count = 1 + random.Below(most);
  for (int i = 0; i < count; ++i) {
    PolygonSpec spec = RandomPolygon(random, grid, static_cast<uint64_t>(3 * (most - i)));
    if (random.Below(3) == 0)
      spec.solidity = Solidity::kBoundary;  // hollow: eyes are between walls
    if (spec.solidity == Solidity::kSolid) {
      for (RingSpec& ring : spec.rings) ring.open = false;
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

TEST(AreaOracleTest, OnLatticesEverythingCoincides) {
  Random random(4301);
  Measured all;
  int edges = 0, sectors = 0, ignored = 0;
  for (int i = 0; i < Repeats(400, 20000) && !HasFailure(); ++i) {
    Lattice lattice{3 + random.Below(5), i % 3 == 0 ? 0.1 : 1};
    const Grid grid{lattice.size, lattice.scale, i % 5 == 0 ? 15 : 0};
    const TestScene scene = MakeScene(RandomWalls(random, grid, 4));
    const Eye eye = RandomEye(random, lattice);
    SCOPED_TRACE(scene.ToCode() + ToCode(eye));
    const AreaAnswers got = Find(*scene.scene, eye);
    const OracleArea want = SeenArea(scene.oracle.shapes(), {}, ToOracle(eye));
    all += Compare(eye, got, want);
    for (const OracleAreaPiece& piece : want.pieces) edges += piece.kind == OracleAreaKind::kEdge;
    sectors += eye.has_sector && !want.pieces.empty();
    ignored += want.starts_inside && eye.inside == InsidePolicy::kIgnore;
  }
  std::printf(
      "starts %d, beyond 2 ulp %d, turned back %d, area off by %.3g ulp; edges %d, sectors "
      "%d, eyes inside that see %d\n",
      all.starts, all.beyond_two, all.turned_back, all.worst_area, edges, sectors, ignored);
  EXPECT_GT(edges, 300);
  EXPECT_GT(sectors, 50);
  EXPECT_GT(ignored, 50);
}

TEST(AreaOracleTest, BodiesBlockAsPolygonsDo) {
  Random random(4302);
  int of_bodies = 0;
  for (int i = 0; i < Repeats(120, 5000) && !HasFailure(); ++i) {
    const Lattice lattice{3 + random.Below(4)};
    const Grid grid{lattice.size, 1, 0};
    const TestScene scene = MakeScene(RandomWalls(random, grid, 3));
    std::vector<PolygonSpec> specs = RandomWalls(random, grid, 3);
    std::vector<Shape> shapes;
    for (size_t k = 0; k < specs.size(); ++k) {
      specs[k].id = k;
      shapes.emplace_back(Polygon::Create(specs[k]).value());
    }
    const std::vector<double> zeros(shapes.size(), 0);
    const Bodies bodies = Bodies::Create({{shapes, {}, zeros, zeros}}).value();
    const Eye eye = RandomEye(random, lattice);
    std::string code = scene.ToCode() + "bodies\n";
    for (const PolygonSpec& spec : specs) code += carom::testing::ToCode(spec);
    SCOPED_TRACE(code + ToCode(eye));
    const World world(*scene.scene, &bodies);
    const OracleArea both = SeenArea(scene.oracle.shapes(), ShapesOf(specs), ToOracle(eye));
    Compare(eye, Find(world, eye, Against::kBoth), both);
    Compare(eye, Find(world, eye, Against::kBodies), SeenArea({}, ShapesOf(specs), ToOracle(eye)));
    for (const OracleAreaPiece& piece : both.pieces) of_bodies += piece.is_body;
  }
  EXPECT_GT(of_bodies, 50);
}

// Places of the awkward questions of the open pack: on vertices, on edges, one ulp beside them.
std::vector<Vec2> NastyPlaces(const TestScene& scene, uint64_t seed, int count) {
  std::vector<OraclePolygon> polygons;
  for (const PolygonSpec& spec : scene.specs) polygons.push_back(carom::testing::ToOracle(spec));
  std::vector<Vec2> places;
  for (const Query& query : NastyQueries(polygons, seed, count)) {
    if (query.op != QueryOp::kPolygon) places.push_back({query.a.x, query.a.y});
  }
  return places;
}

TEST(AreaOracleTest, AtTheAwkwardPlacesOfTheOpenPack) {
  Random random(4303);
  Measured all;
  for (int i = 0; i < Repeats(20, 800) && !HasFailure(); ++i) {
    const Grid grid{4 + random.Below(4), i % 2 == 0 ? 1 : 0.1, i % 3 == 0 ? 20 : 0};
    const TestScene scene = MakeScene(RandomWalls(random, grid, 4));
    for (const Vec2 at : NastyPlaces(scene, random.Next(), 10)) {
      Eye eye{at, grid.scale * (1 + random.Below(12)) / 2};
      eye.inside = random.Below(2) == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
      SCOPED_TRACE(scene.ToCode() + ToCode(eye));
      all +=
          Compare(eye, Find(*scene.scene, eye), SeenArea(scene.oracle.shapes(), {}, ToOracle(eye)));
      if (HasFailure()) break;
    }
  }
  std::printf("starts %d, beyond 2 ulp %d, turned back %d, area off by %.3g ulp\n", all.starts,
              all.beyond_two, all.turned_back, all.worst_area);
}

// A point at which an eye in a polygon begins or ceases to see the inside of an edge may be exact,
// as the vertex (2, 1) is here: it stays, and its neighbours make room.
TEST(AreaOracleTest, ExactStartsStay) {
  const PolygonSpec walls{12,
                          {{{{1, 1}, {2, 1}, {1, 3}, {1, 0}}, false},
                           {{{3, 1}, {1, 1}, {1, 0}, {0, 1}}, false},
                           {{{1, 3}, {3, 2}, {0, 2}, {2, 0}, {1, 3}, {2, 0}}, false}},
                          FillRule::kNonZero,
                          Solidity::kSolid};
  const TestScene scene = MakeScene({walls});
  const Eye eye{{1, 1.5}, 3, false, 0, 0, InsidePolicy::kIgnore};
  Compare(eye, Find(*scene.scene, eye), SeenArea(scene.oracle.shapes(), {}, ToOracle(eye)));
}

// The eye sees the body's inner edge x = 1 up to the direction (-1, 0), in which a wall enters the
// circle of the range: a direction with a root.
TEST(AreaOracleTest, AnInnerEdgeEndsWhereAnotherEdgeEntersTheRange) {
  const PolygonSpec outlines{
      9,
      {{{{2, 1}, {0, 2}}, true}, {{{2, 1}, {2, 2}, {0, 2}, {1, 0}, {0, 0}, {0, 2}}, false}},
      FillRule::kEvenOdd,
      Solidity::kBoundary};
  const PolygonSpec wall{6, {{{{2, 1}, {1, 0}}, false}}, FillRule::kEvenOdd, Solidity::kBoundary};
  const PolygonSpec body{0,
                         {{{{2, 1}, {2, 2}, {0, 0}, {1, 0}, {1, 2}, {0, 2}, {0, 0}}, false}},
                         FillRule::kNonZero,
                         Solidity::kSolid};
  const TestScene scene = MakeScene({outlines, wall});
  const std::vector<Shape> shapes{Polygon::Create(body).value()};
  const std::vector<double> zero(1, 0);
  const Bodies bodies = Bodies::Create({{shapes, {}, zero, zero}}).value();
  const Eye eye{{1.5, 1}, 1, false, 0, 0, InsidePolicy::kIgnore};
  Compare(eye, Find(World(*scene.scene, &bodies), eye, Against::kBoth),
          SeenArea(scene.oracle.shapes(), ShapesOf({body}), ToOracle(eye)));
}

// Numbers from all over the accepted range, and its ends.
TEST(AreaOracleTest, NumbersOfAllMagnitudes) {
  Random random(4304);
  Measured all;
  int seen = 0;
  for (int i = 0; i < Repeats(150, 5000) && !HasFailure(); ++i) {
    Grid grid;
    grid.mixed = true;
    const TestScene scene = MakeScene(RandomWalls(random, grid, 3));
    Eye eye{grid.Point(random), std::abs(Grid::MixedCoordinate(random))};
    eye.inside = random.Below(2) == 0 ? InsidePolicy::kIgnore : InsidePolicy::kReportStart;
    SCOPED_TRACE(scene.ToCode() + ToCode(eye));
    const AreaAnswers got = Find(*scene.scene, eye);
    if (!got.errors.empty()) continue;  // a range of 0, or a disc beyond 2^53
    const OracleArea want = SeenArea(scene.oracle.shapes(), {}, ToOracle(eye));
    all += Compare(eye, got, want);
    seen += want.pieces.empty() ? 0 : 1;
  }
  std::printf("starts %d, beyond 2 ulp %d, turned back %d, area off by %.3g ulp\n", all.starts,
              all.beyond_two, all.turned_back, all.worst_area);
  EXPECT_GT(seen, 30);
}

}  // namespace
}  // namespace carom::testing::area_oracle_test
