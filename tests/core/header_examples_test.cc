// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The examples with which the public headers open: each runs here, and the text between the marks
// is the text in the header.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/arc.h"
#include "carom/area.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/body_history.h"
#include "carom/bounce.h"
#include "carom/bundle.h"
#include "carom/bundle_file.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/convex.h"
#include "carom/covering.h"
#include "carom/depenetrate.h"
#include "carom/distance.h"
#include "carom/explain.h"
#include "carom/eye_table.h"
#include "carom/eye_tracker.h"
#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/lint.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/polygon.h"
#include "carom/predicates.h"
#include "carom/ring.h"
#include "carom/rotating_sweep.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/sincos.h"
#include "carom/slide.h"
#include "carom/status.h"
#include "carom/svg.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/tracker_table.h"
#include "carom/visibility.h"
#include "carom/work_meter.h"
#include "tests/support/header_examples.h"

namespace carom::header_examples_test {
namespace {

Polygon SquareOfFour() {
  PolygonSpec spec;
  spec.id = 7;
  spec.rings.push_back({{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, false});
  return Polygon::Create(std::move(spec)).value();
}

// What the examples ask about: the square from (0, 0) to (4, 4).
class HeaderExampleTest : public ::testing::Test {
 protected:
  const Polygon polygon = SquareOfFour();
  const Scene::Ptr scene = Scene::Create({polygon}).value();
  const Shape shape = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  Group group;
  GroupAnswers answers;
  WorkMeter meter;
};

TEST_F(HeaderExampleTest, Cast) {
  // carom/cast.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  CastAnswers out;
  WorkMeter meter;
  CastSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
  // out.hits[0]: polygon_id 7, fraction 0.25, point (0, 1), normal (-1, 0)
  // end
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_EQ(out.hits[0].polygon_id, 7u);
  EXPECT_EQ(out.hits[0].fraction, 0.25);
  EXPECT_EQ(out.hits[0].point, (Vec2{0, 1}));
  EXPECT_EQ(out.hits[0].normal, (Vec2{-1, 0}));
}

TEST_F(HeaderExampleTest, Locate) {
  // carom/locate.h
  const double x[] = {1}, y[] = {4};
  LocateAnswers out;
  WorkMeter meter;
  LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
  // out.polygon_ids[0] == 7, out.locations[0] == Location::kBoundary
  // end
  ASSERT_EQ(out.polygon_ids.size(), 1u);
  EXPECT_EQ(out.polygon_ids[0], 7u);
  EXPECT_EQ(out.locations[0], Location::kBoundary);
}

TEST_F(HeaderExampleTest, Overlap) {
  // carom/overlap.h
  const double x[] = {5}, y[] = {2}, radius[] = {1};
  OverlapAnswers out;
  WorkMeter meter;
  OverlapCircles(*scene, {x, y, radius}, {}, out, meter);
  // out.polygon_ids[0] == 7, out.touching[0] == 1
  // end
  ASSERT_EQ(out.polygon_ids.size(), 1u);
  EXPECT_EQ(out.polygon_ids[0], 7u);
  EXPECT_EQ(out.touching[0], 1);
}

TEST_F(HeaderExampleTest, Distance) {
  // carom/distance.h
  const Shape a = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
  const Shape b = Shape::Create(Capsule{{{2, 5}, {2, 5}}, 1}).value();
  const Separation found = Distance(a, b);
  // found: distance 3, point_a (2, 1), point_b (2, 4)
  const bool near = IsWithin(a, b, 3);  // true
  // end
  EXPECT_EQ(found.distance, 3);
  EXPECT_EQ(found.point_a, (Vec2{2, 1}));
  EXPECT_EQ(found.point_b, (Vec2{2, 4}));
  EXPECT_TRUE(near);
}

TEST_F(HeaderExampleTest, Contact) {
  // carom/contact.h
  const Shape wall = Shape::Create(Capsule{{{0, 0}, {4, 0}}, 1}).value();
  const Shape ball = Shape::Create(Capsule{{{2, 1.5}, {2, 1.5}}, 1}).value();
  const std::optional<Contact> contact = Collide(wall, ball);
  // contact: normal (0, 1), depth 0.5, one point (2, 0.75)
  // end
  ASSERT_TRUE(contact);
  EXPECT_EQ(contact->normal, (Vec2{0, 1}));
  EXPECT_EQ(contact->depth, 0.5);
  ASSERT_EQ(contact->point_count, 1u);
  EXPECT_EQ(contact->points[0].point, (Vec2{2, 0.75}));
}

TEST_F(HeaderExampleTest, Depenetrate) {
  // carom/depenetrate.h
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const double x[] = {3.5}, y[] = {2};
  DepenetrateAnswers out;
  WorkMeter meter;
  Depenetrate(*scene, {shapes, {}, x, y}, {}, out, meter);
  // out.finished[0] == 1, out.positions[0] is a few ulp right of (5, 2)
  // end
  EXPECT_EQ(out.finished[0], 1);
  EXPECT_GT(out.positions[0].x, 5);
  EXPECT_LT(out.positions[0].x, 5 + 1e-13);
  EXPECT_EQ(out.positions[0].y, 2);
}

TEST_F(HeaderExampleTest, Sweep) {
  // carom/sweep.h
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const double x[] = {-4}, y[] = {2}, to_x[] = {4}, to_y[] = {2};
  SweepAnswers out;
  WorkMeter meter;
  SweepShapes(*scene, {{shapes, {}, x, y}, to_x, to_y}, {}, out, meter);
  // out.hits[0]: polygon_id 7, fraction 0.375, normal (-1, 0)
  // end
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_EQ(out.hits[0].polygon_id, 7u);
  EXPECT_EQ(out.hits[0].fraction, 0.375);
  EXPECT_EQ(out.hits[0].normal, (Vec2{-1, 0}));
}

TEST_F(HeaderExampleTest, Slide) {
  // carom/slide.h
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const double x[] = {-4}, y[] = {2}, dx[] = {5}, dy[] = {1};
  SlideAnswers out;
  WorkMeter meter;
  SlideShapes(*scene, {{shapes, {}, x, y}, dx, dy}, {}, out, meter);
  // out.rows[0].position: (-1, 3), up the wall of polygon 7; out.legs[0].hit.normal: (-1, 0)
  // end
  EXPECT_EQ(out.rows[0].position, (Vec2{-1, 3}));
  ASSERT_EQ(out.legs.size(), 2u);
  EXPECT_EQ(out.legs[0].hit.polygon_id, 7u);
  EXPECT_EQ(out.legs[0].hit.normal, (Vec2{-1, 0}));
}

TEST_F(HeaderExampleTest, Bounce) {
  // carom/bounce.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  BounceAnswers out;
  WorkMeter meter;
  BounceSegments(*scene, {ax, ay, bx, by}, {}, out, meter);
  // out.legs[0].hit: polygon_id 7, fraction 0.25; out.legs[1]: from about (0, 1) to (-6, 1)
  // end
  ASSERT_EQ(out.legs.size(), 2u);
  EXPECT_EQ(out.legs[0].hit.polygon_id, 7u);
  EXPECT_EQ(out.legs[0].hit.fraction, 0.25);
  EXPECT_EQ(out.legs[1].b, (Vec2{-6, 1}));
}

TEST_F(HeaderExampleTest, RotatingSweep) {
  // carom/rotating_sweep.h
  const Shape shapes[] = {Shape::Create(Capsule{{{-1, 0}, {1, 0}}, 0}).value()};
  const double x[] = {-4}, y[] = {2}, to_x[] = {4}, turn[] = {1}, near[] = {0.01};
  RotatingSweepAnswers out;
  WorkMeter meter;
  SweepRotating(*scene, {{shapes, {}, x, y}, to_x, y, {}, {}, turn, near}, {}, out, meter);
  // out.hits[0]: polygon_id 7, touches or nearly so at `high`, certainly not before `low`
  // end
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_EQ(out.hits[0].polygon_id, 7u);
  EXPECT_LE(out.hits[0].low, out.hits[0].high);
}

TEST_F(HeaderExampleTest, Arc) {
  // carom/arc.h
  const double x[] = {2}, y[] = {8}, zero[] = {0}, ay[] = {-2}, duration[] = {5};
  ArcAnswers out;
  WorkMeter meter;
  CastArcs(*scene, {x, y, zero, zero, zero, ay, duration}, {}, out, meter);
  // out.hits[0]: polygon_id 7, time 2, point (2, 4), normal (0, 1)
  // end
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_EQ(out.hits[0].polygon_id, 7u);
  EXPECT_EQ(out.hits[0].time, 2);
  EXPECT_EQ(out.hits[0].point, (Vec2{2, 4}));
  EXPECT_EQ(out.hits[0].normal, (Vec2{0, 1}));
}

TEST_F(HeaderExampleTest, Bodies) {
  // carom/bodies.h
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  const double x[] = {8}, y[] = {1};
  const Bodies bodies = Bodies::Create({{shapes, {}, x, y}}).value();
  const double ax[] = {6}, ay[] = {1}, bx[] = {10}, by[] = {1};
  SegmentColumns bullets{ax, ay, bx, by};
  bullets.scope.against = Against::kBoth;
  CastAnswers out;
  WorkMeter meter;
  CastSegments({*scene, &bodies}, bullets, {}, out, meter);
  // out.hits[0]: body 0 (is_body), fraction 0.25, normal (-1, 0)
  // end
  ASSERT_EQ(out.hits.size(), 1u);
  EXPECT_TRUE(out.hits[0].is_body);
  EXPECT_EQ(out.hits[0].polygon_id, 0u);
  EXPECT_EQ(out.hits[0].fraction, 0.25);
  EXPECT_EQ(out.hits[0].normal, (Vec2{-1, 0}));
}

TEST_F(HeaderExampleTest, Visibility) {
  // carom/visibility.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  SightAnswers out;
  WorkMeter meter;
  TestLinesOfSight(*scene, {ax, ay, bx, by}, {}, out, meter);
  // out.visible[0] == 0: polygon 7 is between
  // end
  EXPECT_EQ(out.visible[0], 0);
}

TEST_F(HeaderExampleTest, Sees) {
  // carom/sees.h
  const Shape shapes[] = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 0.5}).value()};
  const uint32_t shape[] = {0, 0};
  const double bx[] = {-1, 6}, by[] = {3, 1};
  const Bodies bodies = Bodies::Create({{shapes, shape, bx, by}}).value();
  const double x[] = {-2}, y[] = {1}, range[] = {16};
  SeeAnswers out;
  WorkMeter meter;
  FindSeen({*scene, &bodies}, {x, y, range}, {}, out, meter);
  // out.Sees(0, 0), but not out.Sees(0, 1): polygon 7 hides body 1
  // end
  EXPECT_TRUE(out.Sees(0, 0));
  EXPECT_FALSE(out.Sees(0, 1));
}

