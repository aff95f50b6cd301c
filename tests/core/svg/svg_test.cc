// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Pictures: each is well-formed and made of numbers, whatever is drawn; each kind of question is
// drawn in the place and in the class that its answer gives it.

#include "carom/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/sincos.h"
#include "tests/core/svg/xml_reader.h"
#include "tests/support/group_case.h"
#include "tests/support/repeats.h"

namespace carom::testing::svg_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void ExpectWellFormed(const std::string& picture) {
  EXPECT_TRUE(XmlReader(picture).IsDocument()) << picture;
  EXPECT_THAT(picture, Not(HasSubstr("nan")));
  EXPECT_THAT(picture, Not(HasSubstr("inf")));
}

// The data of the paths of a class, in their order.
std::vector<std::string> PathsOf(const std::string& picture, const std::string& style) {
  std::vector<std::string> paths;
  const std::string begin = absl::StrCat("<path class=\"", style, "\" d=\"");
  for (size_t at = 0; (at = picture.find(begin, at)) != std::string::npos;) {
    at += begin.size();
    paths.push_back(picture.substr(at, picture.find('"', at) - at));
  }
  return paths;
}

// The only path of a class; empty if there is none.
std::string PathOf(const std::string& picture, const std::string& style) {
  const std::vector<std::string> paths = PathsOf(picture, style);
  EXPECT_LE(paths.size(), 1u) << style;
  return paths.empty() ? "" : paths[0];
}

// The numbers in the data of a path.
std::vector<double> NumbersOf(const std::string& data) {
  std::vector<double> numbers;
  for (const char* at = data.c_str(); *at != '\0';) {
    char* end = nullptr;
    const double number = std::strtod(at, &end);
    if (end == at) {
      ++at;
    } else {
      numbers.push_back(number);
      at = end;
    }
  }
  return numbers;
}

// --- What is drawn

PolygonSpec Rectangle(uint64_t id, Vec2 min, Vec2 max) {
  return {id, {{{min, {max.x, min.y}, max, {min.x, max.y}}}}};
}

Scene::Ptr SceneOf(const std::vector<PolygonSpec>& specs) {
  std::vector<Polygon> polygons;
  for (const PolygonSpec& spec : specs) polygons.push_back(Polygon::Create(spec).value());
  return Scene::Create(std::move(polygons)).value();
}

Shape Disc(double radius) { return Shape::Create(Capsule{{{0, 0}, {0, 0}}, radius}).value(); }

// The square from (0, 0) to (4, 4) in a picture of 832 pixels: 16 pixels around the map. With a
// question from x = -2 to 6 and within the heights of the square, 100 pixels are one unit, and
// (x, y) is at (216 + 100 x, 416 - 100 y).
class SvgTest : public ::testing::Test {
 protected:
  std::string Draw(const Group& group) {
    GroupAnswers answers;
    WorkMeter meter;
    const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
    EXPECT_TRUE(status.ok()) << status;
    std::string picture = DrawSvg(*scene, &group, &answers, {.width = 832});
    ExpectWellFormed(picture);
    EXPECT_EQ(picture, DrawSvg(*scene, &group, &answers, {.width = 832}));
    return picture;
  }
  std::string DrawAsked(const Group& group) {
    std::string picture = DrawSvg(*scene, &group, nullptr, {.width = 832});
    ExpectWellFormed(picture);
    return picture;
  }

  const Scene::Ptr scene = SceneOf({Rectangle(7, {0, 0}, {4, 4})});
  const std::vector<Shape> shapes = {Disc(1)};
};

