// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a client reads of an answer, and every way in which columns do not fit together.

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// Three segments, hit twice, not (an error), once; each column has values of its own.
constexpr char kSegments[] = R"(
  version: 18446744073709551615
  segments {
    counts: [2, 0, 1] truncated: 2
    errors { index: 1 code: 3 field: "by"
             message: "must be finite and at most 2^53 in magnitude" }
    polygon_id: [18446744073709551615, 0, 7] ring: [1, 2, 0] edge: [3, 4, 0]
    feature: [FEATURE_EDGE, FEATURE_VERTEX, FEATURE_UNSPECIFIED]
    fraction: [0, 0.5, 0.25] point_x: [1, 2, 3] point_y: [4, 5, 6]
    normal_x: [-1, 0, 0] normal_y: [0, -1, 0]
    starts_inside: [true, false, false] ends_inside: [false, true, false]
    exit_fraction: [0.5, 1, 0.75] has_exit_edge: [true, false, true]
    exit_ring: [5, 0, 6] exit_edge: [7, 0, 8]
    exit_normal_x: [1, 0, 0] exit_normal_y: [0, 0, 1]
  })";
constexpr char kPoints[] = R"(
  points {
    counts: [0, 2, 1] errors { index: 0 code: 3 field: "x" message: "-" }
    polygon_id: [1, 2, 3] location: [LOCATION_BOUNDARY, LOCATION_INSIDE, LOCATION_INSIDE]
  })";
constexpr char kCircles[] = R"(
  circles {
    counts: [2, 1] polygon_id: [1, 2, 3] touching: [true, false, true]
    edge_counts: [1, 0, 2] ring: [0, 1, 1] edge: [5, 6, 7]
  })";
constexpr char kPolygons[] = R"(
  polygons {
    counts: [1, 0, 1] polygon_id: [4, 5]
    errors { index: 1 code: 3 field: "shape" fault: ITEM_FAULT_UNKNOWN_SHAPE }
  })";

TEST(DecodeGroupAnswers, ReadsSegments) {
  GroupAnswers answers;
  ASSERT_TRUE(DecodeGroupAnswers(FromText<v1::GroupAnswer>(kSegments), answers).ok());
  EXPECT_EQ(answers.version, 18446744073709551615u);
  EXPECT_THAT(answers.segments.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answers.segments.truncated, ElementsAre(2));
  EXPECT_THAT(answers.segments.errors,
              ElementsAre(ItemError{1, ItemColumn::kBy, ItemFault::kNotAccepted}));
  ASSERT_THAT(answers.segments.hits, SizeIs(3));
  const CastHit& first = answers.segments.hits[0];
  EXPECT_EQ(first.polygon_id, 18446744073709551615u);
  EXPECT_EQ(first.edge, (EdgeRef{1, 3}));
  EXPECT_EQ(first.feature, Feature::kEdge);
  EXPECT_EQ(first.point, (Vec2{1, 4}));
  EXPECT_EQ(first.normal, (Vec2{-1, 0}));
  EXPECT_TRUE(first.starts_inside);
  EXPECT_FALSE(first.ends_inside);
  EXPECT_EQ(first.exit_fraction, 0.5);
  EXPECT_TRUE(first.has_exit_edge);
  EXPECT_EQ(first.exit_edge, (EdgeRef{5, 7}));
  EXPECT_EQ(first.exit_normal, (Vec2{1, 0}));
  const CastHit& second = answers.segments.hits[1];
  EXPECT_EQ(second.polygon_id, 0u);
  EXPECT_EQ(second.feature, Feature::kVertex);
  EXPECT_EQ(second.fraction, 0.5);
  EXPECT_TRUE(second.ends_inside);
  EXPECT_FALSE(second.has_exit_edge);
  EXPECT_EQ(answers.segments.hits[2].feature, Feature::kNone);
}

