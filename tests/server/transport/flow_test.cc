// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Flow control: limits that the server sends and keeps, frames that replace others, clients that do
// not read.
#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <utility>

#include "server/transport/message_io.h"

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

std::string WaitingForVersion(uint64_t seq, uint64_t min_version) {
  return absl::StrCat("seq: ", seq,
                      " budget_us: 30000000 groups { scene: 'scenes/a' min_version: ", min_version,
                      "}");
}

std::string PointAt(uint64_t seq, const std::string& more = "") {
  return absl::StrCat("seq: ", seq, " ", more,
                      " groups { scene: 'scenes/a' points { x: 0 y: 0 } }");
}

v1::Frame LargeFrame(uint64_t seq, int points) {
  v1::Frame frame;
  frame.set_seq(seq);
  v1::Group& group = *frame.add_groups();
  group.set_scene("scenes/a");
  for (int i = 0; i < points; ++i) {
    group.mutable_points()->add_x(i);
    group.mutable_points()->add_y(9);
  }
  return frame;
}

// A call that moves bytes, and reads only when it is asked to.
class RawCall {
 public:
  RawCall(const std::shared_ptr<grpc::Channel>& channel, const std::string& method)
      : stub_(channel), call_(stub_.PrepareCall(&context_, "/carom.v1." + method, &queue_)) {
    call_->StartCall(nullptr);
    EXPECT_TRUE(Await());
  }
  ~RawCall() {
    context_.TryCancel();
    Finish();
    queue_.Shutdown();
    EXPECT_FALSE(Await());
  }

  bool Write(const grpc::ByteBuffer& bytes) {
    call_->Write(bytes, nullptr);
    return Await();
  }
  // Waits until the server has begun to answer.
  bool ReadInitialMetadata() {
    call_->ReadInitialMetadata(nullptr);
    return Await();
  }
  bool CloseSide() {
    call_->WritesDone(nullptr);
    return Await();
  }
  bool Read(grpc::ByteBuffer& bytes) {
    call_->Read(&bytes, nullptr);
    return Await();
  }
  // The status of the call, which is over.
  grpc::Status Finish() {
    if (!std::exchange(finished_, true)) {
      call_->Finish(&status_, nullptr);
      Await();
    }
    return status_;
  }

 private:
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

  Context context_;
  grpc::CompletionQueue queue_;
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::Status status_;
  bool finished_ = false;
};

class FlowTest : public ::testing::Test {
 protected:
  static ServerOptions Options() {
    ServerOptions options = OneThread();
    options.max_message_bytes = 65536;
    options.max_frames_in_flight = 4;
    options.max_unread_bytes = 4096;
    options.max_streams = 5;  // 3 of one peer: as many as are left
    options.stalled_stream_seconds = 1;
    return options;
  }

  // Without probes of the bandwidth the client's window stays at HTTP/2's 64 KiB; with them gRPC
  // may take 16 MiB that nobody reads.
  std::shared_ptr<grpc::Channel> SmallWindowChannel() {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    return grpc::CreateCustomChannel(server_.server().address(), grpc::InsecureChannelCredentials(),
                                     arguments);
  }

  TestServer server_{Options()};
  const uint64_t version_ = server_.Create("a", {Square(1, 0, 0)});
};

TEST_F(FlowTest, TheFirstAnswerCarriesTheLimits) {
  Context context;
  auto stream = server_.queries().Stream(&context);
  for (int i = 0; i < 3; ++i) {
    v1::StreamRequest request;
    // A refused frame is answered too.
    request.mutable_frame()->set_budget_us(i == 0 ? 99999999 : 0);
    ASSERT_TRUE(stream->Write(request));
    v1::StreamResponse response;
    ASSERT_TRUE(stream->Read(&response));
    ASSERT_EQ(response.has_limits(), i == 0);
    if (i != 0) continue;
    EXPECT_EQ(response.limits().max_frames_in_flight(), 4);
    EXPECT_EQ(response.limits().max_frame_bytes(), 65536);
    EXPECT_EQ(response.limits().max_queries_per_frame(), 65536);
    EXPECT_EQ(response.limits().max_groups_per_frame(), 1024);
    EXPECT_EQ(response.limits().max_answer_rows_per_frame(), 262144);
    EXPECT_EQ(response.limits().max_work_units_per_frame(), 4000000000);
  }
}

