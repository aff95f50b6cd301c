// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The reader of SVG: every command of a path, shapes, transforms, viewports, `use`, fills, what it
// skips, and the drawings of the shared folder against the scenes made of them.

#include "client/maps/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "client/maps/svg_path.h"
#include "tests/maps/map_checks.h"

namespace carom::testing {
namespace svg_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

ImportedMap Drawn(const std::string& content, ImportOptions options = {},
                  const std::string& attributes = R"(viewBox="0 0 100 50")") {
  return Imported(
      ImportSvg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" " + attributes + ">" + content + "</svg>",
      Unflipped(std::move(options)));
}

std::vector<SvgSubpath> Subpaths(std::string_view data, double chord = 0.25) {
  absl::StatusOr<std::vector<SvgSubpath>> path = SvgPath(data, {}, chord);
  EXPECT_TRUE(path.ok()) << path.status();
  return path.ok() ? *std::move(path) : std::vector<SvgSubpath>{};
}

TEST(SvgPath, ReadsLinesOfEveryKind) {
  const auto path = Subpaths("M1 2 3,4l1-1.5H10h-1V7v1zm5 5 1 1L.5.25ZL9 9m8 8");
  ASSERT_EQ(path.size(), 3u);
  EXPECT_THAT(path[0].points, ElementsAre(Vec2{1, 2}, Vec2{3, 4}, Vec2{4, 2.5}, Vec2{10, 2.5},
                                          Vec2{9, 2.5}, Vec2{9, 7}, Vec2{9, 8}));
  EXPECT_TRUE(path[0].closed);
  EXPECT_THAT(path[1].points, ElementsAre(Vec2{6, 7}, Vec2{7, 8}, Vec2{0.5, 0.25}));
  EXPECT_TRUE(path[1].closed);
  // After Z a command continues from the start; the last move has no edge.
  EXPECT_THAT(path[2].points, ElementsAre(Vec2{6, 7}, Vec2{9, 9}));
  EXPECT_FALSE(path[2].closed);
}

// Law: no point of a curve, sampled, is farther than `chord` from the chords.
double Deviation(const std::vector<Vec2>& chords, const std::function<Vec2(double)>& curve) {
  double greatest = 0;
  for (int i = 0; i <= 1000; ++i) {
    const Vec2 p = curve(i / 1000.0);
    double least = HUGE_VAL;
    for (size_t k = 1; k < chords.size(); ++k) {
      const Vec2 a = chords[k - 1], d{chords[k].x - a.x, chords[k].y - a.y};
      const double t = ((p.x - a.x) * d.x + (p.y - a.y) * d.y) / (d.x * d.x + d.y * d.y);
      const double u = std::clamp(t, 0.0, 1.0);
      least = std::min(least, std::hypot(p.x - a.x - u * d.x, p.y - a.y - u * d.y));
    }
    greatest = std::max(greatest, least);
  }
  return greatest;
}

Vec2 Cubic(Vec2 p, Vec2 q, Vec2 r, Vec2 s, double t) {
  const double u = 1 - t;
  const double a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
  return {a * p.x + b * q.x + c * r.x + d * s.x, a * p.y + b * q.y + c * r.y + d * s.y};
}

TEST(SvgPath, KeepsCurvesWithinTheChord) {
  for (const double chord : {1.0, 0.25, 1e-3}) {
    const auto cubic = Subpaths("M0 0C10 40 90 -40 100 0", chord);
    EXPECT_EQ(cubic[0].points.back(), (Vec2{100, 0}));
    EXPECT_LE(Deviation(cubic[0].points,
                        [](double t) {
                          return Cubic({0, 0}, {10, 40}, {90, -40}, {100, 0}, t);
                        }),
              chord * (1 + 1e-9));
    const auto quadratic = Subpaths("M0 0q50 100 100 0", chord);
    EXPECT_LE(Deviation(quadratic[0].points,
                        [](double t) {
                          return Vec2{100 * t * (1 - t) + 100 * t * t, 200 * t * (1 - t)};
                        }),
              chord * (1 + 1e-9));
  }
  // Fewer chords would not do: the first curve needs more the finer the chord is.
  EXPECT_LT(Subpaths("M0 0q50 100 100 0", 0.25)[0].points.size(), 20u);
}

// A smooth curve has the mirrored control point, so it equals the curve that names it.
TEST(SvgPath, MirrorsControlPointsOfSmoothCurves) {
  EXPECT_EQ(Subpaths("M0 0C0 10 10 20 20 20S40 30 40 40")[0].points,
            Subpaths("M0 0C0 10 10 20 20 20C30 20 40 30 40 40")[0].points);
  EXPECT_EQ(Subpaths("M0 0c0 10 10 20 20 20s20 10 20 20")[0].points,
            Subpaths("M0 0C0 10 10 20 20 20C30 20 40 30 40 40")[0].points);
  EXPECT_EQ(Subpaths("M0 0Q10 20 20 0T40 0t20 0")[0].points,
            Subpaths("M0 0Q10 20 20 0Q30 -20 40 0Q50 20 60 0")[0].points);
  // Without a curve of its family before, the control point is the current point.
  EXPECT_EQ(Subpaths("M0 0L5 5S10 0 20 20")[0].points,
            Subpaths("M0 0L5 5C5 5 10 0 20 20")[0].points);
  EXPECT_EQ(Subpaths("M0 0L5 5T20 20")[0].points, Subpaths("M0 0L5 5Q5 5 20 20")[0].points);
}

TEST(SvgPath, ChoosesOneOfFourArcs) {
  // From (10, 0) to (0, 10): about (0, 0) or (10, 10), the small or the large way.
  const auto middle = [](std::string_view flags) {
    const auto path = Subpaths("M10 0A10 10 0 " + std::string(flags) + " 0 10", 1e-3);
    return path[0].points[path[0].points.size() / 2];
  };
  for (const std::string_view flags : {"0 1", "01"}) {
    const Vec2 small = middle(flags);
    EXPECT_NEAR(std::hypot(small.x, small.y), 10, 1e-9);
    EXPECT_GT(small.x + small.y, 10);
  }
  const Vec2 inner = middle("0 0");
  EXPECT_NEAR(std::hypot(inner.x - 10, inner.y - 10), 10, 1e-9);
  EXPECT_LT(inner.x + inner.y, 10);
  EXPECT_LT(middle("1 0").x, 0);   // counter-clockwise as seen: the large arc about (0, 0)
  EXPECT_GT(middle("1 1").x, 10);  // the large arc about (10, 10)
}

TEST(SvgPath, TurnsStretchesAndGrowsArcs) {
  // The axes of the ellipse are 20 and 10 long, turned by 90 degrees.
  const auto turned = Subpaths("M10 0A20 10 90 0 1-10 0", 1e-3)[0].points;
  EXPECT_EQ(turned.front(), (Vec2{10, 0}));
  EXPECT_EQ(turned.back(), (Vec2{-10, 0}));
  for (const Vec2 p : turned) EXPECT_NEAR(p.x * p.x / 100 + p.y * p.y / 400, 1, 1e-9);
  // Radii that are too small grow to a half circle; those of 0 make a line.
  const auto grown = Subpaths("M0 0a1 1 0 0 0 20 0", 1e-3)[0].points;
  for (const Vec2 p : grown) {
    EXPECT_NEAR(std::hypot(p.x - 10, p.y), 10, 1e-9);
  }
  EXPECT_EQ(Subpaths("M0 0A0 5 0 0 0 20 0")[0].points.size(), 2u);
}

TEST(SvgPath, NamesTheCharacterOfAnError) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"L1 2", "must begin with M at character 1"},
      {"M1 2X", "no command at character 5"},
      {"M1 2 3", "M needs"},
      {"M1 2L1 nan", "L needs at character"},
      {"M1 2A1 1 0 2 0 3 3", "A needs"},
      {"M1e99 2", "M needs"},
      {"M0 0Q1e15 1e15 2e15 0", "more than 65536"}};
  for (const auto& [data, message] : cases) {
    const auto path = SvgPath(data, {}, 0.25);
    ASSERT_FALSE(path.ok()) << data;
    EXPECT_THAT(std::string(path.status().message()), HasSubstr(message));
  }
}

