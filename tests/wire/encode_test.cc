// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Law: what is encoded, sent and decoded is what it was. And: memory is kept.

#include "wire/encode.h"

#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::SizeIs;

constexpr uint64_t kMaxId = std::numeric_limits<uint64_t>::max();
constexpr double kTiny = 0x1p-140;

Polygon MakePolygon(PolygonSpec spec) {
  absl::StatusOr<Polygon> polygon = Polygon::Create(std::move(spec));
  EXPECT_TRUE(polygon.ok()) << polygon.status();
  return *std::move(polygon);
}

Polygon Triangle(uint64_t id) {
  return MakePolygon({.id = id, .rings = {{{{0, 0}, {4, 0}, {0, 4}}}}});
}

void ExpectEqual(const Polygon& a, const Polygon& b) {
  EXPECT_EQ(a.id(), b.id());
  EXPECT_EQ(a.fill_rule(), b.fill_rule());
  EXPECT_EQ(a.solidity(), b.solidity());
  EXPECT_EQ(a.category(), b.category());
  EXPECT_EQ(a.user_data(), b.user_data());
  ASSERT_EQ(a.ring_count(), b.ring_count());
  for (size_t i = 0; i < a.ring_count(); ++i) {
    EXPECT_THAT(a.ring(i), ElementsAreArray(b.ring(i))) << i;
    EXPECT_EQ(a.is_open(i), b.is_open(i)) << i;
  }
  EXPECT_EQ(a.edge_count(), b.edge_count());
}

void ExpectPolygonTravels(const Polygon& polygon) {
  v1::Polygon message;
  EncodePolygon(polygon, message);
  const absl::StatusOr<Polygon> arrived = DecodePolygon(Sent(message), {});
  ASSERT_TRUE(arrived.ok()) << arrived.status();
  ExpectEqual(polygon, *arrived);
}

// --- EncodePolygon

TEST(EncodePolygon, EveryMemberTravels) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  for (const FillRule fill_rule : {FillRule::kEvenOdd, FillRule::kNonZero}) {
    for (const Solidity solidity : {Solidity::kSolid, Solidity::kBoundary}) {
      for (const uint64_t category : {uint64_t{0}, uint64_t{1}, uint64_t{2}, kMaxId}) {
        ExpectPolygonTravels(MakePolygon({.id = kMaxId - category,
                                          .rings = {{{{0, 0}, {1, 0}, {0, 1}}}},
                                          .fill_rule = fill_rule,
                                          .solidity = solidity,
                                          .category = category,
                                          .user_data = every_byte}));
      }
    }
  }
}

TEST(EncodePolygon, EveryKindOfRingTravels) {
  ExpectPolygonTravels(MakePolygon({.rings = {{{{0, 0}, {1, 0}, {0, 1}}, false},
                                              {{{0, 0}, {1, 0}, {0, 1}}, true},
                                              {{{2, 3}}, false},
                                              {{{2, 3}}, true},
                                              {{{2, 3}, {4, 5}}, false},
                                              {{{2, 3}, {4, 5}}, true},
                                              {{{2, 3}, {2, 3}}, true},
                                              {{{2, 3}, {4, 5}, {2, 3}}, true}},
                                    .solidity = Solidity::kBoundary}));
}

TEST(EncodePolygon, CoordinatesTravelToTheBit) {
  ExpectPolygonTravels(
      MakePolygon({.rings = {{{{kMaxCoordinate, -kMaxCoordinate},
                               {kTiny, -kTiny},
                               {0.1, 1 / 3.0},
                               {0x1.fffffffffffffp-140, 0x1.fffffffffffffp52}}}}}));
}

// A closed ring may end where it starts, beyond the closing duplicate that `Create` drops: a copy
// that is sent as it stands would lose another vertex on arrival, and its edges would be numbered
// otherwise.
TEST(EncodePolygon, RingsThatEndWhereTheyStartTravel) {
  const Vec2 a{1, 2};
  const Vec2 b{3, 4};
  for (const std::vector<Vec2>& vertices : std::vector<std::vector<Vec2>>{
           {a, a}, {a, a, a}, {a, a, a, a}, {a, b, a}, {a, b, a, a}, {a, b, a, a, a}}) {
    const Polygon polygon = MakePolygon({.rings = {{vertices}}});
    EXPECT_EQ(polygon.vertex_count(), vertices.size() - 1);
    ExpectPolygonTravels(polygon);
  }
}

