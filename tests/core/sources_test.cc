// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One test for each fault that docs/sources.md finds in the articles the library follows, in the
// order of that page.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/convex.h"
#include "carom/covering.h"
#include "carom/distance.h"
#include "carom/overlap.h"
#include "carom/predicates.h"
#include "carom/ring.h"
#include "carom/shape.h"
#include "tests/core/one_item.h"
#include "tests/core/random_scene.h"
#include "tests/core/shape/random_ring.h"

namespace carom::testing::sources_test {
namespace {

using carom::Ray;
using carom::Segment;

Ring Rectangle(double x0, double y0, double x1, double y1) {
  return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
}

Ring Reversed(Ring ring) {
  std::reverse(ring.begin(), ring.end());
  return ring;
}

Polygon Made(const Ring& ring) { return Polygon::Create({1, {{ring}}}).value(); }

Scene::Ptr SceneOf(const Ring& ring) { return MakeScene({{1, {{ring}}}}).scene; }

ConvexRing Convex(const Ring& ring) { return ConvexRing::Create(ring).value(); }

Polygon Moved(const Polygon& polygon, Vec2 by) { return PlacedPolygon(polygon, {by}).value(); }

Shape Disc(Vec2 center, double radius) {
  return Shape::Create(Capsule{{center, center}, radius}).value();
}

CastOptions Mode(CastMode mode, InsidePolicy policy = InsidePolicy::kReportStart) {
  CastOptions options;
  options.mode = mode;
  options.inside_policy = policy;
  return options;
}

// Segment against convex polygon.

// A bullet tested at its position of each frame leaps over thin boxes.
TEST(SourcesTest, AFastBulletDoesNotLeapOverABox) {
  const Box wall{{10, 0}, {10.5, 9}};
  EXPECT_TRUE(Intersects(Segment{{0, 4}, {20, 4}}, wall));
  EXPECT_EQ(ClipSegment({{0, 4}, {20, 4}}, wall)->entry_fraction, 0.5);
}

// The point test rejects what is left of an edge, the inside of a counter-clockwise polygon.
TEST(SourcesTest, TheInsideOfAConvexRingIsInsideForEitherWinding) {
  const Ring square = Rectangle(0, 0, 4, 4);
  for (const Ring& ring : {square, Reversed(square)}) {
    EXPECT_EQ(Convex(ring).Locate({1, 2}), Location::kInside);
    EXPECT_EQ(Convex(ring).Locate({5, 2}), Location::kOutside);
  }
}

// Its first edge runs from vertex 2 to vertex 0, which is an edge of triangles only: of a square it
// is the diagonal, and the closing edge is never tested.
TEST(SourcesTest, EveryEdgeOfAConvexRingBoundsIt) {
  const ConvexRing square = Convex(Rectangle(0, 0, 4, 4));
  EXPECT_EQ(square.Locate({-1, 2}), Location::kOutside);  // beyond the closing edge
  EXPECT_EQ(square.Locate({3, 1}), Location::kInside);    // one side of the diagonal
  EXPECT_EQ(square.Locate({1, 3}), Location::kInside);    // the other
}

// The clip writes its near and far values edge by edge, and may find a miss after that: here it has
// entered by the left edge when the top one rejects it.
TEST(SourcesTest, AMissHasNoOutputs) {
  const Segment hit{{-4, 3}, {4, 3}};
  const Segment miss{{-4, 3}, {3, 10}};
  const ConvexRing square = Convex(Rectangle(0, 0, 4, 4));
  std::optional<Clip> clip = square.ClipSegment(hit);
  EXPECT_EQ(clip->entry_fraction, 0.5);
  clip = square.ClipSegment(miss);
  EXPECT_EQ(clip, std::nullopt);

  const Scene::Ptr scene = SceneOf(Rectangle(0, 0, 4, 4));
  CastOptions options = Mode(CastMode::kAll);
  options.reflect = true;
  CastAnswers answers = CastOne(*scene, hit, options);
  ASSERT_EQ(answers.hits.size(), 1u);
  ASSERT_EQ(answers.reflections.size(), 1u);
  WorkMeter meter;
  ASSERT_TRUE(CastSegments(*scene, {{&miss.a.x, 1}, {&miss.a.y, 1}, {&miss.b.x, 1}, {&miss.b.y, 1}},
                           options, answers, meter));
  EXPECT_EQ(answers.counts, std::vector<uint32_t>{0});
  EXPECT_TRUE(answers.hits.empty());
  EXPECT_TRUE(answers.reflections.empty());
  EXPECT_TRUE(answers.errors.empty());
}

// Near and far values carried from polygon to polygon keep the intersection of their intervals: a
// nearer polygon that comes later is lost, and so is anything beyond the first.
TEST(SourcesTest, FirstAndLastHitDoNotDependOnTheOrderOfPolygons) {
  const PolygonSpec near{7, {{Rectangle(2, 0, 3, 2)}}};
  const PolygonSpec far{3, {{Rectangle(6, 0, 7, 2)}}};
  const Segment bullet{{0, 1}, {8, 1}};
  for (const auto& specs : {std::vector{near, far}, std::vector{far, near}}) {
    const Scene::Ptr scene = MakeScene(specs).scene;
    EXPECT_EQ(CastOne(*scene, bullet).hits[0].polygon_id, 7u);
    const CastAnswers all = CastOne(*scene, bullet, Mode(CastMode::kAll));
    ASSERT_EQ(all.hits.size(), 2u);
    EXPECT_EQ(all.hits[0].fraction, 0.25);
    EXPECT_EQ(all.hits[1].polygon_id, 3u);
    EXPECT_EQ(all.hits[1].exit_fraction, 0.875);
  }
}

// Products of lengths below 1e-8 count as parallel: at the size of microns every hit from outside
// is a miss.
TEST(SourcesTest, SmallScaleIsNotParallel) {
  for (const double scale : {1.0, 0x1p-20, 0x1p-60, 0x1p-130}) {
    const ConvexRing square = Convex(Rectangle(0, 0, 4 * scale, 4 * scale));
    const std::optional<Clip> clip =
        square.ClipSegment({{-4 * scale, scale}, {12 * scale, 2 * scale}});
    ASSERT_TRUE(clip.has_value()) << scale;
    EXPECT_EQ(*clip, (Clip{0.25, 0.5, 3, 1, {-1, 0}, {1, 0}})) << scale;
    EXPECT_EQ(square.ClipSegment({{-4 * scale, scale}, {2 * scale, 9 * scale}}), std::nullopt);
  }
}

// Without edges, or with edges of no length, nothing is ever rejected; two vertices stand for the
// whole line through them.
TEST(SourcesTest, FewerThanThreeVerticesAreHitWhereTheyAre) {
  EXPECT_FALSE(ConvexRing::Create({}).ok());
  const ConvexRing point = Convex({{2, 2}});
  EXPECT_EQ(point.ClipSegment({{0, 0}, {4, 5}}), std::nullopt);
  EXPECT_EQ(point.ClipSegment({{0, 0}, {4, 4}})->entry_fraction, 0.5);
  const ConvexRing line = Convex({{2, 0}, {2, 2}});
  EXPECT_EQ(line.ClipSegment({{0, 3}, {4, 3}}), std::nullopt);
  EXPECT_EQ(line.ClipSegment({{0, 1}, {4, 1}})->entry_fraction, 0.5);
}

// NaN fails every comparison that would reject it.
TEST(SourcesTest, NaNIsAnErrorAndNoHit) {
  EXPECT_FALSE(ConvexRing::Create(Ring{{0, 0}, {NAN, 0}, {0, 4}}).ok());
  EXPECT_EQ(Convex(Rectangle(0, 0, 4, 4)).ClipSegment({{NAN, 1}, {2, 1}}), std::nullopt);
  const CastAnswers answers = CastOne(*SceneOf(Rectangle(0, 0, 4, 4)), Segment{{0, NAN}, {2, 1}});
  EXPECT_EQ(answers.counts[0], 0u);
  ASSERT_EQ(answers.errors.size(), 1u);
  EXPECT_EQ(answers.errors[0].fault, ItemFault::kNotAccepted);
}

// Polygons.

// What is not "ccw" is "cw", a ring of no area too, and both are meant for a y axis that points
// down.
TEST(SourcesTest, ARingWithoutAreaHasNoWinding) {
  EXPECT_EQ(WindingSign(Ring{{0, 0}, {4, 4}, {4, 0}, {0, 4}}), 0);
  EXPECT_EQ(WindingSign(Ring{{0, 0}, {1, 1}, {3, 3}}), 0);
  EXPECT_EQ(WindingSign(Rectangle(0, 0, 1, 1)), 1);
}

// Sums of products far from the origin cancel to noise: 2 far + 1 is no double, and the sum over
// the triangle's edges is 0.
TEST(SourcesTest, AreaFarFromTheOriginIsExact) {
  const double far = 0x1p52;
  const Ring triangle{{far, far}, {far + 1, far}, {far, far + 1}};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    const Vec2 p = triangle[(i + 2) % 3], q = triangle[i];
    sum += (q.x + p.x) * (q.y - p.y);
  }
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(SignedArea(triangle), 0.5);
  EXPECT_EQ(SignedArea(Reversed(triangle)), -0.5);
  EXPECT_EQ(SignedArea(Rectangle(far, far, far + 1, far + 1)), 1);
  EXPECT_EQ(SignedArea(Reversed(Rectangle(far + 1, -far, far + 3, 1 - far))), -2);
}

// The loop over corners ends one short.
TEST(SourcesTest, ConvexityTestsTheLastVertex) {
  EXPECT_FALSE(IsConvex(Ring{{8, 0}, {8, 8}, {0, 0}, {7, 1}}));
  EXPECT_FALSE(IsConvex(Ring{{0, 0}, {8, 0}, {0, 8}, {1, 1}}));
}

// Signs are compared with that of the first corner alone; where it is straight, all agree.
TEST(SourcesTest, AStraightFirstVertexHidesNoReflexOne) {
  EXPECT_FALSE(IsConvex(Ring{{4, 0}, {8, 0}, {2, 2}, {0, 8}, {0, 0}}));
  EXPECT_TRUE(IsConvex(Ring{{4, 0}, {8, 0}, {8, 8}, {0, 8}, {0, 0}}));
}

// Its five corners all turn the same way.
TEST(SourcesTest, APentagramIsNotConvex) {
  EXPECT_FALSE(IsConvex(Ring{{0, 9}, {6, -8}, {-9, 3}, {9, 3}, {-6, -8}}));
}

// The mean of the vertices moves when an edge is cut in two.
TEST(SourcesTest, TheCentroidDoesNotMoveWithVerticesOnAnEdge) {
  const Ring square = Rectangle(0, 0, 4, 4);
  const Ring cut{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {4, 4}, {0, 4}};
  EXPECT_EQ(AreaCentroid(square), AreaCentroid(cut));
  EXPECT_EQ(BoundingCircle(square).center, BoundingCircle(cut).center);
  EXPECT_EQ(VertexMean(square), (Vec2{2, 2}));
  EXPECT_NE(VertexMean(cut).y, 2);
}

// Counted crossings put the left and lower edges on one side and the others on the other.
TEST(SourcesTest, APointOnAnEdgeIsBoundaryOnEverySide) {
  const Scene::Ptr scene = SceneOf(Rectangle(0, 0, 4, 4));
  for (const Vec2 p : {Vec2{0, 2}, Vec2{4, 2}, Vec2{2, 0}, Vec2{2, 4}, Vec2{0, 0}, Vec2{4, 4}}) {
    EXPECT_EQ(LocateOne(*scene, p), Location::kBoundary);
  }
}

// An edge of length zero has the axis (0, 0), on which everything seems apart.
TEST(SourcesTest, ADuplicateVertexHidesNoOverlap) {
  const Ring doubled{{0, 0}, {4, 0}, {4, 0}, {4, 4}, {0, 4}};
  const Polygon mover = Made({{1, 1}, {9, 1}, {9, 1}, {9, 3}});
  EXPECT_EQ(OverlapOne(*SceneOf(doubled), mover).counts[0], 1u);
}

TEST(SourcesTest, ADuplicateVertexHidesNoContact) {
  const std::optional<Contact> contact =
      Collide(Made({{0, 0}, {4, 0}, {4, 0}, {4, 4}, {0, 4}}), Made(Rectangle(3, 1, 9, 3)));
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->normal, (Vec2{1, 0}));
  EXPECT_EQ(contact->depth, 1);
}

