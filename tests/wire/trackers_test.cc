// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Definitions of trackers, moves and their answers: what they decode to, that they encode to the
// same message, and every way in which their form is refused.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::SizeIs;

// --- Definitions

constexpr char kFrame[] = R"(
  trackers {
    shapes { polygon { id: 3 rings { x: [0, 4, 0] y: [0, 0, 4] } fill_rule: FILL_RULE_NON_ZERO
                       solidity: SOLIDITY_SOLID } }
    shapes { capsule { ax: 1 ay: 2 bx: 3 by: 4 radius: 5 } }
    shape: [1, 0, 1] tracker: [7, 8, 9] within: 2.5 mask: 6
  }
  trackers { shapes { capsule {} } first_tracker: 11 })";

TEST(TrackersOnTheWire, DefinitionsTravel) {
  const auto frame = FromText<v1::Frame>(kFrame);
  DecodedTrackers decoded;
  ASSERT_TRUE(DecodeTrackers(frame.trackers(), decoded).ok());
  ASSERT_THAT(decoded.definitions, SizeIs(2));
  const TrackerDefinitions& first = decoded.definitions[0];
  ASSERT_EQ(first.shapes.size(), 2u);
  EXPECT_EQ(first.shapes[0].vertex_count(), 3u);
  EXPECT_EQ(first.shapes[1].capsule()->radius, 5);
  EXPECT_THAT(first.shape, ElementsAre(1, 0, 1));
  EXPECT_THAT(first.tracker, ElementsAre(7, 8, 9));
  EXPECT_EQ(first.options.within, 2.5);
  EXPECT_EQ(first.options.mask, 6u);
  EXPECT_EQ(first.size(), 3u);
  const TrackerDefinitions& second = decoded.definitions[1];
  EXPECT_EQ(second.first_tracker, 11u);
  EXPECT_EQ(second.options.within, 0);
  EXPECT_EQ(second.options.mask, kEveryCategory);
  EXPECT_EQ(second.size(), 1u);
  v1::Frame encoded;
  for (const TrackerDefinitions& definitions : decoded.definitions) {
    EncodeTrackers(definitions, *encoded.add_trackers());
  }
  EXPECT_EQ(encoded.DebugString(), frame.DebugString());
}

TEST(TrackersOnTheWire, RefusalsOfDefinitions) {
  struct Case {
    const char* text;
    const char* field;
    const char* range;
  };
  for (const Case& c : {
           Case{"trackers { shapes {} }", "trackers[0].shapes[0]", "one of polygon and capsule"},
           Case{"trackers {} trackers { shapes { capsule {} } shapes { capsule { radius: -1 } } }",
                "trackers[1].shapes[1].capsule.radius", "2^53"},
           Case{"trackers { shapes { polygon { rings { x: [1, 2] y: 1 } } } }",
                "trackers[0].shapes[0].polygon.rings[0].y", "as many as x"},
       }) {
    SCOPED_TRACE(c.text);
    DecodedTrackers decoded;
    EXPECT_TRUE(Refuses(DecodeTrackers(FromText<v1::Frame>(c.text).trackers(), decoded),
                        StatusCode::kInvalidArgument, c.field, c.range));
  }
}

TEST(TrackersOnTheWire, CoherenceTravels) {
  EXPECT_EQ(DecodeCoherence(0).value(), Coherence::kOn);
  for (const Coherence coherence : {Coherence::kOn, Coherence::kOff}) {
    EXPECT_EQ(DecodeCoherence(EncodeCoherence(coherence)).value(), coherence);
  }
  for (const int unknown : {-1, 3}) {
    EXPECT_TRUE(Refuses(DecodeCoherence(unknown).status(), StatusCode::kInvalidArgument,
                        "coherence", "[0, 2]"));
  }
}

// --- Moves

constexpr char kMoves[] = R"(moves {
  tracker: [1, 2] x: [3.1, 4] y: [5, 6] c: [7, 8] s: [9, 10] from_x: [11, 12] from_y: [13, 14]
  from_c: [15, 16] from_s: [17, 18] tolerance: 19 detail: OVERLAP_DETAIL_EDGES quiet_radii: true
})";

