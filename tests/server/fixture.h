// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the server tests share: a server in this process, stubs, messages from text, and matchers of
// refusals. Every wait is bounded.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/config.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "carom/v1/query_service.grpc.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "server/server.h"
#include "wire/errors.h"

namespace carom::server {

// Whether a sanitizer watches: what it adds to memory and time is many times the program's own.
#if defined(ABSL_HAVE_ADDRESS_SANITIZER) || defined(ABSL_HAVE_THREAD_SANITIZER)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

// The most that any single step of a test may take.
inline constexpr std::chrono::seconds kTimeout{300};

// The message that protobuf text describes.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// A context whose call ends by itself after kTimeout.
class Context : public grpc::ClientContext {
 public:
  Context() { set_deadline(std::chrono::system_clock::now() + kTimeout); }
};

// The status of a failed call as the client library reads it: code, message and violations.
inline absl::Status ToStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return wire::StatusFromDetails(static_cast<absl::StatusCode>(status.error_code()),
                                 status.error_message(), status.error_details());
}

// Whether `status` has `code` and names `field` first.
inline ::testing::AssertionResult Refuses(const absl::Status& status, absl::StatusCode code,
                                          const std::string& field) {
  const std::vector<Violation> violations = Violations(status);
  if (status.code() == code && !violations.empty() && violations[0].field == field &&
      !violations[0].description.empty()) {
    return ::testing::AssertionSuccess();
  }
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  failure << status.ToString() << " in place of " << absl::StatusCodeToString(code) << " naming "
          << field;
  for (const Violation& violation : violations) {
    failure << "\n  " << violation.field << ": " << violation.description;
  }
  return failure;
}

inline ::testing::AssertionResult Refuses(const grpc::Status& status, absl::StatusCode code,
                                          const std::string& field) {
  return Refuses(ToStatus(status), code, field);
}

// The axis-aligned square about (x, y) with sides of 2 * half, as protobuf text of a Polygon.
inline std::string Square(uint64_t id, double x, double y, double half = 1) {
  return absl::StrCat("id: ", id, " rings { x: [", x - half, ", ", x + half, ", ", x + half, ", ",
                      x - half, "] y: [", y - half, ", ", y - half, ", ", y + half, ", ", y + half,
                      "] }");
}