// `<=` calls touching shapes apart.
TEST(SourcesTest, TouchingIsContactOfDepthZero) {
  const Polygon square = Made(Rectangle(0, 0, 4, 4));
  EXPECT_EQ(OverlapOne(*SceneOf(Rectangle(0, 0, 4, 4)), square, {4, 4}).counts[0], 1u);
  const std::optional<Contact> contact = Collide(square, Made(Rectangle(4, 1, 9, 3)));
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->depth, 0);
  EXPECT_EQ(contact->normal, (Vec2{1, 0}));
}

// The overlap of two intervals, one within the other, is the length of the inner one: moving by
// that leaves the shape inside.
TEST(SourcesTest, AContainedShapeIsMovedAllTheWayOut) {
  const Polygon outer = Made(Rectangle(0, 0, 16, 16));
  const Polygon inner = Made(Rectangle(1, 6, 3, 8));
  const std::optional<Contact> contact = Collide(outer, inner);
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->kind, ContactKind::kConvex);
  EXPECT_EQ(contact->normal, (Vec2{-1, 0}));
  EXPECT_EQ(contact->depth, 3);  // not 2, its width
  const std::optional<Contact> after = Collide(outer, Moved(inner, {-3, 0}));
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->depth, 0);
}

// The text turns the vector to point from one centre to the other, the code does not.
TEST(SourcesTest, TheContactNormalPointsFromTheFixedShapeToTheMover) {
  const Polygon fixed = Made(Rectangle(0, 0, 4, 4));
  const struct {
    Ring mover;
    Vec2 normal;
  } cases[] = {{Rectangle(3, 1, 9, 3), {1, 0}},
               {Rectangle(-5, 1, 1, 3), {-1, 0}},
               {Rectangle(1, 3, 3, 9), {0, 1}},
               {Rectangle(1, -5, 3, 1), {0, -1}}};
  for (const auto& [mover, normal] : cases) {
    const std::optional<Contact> contact = Collide(fixed, Made(mover));
    ASSERT_TRUE(contact.has_value());
    EXPECT_EQ(contact->normal, normal);
    EXPECT_EQ(contact->depth, 1);
    const std::optional<Contact> back = Collide(Made(mover), fixed);
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(back->normal, (Vec2{0.0 - normal.x, 0.0 - normal.y}));
  }
}