TEST_F(SvgTest, OfASceneHasAPathForEachPolygon) {
  PolygonSpec star{2, {{{{10, 0}, {12, 6}, {14, 0}, {9, 4}, {15, 4}}}}};
  star.fill_rule = FillRule::kNonZero;
  PolygonSpec chain{3, {{{{0, 9}, {5, 8}, {9, 9}}, true}}};
  chain.solidity = Solidity::kBoundary;
  PolygonSpec holed = Rectangle(4, {20, 0}, {24, 4});
  holed.rings.push_back({{{21, 1}, {23, 1}, {23, 3}}});
  const Scene::Ptr all = SceneOf({Rectangle(1, {0, 0}, {4, 4}), star, chain, holed});
  const std::string picture = DrawSvg(*all, nullptr, nullptr);
  ExpectWellFormed(picture);
  EXPECT_EQ(PathsOf(picture, "even").size(), 2u);
  EXPECT_EQ(PathsOf(picture, "nonzero").size(), 1u);
  // An open chain is not closed, and each ring of the others is.
  EXPECT_EQ(std::ranges::count(PathOf(picture, "hollow"), 'Z'), 0);
  EXPECT_EQ(std::ranges::count(PathsOf(picture, "even")[1], 'Z'), 2);
  EXPECT_THAT(picture, HasSubstr("viewBox=\"0 0 1024 "));
  EXPECT_THAT(picture, HasSubstr(" width=\"1024\" height=\""));
}

TEST_F(SvgTest, HasTheWidthOfTheOptionsInTheirRange) {
  for (const auto& [given, width] : std::vector<std::pair<uint32_t, uint32_t>>{
           {0, 64}, {64, 64}, {65, 65}, {16384, 16384}, {4294967295, 16384}}) {
    const std::string picture = DrawSvg(*scene, nullptr, nullptr, {.width = given});
    // A square fills the width of the picture.
    EXPECT_THAT(picture, HasSubstr(absl::StrCat(" width=\"", width, "\" height=\"", width, "\">")));
  }
}

TEST_F(SvgTest, OfAnEmptySceneIsADocument) {
  const Scene::Ptr nothing = SceneOf({});
  const std::string empty = DrawSvg(*nothing, nullptr, nullptr, {.width = 100});
  ExpectWellFormed(empty);
  EXPECT_THAT(empty, HasSubstr("viewBox=\"0 0 100 100\""));
  Group group;
  GroupAnswers answers;
  EXPECT_EQ(PathOf(DrawSvg(*nothing, &group, &answers), "hit"), "");
  const double zero[] = {0}, one[] = {1};
  group.rays = {zero, zero, one, one};
  const std::string ray = DrawSvg(*nothing, &group, nullptr, {.width = 100});
  ExpectWellFormed(ray);
  EXPECT_EQ(PathOf(ray, "asked"), "M50 50L84 16");
}

TEST_F(SvgTest, OfSegmentsHasTheirHits) {
  const double ax[] = {-2, -2}, ay[] = {1, 3}, bx[] = {6, -1}, by[] = {1, 4};
  Group group;
  group.segments = {ax, ay, bx, by};
  const std::string picture = Draw(group);
  EXPECT_EQ(PathOf(picture, "shot"), "M16 316L216 316");
  EXPECT_EQ(PathOf(picture, "beyond"), "M216 316L816 316");
  EXPECT_EQ(PathOf(picture, "hit"), "M216 316h0");
  EXPECT_EQ(PathOf(picture, "normal"), "M216 316L207 316");
  EXPECT_EQ(PathOf(picture, "near"), "M16 116L116 16");
  EXPECT_EQ(PathOf(DrawAsked(group), "asked"), "M16 316L816 316M16 116L116 16");
  // Without places of hits, the whole segment is one that hits.
  group.cast_options.mode = CastMode::kAny;
  EXPECT_EQ(PathOf(Draw(group), "shot"), "M16 316L816 316");
  // With the least detail, places follow from the fractions.
  group.cast_options = {.mode = CastMode::kAll, .detail = CastDetail::kFraction};
  EXPECT_EQ(PathOf(Draw(group), "hit"), "M216 316h0");
}

