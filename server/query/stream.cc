// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/stream.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/query/query_service.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

// How long a stream may use a thread of the event loop to answer small frames (batches of queries)
// that have already arrived, before other calls get the thread.
constexpr Clock::duration kTimeSlice = std::chrono::microseconds(300);
// An estimate of the bytes of memory that a refused frame takes until the error of the frame is
// written.
constexpr size_t kRefusalBytes = 1024;
// The retry delay for a frame that exceeds `max_frames_in_flight`.
constexpr uint64_t kRetryFrameUs = 10000;
// The most bytes of an answer that one gRPC operation sends together with receiving the next frame.
// Such an answer is short against the initial flow control window of HTTP/2 (64 KiB), so flow
// control does not delay it for a client that reads.
constexpr size_t kMaxExchangedBytes = 4096;

}  // namespace

void Stream::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  auto* stream = new Stream(service, loop, runtime);
  stream->context_.AsyncNotifyWhenDone(&stream->done_);
  service.RequestStream(&stream->context_, &stream->call_, &loop.queue(), &loop.queue(),
                        &stream->accepted_);
}

// --- Events -------------------------------------------------------------------------------------

void Stream::OnAccepted(bool ok) {
  if (!ok) return Discard();
  Accept(service_, loop_, runtime_);
  const absl::Status admitted = AdmitQuery();
  if (!admitted.ok()) return Begin(admitted);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Sends the initial metadata, and starts the first read; if `started` is an error, ends the call
// with it. `Begin` takes over the reference to the call that the event `accepted_` holds.
void Stream::Begin(const absl::Status& started) {
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = Clock::now();
    if (cancelled_ || ended_) {
      // Does nothing: `OnDone` ran before, or a drain (server shutdown) has ended the call since
      // `Admit`.
    } else if (!started.ok()) {
      End(started);
    } else {
      ScheduleIdleCheck(last_activity_ + runtime_.limits->idle_stream);
      // The metadata counts as a write of one byte, so that no answer is written before the
      // metadata is sent.
      writing_bytes_ = unread_bytes_ = 1;
      Ref();
      call_.SendInitialMetadata(&metadata_sent_);
      Advance(Where::kExecutor);
    }
  }
  Unref();
}

void Stream::OnMetadataSent(bool ok) { OnWritten(ok); }

// Prefetches the CPU cache lines of this object: among a thousand streams, the stream that receives
// a frame is not in the L1 and L2 caches, and its cache lines would be loaded one after the other.
// Does not prefetch `call_` and the members that are declared before `mu_`.
void Stream::Prefetch() const {
  constexpr size_t kLine = 64;
  const auto prefetch = [](const void* begin, const void* end) {
    for (const auto* at = static_cast<const char*>(begin); at < end; at += kLine) {
      __builtin_prefetch(at);
    }
  };
  prefetch(&mu_, &call_);
  prefetch(&call_ + 1, this + 1);
}

// Queues the frame (a message with queries) that has arrived. If `messages_` has no message, the
// client has closed its side of the stream, or has disconnected; in the second case gRPC calls
// `OnDone` later.
void Stream::OnRead(bool ok) {
  Prefetch();
  const Clock::time_point now = Clock::now();
  std::optional<MessageBytes> bytes = messages_.Take();
  if (!ok) bytes.reset();
  const FrameHead head = bytes.has_value() ? PeekFrame(*bytes) : FrameHead();
  bool evaluate = false;
  {
    absl::MutexLock lock(&mu_);
    if (std::exchange(exchanging_, false)) FinishWrite();
    reading_ = false;
    half_closed_ |= !bytes.has_value();
    // Drops a frame that arrives after a drain (server shutdown) has begun, as if it was not read:
    // the client sends it again to another server.
    if (bytes.has_value() && !draining_ && !ended_ && !cancelled_) {
      Enqueue(*std::move(bytes), head, now);
    }
    evaluate = Advance(Where::kThisThread);
  }
  if (evaluate) EvaluateOnThisThread(now);
  Unref();
}

void Stream::OnWritten(bool ok) {
  const Clock::time_point now = Clock::now();
  bool evaluate = false;
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = now;
    FinishWrite();
    if (!ok) Abandon();
    evaluate = Advance(Where::kThisThread);
  }
  if (evaluate) EvaluateOnThisThread(now);
  Unref();
}