// The vertex of least dot product with the centre is taken for the nearest one. Here it is (1, 1),
// not (5, 1), and its axis fails to separate.
TEST(SourcesTest, ACircleNearACornerIsApart) {
  const Scene::Ptr scene = SceneOf(Rectangle(1, 1, 5, 5));
  EXPECT_EQ(OverlapOne(*scene, Circle{{6, 0}, 1.25}).counts[0], 0u);
  EXPECT_EQ(OverlapOne(*scene, Circle{{6, 0}, 1.5}).counts[0], 1u);
}

// The axis from the vertex of least dot product, (1, 1), to the centre has no length where they
// coincide. NaN passes both comparisons that would reject, so that axis decides nothing.
TEST(SourcesTest, ACircleAboutAVertexOverlaps) {
  const Scene::Ptr scene = SceneOf(Rectangle(1, 1, 5, 5));
  for (const Vec2 vertex : {Vec2{1, 1}, Vec2{5, 1}}) {
    EXPECT_EQ(OverlapOne(*scene, Circle{vertex, 0.5}).counts[0], 1u);
    EXPECT_EQ(OverlapOne(*scene, Circle{vertex, 0}).counts[0], 1u);
  }
  const std::optional<Contact> contact = Collide(Made(Rectangle(1, 1, 5, 5)), Disc({1, 1}, 0.5));
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->depth, 0.5);
}