TEST(TrackersOnTheWire, MovesTravel) {
  const auto message = FromText<v1::Group>(kMoves);
  DecodedGroup decoded;
  const absl::Status status = DecodeGroup(message, decoded);
  ASSERT_TRUE(status.ok()) << status;
  const MoveColumns& moves = decoded.group.moves;
  EXPECT_THAT(moves.tracker, ElementsAre(1, 2));
  EXPECT_THAT(moves.x, ElementsAre(3.1, 4));
  EXPECT_THAT(moves.y, ElementsAre(5, 6));
  EXPECT_THAT(moves.c, ElementsAre(7, 8));
  EXPECT_THAT(moves.s, ElementsAre(9, 10));
  EXPECT_THAT(moves.from_x, ElementsAre(11, 12));
  EXPECT_THAT(moves.from_y, ElementsAre(13, 14));
  EXPECT_THAT(moves.from_c, ElementsAre(15, 16));
  EXPECT_THAT(moves.from_s, ElementsAre(17, 18));
  EXPECT_TRUE(moves.sweeps());
  const MoveOptions& options = decoded.group.move_options;
  EXPECT_EQ(options.detail, OverlapDetail::kEdges);
  EXPECT_EQ(options.tolerance, 19);
  EXPECT_TRUE(options.quiet_radii);
  EXPECT_EQ(decoded.group.query_count(), 2u);
  v1::Group encoded;
  EncodeGroup(decoded.group, encoded);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
  EncodeGroup(Group{}, encoded);
  EXPECT_FALSE(encoded.has_moves());
}

TEST(TrackersOnTheWire, MovesTravelAsFloats) {
  const auto message = FromText<v1::Group>(
      "moves { from_x: 4 from_y: 5 detail: OVERLAP_DETAIL_IDS floats { x: 0.1 y: 2 c: 1 s: 0 } }");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  EXPECT_THAT(decoded.group.moves.x, ElementsAre(double{0.1f}));
  EXPECT_THAT(decoded.group.moves.y, ElementsAre(2));
  EXPECT_THAT(decoded.group.moves.c, ElementsAre(1));
  EXPECT_THAT(decoded.group.moves.s, ElementsAre(0));
  EXPECT_THAT(decoded.group.moves.angle, SizeIs(0));
  EXPECT_THAT(decoded.group.moves.from_x, ElementsAre(4));
  v1::Group encoded;
  EncodeGroup(decoded.group, encoded);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
}

TEST(TrackersOnTheWire, DenseMovesTravel) {
  const auto message = FromText<v1::Group>(
      "moves { first_tracker: 7 x: 0.1 y: 2 angle: 3 from_x: 4 from_y: 5 from_angle: 6 "
      "detail: OVERLAP_DETAIL_IDS }");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  EXPECT_EQ(decoded.group.moves.first_tracker, 7u);
  EXPECT_THAT(decoded.group.moves.angle, ElementsAre(3));
  EXPECT_THAT(decoded.group.moves.from_angle, ElementsAre(6));
  EXPECT_FALSE(decoded.group.move_options.quiet_radii);
  v1::Group encoded;
  EncodeGroup(decoded.group, encoded);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
}

TEST(TrackersOnTheWire, EveryColumnIsOfTheLengthOfTheFirst) {
  for (const char* column : {"tracker", "y", "c", "s", "from_x", "from_y", "from_c", "from_s"}) {
    auto message = FromText<v1::Group>(kMoves);
    google::protobuf::Message& moves = *message.mutable_moves();
    moves.GetReflection()->RemoveLast(&moves, moves.GetDescriptor()->FindFieldByName(column));
    DecodedGroup decoded;
    EXPECT_TRUE(Refuses(DecodeGroup(message, decoded), StatusCode::kInvalidArgument,
                        absl::StrCat("moves.", column), "2"));
  }
}

