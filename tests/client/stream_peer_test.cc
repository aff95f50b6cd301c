// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `Stream` with servers that are made up: limits that they send, delays that are asked for, and
// answers that no honest server gives.
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "carom/v1/query_service.grpc.pb.h"
#include "tests/client/fixture.h"
#include "tests/client/stream_script.h"
#include "wire/errors.h"

namespace carom {
namespace {

using absl::StatusCode;
using std::chrono::milliseconds;
using testing::EmptyFrame;
using Clock = std::chrono::steady_clock;
using ServerStream = grpc::ServerReaderWriter<v1::StreamResponse, v1::StreamRequest>;

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
          wire::SerializeDetails(status)};
}

// An answer that fits a frame without groups.
v1::StreamResponse AnswerTo(const v1::StreamRequest& request) {
  v1::StreamResponse response;
  response.mutable_answer()->set_seq(request.frame().seq());
  return response;
}

// A server whose streams are a function of the number of the call, from 0.
class Peer final : public v1::QueryService::Service {
 public:
  using Handler = std::function<grpc::Status(int call, ServerStream& stream)>;

  explicit Peer(Handler handler) : handler_(std::move(handler)) {
    grpc::ServerBuilder builder;
    builder.AddListeningPort(address_, grpc::InsecureServerCredentials());
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    client_ = *Client::Connect(address_, {.own_connection = true});
  }
  ~Peer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  Client& client() { return *client_; }
  int calls() const { return calls_; }

  grpc::Status Stream(grpc::ServerContext*, ServerStream* stream) override {
    return handler_(calls_++, *stream);
  }

 private:
  const ScratchFolder folder_;
  const std::string address_ = "unix:" + (folder_ / "peer");
  const Handler handler_;
  std::atomic<int> calls_ = 0;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Client> client_;
};

// Answers all frames.
grpc::Status Echo(ServerStream& stream) {
  v1::StreamRequest request;
  while (stream.Read(&request)) stream.Write(AnswerTo(request));
  return grpc::Status::OK;
}

// Reads ahead as far as the client sends, and answers with a delay.
class SlowEcho {
 public:
  grpc::Status Run(ServerStream& stream, const v1::StreamLimits& limits) {
    std::thread writer([&] { Write(stream, limits); });
    v1::StreamRequest request;
    while (stream.Read(&request)) {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(request);
      most_ = std::max(most_, waiting_.size());
      changed_.notify_all();
    }
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    writer.join();
    return grpc::Status::OK;
  }
  // Frames that were there without an answer.
  size_t most() const { return most_; }