// No move is longer than the circle's diameter, so a deep one takes several.
TEST(SourcesTest, ADeepCircleIsMovedOutInOneStep) {
  const std::optional<Contact> contact = Collide(Made(Rectangle(0, 0, 16, 16)), Disc({4, 7}, 1));
  ASSERT_TRUE(contact.has_value());
  EXPECT_EQ(contact->normal, (Vec2{-1, 0}));
  EXPECT_EQ(contact->depth, 5);
}

// Left to "physics" by the article: each body moves in proportion to the other's mass.
TEST(SourcesTest, TheSplitByMassAddsUpToTheTranslation) {
  Contact contact;
  contact.normal = {1, 0};
  contact.depth = 4;
  const SplitTranslation split = SplitByMass(contact, 1, 3);
  EXPECT_EQ(split.mover, (Vec2{1, 0}));
  EXPECT_EQ(split.fixed, (Vec2{-3, 0}));
  const SplitTranslation wall = SplitByMass(contact, HUGE_VAL, 3);
  EXPECT_EQ(wall.mover, (Vec2{4, 0}));
  EXPECT_EQ(wall.fixed, (Vec2{0, 0}));
}

// Ray against polygon.

// Entering through a vertex counts two edges, leaving through an edge one: three is odd, "inside".
TEST(SourcesTest, ARayThroughAVertexHits) {
  const Scene::Ptr scene = SceneOf({{2, 0}, {6, -3}, {6, 3}});
  const CastAnswers answers = CastOne(*scene, Segment{{0, 0}, {8, 0}});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.25);
  EXPECT_EQ(answers.hits[0].feature, Feature::kVertex);
  EXPECT_EQ(answers.hits[0].exit_fraction, 0.75);
}

