// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is read of a message before it is parsed.
#include "server/transport/message_io.h"

#include <grpcpp/support/slice.h>

#include <string>

#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.pb.h"
#include "gtest/gtest.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

grpc::ByteBuffer ByteBufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

TEST(MessageIoTest, CountsMessagesAtAnyDepth) {
  const auto count = [](const google::protobuf::Message& message) {
    return GrowthWhenParsed(ByteBufferOf(message.SerializeAsString()), *message.GetDescriptor()) /
           kParsedMessageBytes;
  };
  EXPECT_EQ(count(v1::CreateSceneRequest()), 0u);
  EXPECT_EQ(count(FromText<v1::CreateSceneRequest>("name: 'scenes/a'")), 0u);
  EXPECT_EQ(count(FromText<v1::CreateSceneRequest>("polygons { rings {} rings { x: 1 y: 2 } } "
                                                   "polygons { user_data: '12345678' }")),
            4u);
  EXPECT_EQ(count(FromText<v1::CommitEditsRequest>("edits { add { rings {} } } edits {}")), 4u);
  EXPECT_EQ(count(FromText<v1::StreamRequest>(
                "frame { groups { polygons { shapes { rings {} } x: [1, 2] y: [3, 4] } } }")),
            5u);
}

// Of what is no message, those before the error; and never beyond it.
TEST(MessageIoTest, CountsUpToAnError) {
  const std::string good =
      FromText<v1::CreateSceneRequest>("polygons { rings {} } polygons {}").SerializeAsString();
  const auto count = [](const std::string& bytes) {
    return GrowthWhenParsed(ByteBufferOf(bytes), *v1::CreateSceneRequest::descriptor()) /
           kParsedMessageBytes;
  };
  EXPECT_EQ(count(good), 3u);
  EXPECT_EQ(count(good + "\xff\xff\xff"), 3u);
  for (size_t size = 0; size < good.size(); ++size) EXPECT_LE(count(good.substr(0, size)), 3u);
  // Deeper than any message of ours, and a length beyond the end.
  std::string deep;
  for (int i = 0; i < 100; ++i)
    deep = std::string("\x12", 1) + static_cast<char>(deep.size()) + deep;
  EXPECT_LE(count(deep), 100u);
  EXPECT_LE(count("\x12\x7f"), 1u);
}

// Story: two bytes of a field that a type does not know became sixty-four when they were parsed,
// and counted as two: 4 MB of them held 134 MB.
TEST(MessageIoTest, CountsWhatIsUnknown) {
  const auto growth = [](const std::string& bytes) {
    return GrowthWhenParsed(ByteBufferOf(bytes), *v1::WatchSceneRequest::descriptor());
  };
  // Field 15 as a string, as a number, and in a group with one in it.
  EXPECT_EQ(growth(std::string("\x7a\x00\x7a\x00\x78\x01", 6)), 3 * kUnknownFieldBytes);
  EXPECT_EQ(growth(std::string("\x7b\x78\x01\x7c\x78\x01", 6)), 3 * kUnknownFieldBytes);
  EXPECT_EQ(growth(std::string(300, '\x7b')),
            101 * kUnknownFieldBytes);  // deeper than any parser goes
  // Field 1, a name, as a number.
  EXPECT_EQ(growth("\x08\x01"), kUnknownFieldBytes);
  // A column of numbers that take a byte each.
  const auto fans = FromText<v1::StreamRequest>("frame { groups { fans { beams: [1, 2, 3] } } }");
  EXPECT_EQ(GrowthWhenParsed(ByteBufferOf(fans.SerializeAsString()), *fans.GetDescriptor()),
            3 * kParsedMessageBytes + 7 * 3);
  // The same one by one, and a column that is longer than the message.
  const std::string one_by_one("\x08\x01\x08\x02", 4);
  EXPECT_EQ(GrowthWhenParsed(ByteBufferOf(one_by_one), *v1::TrackerMoves::descriptor()),
            2 * sizeof(double));
  const std::string cut("\x0a\x7f\x01\x02", 4);
  EXPECT_EQ(GrowthWhenParsed(ByteBufferOf(cut), *v1::TrackerMoves::descriptor()), 7 * cut.size());
}

TEST(MessageIoTest, PeeksAtNames) {
  const auto name = [](const std::string& bytes) { return PeekName(ByteBufferOf(bytes)); };
  EXPECT_EQ(
      name(
          FromText<v1::CommitEditsRequest>("name: 'scenes/a' base_version: 7").SerializeAsString()),
      "scenes/a");
  EXPECT_EQ(name(""), "");
  EXPECT_EQ(name(FromText<v1::CommitEditsRequest>("base_version: 7").SerializeAsString()), "");
  EXPECT_EQ(name("\x0a\x7f"), "");
  // Story: only a name that came first was found, so that two writers of one scene could meet. A
  // parser takes the last one, wherever it is.
  const std::string version("\x10\x07", 2);
  EXPECT_EQ(name(version + "\x0a\x01" + "b"), "b");
  EXPECT_EQ(name(std::string("\x0a\x01") + "a" + version + "\x0a\x01" + "b"), "b");
}

}  // namespace
}  // namespace carom::server
