// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The list of kinds against the descriptors of the messages, and what is counted of a message
// before it is decoded.

#include "wire/counts.h"

#include <set>
#include <string>

#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/kinds.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::set<std::string> ListedKinds() {
  std::set<std::string> names;
  ForEachWireKind([&](const auto& kind) { EXPECT_TRUE(names.insert(kind.name()).second); });
  return names;
}

// The members of a message that are messages, but for those named.
std::set<std::string> MessageFields(const Descriptor& message, const std::set<std::string>& but) {
  std::set<std::string> names;
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    const bool is_batch = field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (is_batch && !but.contains(field.name())) names.insert(field.name());
  }
  return names;
}

TEST(Kinds, TheListHasEveryBatchOfAGroup) {
  EXPECT_EQ(ListedKinds(), MessageFields(*v1::Group::descriptor(), {"bodies", "edits"}));
}

TEST(Kinds, TheListHasEveryBatchOfAnAnswer) {
  EXPECT_EQ(ListedKinds(), MessageFields(*v1::GroupAnswer::descriptor(), {"status"}));
}

// Writes `count` entries into every number column of the batch, its floats apart, and as many
// shapes, so that the count of a kind that reads another column than its columns have is off.
void Fill(int count, google::protobuf::Message& batch) {
  const auto& reflection = *batch.GetReflection();
  for (int f = 0; f < batch.GetDescriptor()->field_count(); ++f) {
    const FieldDescriptor& field = *batch.GetDescriptor()->field(f);
    if (field.name() == "movers") Fill(count, *reflection.MutableMessage(&batch, &field));
    for (int i = 0; field.is_repeated() && i < count; ++i) {
      if (field.cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
        reflection.AddDouble(&batch, &field, 0);
      } else if (field.cpp_type() == FieldDescriptor::CPPTYPE_UINT32) {
        reflection.AddUInt32(&batch, &field, 1);
      } else if (field.name() == "shapes") {
        reflection.AddMessage(&batch, &field);
      }
    }
  }
}

TEST(Kinds, EachIsCounted) {
  ForEachWireKind([](const auto& kind) {
    SCOPED_TRACE(kind.name());
    v1::Group group;
    Fill(3, *(group.*kind.question.mutate)());
    const bool has_shapes = HasShapes<typename decltype(kind.core)::Columns>;
    EXPECT_EQ(CountQuestions(group),
              (QuestionCounts{.queries = 3, .shapes = has_shapes ? 3u : 0u}));
  });
}

// What the core counts once a group is decoded is what was counted before.
TEST(Kinds, CountsAreThoseOfTheDecodedGroup) {
  const auto group = FromText<v1::Group>(R"(
    segments { floats { ax: [1, 2] ay: [1, 2] bx: [1, 2] by: [1, 2] } }
    points { x: 1 y: 1 }
    boxes { min_x: 1 min_y: 1 max_x: 1 max_y: 1 }
    contacts { movers { shapes { capsule {} } shapes { capsule {} } shape: 1 x: 1 y: 1 } }
    fans { x: [0, 0] y: [0, 0] angle: [0, 0] step: [1, 1] range: [1, 1] beams: [5, 65537] }
    moves { floats { x: 1 y: 1 } })");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(group, decoded).ok());
  EXPECT_EQ(decoded.group.query_count(), 2u + 1 + 1 + 1 + 6 + 1);
  EXPECT_EQ(CountQuestions(group),
            (QuestionCounts{.queries = decoded.group.query_count(), .shapes = 2}));
}

TEST(Counts, OfAFrameHaveTheShapesOfItsDefinitions) {
  const auto frame = FromText<v1::Frame>(R"(
    trackers { shapes {} shapes {} } trackers { shapes {} }
    groups { rays { x: [1, 2] } } groups { polygons { shapes {} } sights { ax: 1 } })");
  EXPECT_EQ(CountQuestions(frame), (QuestionCounts{.queries = 3, .shapes = 4}));
}

TEST(Counts, EditsCountAsShapes) {
  const auto group = FromText<v1::Group>(
      "points { x: 1 } edits { edits { remove: 1 } edits { add {} } edits { replace {} } }");
  EXPECT_EQ(CountQuestions(group), (QuestionCounts{.queries = 1, .shapes = 3}));
  EXPECT_EQ(CountLoneSegments(FromText<v1::Group>("segments { ax: 1 } edits { edits {} }")), 0u);
}

TEST(Counts, LoneSegments) {
  const auto lone = [](const char* text) { return CountLoneSegments(FromText<v1::Group>(text)); };
  EXPECT_EQ(lone(""), 0u);
  EXPECT_EQ(lone("segments { ax: [1, 2] }"), 2u);
  EXPECT_EQ(lone("segments { floats { ax: [1, 2, 3] } } points {}"), 3u);
  EXPECT_EQ(lone("segments { ax: 1 } points { x: 1 }"), 0u);
  EXPECT_EQ(lone("segments { ax: 1 } contacts { movers { shapes {} } }"), 0u);
}

TEST(AnswersFit, ComparesTheItemsOfEachKind) {
  EXPECT_TRUE(AnswersFit({}, {}));
  ForEachWireKind([](const auto& kind) {
    SCOPED_TRACE(kind.name());
    v1::Group group;
    Fill(1, *(group.*kind.question.mutate)());
    EXPECT_FALSE(AnswersFit(group, {}));
  });
  const auto group = FromText<v1::Group>("points { x: [1, 2] } depenetrations { movers { x: 1 } }");
  GroupAnswers answers;
  answers.points.counts = {0, 0};
  answers.depenetrations.positions = {{}};
  EXPECT_TRUE(AnswersFit(group, answers));
  answers.sights.visible = {1};
  EXPECT_FALSE(AnswersFit(group, answers));
}

TEST(AnswersFit, OfMovesAlsoWhatIsAsked) {
  const auto moves = FromText<v1::Group>("moves { x: [1, 2, 3] from_x: [0, 0, 0] }");
  GroupAnswers answers;
  answers.moves.clear = {0b101};
  answers.moves.counts = {1};
  answers.moves.first_touches = {{}};
  EXPECT_TRUE(AnswersFit(moves, answers));
  answers.moves.first_touches.clear();
  EXPECT_FALSE(AnswersFit(moves, answers));
  const auto edges = FromText<v1::Group>("moves { x: [1, 2, 3] detail: OVERLAP_DETAIL_EDGES }");
  answers.moves.polygon_ids = {7};
  EXPECT_FALSE(AnswersFit(edges, answers));
  answers.moves.edge_counts = {0};
  EXPECT_TRUE(AnswersFit(edges, answers));
}

}  // namespace
}  // namespace carom::wire