// Calls `done` again and again until it is true, for kTimeout at most.
inline bool Eventually(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kTimeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// The status of a unary call with these bytes for a request.
inline grpc::Status CallWithBytes(const std::shared_ptr<grpc::Channel>& channel,
                                  const std::string& method, const std::string& bytes) {
  grpc::GenericStub stub(channel);
  Context context;
  grpc::CompletionQueue queue;
  const grpc::Slice slice(bytes);
  auto call = stub.PrepareUnaryCall(&context, method, grpc::ByteBuffer(&slice, 1), &queue);
  call->StartCall();
  grpc::ByteBuffer response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  EXPECT_TRUE(queue.Next(&tag, &ok));
  return status;
}

// A folder of its own, which goes with it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    // Of a name that no test has left behind that was killed.
    std::string path = std::filesystem::temp_directory_path() / "carom-XXXXXX";
    EXPECT_NE(mkdtemp(path.data()), nullptr) << path;
    path_ = path;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// One thread of the event loop, and one executor.
inline ServerOptions OneThread() {
  ServerOptions options;
  options.threads = 1;
  return options;
}

// A server on a free loopback port, with stubs on one connection of its own.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}) {
    if (options.address == ServerOptions{}.address) options.address = "127.0.0.1:0";
    if (options.threads == 0) options.threads = 2;
    auto started = Server::Start(options);
    EXPECT_TRUE(started.ok()) << started.status();
    if (!started.ok()) return;
    server_ = *std::move(started);
    channel_ = MakeChannel();
    scenes_ = v1::SceneService::NewStub(channel_);
    queries_ = v1::QueryService::NewStub(channel_);
  }

  Server& server() { return *server_; }
  v1::SceneService::Stub& scenes() { return *scenes_; }
  v1::QueryService::Stub& queries() { return *queries_; }
  const std::shared_ptr<grpc::Channel>& channel() { return channel_; }

  std::shared_ptr<grpc::Channel> MakeChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server_->address(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  // Registers `scenes/<name>` with polygons given as text; returns its version.
  uint64_t Create(const std::string& name, const std::vector<std::string>& polygons) {
    v1::CreateSceneRequest request;
    request.set_name("scenes/" + name);
    for (const std::string& polygon : polygons) {
      *request.add_polygons() = FromText<v1::Polygon>(polygon);
    }
    return Create(request);
  }
  uint64_t Create(const v1::CreateSceneRequest& request) {
    Context context;
    v1::CreateSceneResponse response;
    const grpc::Status status = scenes_->CreateScene(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene().version();
  }

  // Commits edits given as text of a CommitEditsRequest.
  grpc::Status Commit(const std::string& text, v1::CommitEditsResponse* response = nullptr) {
    Context context;
    v1::CommitEditsResponse ignored;
    return scenes_->CommitEdits(&context, FromText<v1::CommitEditsRequest>(text),
                                response == nullptr ? &ignored : response);
  }

  grpc::Status Evaluate(const v1::Frame& frame, v1::FrameAnswer& answer) {
    Context context;
    v1::EvaluateRequest request;
    *request.mutable_frame() = frame;
    v1::EvaluateResponse response;
    const grpc::Status status = queries_->Evaluate(&context, request, &response);
    answer = response.answer();
    return status;
  }
  // The answer to a frame given as text; the call succeeds.
  v1::FrameAnswer Ask(const std::string& frame) {
    v1::FrameAnswer answer;
    const grpc::Status status = Evaluate(FromText<v1::Frame>(frame), answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return answer;
  }

  // Has the frames read that were sent before on this connection. Sure of a server with one thread
  // alone: events come in their order, and each of these calls takes several.
  void LetItRead() {
    for (int i = 0; i < 20; ++i) Ask("seq: 1");
  }

  // A scene whose every edge each `HeavyFrame` segment crosses: seconds of work for a full frame.
  void CreateHeavy(const std::string& name, int teeth = 20000) {
    v1::CreateSceneRequest request;
    request.set_name("scenes/" + name);
    v1::Ring* ring = request.add_polygons()->add_rings();
    for (int i = 0; i < teeth; ++i) {
      ring->add_x(i);
      ring->add_y(i % 2 == 0 ? -1 : 1);
    }
    Create(request);
  }
  static v1::Group HeavyGroup(const std::string& name, int segments = 60000, int teeth = 20000) {
    v1::Group group;
    group.set_scene("scenes/" + name);
    v1::SegmentCasts& casts = *group.mutable_segments();
    // ALL passes over every edge; ANY and CLOSEST may stop at the first.
    casts.set_mode(v1::CAST_MODE_ALL);
    for (int i = 0; i < segments; ++i) {
      casts.add_ax(-1);
      casts.add_ay(0.25 + i * 1e-6);
      casts.add_bx(teeth);
      casts.add_by(0.25);
    }
    return group;
  }

 private:
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SceneService::Stub> scenes_;
  std::unique_ptr<v1::QueryService::Stub> queries_;
};

// The client's side of one `Stream` call.
class ClientStream {
 public:
  explicit ClientStream(TestServer& server) : stream_(server.queries().Stream(&context_)) {}
  ~ClientStream() { context_.TryCancel(); }

  bool Send(const v1::Frame& frame) {
    v1::StreamRequest request;
    *request.mutable_frame() = frame;
    return stream_->Write(request);
  }
  bool Send(const std::string& frame) { return Send(FromText<v1::Frame>(frame)); }
  bool Receive(v1::FrameAnswer& answer) {
    v1::StreamResponse response;
    if (!stream_->Read(&response)) return false;
    answer = std::move(*response.mutable_answer());
    return true;
  }
  // The next answer; there is one.
  v1::FrameAnswer Next() {
    v1::FrameAnswer answer;
    EXPECT_TRUE(Receive(answer));
    return answer;
  }
  void CloseSide() { stream_->WritesDone(); }
  void Cancel() { context_.TryCancel(); }
  // The stream's end; every answer is read.
  grpc::Status Finish() { return stream_->Finish(); }

 private:
  Context context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> stream_;
};

}  // namespace carom::server
