// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The examples with which the headers of the questions open: each runs here, and the text between
// the marks is the text in the header.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "carom/arc.h"
#include "carom/cast.h"
#include "carom/contact.h"
#include "carom/depenetrate.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "carom/rotating_sweep.h"
#include "carom/sweep.h"
#include "carom/tracker.h"
#include "carom/visibility.h"
#include "tests/core/random_scene.h"

namespace carom::testing {
namespace {

// What the examples ask about: the square from (0, 0) to (4, 4).
class HeaderExampleTest : public ::testing::Test {
 protected:
  const TestScene made_ = MakeScene({{7, {{{{0, 0}, {4, 0}, {4, 4}, {0, 4}}}}}});
  const Scene::Ptr& scene = made_.scene;
  const Shape shape = Shape::Create(Capsule{{{0, 0}, {0, 0}}, 1}).value();
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

TEST_F(HeaderExampleTest, Visibility) {
  // carom/visibility.h
  const double ax[] = {-2}, ay[] = {1}, bx[] = {6}, by[] = {1};
  SightAnswers out;
  WorkMeter meter;
  TestLinesOfSight(*scene, {ax, ay, bx, by}, kEveryCategory, out, meter);
  // out.visible[0] == 0: polygon 7 is between
  // end
  EXPECT_EQ(out.visible[0], 0);
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

std::string Read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string WithoutSpaces(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

// The lines that stand three spaces or more behind the slashes of a header's opening comment.
std::string ExampleOf(const std::string& header) {
  std::string example;
  const size_t banner = header.find("#pragma once");
  if (banner == std::string::npos) return example;
  for (size_t at = 0; at < banner;) {
    const size_t end = header.find('\n', at);
    if (header.compare(at, 5, "//   ") == 0) example += header.substr(at + 5, end - at - 5);
    at = end + 1;
  }
  return example;
}

TEST(HeaderExamplesTest, EachHeaderHasTheTextThatRunsHere) {
  const char* const root = std::getenv("CAROM_SOURCE_DIR");
  ASSERT_NE(root, nullptr) << "CAROM_SOURCE_DIR is not set: run this through ctest";
  const std::filesystem::path tree = root;
  const std::filesystem::path headers = tree / "core/include";
  const std::string source = Read(tree / "tests/core/header_examples_test.cc");
  int examples = 0;
  for (size_t at = 0; (at = source.find("\n  // carom/", at)) != std::string::npos; ++examples) {
    const size_t line_end = source.find('\n', at + 1);
    const std::string name = source.substr(at + 6, line_end - at - 6);
    const size_t end = source.find("\n  // end", line_end);
    EXPECT_EQ(WithoutSpaces(source.substr(line_end, end - line_end)),
              WithoutSpaces(ExampleOf(Read(headers / name))))
        << name;
    at = end;
  }
  EXPECT_EQ(examples, 11);
}

}  // namespace
}  // namespace carom::testing
