// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What requests decode to, and every way in which one is refused.

#include "wire/decode.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kTriangle[] = "rings { x: [0, 4, 0] y: [0, 0, 4] }";
constexpr char kMagnitude[] = "2^53";

// A malformed message: the text, and how it is refused.
struct Malformed {
  const char* story;
  std::string text;
  StatusCode code;
  const char* field;
  const char* range;
};

// The front of a list of shapes or polygons that are not the issue.
std::string Polygons(const char* name, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    absl::StrAppend(&text, name, " { id: ", i, " ", kTriangle, " } ");
  }
  return text;
}

std::string Vertices(size_t count) {
  std::string text = "rings { ";
  for (size_t i = 0; i < count; ++i) absl::StrAppend(&text, "x: ", i, " y: 0 ");
  return text + "}";
}

// --- DecodePolygon

TEST(DecodePolygon, ReadsEveryMember) {
  const auto message = FromText<v1::Polygon>(
      "id: 18446744073709551615 rings { x: [0, 4] y: [1, 5] open: true } rings { x: 7 y: 8 } "
      "fill_rule: FILL_RULE_NON_ZERO solidity: SOLIDITY_BOUNDARY category: 0 "
      "user_data: '\\000\\377'");
  const absl::StatusOr<Polygon> polygon = DecodePolygon(message, {});
  ASSERT_TRUE(polygon.ok()) << polygon.status();
  EXPECT_EQ(polygon->id(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(polygon->fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(polygon->solidity(), Solidity::kBoundary);
  EXPECT_EQ(polygon->category(), 0u);
  EXPECT_EQ(polygon->user_data(), std::string("\0\xff", 2));
  ASSERT_EQ(polygon->ring_count(), 2u);
  EXPECT_THAT(polygon->ring(0), ElementsAre(Vec2{0, 1}, Vec2{4, 5}));
  EXPECT_TRUE(polygon->is_open(0));
  EXPECT_THAT(polygon->ring(1), ElementsAre(Vec2{7, 8}));
  EXPECT_FALSE(polygon->is_open(1));
}

TEST(DecodePolygon, AbsentMembersHaveTheirDefaults) {
  const absl::StatusOr<Polygon> polygon = DecodePolygon(FromText<v1::Polygon>(kTriangle), {});
  ASSERT_TRUE(polygon.ok()) << polygon.status();
  EXPECT_EQ(polygon->id(), 0u);
  EXPECT_EQ(polygon->fill_rule(), FillRule::kEvenOdd);
  EXPECT_EQ(polygon->solidity(), Solidity::kSolid);
  EXPECT_EQ(polygon->category(), 1u);
  EXPECT_EQ(polygon->user_data(), "");
}

TEST(DecodePolygon, EveryEnumValue) {
  v1::Polygon message = FromText<v1::Polygon>(kTriangle);
  const std::pair<v1::FillRule, FillRule> fill_rules[] = {
      {v1::FILL_RULE_UNSPECIFIED, FillRule::kEvenOdd},
      {v1::FILL_RULE_EVEN_ODD, FillRule::kEvenOdd},
      {v1::FILL_RULE_NON_ZERO, FillRule::kNonZero}};
  for (const auto& [wire, core] : fill_rules) {
    message.set_fill_rule(wire);
    EXPECT_EQ(DecodePolygon(message, {})->fill_rule(), core);
  }
  const std::pair<v1::Solidity, Solidity> solidities[] = {
      {v1::SOLIDITY_UNSPECIFIED, Solidity::kSolid},
      {v1::SOLIDITY_SOLID, Solidity::kSolid},
      {v1::SOLIDITY_BOUNDARY, Solidity::kBoundary}};
  for (const auto& [wire, core] : solidities) {
    message.set_solidity(wire);
    EXPECT_EQ(DecodePolygon(message, {})->solidity(), core);
  }
}

TEST(DecodePolygon, Refusals) {
  const PolygonLimits limits{.max_vertices = 4, .max_user_data_bytes = 3};
  const Malformed cases[] = {
      {"no ring", "id: 1", StatusCode::kInvalidArgument, "rings", "at least one ring"},
      {"an empty ring", "rings { x: 1 y: 1 } rings {}", StatusCode::kInvalidArgument, "rings[1]",
       "at least one vertex"},
      {"more x than y", "rings { x: [0, 1] y: 0 }", StatusCode::kInvalidArgument, "rings[0].y",
       "must be as many as x"},
      {"more y than x", "rings { x: 1 y: 1 } rings { y: 0 }", StatusCode::kInvalidArgument,
       "rings[1].y", "must be as many as x"},
      {"NaN", "rings { x: [0, nan] y: [0, 0] }", StatusCode::kInvalidArgument, "rings[0].x[1]",
       kMagnitude},
      {"infinity", "rings { x: 0 y: 0 } rings { x: [0, 0] y: [0, -inf] }",
       StatusCode::kInvalidArgument, "rings[1].y[1]", kMagnitude},
      {"one step above 2^53", "rings { x: 9007199254740994 y: 0 }", StatusCode::kInvalidArgument,
       "rings[0].x[0]", kMagnitude},
      {"an open ring that is filled", "rings { x: 0 y: 0 open: true }",
       StatusCode::kInvalidArgument, "rings[0].open", "must be false"},
      {"an unknown fill rule", absl::StrCat(kTriangle, "fill_rule: 3"),
       StatusCode::kInvalidArgument, "fill_rule", "[0, 2]"},
      {"a negative fill rule", absl::StrCat(kTriangle, "fill_rule: -1"),
       StatusCode::kInvalidArgument, "fill_rule", "[0, 2]"},
      {"an unknown solidity", absl::StrCat(kTriangle, "solidity: 2147483647"),
       StatusCode::kInvalidArgument, "solidity", "[0, 2]"},
      {"too many vertices", Vertices(5), StatusCode::kResourceExhausted, "rings",
       "at most 4 vertices"},
      {"too much user data", absl::StrCat(kTriangle, "user_data: '1234'"),
       StatusCode::kResourceExhausted, "user_data", "at most 3 bytes"},
  };
  for (const Malformed& malformed : cases) {
    SCOPED_TRACE(malformed.story);
    const auto message = FromText<v1::Polygon>(malformed.text);
    EXPECT_TRUE(Refuses(DecodePolygon(message, limits).status(), malformed.code, malformed.field,
                        malformed.range));
  }
}

TEST(DecodePolygon, AcceptsTheLimitsThemselves) {
  const PolygonLimits limits{.max_vertices = 4, .max_user_data_bytes = 3};
  const auto message = FromText<v1::Polygon>(absl::StrCat(Vertices(4), "user_data: '123'"));
  EXPECT_TRUE(DecodePolygon(message, limits).ok());
  EXPECT_TRUE(DecodePolygon(FromText<v1::Polygon>("rings { x: -9007199254740992 "
                                                  "y: 9007199254740992 }"),
                            {})
                  .ok());
}

TEST(DecodePolygon, NamesAllThatIsWrongWithTheForm) {
  const auto message = FromText<v1::Polygon>(
      "fill_rule: 9 solidity: 9 rings { x: 0 } rings { x: 1 y: 1 } rings { y: 0 }");
  EXPECT_THAT(Fields(DecodePolygon(message, {}).status()),
              ElementsAre("fill_rule", "solidity", "rings[0].y", "rings[2].y"));
}

// --- DecodePolygons

TEST(DecodePolygons, Appends) {
  v1::CreateSceneRequest request;
  std::vector<Polygon> polygons;
  EXPECT_TRUE(DecodePolygons(request.polygons(), "polygons", 0, {}, polygons).ok());
  EXPECT_THAT(polygons, SizeIs(0));
  request = FromText<v1::CreateSceneRequest>(Polygons("polygons", 3));
  EXPECT_TRUE(DecodePolygons(request.polygons(), "polygons", 0, {}, polygons).ok());
  EXPECT_TRUE(DecodePolygons(request.polygons(), "polygons", 3, {}, polygons).ok());
  ASSERT_THAT(polygons, SizeIs(6));
  EXPECT_EQ(polygons[5].id(), 2u);
}

TEST(DecodePolygons, CountsFromTheFirstIndexAndLeavesOutAlone) {
  std::vector<Polygon> polygons;
  const auto good = FromText<v1::CreateSceneRequest>(Polygons("polygons", 2));
  ASSERT_TRUE(DecodePolygons(good.polygons(), "polygons", 0, {}, polygons).ok());
  const auto bad = FromText<v1::CreateSceneRequest>(
      Polygons("polygons", 1) + "polygons { rings { x: [0, 0, nan] y: [0, 0, 0] } }" +
      Polygons("polygons", 1) + "polygons {}");
  const absl::Status status = DecodePolygons(bad.polygons(), "polygons", 100, {}, polygons);
  EXPECT_TRUE(
      Refuses(status, StatusCode::kInvalidArgument, "polygons[101].rings[0].x[2]", kMagnitude));
  EXPECT_THAT(Fields(status), ElementsAre("polygons[101].rings[0].x[2]", "polygons[103].rings"));
  ASSERT_THAT(polygons, SizeIs(2));
  EXPECT_EQ(polygons[1].id(), 1u);
}

TEST(DecodePolygons, ListsSixteenOffencesAndTheirNumber) {
  v1::CreateSceneRequest request;
  for (int i = 0; i < 1000; ++i) request.add_polygons();
  std::vector<Polygon> polygons;
  const absl::Status status = DecodePolygons(request.polygons(), "polygons", 0, {}, polygons);
  const std::vector<std::string> fields = Fields(status);
  ASSERT_THAT(fields, SizeIs(16));
  EXPECT_EQ(fields[15], "polygons[15].rings");
  EXPECT_THAT(std::string(status.message()), HasSubstr("1000"));
}

TEST(DecodePolygons, OfMixedCodesInvalidArgumentWins) {
  const PolygonLimits limits{.max_vertices = 4};
  const std::string large = "polygons { " + Vertices(5) + " }";
  const std::string bad = "polygons { rings {} }";
  const std::pair<std::string, StatusCode> cases[] = {
      {large + large, StatusCode::kResourceExhausted},
      {large + bad, StatusCode::kInvalidArgument},
      {bad + large, StatusCode::kInvalidArgument},
      {large + bad + large, StatusCode::kInvalidArgument},
  };
  for (const auto& [text, code] : cases) {
    std::vector<Polygon> polygons;
    const auto request = FromText<v1::CreateSceneRequest>(text);
    EXPECT_EQ(DecodePolygons(request.polygons(), "polygons", 0, limits, polygons).code(), code)
        << text;
  }
}

// --- DecodeEdits

TEST(DecodeEdits, ReadsEveryKind) {
  const auto request = FromText<v1::CommitEditsRequest>(
      absl::StrCat("edits { remove: 18446744073709551615 } edits { add { id: 1 ", kTriangle,
                   " } } edits { replace { id: 2 ", kTriangle, " } } edits { remove: 0 }"));
  const absl::StatusOr<std::vector<SceneEdit>> edits = DecodeEdits(request.edits(), {});
  ASSERT_TRUE(edits.ok()) << edits.status();
  ASSERT_THAT(*edits, SizeIs(4));
  EXPECT_EQ(std::get<RemovePolygon>((*edits)[0]).id, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(std::get<AddPolygon>((*edits)[1]).polygon.id(), 1u);
  EXPECT_EQ(std::get<ReplacePolygon>((*edits)[2]).polygon.id(), 2u);
  EXPECT_EQ(std::get<RemovePolygon>((*edits)[3]).id, 0u);
  EXPECT_THAT(*DecodeEdits({}, {}), SizeIs(0));
}

TEST(DecodeEdits, Refusals) {
  const PolygonLimits limits{.max_vertices = 4};
  const Malformed cases[] = {
      {"no content", "edits { remove: 1 } edits {}", StatusCode::kInvalidArgument, "edits[1]",
       "one of add, replace and remove"},
      {"a bad addition", "edits { add { rings { x: nan y: 0 } } }", StatusCode::kInvalidArgument,
       "edits[0].add.rings[0].x[0]", kMagnitude},
      {"a bad replacement", "edits { remove: 7 } edits { replace {} }",
       StatusCode::kInvalidArgument, "edits[1].replace.rings", "at least one ring"},
      {"an unknown value", absl::StrCat("edits { add { solidity: 3 ", kTriangle, " } }"),
       StatusCode::kInvalidArgument, "edits[0].add.solidity", "[0, 2]"},
      {"a large addition", "edits { add { " + Vertices(5) + " } }", StatusCode::kResourceExhausted,
       "edits[0].add.rings", "at most 4 vertices"},
      {"a large addition and no content", "edits { add { " + Vertices(5) + " } } edits {}",
       StatusCode::kInvalidArgument, "edits[0].add.rings", "at most 4 vertices"},
  };
  for (const Malformed& malformed : cases) {
    SCOPED_TRACE(malformed.story);
    const auto request = FromText<v1::CommitEditsRequest>(malformed.text);
    EXPECT_TRUE(Refuses(DecodeEdits(request.edits(), limits).status(), malformed.code,
                        malformed.field, malformed.range));
  }
}

// --- DecodeGroup

TEST(DecodeGroup, AnEmptyGroupAsksNothing) {
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup({}, decoded).ok());
  EXPECT_EQ(decoded.group.query_count(), 0u);
  EXPECT_THAT(decoded.polygons, SizeIs(0));
}

TEST(DecodeGroup, AbsentOptionsHaveTheirDefaults) {
  const auto message =
      FromText<v1::Group>(absl::StrCat("segments { ax: 1 ay: 2 bx: 3 by: 4 } points { x: 1 y: 2 } "
                                       "circles { x: 1 y: 2 radius: 3 } polygons { shapes { ",
                                       kTriangle, " } x: 1 y: 2 }"));
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  const Group& group = decoded.group;
  EXPECT_EQ(group.cast_options.mode, CastMode::kClosest);
  EXPECT_EQ(group.cast_options.inside_policy, InsidePolicy::kReportStart);
  EXPECT_EQ(group.cast_options.max_hits, 64u);
  EXPECT_EQ(group.cast_options.mask, kEveryCategory);
  EXPECT_EQ(group.point_mask, kEveryCategory);
  EXPECT_EQ(group.circle_options.detail, OverlapDetail::kIds);
  EXPECT_EQ(group.circle_options.mask, kEveryCategory);
  EXPECT_EQ(group.polygon_options.detail, OverlapDetail::kIds);
  EXPECT_EQ(group.polygon_options.mask, kEveryCategory);
}

TEST(DecodeGroup, PresentOptionsAreRead) {
  const auto message = FromText<v1::Group>(
      "segments { mode: CAST_MODE_ALL inside_policy: INSIDE_POLICY_EXIT max_hits: 65536 "
      "mask: 0 } points { mask: 2 } circles { detail: OVERLAP_DETAIL_EDGES mask: 3 } "
      "polygons { detail: OVERLAP_DETAIL_EDGES mask: 9223372036854775808 }");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  const Group& group = decoded.group;
  EXPECT_EQ(group.cast_options.mode, CastMode::kAll);
  EXPECT_EQ(group.cast_options.inside_policy, InsidePolicy::kExit);
  EXPECT_EQ(group.cast_options.max_hits, 65536u);
  EXPECT_EQ(group.cast_options.mask, 0u);
  EXPECT_EQ(group.point_mask, 2u);
  EXPECT_EQ(group.circle_options.detail, OverlapDetail::kEdges);
  EXPECT_EQ(group.circle_options.mask, 3u);
  EXPECT_EQ(group.polygon_options.detail, OverlapDetail::kEdges);
  EXPECT_EQ(group.polygon_options.mask, uint64_t{1} << 63);
}

TEST(DecodeGroup, EveryEnumValue) {
  v1::Group message;
  DecodedGroup decoded;
  const std::pair<v1::CastMode, CastMode> modes[] = {
      {v1::CAST_MODE_UNSPECIFIED, CastMode::kClosest},
      {v1::CAST_MODE_ANY, CastMode::kAny},
      {v1::CAST_MODE_CLOSEST, CastMode::kClosest},
      {v1::CAST_MODE_ALL, CastMode::kAll},
      {v1::CAST_MODE_ALL_PASSAGES, CastMode::kAllPassages}};
  for (const auto& [wire, core] : modes) {
    message.mutable_segments()->set_mode(wire);
    ASSERT_TRUE(DecodeGroup(message, decoded).ok());
    EXPECT_EQ(decoded.group.cast_options.mode, core);
  }
  const std::pair<v1::InsidePolicy, InsidePolicy> policies[] = {
      {v1::INSIDE_POLICY_UNSPECIFIED, InsidePolicy::kReportStart},
      {v1::INSIDE_POLICY_REPORT_START, InsidePolicy::kReportStart},
      {v1::INSIDE_POLICY_IGNORE, InsidePolicy::kIgnore},
      {v1::INSIDE_POLICY_EXIT, InsidePolicy::kExit}};
  for (const auto& [wire, core] : policies) {
    message.mutable_segments()->set_inside_policy(wire);
    ASSERT_TRUE(DecodeGroup(message, decoded).ok());
    EXPECT_EQ(decoded.group.cast_options.inside_policy, core);
  }
  const std::pair<v1::OverlapDetail, OverlapDetail> details[] = {
      {v1::OVERLAP_DETAIL_UNSPECIFIED, OverlapDetail::kIds},
      {v1::OVERLAP_DETAIL_IDS, OverlapDetail::kIds},
      {v1::OVERLAP_DETAIL_EDGES, OverlapDetail::kEdges}};
  for (const auto& [wire, core] : details) {
    message.mutable_circles()->set_detail(wire);
    message.mutable_polygons()->set_detail(wire);
    ASSERT_TRUE(DecodeGroup(message, decoded).ok());
    EXPECT_EQ(decoded.group.circle_options.detail, core);
    EXPECT_EQ(decoded.group.polygon_options.detail, core);
  }
}

TEST(DecodeGroup, ColumnsAreViewsOfTheMessage) {
  const auto message = FromText<v1::Group>(
      absl::StrCat("segments { ax: [1, 2] ay: [3, 4] bx: [5, 6] by: [7, 8] } "
                   "points { x: [1, 2] y: [3, 4] } "
                   "circles { x: [1, 2] y: [3, 4] radius: [5, 6] } polygons { shapes { ",
                   kTriangle, " } shape: [0, 0] x: [1, 2] y: [3, 4] c: [1, 0] s: [0, 1] }"));
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  const Group& group = decoded.group;
  const auto views = [](const auto& span, const auto& column) {
    return span.data() == column.data() && span.size() == static_cast<size_t>(column.size()) &&
           span.size() == 2;
  };
  EXPECT_TRUE(views(group.segments.ax, message.segments().ax()));
  EXPECT_TRUE(views(group.segments.ay, message.segments().ay()));
  EXPECT_TRUE(views(group.segments.bx, message.segments().bx()));
  EXPECT_TRUE(views(group.segments.by, message.segments().by()));
  EXPECT_TRUE(views(group.points.x, message.points().x()));
  EXPECT_TRUE(views(group.points.y, message.points().y()));
  EXPECT_TRUE(views(group.circles.x, message.circles().x()));
  EXPECT_TRUE(views(group.circles.y, message.circles().y()));
  EXPECT_TRUE(views(group.circles.radius, message.circles().radius()));
  EXPECT_TRUE(views(group.polygons.shape, message.polygons().shape()));
  EXPECT_TRUE(views(group.polygons.x, message.polygons().x()));
  EXPECT_TRUE(views(group.polygons.y, message.polygons().y()));
  EXPECT_TRUE(views(group.polygons.c, message.polygons().c()));
  EXPECT_TRUE(views(group.polygons.s, message.polygons().s()));
  EXPECT_EQ(group.polygons.shapes.data(), decoded.polygons.data());
  EXPECT_EQ(group.query_count(), 8u);
}

// Numbers are an item's affair, not the group's.
TEST(DecodeGroup, AcceptsNumbersOutOfRange) {
  const auto message =
      FromText<v1::Group>(absl::StrCat("segments { ax: nan ay: inf bx: -inf by: 1e300 } "
                                       "circles { x: 0 y: 0 radius: -1 } polygons { shapes { ",
                                       kTriangle, " } shape: 4294967295 x: nan y: 0 c: 2 s: 0 }"));
  DecodedGroup decoded;
  EXPECT_TRUE(DecodeGroup(message, decoded).ok());
  EXPECT_TRUE(std::isnan(decoded.group.segments.ax[0]));
}

TEST(DecodeGroup, RefusalsOfSegmentsPointsAndCircles) {
  const StatusCode code = StatusCode::kInvalidArgument;
  const Malformed cases[] = {
      {"ay short", "segments { ax: [1, 2] ay: 1 bx: [1, 2] by: [1, 2] }", code, "segments.ay", "2"},
      {"bx absent", "segments { ax: 1 ay: 1 by: 1 }", code, "segments.bx", "1"},
      {"by long", "segments { ax: 1 ay: 1 bx: 1 by: [1, 2] }", code, "segments.by", "1"},
      {"a mode of another release", "segments { mode: 5 }", code, "segments.mode", "[0, 4]"},
      {"a negative mode", "segments { mode: -1 }", code, "segments.mode", "[0, 4]"},
      {"an unknown policy", "segments { inside_policy: 6 }", code, "segments.inside_policy",
       "[0, 5]"},
      {"a policy of sweeps", "segments { inside_policy: 4 }", code, "segments.inside_policy",
       "blocking"},
      {"max_hits above", "segments { max_hits: 65537 }", code, "segments.max_hits", "[1, 65536]"},
      {"max_hits far above", "segments { max_hits: 4294967295 }", code, "segments.max_hits",
       "[1, 65536]"},
      {"y short", "points { x: 1 }", code, "points.y", "1"},
      {"y alone", "points { y: 1 }", code, "points.y", "0"},
      {"y of a circle", "circles { x: 1 radius: 1 }", code, "circles.y", "1"},
      {"a radius missing", "circles { x: [1, 1] y: [1, 1] radius: 1 }", code, "circles.radius",
       "2"},
      {"an unknown detail", "circles { detail: 3 }", code, "circles.detail", "[0, 2]"},
  };
  for (const Malformed& malformed : cases) {
    SCOPED_TRACE(malformed.story);
    DecodedGroup decoded;
    const absl::Status status = DecodeGroup(FromText<v1::Group>(malformed.text), decoded);
    EXPECT_TRUE(Refuses(status, malformed.code, malformed.field, malformed.range));
  }
}

TEST(DecodeGroup, RefusalsOfPolygons) {
  const StatusCode code = StatusCode::kInvalidArgument;
  const std::string shape = Polygons("shapes", 1);
  const Malformed cases[] = {
      {"y short", shape + "shape: [0, 0] x: [1, 2] y: 1", code, "polygons.y", "2"},
      {"shape short", shape + "shape: 0 x: [1, 2] y: [1, 2]", code, "polygons.shape", "2"},
      {"fewer shapes than items", shape + "x: [1, 2] y: [1, 2]", code, "polygons.shapes", "2"},
      {"more shapes than items", Polygons("shapes", 2) + "x: 1 y: 1", code, "polygons.shapes", "1"},
      {"c alone", shape + "x: 1 y: 1 c: 1", code, "polygons.s", "1"},
      {"s alone", shape + "x: 1 y: 1 s: 1", code, "polygons.c", "1"},
      {"c and s long", shape + "x: 1 y: 1 c: [1, 1] s: [0, 0]", code, "polygons.c", "1"},
      {"angle long", shape + "x: 1 y: 1 angle: [1, 1]", code, "polygons.angle", "1"},
      {"angle beside c and s", shape + "x: 1 y: 1 c: 1 s: 0 angle: 0", code, "polygons.angle",
       "absent where c and s are given"},
      {"an unknown detail", "detail: 3", code, "polygons.detail", "[0, 2]"},
      {"a shape without rings", "shapes {} x: 1 y: 1", code, "polygons.shapes[0].rings",
       "at least one ring"},
      {"a ring of unequal columns", shape + "shapes { rings { x: 1 } }", code,
       "polygons.shapes[1].rings[0].y", "must be as many as x"},
      {"NaN in a shape",
       shape + "shapes { rings { x: 0 y: 0 } rings { x: [0, 0, nan] y: [0, 0, 0] } }", code,
       "polygons.shapes[1].rings[1].x[2]", kMagnitude},
      {"an unknown fill rule", absl::StrCat("shapes { fill_rule: 9 ", kTriangle, " }"), code,
       "polygons.shapes[0].fill_rule", "[0, 2]"},
      {"a large shape", shape + "shapes { " + Vertices(kMaxMovingVertices + 1) + " }",
       StatusCode::kResourceExhausted, "polygons.shapes[1]",
       "at most 4096 vertices (vertices a moving shape)"},
  };
  for (const Malformed& malformed : cases) {
    SCOPED_TRACE(malformed.story);
    const auto message = FromText<v1::Group>("polygons { " + malformed.text + " }");
    DecodedGroup decoded;
    EXPECT_TRUE(
        Refuses(DecodeGroup(message, decoded), malformed.code, malformed.field, malformed.range));
  }
}

TEST(DecodeGroup, AcceptsTheLargestShape) {
  const auto message =
      FromText<v1::Group>("polygons { x: 1 y: 1 shapes { " + Vertices(kMaxMovingVertices) + " } }");
  DecodedGroup decoded;
  EXPECT_TRUE(DecodeGroup(message, decoded).ok());
}

TEST(DecodeGroup, NamesAllThatIsWrongWithTheForm) {
  const auto message = FromText<v1::Group>(
      "segments { mode: 9 inside_policy: 9 } circles { detail: 9 } "
      "polygons { detail: 9 shapes {} shapes { fill_rule: 9 } }");
  DecodedGroup decoded;
  EXPECT_THAT(
      Fields(DecodeGroup(message, decoded)),
      ElementsAre("segments.mode", "segments.inside_policy", "circles.detail", "polygons.detail",
                  "polygons.shapes[0].rings", "polygons.shapes[1].fill_rule"));
}

TEST(DecodeGroup, ListsSixteenShapesAndTheirNumber) {
  v1::Group message;
  for (int i = 0; i < 1000; ++i) message.mutable_polygons()->add_shapes();
  DecodedGroup decoded;
  const absl::Status status = DecodeGroup(message, decoded);
  EXPECT_THAT(Fields(status), SizeIs(16));
  EXPECT_THAT(Fields(status), Each(HasSubstr("polygons.shapes[")));
  EXPECT_THAT(std::string(status.message()), HasSubstr("1000"));
}

// A group that is decoded after others, refused ones among them, is as if it were the first.
TEST(DecodeGroup, ReuseLeavesNothingBehind) {
  const auto full = FromText<v1::Group>(
      "segments { ax: 1 ay: 2 bx: 3 by: 4 mode: CAST_MODE_ALL max_hits: 7 mask: 1 "
      "inside_policy: INSIDE_POLICY_EXIT } points { x: 1 y: 2 mask: 2 } "
      "circles { x: 1 y: 2 radius: 3 detail: OVERLAP_DETAIL_EDGES mask: 3 } polygons { " +
      Polygons("shapes", 9) + "shape: 0 x: 1 y: 2 angle: 0 detail: OVERLAP_DETAIL_EDGES mask: 4 }");
  const auto refused = FromText<v1::Group>("polygons { shapes {} }");
  const auto message = FromText<v1::Group>("points { x: 1 y: 2 } polygons { x: [5, 6] y: [5, 6] " +
                                           Polygons("shapes", 2) + "}");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(full, decoded).ok());
  const size_t capacity = decoded.polygons.capacity();
  ASSERT_FALSE(DecodeGroup(refused, decoded).ok());
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  EXPECT_EQ(decoded.polygons.capacity(), capacity);
  EXPECT_THAT(decoded.polygons, SizeIs(2));
  const Group& group = decoded.group;
  EXPECT_EQ(group.query_count(), 3u);
  EXPECT_EQ(group.segments.size(), 0u);
  EXPECT_EQ(group.cast_options.mode, CastMode::kClosest);
  EXPECT_EQ(group.cast_options.inside_policy, InsidePolicy::kReportStart);
  EXPECT_EQ(group.cast_options.max_hits, 64u);
  EXPECT_EQ(group.cast_options.mask, kEveryCategory);
  EXPECT_EQ(group.point_mask, kEveryCategory);
  EXPECT_EQ(group.circles.size(), 0u);
  EXPECT_EQ(group.circle_options.detail, OverlapDetail::kIds);
  EXPECT_EQ(group.polygon_options.detail, OverlapDetail::kIds);
  EXPECT_EQ(group.polygon_options.mask, kEveryCategory);
  EXPECT_TRUE(group.polygons.shape.empty());
  EXPECT_TRUE(group.polygons.angle.empty());
  EXPECT_EQ(group.polygons.shapes.size(), 2u);
}

}  // namespace
}  // namespace carom::wire