TEST(EncodePolygon, RandomPolygonsTravel) {
  std::mt19937_64 random(20240611);
  const auto number = [&](uint64_t below) { return random() % below; };
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    PolygonSpec spec{.id = random(),
                     .rings = {},
                     .fill_rule = static_cast<FillRule>(number(2)),
                     .solidity = static_cast<Solidity>(number(2)),
                     .category = random() >> number(64),
                     .user_data = std::string(number(20), static_cast<char>(number(256)))};
    for (uint64_t rings = 1 + number(4); rings > 0; --rings) {
      RingSpec ring;
      ring.open = spec.solidity == Solidity::kBoundary && number(2) == 0;
      for (uint64_t n = 1 + number(8); n > 0; --n) {
        // A coarse grid makes duplicates, the ends of a ring among them.
        ring.vertices.push_back(
            {static_cast<double>(number(3)) / 3, -static_cast<double>(number(2))});
      }
      spec.rings.push_back(ring);
    }
    ExpectPolygonTravels(MakePolygon(std::move(spec)));
  }
}

TEST(EncodePolygon, ClearsTheMessage) {
  v1::Polygon message;
  EncodePolygon(MakePolygon({.id = 1,
                             .rings = {{{{0, 0}, {1, 0}}}, {{{5, 5}}, true}},
                             .solidity = Solidity::kBoundary,
                             .category = 6,
                             .user_data = "x"}),
                message);
  v1::Polygon fresh;
  EncodePolygon(Triangle(2), message);
  EncodePolygon(Triangle(2), fresh);
  EXPECT_EQ(message.SerializeAsString(), fresh.SerializeAsString());
}

// --- EncodeEdit

TEST(EncodeEdit, EveryKindTravels) {
  const std::vector<SceneEdit> edits = {AddPolygon{Triangle(1)}, RemovePolygon{0},
                                        ReplacePolygon{Triangle(kMaxId)}, RemovePolygon{kMaxId}};
  v1::CommitEditsRequest request;
  for (const SceneEdit& edit : edits) EncodeEdit(edit, *request.add_edits());
  const absl::StatusOr<std::vector<SceneEdit>> arrived = DecodeEdits(Sent(request).edits(), {});
  ASSERT_TRUE(arrived.ok()) << arrived.status();
  ASSERT_THAT(*arrived, SizeIs(4));
  ExpectEqual(std::get<AddPolygon>((*arrived)[0]).polygon, Triangle(1));
  EXPECT_EQ(std::get<RemovePolygon>((*arrived)[1]).id, 0u);
  ExpectEqual(std::get<ReplacePolygon>((*arrived)[2]).polygon, Triangle(kMaxId));
  EXPECT_EQ(std::get<RemovePolygon>((*arrived)[3]).id, kMaxId);
}

TEST(EncodeEdit, TakesTheMessageOver) {
  v1::Edit message;
  EncodeEdit(AddPolygon{Triangle(1)}, message);
  EncodeEdit(RemovePolygon{5}, message);
  EXPECT_EQ(message.edit_case(), v1::Edit::kRemove);
  EncodeEdit(ReplacePolygon{Triangle(2)}, message);
  EXPECT_EQ(message.edit_case(), v1::Edit::kReplace);
}

// --- EncodeGroup

// Columns that a group views.
struct Columns {
  std::vector<double> ax{1, 2}, ay{3, 4}, bx{5, 6}, by{7, 8};
  std::vector<double> x{0.1, 0.2, 0.3}, y{-0.1, kTiny, 9e15}, radius{0, 1, 2};
  std::vector<double> c{1, 0, -1}, s{0, 1, 0}, angle{1, 2, 3};
  std::vector<uint32_t> shape{1, 0, 4294967295};
  std::vector<Polygon> shapes{Triangle(0), Triangle(1)};
};

Group FullGroup(const Columns& columns) {
  Group group;
  group.cast_options = {
      .mode = CastMode::kAll, .inside_policy = InsidePolicy::kExit, .max_hits = 65536, .mask = 1};
  group.segments = {columns.ax, columns.ay, columns.bx, columns.by};
  group.point_mask = 0;
  group.points = {columns.x, columns.y};
  group.circle_options = {OverlapDetail::kEdges, kMaxId - 1};
  group.circles = {columns.x, columns.y, columns.radius};
  group.polygon_options = {OverlapDetail::kEdges, uint64_t{1} << 63};
  group.polygons = {columns.shapes, columns.shape, columns.x, columns.y, columns.c, columns.s, {}};
  return group;
}