TEST_F(HeaderExampleTest, EyeTracker) {
  // carom/eye_tracker.h
  std::vector<EyeTracker> trackers(1);
  const double range[] = {4}, y[] = {1};
  AreaAnswers out;
  for (const double x : {-2.0, -2.0625, -2.125}) {
    WorkMeter meter;
    const AreaColumns eyes{.x = {&x, 1}, .y = y, .range = range, .trackers = trackers};
    FindAreas(*scene, eyes, {}, out, meter);
  }
  // out.tiers.quiet == 1: the third question was answered by the edges that the second one kept
  // end
  EXPECT_EQ(out.tiers.quiet, 1u);
}

TEST_F(HeaderExampleTest, EyeTable) {
  const double x[] = {-2}, y[] = {1}, range[] = {4};
  const uint32_t eye[] = {7};
  group.areas = {.x = x, .y = y, .range = range, .eye = eye};
  // carom/eye_table.h
  EyeTable table;
  table.BeginFrame();
  table.Begin(group);
  const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
  table.End();
  // answers.areas.tiers.cold == 1: a memory is made by the next question, and used from then on
  // end
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(answers.areas.tiers.cold, 1u);
}

TEST_F(HeaderExampleTest, Area) {
  // carom/area.h
  const double x[] = {-2}, y[] = {1}, range[] = {4};
  AreaAnswers out;
  WorkMeter meter;
  FindAreas(*scene, {x, y, range}, {}, out, meter);
  // out.pieces[1]: the left edge of polygon 7, from (0, 0) to the next piece, at (0, 4)
  // end
  ASSERT_EQ(out.pieces.size(), 4u);
  EXPECT_EQ(out.pieces[1].polygon_id, 7u);
  EXPECT_EQ(out.pieces[1].edge, (EdgeRef{0, 3}));
  EXPECT_EQ(out.pieces[1].start, (Vec2{0, 0}));
  EXPECT_EQ(out.pieces[2].start, (Vec2{0, 4}));
}

