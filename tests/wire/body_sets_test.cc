// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Body sets and their poses: what they decode to, that they encode to the same message, and every
// way in which their form is refused.

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using absl::StatusCode;
using testing::ElementsAre;

TEST(BodySetsOnTheWire, DefinitionsTravel) {
  const auto message = FromText<v1::BodySet>(R"(
    shapes { capsule { ax: 1 ay: 2 bx: 3 by: 4 radius: 5 } }
    shapes { polygon { rings { x: [0, 4, 0] y: [0, 0, 4] } fill_rule: FILL_RULE_NON_ZERO
                       solidity: SOLIDITY_SOLID } }
    shape: [1, 0, 1] category: [1, 2, 4] owner: [7, 0, 9] keep_ticks: 12)");
  const absl::StatusOr<BodyDefinition> definition = DecodeBodySet(message);
  ASSERT_TRUE(definition.ok()) << definition.status();
  EXPECT_EQ(definition->size(), 3u);
  EXPECT_EQ(definition->shapes[0].capsule()->radius, 5);
  EXPECT_THAT(definition->shape, ElementsAre(1, 0, 1));
  EXPECT_THAT(definition->category, ElementsAre(1, 2, 4));
  EXPECT_THAT(definition->owner, ElementsAre(7, 0, 9));
  EXPECT_EQ(definition->keep_ticks, 12u);
  v1::BodySet encoded;
  EncodeBodySet(*definition, encoded);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
  EXPECT_EQ(DecodeBodySet(FromText<v1::BodySet>("shapes { capsule {} }"))->keep_ticks, 64u);
  EXPECT_TRUE(Refuses(DecodeBodySet(FromText<v1::BodySet>("shapes {}")).status(),
                      StatusCode::kInvalidArgument, "shapes[0]", ""));
}

TEST(BodySetsOnTheWire, PosesTravelAsDoublesOrFloats) {
  DecodedPoses decoded;
  for (const char* text :
       {"tick: 9 x: [0.1, 2] y: [3, 4] c: [1, 0] s: [0, 1] alive: 3 teleported: 1",
        "tick: 9007199254740992 floats { x: [0.5, 2] y: [3, 4] angle: [1, 2] }"}) {
    const auto message = FromText<v1::BodyPoses>(text);
    ASSERT_TRUE(DecodePoses(message, decoded).ok());
    v1::BodyPoses encoded;
    EncodePoses(decoded.poses, encoded);
    EXPECT_EQ(encoded.DebugString(), message.DebugString());
  }
  EXPECT_THAT(decoded.poses.x, ElementsAre(0.5, 2));
  EXPECT_THAT(decoded.poses.angle, ElementsAre(1, 2));
  EXPECT_EQ(decoded.poses.tick, kMaxTick);
  EXPECT_TRUE(Refuses(DecodePoses(FromText<v1::BodyPoses>("x: 1 floats { y: 2 }"), decoded),
                      StatusCode::kInvalidArgument, "floats", "doubles"));
}

TEST(BodySetsOnTheWire, GroupsNameASetAndItemsAMoment) {
  const auto message = FromText<v1::Group>(R"(
    body_set: 3 body_set_rotation: BODY_ROTATION_LINEAR
    points { x: [1, 2] y: [3, 4] against: AGAINST_BODIES as_of: [0.5, 7] })");
  const BodyHistory history;
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded, &history).ok());
  EXPECT_EQ(decoded.group.body_history, &history);
  EXPECT_EQ(decoded.group.body_rotation, BodyRotation::kLinear);
  EXPECT_THAT(decoded.group.points.scope.as_of, ElementsAre(0.5, 7));
  v1::Group encoded;
  EncodeGroup(decoded.group, encoded);
  encoded.set_body_set(3);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
  EXPECT_TRUE(Refuses(DecodeGroup(message, decoded, nullptr), StatusCode::kInvalidArgument,
                      "body_set", "handle"));
  const auto bad = FromText<v1::Group>("body_set: 3 body_set_rotation: 7");
  EXPECT_TRUE(Refuses(DecodeGroup(bad, decoded, &history), StatusCode::kInvalidArgument,
                      "body_set_rotation", "[0, 2]"));
  // The history of a group is not that of the next one.
  ASSERT_TRUE(DecodeGroup(FromText<v1::Group>("points { x: 1 y: 1 }"), decoded, &history).ok());
  EXPECT_EQ(decoded.group.body_history, nullptr);
  EXPECT_EQ(decoded.group.body_rotation, BodyRotation::kNearest);
  EXPECT_TRUE(Refuses(DecodeGroup(FromText<v1::Group>("points { x: 1 y: 1 as_of: 1 }"), decoded),
                      StatusCode::kInvalidArgument, "points.as_of", "body_set"));
}

TEST(BodySetsOnTheWire, AMomentThatIsNotKeptIsOutOfRange) {
  GroupAnswers answers;
  answers.points.counts = {0};
  answers.points.errors = {{0, ItemColumn::kAsOf, ItemFault::kNotKept}};
  const double one[] = {1};
  Group group;
  group.points = {one, one};
  v1::GroupAnswer message;
  EncodeGroupAnswers(group, answers, message);
  ASSERT_EQ(message.points().errors_size(), 1);
  EXPECT_EQ(message.points().errors(0).code(), 11);
  EXPECT_EQ(message.points().errors(0).field(), "as_of");
  EXPECT_EQ(message.points().errors(0).fault(), v1::ITEM_FAULT_NOT_KEPT);
  GroupAnswers decoded;
  ASSERT_TRUE(DecodeGroupAnswers(message, decoded).ok());
  EXPECT_EQ(decoded.points.errors, answers.points.errors);
}

}  // namespace
}  // namespace carom::wire