TEST(SvgTransform, AppliesTheLastOneFirst) {
  const auto at = [](std::string_view text, Vec2 p) { return SvgTransform(text).value()(p); };
  EXPECT_EQ(at("", {3, 4}), (Vec2{3, 4}));
  EXPECT_EQ(at("translate(10) scale(2 3)", {1, 1}), (Vec2{12, 3}));
  EXPECT_EQ(at("scale(2),translate(10,-1)", {1, 1}), (Vec2{22, 0}));
  EXPECT_EQ(at("rotate(90)", {1, 0}), (Vec2{0, 1}));
  EXPECT_EQ(at(" rotate ( -90 5 5 ) ", {6, 5}), (Vec2{5, 4}));
  EXPECT_EQ(at("matrix(1 2 3 4 5 6)", {1, 1}), (Vec2{9, 12}));
  EXPECT_NEAR(at("skewX(45)", {0, 1}).x, 1, 1e-15);
  EXPECT_NEAR(at("skewY(45)", {1, 0}).y, 1, 1e-15);
  for (const char* text : {"turn(3)", "rotate(1 2)", "scale", "translate(a)", "scale(2"}) {
    EXPECT_FALSE(SvgTransform(text).ok()) << text;
  }
}

TEST(SvgLength, ReadsAbsoluteUnits) {
  EXPECT_EQ(SvgLength("1.5", 9).value(), 1.5);
  EXPECT_EQ(SvgLength(" 2in ", 9).value(), 192);
  EXPECT_EQ(SvgLength("25.4mm", 9).value(), 96);
  EXPECT_NEAR(SvgLength("2.54cm", 9).value(), 96, 1e-12);
  EXPECT_EQ(SvgLength("3PT", 9).value(), 4);
  EXPECT_EQ(SvgLength("1pc", 9).value(), 16);
  EXPECT_EQ(SvgLength("50%", 9).value(), 4.5);
  EXPECT_FALSE(SvgLength("2em", 9).ok());
  EXPECT_FALSE(SvgLength("wide", 9).ok());
}

