// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The fuzz target of a stream's state machine: any sequence of frames, commits, pauses, half-closes
// and cancellations, on a server in this process. The ledger holds: one answer a frame, in their
// order, of the form that its frame allows; and the stream ends as it should.

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "carom/v1/query_service.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "server/server.h"
#include "server/transport/message_io.h"
#include "tests/fuzz/target.h"
#include "tests/support/choices.h"

namespace carom {
namespace {

using std::chrono::seconds;

constexpr char kScene[] = "scenes/a";
constexpr char kFork[] = "scenes/f";
constexpr size_t kMaxFrameBytes = 4096;
constexpr seconds kTimeout{20};

void Require(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "BROKEN LAW: %s\n", law);
  std::abort();
}

// One for all inputs: what one leaves behind must not harm the next.
class Site {
 public:
  Site() {
    server::ServerOptions options;
    options.address = "";
    options.threads = 2;
    options.max_message_bytes = kMaxFrameBytes;
    options.max_frames_in_flight = 4;
    options.max_unread_bytes = 4096;
    options.shadow_interval = 1;
    server_ = server::Server::Start(options).value();
    channel_ = server_->InProcessChannel({});
    scenes_ = v1::SceneService::NewStub(channel_);
    Create();
    Fork();
  }

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  void Create() {
    v1::CreateSceneRequest request;
    request.set_name(kScene);
    v1::Ring& ring = *request.add_polygons()->add_rings();
    for (const auto& [x, y] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
      ring.add_x(x);
      ring.add_y(y);
    }
    v1::CreateSceneResponse response;
    grpc::ClientContext context;
    scenes_->CreateScene(&context, request, &response);
  }
  // Makes the fork that frames edit, unless it is there.
  void Fork() {
    v1::ForkSceneRequest request;
    request.set_base(kScene);
    request.set_name(kFork);
    v1::ForkSceneResponse response;
    grpc::ClientContext context;
    scenes_->ForkScene(&context, request, &response);
  }
  void Commit() {
    v1::CommitEditsRequest request;
    request.set_name(kScene);
    v1::CommitEditsResponse response;
    grpc::ClientContext context;
    scenes_->CommitEdits(&context, request, &response);
  }
  void Delete() {
    v1::DeleteSceneRequest request;
    request.set_name(kScene);
    v1::DeleteSceneResponse response;
    grpc::ClientContext context;
    scenes_->DeleteScene(&context, request, &response);
  }

 private:
  std::unique_ptr<server::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::SceneService::Stub> scenes_;
};

// What is known of a frame that was sent.
struct Sent {
  uint64_t seq = 0;
  int groups = 0;
  bool readable = true;    // the bytes are a frame
  bool too_large = false;  // over the bytes of a frame
  bool refused = false;    // by its content
  bool may_be_skipped = false;
};

// The client's side of a stream, on one thread: writes wait in line, so that a server that reads no
// more stops nobody.
class Call {
 public:
  explicit Call(const std::shared_ptr<grpc::Channel>& channel)
      : stub_(channel),
        call_(stub_.PrepareCall(&context_, "/carom.v1.QueryService/Stream", &queue_)) {
    context_.set_deadline(std::chrono::system_clock::now() + kTimeout);
    call_->StartCall(Tag(kStart));
    Await(kStart);
  }
  ~Call() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  void Send(grpc::ByteBuffer bytes) {
    lines_.push_back(std::move(bytes));
    Pump(false);
  }
  void PauseReading(bool paused) { paused_ = paused; }
  void Cancel() { context_.TryCancel(); }
  // Lets happen what can; with `all`, until the call is over.
  void Pump(bool all) {
    Advance(all);
    void* tag = nullptr;
    bool ok = false;
    while (all ? !finished_ && queue_.Next(&tag, &ok)
               : queue_.AsyncNext(&tag, &ok, gpr_time_0(GPR_CLOCK_MONOTONIC)) ==
                     grpc::CompletionQueue::GOT_EVENT) {
      Handle(tag, ok);
      Advance(all);
    }
  }

  const std::vector<v1::StreamResponse>& answers() const { return answers_; }
  const grpc::Status& status() const { return status_; }

 private:
  enum Kind { kStart, kWrite, kRead, kClose, kFinish };

  static void* Tag(Kind kind) { return reinterpret_cast<void*>(static_cast<intptr_t>(kind + 1)); }

  void Await(Kind kind) {
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok) && tag != Tag(kind)) Handle(tag, ok);
  }

  void Handle(void* tag, bool ok) {
    if (tag == Tag(kWrite)) {
      writing_ = false;
      if (!ok) broken_ = true;
    } else if (tag == Tag(kRead)) {
      reading_ = false;
      if (!ok) {
        read_all_ = true;
        return;
      }
      v1::StreamResponse response;
      server::MessageBytes received(bytes_);
      received.Join();
      Require(server::Parse(received, response), "an answer is a StreamResponse");
      const server::MessageBytes written = server::SerializeToBytes(response);
      Require(std::ranges::equal(received.joined(), written.joined()),
              "an answer is the bytes that protobuf writes");
      answers_.push_back(std::move(response));
    } else if (tag == Tag(kClose)) {
      closing_ = false;
    } else if (tag == Tag(kFinish)) {
      finished_ = true;
    }
  }

  void Advance(bool all) {
    if (!writing_ && !broken_ && !lines_.empty()) {
      writing_ = true;
      call_->Write(lines_.front(), Tag(kWrite));
      lines_.pop_front();
    }
    if (all && !writing_ && !closed_ && (broken_ || lines_.empty())) {
      closed_ = closing_ = true;
      call_->WritesDone(Tag(kClose));
    }
    if (!reading_ && !read_all_ && (all || !paused_)) {
      reading_ = true;
      call_->Read(&bytes_, Tag(kRead));
    }
    if (read_all_ && !writing_ && closed_ && !closing_ && !finishing_) {
      finishing_ = true;
      call_->Finish(&status_, Tag(kFinish));
    }
  }

  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  grpc::GenericStub stub_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  std::deque<grpc::ByteBuffer> lines_;
  grpc::ByteBuffer bytes_;
  std::vector<v1::StreamResponse> answers_;
  grpc::Status status_;
  bool paused_ = false, writing_ = false, reading_ = false, broken_ = false, read_all_ = false;
  bool closed_ = false, closing_ = false, finishing_ = false, finished_ = false;
};

