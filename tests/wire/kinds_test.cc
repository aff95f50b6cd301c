// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The answers to every kind of question: what their columns decode to, that it encodes to the same
// message, and every way in which columns do not fit together.

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/kind_rows.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

// `batch { rows }`, with ERROR(column) replaced by the error of item 1.
std::string Text(const std::string& batch, std::string rows) {
  const size_t at = rows.find("ERROR(");
  if (at != std::string::npos) {
    const size_t end = rows.find(')', at);
    std::string error = kError;
    error.replace(error.find("COLUMN"), 6, rows.substr(at + 6, end - at - 6));
    rows.replace(at, end - at + 1, error);
  }
  return absl::StrCat(batch, " { ", rows, " }\n");
}

// A group that asks three items of every kind.
class Asked {
 public:
  Asked() {
    const PointColumns points{three_, three_};
    const ShapeColumns movers{{}, {}, three_, three_, {}, {}, {}};
    group_.segments = group_.sights = {three_, three_, three_, three_};
    group_.points = points;
    group_.circles = {three_, three_, three_};
    group_.polygons.x = three_;
    group_.rays = {three_, three_, three_, three_, {}, {}};
    group_.capsules = {three_, three_, three_, three_, three_};
    group_.boxes = {three_, three_, three_, three_};
    group_.distances.movers = group_.contacts.movers = group_.depenetrations = movers;
    group_.sweeps.movers = group_.rotating_sweeps.movers = movers;
    group_.slides.movers = movers;
    group_.bounces = group_.segments;
    group_.ray_bounces.x = three_;
    group_.arcs.x = group_.fans.x = group_.areas.x = group_.sees.x = three_;
  }

  const Group& group() const { return group_; }

 private:
  std::vector<double> three_{1, 2, 3};
  Group group_;
};

// Answers that are decoded, and encoded again to what they are decoded from.
class Answered {
 public:
  explicit Answered(const std::string& text) {
    const auto message = FromText<v1::GroupAnswer>("version: 7 " + text);
    const absl::Status status = DecodeGroupAnswers(Sent(message), answers_);
    EXPECT_TRUE(status.ok()) << status << "\n" << text;
    v1::GroupAnswer encoded;
    EncodeGroupAnswers(Asked().group(), answers_, encoded);
    std::vector<const google::protobuf::FieldDescriptor*> asked, fields;
    message.GetReflection()->ListFields(message, &fields);
    encoded.GetReflection()->ListFields(encoded, &asked);
    EXPECT_EQ(asked.size(), 21u);
    for (const auto* field : asked) {
      if (!message.GetReflection()->HasField(message, field)) {
        encoded.GetReflection()->ClearField(&encoded, field);
      }
    }
    EXPECT_EQ(encoded.DebugString(), message.DebugString());
    EXPECT_EQ(encoded.SerializeAsString(), message.SerializeAsString());
  }

  const GroupAnswers* operator->() const { return &answers_; }

 private:
  GroupAnswers answers_;
};

// --- What travels

TEST(Kinds, RaysTravel) {
  const Answered answered(Text("rays", kCastRows));
  EXPECT_THAT(answered->rays.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answered->rays.truncated, ElementsAre(0));
  EXPECT_THAT(answered->rays.errors,
              ElementsAre(ItemError{1, ItemColumn::kDx, ItemFault::kZeroDirection}));
  ASSERT_THAT(answered->rays.hits, SizeIs(3));
  const CastHit& first = answered->rays.hits[0];
  EXPECT_EQ(first.polygon_id, 8u);
  EXPECT_EQ(first.edge, (EdgeRef{1, 3}));
  EXPECT_EQ(first.exit_edge, (EdgeRef{5, 7}));
  EXPECT_EQ(first.fraction, 1.5);
  EXPECT_EQ(first.exit_fraction, 4.5);
  EXPECT_THAT(answered->rays.reflections, ElementsAre(Vec2{11, 14}, Vec2{12, 15}, Vec2{13, 16}));
  EXPECT_THAT(answered->segments.counts, SizeIs(0));
}

TEST(Kinds, ReflectionsOfSegmentsTravel) {
  const Answered answered(Text("segments", kCastRows));
  EXPECT_THAT(answered->segments.reflections, SizeIs(3));
  EXPECT_THAT(answered->rays.counts, SizeIs(0));
}