TEST_F(SvgTest, OfRaysEndsAtTheSidesOfThePicture) {
  const double x[] = {-2, 6, 6}, y[] = {1, 3, 0}, dx[] = {1, 1e-100, 0x1p53}, dy[] = {0, 1, 0x1p52};
  Group group;
  group.rays = {x, y, dx, dy};
  const std::string picture = Draw(group);
  EXPECT_THAT(picture, HasSubstr("viewBox=\"0 0 832 432\""));
  EXPECT_EQ(PathOf(picture, "shot"), "M16 316L216 316");
  EXPECT_EQ(PathOf(picture, "beyond"), "M216 316L816 316");
  EXPECT_EQ(PathOf(picture, "near"), "M816 116L816 16");  // the third one leaves at once
  const double t_max[] = {1, 0.5, 1};
  group.rays.t_max = t_max;
  EXPECT_EQ(PathOf(Draw(group), "near"), "M16 316L116 316M816 116L816 66");
}

TEST_F(SvgTest, OfArcsHasACurve) {
  // From (-2, 2) over (0, 4), the vertex of the square; the other one falls out of the picture.
  const double x[] = {-2, 6}, y[] = {2, 4}, vx[] = {1, 0}, vy[] = {1.5, 0}, ax[] = {0, 0};
  const double ay[] = {-0.5, -2}, duration[] = {9, 0x1p53};
  Group group;
  group.arcs = {x, y, vx, vy, ax, ay, duration};
  const std::string picture = Draw(group);
  const std::vector<double> hit = NumbersOf(PathOf(picture, "shot"));
  ASSERT_EQ(hit.size(), 2u * 49);
  EXPECT_EQ(hit[96], 216);
  EXPECT_EQ(hit[97], 16);
  const std::vector<double> miss = NumbersOf(PathOf(picture, "near"));
  ASSERT_EQ(miss.size(), 2u * 49);
  EXPECT_EQ(miss[97], 416);
  EXPECT_EQ(PathOf(picture, "hit"), "M216 16h0");
}

TEST_F(SvgTest, OfPointsHasDotsByTheirPlaces) {
  const double x[] = {1, 4, -2, 6}, y[] = {1, 2, 2, 2};
  Group group;
  group.points = {x, y};
  const std::string picture = Draw(group);
  EXPECT_EQ(PathOf(picture, "in"), "M316 316h0");
  EXPECT_EQ(PathOf(picture, "border"), "M616 216h0");
  EXPECT_EQ(PathOf(picture, "out"), "M16 216h0M816 216h0");
  EXPECT_EQ(NumbersOf(PathOf(DrawAsked(group), "dot")).size(), 12u);
}

TEST_F(SvgTest, OfOverlapsHasOutlinesByTheirVerdicts) {
  const std::vector<Polygon> polygons = {scene->polygon(0)};
  const double in[] = {2, 5.5}, y[] = {2, 2}, end[] = {3, 5.5}, radius[] = {0.5, 0.25};
  const double min_y[] = {1, 1};
  const uint32_t shape[] = {0, 0, 9};  // the last is an error
  const double x[] = {-6, 2, 0}, zero[] = {0, 0, 0}, turn[] = {0, 1, 0};
  Group group;
  group.circles = {in, y, radius};
  group.capsules = {in, y, end, y, radius};
  group.boxes = {in, min_y, end, y};
  group.polygons = {.shapes = polygons, .shape = shape, .x = x, .y = zero, .angle = turn};
  const std::string picture = Draw(group);
  // One circle, capsule, box and polygon each. Boxes are drawn as polygons.
  EXPECT_EQ(PathsOf(picture, "over").size(), 2u);
  EXPECT_EQ(PathsOf(picture, "over holes").size(), 2u);
  EXPECT_EQ(PathsOf(picture, "apart").size(), 2u);
  EXPECT_EQ(PathsOf(picture, "apart holes").size(), 2u);
  const std::string asked = DrawAsked(group);
  EXPECT_EQ(PathsOf(asked, "asked").size(), 4u);
  EXPECT_EQ(PathsOf(asked, "asked holes").size(), 4u);
}