// Crossings are counted beyond the limit: a polygon out of reach is a hit, at no distance.
TEST(SourcesTest, ALimitEndsTheRay) {
  const Scene::Ptr scene = SceneOf(Rectangle(6, -1, 8, 1));
  const auto cast = [&](double t_max) { return CastOne(*scene, Ray{{0, 0}, {1, 0}, 0, t_max}); };
  EXPECT_EQ(cast(5).counts[0], 0u);
  EXPECT_EQ(cast(6).counts[0], 1u);
  const CastAnswers within = cast(7);
  ASSERT_EQ(within.hits.size(), 1u);
  EXPECT_EQ(within.hits[0].fraction, 6);
  EXPECT_TRUE(within.hits[0].ends_inside);
  const CastAnswers endless = cast(HUGE_VAL);
  ASSERT_EQ(endless.hits.size(), 1u);
  EXPECT_EQ(endless.hits[0].exit_fraction, 8);
}

// Parallel edges are skipped, collinear ones with them: a ray along an open wall meets nothing.
TEST(SourcesTest, ARayAlongAnEdgeHits) {
  PolygonSpec wall{1, {{{{2, 0}, {4, 0}}, true}}};
  wall.solidity = Solidity::kBoundary;
  const CastAnswers answers = CastOne(*MakeScene({wall}).scene, Segment{{0, 0}, {8, 0}});
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].fraction, 0.25);
  EXPECT_EQ(answers.hits[0].feature, Feature::kCollinear);
  EXPECT_EQ(answers.hits[0].exit_fraction, 0.5);
}

