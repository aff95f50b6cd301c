// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/stream.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/query_service.h"
#include "server/rpc_status.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

// How long a stream may keep a thread of the event loop for small frames that are there already.
constexpr Clock::duration kTimeSlice = std::chrono::microseconds(300);
// What a frame that is refused takes, about, until its refusal is written.
constexpr size_t kRefusalBytes = 1024;
// After how long a frame over the frames in flight is worth another try.
constexpr uint64_t kRetryFrameUs = 10000;

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
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`.
void Stream::Begin(const absl::Status& started) {
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = Clock::now();
    if (cancelled_ || ended_) {
      // `OnDone` came first, or a drain since `Admit`.
    } else if (!started.ok()) {
      End(started);
    } else {
      ScheduleIdleCheck(last_activity_ + runtime_.limits.idle_stream);
      // A write like any other, so that no answer is written before it is done.
      writing_bytes_ = unread_bytes_ = 1;
      Ref();
      call_.SendInitialMetadata(&metadata_sent_);
      Advance(Where::kExecutor);
    }
  }
  Unref();
}

void Stream::OnMetadataSent(bool ok) { OnWritten(ok); }

void Stream::OnRead(bool ok) {
  const FrameHead head = ok ? PeekFrame(read_bytes_) : FrameHead();
  bool evaluate = false;
  {
    absl::MutexLock lock(&mu_);
    reading_ = false;
    if (!ok || draining_ || ended_ || cancelled_) {
      // A frame that comes after a drain has begun counts as unread: the client sends it again.
      half_closed_ |= !ok;
      read_bytes_.Clear();
    } else {
      Enqueue(head);
    }
    evaluate = Advance(Where::kHere);
  }
  if (evaluate) EvaluateHere();
  Unref();
}

void Stream::OnWritten(bool ok) {
  bool evaluate = false;
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = Clock::now();
    unread_bytes_ -= std::exchange(writing_bytes_, 0);
    unread_charge_.Set(unread_bytes_);
    ++writes_;
    if (!ok) Abandon();
    evaluate = Advance(Where::kHere);
  }
  if (evaluate) EvaluateHere();
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

// --- What comes next ----------------------------------------------------------------------------

bool Stream::Advance(Where where) {
  if (ended_ || cancelled_) return false;
  MaybeWrite();
  const bool evaluate = MaybeEvaluate(where);
  MaybeWrite();  // of refusals that `MaybeEvaluate` came upon
  // A read that comes after the write leaves the window's update to it: one call of the system for
  // a small frame, not two. A frame that is suspended reads on by itself (`OnSuspend`).
  if (!evaluate || thread_reserved_) MaybeRead();
  WatchStall();
  MaybeEnd();
  return evaluate;
}

void Stream::MaybeWrite() {
  if (writing_bytes_ != 0 || ready_.empty()) return;
  // An answer is never empty: it has stats or a status.
  writing_bytes_ = ready_.front().Length();
  --frames_;
  Ref();
  call_.Write(ready_.front(), &written_);
  ready_.pop_front();
}

bool Stream::MaybeEvaluate(Where where) {
  if (evaluating_ || !TakeFrame()) return false;
  evaluating_ = true;
  Ref();
  if (where != Where::kExecutor && MayTakeLoop()) {
    if (where == Where::kHere && cost_.IsSmall(frame_.cost_bytes())) return true;
    if (ReserveThread()) return true;
  }
  Submit();
  return false;
}

void Stream::MaybeRead() {
  if (reading_ || half_closed_ || draining_ || IsFull()) return;
  if (queued_bytes_ > runtime_.limits.max_unread_bytes) return;
  if (frames_ >= 2 * runtime_.limits.max_frames_in_flight) return;
  reading_ = true;
  Ref();
  call_.Read(&read_bytes_, &read_);
}

void Stream::MaybeEnd() {
  if (frames_ != 0 || writing_bytes_ != 0) return;
  if (draining_) {
    End(Draining());
  } else if (half_closed_) {
    End(absl::OkStatus());
  }
}

void Stream::End(const absl::Status& status) {
  ended_ = true;
  Ref();
  call_.Finish(ToGrpcStatus(status), &finished_);
}

void Stream::Abandon() {
  queue_.clear();
  ready_.clear();
  Cancel();
}

// --- Frames that wait ---------------------------------------------------------------------------

absl::Status Stream::CheckFlow(size_t size) const {
  const CallLimits& limits = runtime_.limits;
  if (size > limits.max_frame_bytes) return TooManyBytes(limits.max_frame_bytes);
  if (frames_ < limits.max_frames_in_flight) return absl::OkStatus();
  return WithRetryDelay(OverLimit("", limits.max_frames_in_flight, "frames in flight"),
                        kRetryFrameUs);
}

void Stream::Enqueue(const FrameHead& head) {
  last_activity_ = Clock::now();
  ReceivedFrame& frame = queue_.emplace_back();
  frame.arrival.received = last_activity_;
  frame.size = read_bytes_.Length();
  frame.head = head;
  frame.charge = NewCharge(MemoryShare::kMessages);
  frame.refusal = CheckFlow(frame.size);
  if (frame.refusal.ok()) frame.refusal = CheckWork();
  if (frame.refusal.ok()) frame.refusal = frame.charge.Add(frame.size);
  if (frame.refusal.ok()) {
    frame.bytes.Swap(&read_bytes_);
  } else {
    frame.size = kRefusalBytes;
    frame.charge.Set(kRefusalBytes);
  }
  read_bytes_.Clear();
  queued_bytes_ += frame.size;
  ++frames_;
}

bool Stream::TakeFrame() {
  while (!queue_.empty() && !IsFull()) {
    ReceivedFrame frame = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= frame.size;
    if (frame.refusal.ok()) {
      if (IsSuperseded(frame)) frame.arrival.use = FrameUse::kSkip;
      frame_ = std::move(frame);
      return true;
    }
    // In the order of the frames: a refusal waits for the answers before it.
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

// --- The frame that is evaluated ----------------------------------------------------------------

void Stream::EvaluateHere() {
  const Clock::time_point begin = Clock::now();
  const LoopTime time(*this, begin);
  const Clock::time_point end = begin + kTimeSlice;
  bool more = true;
  while (more) {
    if (!Evaluate(thread_reserved_ ? CostEstimate::ReservedTurn() : CostEstimate::Turn())) return;
    TakeAnswer();
    absl::MutexLock lock(&mu_);
    more = Advance(Clock::now() < end ? Where::kHere : Where::kIfReserved);
    if (more) Unref();  // of the evaluation before, which is not the last one
  }
  Unref();
}

void Stream::OnSuspend() {
  ReleaseThread();
  MaybeRead();
}

void Stream::OnResume() {
  // It has not begun, however long ago it was taken.
  if (run_ == nullptr && IsSuperseded(frame_)) frame_.arrival.use = FrameUse::kSkip;
}

void Stream::OnEvaluated() {
  TakeAnswer();
  absl::MutexLock lock(&mu_);
  Advance(Where::kExecutor);
}

void Stream::TakeAnswer() {
  grpc::ByteBuffer answer;
  if (!cancelled_) answer = Encoded(run_->response);
  absl::MutexLock lock(&mu_);
  cost_.Learn(frame_.cost_bytes(), run_->work.work_units);
  unpaid_work_ += 1 + run_->work.work_units;
  runtime_.runs.Return(std::move(run_), answer.Length());
  frame_.Clear();
  evaluating_ = false;
  ReleaseThread();
  if (!cancelled_) Answer(answer);
}

bool Stream::ReserveThread() {
  thread_reserved_ = thread_reserved_ || (runtime_.executor.IsIdle() && loop_.ReserveThread());
  return thread_reserved_;
}

void Stream::ReleaseThread() {
  if (std::exchange(thread_reserved_, false)) loop_.ReleaseThread();
}

void Stream::Answer(const grpc::ByteBuffer& bytes) {
  unread_bytes_ += bytes.Length();
  unread_charge_.Set(unread_bytes_);
  ready_.push_back(bytes);
}

grpc::ByteBuffer Stream::Encoded(v1::StreamResponse& response) {
  if (!std::exchange(sent_limits_, true)) runtime_.EncodeLimits(*response.mutable_limits());
  return Serialize(response);
}

grpc::ByteBuffer Stream::Refusal(uint64_t seq, const absl::Status& status) {
  v1::StreamResponse response;
  response.mutable_answer()->set_seq(seq);
  wire::EncodeStatus(status, *response.mutable_answer()->mutable_status());
  return Encoded(response);
}

// --- Time limits --------------------------------------------------------------------------------

void Stream::CheckIdle() {
  absl::MutexLock lock(&mu_);
  idle_timer_ = 0;
  if (ended_ || cancelled_) return;
  const Clock::time_point due = last_activity_ + runtime_.limits.idle_stream;
  const Clock::time_point now = Clock::now();
  if (now >= due && writing_bytes_ != 0) {
    CutOff(kUnread);
  } else if (now >= due && frames_ == 0) {
    End(absl::AbortedError("the stream was idle; open another one"));
  } else {
    // There was a frame since, or one is evaluated or parked: that is work, not idleness.
    ScheduleIdleCheck(now < due ? due : now + runtime_.limits.idle_stream);
  }
}

void Stream::ScheduleIdleCheck(Clock::time_point when) {
  StartTimer(idle_timer_, when, [this] { CheckIdle(); });
}

void Stream::WatchStall() {
  if (stall_timer_ != 0 || writing_bytes_ == 0 || !IsFull()) return;
  StartTimer(stall_timer_, Clock::now() + runtime_.limits.stalled_stream,
             [this, writes = writes_] { CheckStall(writes); });
}

void Stream::CheckStall(uint64_t writes) {
  absl::MutexLock lock(&mu_);
  stall_timer_ = 0;
  if (ended_ || cancelled_) return;
  // A write that is complete since then shows that the client reads.
  if (writes == writes_ && IsFull()) {
    CutOff(kUnread);
  } else {
    WatchStall();
  }
}

}  // namespace carom::server