template <typename T>
void ExpectEqual(std::span<const T> a, std::span<const T> b) {
  EXPECT_THAT(a, ElementsAreArray(b));
}

void ExpectEqual(const OverlapOptions& a, const OverlapOptions& b) {
  EXPECT_EQ(a.detail, b.detail);
  EXPECT_EQ(a.mask, b.mask);
}

void ExpectEqual(const Group& a, const Group& b) {
  EXPECT_EQ(a.cast_options.mode, b.cast_options.mode);
  EXPECT_EQ(a.cast_options.inside_policy, b.cast_options.inside_policy);
  EXPECT_EQ(a.cast_options.max_hits, b.cast_options.max_hits);
  EXPECT_EQ(a.cast_options.mask, b.cast_options.mask);
  EXPECT_EQ(a.point_mask, b.point_mask);
  ExpectEqual(a.circle_options, b.circle_options);
  ExpectEqual(a.polygon_options, b.polygon_options);
  ExpectEqual(a.segments.ax, b.segments.ax);
  ExpectEqual(a.segments.ay, b.segments.ay);
  ExpectEqual(a.segments.bx, b.segments.bx);
  ExpectEqual(a.segments.by, b.segments.by);
  ExpectEqual(a.points.x, b.points.x);
  ExpectEqual(a.points.y, b.points.y);
  ExpectEqual(a.circles.x, b.circles.x);
  ExpectEqual(a.circles.y, b.circles.y);
  ExpectEqual(a.circles.radius, b.circles.radius);
  ExpectEqual(a.polygons.shape, b.polygons.shape);
  ExpectEqual(a.polygons.x, b.polygons.x);
  ExpectEqual(a.polygons.y, b.polygons.y);
  ExpectEqual(a.polygons.c, b.polygons.c);
  ExpectEqual(a.polygons.s, b.polygons.s);
  ExpectEqual(a.polygons.angle, b.polygons.angle);
  ASSERT_EQ(a.polygons.shapes.size(), b.polygons.shapes.size());
  for (size_t i = 0; i < a.polygons.shapes.size(); ++i) {
    ExpectEqual(a.polygons.shapes[i], b.polygons.shapes[i]);
  }
}

void ExpectGroupTravels(const Group& group) {
  v1::Group message;
  EncodeGroup(group, message);
  const v1::Group sent = Sent(message);
  DecodedGroup arrived;
  const absl::Status status = DecodeGroup(sent, arrived);
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(group, arrived.group);
}

TEST(EncodeGroup, EveryMemberTravels) {
  const Columns columns;
  Group group = FullGroup(columns);
  ExpectGroupTravels(group);
  group.polygons.c = group.polygons.s = {};
  group.polygons.angle = columns.angle;
  ExpectGroupTravels(group);
  group.polygons.angle = {};
  ExpectGroupTravels(group);
}

TEST(EncodeGroup, EveryOptionTravels) {
  const Columns columns;
  Group group = FullGroup(columns);
  for (const CastMode mode : {CastMode::kAny, CastMode::kClosest, CastMode::kAll}) {
    for (const InsidePolicy policy :
         {InsidePolicy::kReportStart, InsidePolicy::kIgnore, InsidePolicy::kExit}) {
      for (const uint32_t max_hits : {1u, 64u, kMaxMaxHits}) {
        group.cast_options = {.mode = mode, .inside_policy = policy, .max_hits = max_hits};
        ExpectGroupTravels(group);
      }
    }
  }
  for (const OverlapDetail detail : {OverlapDetail::kIds, OverlapDetail::kEdges}) {
    for (const uint64_t mask : {uint64_t{0}, uint64_t{1}, kEveryCategory}) {
      group.circle_options = group.polygon_options = {detail, mask};
      group.point_mask = mask;
      ExpectGroupTravels(group);
    }
  }
}