TEST(Kinds, SoftWallsTravel) {
  const std::string soft = absl::StrCat(kCastRows, " passed: [3, 0, 1] soft_length: [0.5, 0, 2]");
  const Answered answered(Text("segments", soft.c_str()));
  EXPECT_THAT(answered->segments.passed, ElementsAre(3, 0, 1));
  EXPECT_THAT(answered->segments.soft_lengths, ElementsAre(0.5, 0, 2));
  for (const char* column : {"passed", "soft_length"}) {
    auto message = FromText<v1::GroupAnswer>(Text("segments", soft.c_str()));
    google::protobuf::Message& batch = *message.mutable_segments();
    batch.GetReflection()->RemoveLast(&batch, batch.GetDescriptor()->FindFieldByName(column));
    GroupAnswers answers;
    EXPECT_TRUE(Refuses(DecodeGroupAnswers(message, answers), absl::StatusCode::kInternal,
                        absl::StrCat("segments.", column), "does not fit"));
  }
}

TEST(Kinds, CapsulesTravel) {
  const Answered answered(Text("capsules", kTouches));
  EXPECT_THAT(answered->capsules.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answered->capsules.polygon_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(answered->capsules.touching, ElementsAre(1, 0, 1));
  EXPECT_THAT(answered->capsules.edge_counts, ElementsAre(1, 0, 2));
  EXPECT_THAT(answered->capsules.edges, ElementsAre(EdgeRef{0, 5}, EdgeRef{1, 6}, EdgeRef{1, 7}));
  EXPECT_THAT(answered->circles.counts, SizeIs(0));
}

TEST(Kinds, BoxesTravel) {
  const Answered answered(Text("boxes", kBoxRows));
  EXPECT_THAT(answered->boxes.polygon_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(answered->boxes.errors,
              ElementsAre(ItemError{1, ItemColumn::kMinY, ItemFault::kEmptyBox}));
}

TEST(Kinds, DistancesTravel) {
  const Answered answered(Text("distances", kDistanceRows));
  EXPECT_THAT(answered->distances.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answered->distances.polygon_ids, ElementsAre(1, 2, 3));
  EXPECT_THAT(answered->distances.errors,
              ElementsAre(ItemError{1, ItemColumn::kMaxDistance, ItemFault::kNegativeLength}));
  ASSERT_THAT(answered->distances.rows, SizeIs(3));
  const DistanceRow& last = answered->distances.rows[2];
  EXPECT_EQ(last.distance, 2.5);
  EXPECT_EQ(last.point, (Vec2{3, 6}));
  EXPECT_EQ(last.mover_point, (Vec2{9, 12}));
  EXPECT_TRUE(last.has_edge);
  EXPECT_EQ(last.edge, (EdgeRef{2, 4}));
  EXPECT_FALSE(answered->distances.rows[1].has_edge);
}

TEST(Kinds, DistancesWithinHaveIdsAlone) {
  const Answered answered("distances { counts: [2, 0] polygon_id: [5, 6] }");
  EXPECT_THAT(answered->distances.polygon_ids, ElementsAre(5, 6));
  EXPECT_THAT(answered->distances.rows, SizeIs(0));
}

TEST(Kinds, ContactsTravel) {
  const Answered answered(Text("contacts", kContactRows));
  EXPECT_THAT(answered->contacts.polygon_ids, ElementsAre(1, 2, 3));
  ASSERT_THAT(answered->contacts.contacts, SizeIs(3));
  const Contact& second = answered->contacts.contacts[1];
  EXPECT_EQ(second.kind, ContactKind::kFeature);
  EXPECT_EQ(second.normal, (Vec2{0, 1}));
  EXPECT_EQ(second.depth, 1.5);
  EXPECT_EQ(second.point_count, 1u);
  EXPECT_THAT(second.points, ElementsAre(ContactPoint{{3, 8}, 13, 18, 23}, ContactPoint{}));
  const Contact& third = answered->contacts.contacts[2];
  EXPECT_EQ(third.kind, ContactKind::kConvex);
  EXPECT_THAT(third.points,
              ElementsAre(ContactPoint{{4, 9}, 14, 19, 24}, ContactPoint{{5, 10}, 15, 20, 25}));
  ASSERT_THAT(answered->contacts.splits, SizeIs(3));
  EXPECT_EQ(answered->contacts.splits[0].fixed, (Vec2{31, 34}));
  EXPECT_EQ(answered->contacts.splits[2].mover, (Vec2{39, 42}));
}

TEST(Kinds, DepenetrationsTravel) {
  const Answered answered(Text("depenetrations", kDepenetrateRows));
  EXPECT_THAT(answered->depenetrations.positions, ElementsAre(Vec2{1, 3}, Vec2{0, 0}, Vec2{2, 4}));
  EXPECT_THAT(answered->depenetrations.finished, ElementsAre(1, 0, 0));
  EXPECT_THAT(answered->depenetrations.steps, ElementsAre(5, 0, 64));
  EXPECT_THAT(answered->depenetrations.errors,
              ElementsAre(ItemError{1, ItemColumn::kShape, ItemFault::kUnknownShape}));
}

TEST(Kinds, SweepsTravel) {
  const Answered answered(Text("sweeps", kSweepRows));
  EXPECT_THAT(answered->sweeps.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answered->sweeps.truncated, ElementsAre(0, 2));
  ASSERT_THAT(answered->sweeps.hits, SizeIs(3));
  const SweepHit& second = answered->sweeps.hits[1];
  EXPECT_EQ(second.polygon_id, 2u);
  EXPECT_EQ(second.fraction, 0.5);
  EXPECT_FALSE(second.starts_inside);
  EXPECT_TRUE(second.ties);
  EXPECT_TRUE(second.has_edge);
  EXPECT_EQ(second.edge, (EdgeRef{2, 4}));
  EXPECT_EQ(second.point, (Vec2{6, 9}));
  EXPECT_EQ(second.normal, (Vec2{0, 1}));
  EXPECT_TRUE(answered->sweeps.hits[2].starts_inside);
  EXPECT_FALSE(answered->sweeps.hits[2].has_edge);
}

TEST(Kinds, RotatingSweepsTravel) {
  const Answered answered(Text("rotating_sweeps", kRotatingRows));
  EXPECT_THAT(answered->rotating_sweeps.counts, ElementsAre(1, 0, 1));
  ASSERT_THAT(answered->rotating_sweeps.hits, SizeIs(2));
  EXPECT_EQ(answered->rotating_sweeps.hits[1].polygon_id, 2u);
  EXPECT_EQ(answered->rotating_sweeps.hits[0].low, 0.25);
  EXPECT_EQ(answered->rotating_sweeps.hits[0].high, 0.5);
  EXPECT_EQ(answered->rotating_sweeps.errors[0].fault, ItemFault::kToleranceTooSmall);
}

TEST(Kinds, ArcsTravel) {
  const Answered answered(Text("arcs", kArcRows));
  EXPECT_THAT(answered->arcs.truncated, ElementsAre(0));
  ASSERT_THAT(answered->arcs.hits, SizeIs(3));
  const ArcHit& first = answered->arcs.hits[0];
  EXPECT_EQ(first.polygon_id, 1u);
  EXPECT_EQ(first.time, 10);
  EXPECT_TRUE(first.has_edge);
  EXPECT_EQ(first.edge, (EdgeRef{1, 3}));
  EXPECT_EQ(first.point, (Vec2{5, 8}));
  EXPECT_EQ(first.normal, (Vec2{1, 0}));
  EXPECT_TRUE(answered->arcs.hits[2].starts_inside);
}

TEST(Kinds, SafePosesTravel) {
  const Answered answered("sweeps { counts: [0, 0] safe_x: [1, 2] safe_y: [3, 4] }");
  EXPECT_THAT(answered->sweeps.safe, ElementsAre(Vec2{1, 3}, Vec2{2, 4}));
}

TEST(Kinds, SlidesTravel) {
  const Answered answered(Text("slides", kSlideRows));
  ASSERT_THAT(answered->slides.rows, SizeIs(3));
  EXPECT_EQ(answered->slides.rows[2].position, (Vec2{3, 6}));
  EXPECT_EQ(answered->slides.rows[2].left, (Vec2{1, 2}));
  EXPECT_EQ(answered->slides.rows[2].legs, 2u);
  EXPECT_EQ(answered->slides.errors[0].fault, ItemFault::kTooManyPushes);
  ASSERT_THAT(answered->slides.legs, SizeIs(3));
  EXPECT_FALSE(answered->slides.legs[0].has_hit);
  const SlideLeg& second = answered->slides.legs[1];
  EXPECT_EQ(second.from, (Vec2{2, 5}));
  EXPECT_EQ(second.d, (Vec2{8, 11}));
  EXPECT_TRUE(second.has_hit);
  EXPECT_EQ(second.hit.polygon_id, 2u);
  EXPECT_EQ(second.hit.fraction, 0.5);
  EXPECT_EQ(second.hit.edge, (EdgeRef{2, 4}));
  EXPECT_EQ(second.hit.normal, (Vec2{1, 0}));
  EXPECT_FALSE(second.hit.is_body);
  EXPECT_TRUE(answered->slides.legs[2].hit.is_body);
}

TEST(Kinds, RayBouncesTravel) {
  const Answered answered(Text("ray_bounces", kRayBounceRows));
  const RayBounceAnswers& rays = answered->ray_bounces;
  EXPECT_THAT(rays.counts, ElementsAre(1, 0, 2));
  EXPECT_THAT(rays.stuck, ElementsAre(2));
  EXPECT_EQ(rays.errors[0].fault, ItemFault::kTooManyBounces);
  ASSERT_THAT(rays.legs, SizeIs(3));
  EXPECT_EQ(rays.legs[0].t_max, std::numeric_limits<double>::infinity());
  EXPECT_EQ(rays.legs[1].direction, (Vec2{8, 11}));
  EXPECT_EQ(rays.legs[1].hit.fraction, 1.5);
}

TEST(Kinds, AreasTravel) {
  const Answered answered(Text("areas", kAreaRows));
  const AreaAnswers& areas = answered->areas;
  EXPECT_THAT(areas.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(areas.truncated, ElementsAre(2));
  EXPECT_THAT(areas.errors,
              ElementsAre(ItemError{1, ItemColumn::kRange, ItemFault::kNegativeLength}));
  EXPECT_THAT(areas.areas, ElementsAre(1.5, 0, 2.5));
  EXPECT_THAT(areas.starts_inside, ElementsAre(0, 0, 1));
  ASSERT_THAT(areas.pieces, SizeIs(3));
  EXPECT_EQ(areas.pieces[0], (AreaPiece{1, {2, 5}, AreaPieceKind::kEdge, false, {1, 4}}));
  EXPECT_EQ(areas.pieces[1], (AreaPiece{0, {}, AreaPieceKind::kSight, false, {2, 5}}));
  EXPECT_EQ(areas.pieces[2], (AreaPiece{3, {4, 6}, AreaPieceKind::kEdge, true, {3, 6}}));
}

TEST(Kinds, WhatObserversSeeTravels) {
  const Answered answered(Text("sees", kSeeRows));
  const SeeAnswers& sees = answered->sees;
  EXPECT_EQ(sees.words(), 2u);
  EXPECT_THAT(sees.counts, ElementsAre(2, 0, 65));
  EXPECT_THAT(sees.starts_inside, ElementsAre(0, 0, 1));
  EXPECT_THAT(sees.errors,
              ElementsAre(ItemError{1, ItemColumn::kRange, ItemFault::kNegativeLength}));
  EXPECT_TRUE(sees.Sees(0, 2));
  EXPECT_FALSE(sees.Sees(0, 67));
  EXPECT_TRUE(sees.Sees(2, 67));
}

TEST(Kinds, BouncesTravel) {
  const Answered answered(Text("bounces", kBounceRows));
  EXPECT_THAT(answered->bounces.counts, ElementsAre(1, 0, 2));
  EXPECT_THAT(answered->bounces.stuck, ElementsAre(2));
  ASSERT_THAT(answered->bounces.legs, SizeIs(3));
  const BounceLeg& second = answered->bounces.legs[1];
  EXPECT_EQ(second.b, (Vec2{8, 11}));
  EXPECT_EQ(second.hit.feature, Feature::kEdge);
  EXPECT_EQ(second.hit.point, (Vec2{6, 9}));
}

TEST(Kinds, SightsTravel) {
  const Answered answered(Text("sights", kSightRows));
  EXPECT_THAT(answered->sights.visible, ElementsAre(1, 0, 0));
  EXPECT_THAT(answered->sights.errors,
              ElementsAre(ItemError{1, ItemColumn::kBx, ItemFault::kNotAccepted}));
}

TEST(Kinds, FansTravel) {
  const Answered answered(Text("fans", kFanRows));
  EXPECT_THAT(answered->fans.counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(answered->fans.hits, ElementsAre(1, 0, 1));
  EXPECT_THAT(answered->fans.distances, ElementsAre(1, 2, 3));
  EXPECT_THAT(answered->fans.polygon_ids, ElementsAre(4, 0, 5));
  EXPECT_EQ(answered->fans.errors[0].fault, ItemFault::kTooManyBeams);
}

TEST(Kinds, AnyHasCountsAndNoRows) {
  for (const char* batch : {"segments", "rays", "sweeps", "arcs"}) {
    const Answered answered(absl::StrCat(batch, " { counts: [1, 0, 1] }"));
    EXPECT_EQ(answered->version, 7u);
  }
}

// An edge that means nothing is 0 on the wire, whatever the core left in it.
TEST(Kinds, AnEdgeThatIsNotThereIsZero) {
  GroupAnswers answers;
  answers.distances.rows.resize(1);
  answers.distances.rows[0].edge = {7, 8};
  answers.sweeps.hits.resize(1);
  answers.sweeps.hits[0].edge = {7, 8};
  answers.arcs.hits.resize(1);
  answers.arcs.hits[0].edge = {7, 8};
  v1::GroupAnswer message;
  EncodeGroupAnswers(Asked().group(), answers, message);
  EXPECT_THAT(message.distances().ring(), ElementsAre(0));
  EXPECT_THAT(message.distances().edge(), ElementsAre(0));
  EXPECT_THAT(message.sweeps().edge(), ElementsAre(0));
  EXPECT_THAT(message.arcs().ring(), ElementsAre(0));
}

TEST(Kinds, AMessageThatIsUsedAgainKeepsItsMemoryAndNothingElse) {
  const std::string text = Text("distances", kDistanceRows) + Text("contacts", kContactRows) +
                           Text("fans", kFanRows) + Text("rays", kCastRows);
  GroupAnswers answers;
  ASSERT_TRUE(DecodeGroupAnswers(FromText<v1::GroupAnswer>(text), answers).ok());
  v1::GroupAnswer message;
  EncodeGroupAnswers(Asked().group(), answers, message);
  const double* distances = message.distances().distance().data();
  const double* points = message.contacts().point_x().data();
  EncodeGroupAnswers(Asked().group(), GroupAnswers{}, message);
  EncodeGroupAnswers(Asked().group(), answers, message);
  EXPECT_EQ(message.distances().distance().data(), distances);
  EXPECT_EQ(message.contacts().point_x().data(), points);
  GroupAnswers arrived;
  ASSERT_TRUE(DecodeGroupAnswers(message, arrived).ok());
  EXPECT_THAT(arrived.contacts.contacts, SizeIs(3));
  ASSERT_TRUE(DecodeGroupAnswers({}, arrived).ok());
  EXPECT_THAT(arrived.contacts.contacts, SizeIs(0));
  EXPECT_THAT(arrived.contacts.splits, SizeIs(0));
  EXPECT_THAT(arrived.rays.reflections, SizeIs(0));
  EXPECT_THAT(arrived.fans.errors, SizeIs(0));
}

// --- What does not fit

google::protobuf::Message& Batch(v1::GroupAnswer& message, const std::string& name) {
  return *message.GetReflection()->MutableMessage(&message,
                                                  message.GetDescriptor()->FindFieldByName(name));
}

void ExpectMisfit(const v1::GroupAnswer& message, const std::string& field) {
  GroupAnswers answers;
  EXPECT_TRUE(Refuses(DecodeGroupAnswers(message, answers), absl::StatusCode::kInternal, field,
                      "does not fit"))
      << message.ShortDebugString();
  EXPECT_EQ(answers.version, 0u);
  EXPECT_THAT(answers.contacts.polygon_ids, SizeIs(0));
  EXPECT_THAT(answers.rays.hits, SizeIs(0));
}

struct Rows {
  const char* batch;
  const char* rows;
  // Columns that are named when one of their entries is missing.
  std::vector<const char*> columns;
};

const std::vector<Rows>& AllRows() {
  static const auto* const rows = new std::vector<Rows>{
      {"rays",
       kCastRows,
       {"ring", "edge", "feature", "fraction", "point_x", "point_y", "normal_x", "normal_y",
        "starts_inside", "ends_inside", "exit_fraction", "has_exit_edge", "exit_ring", "exit_edge",
        "exit_normal_x", "exit_normal_y", "reflection_x", "reflection_y"}},
      {"capsules", kTouches, {"touching", "edge_counts", "edge"}},
      {"boxes", kBoxRows, {}},
      {"distances",
       kDistanceRows,
       {"distance", "point_x", "point_y", "mover_point_x", "mover_point_y", "has_edge", "ring",
        "edge"}},
      {"contacts",
       kContactRows,
       {"kind", "normal_x", "normal_y", "depth", "point_counts", "point_y", "point_depth",
        "polygon_feature", "mover_feature", "fixed_x", "fixed_y", "mover_x", "mover_y"}},
      {"depenetrations", kDepenetrateRows, {"y", "finished", "steps"}},
      {"sweeps",
       kSweepRows,
       {"fraction", "starts_inside", "has_edge", "ring", "edge", "point_x", "point_y", "normal_x",
        "normal_y", "ties"}},
      {"rotating_sweeps", kRotatingRows, {"low", "high"}},
      {"arcs",
       kArcRows,
       {"time", "starts_inside", "has_edge", "ring", "edge", "point_x", "point_y", "normal_x",
        "normal_y"}},
      {"sights", kSightRows, {}},
      {"fans", kFanRows, {"hit", "distance"}},
      {"areas",
       kAreaRows,
       {"kind", "ring", "edge", "start_x", "start_y", "area", "starts_inside", "is_body"}},
      {"sees", kSeeRows, {"seen", "starts_inside"}},
      {"slides",
       kSlideRows,
       {"y", "left_x", "left_y", "from_y", "dx", "dy", "has_hit", "polygon_id", "fraction",
        "starts_inside", "has_edge", "ring", "edge", "point_x", "point_y", "normal_x", "normal_y",
        "is_body"}},
      {"bounces",
       kBounceRows,
       {"ay", "bx", "by", "has_hit", "polygon_id", "fraction", "starts_inside", "ends_inside",
        "ring", "edge", "feature", "point_x", "point_y", "normal_x", "normal_y"}},
      {"ray_bounces",
       kRayBounceRows,
       {"y", "dx", "dy", "t_max", "has_hit", "polygon_id", "fraction", "starts_inside",
        "ends_inside", "ring", "edge", "feature", "point_x", "point_y", "normal_x", "normal_y"}},
  };
  return *rows;
}

TEST(Kinds, EveryColumnHasTheRowsOfTheOthers) {
  for (const Rows& rows : AllRows()) {
    for (const char* column : rows.columns) {
      auto message = FromText<v1::GroupAnswer>(Text(rows.batch, rows.rows));
      google::protobuf::Message& batch = Batch(message, rows.batch);
      batch.GetReflection()->RemoveLast(&batch, batch.GetDescriptor()->FindFieldByName(column));
      ExpectMisfit(message, absl::StrCat(rows.batch, ".", column));
    }
  }
}

TEST(Kinds, CountsSumToTheRows) {
  for (const Rows& rows : AllRows()) {
    auto message = FromText<v1::GroupAnswer>(Text(rows.batch, rows.rows));
    google::protobuf::Message& batch = Batch(message, rows.batch);
    const auto* counts = batch.GetDescriptor()->FindFieldByName("counts");
    if (counts == nullptr) continue;
    batch.GetReflection()->AddUInt32(&batch, counts, 1);
    // Observers have no rows, but words.
    const bool has_words = std::string(rows.batch) == "sees";
    ExpectMisfit(message, absl::StrCat(rows.batch, has_words ? ".seen" : ".counts"));
  }
}

TEST(Kinds, CountsOfObserversAreThoseOfTheBits) {
  auto message = FromText<v1::GroupAnswer>(Text("sees", kSeeRows));
  message.mutable_sees()->set_counts(2, 64);
  ExpectMisfit(message, "sees.counts");
}

TEST(Kinds, ErrorsAreOfItemsWithoutAnswer) {
  for (const Rows& rows : AllRows()) {
    const auto spoil = [&](void (*change)(v1::ItemError&)) {
      auto message = FromText<v1::GroupAnswer>(Text(rows.batch, rows.rows));
      google::protobuf::Message& batch = Batch(message, rows.batch);
      const auto* errors = batch.GetDescriptor()->FindFieldByName("errors");
      change(static_cast<v1::ItemError&>(
          *batch.GetReflection()->MutableRepeatedMessage(&batch, errors, 0)));
      ExpectMisfit(message, absl::StrCat(rows.batch, ".errors"));
    };
    spoil([](v1::ItemError& error) { error.set_index(0); });
    spoil([](v1::ItemError& error) { error.set_index(3); });
    spoil([](v1::ItemError& error) { error.set_field("cx"); });
    spoil([](v1::ItemError& error) { error.clear_field(); });
  }
}

struct MisfitOfRows {
  const char* batch;
  const char* rows;
  void (*spoil)(v1::GroupAnswer&);
  const char* field;
};

void ExpectMisfits(std::span<const MisfitOfRows> cases) {
  for (const MisfitOfRows& c : cases) {
    auto message = FromText<v1::GroupAnswer>(Text(c.batch, c.rows));
    GroupAnswers answers;
    ASSERT_TRUE(DecodeGroupAnswers(message, answers).ok());
    c.spoil(message);
    ExpectMisfit(message, c.field);
  }
}

TEST(Kinds, ValuesThatAreNeverSent) {
  using Answer = v1::GroupAnswer;
  const MisfitOfRows cases[] = {
      {"rays", kCastRows, [](Answer& a) { a.mutable_rays()->set_feature(0, v1::Feature(4)); },
       "rays.feature"},
      {"rays", kCastRows, [](Answer& a) { a.mutable_rays()->set_truncated(0, 1); },
       "rays.truncated"},
      {"sweeps", kSweepRows, [](Answer& a) { a.mutable_sweeps()->set_truncated(1, 0); },
       "sweeps.truncated"},
      {"arcs", kArcRows, [](Answer& a) { a.mutable_arcs()->set_truncated(0, 3); },
       "arcs.truncated"},
      {"contacts", kContactRows,
       [](Answer& a) { a.mutable_contacts()->set_kind(0, v1::CONTACT_KIND_UNSPECIFIED); },
       "contacts.kind"},
      {"contacts", kContactRows,
       [](Answer& a) { a.mutable_contacts()->set_kind(2, v1::ContactKind(3)); }, "contacts.kind"},
  };
  ExpectMisfits(cases);
}

TEST(Kinds, RowsThatNoItemHas) {
  using Answer = v1::GroupAnswer;
  const MisfitOfRows cases[] = {
      // Both sum to the points that are there.
      {"contacts", kContactRows,
       [](Answer& a) {
         a.mutable_contacts()->set_point_counts(0, 3);
         a.mutable_contacts()->set_point_counts(2, 1);
       },
       "contacts.point_counts"},
      {"contacts", kContactRows,
       [](Answer& a) {
         a.mutable_contacts()->set_point_counts(0, 0);
         a.mutable_contacts()->set_point_counts(1, 3);
       },
       "contacts.point_counts"},
      {"contacts", kContactRows, [](Answer& a) { a.mutable_contacts()->add_point_x(1); },
       "contacts.point_counts"},
      {"rotating_sweeps", kRotatingRows,
       [](Answer& a) {
         a.mutable_rotating_sweeps()->set_counts(0, 2);
         a.mutable_rotating_sweeps()->set_counts(2, 0);
       },
       "rotating_sweeps.counts"},
      {"boxes", kBoxRows,
       [](Answer& a) {
         for (int i = 0; i < 3; ++i) a.mutable_boxes()->add_touching(true);
       },
       "boxes.touching"},
      {"sweeps", "counts: [1, 1]", [](Answer& a) { a.mutable_sweeps()->set_counts(0, 2); },
       "sweeps.counts"},
      {"arcs", "counts: [1, 1]", [](Answer& a) { a.mutable_arcs()->set_counts(0, 2); },
       "arcs.counts"},
      {"depenetrations", kDepenetrateRows, [](Answer& a) { a.mutable_depenetrations()->add_x(1); },
       "depenetrations.y"},
  };
  ExpectMisfits(cases);
}

}  // namespace
}  // namespace carom::wire