// Odd counts and no counts are the same `false`.
TEST(SourcesTest, AStartInsideIsToldFromAMiss) {
  const Scene::Ptr scene = SceneOf(Rectangle(0, 0, 4, 4));
  EXPECT_EQ(CastOne(*scene, Segment{{5, 1}, {9, 1}}).counts[0], 0u);
  const Segment out{{1, 1}, {9, 1}};
  const CastAnswers start = CastOne(*scene, out);
  ASSERT_EQ(start.hits.size(), 1u);
  EXPECT_TRUE(start.hits[0].starts_inside);
  const CastAnswers exit = CastOne(*scene, out, Mode(CastMode::kClosest, InsidePolicy::kExit));
  ASSERT_EQ(exit.hits.size(), 1u);
  EXPECT_EQ(exit.hits[0].fraction, 0.375);
  EXPECT_EQ(exit.hits[0].normal, (Vec2{1, 0}));
}

// The normal is a fixed perpendicular of the edge, right for one winding.
TEST(SourcesTest, TheNormalFacesTheRayWhateverTheWinding) {
  for (const Ring& ring : {Rectangle(2, 0, 4, 2), Reversed(Rectangle(2, 0, 4, 2))}) {
    EXPECT_EQ(CastOne(*SceneOf(ring), Segment{{0, 1}, {8, 1}}).hits[0].normal, (Vec2{-1, 0}));
  }
}

// The greatest distance is asked for where bullets go through; that of a concave polygon is the end
// of its last passage, not of the first.
TEST(SourcesTest, TheGreatestDistanceIsTheEndOfTheLastPassage) {
  const Ring horseshoe{{1, 0}, {7, 0}, {7, 4}, {5, 4}, {5, 1}, {3, 1}, {3, 4}, {1, 4}};
  const CastAnswers answers =
      CastOne(*SceneOf(horseshoe), Segment{{0, 2}, {8, 2}}, Mode(CastMode::kAllPassages));
  ASSERT_EQ(answers.hits.size(), 2u);
  EXPECT_EQ(answers.hits[0].fraction, 0.125);
  EXPECT_EQ(answers.hits[1].exit_fraction, 0.875);
}

TEST(SourcesTest, TheReflectionLeavesOnTheSideItCameFrom) {
  CastOptions options;
  options.reflect = true;
  const CastAnswers answers =
      CastOne(*SceneOf(Rectangle(-9, -1, 9, 0)), Segment{{0, 1}, {3, -2}}, options);
  ASSERT_EQ(answers.reflections.size(), 1u);
  EXPECT_EQ(answers.reflections[0], (Vec2{3, 3}));
}

// "Only the half of the polygon closest to the origin" is not offered. Taken by count, it loses a
// hit on a convex polygon: the long edge that is hit has its middle far away.
TEST(SourcesTest, TheNearestHalfOfTheEdgesMissesALongOne) {
  const Ring ring{{1, -1}, {2, -1.5}, {3, -1.75}, {4, -1.875}, {5, -1.75}, {6, -1.5}, {1, 100}};
  ASSERT_TRUE(IsConvex(ring));
  const Segment ray{{0, 0}, {9, 0}};
  const Polygon polygon = Made(ring);
  std::vector<std::pair<double, size_t>> by_distance;
  for (size_t i = 0; i < polygon.edge_count(); ++i) {
    const Segment e = polygon.edge(i);
    const Vec2 middle{(e.a.x + e.b.x) / 2, (e.a.y + e.b.y) / 2};
    by_distance.push_back({middle.x * middle.x + middle.y * middle.y, i});
  }
  std::sort(by_distance.begin(), by_distance.end());
  for (size_t k = 0; k < (polygon.edge_count() + 1) / 2; ++k) {
    EXPECT_FALSE(Intersects(ray, polygon.edge(by_distance[k].second)));
  }
  const CastAnswers answers = CastOne(*SceneOf(ring), ray);
  ASSERT_EQ(answers.hits.size(), 1u);
  EXPECT_EQ(answers.hits[0].point, (Vec2{1, 0}));
}