TEST(Svg, ReadsShapesExactly) {
  const ImportedMap map = Drawn(R"(
    <rect x="1" y="2" width="10%" height="10%"/>
    <polygon points="0,0 4,0 4,3"/>
    <polyline points="0 0 5 5 9 0" fill="none"/>
    <line x1="1" y1="2" x2="1in" y2="4"/>
    <circle cx="10" cy="20" r="5"/>
    <ellipse cx="10" cy="20" rx="5"/>
    <path d="M0 0H10V10H0ZM2 2V4H4V2Z" fill-rule="evenodd"/>
    <path d="M0 0H10V10M20 20H30V30Z" style="stroke: red; fill:none"/>
    <rect width="0" height="5"/>)");
  ASSERT_EQ(map.polygons.size(), 8u);
  ExpectRing(map.polygons[0], 0, {{1, 2}, {11, 2}, {11, 7}, {1, 7}});
  EXPECT_EQ(map.polygons[0].fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kSolid);
  ExpectRing(map.polygons[1], 0, {{0, 0}, {4, 0}, {4, 3}});
  ExpectRing(map.polygons[2], 0, {{0, 0}, {5, 5}, {9, 0}});
  EXPECT_TRUE(map.polygons[2].is_open(0));
  ExpectRing(map.polygons[3], 0, {{1, 2}, {96, 4}});
  EXPECT_EQ(map.polygons[3].solidity(), Solidity::kBoundary);
  const Box circle = map.polygons[4].bounds();
  EXPECT_EQ(circle.min, (Vec2{5, 15}));
  EXPECT_EQ(circle.max, (Vec2{15, 25}));
  EXPECT_EQ(RingOf(map.polygons[4]), RingOf(map.polygons[5]));
  EXPECT_EQ(map.polygons[6].fill_rule(), FillRule::kEvenOdd);
  EXPECT_EQ(map.polygons[6].ring_count(), 2u);
  EXPECT_EQ(map.polygons[7].solidity(), Solidity::kBoundary);
  EXPECT_TRUE(map.polygons[7].is_open(0));
  EXPECT_FALSE(map.polygons[7].is_open(1));
  EXPECT_THAT(SkippedOf(map), UnorderedElementsAre("1 element rect in layer \"svg\": it is empty"));
}

TEST(Svg, RoundsCornersOfRectangles) {
  ImportOptions options;
  options.chord = 1e-4;
  const ImportedMap map = Drawn(R"(<rect x="10" y="10" width="20" height="10" rx="2"/>
      <rect width="8" height="8" rx="4" ry="400"/>)",
                                options);
  ASSERT_EQ(map.polygons.size(), 2u);
  const double corner = (4 - std::numbers::pi) * 4;
  EXPECT_NEAR(SignedArea(RingOf(map.polygons[0])), 200 - corner, 1e-2);
  EXPECT_EQ(map.polygons[0].vertices()[0], (Vec2{10, 12}));
  EXPECT_NEAR(SignedArea(RingOf(map.polygons[1])), 16 * std::numbers::pi, 1e-2);
  // No vertex is repeated where two corners meet.
  const Ring ring = RingOf(map.polygons[1]);
  for (size_t i = 0; i < ring.size(); ++i) {
    EXPECT_FALSE(ring[i] == ring[(i + 1) % ring.size()]) << i;
  }
}