// A half circle at each end, so that a disc is a whole one.
TEST_F(SvgTest, OfACapsuleIsMadeOfHalfCircles) {
  const double ax[] = {-1}, ay[] = {2}, bx[] = {5}, radius[] = {1}, thin[] = {0x1p-60};
  Group group;
  group.capsules = {ax, ay, bx, ay, radius};
  EXPECT_EQ(PathOf(Draw(group), "over"),
            "M116 116L716 116A100 100 0 0 1 716 316L116 316A100 100 0 0 1 116 116Z");
  group.capsules = {ax, ay, ax, ay, radius};
  const std::vector<double> disc = NumbersOf(PathOf(Draw(group), "over"));
  ASSERT_EQ(disc.size(), 20u);
  EXPECT_NEAR(disc[1] + 2 * disc[4], disc[10], 0.02);  // from the top to the bottom, and back
  EXPECT_EQ(disc[1], disc[19]);
  group.capsules = {ax, ay, bx, ay, thin};
  EXPECT_EQ(std::ranges::count(PathOf(Draw(group), "over"), 'A'), 0);
}

TEST_F(SvgTest, OfMoversHasWhatTheyMeet) {
  const double x[] = {-1, 6}, y[] = {2, 2};
  Group group;
  group.contacts.movers = {.shapes = shapes, .shape = {}, .x = x, .y = y};
  const uint32_t shape[] = {0, 0};
  group.contacts.movers.shape = shape;
  std::string picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "over").size(), 1u);
  EXPECT_EQ(PathsOf(picture, "apart").size(), 1u);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "hit"), 'M'), 1);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "normal"), 'M'), 1);
  group = {};
  group.distances.movers = {.shapes = shapes, .shape = shape, .x = x, .y = y};
  picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "over").size(), 1u);
  // From (5, 2) on the disc to (4, 2), where the picture reaches from -2 to 7.
  const std::vector<double> gap = NumbersOf(PathOf(picture, "gap"));
  ASSERT_EQ(gap.size(), 4u);
  EXPECT_NEAR(gap[0] - gap[2], 800.0 / 9, 0.02);
  EXPECT_EQ(gap[1], gap[3]);
}

TEST_F(SvgTest, OfDepenetrationsHasBothPlaces) {
  const double x[] = {3.5}, y[] = {2};
  Group group;
  group.depenetrations = {.shapes = shapes, .x = x, .y = y};
  const std::string picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "start").size(), 1u);
  EXPECT_EQ(PathsOf(picture, "end").size(), 1u);
  EXPECT_EQ(PathsOf(picture, "over").size(), 0u);
  const std::vector<double> path = NumbersOf(PathOf(picture, "path"));
  ASSERT_EQ(path.size(), 4u);
  EXPECT_NEAR(path[2] - path[0], 1.5 * 800 / 6, 0.02);  // to (5, 2); the map is 6 wide
}

TEST_F(SvgTest, OfSweepsHasTheShapeAtItsHit) {
  const uint32_t shape[] = {0, 0};
  const double x[] = {-1, 5}, y[] = {2, 1}, to_x[] = {2, 5}, to_y[] = {2, 3};
  Group group;
  group.sweeps.movers = {.shapes = shapes, .shape = shape, .x = x, .y = y};
  group.sweeps.to_x = to_x;
  group.sweeps.to_y = to_y;
  group.sweep_options.inside_policy = InsidePolicy::kIgnore;
  std::string picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "start").size(), 2u);
  EXPECT_EQ(PathsOf(picture, "end").size(), 2u);  // both touch the square at the start
  EXPECT_EQ(PathsOf(picture, "over").size(), 0u);
  group.sweep_options.inside_policy = InsidePolicy::kReportStart;
  picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "over").size(), 2u);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "beyond"), 'M'), 2);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "hit"), 'M'), 2);
  EXPECT_EQ(PathsOf(DrawAsked(group), "asked").size(), 2u);
}

