// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Clients that ask, and read nothing.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "server/base/file_descriptor.h"
#include "tests/security/attack.h"

namespace carom::server {
namespace {

// A frame of HTTP/2 (RFC 9113, section 4.1).
std::string Http2Frame(char type, char flags, char stream, const std::string& payload) {
  const auto size = static_cast<uint32_t>(payload.size());
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(size >> shift);
  return frame + type + flags + std::string(3, '\0') + stream + payload;
}

// A header field that is not indexed (RFC 7541, section 6.2.2).
std::string Header(const std::string& name, const std::string& value) {
  return std::string(1, '\0') + static_cast<char>(name.size()) + name +
         static_cast<char>(value.size()) + value;
}

// The bytes of one call on a fresh connection whose client lets the server send as much as it
// likes.
std::string CallWithLargeWindow(const std::string& path, const std::string& message) {
  const std::string most("\x7f\xff\xff\xff", 4);
  const auto size = static_cast<uint32_t>(message.size());
  std::string prefixed(1, '\0');
  for (const int shift : {24, 16, 8, 0}) prefixed += static_cast<char>(size >> shift);
  prefixed += message;
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  bytes += Http2Frame(4, 0, 0, std::string("\0\4", 2) + most);   // SETTINGS_INITIAL_WINDOW_SIZE
  bytes += Http2Frame(8, 0, 0, std::string("\x7f\xf0\0\0", 4));  // WINDOW_UPDATE
  bytes += Http2Frame(1, 4, 1,
                      Header(":method", "POST") + Header(":scheme", "http") +
                          Header(":path", path) + Header(":authority", "localhost") +
                          Header("te", "trailers") + Header("content-type", "application/grpc"));
  for (size_t at = 0; at < prefixed.size(); at += 16384) {
    const bool is_last = at + 16384 >= prefixed.size();
    bytes += Http2Frame(0, is_last ? 1 : 0, 1, prefixed.substr(at, 16384));
  }
  return bytes;
}

// A socket of little buffers that is connected to a server.
FileDescriptor ConnectTo(const std::string& server) {
  const bool is_unix = server.starts_with("unix:");
  FileDescriptor socket(::socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int little = 4096;
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
  sockaddr_storage storage{};
  socklen_t size = 0;
  if (is_unix) {
    auto& address = reinterpret_cast<sockaddr_un&>(storage);
    address.sun_family = AF_UNIX;
    server.copy(address.sun_path, sizeof(address.sun_path) - 1, 5);
    size = sizeof(address);
  } else {
    auto& address = reinterpret_cast<sockaddr_in&>(storage);
    int port = 0;
    EXPECT_TRUE(absl::SimpleAtoi(server.substr(server.rfind(':') + 1), &port));
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof(address);
  }
  EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&storage), size), 0);
  return socket;
}

class UnreadAttackTest : public AttackTest {
 protected:
  // With a place for one call; and a scene of which an answer of 10 MB is asked for.
  void Start(const std::string& address) {
    AttackTest::Start({"--max-streams", "1", "--stalled-stream-seconds", "1"}, address);
    if (HasFatalFailure()) return;
    channel_ = Connect();
    Context context;
    v1::CreateSceneResponse created;
    const auto scenes = v1::SceneService::NewStub(channel_);
    const grpc::Status made = scenes->CreateScene(&context, RowOfSquares(), &created);
    ASSERT_TRUE(made.ok()) << made.error_message();
  }
  std::string UnixAddress() const {
    return "unix:" + ::testing::TempDir() + "/carom-" + std::to_string(getpid()) + ".sock";
  }
  FileDescriptor AskFor10MB() const {
    FileDescriptor socket = ConnectTo(process().address());
    const std::string bytes = CallWithLargeWindow("/carom.v1.QueryService/Evaluate",
                                                  ManyHits(150000).SerializeAsString());
    EXPECT_EQ(send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    return socket;
  }
  grpc::StatusCode Evaluate() {
    Context context;
    v1::EvaluateResponse answer;
    return v1::QueryService::NewStub(channel_)->Evaluate(&context, {}, &answer).error_code();
  }
  // Whether the only place is taken, by a call that keeps it for a second or more.
  bool IsTaken() {
    for (int i = 0; i < 200; ++i) {
      if (Evaluate() == grpc::RESOURCE_EXHAUSTED) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  // The only place is taken, and then free again. A call that comes while one of ours has the place
  // is refused, and asked for again.
  void ExpectThatItEnds() {
    FileDescriptor socket;
    ASSERT_TRUE(Eventually([&] {
      socket = AskFor10MB();
      return IsTaken();
    }));
    EXPECT_TRUE(Eventually([&] { return Evaluate() == grpc::OK; }));
    ExpectServed();
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
};

// Story: gRPC reports the end of a call only once the socket has taken its last bytes. So a client
// that read nothing from its socket kept its call, with the answer and its place among the streams,
// whatever the time limits said.
TEST_F(UnreadAttackTest, AClientThatReadsNothingFromItsSocket) {
  ASSERT_NO_FATAL_FAILURE(Start("127.0.0.1:0"));
  ExpectThatItEnds();
}

// Story: TCP has a time limit for that, and Unix sockets had none: the connection stayed for ever.
TEST_F(UnreadAttackTest, AClientThatReadsNothingFromItsUnixSocket) {
  ASSERT_NO_FATAL_FAILURE(Start(UnixAddress()));
  ExpectThatItEnds();
}

// One that reads, however slowly, keeps its connection beyond that time.
TEST_F(UnreadAttackTest, AClientThatReadsSlowlyFromItsUnixSocket) {
  ASSERT_NO_FATAL_FAILURE(Start(UnixAddress()));
  const FileDescriptor socket = AskFor10MB();
  std::string bytes(16 << 10, 0);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(16);
  while (std::chrono::steady_clock::now() < end) {
    ASSERT_GT(recv(socket.get(), bytes.data(), bytes.size(), 0), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

// On a Unix socket, too, a peer is a connection: its calls share what one may have.
TEST_F(AttackTest, CallsOfAUnixConnectionAreOnePeer) {
  const std::string path = ::testing::TempDir() + "/carom-" + std::to_string(getpid()) + ".sock";
  ASSERT_NO_FATAL_FAILURE(Start({}, "unix:" + path));
  const auto scenes = v1::SceneService::NewStub(Connect());
  std::vector<std::unique_ptr<Context>> contexts;
  std::vector<std::unique_ptr<v1::ImportSceneResponse>> responses;
  std::vector<std::unique_ptr<grpc::ClientWriter<v1::ImportSceneRequest>>> imports;
  for (int i = 0; i < 300; ++i) {
    contexts.push_back(std::make_unique<Context>());
    responses.push_back(std::make_unique<v1::ImportSceneResponse>());
    imports.push_back(scenes->ImportScene(contexts.back().get(), responses.back().get()));
    imports.back()->Write(FromText<v1::ImportSceneRequest>("name: 'scenes/slow'"));
  }
  for (int i = 0; i < 10; ++i) ExpectServed();
  for (const auto& context : contexts) context->TryCancel();
}

}  // namespace
}  // namespace carom::server