TEST(Svg, NestsTransformsViewportsAndCopies) {
  const ImportedMap map = Drawn(R"svg(
    <defs><g id="tile"><rect id="r" width="1" height="1"/></g>
      <symbol id="mark" viewBox="0 0 10 10"><rect width="10" height="10"/></symbol></defs>
    <g transform="translate(10 20)"><g transform="scale(2)">
      <rect width="1" height="1" transform="translate(1)"/></g></g>
    <use href="#tile" x="5" transform="scale(3)"/>
    <svg:use xmlns:svg="http://www.w3.org/2000/svg" xlink:href="#mark" width="20" height="10"/>
    <svg x="50" y="0" width="40" height="20" viewBox="0 0 10 10"
         preserveAspectRatio="xMaxYMin slice"><rect width="1" height="100%"/></svg>
    <svg width="40" height="20" viewBox="5 5 10 10" preserveAspectRatio="none">
      <rect x="5" y="5" width="10" height="10"/></svg>)svg");
  ASSERT_EQ(map.polygons.size(), 5u);
  ExpectRing(map.polygons[0], 0, {{12, 20}, {14, 20}, {14, 22}, {12, 22}});
  ExpectRing(map.polygons[1], 0, {{15, 0}, {18, 0}, {18, 3}, {15, 3}});
  // The square of 10 is centred in the viewport of 20 by 10.
  ExpectRing(map.polygons[2], 0, {{5, 0}, {15, 0}, {15, 10}, {5, 10}});
  ExpectRing(map.polygons[3], 0, {{50, 0}, {54, 0}, {54, 40}, {50, 40}});
  ExpectRing(map.polygons[4], 0, {{0, 0}, {40, 0}, {40, 20}, {0, 20}});
}

// The outermost viewport does not move the vertices; its scale is in the mapping.
TEST(Svg, KeepsTheUnitOfTheViewBox) {
  const ImportedMap map = Drawn(R"(<rect x="63.5" y="0.1" width="1" height="1"/>)", {},
                                R"(width="254mm" height="50mm" viewBox="0 0 127 25")");
  EXPECT_EQ(map.polygons[0].vertices()[0], (Vec2{63.5, 0.1}));
  const auto pair = std::find_if(map.mapping.begin(), map.mapping.end(),
                                 [](const auto& p) { return p.first == "pixels of a unit"; });
  ASSERT_NE(pair, map.mapping.end());
  EXPECT_NEAR(std::stod(pair->second), 2 * 96 / 25.4, 1e-12);
}

TEST(Svg, PointsYUpByDefault) {
  const ImportedMap map = Imported(ImportSvg, R"(<svg><polygon points="0 1 2 1 2 3"/></svg>)");
  ExpectRing(map.polygons[0], 0, {{0, -1}, {2, -1}, {2, -3}});
}

TEST(Svg, NamesLayersByGroups) {
  constexpr char kText[] = R"(<svg xmlns:inkscape="i">
    <g inkscape:label="Walls" id="layer1" data-category="6"><g id="inner">
      <rect width="1" height="1"/><rect width="2" height="2" data-category="1,4"/></g>
      <g><rect width="3" height="3"/></g></g>
    <rect width="4" height="4"/></svg>)";
  ImportOptions options = WithLayer("inner", LayerUse::kHollow);
  options.property = "data-category";
  options.layers.push_back({"svg", 8, LayerUse::kDefault});
  const ImportedMap map = Imported(ImportSvg, kText, options);
  ASSERT_EQ(map.polygons.size(), 4u);
  EXPECT_EQ(map.polygons[0].solidity(), Solidity::kBoundary);
  EXPECT_EQ(map.polygons[0].category(), 6u);
  EXPECT_EQ(map.polygons[1].category(), 18u);
  EXPECT_EQ(map.polygons[2].solidity(), Solidity::kSolid);
  EXPECT_EQ(map.polygons[2].category(), 6u);
  EXPECT_EQ(map.polygons[3].category(), 8u);
  const ImportedMap without = Imported(ImportSvg, kText, WithLayer("Walls", LayerUse::kSkip));
  EXPECT_EQ(without.polygons.size(), 1u);
}

TEST(Svg, ReportsWhatItDoesNotDraw) {
  const ImportedMap map = Drawn(R"svg(
    <style>rect {fill: none}</style><text>a</text><text>b</text>
    <image href="a.png"/><g display="none"><rect width="1" height="1"/></g>
    <rect width="1" height="1" visibility="hidden"/><use href="other.svg#a"/>
    <clipPath id="c"><rect width="1" height="1"/></clipPath>
    <rect width="1" height="1" clip-path="url(#c)"/>
    <switch><g requiredExtensions="x"><text/></g><rect width="5" height="5"/><text/></switch>
    )svg");
  EXPECT_EQ(map.polygons.size(), 2u);
  EXPECT_THAT(SkippedOf(map),
              UnorderedElementsAre(HasSubstr("style sheet"),
                                   HasSubstr("1 element g in layer \"svg\": it is not displayed"),
                                   HasSubstr("1 element image"),
                                   HasSubstr("1 element rect in layer \"svg\": it is drawn whole"),
                                   HasSubstr("1 element rect in layer \"svg\": it is not visible"),
                                   HasSubstr("2 element texts"), HasSubstr("1 element use")));
}