// Taken by facing, it loses every hit on a part that turns the other way: half of a bowtie, and a
// hole that is wound like the outer ring.
TEST(SourcesTest, TheFacingHalfOfTheEdgesMissesAReversedPart) {
  const auto faces = [](const Segment& edge, Vec2 origin) {
    return Orientation(edge.a, edge.b, origin) < 0;  // outside of a counter-clockwise ring
  };
  const auto met_by_facing = [&](const Polygon& polygon, const Segment& ray) {
    bool met = false;
    for (size_t i = 0; i < polygon.edge_count(); ++i) {
      const Segment edge = polygon.edge(i);
      met = met || (faces(edge, ray.a) && Intersects(ray, edge));
    }
    return met;
  };
  const Ring bowtie{{0, 0}, {4, 4}, {4, 0}, {0, 4}};
  const Segment from_left{{-1, 2}, {1, 2}};
  const Segment from_right{{5, 2}, {3, 2}};
  EXPECT_NE(met_by_facing(Made(bowtie), from_left), met_by_facing(Made(bowtie), from_right));
  EXPECT_EQ(CastOne(*SceneOf(bowtie), from_left).counts[0], 1u);
  EXPECT_EQ(CastOne(*SceneOf(bowtie), from_right).counts[0], 1u);
  const PolygonSpec holed{1, {{Rectangle(0, 0, 9, 9)}, {Rectangle(3, 3, 6, 6)}}};
  const Segment from_hole{{4, 4}, {8, 4}};
  EXPECT_FALSE(met_by_facing(Polygon::Create(holed).value(), from_hole));
  EXPECT_EQ(CastOne(*MakeScene({holed}).scene, from_hole).hits[0].fraction, 0.5);
}

// Polygon against polygon by covering.

// Every triangle has a corner at the covering's own origin, the centroid: no interior holds it.
TEST(SourcesTest, TheOriginOfTheCoveringIsLocated) {
  const Ring ring = Rectangle(0, 0, 4, 4);
  const Vec2 centroid = *AreaCentroid(ring);
  EXPECT_EQ(LocateByCovering(Made(ring), centroid, centroid), Location::kInside);
}

// The sum is compared with +2: clockwise it is -2, and where the polygon covers twice, 4.
TEST(SourcesTest, TheCoveringHoldsForEitherWindingAndTwofold) {
  const Ring square = Rectangle(0, 0, 4, 4);
  for (const Ring& ring : {square, Reversed(square)}) {
    EXPECT_EQ(LocateByCovering(Made(ring), {1, 1}, {3, 2}), Location::kInside);
    EXPECT_EQ(LocateByCovering(Made(ring), {1, 1}, {5, 2}), Location::kOutside);
  }
  PolygonSpec twofold{1, {{square}, {Rectangle(2, 2, 6, 6)}}};
  twofold.fill_rule = FillRule::kNonZero;
  EXPECT_EQ(LocateByCovering(Polygon::Create(twofold).value(), {1, 1}, {3, 3}), Location::kInside);
}

// A triangle whose edge is in line with the origin has no signs.
TEST(SourcesTest, AnEdgeInLineWithTheOriginHidesNothing) {
  const Polygon dart = Made({{0, 0}, {8, 0}, {2, 2}, {0, 8}});
  for (const Vec2 origin : {Vec2{-4, 0}, Vec2{8, 0}, Vec2{4, 0}, Vec2{0, -1}}) {
    EXPECT_EQ(SignsIn(origin, dart.edge(origin.x == 0 ? 3 : 0), {1, 1}).triangle, 0);
    EXPECT_EQ(LocateByCovering(dart, origin, {1, 1}), Location::kInside);
    EXPECT_EQ(LocateByCovering(dart, origin, {4, 0}), Location::kBoundary);
    EXPECT_EQ(LocateByCovering(dart, origin, {-1, 0}), Location::kOutside);
  }
}