// A frame of any form. `seq` is its number.
grpc::ByteBuffer MakeFrame(testing::Choices& choices, uint64_t seq, Sent& sent) {
  v1::StreamRequest request;
  v1::Frame& frame = *request.mutable_frame();
  frame.set_seq(sent.seq = seq);
  const uint32_t kind = choices.Below(8);
  sent.groups = static_cast<int>(choices.Below(3));
  for (int i = 0; i < sent.groups; ++i) {
    v1::Group& group = *frame.add_groups();
    group.set_scene(choices.OneIn(4) ? "scenes/none" : kScene);
    for (uint32_t items = choices.Below(kind == 7 ? 200 : 20); items > 0; --items) {
      group.mutable_segments()->add_ax(-9);
      group.mutable_segments()->add_ay(0.1 * items);
      group.mutable_segments()->add_bx(9);
      group.mutable_segments()->add_by(0.1);
    }
    if (kind == 0 && choices.OneIn(2)) {
      // A new version with the same polygons. Inputs share the fork, and an id makes one version.
      static uint64_t last_edit_id = 0;
      group.set_scene(kFork);
      group.mutable_edits()->set_edit_id(std::to_string(++last_edit_id));
    }
    if (kind == 1) group.set_min_version(~uint64_t{0});
    if (kind == 2) {
      group.mutable_moves()->add_x(0.1);
      group.mutable_moves()->add_y(choices.Below(9));
    }
  }
  if (kind == 1) frame.set_budget_us(1 + choices.Below(1500));
  if (kind == 2) frame.add_trackers()->add_shapes()->mutable_capsule()->set_radius(1);
  if (kind == 3 || choices.OneIn(5)) {
    frame.set_supersede(true);
    sent.may_be_skipped = true;
  }
  if (kind == 4) {
    frame.set_budget_us(99999999);
    sent.refused = true;
  }
  if (kind == 5 && choices.OneIn(2)) {
    for (int i = 0; i < 700; ++i) frame.add_removed_trackers(1 << 30);
  }
  std::string bytes = request.SerializeAsString();
  if (kind == 6) {
    bytes.insert(choices.OneIn(2) ? bytes.begin() : bytes.end(), '\x07');  // a field of no type
    sent.readable = false;
  }
  sent.too_large = bytes.size() > kMaxFrameBytes;
  if (bytes.size() > 2 * kMaxFrameBytes) {  // which would end the stream
    bytes.clear();
    sent = {};
  }
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

void CheckAnswer(const Sent& sent, const v1::FrameAnswer& answer) {
  const int code = answer.status().code();
  if (sent.readable) Require(answer.seq() == sent.seq, "answers come in the order of frames");
  if (answer.skipped()) {
    Require(sent.may_be_skipped && answer.groups_size() == 0, "only such a frame is skipped");
  } else if (code == 0) {
    Require(sent.readable && !sent.too_large && !sent.refused, "what is refused is not answered");
    Require(answer.groups_size() == sent.groups, "a group has an answer");
  } else {
    Require(answer.groups_size() == 0, "a refused frame answers nothing");
    const bool flow = code == grpc::RESOURCE_EXHAUSTED;
    Require(flow || !sent.readable || sent.refused, "only what is wrong is refused");
    Require(!flow || sent.too_large || answer.status().retry_delay_us() != 0,
            "what passes says when to try again");
  }
}

}  // namespace
}  // namespace carom

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using carom::Require;
  static carom::Site site;
  carom::testing::Choices choices(data, std::min<size_t>(size, 512));
  carom::Call call(site.channel());
  std::vector<carom::Sent> sent;
  bool cancelled = false;
  for (uint32_t steps = choices.Below(48); steps > 0 && !cancelled; --steps) {
    switch (choices.Below(16)) {
      case 0:
        site.Commit();
        break;
      case 1:
        if (choices.OneIn(4)) {
          site.Delete();
          site.Create();
          site.Fork();
        }
        break;
      case 2:
        call.PauseReading(choices.OneIn(2));
        break;
      case 3:
        cancelled = choices.OneIn(8);
        break;
      default:
        sent.emplace_back();
        call.Send(carom::MakeFrame(choices, sent.size(), sent.back()));
    }
  }
  if (cancelled) call.Cancel();
  call.Pump(true);
  Require(call.answers().size() <= sent.size(), "no answer without a frame");
  for (size_t i = 0; i < call.answers().size(); ++i) {
    CheckAnswer(sent[i], call.answers()[i].answer());
    Require(call.answers()[i].has_limits() == (i == 0), "the first answer has the limits");
  }
  if (cancelled) return 0;
  Require(call.answers().size() == sent.size(), "a frame has an answer");
  Require(call.status().ok(), "a stream that is closed ends well");
  return 0;
}

std::vector<uint8_t> MakeInput(uint64_t seed) {
  carom::testing::Choices choices(seed);
  std::vector<uint8_t> bytes(16 + choices.Below(400));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(choices.Below(256));
  return bytes;
}