TEST_F(HeaderExampleTest, Tracker) {
  // carom/tracker.h
  std::vector<Tracker> trackers = {Tracker::Create(shape).value()};
  const double x[] = {10}, y[] = {2};
  MoveAnswers out;
  WorkMeter meter;
  MoveTrackers(*scene, {.trackers = trackers, .x = x, .y = y}, {}, out, meter);
  // out.clear[0] == 1: item 0 touches nothing
  // end
  EXPECT_EQ(out.clear[0], 1u);
}

TEST_F(HeaderExampleTest, Convex) {
  // carom/convex.h
  const Vec2 corners[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  const ConvexRing ring = ConvexRing::Create(corners).value();
  const Location at = ring.Locate({1, 4});  // kBoundary
  const std::optional<Clip> clip = ring.ClipSegment({{-4, 1}, {4, 1}});
  // clip: entry_fraction 0.5, entry_edge 3, entry_normal (-1, 0), exit_fraction 1
  // end
  EXPECT_EQ(at, Location::kBoundary);
  ASSERT_TRUE(clip);
  EXPECT_EQ(clip->entry_fraction, 0.5);
  EXPECT_EQ(clip->entry_edge, 3u);
  EXPECT_EQ(clip->entry_normal, (Vec2{-1, 0}));
  EXPECT_EQ(clip->exit_fraction, 1);
}

TEST_F(HeaderExampleTest, Covering) {
  // carom/covering.h
  const Location at = LocateByCovering(polygon, {0, 0}, {1, 4});  // kBoundary
  PointTracker tracker(polygon);
  tracker.MoveTo({1, 1});
  const Location moved = tracker.MoveTo({2.5, 1.5});  // kInside
  // tracker.kept_count() == 1: no sign changed
  // end
  EXPECT_EQ(at, Location::kBoundary);
  EXPECT_EQ(moved, Location::kInside);
  EXPECT_EQ(tracker.kept_count(), 1u);
}

TEST_F(HeaderExampleTest, Predicates) {
  // carom/predicates.h
  const Segment a{{0, 0}, {4, 0}}, b{{4, 0}, {4, 4}};
  const int side = Orientation(a.a, a.b, {2, 1});                       // 1: left of a
  const bool on = IsOnSegment({2, 0}, a);                               // true
  const bool meet = Intersects(a, b);                                   // true: they touch
  const int distance = CompareDistance(Vec2{3, 4}, Circle{{0, 0}, 5});  // 0: on the circle
  // end
  EXPECT_EQ(side, 1);
  EXPECT_TRUE(on && meet);
  EXPECT_EQ(distance, 0);
}

TEST_F(HeaderExampleTest, Ring) {
  // carom/ring.h
  const Vec2 ring[] = {{0, 0}, {4, 0}, {4, 4}, {0, 4}};
  const double area = SignedArea(ring);                   // 16
  const bool convex = IsConvex(ring);                     // true
  const std::optional<Vec2> centre = AreaCentroid(ring);  // (2, 2)
  const Circle circle = BoundingCircle(ring);             // about (2, 2)
  // end
  EXPECT_EQ(area, 16);
  EXPECT_TRUE(convex);
  EXPECT_EQ(centre, (Vec2{2, 2}));
  EXPECT_EQ(circle.center, (Vec2{2, 2}));
}

TEST_F(HeaderExampleTest, Scene) {
  // carom/scene.h
  const Scene::Ptr first = Scene::Create({polygon}, 1).value();
  const Scene::Ptr second = first->Commit({RemovePolygon{7}}, 2).value();
  // second->polygon_count() == 0
  // first->polygon_count() == 1: a commit does not change the first snapshot
  // end
  EXPECT_EQ(second->polygon_count(), 0u);
  EXPECT_EQ(first->polygon_count(), 1u);
}

TEST_F(HeaderExampleTest, Shape) {
  // carom/shape.h
  const Shape disc = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
  const Shape moved = Placed(disc, {{2, 3}}).value();
  // moved.capsule()->axis.a: (2, 3)
  const Box bounds = moved.bounds();  // from (1, 2) to (3, 4), or rounded outward
  // end
  ASSERT_NE(moved.capsule(), nullptr);
  EXPECT_EQ(moved.capsule()->axis.a, (Vec2{2, 3}));
  EXPECT_TRUE(bounds.Contains({1, 2}) && bounds.Contains({3, 4}));
  EXPECT_FALSE(bounds.Contains({1 - 1e-14, 2}) || bounds.Contains({3, 4 + 1e-14}));
}

TEST_F(HeaderExampleTest, Polygon) {
  // carom/polygon.h
  PolygonSpec spec;
  spec.id = 7;
  spec.rings.push_back({{{0, 0}, {4, 0}, {4, 4}, {0, 4}}, false});
  const absl::StatusOr<Polygon> square = Polygon::Create(spec);
  // square->edge_count() == 4, square->bounds(): from (0, 0) to (4, 4)
  // end
  ASSERT_TRUE(square.ok()) << square.status();
  EXPECT_EQ(square->edge_count(), 4u);
  EXPECT_EQ(square->bounds().min, (Vec2{0, 0}));
  EXPECT_EQ(square->bounds().max, (Vec2{4, 4}));
}

TEST_F(HeaderExampleTest, Geometry) {
  // carom/geometry.h
  const Pose pose{{2, 3}, 0, 1};               // a quarter turn counter-clockwise, then to (2, 3)
  const Vec2 p = Placed(pose, {1, 0});         // (2, 4)
  const Box box = BoundsOf({{0, 0}, p});       // from (0, 0) to (2, 4)
  const bool contains = box.Contains({2, 1});  // true: a box contains its edges
  const bool accepted = IsAccepted(0x1p54);    // false: above 2^53
  // end
  EXPECT_EQ(p, (Vec2{2, 4}));
  EXPECT_EQ(std::pair(box.min, box.max), std::pair(Vec2{0, 0}, Vec2{2, 4}));
  EXPECT_TRUE(contains && !accepted);
}

TEST_F(HeaderExampleTest, Group) {
  const double x[] = {1}, y[] = {4};
  // carom/group.h
  Group group;
  group.points = {x, y};  // columns of 1 and 4
  GroupAnswers answers;
  WorkMeter meter;
  const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
  // answers.points.polygon_ids[0] == 7
  // end
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(answers.points.polygon_ids.size(), 1u);
  EXPECT_EQ(answers.points.polygon_ids[0], 7u);
}

TEST_F(HeaderExampleTest, Svg) {
  // carom/svg.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  Group group;
  group.segments = {ax, ay, bx, by};
  GroupAnswers answers;
  WorkMeter meter;
  const absl::Status status = EvaluateGroup(*scene, group, answers, meter);
  const std::string picture = DrawSvg(*scene, &group, &answers, {.width = 640});
  // `picture` shows the square, a bullet that ends at (0, 1), and the normal there
  // end
  ASSERT_TRUE(status.ok()) << status;
  // 76 pixels are one unit, and (0, 1) is at (168, 244).
  EXPECT_NE(picture.find("M16 244L168 244"), std::string::npos) << picture;
  EXPECT_NE(picture.find("M168 244L159 244"), std::string::npos) << picture;
}

TEST_F(HeaderExampleTest, Explain) {
  // carom/explain.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  Group group;
  group.segments = {ax, ay, bx, by};
  WorkMeter meter;
  const Explanation explanation = Explain(*scene, group, {}, meter).value();
  // explanation.stages[0].candidates[0]: id 7, fate kKept, key 0.25
  // explanation.text: the same, for people
  // end
  const ExplainedCandidate& candidate = explanation.stages.at(0).candidates.at(0);
  EXPECT_EQ(candidate.id, 7u);
  EXPECT_EQ(candidate.fate, CandidateFate::kKept);
  EXPECT_EQ(candidate.key, 0.25);
  EXPECT_NE(explanation.text.find("polygon 7: kept"), std::string::npos) << explanation.text;
}

TEST_F(HeaderExampleTest, Lint) {
  // carom/lint.h
  LintOptions options;
  options.gap_radius = 0.5;  // a disc of radius 0.5 passes a gap of width 1, and no narrower gap
  WorkMeter meter;
  const absl::StatusOr<LintReport> report = Lint(*scene, options, meter);
  // report->findings: by polygon, ring and edge
  // end
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->findings.empty());
  EXPECT_GT(report->near_distance, 0);
}