TEST(EncodeGroup, LeavesBatchesWithoutItemsAbsentAndTheTargetAlone) {
  const Columns columns;
  v1::Group message;
  message.set_scene_handle(5);
  message.set_min_version(6);
  EncodeGroup(FullGroup(columns), message);
  EXPECT_TRUE(message.has_segments() && message.has_points() && message.has_circles() &&
              message.has_polygons());
  EncodeGroup(Group{}, message);
  EXPECT_FALSE(message.has_segments() || message.has_points() || message.has_circles() ||
               message.has_polygons());
  EXPECT_EQ(message.scene_handle(), 5u);
  EXPECT_EQ(message.min_version(), 6u);
}

// --- EncodeGroupAnswers

GroupAnswers FullAnswers() {
  GroupAnswers answers;
  answers.version = kMaxId;
  answers.segments.counts = {3, 0, 1};
  answers.segments.truncated = {0, 2};
  answers.segments.errors = {{1, ItemColumn::kBy, ItemFault::kNotAccepted}};
  for (const Feature feature :
       {Feature::kEdge, Feature::kVertex, Feature::kCollinear, Feature::kNone}) {
    const auto i = static_cast<uint32_t>(feature);
    const bool odd = i % 2 == 1;
    const EdgeRef edge = feature == Feature::kNone ? EdgeRef{} : EdgeRef{i, ~i};
    answers.segments.hits.push_back({.polygon_id = kMaxId - i,
                                     .edge = edge,
                                     .exit_edge = odd ? EdgeRef{i + 1, i + 2} : EdgeRef{},
                                     .feature = feature,
                                     .starts_inside = i > 1,
                                     .ends_inside = i < 1,
                                     .has_exit_edge = odd,
                                     .fraction = i / 3.0,
                                     .exit_fraction = i / 7.0,
                                     .point = {i + 0.1, i + 0.2},
                                     .normal = {i + 0.3, i + 0.4},
                                     .exit_normal = {i + 0.5, i + 0.6}});
  }
  answers.points.counts = {0, 2, 1};
  answers.points.polygon_ids = {0, kMaxId, 7};
  answers.points.locations = {Location::kInside, Location::kBoundary, Location::kInside};
  answers.points.errors = {{0, ItemColumn::kY, ItemFault::kNotAccepted}};
  answers.circles.counts = {2, 0, 0};
  answers.circles.polygon_ids = {1, kMaxId};
  answers.circles.touching = {1, 0};
  answers.circles.edge_counts = {2, 0};
  answers.circles.edges = {{0, 4294967295}, {4294967295, 0}};
  answers.circles.errors = {{1, ItemColumn::kRadius, ItemFault::kNegativeRadius},
                            {2, ItemColumn::kX, ItemFault::kNotAccepted}};
  answers.polygons.counts = {0, 0, 1};
  answers.polygons.polygon_ids = {kMaxId};
  answers.polygons.edge_counts = {1};
  answers.polygons.edges = {{3, 4}};
  answers.polygons.errors = {{0, ItemColumn::kShape, ItemFault::kUnknownShape},
                             {1, ItemColumn::kX, ItemFault::kPlacedOutOfRange}};
  return answers;
}

void ExpectEqual(const CastHit& a, const CastHit& b) {
  EXPECT_EQ(a.polygon_id, b.polygon_id);
  EXPECT_EQ(a.edge, b.edge);
  EXPECT_EQ(a.exit_edge, b.exit_edge);
  EXPECT_EQ(a.feature, b.feature);
  EXPECT_EQ(a.starts_inside, b.starts_inside);
  EXPECT_EQ(a.ends_inside, b.ends_inside);
  EXPECT_EQ(a.has_exit_edge, b.has_exit_edge);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.exit_fraction, b.exit_fraction);
  EXPECT_EQ(a.point, b.point);
  EXPECT_EQ(a.normal, b.normal);
  EXPECT_EQ(a.exit_normal, b.exit_normal);
}

void ExpectEqual(const OverlapAnswers& a, const OverlapAnswers& b) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.polygon_ids, b.polygon_ids);
  EXPECT_EQ(a.touching, b.touching);
  EXPECT_EQ(a.edge_counts, b.edge_counts);
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.errors, b.errors);
}