TEST_F(FlowTest, AFrameOverTheFramesInFlightIsRefusedAlone) {
  ClientStream stream(server_);
  ASSERT_TRUE(stream.Send(WaitingForVersion(0, version_ + 1)));
  for (uint64_t seq = 1; seq < 8; ++seq) ASSERT_TRUE(stream.Send(PointAt(seq)));
  server_.LetItRead();
  ASSERT_TRUE(server_.Commit("name: 'scenes/a'").ok());
  for (uint64_t seq = 0; seq < 8; ++seq) {
    const v1::FrameAnswer answer = stream.Next();
    EXPECT_EQ(answer.seq(), seq);
    EXPECT_EQ(answer.status().code(), seq < 4 ? grpc::OK : grpc::RESOURCE_EXHAUSTED) << seq;
    EXPECT_EQ(answer.status().retry_delay_us() != 0, seq >= 4);
    EXPECT_EQ(answer.groups_size(), seq < 4 ? 1 : 0);
  }
  ASSERT_TRUE(stream.Send(PointAt(8)));
  EXPECT_EQ(stream.Next().groups(0).points().counts(0), 1);
}

// A client that keeps to the limit is never refused: an answer that it has is not in flight.
TEST_F(FlowTest, AClientThatKeepsToTheLimitIsNotRefused) {
  ClientStream stream(server_);
  for (uint64_t seq = 0; seq < 2000; ++seq) {
    ASSERT_TRUE(stream.Send(PointAt(seq)));
    if (seq < 3) continue;
    const v1::FrameAnswer answer = stream.Next();
    ASSERT_EQ(answer.seq(), seq - 3);
    ASSERT_FALSE(answer.has_status()) << answer.status().message();
  }
}

