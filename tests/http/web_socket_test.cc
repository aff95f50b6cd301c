// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `Stream` over a web socket: frames, the token, the end of a stream, and wrong bytes.
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "http/raw_client.h"
#include "server/fixture.h"

namespace carom::server {
namespace {

using ::testing::HasSubstr;

class WebSocketTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.address = "127.0.0.1:0";
    options.http_address = "127.0.0.1:0";
    options.threads = 2;
    auto server = Server::Start(options);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const RawResponse made = RawClient(server_->http_address())
                                 .Post("/carom.v1.SceneService/CreateScene",
                                       R"({"name":"scenes/a","polygons":[{"id":"7","rings":[{)"
                                       R"("x":[-1,1,1,-1],"y":[-1,-1,1,1]}]}]})");
    if (options.credentials.empty()) {
      ASSERT_EQ(made.status, 200) << made.body;
    }
  }
  RawClient Open() {
    RawClient client(server_->http_address());
    const RawResponse response = client.Upgrade(RawClient::Protocol());
    EXPECT_EQ(response.status, 101);
    EXPECT_EQ(response.header("sec-websocket-protocol"), "carom.v1");
    return client;
  }

  std::unique_ptr<Server> server_;
};

// A frame with the sequence number `seq` that asks where (0.5, 0) is.
std::string Point(uint64_t seq) {
  return FromText<v1::StreamRequest>(
             absl::StrCat("frame { seq: ", seq,
                          R"( groups { scene: "scenes/a" points { x: 0.5 y: 0 } } })"))
      .SerializeAsString();
}

TEST_F(WebSocketTest, FramesAreAnsweredInOrderAndInTheirForm) {
  Start();
  RawClient client = Open();
  constexpr uint64_t kFrames = 1000;
  std::thread sender([&] {
    for (uint64_t seq = 1; seq <= kFrames; ++seq) {
      if (seq % 3 == 0) {
        client.SendText(
            absl::StrCat(R"({"frame":{"seq":")", seq,
                         R"(","groups":[{"scene":"scenes/a","points":{"x":[0.5],"y":[0]}}]}})"));
      } else {
        client.SendBinary(Point(seq));
      }
      if (seq % 100 == 0) client.Send(RawClient::Frame(0x89, "ping"));
    }
  });
  for (uint64_t seq = 1; seq <= kFrames;) {
    const RawFrame frame = client.NextFrame();
    ASSERT_NE(frame.opcode, -1) << seq;
    if (frame.opcode == 10) continue;  // pong
    ASSERT_EQ(frame.opcode, seq % 3 == 0 ? 1 : 2) << seq;
    if (frame.opcode == 1) {
      ASSERT_THAT(frame.payload, HasSubstr(absl::StrCat(R"("seq":")", seq, "\"")));
    } else {
      v1::StreamResponse response;
      ASSERT_TRUE(response.ParseFromString(frame.payload));
      // A frame beyond `max_frames_in_flight` is refused, in its place.
      ASSERT_EQ(response.answer().seq(), seq);
    }
    ++seq;
  }
  sender.join();
}

TEST_F(WebSocketTest, TheSessionIsKeptBetweenFrames) {
  Start();
  RawClient client = Open();
  client.SendText(R"({"frame":{"seq":"1","bindings":[{"handle":"3","scene":"scenes/a"}]}})");
  EXPECT_THAT(client.NextFrame().payload, HasSubstr(R"("seq":"1")"));
  client.SendText(
      R"({"frame":{"seq":"2","groups":[{"sceneHandle":"3","points":{"x":[0.5],"y":[0]}}]}})");
  EXPECT_THAT(client.NextFrame().payload, HasSubstr("\"7\""));
}

