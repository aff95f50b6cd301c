// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every kind of question through Evaluate: an answer that is known beforehand, and a bad item
// beside it. The scene is the square of half side 1 about the origin: polygon 1, whose edges are 0
// (bottom), 1 (right), 2 (top) and 3 (left).
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A disc of radius 1 about its reference point, for two items.
constexpr char kDisc[] = "shapes { capsule { radius: 1 } } shape: [0, 0] ";

class KindsTest : public ::testing::Test {
 protected:
  KindsTest() { server_.Create("a", {Square(1, 0, 0)}); }

  // The answer to one group, which is answered.
  v1::GroupAnswer Ask(const std::string& questions) {
    const v1::FrameAnswer answer =
        server_.Ask(absl::StrCat("groups { scene: 'scenes/a' ", questions, "}"));
    EXPECT_EQ(answer.groups_size(), 1);
    if (answer.groups_size() != 1) return {};
    EXPECT_FALSE(answer.groups(0).has_status()) << answer.groups(0).status().message();
    return answer.groups(0);
  }

  // Item 1 is in error, for a value of `field`.
  template <typename Answers>
  static void ExpectSecondRefused(const Answers& answers, const std::string& field,
                                  v1::ItemFault fault) {
    ASSERT_EQ(answers.errors_size(), 1);
    EXPECT_EQ(answers.errors(0).index(), 1);
    EXPECT_EQ(answers.errors(0).code(), grpc::INVALID_ARGUMENT);
    EXPECT_EQ(answers.errors(0).field(), field);
    EXPECT_EQ(answers.errors(0).fault(), fault);
    EXPECT_NE(answers.errors(0).message(), "");
  }

  // The items of questions with rows: one row for the first, an error for the second.
  template <typename Answers>
  static bool OneRow(const Answers& answers, const std::string& field, v1::ItemFault fault) {
    EXPECT_THAT(answers.counts(), ElementsAre(1, 0));
    EXPECT_THAT(answers.polygon_id(), ElementsAre(1));
    ExpectSecondRefused(answers, field, fault);
    return answers.polygon_id_size() == 1;
  }

  TestServer server_;
};

TEST_F(KindsTest, SegmentsWithEveryPassageAndReflection) {
  const v1::CastAnswers hits = Ask("segments { ax: [-3, nan] ay: [-0.5, 0] bx: [1, 3] by: [0.5, 0] "
                                   "mode: CAST_MODE_ALL_PASSAGES reflect: true }")
                                   .segments();
  ASSERT_TRUE(OneRow(hits, "ax", v1::ITEM_FAULT_NOT_ACCEPTED));
  EXPECT_THAT(hits.fraction(), ElementsAre(0.5));
  EXPECT_THAT(hits.reflection_x(), ElementsAre(-4));
  EXPECT_THAT(hits.reflection_y(), ElementsAre(1));
}

TEST_F(KindsTest, SegmentsAgainstBounds) {
  const v1::CastAnswers hits =
      Ask("segments { ax: 0 ay: 5 bx: 0 by: -5 target: CAST_TARGET_BOUNDS }").segments();
  ASSERT_THAT(hits.counts(), ElementsAre(1));
  EXPECT_THAT(hits.edge(), ElementsAre(2));
  EXPECT_THAT(hits.reflection_x(), SizeIs(0));
}

TEST_F(KindsTest, Rays) {
  const v1::CastAnswers hits =
      Ask("rays { x: [-3, 0] y: [0, 0] dx: [2, 0] dy: [0, 0] reflect: true }").rays();
  ASSERT_TRUE(OneRow(hits, "dx", v1::ITEM_FAULT_ZERO_DIRECTION));
  EXPECT_THAT(hits.fraction(), ElementsAre(1));
  EXPECT_THAT(hits.exit_fraction(), ElementsAre(2));
  EXPECT_THAT(hits.edge(), ElementsAre(3));
  EXPECT_THAT(hits.point_x(), ElementsAre(-1));
  EXPECT_THAT(hits.normal_x(), ElementsAre(-1));
  EXPECT_THAT(hits.reflection_x(), ElementsAre(-2));
}