// A bar that turns by a right angle while it falls onto the square: it is drawn as it is then.
TEST_F(SvgTest, OfRotatingSweepsHasTheTurnedShape) {
  const std::vector<Shape> bar = {Shape::Create(Capsule{{{-1, 0}, {1, 0}}, 0}).value()};
  const double x[] = {2}, y[] = {7}, to_y[] = {3}, to_angle[] = {std::acos(-1) / 2},
               near[] = {0.001};
  Group group;
  group.rotating_sweeps.movers = {.shapes = bar, .x = x, .y = y};
  group.rotating_sweeps.to_x = x;
  group.rotating_sweeps.to_y = to_y;
  group.rotating_sweeps.to_angle = to_angle;
  group.rotating_sweeps.tolerance = near;
  GroupAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
  ASSERT_EQ(answers.rotating_sweeps.hits.size(), 1u);
  const double at = answers.rotating_sweeps.hits[0].high;
  const CosSin turn = SinCos(at * to_angle[0]);
  const SvgFrame frame({{-0.625, 0}, {4.625, 7}}, 800, {16, 16, 16});
  const Vec2 left = frame({2 - turn.c, 7 - 4 * at - turn.s});
  const std::vector<double> drawn = NumbersOf(PathOf(Draw(group), "over"));
  ASSERT_EQ(drawn.size(), 4u);
  EXPECT_NEAR(drawn[0], left.x, 0.02);
  EXPECT_NEAR(drawn[1], left.y, 0.02);
}

TEST_F(SvgTest, OfSlidesHasTheirLegs) {
  const double x[] = {-2}, y[] = {2}, dx[] = {5}, dy[] = {1};
  Group group;
  group.slides.movers = {.shapes = shapes, .x = x, .y = y};
  group.slides.dx = dx;
  group.slides.dy = dy;
  const std::string picture = Draw(group);
  const std::string path = PathOf(picture, "path");
  EXPECT_EQ(std::ranges::count(path, 'L'), 2);  // to the wall, and up along it
  EXPECT_EQ(PathsOf(picture, "end").size(), 1u);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "hit"), 'M'), 1);
  EXPECT_EQ(PathsOf(DrawAsked(group), "end").size(), 0u);
}

TEST_F(SvgTest, OfSightsAndFansHasLines) {
  const double ax[] = {-2, -2}, ay[] = {1, 1}, bx[] = {6, -2}, by[] = {1, 3};
  const double x[] = {-2}, y[] = {2}, angle[] = {0}, step[] = {std::acos(-1) / 2}, range[] = {1e6};
  const uint32_t beams[] = {2};
  Group group;
  group.sights = {ax, ay, bx, by};
  group.fans = {x, y, angle, step, range, beams};
  const std::string picture = Draw(group);
  EXPECT_EQ(PathOf(picture, "unseen"), "M16 316L816 316");
  EXPECT_EQ(PathOf(picture, "seen"), "M16 316L16 116");
  // The first beam hits the square, the second one leaves the picture.
  EXPECT_EQ(PathOf(picture, "beam"), "M16 216L216 216M16 216L16 16");
  EXPECT_EQ(PathOf(picture, "hit"), "M216 216h0");
}

TEST_F(SvgTest, OfAreasHasWhatIsSeen) {
  const double x[] = {-2}, y[] = {1}, range[] = {1}, from[] = {0}, to[] = {1};
  Group group;
  group.areas = {x, y, range};
  const std::string disc = PathOf(Draw(group), "area holes");
  EXPECT_EQ(std::ranges::count(disc, 'L'), 63);  // 64 straight lines stand for the circle
  group.areas.from = from;
  group.areas.to = to;
  const std::string sector = Draw(group);
  EXPECT_EQ(PathsOf(sector, "area holes").size(), 1u);
  EXPECT_EQ(std::ranges::count(PathOf(sector, "dot"), 'M'), 1);
  EXPECT_EQ(PathsOf(DrawAsked(group), "area holes").size(), 0u);
}