TEST(TrackersOnTheWire, RefusalsOfMoves) {
  struct Case {
    const char* text;
    const char* field;
    const char* range;
  };
  for (const Case& c : {
           Case{"moves { detail: 3 }", "moves.detail", "[0, 2]"},
           Case{"moves { tolerance: -1 }", "moves.tolerance", "[0, 2^53]"},
           Case{"moves { tolerance: nan }", "moves.tolerance", "[0, 2^53]"},
           Case{"moves { x: 1 y: 1 c: 1 s: 0 angle: 0 }", "moves.angle", "absent"},
           Case{"moves { x: 1 y: 1 from_x: 1 }", "moves.from_y", "1"},
           Case{"moves { x: 1 y: 1 from_angle: 1 }", "moves.from_x", "given"},
           Case{"moves { x: 1 y: 1 from_c: 1 from_s: 0 }", "moves.from_x", "given"},
           Case{"moves { x: 1 y: 1 from_x: 1 from_y: 1 from_c: 1 from_s: 0 from_angle: 0 }",
                "moves.from_angle", "absent"},
       }) {
    SCOPED_TRACE(c.text);
    DecodedGroup decoded;
    EXPECT_TRUE(Refuses(DecodeGroup(FromText<v1::Group>(c.text), decoded),
                        StatusCode::kInvalidArgument, c.field, c.range));
  }
}

// --- Answers: five items, of which 0 and 3 are clear, 2 is in error and 4 is touched on its way

constexpr char kAnswers[] = R"(moves {
  clear: 9 counts: [2, 0, 0]
  errors { index: 2 code: 3 field: "tracker"
           message: "must be the handle of a tracker that is there" fault: ITEM_FAULT_UNKNOWN_TRACKER }
  polygon_id: [5, 6] edge_counts: [1, 2] ring: [0, 1, 1] edge: [7, 8, 9]
  touches: [true, false, true] first_polygon_id: [5, 0, 9] low: [0.25, 0, 0.5]
  high: [0.25, 0, 0.75] first_has_edge: [true, false, false] first_ring: [2, 0, 0]
  first_edge: [3, 0, 0] first_normal_x: [0.6, 0, 0] first_normal_y: [-0.8, 0, 0] quiet_radius: [1, 0, 0, 2, 0]
})";

v1::GroupAnswer Answers(const std::string& change = "") {
  auto message = FromText<v1::GroupAnswer>(kAnswers);
  if (!change.empty()) message.MergeFrom(FromText<v1::GroupAnswer>(change));
  return message;
}

TEST(TrackersOnTheWire, AnswersTravel) {
  v1::GroupAnswer message = Answers();
  GroupAnswers decoded;
  const absl::Status status = DecodeGroupAnswers(message, decoded);
  ASSERT_TRUE(status.ok()) << status;
  const MoveAnswers& moves = decoded.moves;
  EXPECT_THAT(moves.clear, ElementsAre(9));
  EXPECT_THAT(moves.counts, ElementsAre(2, 0, 0));
  EXPECT_THAT(moves.errors,
              ElementsAre(ItemError{2, ItemColumn::kTracker, ItemFault::kUnknownTracker}));
  EXPECT_THAT(moves.polygon_ids, ElementsAre(5, 6));
  EXPECT_THAT(moves.edge_counts, ElementsAre(1, 2));
  EXPECT_THAT(moves.edges, ElementsAre(EdgeRef{0, 7}, EdgeRef{1, 8}, EdgeRef{1, 9}));
  EXPECT_THAT(moves.first_touches,
              ElementsAre(FirstTouch{true, 5, 0.25, 0.25, true, {2, 3}, {0.6, -0.8}}, FirstTouch{},
                          FirstTouch{true, 9, 0.5, 0.75}));
  EXPECT_THAT(moves.quiet_radii, ElementsAre(1, 0, 0, 2, 0));
  Group asked;
  const std::vector<double> five(5, 1.0);
  asked.moves.x = five;
  v1::GroupAnswer encoded;
  EncodeGroupAnswers(asked, decoded, encoded);
  // Texts are the library's own.
  message.mutable_moves()->mutable_errors(0)->set_message(encoded.moves().errors(0).message());
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
}