TEST_F(HeaderExampleTest, TrackerTable) {
  const double x[] = {10}, y[] = {2};
  const TrackerDefinitions definitions[] = {{.shapes = {&shape, 1}}};
  TrackerTable table;
  group.moves = {.x = x, .y = y};
  // carom/tracker_table.h
  absl::Status status = table.Define({}, definitions);
  table.BeginFrame();
  table.Begin(group);
  status = EvaluateGroup(*scene, group, answers, meter);
  table.End(answers.moves.memory_growth);
  // end
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(answers.moves.clear[0], 1u);
  EXPECT_NE(table.Find(0), nullptr);
}

TEST_F(HeaderExampleTest, SinCos) {
  // carom/sincos.h
  const CosSin turn = SinCos(0.5);  // 0.877..., 0.479...
  const Pose pose{{2, 3}, turn.c, turn.s};
  const Vec2 p = Placed(pose, {1, 0});  // the same bits everywhere
  // end
  EXPECT_NEAR(turn.c, 0.8775825618903728, 1e-15);
  EXPECT_NEAR(turn.s, 0.479425538604203, 1e-15);
  EXPECT_EQ(p, (Vec2{2 + turn.c, 3 + turn.s}));
}

TEST_F(HeaderExampleTest, WorkMeter) {
  const double x[] = {1}, y[] = {4};
  LocateAnswers out;
  // carom/work_meter.h
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  WorkMeter meter([end] { return std::chrono::steady_clock::now() > end; });
  meter.set_max_rows(1000);
  const bool finished = LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
  // finished == !meter.stopped()
  // end
  EXPECT_EQ(finished, !meter.stopped());
  EXPECT_EQ(meter.rows(), 1u);
}