TEST_F(KindsTest, RaysWithARange) {
  const v1::CastAnswers hits = Ask("rays { x: [-3, 0] y: [0, 0] dx: [2, 1] dy: [0, 0] "
                                   "t_min: [0, 1] t_max: [inf, 1] }")
                                   .rays();
  ASSERT_EQ(hits.errors_size(), 1);
  EXPECT_EQ(hits.errors(0).index(), 1);
  EXPECT_EQ(hits.errors(0).fault(), v1::ITEM_FAULT_NOT_A_RANGE);
  EXPECT_THAT(hits.counts(), ElementsAre(1, 0));
}

TEST_F(KindsTest, Capsules) {
  const v1::OverlapAnswers hits =
      Ask("capsules { ax: [3, 0] ay: [0, 0] bx: [3, 0] by: [5, 0] radius: [2, -1] "
          "detail: OVERLAP_DETAIL_EDGES }")
          .capsules();
  ASSERT_TRUE(OneRow(hits, "radius", v1::ITEM_FAULT_NEGATIVE_RADIUS));
  EXPECT_THAT(hits.touching(), ElementsAre(true));
  EXPECT_EQ(hits.edge(0), 1);
}

TEST_F(KindsTest, Boxes) {
  const v1::OverlapAnswers hits =
      Ask("boxes { min_x: [0.5, 1] min_y: [0.5, 0] max_x: [2, 0] max_y: [2, 0] "
          "detail: OVERLAP_DETAIL_EDGES }")
          .boxes();
  ASSERT_TRUE(OneRow(hits, "min_x", v1::ITEM_FAULT_EMPTY_BOX));
  EXPECT_THAT(hits.edge(), ElementsAre(1, 2));
  EXPECT_THAT(hits.touching(), SizeIs(0));
}

TEST_F(KindsTest, Distances) {
  const v1::DistanceAnswers rows =
      Ask(absl::StrCat("distances { movers { ", kDisc,
                       "x: [4, 4] y: [0, 0] } max_distance: [inf, -1] }"))
          .distances();
  ASSERT_TRUE(OneRow(rows, "max_distance", v1::ITEM_FAULT_NEGATIVE_LENGTH));
  EXPECT_THAT(rows.distance(), ElementsAre(2));
  EXPECT_THAT(rows.point_x(), ElementsAre(1));
  EXPECT_THAT(rows.mover_point_x(), ElementsAre(3));
  EXPECT_THAT(rows.has_edge(), ElementsAre(true));
  EXPECT_THAT(rows.edge(), ElementsAre(1));
}

TEST_F(KindsTest, DistancesWithin) {
  const v1::DistanceAnswers rows =
      Ask(absl::StrCat("distances { movers { ", kDisc,
                       "x: [4, 4] y: [0, 0] } max_distance: [2, 1.5] mode: DISTANCE_MODE_WITHIN }"))
          .distances();
  EXPECT_THAT(rows.counts(), ElementsAre(1, 0));
  EXPECT_THAT(rows.polygon_id(), ElementsAre(1));
  EXPECT_THAT(rows.distance(), SizeIs(0));
}

TEST_F(KindsTest, Contacts) {
  const v1::ContactAnswers rows =
      Ask(absl::StrCat("contacts { movers { ", kDisc,
                       "x: [1.5, 1.5] y: [0, 0] } mass: [1, 0] polygon_mass: [inf, 1] }"))
          .contacts();
  ASSERT_TRUE(OneRow(rows, "mass", v1::ITEM_FAULT_NOT_A_MASS));
  EXPECT_THAT(rows.kind(), ElementsAre(v1::CONTACT_KIND_CONVEX));
  EXPECT_THAT(rows.depth(), ElementsAre(0.5));
  EXPECT_THAT(rows.normal_x(), ElementsAre(1));
  EXPECT_THAT(rows.normal_y(), ElementsAre(0));
  EXPECT_THAT(rows.fixed_x(), ElementsAre(0));
  EXPECT_THAT(rows.mover_x(), ElementsAre(0.5));
  EXPECT_GE(rows.point_x_size(), 1);
}

TEST_F(KindsTest, Depenetrations) {
  const v1::DepenetrateAnswers items =
      Ask(absl::StrCat("depenetrations { movers { ", kDisc, "x: [1.5, nan] y: [0, 0] } }"))
          .depenetrations();
  ASSERT_EQ(items.x_size(), 2);
  EXPECT_THAT(items.finished(), ElementsAre(true, false));
  EXPECT_GT(items.x(0), 2);
  EXPECT_THAT(items.x(0), DoubleNear(2, 1e-6));
  EXPECT_GE(items.steps(0), 1);
  EXPECT_EQ(items.steps(1), 0);
  ExpectSecondRefused(items, "x", v1::ITEM_FAULT_NOT_ACCEPTED);
}