 private:
  void Write(ServerStream& stream, const v1::StreamLimits& limits) {
    std::unique_lock lock(mutex_);
    for (bool first = true;; first = false) {
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      changed_.wait_for(lock, milliseconds(5), [] { return false; });
      v1::StreamResponse response = AnswerTo(waiting_.front());
      if (first) *response.mutable_limits() = limits;
      waiting_.pop_front();
      stream.Write(response);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::StreamRequest> waiting_;
  bool closed_ = false;
  size_t most_ = 0;
};

TEST(StreamPeerTest, LimitsThatAreToldAreKept) {
  SlowEcho echo;
  v1::StreamLimits limits;
  limits.set_max_frames_in_flight(3);
  Peer peer([&](int, ServerStream& stream) { return echo.Run(stream, limits); });
  const auto stream = peer.client().OpenStream({.max_in_flight = 10});
  for (uint64_t seq = 0; seq < 30; ++seq) ASSERT_TRUE(stream->Send(EmptyFrame(seq)).ok());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_GT(echo.most(), 1u);
  EXPECT_LE(echo.most(), 3u);
}

// A server that is full asks for time; the frame goes to the next call, no sooner.
TEST(StreamPeerTest, ADelayThatIsAskedForIsWaitedFor) {
  Peer peer([](int call, ServerStream& stream) {
    if (call > 0) return Echo(stream);
    return ToGrpc(WithRetryDelay(absl::ResourceExhaustedError("full"), 300'000));
  });
  const auto stream = peer.client().OpenStream();
  const Clock::time_point start = Clock::now();
  ASSERT_TRUE(stream->Send(EmptyFrame(5)).ok());
  const auto answer = stream->Receive();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->seq, 5u);
  EXPECT_GE(Clock::now() - start, milliseconds(250));  // the call may begin before the frame
  EXPECT_EQ(peer.calls(), 2);
}

struct End {
  absl::Status status;
  bool reconnects;
};

// Which statuses of a call end the stream.
TEST(StreamPeerTest, StatusesThatMayPass) {
  for (const End& end :
       {End{absl::UnavailableError("x"), true}, End{absl::AbortedError("x"), true},
        End{absl::CancelledError("x"), true}, End{absl::InternalError("x"), true},
        End{absl::UnknownError("x"), true}, End{absl::OkStatus(), true},
        End{absl::InvalidArgumentError("x"), false}, End{absl::UnimplementedError("x"), false},
        End{absl::ResourceExhaustedError("x"), false}, End{absl::PermissionDeniedError("x"), false},
        End{absl::UnauthenticatedError("x"), false},
        End{absl::FailedPreconditionError("x"), false}}) {
    SCOPED_TRACE(end.status.ToString());
    Peer peer([&](int call, ServerStream& stream) {
      if (call > 0) return Echo(stream);
      v1::StreamRequest request;
      stream.Read(&request);
      return ToGrpc(end.status);
    });
    const auto stream = peer.client().OpenStream();
    ASSERT_TRUE(stream->Send(EmptyFrame(1)).ok());
    const auto answer = stream->Receive();
    EXPECT_EQ(answer.status().code(), end.reconnects ? StatusCode::kOk : end.status.code());
    EXPECT_EQ(peer.calls(), end.reconnects ? 2 : 1);
    EXPECT_EQ(stream->reconnects(), end.reconnects ? 1 : 0);
  }
}

// A stream whose every frame is answered needs no other call to end.
TEST(StreamPeerTest, ABreakAfterTheLastAnswerIsNoLoss) {
  Peer peer([](int, ServerStream& stream) {
    Echo(stream);
    return ToGrpc(absl::UnavailableError("gone"));
  });
  const auto stream = peer.client().OpenStream();
  ASSERT_TRUE(stream->Send(EmptyFrame(1)).ok());
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(stream->Receive().ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(peer.calls(), 1);
}

// The second call refuses the handle that the first one took.
TEST(StreamPeerTest, ASessionThatIsRefusedEndsTheStream) {
  Peer peer([](int call, ServerStream& stream) {
    v1::StreamRequest request;
    stream.Read(&request);
    v1::StreamResponse response = AnswerTo(request);
    if (call > 0) {
      EXPECT_EQ(request.frame().bindings_size(), 1);
      wire::EncodeStatus(absl::InvalidArgumentError("no"),
                         *response.mutable_answer()->mutable_status());
    }
    stream.Write(response);
    stream.Read(&request);
    return ToGrpc(absl::UnavailableError("gone"));
  });
  const auto stream = peer.client().OpenStream();
  Frame frame;
  frame.bindings.push_back({1, "scenes/a"});
  ASSERT_TRUE(stream->Send(frame).ok());
  ASSERT_TRUE(stream->Receive().ok());
  ASSERT_TRUE(stream->Send(EmptyFrame(2)).ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(peer.calls(), 2);
}

// A frame that is never answered, because it kills its servers, ends in time though each of them
// takes what is replayed.
TEST(StreamPeerTest, AFrameThatKillsItsServersEndsInTime) {
  Peer peer([](int call, ServerStream& stream) {
    v1::StreamRequest request;
    stream.Read(&request);
    stream.Write(AnswerTo(request));
    stream.Read(&request);
    return ToGrpc(absl::UnavailableError(std::to_string(call)));
  });
  const auto stream = peer.client().OpenStream({.reconnect_timeout = milliseconds(3000)});
  Frame frame;
  frame.bindings.push_back({1, "scenes/a"});
  ASSERT_TRUE(stream->Send(frame).ok());
  ASSERT_TRUE(stream->Send(EmptyFrame(2)).ok());
  ASSERT_TRUE(stream->Receive().ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_GT(peer.calls(), 2);
  EXPECT_LT(peer.calls(), 20);
}

// Asks one of each kind, and is answered with none but what `corrupt` says.
absl::Status StatusOfCorrupt(const std::function<void(v1::FrameAnswer&)>& corrupt) {
  Peer peer([&](int, ServerStream& stream) {
    v1::StreamRequest request;
    stream.Read(&request);
    v1::StreamResponse response = AnswerTo(request);
    v1::GroupAnswer& group = *response.mutable_answer()->add_groups();
    group.mutable_segments()->add_counts(0);
    group.mutable_sights()->add_visible(true);
    group.mutable_moves()->add_clear(1);
    corrupt(*response.mutable_answer());
    stream.Write(response);
    return Echo(stream);
  });
  const std::vector<double> one{1};
  Frame frame;
  frame.seq = 9;
  FrameGroup group{.scene = "scenes/a"};
  group.group.segments = {one, one, one, one};
  group.group.sights = {one, one, one, one};
  group.group.moves = {.x = one, .y = one};
  frame.groups.push_back(group);
  const auto stream = peer.client().OpenStream();
  EXPECT_TRUE(stream->Send(frame).ok());
  const absl::Status status = stream->Receive().status();
  EXPECT_EQ(peer.calls(), 1);
  return status;
}

TEST(StreamPeerTest, AnswersThatDoNotFitEndTheStream) {
  EXPECT_TRUE(StatusOfCorrupt([](v1::FrameAnswer&) {}).ok());
  EXPECT_TRUE(StatusOfCorrupt([](v1::FrameAnswer& answer) {
                answer.clear_groups();
                answer.set_skipped(true);
              }).ok());
  const std::function<void(v1::FrameAnswer&)> corruptions[] = {
      [](v1::FrameAnswer& answer) { answer.set_seq(8); },
      [](v1::FrameAnswer& answer) { answer.clear_groups(); },
      [](v1::FrameAnswer& answer) { answer.add_groups(); },
      [](v1::FrameAnswer& answer) { answer.set_skipped(true); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->clear_segments(); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->mutable_segments()->add_counts(0); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->mutable_rays()->add_counts(0); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->mutable_sights()->clear_visible(); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->clear_moves(); },
      [](v1::FrameAnswer& answer) { answer.mutable_groups(0)->mutable_moves()->set_clear(0, 3); },
  };
  for (const auto& corrupt : corruptions) {
    EXPECT_EQ(StatusOfCorrupt(corrupt).code(), StatusCode::kInternal);
  }
}

TEST(StreamPeerTest, AnAnswerTooManyEndsTheStream) {
  Peer peer([](int, ServerStream& stream) {
    v1::StreamRequest request;
    stream.Read(&request);
    stream.Write(AnswerTo(request));
    stream.Write(AnswerTo(request));
    return Echo(stream);
  });
  const auto stream = peer.client().OpenStream();
  ASSERT_TRUE(stream->Send(EmptyFrame(1)).ok());
  EXPECT_TRUE(stream->Receive().ok());
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace carom