void ExpectEqual(const GroupAnswers& a, const GroupAnswers& b) {
  EXPECT_EQ(a.version, b.version);
  EXPECT_EQ(a.segments.counts, b.segments.counts);
  EXPECT_EQ(a.segments.truncated, b.segments.truncated);
  EXPECT_EQ(a.segments.errors, b.segments.errors);
  ASSERT_EQ(a.segments.hits.size(), b.segments.hits.size());
  for (size_t i = 0; i < a.segments.hits.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectEqual(a.segments.hits[i], b.segments.hits[i]);
  }
  EXPECT_EQ(a.points.counts, b.points.counts);
  EXPECT_EQ(a.points.polygon_ids, b.points.polygon_ids);
  EXPECT_EQ(a.points.locations, b.points.locations);
  EXPECT_EQ(a.points.errors, b.points.errors);
  ExpectEqual(a.circles, b.circles);
  ExpectEqual(a.polygons, b.polygons);
}

TEST(EncodeGroupAnswers, EveryMemberTravels) {
  const Columns columns;
  const GroupAnswers answers = FullAnswers();
  v1::GroupAnswer message;
  EncodeGroupAnswers(FullGroup(columns), answers, message);
  GroupAnswers arrived;
  const absl::Status status = DecodeGroupAnswers(Sent(message), arrived);
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(answers, arrived);
}

TEST(EncodeGroupAnswers, EveryItemErrorTravels) {
  const Columns columns;
  GroupAnswers answers;
  for (int column = 0; column < kItemColumnCount; ++column) {
    for (int fault = 0; fault <= static_cast<int>(ItemFault::kNotKept); ++fault) {
      const auto index = static_cast<uint32_t>(answers.polygons.counts.size());
      answers.polygons.errors.push_back(
          {index, static_cast<ItemColumn>(column), static_cast<ItemFault>(fault)});
      answers.polygons.counts.push_back(0);
    }
  }
  v1::GroupAnswer message;
  EncodeGroupAnswers(FullGroup(columns), answers, message);
  EXPECT_EQ(message.polygons().errors(0).code(), 3);
  EXPECT_EQ(message.polygons().errors(static_cast<int>(ItemFault::kNotKept)).code(), 11);
  GroupAnswers arrived;
  ASSERT_TRUE(DecodeGroupAnswers(Sent(message), arrived).ok());
  EXPECT_EQ(arrived.polygons.errors, answers.polygons.errors);
}

TEST(EncodeGroupAnswers, WireValuesAreThoseOfTheSpecification) {
  const Columns columns;
  v1::GroupAnswer message;
  EncodeGroupAnswers(FullGroup(columns), FullAnswers(), message);
  EXPECT_THAT(message.segments().feature(),
              ElementsAre(v1::FEATURE_EDGE, v1::FEATURE_VERTEX, v1::FEATURE_COLLINEAR,
                          v1::FEATURE_UNSPECIFIED));
  EXPECT_THAT(message.points().location(),
              ElementsAre(v1::LOCATION_INSIDE, v1::LOCATION_BOUNDARY, v1::LOCATION_INSIDE));
  EXPECT_EQ(message.segments().errors(0).field(), "by");
  EXPECT_EQ(message.segments().errors(0).message(), Description(ItemFault::kNotAccepted));
  EXPECT_EQ(message.segments().errors(0).fault(), v1::ITEM_FAULT_NOT_ACCEPTED);
}

// An edge that means nothing is 0 on the wire, whatever the core left in it.
TEST(EncodeGroupAnswers, AnEdgeThatIsNotThereIsZero) {
  const Columns columns;
  GroupAnswers answers;
  answers.segments.counts = {1, 0};
  CastHit& hit = answers.segments.hits.emplace_back();
  hit.edge = {7, 8};
  hit.exit_edge = {9, 10};
  v1::GroupAnswer message;
  EncodeGroupAnswers(FullGroup(columns), answers, message);
  EXPECT_THAT(message.segments().ring(), ElementsAre(0));
  EXPECT_THAT(message.segments().edge(), ElementsAre(0));
  EXPECT_THAT(message.segments().exit_ring(), ElementsAre(0));
  EXPECT_THAT(message.segments().exit_edge(), ElementsAre(0));
}

TEST(EncodeGroupAnswers, AnswersWhatIsAskedAndNoMore) {
  const Columns columns;
  v1::GroupAnswer message;
  message.mutable_status()->set_code(5);
  Group group;
  group.points = {columns.x, columns.y};
  EncodeGroupAnswers(FullGroup(columns), FullAnswers(), message);
  EncodeGroupAnswers(group, FullAnswers(), message);
  EXPECT_FALSE(message.has_status());
  EXPECT_FALSE(message.has_segments());
  EXPECT_TRUE(message.has_points());
  EXPECT_FALSE(message.has_circles());
  EXPECT_FALSE(message.has_polygons());
  EXPECT_EQ(message.version(), kMaxId);
}