TEST_F(KindsTest, Sweeps) {
  const v1::SweepAnswers hits =
      Ask(absl::StrCat("sweeps { movers { ", kDisc,
                       "x: [-4, -4] y: [0, 0] } to_x: [4, inf] to_y: [0, 0] }"))
          .sweeps();
  ASSERT_TRUE(OneRow(hits, "to_x", v1::ITEM_FAULT_NOT_ACCEPTED));
  EXPECT_THAT(hits.fraction(), ElementsAre(0.25));
  EXPECT_THAT(hits.has_edge(), ElementsAre(true));
  EXPECT_THAT(hits.edge(), ElementsAre(3));
  EXPECT_THAT(hits.normal_x(), ElementsAre(-1));
}

TEST_F(KindsTest, RotatingSweeps) {
  const v1::RotatingSweepAnswers hits =
      Ask(absl::StrCat("rotating_sweeps { movers { ", kDisc,
                       "x: [-4, -4] y: [0, 0] } to_x: [4, 4] to_y: [0, 0] to_angle: [1, 1] "
                       "tolerance: [0.0625, 0] }"))
          .rotating_sweeps();
  ASSERT_TRUE(OneRow(hits, "tolerance", v1::ITEM_FAULT_TOLERANCE_TOO_SMALL));
  // A path of eight units: the tolerance is 1/128 of it.
  EXPECT_LE(hits.low(0), 0.25);
  EXPECT_LE(hits.low(0), hits.high(0));
  EXPECT_THAT(hits.high(0), DoubleNear(0.25, 0.0625 / 8));
}

TEST_F(KindsTest, Arcs) {
  const v1::ArcAnswers hits = Ask("arcs { x: [0, 0] y: [5, 5] vx: [0, 0] vy: [0, 0] ax: [0, 0] "
                                  "ay: [-2, -2] duration: [10, -1] }")
                                  .arcs();
  ASSERT_TRUE(OneRow(hits, "duration", v1::ITEM_FAULT_NEGATIVE_LENGTH));
  EXPECT_THAT(hits.time(), ElementsAre(2));
  EXPECT_THAT(hits.point_y(), ElementsAre(1));
  EXPECT_THAT(hits.normal_y(), ElementsAre(1));
  EXPECT_THAT(hits.edge(), ElementsAre(2));
}

TEST_F(KindsTest, Sights) {
  const v1::SightAnswers sights =
      Ask("sights { ax: [-3, nan, -3] ay: [5, 0, 0] bx: [3, 3, 3] by: [5, 0, 0] }").sights();
  EXPECT_THAT(sights.visible(), ElementsAre(true, false, false));
  ExpectSecondRefused(sights, "ax", v1::ITEM_FAULT_NOT_ACCEPTED);
}

TEST_F(KindsTest, Fans) {
  const v1::FanAnswers beams =
      Ask("fans { x: [-3, 0] y: [0, 0] angle: [0, 0] step: [1.5, 0] range: [10, 1] beams: [2, 0] }")
          .fans();
  EXPECT_THAT(beams.counts(), ElementsAre(2, 0));
  EXPECT_THAT(beams.hit(), ElementsAre(true, false));
  EXPECT_THAT(beams.distance(), ElementsAre(2, 10));
  EXPECT_THAT(beams.polygon_id(), ElementsAre(1, 0));
  ExpectSecondRefused(beams, "beams", v1::ITEM_FAULT_TOO_MANY_BEAMS);
}

TEST_F(KindsTest, Areas) {
  const v1::AreaAnswers areas = Ask("areas { x: [-30, 0] y: [50, 0] range: [1, -1] }").areas();
  EXPECT_THAT(areas.counts(), ElementsAre(1, 0));
  EXPECT_THAT(areas.kind(), ElementsAre(v1::AREA_PIECE_KIND_ARC));
  EXPECT_THAT(areas.start_x(), ElementsAre(-31));
  EXPECT_THAT(areas.start_y(), ElementsAre(50));
  EXPECT_THAT(areas.starts_inside(), ElementsAre(false, false));
  ExpectSecondRefused(areas, "range", v1::ITEM_FAULT_NEGATIVE_LENGTH);
}