// Story: a sector thinner than the rounding of its ends was drawn as the whole disc.
TEST_F(SvgTest, OfAThinSectorIsThin) {
  const double x[] = {-2}, y[] = {1}, range[] = {1}, from[] = {1}, to[] = {1 + 0x1p-51};
  Group group;
  group.areas = {x, y, range, from, to};
  const std::string picture = Draw(group);
  double eye_x = 0, eye_y = 0;
  ASSERT_EQ(std::sscanf(PathOf(picture, "dot").c_str(), "M%lf %lf", &eye_x, &eye_y), 2);
  const std::string sector = PathOf(picture, "area holes");
  ASSERT_FALSE(sector.empty());
  for (size_t i = 0; i < sector.size(); ++i) {
    double to_x = 0, to_y = 0;
    if (std::sscanf(sector.c_str() + i, "%*[ML]%lf %lf", &to_x, &to_y) != 2) continue;
    EXPECT_GE(to_x, eye_x - 0.01) << sector;
    EXPECT_LE(to_y, eye_y + 0.01) << sector;
  }
}

TEST_F(SvgTest, OfBouncesHasTheirLegs) {
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {3}, dx[] = {4}, dy[] = {1};
  Group group;
  group.bounces = {ax, ay, bx, by};
  const std::string bounces = Draw(group);
  EXPECT_EQ(std::ranges::count(PathOf(bounces, "shot"), 'M'), 2);
  EXPECT_EQ(std::ranges::count(PathOf(bounces, "hit"), 'M'), 1);
  group = {};
  group.ray_bounces = {ax, ay, dx, dy};
  const std::string rays = Draw(group);
  // 6 units are 800 pixels. The second leg, from (0, 1.5), leaves the picture at (-2, 2).
  EXPECT_EQ(std::ranges::count(PathOf(rays, "shot"), 'M'), 2);
  EXPECT_THAT(PathOf(rays, "shot"), HasSubstr("L16 282.67"));
}

TEST_F(SvgTest, OfMovesAndBodiesHasCrossesAndOutlines) {
  std::vector<Tracker> trackers(2, Tracker::Create(shapes[0]).value());
  const double x[] = {-2, 6, 0}, y[] = {1, 3, 0}, from_x[] = {-2, 5, 0}, from_y[] = {3, 3, 0};
  Group group;
  group.moves = {.trackers = trackers, .x = x, .y = y, .from_x = from_x, .from_y = from_y};
  const uint32_t body[] = {1}, shape[] = {0, 0};
  group.bodies.placed = {.shapes = shapes, .shape = shape, .x = from_x, .y = y};
  group.bodies.placed.x = group.bodies.placed.x.first(2);
  group.bodies.placed.y = group.bodies.placed.y.first(2);
  group.body_contacts.body = body;
  const std::string picture = Draw(group);
  EXPECT_EQ(PathsOf(picture, "body").size(), 2u);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "out cross"), 'M'), 1);
  EXPECT_EQ(std::ranges::count(PathOf(picture, "in cross"), 'M'), 1);  // it touches at the start
  EXPECT_EQ(std::ranges::count(PathOf(picture, "path"), 'M'), 2);
  // The third move has no tracker; without answers, that is not known.
  EXPECT_EQ(std::ranges::count(PathOf(DrawAsked(group), "dot cross"), 'M'), 3);
}

TEST_F(SvgTest, LeavesOutWhatIsNotAccepted) {
  const double bad[] = {kNaN, HUGE_VAL, -HUGE_VAL, 0x1p54}, good[] = {1, 1, 1, 1};
  const uint32_t beams[] = {1, 1, 1, 1}, many[] = {0, 70000, 4294967295, 1};
  Group group;
  group.segments = {bad, good, good, good};
  group.rays = {good, good, bad, bad};
  group.points = {good, bad};
  group.circles = {good, good, bad};
  group.boxes = {bad, good, good, good};
  group.arcs = {good, good, good, good, bad, good, good};
  group.fans = {good, good, good, good, bad, beams};
  group.bounces = {good, good, good, bad};
  group.areas = {good, good, bad};
  const std::string alone = DrawSvg(*scene, nullptr, nullptr, {.width = 832});
  const std::string answered = Draw(group);
  const std::string asked = DrawAsked(group);
  for (const char* style : {"asked", "shot", "near", "beam", "hit", "dot", "in", "over", "apart"}) {
    EXPECT_EQ(PathsOf(answered, style).size(), 0u) << style;
    EXPECT_EQ(PathsOf(asked, style).size(), 0u) << style;
  }
  EXPECT_EQ(answered.substr(0, answered.find('\n')), alone.substr(0, alone.find('\n')));
  group = {};
  group.fans = {good, good, good, good, good, many};
  EXPECT_EQ(std::ranges::count(PathOf(DrawAsked(group), "beam"), 'M'), 1);
}