// A move on which bits only change from inner to outer is answered OUT. In a concave polygon such a
// move can stay inside.
TEST(SourcesTest, AMoveThatStaysInsideIsInside) {
  const Polygon dart = Made({{0, 0}, {8, 0}, {2, 2}, {0, 8}});
  const EdgeSigns before(dart, {1, 1});
  const EdgeSigns after(dart, {5, 0.5});
  EXPECT_EQ(before.words()[0] & ~after.words()[0], 4u);  // edge 2, the other side of the notch
  EXPECT_EQ(after.words()[0] & ~before.words()[0], 0u);
  EXPECT_FALSE(before.ProvesClearPathTo(after));
  EXPECT_EQ(LocateByCovering(dart, *AreaCentroid(dart.ring(0)), {5, 0.5}), Location::kInside);
}

// A bit for "inner" gives a point on an edge the mask of one beyond it.
TEST(SourcesTest, EqualMasksWithAZeroProveNothing) {
  const Polygon square = Made(Rectangle(0, 0, 4, 4));
  const EdgeSigns on_edge(square, {4, 2});
  const EdgeSigns beyond(square, {5, 2});
  EXPECT_TRUE(std::equal(on_edge.words().begin(), on_edge.words().end(), beyond.words().begin()));
  EXPECT_FALSE(on_edge.ProvesClearPathTo(beyond));
}

// No edges cross where one polygon lies within the other.
TEST(SourcesTest, APolygonWithinAnotherCollides) {
  const Scene::Ptr scene = SceneOf(Rectangle(0, 0, 16, 16));
  EXPECT_EQ(OverlapOne(*scene, Made(Rectangle(4, 4, 6, 6))).counts[0], 1u);
  EXPECT_EQ(OverlapOne(*scene, Made(Rectangle(-4, -4, 20, 20))).counts[0], 1u);
}

// Edges whose ends differ in sign cross the line of an edge, not the edge.
TEST(SourcesTest, TheEdgesThatTakePartAreThoseThatTouch) {
  OverlapOptions options;
  options.detail = OverlapDetail::kEdges;
  const Ring horseshoe{{1, 0}, {7, 0}, {7, 4}, {5, 4}, {5, 1}, {3, 1}, {3, 4}, {1, 4}};
  // Through the bottom, edge 0, and below the gap, whose left wall is edge 5: two of the mover's
  // edges cross that wall's line.
  const OverlapAnswers answers =
      OverlapOne(*SceneOf(horseshoe), Made(Rectangle(2, -1, 4, 0.5)), {}, options);
  EXPECT_EQ(answers.edges, (std::vector<EdgeRef>{{0, 0}}));
}

// Circles that do not meet prove polygons apart only if they hold them; with a radius rounded to
// nearest they may not. The smaller they are, the more they prove: about the centroid, (5, 1/3), a
// circle that holds this triangle has a radius above 5, a quarter more than it needs.
TEST(SourcesTest, BoundingCirclesHoldEveryVertex) {
  for (const Ring& ring :
       {Ring{{0.1, 0.2}, {0.7, 0.3}, {0.4, 0.9}, {0.2, 0.8}}, Ring{{0, 0}, {8, 0}, {7, 1}}}) {
    const Circle circle = BoundingCircle(ring);
    for (const Vec2 v : ring) EXPECT_LE(CompareDistance(v, circle), 0);
  }
  const Ring triangle{{0, 0}, {8, 0}, {7, 1}};
  EXPECT_GT(CompareDistance(Vec2{0, 0}, Circle{*AreaCentroid(triangle), 5}), 0);
  EXPECT_LE(BoundingCircle(triangle).radius, std::nextafter(4, 5));
}

// "Specifying a distance between objects": barycentric coordinates measure it from lines, which are
// longer than edges.
TEST(SourcesTest, TheDistanceIsThatOfEdgesNotOfLines) {
  const Polygon a = Made(Rectangle(0, 0, 4, 4));
  const Polygon b = Made(Rectangle(7, 8, 9, 9));
  EXPECT_EQ(Distance(a, b).distance, 5);
  EXPECT_TRUE(IsWithin(a, b, 5));
  EXPECT_FALSE(IsWithin(a, b, std::nextafter(5, 0)));
}

}  // namespace
}  // namespace carom::testing::sources_test