TEST(DecodeGroupAnswers, ReadsTheOtherBatches) {
  GroupAnswers answers;
  const auto message = FromText<v1::GroupAnswer>(std::string(kPoints) + kCircles + kPolygons);
  ASSERT_TRUE(DecodeGroupAnswers(message, answers).ok());
  EXPECT_THAT(answers.points.counts, ElementsAre(0, 2, 1));
  EXPECT_THAT(answers.points.polygon_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(answers.points.locations,
              ElementsAre(Location::kBoundary, Location::kInside, Location::kInside));
  EXPECT_THAT(answers.circles.counts, ElementsAre(2, 1));
  EXPECT_THAT(answers.circles.polygon_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(answers.circles.touching, ElementsAre(1, 0, 1));
  EXPECT_THAT(answers.circles.edge_counts, ElementsAre(1, 0, 2));
  EXPECT_THAT(answers.circles.edges, ElementsAre(EdgeRef{0, 5}, EdgeRef{1, 6}, EdgeRef{1, 7}));
  EXPECT_THAT(answers.polygons.counts, ElementsAre(1, 0, 1));
  EXPECT_THAT(answers.polygons.polygon_ids, ElementsAre(4, 5));
  EXPECT_THAT(answers.polygons.errors,
              ElementsAre(ItemError{1, ItemColumn::kShape, ItemFault::kUnknownShape}));
}

TEST(DecodeGroupAnswers, AnyHasCountsAndNoRows) {
  GroupAnswers answers;
  const auto message = FromText<v1::GroupAnswer>("segments { counts: [1, 0, 1, 1] }");
  ASSERT_TRUE(DecodeGroupAnswers(message, answers).ok());
  EXPECT_THAT(answers.segments.counts, ElementsAre(1, 0, 1, 1));
  EXPECT_THAT(answers.segments.hits, SizeIs(0));
}

TEST(DecodeGroupAnswers, AbsentIsEmpty) {
  GroupAnswers answers;
  ASSERT_TRUE(DecodeGroupAnswers({}, answers).ok());
  EXPECT_EQ(answers.version, 0u);
  EXPECT_TRUE(answers.segments.counts.empty());
}

// A server of a later release may know more faults.
TEST(DecodeGroupAnswers, AnUnknownFaultIsNotAccepted) {
  v1::GroupAnswer message;
  message.mutable_polygons()->add_counts(0);
  v1::ItemError& error = *message.mutable_polygons()->add_errors();
  error.set_field("radius");
  error.set_fault(static_cast<v1::ItemFault>(77));
  GroupAnswers answers;
  ASSERT_TRUE(DecodeGroupAnswers(message, answers).ok());
  EXPECT_STREQ(Name(answers.polygons.errors[0].column), "radius");
  EXPECT_EQ(answers.polygons.errors[0].fault, ItemFault::kNotAccepted);
}

// A change that makes a fitting answer unfit, and the column that is named.
struct Misfit {
  const char* text;
  void (*spoil)(v1::GroupAnswer&);
  const char* field;
};

void ExpectMisfits(const std::vector<Misfit>& cases) {
  for (const Misfit& misfit : cases) {
    auto message = FromText<v1::GroupAnswer>(misfit.text);
    GroupAnswers answers;
    ASSERT_TRUE(DecodeGroupAnswers(message, answers).ok());
    misfit.spoil(message);
    EXPECT_TRUE(Refuses(DecodeGroupAnswers(message, answers), absl::StatusCode::kInternal,
                        misfit.field, "does not fit"))
        << message.ShortDebugString();
    EXPECT_EQ(answers.version, 0u);
    EXPECT_TRUE(answers.segments.hits.empty());
    EXPECT_TRUE(answers.points.counts.empty());
  }
}

using Answer = v1::GroupAnswer;

TEST(DecodeGroupAnswers, UnfitCountsOfSegments) {
  ExpectMisfits({
      {kSegments, [](Answer& a) { a.mutable_segments()->add_counts(1); }, "segments.counts"},
      {kSegments, [](Answer& a) { a.mutable_segments()->set_counts(0, 1); }, "segments.counts"},
      {kSegments,
       [](Answer& a) {
         // Both sum to 3 modulo 2^32.
         a.mutable_segments()->set_counts(0, 0xffffffff);
         a.mutable_segments()->set_counts(2, 4);
       },
       "segments.counts"},
      {kSegments, [](Answer& a) { a.mutable_segments()->mutable_polygon_id()->Clear(); },
       "segments.counts"},
      {"segments { counts: [1, 1] }", [](Answer& a) { a.mutable_segments()->set_counts(1, 2); },
       "segments.counts"},
      {kSegments, [](Answer& a) { a.mutable_segments()->set_truncated(0, 3); },
       "segments.truncated"},
      {kSegments, [](Answer& a) { a.mutable_segments()->set_truncated(0, 1); },
       "segments.truncated"},
      {kSegments, [](Answer& a) { a.mutable_segments()->add_truncated(0); }, "segments.truncated"},
      {kSegments, [](Answer& a) { a.mutable_segments()->add_truncated(2); }, "segments.truncated"},
      {kSegments, [](Answer& a) { a.mutable_segments()->set_feature(0, v1::Feature(4)); },
       "segments.feature"},
      {kSegments, [](Answer& a) { a.mutable_segments()->set_feature(2, v1::Feature(-1)); },
       "segments.feature"},
  });
}

TEST(DecodeGroupAnswers, UnfitRowsOfSegments) {
  for (const char* column :
       {"ring", "edge", "feature", "fraction", "point_x", "point_y", "normal_x", "normal_y",
        "starts_inside", "ends_inside", "exit_fraction", "has_exit_edge", "exit_ring", "exit_edge",
        "exit_normal_x", "exit_normal_y"}) {
    auto message = FromText<v1::GroupAnswer>(kSegments);
    v1::CastAnswers& segments = *message.mutable_segments();
    segments.GetReflection()->RemoveLast(&segments,
                                         segments.GetDescriptor()->FindFieldByName(column));
    GroupAnswers answers;
    EXPECT_TRUE(Refuses(DecodeGroupAnswers(message, answers), absl::StatusCode::kInternal,
                        std::string("segments.") + column, "does not fit"));
  }
}

// Each level of detail has its columns, and what is not asked reads as in a default hit.
TEST(EncodeGroupAnswers, MeasuresTell) {
  GroupAnswers answers;
  ASSERT_TRUE(DecodeGroupAnswers(FromText<v1::GroupAnswer>(kSegments), answers).ok());
  const std::vector<double> x{0, 1, 2};
  Group group;
  group.segments = {x, x, x, x};
  v1::GroupAnswer message;
  // Downwards, so that what is not asked has memory of what was.
  for (const CastDetail detail :
       {CastDetail::kExit, CastDetail::kEdge, CastDetail::kNormal, CastDetail::kFraction}) {
    group.cast_options.detail = detail;
    EncodeGroupAnswers(group, answers, message);
    const v1::CastAnswers& segments = message.segments();
    EXPECT_EQ(segments.fraction_size(), 3);
    EXPECT_EQ(segments.ends_inside_size(), 3);
    EXPECT_EQ(segments.point_x_size(), detail >= CastDetail::kNormal ? 3 : 0);
    EXPECT_EQ(segments.normal_y_size(), detail >= CastDetail::kNormal ? 3 : 0);
    EXPECT_EQ(segments.edge_size(), detail >= CastDetail::kEdge ? 3 : 0);
    EXPECT_EQ(segments.feature_size(), detail >= CastDetail::kEdge ? 3 : 0);
    EXPECT_EQ(segments.exit_fraction_size(), detail >= CastDetail::kExit ? 3 : 0);
    EXPECT_EQ(segments.exit_normal_x_size(), detail >= CastDetail::kExit ? 3 : 0);
    GroupAnswers read;
    ASSERT_TRUE(DecodeGroupAnswers(message, read).ok());
    ASSERT_THAT(read.segments.hits, SizeIs(3));
    const CastHit& hit = read.segments.hits[0];
    EXPECT_EQ(hit.polygon_id, answers.segments.hits[0].polygon_id);
    EXPECT_EQ(hit.fraction, answers.segments.hits[0].fraction);
    EXPECT_TRUE(hit.starts_inside);
    EXPECT_EQ(hit.normal != Vec2{}, detail >= CastDetail::kNormal);
    EXPECT_EQ(hit.feature != Feature::kNone, detail >= CastDetail::kEdge);
    EXPECT_EQ(hit.has_exit_edge, detail >= CastDetail::kExit);
  }
  // Half a level fits nothing.
  message.mutable_segments()->add_point_x(1);
  GroupAnswers read;
  EXPECT_TRUE(Refuses(DecodeGroupAnswers(message, read), absl::StatusCode::kInternal,
                      "segments.point_x", "does not fit"));
}

TEST(DecodeGroupAnswers, UnfitErrors) {
  ExpectMisfits({
      {kSegments, [](Answer& a) { a.mutable_segments()->mutable_errors(0)->set_index(0); },
       "segments.errors"},
      {kSegments, [](Answer& a) { a.mutable_segments()->mutable_errors(0)->set_index(3); },
       "segments.errors"},
      {kSegments, [](Answer& a) { *a.mutable_segments()->add_errors() = a.segments().errors(0); },
       "segments.errors"},
      {kSegments, [](Answer& a) { a.mutable_segments()->mutable_errors(0)->set_field("cx"); },
       "segments.errors"},
      {kPoints, [](Answer& a) { a.mutable_points()->mutable_errors(0)->clear_field(); },
       "points.errors"},
      {kCircles, [](Answer& a) { a.mutable_circles()->add_errors()->set_field("x"); },
       "circles.errors"},
      {kPolygons, [](Answer& a) { a.mutable_polygons()->mutable_errors(0)->set_index(2); },
       "polygons.errors"},
  });
}

TEST(DecodeGroupAnswers, UnfitPoints) {
  ExpectMisfits({
      {kPoints, [](Answer& a) { a.mutable_points()->set_counts(0, 1); }, "points.counts"},
      {kPoints, [](Answer& a) { a.mutable_points()->mutable_counts()->Clear(); }, "points.counts"},
      {kPoints, [](Answer& a) { a.mutable_points()->add_polygon_id(1); }, "points.counts"},
      {kPoints, [](Answer& a) { a.mutable_points()->add_location(v1::LOCATION_INSIDE); },
       "points.location"},
      {kPoints, [](Answer& a) { a.mutable_points()->set_location(0, v1::LOCATION_UNSPECIFIED); },
       "points.location"},
      {kPoints, [](Answer& a) { a.mutable_points()->set_location(2, v1::Location(3)); },
       "points.location"},
  });
}

TEST(DecodeGroupAnswers, UnfitOverlaps) {
  ExpectMisfits({
      {kCircles, [](Answer& a) { a.mutable_circles()->add_counts(1); }, "circles.counts"},
      {kCircles, [](Answer& a) { a.mutable_circles()->mutable_touching()->Clear(); },
       "circles.touching"},
      {kCircles, [](Answer& a) { a.mutable_circles()->add_edge_counts(0); }, "circles.edge_counts"},
      {kCircles, [](Answer& a) { a.mutable_circles()->set_edge_counts(1, 1); },
       "circles.edge_counts"},
      {kCircles, [](Answer& a) { a.mutable_circles()->mutable_edge_counts()->Clear(); },
       "circles.edge_counts"},
      {kCircles, [](Answer& a) { a.mutable_circles()->add_ring(1); }, "circles.edge_counts"},
      {kCircles, [](Answer& a) { a.mutable_circles()->add_edge(1); }, "circles.edge"},
      {kPolygons, [](Answer& a) { a.mutable_polygons()->add_polygon_id(1); }, "polygons.counts"},
      {kPolygons,
       [](Answer& a) {
         a.mutable_polygons()->add_touching(true);
         a.mutable_polygons()->add_touching(true);
       },
       "polygons.touching"},
  });
}

// Answers that are read into used ones are as if they were the first.
TEST(DecodeGroupAnswers, ReuseLeavesNothingBehind) {
  GroupAnswers answers;
  const auto full =
      FromText<v1::GroupAnswer>(std::string(kSegments) + kPoints + kCircles + kPolygons);
  ASSERT_TRUE(DecodeGroupAnswers(full, answers).ok());
  ASSERT_TRUE(DecodeGroupAnswers(full, answers).ok());
  EXPECT_THAT(answers.segments.hits, SizeIs(3));
  EXPECT_THAT(answers.segments.errors, SizeIs(1));
  EXPECT_THAT(answers.points.locations, SizeIs(3));
  EXPECT_THAT(answers.circles.edges, SizeIs(3));
  const auto next = FromText<v1::GroupAnswer>("version: 3 points { counts: 0 }");
  ASSERT_TRUE(DecodeGroupAnswers(next, answers).ok());
  EXPECT_EQ(answers.version, 3u);
  EXPECT_THAT(answers.points.counts, ElementsAre(0));
  EXPECT_TRUE(answers.points.errors.empty());
  EXPECT_TRUE(answers.points.locations.empty());
  EXPECT_TRUE(answers.segments.counts.empty());
  EXPECT_TRUE(answers.segments.truncated.empty());
  EXPECT_TRUE(answers.segments.hits.empty());
  EXPECT_TRUE(answers.circles.touching.empty());
  EXPECT_TRUE(answers.circles.edge_counts.empty());
  EXPECT_TRUE(answers.polygons.errors.empty());
}

}  // namespace
}  // namespace carom::wire