TEST_F(SvgTest, IsOfTheLargestCoordinatesToo) {
  const double low[] = {-0x1p53}, high[] = {0x1p53}, zero[] = {0}, tiny[] = {0x1p-140};
  Group group;
  group.segments = {low, low, high, high};
  group.circles = {high, high, high};
  group.rays = {low, high, tiny, low};
  group.arcs = {low, low, high, high, high, low, high};
  group.sweeps.movers = {.shapes = shapes, .x = low, .y = high};
  group.sweeps.dx = high;
  group.sweeps.dy = low;
  Draw(group);
  DrawAsked(group);
  // A picture of one point.
  for (const double at : {0.0, 0x1p53, -0x1p-140}) {
    const Scene::Ptr point = SceneOf({{1, {{{{at, -at}}}}}});
    Group rays;
    rays.rays = {zero, zero, high, tiny};
    const Group* const all[] = {nullptr, &rays};
    for (const Group* const asked : all) {
      ExpectWellFormed(DrawSvg(*point, asked, nullptr));
    }
  }
}

TEST_F(SvgTest, DoesNotDrawAGroupThatIsRefused) {
  const double x[] = {1, 2}, y[] = {1};
  Group group;
  group.points = {x, y};
  ASSERT_FALSE(CheckGroup(group).ok());
  EXPECT_EQ(DrawAsked(group), DrawAsked(Group()));
}

// Each kind of question with good and bad numbers, bodies, and answers of their own or of others.
TEST_F(SvgTest, OfAnyQuestionsIsWellFormed) {
  std::unique_ptr<GroupAnswers> others = std::make_unique<GroupAnswers>();
  for (int i = 0; i < Repeats(150, 5000); ++i) {
    SCOPED_TRACE(i);
    Choices choices(static_cast<uint64_t>(i));
    const auto made = MakeGroupCase(choices, 6, BadNumbers::kSome);
    if (i % 2 != 0) AddBodies(choices, *made);
    auto answers = std::make_unique<GroupAnswers>();
    WorkMeter meter;
    ASSERT_TRUE(EvaluateGroup(*made->scene, made->group, *answers, meter).ok());
    const GroupAnswers* const all[] = {answers.get(), others.get(), nullptr};
    for (const GroupAnswers* const given : all) {
      const std::string picture = DrawSvg(*made->scene, &made->group, given);
      ExpectWellFormed(picture);
      EXPECT_EQ(picture, DrawSvg(*made->scene, &made->group, given));
      EXPECT_EQ(PathsOf(picture, "even").size() + PathsOf(picture, "nonzero").size() +
                    PathsOf(picture, "hollow").size(),
                made->scene->polygon_count());
    }
    if (HasFailure()) FAIL() << made->ToCode();
    others = std::move(answers);
  }
}

// --- Parts

std::string Pixel(double value) {
  std::string text;
  AppendPixel(value, text);
  return text;
}

TEST(SvgPartsTest, PixelsAreShortAndFinite) {
  EXPECT_EQ(Pixel(0), "0");
  EXPECT_EQ(Pixel(-0.001), "0");
  EXPECT_EQ(Pixel(1.0 / 3), "0.33");
  EXPECT_EQ(Pixel(-12.5), "-12.5");
  EXPECT_EQ(Pixel(1e300), "1000000");
  EXPECT_EQ(Pixel(-HUGE_VAL), "-1000000");
  EXPECT_EQ(Pixel(kNaN), "0");
}