void Stream::OnDone(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(idle_timer_);
    StopTimer(stall_timer_);
    if (context_.IsCancelled()) Abandon();
  }
  Unref();
}

void Stream::OnFinished(bool) { Unref(); }

void Stream::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  Advance(Where::kExecutor);
}

void Stream::FinishWrite() {
  unread_bytes_ -= std::exchange(writing_bytes_, 0);
  unread_charge_.Set(unread_bytes_);
  ++writes_;
}

// --- The next operation -------------------------------------------------------------------------

bool Stream::Advance(Where where) {
  if (ended_ || cancelled_) return false;
  MaybeWrite();
  const bool evaluate = MaybeEvaluate(where);
  MaybeWrite();  // writes the errors of refused frames that `MaybeEvaluate` queued
  // If the caller evaluates a small frame, the read of the next frame begins after the answer is
  // written, so that gRPC sends the update of the flow control window with the answer: one system
  // call, not two. If the evaluation is suspended, `OnSuspend` starts the read.
  if (!evaluate || thread_reserved_) MaybeRead();
  WatchStall();
  MaybeEnd();
  return evaluate;
}

void Stream::MaybeWrite() {
  if (writing_bytes_ != 0 || ready_.empty()) return;
  MessageBytes answer = std::move(ready_.front());
  ready_.pop_front();
  Write(std::move(answer));
}

void Stream::Write(MessageBytes answer) {
  // `writing_bytes_`, which is 0 between writes, is never 0 for an answer: an answer is never
  // empty, as it has stats or a status.
  writing_bytes_ = answer.size();
  --frames_;
  Ref();
  if (frames_ == 0 && writing_bytes_ <= kMaxExchangedBytes && MayRead()) {
    reading_ = exchanging_ = true;
    messages_.Exchange(std::move(answer));
  } else {
    messages_.Write(std::move(answer));
  }
}

bool Stream::MaybeEvaluate(Where where) {
  if (evaluating_ || (where == Where::kExecutor && LeavesToLoop()) || !TakeFrame()) return false;
  evaluating_ = true;
  Ref();
  if (where != Where::kExecutor && MayTakeLoop(last_activity_)) {
    if (where == Where::kThisThread && cost_.IsSmall(frame_.cost_bytes())) return true;
    if (ReserveThread()) return true;
  }
  Submit();
  return false;
}

// Returns true only during a write: when the write completes, `OnWritten` (or `OnRead`, if one gRPC
// operation sends the answer and receives the next frame) runs on the event loop and evaluates the
// first frame of `queue_` there.
bool Stream::LeavesToLoop() const {
  return writing_bytes_ != 0 && !queue_.empty() && cost_.IsSmall(queue_.front().cost_bytes()) &&
         MayTakeLoop(last_activity_);
}

bool Stream::MayRead() const {
  return !reading_ && !half_closed_ && !draining_ && !IsFull() &&
         queued_bytes_ <= runtime_.limits->max_unread_bytes &&
         frames_ < 2 * runtime_.limits->max_frames_in_flight;
}

void Stream::MaybeRead() {
  if (!MayRead()) return;
  reading_ = true;
  Ref();
  messages_.Read();
}

void Stream::MaybeEnd() {
  if (frames_ != 0 || (writing_bytes_ != 0 && !exchanging_)) return;
  if (draining_) {
    End(Draining());
  } else if (half_closed_) {
    End(absl::OkStatus());
  }
}

void Stream::End(const absl::Status& status) {
  Ended(status);
  ended_ = true;
  Ref();
  call_.Finish(ToGrpcStatus(status), &finished_);
  // gRPC may still be sending an answer that was passed to `StreamMessages::Exchange`, so sets the
  // timer of `CheckStall`.
  WatchStall();
}

void Stream::Abandon() {
  queue_.clear();
  ready_.clear();
  Cancel();
}

// --- Queued frames ------------------------------------------------------------------------------