TEST_F(KindsTest, Sees) {
  const v1::SeeAnswers sees =
      Ask("sees { x: [-30, 0] y: [50, 0] range: [20, -1] } bodies { placed { shapes { capsule { "
          "radius: 1 } } shape: [0, 0] x: [-40, 0] y: [50, 0] } }")
          .sees();
  EXPECT_THAT(sees.counts(), ElementsAre(1, 0));
  EXPECT_THAT(sees.seen(), ElementsAre(1, 0));
  EXPECT_THAT(sees.starts_inside(), ElementsAre(false, false));
  ExpectSecondRefused(sees, "range", v1::ITEM_FAULT_NEGATIVE_LENGTH);
}

// --- Limits

TEST_F(KindsTest, EveryKindCountsTowardsTheQueriesOfAFrame) {
  ServerOptions options;
  options.max_queries_per_frame = 2;
  TestServer server(options);
  server.Create("a", {});
  const std::string movers = absl::StrCat("movers { ", kDisc, "x: [5, 5] y: [0, 0] } ");
  for (const std::string& two : {
           std::string("rays { x: [5, 5] y: [0, 0] dx: [1, 1] dy: [0, 0] }"),
           std::string("capsules { ax: [5, 5] ay: [0, 0] bx: [5, 5] by: [0, 0] radius: [1, 1] }"),
           std::string("boxes { min_x: [5, 5] min_y: [0, 0] max_x: [5, 5] max_y: [0, 0] }"),
           "distances { " + movers + " }",
           "contacts { " + movers + " }",
           "depenetrations { " + movers + " }",
           "sweeps { " + movers + " to_x: [5, 5] to_y: [0, 0] }",
           "rotating_sweeps { " + movers + " to_x: [5, 5] to_y: [0, 0] tolerance: [1, 1] }",
           std::string("arcs { x: [5, 5] y: [0, 0] vx: [1, 1] vy: [1, 1] ax: [0, 0] ay: [0, 0] "
                       "duration: [1, 1] }"),
           std::string("sights { ax: [5, 5] ay: [0, 0] bx: [5, 5] by: [0, 0] }"),
           std::string("fans { x: 5 y: 0 angle: 0 step: 1 range: 1 beams: 2 }"),
       }) {
    const std::string group = "groups { scene: 'scenes/a' " + two;
    v1::FrameAnswer answer;
    ASSERT_TRUE(server.Evaluate(FromText<v1::Frame>(group + " }"), answer).ok()) << two;
    EXPECT_FALSE(answer.groups(0).has_status()) << answer.groups(0).status().message() << two;
    EXPECT_TRUE(
        Refuses(server.Evaluate(FromText<v1::Frame>(group + " points { x: 0 y: 0 } }"), answer),
                absl::StatusCode::kResourceExhausted, "groups"))
        << two;
  }
}

// Also those that nothing is placed of.
TEST_F(KindsTest, AFrameDescribesAtMostAsManyShapesAsQueries) {
  ServerOptions options;
  options.max_queries_per_frame = 2;
  TestServer server(options);
  server.Create("a", {});
  const std::string ring = "shapes { rings { x: 0 y: 0 } } ";
  const std::string disc = "shapes { capsule { radius: 1 } } ";
  struct Case {
    std::string begin;
    const std::string& shape;
    std::string end;
  };
  for (const Case& c : {
           Case{"polygons { ", ring, "}"},
           Case{"distances { movers { ", disc, "} }"},
           Case{"contacts { movers { ", disc, "} }"},
           Case{"depenetrations { movers { ", disc, "} }"},
           Case{"sweeps { movers { ", disc, "} }"},
           Case{"rotating_sweeps { movers { ", disc, "} }"},
       }) {
    const auto frame = [&](const std::string& shapes) {
      return FromText<v1::Frame>(
          absl::StrCat("groups { scene: 'scenes/a' ", c.begin, shapes, c.end, " }"));
    };
    v1::FrameAnswer answer;
    EXPECT_TRUE(server.Evaluate(frame(c.shape + c.shape), answer).ok()) << c.begin;
    EXPECT_TRUE(Refuses(server.Evaluate(frame(c.shape + c.shape + c.shape), answer),
                        absl::StatusCode::kResourceExhausted, "groups"))
        << c.begin;
  }
}