TEST_F(HeaderExampleTest, Status) {
  // carom/status.h
  const absl::Status status = InvalidField("segments.by", "must have 4 entries");
  const std::vector<Violation> violations = Violations(status);
  // violations[0].field == "segments.by"
  const uint64_t delay_us = RetryDelay(status);  // 0: a retry would be refused, too
  // end
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].field, "segments.by");
  EXPECT_EQ(delay_us, 0u);
}

TEST_F(HeaderExampleTest, Bundle) {
  // carom/bundle.h
  const std::string bytes = WriteBundle(*scene);
  const absl::StatusOr<Scene::Ptr> again = ReadBundle(bytes);
  const bool same = again.ok() && (*again)->Find(7) != nullptr;  // true
  const absl::Status cut = ReadBundle(bytes.substr(0, 100)).status();
  // cut.code() == absl::StatusCode::kDataLoss, of the field "header.file_size"
  // end
  EXPECT_TRUE(same);
  EXPECT_EQ(cut.code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Violations(cut)[0].field, "header.file_size");
}

TEST_F(HeaderExampleTest, BundleFile) {
  const std::string path = ::testing::TempDir() + "/header_example-" + std::to_string(getpid());
  // carom/bundle_file.h
  const absl::Status saved = SaveBundle(*scene, path);
  const absl::StatusOr<Scene::Ptr> opened = OpenBundle(path);
  const bool same = saved.ok() && opened.ok() && (*opened)->polygon_count() == 1;  // true
  // end
  EXPECT_TRUE(same);
  std::filesystem::remove(path);
}