absl::Status Stream::CheckFlow(size_t size) const {
  const CallLimits& limits = *runtime_.limits;
  if (size > limits.max_frame_bytes) return TooManyBytes(limits.max_frame_bytes);
  if (frames_ < limits.max_frames_in_flight) return absl::OkStatus();
  return WithRetryDelay(
      OverLimit("", limits.max_frames_in_flight, "frames in flight", Limit::kFramesInFlight),
      kRetryFrameUs);
}

// Moves the frame to `frame_` at once, without `queue_`, if the frame is not refused, no other
// frame is queued or evaluated, and the client does not have too many unread answers.
void Stream::Enqueue(MessageBytes bytes, const FrameHead& head, Clock::time_point now) {
  last_activity_ = now;
  const size_t size = bytes.size();
  MemoryCharge charge = NewCharge(MemoryShare::kMessages);
  absl::Status refusal = CheckFlow(size);
  if (refusal.ok()) refusal = CheckWork();
  if (refusal.ok()) refusal = charge.Add(size);
  is_taken_ = refusal.ok() && queue_.empty() && !evaluating_ && !IsFull();
  ReceivedFrame& frame = is_taken_ ? frame_ : queue_.emplace_back();
  frame.arrival = {.received = now};
  frame.head = head;
  frame.size = refusal.ok() ? size : kRefusalBytes;
  if (refusal.ok()) {
    frame.bytes = std::move(bytes);
  } else {
    charge.Set(kRefusalBytes);
  }
  frame.refusal = std::move(refusal);
  frame.charge = std::move(charge);
  if (!is_taken_) queued_bytes_ += frame.size;
  ++frames_;
}

bool Stream::TakeFrame() {
  if (std::exchange(is_taken_, false)) return true;
  while (!queue_.empty() && !IsFull()) {
    ReceivedFrame frame = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= frame.size;
    if (frame.refusal.ok()) {
      if (IsSuperseded(frame)) frame.arrival.use = FrameUse::kSkip;
      frame_ = std::move(frame);
      return true;
    }
    // Answers follow the order of the frames, so the error of a refused frame is sent after the
    // answers to earlier frames.
    Answer(Refusal(frame.head.seq, frame.refusal));
  }
  return false;
}

bool Stream::IsSuperseded(const ReceivedFrame& frame) const {
  const auto supersedes = [](const ReceivedFrame& other) {
    return other.refusal.ok() && other.head.supersede;
  };
  return !queue_.empty() && supersedes(frame) && !frame.head.has_edits &&
         std::any_of(queue_.begin(), queue_.end(), supersedes);
}

// --- The frame in evaluation --------------------------------------------------------------------

void Stream::EvaluateOnThisThread(Clock::time_point now) {
  const LoopTime time(*this, now);
  const Clock::time_point end = now + kTimeSlice;
  bool more = true;
  while (more) {
    if (!Evaluate(thread_reserved_ ? CostEstimate::ReservedSlice() : CostEstimate::Slice())) return;
    now = Clock::now();
    more = TakeAnswer(now < end ? Where::kThisThread : Where::kThisThreadIfReserved, now);
    if (more) Unref();  // releases the reference of the preceding evaluation
  }
  Unref();
}

void Stream::OnSuspend() {
  ReleaseThread();
  MaybeRead();
}

void Stream::OnResume() {
  // A later frame with `supersede` may have superseded `frame_` since `frame_` was taken from the
  // queue. If so, and the evaluation of `frame_` has not begun, skips `frame_`.
  if (run_ == nullptr && IsSuperseded(frame_)) frame_.arrival.use = FrameUse::kSkip;
}

void Stream::OnEvaluated() { TakeAnswer(Where::kExecutor, Clock::now()); }

bool Stream::TakeAnswer(Where where, Clock::time_point now) {
  MessageBytes answer;
  if (!cancelled_) {
    AddLimits(run_->response);
    answer = SerializeToBytes(run_->response);
    RecordAnswer(now);
    Record();
  }
  const uint64_t work_units = run_->work.work_units;
  const size_t cost_bytes = frame_.cost_bytes();
  runtime_.runs.Return(std::move(run_), answer.size());
  frame_.Clear();
  absl::MutexLock lock(&mu_);
  last_activity_ = now;
  cost_.AddSample(cost_bytes, work_units);
  uncharged_work_ += 1 + work_units;
  evaluating_ = false;
  ReleaseThread();
  if (!cancelled_) Answer(std::move(answer));
  return Advance(where);
}