TEST_F(KindsTest, BeamsCountTowardsTheQueriesOfAFrame) {
  const auto fans = [](const std::string& beams) {
    return FromText<v1::Frame>(absl::StrCat(
        "groups { scene: 'scenes/a' fans { x: [5, 5] y: [5, 5] angle: [0, 0] step: [0, 0] "
        "range: [1, 1] beams: ",
        beams, " } }"));
  };
  v1::FrameAnswer answer;
  // 65,536 is the limit.
  EXPECT_TRUE(server_.Evaluate(fans("[1, 65535]"), answer).ok());
  EXPECT_FALSE(answer.groups(0).has_status());
  EXPECT_TRUE(Refuses(server_.Evaluate(fans("[1, 65536]"), answer),
                      absl::StatusCode::kResourceExhausted, "groups"));
  // A fan that is answered with an error counts as one, however many beams it has.
  EXPECT_TRUE(server_.Evaluate(fans("[65535, 4294967295]"), answer).ok());
  EXPECT_FALSE(answer.groups(0).has_status());
  EXPECT_TRUE(Refuses(server_.Evaluate(fans("[65536, 0]"), answer),
                      absl::StatusCode::kResourceExhausted, "groups"));
}

// No sum of beams wraps around.
TEST_F(KindsTest, ManyBeamsAreManyQueries) {
  v1::Frame frame;
  for (int i = 0; i < 1000; ++i) {
    v1::Fans& fans = *frame.add_groups()->mutable_fans();
    for (int k = 0; k < 100; ++k) fans.add_beams(65536);
  }
  v1::FrameAnswer answer;
  EXPECT_TRUE(
      Refuses(server_.Evaluate(frame, answer), absl::StatusCode::kResourceExhausted, "groups"));
}

TEST_F(KindsTest, GroupsAreRefusedByTheirFields) {
  struct Case {
    const char* questions;
    absl::StatusCode code;
    const char* field;
  };
  std::string large = "sweeps { movers { shapes { polygon { rings {";
  for (int i = 0; i < 4097; ++i) absl::StrAppend(&large, " x: ", i, " y: 0");
  large += " } } } } }";
  const auto invalid = absl::StatusCode::kInvalidArgument;
  for (const Case& c : {
           Case{"rays { x: 0 y: 0 dx: 0 }", invalid, "rays.dy"},
           Case{"contacts { movers { x: 0 } }", invalid, "contacts.movers.y"},
           Case{"contacts { movers { shapes {} } }", invalid, "contacts.movers.shapes[0]"},
           Case{"sweeps { mode: CAST_MODE_ALL_PASSAGES }", invalid, "sweeps.mode"},
           Case{"depenetrations { max_steps: 1025 }", invalid, "depenetrations.max_steps"},
           Case{large.c_str(), absl::StatusCode::kResourceExhausted, "sweeps.movers.shapes[0]"},
       }) {
    const v1::FrameAnswer answer =
        server_.Ask(absl::StrCat("groups { scene: 'scenes/a' ", c.questions, "} ",
                                 "groups { scene: 'scenes/a' points { x: 0 y: 0 } }"));
    EXPECT_TRUE(Refuses(wire::DecodeStatus(answer.groups(0).status()), c.code, c.field));
    EXPECT_FALSE(answer.groups(1).has_status());
  }
}

// A moving shape has a limit of its own: not the one of polygons, which is an option of the server.
TEST_F(KindsTest, LargeMovingShapesAreRefusedByTheirOwnLimit) {
  std::string large = "rings {";
  for (int i = 0; i < 5000; ++i) absl::StrAppend(&large, " x: ", i, " y: 0");
  large += " }";
  const v1::FrameAnswer answer = server_.Ask(
      absl::StrCat("groups { scene: 'scenes/a' polygons { shapes { ", large, " } x: 0 y: 0 } }"));
  EXPECT_EQ(answer.groups(0).status().violations(0).description(),
            "must have at most 4096 vertices (vertices a moving shape)");
  v1::FrameAnswer none;
  const grpc::Status defined = server_.Evaluate(
      FromText<v1::Frame>(absl::StrCat("trackers { shapes { polygon { ", large, " } } }")), none);
  EXPECT_TRUE(Refuses(defined, absl::StatusCode::kResourceExhausted, "trackers[0].shapes[0]"));
  EXPECT_THAT(defined.error_message(), ::testing::HasSubstr("(vertices a moving shape)"));
}