TEST(TrackersOnTheWire, AnswersOfServersThatReportNoEdgesOfFirstTouches) {
  v1::GroupAnswer message = Answers();
  v1::MoveAnswers& moves = *message.mutable_moves();
  moves.clear_first_has_edge();
  moves.clear_first_ring();
  moves.clear_first_edge();
  moves.clear_first_normal_x();
  moves.clear_first_normal_y();
  GroupAnswers decoded;
  ASSERT_TRUE(DecodeGroupAnswers(message, decoded).ok());
  EXPECT_THAT(
      decoded.moves.first_touches,
      ElementsAre(FirstTouch{true, 5, 0.25, 0.25}, FirstTouch{}, FirstTouch{true, 9, 0.5, 0.75}));
}

TEST(TrackersOnTheWire, AllClearIsABitAnItem) {
  GroupAnswers decoded;
  ASSERT_TRUE(DecodeGroupAnswers(
                  FromText<v1::GroupAnswer>("moves { clear: [18446744073709551615, 1] }"), decoded)
                  .ok());
  EXPECT_THAT(decoded.moves.clear, SizeIs(2));
  EXPECT_THAT(decoded.moves.counts, SizeIs(0));
}

// What an honest server never sends.
TEST(TrackersOnTheWire, AnswersThatDoNotFit) {
  struct Case {
    const char* change;
    const char* field;
  };
  for (const Case& c : {
           Case{"moves { clear: 0 }", "moves.clear"},               // a word too many
           Case{"moves { counts: 0 counts: 0 }", "moves.touches"},  // more items than first touches
           Case{"moves { polygon_id: 7 }", "moves.counts"},
           Case{"moves { edge_counts: 0 }", "moves.edge_counts"},
           Case{"moves { ring: 1 edge: 1 }", "moves.edge_counts"},
           Case{"moves { edge: 1 }", "moves.edge"},
           Case{"moves { low: 1 }", "moves.low"},
           Case{"moves { first_has_edge: true }", "moves.first_has_edge"},
           Case{"moves { first_normal_y: 1 }", "moves.first_normal_y"},
           Case{"moves { quiet_radius: 1 }", "moves.quiet_radius"},
           Case{"moves { quiet_radius: [0, 0, 0, 0, 0] quiet_radius: -1 }", "moves.quiet_radius"},
           Case{"moves { errors { index: 3 field: 'x' } }", "moves.errors"},  // it is clear
           Case{"moves { errors { index: 2 field: 'x' } }", "moves.errors"},  // twice
           Case{"moves { errors { index: 5 field: 'x' } }", "moves.errors"},
           Case{"moves { errors { index: 4 field: 'velocity' } }", "moves.errors"},
       }) {
    SCOPED_TRACE(c.change);
    GroupAnswers decoded;
    EXPECT_TRUE(Refuses(DecodeGroupAnswers(Answers(c.change), decoded), StatusCode::kInternal,
                        c.field, "does not fit"));
  }
  for (const Case& c : {
           Case{"moves { clear: 4 counts: 0 }", "moves.clear"},  // a bit beyond the second item
           Case{"moves { counts: 0 }", "moves.clear"},           // no word
           Case{"moves { clear: 1 counts: 0 errors { index: 0 field: 'x' } }", "moves.errors"},
           Case{"moves { counts: 1 clear: 2 polygon_id: 4 errors { index: 0 field: 'x' } }",
                "moves.errors"},
       }) {
    SCOPED_TRACE(c.change);
    GroupAnswers decoded;
    EXPECT_TRUE(Refuses(DecodeGroupAnswers(FromText<v1::GroupAnswer>(c.change), decoded),
                        StatusCode::kInternal, c.field, "does not fit"));
  }
}

}  // namespace
}  // namespace carom::wire