bool Stream::ReserveThread() {
  thread_reserved_ = thread_reserved_ || (runtime_.executor.IsIdle() && loop_.ReserveThread());
  return thread_reserved_;
}

void Stream::ReleaseThread() {
  if (std::exchange(thread_reserved_, false)) loop_.ReleaseThread();
}

void Stream::Answer(MessageBytes bytes) {
  unread_bytes_ += bytes.size();
  unread_charge_.Set(unread_bytes_);
  if (writing_bytes_ == 0 && ready_.empty()) return Write(std::move(bytes));
  ready_.push_back(std::move(bytes));
}

void Stream::AddLimits(v1::StreamResponse& response) {
  if (!std::exchange(sent_limits_, true)) runtime_.EncodeLimits(*response.mutable_limits());
}

MessageBytes Stream::Refusal(uint64_t seq, const absl::Status& status) {
  shared_.metrics.Add(Counter::kFramesRefused);
  v1::StreamResponse response;
  response.mutable_answer()->set_seq(seq);
  wire::EncodeStatus(status, *response.mutable_answer()->mutable_status());
  AddLimits(response);
  return SerializeToBytes(response);
}

void Stream::Record() {
  if (runtime_.recorder == nullptr) return;
  if (!std::exchange(asked_recording_, true)) recording_ = runtime_.recorder->Begin();
  if (recording_ == nullptr) return;
  auto answered = std::make_unique<AnsweredFrame>();
  answered->received = std::chrono::system_clock::now() - (Clock::now() - frame_.arrival.received);
  answered->frame = run_->request.frame();
  answered->answer = run_->response.answer();
  const int groups = std::min(answered->frame.groups_size(), answered->answer.groups_size());
  for (int i = 0; i < groups; ++i) {
    std::string name = SceneOf(answered->frame.groups(i));
    const uint64_t version = answered->answer.groups(i).version();
    if (version == 0) continue;
    if (recording_->HasScene(name, version)) continue;
    const std::string key = runtime_.evaluator.KeyOf(caller().tenant, name);
    Scene::Ptr scene = runtime_.evaluator.FindScene(key, version);
    if (scene == nullptr) {
      answered->is_complete = false;
    } else {
      answered->scenes.emplace_back(std::move(name), std::move(scene));
    }
  }
  recording_->Add(std::move(answered));
}

// --- Time limits --------------------------------------------------------------------------------

void Stream::CheckIdle() {
  absl::MutexLock lock(&mu_);
  idle_timer_ = 0;
  if (ended_ || cancelled_) return;
  const Clock::time_point due = last_activity_ + runtime_.limits->idle_stream;
  const Clock::time_point now = Clock::now();
  if (now >= due && writing_bytes_ != 0 && !exchanging_) {
    Abort(kUnread);
  } else if (now >= due && frames_ == 0) {
    End(absl::AbortedError("the stream was idle; open another one"));
  } else {
    // The stream has been active since the timer was set, or a frame is evaluated or waits for a
    // version.
    ScheduleIdleCheck(now < due ? due : now + runtime_.limits->idle_stream);
  }
}

void Stream::ScheduleIdleCheck(Clock::time_point when) {
  StartTimer(idle_timer_, when, [this] { CheckIdle(); });
}

void Stream::WatchStall() {
  if (stall_timer_ != 0 || writing_bytes_ == 0 || !(IsFull() || ended_)) return;
  StartTimer(stall_timer_, Clock::now() + runtime_.limits->stalled_stream,
             [this, writes = writes_] { CheckStall(writes); });
}

void Stream::CheckStall(uint64_t writes) {
  absl::MutexLock lock(&mu_);
  stall_timer_ = 0;
  if (cancelled_) return;
  // A write that completed since the timer was set (`writes_` is larger than `writes`) shows that
  // the client reads.
  if (writes == writes_ && (IsFull() || ended_)) {
    Abort(kUnread);
  } else {
    WatchStall();
  }
}

}  // namespace carom::server