TEST_F(WebSocketTest, AMessageMayComeInFragments) {
  Start();
  RawClient client = Open();
  const std::string message = Point(9);
  client.Send(RawClient::Frame(0x02, message.substr(0, 3)));
  client.Send(RawClient::Frame(0x89, "between"));
  client.Send(RawClient::Frame(0x80, message.substr(3)));
  EXPECT_EQ(client.NextFrame().opcode, 10);
  v1::StreamResponse response;
  ASSERT_TRUE(response.ParseFromString(client.NextFrame().payload));
  EXPECT_EQ(response.answer().seq(), 9);
}

TEST_F(WebSocketTest, TheTokenIsInTheHeadersOrInTheFirstMessage) {
  const std::string file = ::testing::TempDir() + absl::StrCat("/ws-credentials-", getpid());
  std::ofstream(file) << "token 5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8 "
                         "acme reader\n";  // SHA-256 of `password`
  ServerOptions options;
  options.credentials = file;
  Start(options);
  RawClient by_header(server_->http_address());
  by_header.Upgrade(RawClient::Protocol() + "Authorization: Bearer password\r\n");
  by_header.SendBinary(Point(1));
  EXPECT_EQ(by_header.NextFrame().opcode, 2);
  RawClient by_message = Open();
  by_message.SendText(R"({"authorization":"Bearer password"})");
  by_message.SendBinary(Point(1));
  EXPECT_EQ(by_message.NextFrame().opcode, 2);
  RawClient wrong = Open();
  wrong.SendText(R"({"authorization":"Bearer wrong"})");
  wrong.SendBinary(Point(1));
  EXPECT_EQ(wrong.NextFrame().close_code(), 4016);
  RawClient none = Open();
  none.SendBinary(Point(1));
  EXPECT_EQ(none.NextFrame().close_code(), 4016);
  std::filesystem::remove(file);
}

TEST_F(WebSocketTest, ADrainClosesWithUnavailable) {
  Start();
  RawClient client = Open();
  client.SendBinary(Point(1));
  EXPECT_EQ(client.NextFrame().opcode, 2);
  std::thread drain([this] { server_->Drain(); });
  EXPECT_EQ(client.NextFrame().close_code(), 4014);
  client.Send(RawClient::Frame(0x88, std::string("\x0f\xae", 2)));
  drain.join();
}

TEST_F(WebSocketTest, AnUpgradeThatIsWrongIsRefused) {
  ServerOptions options;
  options.http_allowed_origins = "https://game.example";
  Start(options);
  const auto status = [&](const std::string& headers, const std::string& path) {
    return RawClient(server_->http_address()).Upgrade(headers, path).status;
  };
  const std::string path = "/carom.v1.QueryService/Stream";
  for (const char* other : {"", "Sec-WebSocket-Protocol: carom.v12, xcarom.v1\r\n"}) {
    EXPECT_EQ(status(other, path), 400);  // no subprotocol, or others
  }
  EXPECT_EQ(status("Sec-WebSocket-Protocol: other, carom.v1\r\n"
                   "Origin: https://game.example\r\n",
                   path),
            101);
  EXPECT_EQ(status(RawClient::Protocol(), "/carom.v1.QueryService/Evaluate"), 404);
  EXPECT_EQ(status(RawClient::Protocol() + "Origin: https://evil.example\r\n", path), 403);
  EXPECT_EQ(status(RawClient::Protocol() + "Origin: https://game.example\r\n", path), 101);
}