TEST(SvgPartsTest, TextsAreEscaped) {
  const auto text = [](std::string_view given) {
    std::string element;
    AppendText(1, 2.5, "label", given, element);
    EXPECT_TRUE(XmlReader(element).IsDocument()) << element;
    const size_t begin = element.find('>') + 1;
    return element.substr(begin, element.rfind('<') - begin);
  };
  EXPECT_EQ(text("plain > text\n"), "plain > text\n");
  EXPECT_EQ(text("<b>&amp;"), "&lt;b>&amp;amp;");
  EXPECT_EQ(text("]]>"), "]]&gt;");
  EXPECT_EQ(text("\xC3\xA4 \xE2\x86\x92 \xF0\x9F\x8E\xB1"),
            "\xC3\xA4 \xE2\x86\x92 \xF0\x9F\x8E\xB1");
  // No characters of XML: control characters, half a character, what is too long for its code, a
  // surrogate, U+FFFF, a code beyond the last.
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(text(std::string_view("\0\x1F", 2)), replaced + replaced);
  EXPECT_EQ(text("\xC3"), replaced);
  EXPECT_EQ(text("\xC3x"), replaced + "x");
  EXPECT_EQ(text("\xC0\x80"), replaced + replaced);
  EXPECT_EQ(text("\xE0\x80\x80"), replaced + replaced + replaced);
  EXPECT_EQ(text("\xED\xA0\x80"), replaced + replaced + replaced);
  EXPECT_EQ(text("\xEF\xBF\xBF"), replaced + replaced + replaced);
  EXPECT_EQ(text("\xF4\x90\x80\x80"), replaced + replaced + replaced + replaced);
}

TEST(SvgPartsTest, AFrameMapsItsBoxToPixels) {
  const SvgFrame frame({{-2, 0}, {6, 4}}, 800, {.side = 10, .top = 20, .bottom = 30});
  EXPECT_EQ(frame({-2, 4}), (Vec2{10, 20}));
  EXPECT_EQ(frame({6, 0}), (Vec2{810, 420}));
  EXPECT_EQ(frame.scale(), 100);
  EXPECT_EQ(frame.width(), 820);
  EXPECT_EQ(frame.bottom(), 420);
  EXPECT_EQ(frame.height(), 450);
  // A box that is too high is drawn at 4/3 of the width.
  EXPECT_EQ(SvgFrame({{0, 0}, {1, 8}}, 600, {}).height(), 800);
}

TEST(SvgPartsTest, AFrameOfABoxWithoutExtentIsFinite) {
  for (const Box& box : {Box(), Box{{1, 1}, {1, 1}}, Box{{0x1p53, -0x1p53}, {0x1p53, -0x1p53}},
                         Box{{0, 0}, {HUGE_VAL, 1}}, Box{{kNaN, 0}, {1, 1}}}) {
    const SvgFrame frame(box, 100, {});
    EXPECT_TRUE(std::isfinite(frame.scale()));
    EXPECT_TRUE(std::isfinite(frame.height()));
    EXPECT_GT(frame.height(), 0);
    EXPECT_FALSE(frame.bounds().empty());
  }
}

TEST(SvgPartsTest, AHeadIsScalableOrOfAFixedSize) {
  const SvgFrame frame({{0, 0}, {1, 1}}, 100, {});
  std::string scalable, fixed;
  AppendHead(frame, SvgSize::kScalable, scalable);
  AppendHead(frame, SvgSize::kFixed, fixed);
  EXPECT_TRUE(XmlReader(scalable + "</svg>\n").IsDocument());
  EXPECT_TRUE(XmlReader(fixed + "</svg>\n").IsDocument());
  EXPECT_THAT(scalable, HasSubstr("viewBox=\"0 0 100 100\">"));
  EXPECT_THAT(fixed, HasSubstr("viewBox=\"0 0 100 100\" width=\"100\" height=\"100\">"));
}

}  // namespace
}  // namespace carom::testing::svg_test