TEST_F(FlowTest, AFrameOverTheBytesIsRefusedAlone) {
  ClientStream stream(server_);
  ASSERT_TRUE(stream.Send(PointAt(1)));
  ASSERT_TRUE(stream.Send(LargeFrame(2, 5000)));
  ASSERT_TRUE(stream.Send(PointAt(3)));
  EXPECT_FALSE(stream.Next().has_status());
  const v1::FrameAnswer refused = stream.Next();
  EXPECT_EQ(refused.seq(), 2);
  EXPECT_EQ(refused.status().code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(refused.status().retry_delay_us(), 0);
  EXPECT_EQ(stream.Next().seq(), 3);
  // What is much larger is not read at all.
  stream.Send(LargeFrame(4, 20000));
  v1::FrameAnswer none;
  EXPECT_FALSE(stream.Receive(none));
  EXPECT_EQ(stream.Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
}

TEST_F(FlowTest, BytesThatAreNoFrameAreRefusedAlone) {
  RawCall call(server_.channel(), "QueryService/Stream");
  for (const std::string& bytes : {std::string("\x0a\x04\x08\x07\xff\xff", 6), std::string("\x0f"),
                                   std::string("\x0a\x05\x08", 3)}) {
    const grpc::Slice slice(bytes);
    ASSERT_TRUE(call.Write(grpc::ByteBuffer(&slice, 1)));
    grpc::ByteBuffer read;
    ASSERT_TRUE(call.Read(read));
    grpc::Slice answer;
    ASSERT_TRUE(read.DumpToSingleSlice(&answer).ok());
    v1::StreamResponse response;
    ASSERT_TRUE(response.ParseFromArray(answer.begin(), static_cast<int>(answer.size())));
    EXPECT_EQ(response.answer().status().code(), grpc::INVALID_ARGUMENT);
  }
}

TEST_F(FlowTest, ANewerFrameTakesThePlaceOfOlderOnes) {
  ClientStream stream(server_);
  ASSERT_TRUE(stream.Send(WaitingForVersion(1, version_ + 1)));
  ASSERT_TRUE(stream.Send(PointAt(2,
                                  "supersede: true bindings { handle: 7 scene: 'scenes/a' } "
                                  "trackers { shapes { capsule { radius: 1 } } }")));
  ASSERT_TRUE(stream.Send(PointAt(3)));
  ASSERT_TRUE(
      stream.Send("seq: 4 supersede: true groups { scene_handle: 7 points { x: 0 y: 0 } moves { x: "
                  "0 y: 0 } }"));
  server_.LetItRead();
  ASSERT_TRUE(server_.Commit("name: 'scenes/a'").ok());
  EXPECT_EQ(stream.Next().seq(), 1);
  const v1::FrameAnswer skipped = stream.Next();
  EXPECT_EQ(skipped.seq(), 2);
  EXPECT_TRUE(skipped.skipped());
  EXPECT_FALSE(skipped.has_status());
  EXPECT_EQ(skipped.groups_size(), 0);
  const v1::FrameAnswer kept = stream.Next();
  EXPECT_EQ(kept.seq(), 3);
  EXPECT_FALSE(kept.skipped());
  EXPECT_EQ(kept.groups_size(), 1);
  // What the skipped frame defined holds.
  const v1::FrameAnswer newest = stream.Next();
  EXPECT_FALSE(newest.skipped());
  EXPECT_EQ(newest.groups(0).points().polygon_id(0), 1);
  EXPECT_EQ(newest.groups(0).moves().polygon_id(0), 1);
}

TEST_F(FlowTest, AFrameThatWaitsForNothingIsNotSkipped) {
  ClientStream stream(server_);
  for (uint64_t seq = 0; seq < 50; ++seq) {
    ASSERT_TRUE(stream.Send(PointAt(seq, "supersede: true")));
    EXPECT_FALSE(stream.Next().skipped());
  }
}

// Answers of 60 KB or so that nobody reads: gRPC takes what the client's window holds, then the
// stream stands still, and ends.
TEST_F(FlowTest, AClientThatDoesNotReadLosesItsStream) {
  Context context;
  auto stream = server_.queries().Stream(&context);
  v1::StreamRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/a");
  for (int i = 0; i < 1500; ++i) {
    group.mutable_segments()->add_ax(-9);
    group.mutable_segments()->add_ay(0.1);
    group.mutable_segments()->add_bx(9);
    group.mutable_segments()->add_by(0.1);
  }
  std::atomic<int> sent{0};
  std::thread sender([&] {
    while (sent < 10000 && stream->Write(request)) ++sent;
  });
  sender.join();
  EXPECT_LT(sent, 10000);
  v1::StreamResponse response;
  while (stream->Read(&response)) {
  }
  EXPECT_EQ(stream->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  // Others do not notice.
  ClientStream other(server_);
  ASSERT_TRUE(other.Send(PointAt(1)));
  EXPECT_EQ(other.Next().seq(), 1);
}

// Answers of a megabyte or so: gRPC takes what the client's window holds, the rest stays in the
// server. As many calls as there may be are in progress until the stalled time ends them.
// Short answers never are above the unread bytes, and the frames behind one that cannot be sent are
// not read: the stream counts as idle, and is cut off as its end cannot be sent either.
TEST(ExchangeTest, ShortAnswersThatAreNotReadEndAfterTheIdleTime) {
  ServerOptions options = OneThread();
  options.idle_stream_seconds = 3;  // longer than the host pauses between two frames
  options.stalled_stream_seconds = 1;
  TestServer server(options);
  server.Create("a", {Square(1, 0, 0)});
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // the client's side keeps 64 KiB
  RawCall call(grpc::CreateCustomChannel(server.server().address(),
                                         grpc::InsecureChannelCredentials(), arguments),
               "QueryService/Stream");
  const auto request = FromText<v1::StreamRequest>(absl::StrCat("frame { ", PointAt(1), " }"));
  for (int i = 0; i < 3000 && call.Write(Serialize(request)); ++i) {
  }
  std::this_thread::sleep_for(std::chrono::seconds(8));
  grpc::ByteBuffer read;
  int answers = 0;
  while (call.Read(read)) ++answers;
  EXPECT_GT(answers, 300);
  EXPECT_LT(answers, 3000);
  EXPECT_EQ(call.Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
}

TEST_F(FlowTest, AnEvaluateCallWhoseAnswerIsNotReadEnds) {
  std::vector<std::string> squares;
  for (int i = 0; i < 40; ++i) squares.push_back(Square(i + 1, 3 * i, 0));
  server_.Create("row", squares);
  v1::EvaluateRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/row");
  group.mutable_segments()->set_mode(v1::CAST_MODE_ALL);
  for (int i = 0; i < 1000; ++i) {
    group.mutable_segments()->add_ax(-9);
    group.mutable_segments()->add_ay(0.1);
    group.mutable_segments()->add_bx(200);
    group.mutable_segments()->add_by(0.1);
  }
  v1::FrameAnswer answer;
  ASSERT_TRUE(server_.Evaluate(request.frame(), answer).ok());
  ASSERT_GT(answer.ByteSizeLong(), 500000u);
  const auto start = std::chrono::steady_clock::now();
  const auto channel = SmallWindowChannel();
  std::vector<std::unique_ptr<RawCall>> calls;
  const auto evaluate = [&] {
    Context context;
    v1::EvaluateResponse response;
    return v1::QueryService::NewStub(channel)->Evaluate(&context, {}, &response).error_code();
  };
  // A call that comes while one that was answered has its place yet is refused, and ends as others.
  grpc::StatusCode code = grpc::OK;
  for (int i = 0; i < 3 || (i < 20 && (code = evaluate()) == grpc::OK); ++i) {
    calls.push_back(std::make_unique<RawCall>(channel, "QueryService/Evaluate"));
    ASSERT_TRUE(calls.back()->Write(Serialize(request)));
    ASSERT_TRUE(calls.back()->CloseSide());
    ASSERT_TRUE(calls.back()->ReadInitialMetadata());
  }
  EXPECT_EQ(code, grpc::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(Eventually([&] { return evaluate() == grpc::OK; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  server_.server().Drain();  // until the others are over too, a moment later
  for (const auto& call : calls) {
    grpc::ByteBuffer read;
    EXPECT_FALSE(call->Read(read));
    EXPECT_EQ(call->Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
  }
}

// A list of scenes of 200 KB or so.
TEST_F(FlowTest, ASceneCallWhoseAnswerIsNotReadEnds) {
  for (int i = 0; i < 800; ++i) {
    server_.Create(absl::StrCat(i, std::string(60, 'x')), {Square(1, 0, 0)});
  }
  v1::ListScenesRequest request;
  request.set_page_size(1000);
  RawCall call(SmallWindowChannel(), "SceneService/ListScenes");
  ASSERT_TRUE(call.Write(Serialize(request)));
  ASSERT_TRUE(call.CloseSide());
  ASSERT_TRUE(call.ReadInitialMetadata());
  server_.server().Drain();  // until the call is over
  grpc::ByteBuffer read;
  EXPECT_FALSE(call.Read(read));
  EXPECT_EQ(call.Finish().error_code(), grpc::RESOURCE_EXHAUSTED);
}

// gRPC would inflate it first, to whatever it is.
TEST_F(FlowTest, ACompressedMessageIsNotRead) {
  Context context;
  context.set_compression_algorithm(GRPC_COMPRESS_GZIP);
  auto stream = server_.queries().Stream(&context);
  v1::StreamRequest request;
  *request.mutable_frame() = LargeFrame(1, 500);
  stream->Write(request);
  v1::StreamResponse response;
  EXPECT_FALSE(stream->Read(&response));
  EXPECT_EQ(stream->Finish().error_code(), grpc::UNIMPLEMENTED);
}

TEST_F(FlowTest, AFrameOfVeryManyPartsIsRefused) {
  v1::Frame frame;
  frame.set_seq(5);
  for (int i = 0; i < 20000; ++i) frame.add_groups();
  ClientStream stream(server_);
  ASSERT_TRUE(stream.Send(frame));
  const v1::FrameAnswer answer = stream.Next();
  EXPECT_EQ(answer.seq(), 5);
  EXPECT_EQ(answer.status().code(), grpc::RESOURCE_EXHAUSTED);
  ASSERT_TRUE(stream.Send(PointAt(6)));
  EXPECT_FALSE(stream.Next().has_status());
}

TEST_F(FlowTest, StreamsAreLimited) {
  std::vector<std::unique_ptr<ClientStream>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(std::make_unique<ClientStream>(server_));
    ASSERT_TRUE(streams.back()->Send("seq: 1"));
    EXPECT_EQ(streams.back()->Next().seq(), 1);
  }
  Context context;
  const absl::Status refused = ToStatus(server_.queries().Stream(&context)->Finish());
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_NE(RetryDelay(refused), 0);
  streams.pop_back();
  EXPECT_TRUE(Eventually([&] {
    ClientStream stream(server_);
    v1::FrameAnswer answer;
    return stream.Send("seq: 2") && stream.Receive(answer);
  }));
}

TEST(FrameWorkTest, WorkUnitsAreLimited) {
  ServerOptions options;
  options.max_work_units_per_frame = 100000;
  TestServer server(options);
  server.CreateHeavy("heavy", 1000);
  server.Create("a", {Square(1, 0, 0)});
  ClientStream stream(server);
  v1::Frame frame = FromText<v1::Frame>(PointAt(1));
  *frame.add_groups() = TestServer::HeavyGroup("heavy", 1000, 1000);
  *frame.add_groups() = FromText<v1::Group>("scene: 'scenes/a' points { x: 0 y: 0 }");
  ASSERT_TRUE(stream.Send(frame));
  const v1::FrameAnswer answer = stream.Next();
  ASSERT_EQ(answer.groups_size(), 3);
  EXPECT_FALSE(answer.groups(0).has_status());
  EXPECT_EQ(answer.groups(1).status().code(), grpc::RESOURCE_EXHAUSTED);
  // One meter stops within an interval; the next group has nothing left for it.
  EXPECT_LT(answer.stats().work_units(), 120000);
  ASSERT_TRUE(stream.Send(PointAt(2)));
  EXPECT_FALSE(stream.Next().groups(0).has_status());
}

}  // namespace
}  // namespace carom::server