TEST(EncodeGroupAnswers, AMessageThatIsUsedAgainKeepsItsMemoryAndNothingElse) {
  const Columns columns;
  const Group group = FullGroup(columns);
  GroupAnswers many = FullAnswers();
  many.segments.hits.resize(1000);
  many.segments.counts[0] = 999;
  v1::GroupAnswer message;
  EncodeGroupAnswers(group, many, message);
  const double* fractions = message.segments().fraction().data();
  const uint64_t* ids = message.circles().polygon_id().data();
  EncodeGroupAnswers(group, FullAnswers(), message);
  EXPECT_EQ(message.segments().fraction().data(), fractions);
  EXPECT_EQ(message.circles().polygon_id().data(), ids);
  v1::GroupAnswer fresh;
  EncodeGroupAnswers(group, FullAnswers(), fresh);
  EXPECT_EQ(message.SerializeAsString(), fresh.SerializeAsString());
}

// The answers of the core itself travel.
TEST(EncodeGroupAnswers, EvaluatedAnswersTravel) {
  std::vector<Polygon> polygons;
  polygons.push_back(Triangle(3));
  polygons.push_back(MakePolygon(
      {.id = kMaxId, .rings = {{{{-1, -1}, {9, -1}, {9, 9}, {-1, 9}}}}, .category = 6}));
  const absl::StatusOr<Scene::Ptr> scene = Scene::Create(std::move(polygons), 42);
  ASSERT_TRUE(scene.ok()) << scene.status();
  const std::vector<double> ax{-5, 1, 20}, ay{1, 1, 20}, bx{20, 2, 30}, by{1, 1, 30};
  const std::vector<double> x{1, 0, 50}, y{1, 2, 50}, radius{1, 2, 3}, c{1, 1, 2}, s{0, 0, 0};
  const std::vector<uint32_t> shape{0, 0, 0};
  const std::vector<Polygon> shapes{Triangle(0)};
  Group group;
  group.cast_options.mode = CastMode::kAll;
  group.segments = {ax, ay, bx, by};
  group.points = {x, y};
  group.circles = {x, y, radius};
  group.circle_options.detail = OverlapDetail::kEdges;
  group.polygons = {shapes, shape, x, y, c, s, {}};
  ASSERT_TRUE(CheckGroup(group).ok());
  GroupAnswers answers;
  WorkMeter meter;
  ASSERT_TRUE(EvaluateGroup(**scene, group, answers, meter).ok());
  EXPECT_THAT(answers.polygons.errors, SizeIs(1));
  v1::GroupAnswer message;
  EncodeGroupAnswers(group, answers, message);
  GroupAnswers arrived;
  const absl::Status status = DecodeGroupAnswers(Sent(message), arrived);
  ASSERT_TRUE(status.ok()) << status;
  ExpectEqual(answers, arrived);
}

// --- EncodeScene

TEST(EncodeScene, Summary) {
  std::vector<Polygon> polygons;
  polygons.push_back(Triangle(1));
  polygons.push_back(MakePolygon({.id = 2, .rings = {{{{-7, 9}}}}}));
  const absl::StatusOr<Scene::Ptr> scene = Scene::Create(std::move(polygons), kMaxId);
  ASSERT_TRUE(scene.ok()) << scene.status();
  v1::Scene message;
  EncodeScene("scenes/arena", **scene, message);
  EXPECT_EQ(Sent(message).ShortDebugString(),
            "name: \"scenes/arena\" version: 18446744073709551615 polygon_count: 2 "
            "vertex_count: 4 bounds { min_x: -7 max_x: 4 max_y: 9 }");
}

TEST(EncodeScene, AnEmptySceneHasNoBounds) {
  v1::Scene message;
  message.mutable_bounds()->set_max_x(1);
  EncodeScene("scenes/empty", **Scene::Create({}, 7), message);
  EXPECT_EQ(message.ShortDebugString(), "name: \"scenes/empty\" version: 7");
}

}  // namespace
}  // namespace carom::wire
