// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers are protobuf messages, whatever fields a group has.
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using ::testing::ElementsAre;

// A group with edits that have an `edit_id` and no edits is legal: it makes a new version with the
// same polygons. Beside a few segments and nothing else, its answer was no protobuf message, as its
// size counted `edited_version` and its bytes did not have it.
TEST(GroupAnswerTest, EmptyEditsBesideSegmentsAreAnsweredByAMessage) {
  TestServer server;
  server.Create("a", {Square(7, 0, 0)});
  Context fork_context;
  v1::ForkSceneResponse fork;
  const auto request = FromText<v1::ForkSceneRequest>("base: 'scenes/a' name: 'scenes/f'");
  ASSERT_TRUE(server.scenes().ForkScene(&fork_context, request, &fork).ok());

  int edit_id = 0;
  const auto frame = [&](const std::vector<bool>& has_edits) {
    std::string text;
    for (const bool has : has_edits) {
      absl::StrAppend(&text, "groups { scene: 'scenes/f' segments { ax: -5 ay: 0 bx: 5 by: 0 }");
      if (has) absl::StrAppend(&text, " edits { edit_id: 'e", ++edit_id, "' }");
      absl::StrAppend(&text, " }");
    }
    return text;
  };
  const std::vector<std::vector<bool>> frames = {
      {true}, {true, true}, {false, true, false, false}, {false, false, true, true, false}};
  for (const std::vector<bool>& has_edits : frames) {
    const v1::FrameAnswer unary = server.Ask(frame(has_edits));
    Context context;
    const auto stream = server.queries().Stream(&context);
    const std::string text = absl::StrCat("frame { ", frame(has_edits), " }");
    ASSERT_TRUE(stream->Write(FromText<v1::StreamRequest>(text)));
    v1::StreamResponse streamed;
    ASSERT_TRUE(stream->Read(&streamed));
    stream->WritesDone();
    EXPECT_TRUE(stream->Finish().ok());
    for (const v1::FrameAnswer* answer : {&unary, &std::as_const(streamed).answer()}) {
      ASSERT_EQ(answer->groups_size(), static_cast<int>(has_edits.size()));
      for (int i = 0; i < answer->groups_size(); ++i) {
        const v1::GroupAnswer& group = answer->groups(i);
        EXPECT_THAT(group.segments().polygon_id(), ElementsAre(7)) << group.DebugString();
        EXPECT_NE(group.version(), 0);
        const bool has = has_edits[static_cast<size_t>(i)];
        EXPECT_EQ(group.edited_version(), has ? group.version() : 0) << i;
      }
    }
  }
}

}  // namespace
}  // namespace carom::server