TEST(Svg, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"<svg>\n<rect></svg>", "line 2: not XML"},
      {"<html/>", "the root element must be svg"},
      {"<svg>\n\n<path d='M0 0L1'/></svg>", "line 3: path data: no number that L needs"},
      {"<svg>\n<rect width='2em' height='1'/></svg>", "line 2: width: a length in the unit `em`"},
      {"<svg>\n<g transform='turn(1)'/></svg>", "line 2: transform: no transform"},
      {"<svg>\n<polygon points='1 2 3'/></svg>", "line 2: points: a number without its pair"},
      {"<svg>\n<polygon points='1 2 x'/></svg>", "line 2: points: no number at character 5"},
      {"<svg><g transform='scale(1e15)'>\n<rect width='9e3' height='1'/></g></svg>",
       "line 2: has a point beyond"},
      {"<svg><g id='a'>\n<use href='#a'/></g></svg>", "nested deeper than 200"},
      {"<svg viewBox='0 0 1 1'>\n<circle r='1e15'/></svg>",
       "line 2: needs more than 65536 chords"}};
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(ErrorOf(ImportSvg, text), HasSubstr(message)) << text;
  }
}

// Story: ten levels of ten copies each are 10^10 shapes in 1,000 bytes.
TEST(Svg, BoundsTheCopiesOfUse) {
  std::string text = "<svg><rect id='g0' width='1' height='1'/>";
  for (int level = 1; level <= 10; ++level) {
    text += "<g id='g" + std::to_string(level) + "'>";
    for (int i = 0; i < 10; ++i) text += "<use href='#g" + std::to_string(level - 1) + "'/>";
    text += "</g>";
  }
  EXPECT_THAT(ErrorOf(ImportSvg, text + "</svg>"), HasSubstr("draws more than 1000000 elements"));
}

// Entities are neither expanded nor refused where they are declared.
TEST(Svg, DoesNotExpandEntities) {
  const ImportedMap map = Imported(ImportSvg, R"(<?xml version="1.0"?>
    <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/svg11.dtd" [
      <!ENTITY a "M0 0H1V1Z"> <!ENTITY b SYSTEM "file:///etc/passwd">]>
    <svg><path d="M0 0H2V2Z"/><text>&b;</text></svg>)");
  EXPECT_EQ(map.polygons.size(), 1u);
  EXPECT_THAT(
      ErrorOf(ImportSvg, "<!DOCTYPE svg [<!ENTITY a \"M0 0H1\">]><svg><path d='&a;'/></svg>"),
      HasSubstr("path data"));
}

TEST(Svg, IsToldByItsRoot) {
  EXPECT_TRUE(LooksLikeSvg(Sniff("<?xml version='1.0'?>\n<!-- a -->\n<svg/>")));
  EXPECT_FALSE(LooksLikeSvg(Sniff("<map><svg/></map>")));
}

// The converter of the scenes kept user units and took each path, which is not filled, as a solid
// ring; its translation of a group was not applied.
TEST(Svg, AgreesWithTheSharedScenes) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::map<std::string, Vec2> moves = {{"map02.svg", {0, 0}},
                                             {"map04.svg", {34.645834, -33.983685}},
                                             {"map_right.svg", {-2.3958338, -153.20833}}};
  for (const auto& [file, move] : moves) {
    SCOPED_TRACE(file);
    const std::string bytes = ReadFile(data + "/raw/box2d/" + file);
    EXPECT_TRUE(LooksLikeSvg(Sniff(bytes)));
    const ImportedMap map = Imported(ImportSvg, bytes, Unflipped());
    ASSERT_EQ(map.polygons.size(), 1u);
    EXPECT_TRUE(map.polygons[0].is_open(0));
    PolygonSpec spec = map.polygons[0].spec();
    spec.rings[0].open = false;
    spec.solidity = Solidity::kSolid;
    const std::vector<Polygon> expected = SharedScene(data, "box2d", file, [&](Vec2 p) {
      return Vec2{p.x + move.x, p.y + move.y};
    });
    ExpectSamePlaces({Polygon::Create(spec).value()}, expected, 1e-9);
  }
}

}  // namespace svg_test
}  // namespace carom::testing