TEST_F(HeaderExampleTest, Batch) {
  // carom/batch.h
  const double x[] = {1, NAN}, y[] = {4, 4};
  LocateAnswers out;
  WorkMeter meter;
  LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
  // out.counts: 1, 0; out.errors[0]: index 1, column kX, fault kNotAccepted
  // end
  EXPECT_EQ(out.counts, (std::vector<uint32_t>{1, 0}));
  EXPECT_EQ(out.errors, (std::vector<ItemError>{{1, ItemColumn::kX, ItemFault::kNotAccepted}}));
}

TEST_F(HeaderExampleTest, GroupKinds) {
  const double x[] = {1}, y[] = {4};
  group.points = {x, y};
  // carom/group_kinds.h
  size_t items = 0;
  ForEachKind([&](const auto& kind) { items += (group.*kind.columns).size(); });
  // items == 1: the group asks about one point
  // end
  EXPECT_EQ(items, 1u);
}

TEST_F(HeaderExampleTest, BodyHistory) {
  // carom/body_history.h
  BodyDefinition players;
  players.shapes = {Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value()};
  BodyHistory history = BodyHistory::Create(players).value();
  const double before[] = {8}, after[] = {12}, y[] = {1};
  history.Add({.tick = 100, .x = before, .y = y}).IgnoreError();
  history.Add({.tick = 101, .x = after, .y = y}).IgnoreError();
  const double as_of[] = {100.25};
  group.body_history = &history;
  group.segments.scope = {Against::kBoth, {}, {}, as_of};
  // the bullet meets the body at x = 8 + 0.25 (12 - 8) = 9
  // end
  const double ax[] = {6}, ay[] = {1}, bx[] = {10}, by[] = {1};
  group.segments = {ax, ay, bx, by, group.segments.scope};
  ASSERT_TRUE(EvaluateGroup(*scene, group, answers, meter).ok());
  ASSERT_EQ(answers.segments.hits.size(), 1u);
  EXPECT_TRUE(answers.segments.hits[0].is_body);
  EXPECT_EQ(answers.segments.hits[0].point, (Vec2{8, 1}));
}

TEST(HeaderExamplesTest, EachHeaderHasTheTextThatRunsHere) {
  testing::CompareExamples("tests/core/header_examples_test.cc", "core/include/carom");
}

}  // namespace
}  // namespace carom::header_examples_test