// --- Streams

// The batches of every kind, each with a good item and a bad one.
std::string EveryKindWithABadItem() {
  const std::string movers = absl::StrCat("movers { ", kDisc, "x: [1.5, 9] y: [0, 0] } ");
  const std::string nan_mover = absl::StrCat("movers { ", kDisc, "x: [1.5, nan] y: [0, 0] } ");
  return absl::StrCat(
      "segments { ax: [-3, nan] ay: [0, 0] bx: [3, 3] by: [0, 0] } "
      "points { x: [0, inf] y: [0, 0] } circles { x: [0, 0] y: [0, 0] radius: [1, -1] } "
      "polygons { shapes { rings { x: [0, 1, 0] y: [0, 0, 1] } } shape: [0, 1] x: [0, 0] "
      "y: [0, 0] } "
      "rays { x: [-3, 0] y: [0, 0] dx: [2, 0] dy: [0, 0] } "
      "capsules { ax: [3, 0] ay: [0, 0] bx: [3, 0] by: [5, 0] radius: [2, -1] } "
      "boxes { min_x: [0, 1] min_y: [0, 0] max_x: [2, 0] max_y: [2, 0] } "
      "distances { ",
      movers, "max_distance: [1, -1] } contacts { ", movers,
      "mass: [1, 0] polygon_mass: [1, 1] } depenetrations { ", nan_mover, "} sweeps { ", movers,
      "to_x: [2, inf] to_y: [0, 0] } rotating_sweeps { ", movers,
      "to_x: [2, 0] to_y: [0, 0] tolerance: [1, 0] } "
      "arcs { x: [0, 0] y: [5, 5] vx: [0, 0] vy: [0, 0] ax: [0, 0] ay: [-2, -2] "
      "duration: [10, -1] } "
      "sights { ax: [-3, nan] ay: [0, 0] bx: [3, 3] by: [0, 0] } "
      "fans { x: [-3, 0] y: [0, 0] angle: [0, 0] step: [1, 0] range: [10, 1] beams: [3, 0] } ");
}

// Every batch has one error, that of item 1. Returns the number of batches.
int ExpectOneErrorEach(const v1::GroupAnswer& answers) {
  int batches = 0;
  const google::protobuf::Reflection& reflection = *answers.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(answers, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    const google::protobuf::FieldDescriptor* errors =
        field->message_type()->FindFieldByName("errors");
    if (errors == nullptr) continue;
    ++batches;
    const google::protobuf::Message& batch = reflection.GetMessage(answers, field);
    const google::protobuf::Reflection& rows = *batch.GetReflection();
    EXPECT_EQ(rows.FieldSize(batch, errors), 1) << field->name();
    if (rows.FieldSize(batch, errors) != 1) continue;
    const auto& error =
        static_cast<const v1::ItemError&>(rows.GetRepeatedMessage(batch, errors, 0));
    EXPECT_EQ(error.index(), 1) << field->name();
  }
  return batches;
}

TEST_F(KindsTest, AStreamAnswersTheSameBytes) {
  const std::string frame =
      absl::StrCat("seq: 4 groups { scene: 'scenes/a' ", EveryKindWithABadItem(), "}");
  v1::FrameAnswer expected = server_.Ask(frame);
  ASSERT_EQ(expected.groups_size(), 1);
  EXPECT_FALSE(expected.groups(0).has_status()) << expected.groups(0).status().message();
  EXPECT_EQ(ExpectOneErrorEach(expected.groups(0)), 15);
  expected.clear_stats();
  ClientStream stream(server_);
  // Buffers are used again from the second frame on.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(stream.Send(frame));
    v1::FrameAnswer answer = stream.Next();
    answer.clear_stats();
    EXPECT_EQ(answer.SerializeAsString(), expected.SerializeAsString());
  }
  stream.CloseSide();
  EXPECT_TRUE(stream.Finish().ok());
}

}  // namespace
}  // namespace carom::server