// Wrong bytes end the one socket that sends them, and nothing else.
TEST_F(WebSocketTest, WrongFramesCloseTheSocket) {
  Start();
  RawClient bystander = Open();
  const std::string message = Point(1);
  const std::vector<std::pair<std::string, int>> cases = {
      {RawClient::Frame(0x82, message, false), 1002},              // no mask
      {RawClient::Frame(0x83, message), 1002},                     // an opcode that is reserved
      {RawClient::Frame(0xF2, message), 1002},                     // bits that are reserved
      {RawClient::Frame(0x09, "ping"), 1002},                      // a ping in fragments
      {RawClient::Frame(0x89, std::string(126, 'x')), 1002},       // a long ping
      {RawClient::Frame(0x80, message), 1002},                     // the rest of no message
      {RawClient::Frame(0x81, "\xFF\xFE"), 1007},                  // no UTF-8
      {RawClient::Frame(0x88, std::string("\x00\x01", 2)), 1002},  // a code that is reserved
      {std::string("\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0", 14), 1009},  // 2^63 bytes
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    RawClient client = Open();
    client.Send(cases[i].first);
    EXPECT_EQ(client.NextFrame().close_code(), cases[i].second) << i;
    EXPECT_TRUE(client.IsClosedWithin(std::chrono::seconds(20))) << i;
  }
  // A message that is no protobuf is answered, as over gRPC.
  RawClient client = Open();
  client.SendBinary("\x07");
  v1::StreamResponse response;
  ASSERT_TRUE(response.ParseFromString(client.NextFrame().payload));
  EXPECT_EQ(response.answer().status().code(), 3);
  bystander.SendBinary(message);
  EXPECT_EQ(bystander.NextFrame().opcode, 2);
}

// Text that is no request is refused in its turn, with the reason, and the stream goes on.
TEST_F(WebSocketTest, TextThatIsNoRequestIsRefusedInItsTurn) {
  Start();
  RawClient client = Open();
  client.SendBinary(Point(1));
  client.SendText("{");
  client.SendText(R"({"what":1})");
  client.SendBinary(Point(4));
  EXPECT_EQ(client.NextFrame().opcode, 2);
  EXPECT_THAT(client.NextFrame().payload,
              HasSubstr(R"("status":{"code":3,"message":"the message is not valid JSON of )"));
  EXPECT_THAT(client.NextFrame().payload, HasSubstr("what"));
  v1::StreamResponse response;
  ASSERT_TRUE(response.ParseFromString(client.NextFrame().payload));
  EXPECT_EQ(response.answer().seq(), 4);
}

// A socket without a stream ends with the server, and by itself after a while.
TEST_F(WebSocketTest, ASocketThatSendsNothingIsClosed) {
  Start();
  RawClient silent = Open();
  EXPECT_TRUE(silent.IsClosedWithin(std::chrono::seconds(60)));
  RawClient client = Open();
  std::thread drain([this] { server_->Drain(); });
  EXPECT_EQ(client.NextFrame().close_code(), 4014);
  drain.join();
}

// A message that never ends is cut at the limit of a message.
TEST_F(WebSocketTest, AnEndlessMessageIsCut) {
  ServerOptions options;
  options.max_message_bytes = 64 << 10;
  Start(options);
  RawClient client = Open();
  const std::string part(8192, 'x');
  ASSERT_TRUE(client.Send(RawClient::Frame(0x02, part)));
  bool is_open = true;
  for (int i = 0; i < 1000 && is_open; ++i) is_open = client.Send(RawClient::Frame(0x00, part));
  EXPECT_TRUE(client.IsClosedWithin(std::chrono::seconds(20)));
}

// A client that asks and never reads is ended by the limits of streams.
TEST_F(WebSocketTest, AClientThatDoesNotReadIsEnded) {
  ServerOptions options;
  options.stalled_stream_seconds = 1;
  options.max_unread_bytes = 65536;
  Start(options);
  RawClient client(server_->http_address(), 8192);
  ASSERT_EQ(client.Upgrade(RawClient::Protocol()).status, 101);
  const std::string fan = FromText<v1::StreamRequest>(
                              R"(frame { seq: 1 groups { scene: "scenes/a" fans { x: 3 y: 0 angle: 0
                           step: 0.0001 beams: 20000 range: 9 } } })")
                              .SerializeAsString();
  const std::string frame = RawClient::Frame(0x82, fan);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(kIsSanitized ? 60 : 20);
  bool is_open = true;
  while (is_open && std::chrono::steady_clock::now() < end) {
    is_open = client.Send(frame);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_FALSE(is_open);
}

}  // namespace
}  // namespace carom::server
