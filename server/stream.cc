// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/stream.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/message_io.h"
#include "server/query_service.h"
#include "server/rpc_status.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

// How long a stream may keep a thread of the event loop for small frames that are there already.
constexpr Clock::duration kTurn = std::chrono::microseconds(500);
// What a frame that is refused counts until its refusal is written.
constexpr size_t kRefusalBytes = 256;
// After how long a frame over the frames in flight is worth another try.
constexpr uint64_t kRetryFrameUs = 10000;
// Work done on the loop, while nobody waited, that counts against a frame that does wait.
constexpr uint64_t kMaxDebt = 1 << 17;

}  // namespace

void Stream::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  auto* stream = new Stream(service, loop, runtime);
  stream->context_.AsyncNotifyWhenDone(&stream->done_);
  service.RequestStream(&stream->context_, &stream->call_, &loop.queue(), &loop.queue(),
                        &stream->accepted_);
}

Stream::Stream(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
    : loop_user_(loop),
      service_(service),
      loop_(loop),
      runtime_(runtime),
      session_(runtime.evaluator.limits().trackers) {}

void Stream::OnAccepted(bool ok) {
  if (!ok) {
    Unref();  // there is no call, so `done_` never happens
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  const size_t streams = runtime_.streams.fetch_add(1, std::memory_order_relaxed);
  registered_ = true;
  const bool accepted = runtime_.calls.Add(this);
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = Clock::now();
    if (!accepted) draining_ = true;
    if (cancelled_ || ended_) {
      // It went as it came, or the server drains.
    } else if (streams >= runtime_.limits.max_streams) {
      End(TooManyStreams(runtime_.limits.max_streams));
    } else {
      ScheduleIdleCheck(last_activity_ + runtime_.limits.idle_stream);
      if (accepted) {
        writing_bytes_ = unread_bytes_ = 1;
        Ref();
        call_.SendInitialMetadata(&greeted_);
      }
      Advance(Where::kElsewhere);
    }
  }
  Unref();
}

void Stream::OnGreeted(bool ok) { OnWritten(ok); }

void Stream::OnRead(bool ok) {
  const FrameHead head = ok ? PeekFrame(read_bytes_) : FrameHead();
  bool run = false;
  {
    absl::MutexLock lock(&mu_);
    reading_ = false;
    if (!ok || draining_ || ended_ || cancelled_) {
      half_closed_ |= !ok;
      read_bytes_.Clear();
    } else {
      Enqueue(head);
    }
    run = Advance(Where::kHere);
  }
  if (run) RunHere();
  Unref();
}

void Stream::OnWritten(bool ok) {
  bool run = false;
  {
    absl::MutexLock lock(&mu_);
    last_activity_ = Clock::now();
    unread_bytes_ -= std::exchange(writing_bytes_, 0);
    ++writes_;
    if (!ok) Break();
    run = Advance(Where::kHere);
  }
  if (run) RunHere();
  Unref();
}

void Stream::OnDone(bool) {
  {
    absl::MutexLock lock(&mu_);
    for (Timer::Id* timer : {&idle_timer_, &stall_timer_}) {
      if (*timer != 0 && runtime_.timer.Cancel(std::exchange(*timer, 0))) {
        references_.fetch_sub(1, std::memory_order_relaxed);  // that of `done_` is still there
      }
    }
    if (context_.IsCancelled()) Break();
  }
  Unref();
}

void Stream::OnFinished(bool) { Unref(); }

void Stream::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  Advance(Where::kElsewhere);
}

void Stream::Run() {
  {
    // Waits for the run that parked, which may still hold the lock.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
    // It has not begun, however long ago it was taken.
    if (run_ == nullptr && IsSuperseded(frame_)) frame_.use = FrameUse::kSkip;
  }
  if (!Evaluate(Where::kElsewhere)) return;  // the task and its reference go on
  {
    absl::MutexLock lock(&mu_);
    Advance(Where::kElsewhere);
  }
  Unref();
}

bool Stream::HoldThread() {
  holds_thread_ = holds_thread_ || (runtime_.executor.IsIdle() && loop_.HoldThread());
  return holds_thread_;
}

void Stream::ReleaseThread() {
  if (std::exchange(holds_thread_, false)) loop_.ReleaseThread();
}

void Stream::Leave() {
  ReleaseThread();
  MaybeRead();
}

void Stream::RunHere() {
  const Clock::time_point end = Clock::now() + kTurn;
  bool more = true;
  while (more) {
    if (!Evaluate(Where::kHere)) return;
    absl::MutexLock lock(&mu_);
    more = Advance(Clock::now() < end ? Where::kHere : Where::kHeld);
    if (more) Unref();  // of the evaluation before, which is not the last one
  }
  Unref();
}

bool Stream::Evaluate(Where where) {
  if (run_ == nullptr) {
    run_ = runtime_.Begin(frame_.bytes, frame_.head, frame_.received, frame_.use, session_);
    frame_.bytes.Clear();
  }
  const uint64_t turn =
      where == Where::kHere && !holds_thread_ ? CostEstimate::kTurnUnits : FrameEvaluator::kNoTurn;
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_, turn);
  grpc::ByteBuffer answer;
  if (progress == Progress::kDone && !cancelled_) answer = Encoded(run_->response);
  absl::MutexLock lock(&mu_);
  if (progress != Progress::kDone && !cancelled_) {
    Leave();
    if (progress == Progress::kWaits) {
      ticket_ = runtime_.gate.Park(run_->work.waits, run_->work.deadline, this);
    } else {
      Submit();
    }
    return false;
  }
  cost_.Learn(frame_.size, run_->work.work_units);
  unpaid_work_ += 1 + run_->work.work_units;
  runtime_.runs.Return(std::move(run_), answer.Length());
  evaluating_ = false;
  ReleaseThread();
  if (!cancelled_) Answer(answer);
  return true;
}

bool Stream::Advance(Where where) {
  if (ended_ || cancelled_) return false;
  MaybeWrite();
  const bool run = MaybeEvaluate(where);
  MaybeWrite();  // refusals
  // A read that comes after the write leaves the window's update to it: one call of the system for
  // a small frame, not two. A frame that is parked instead reads on by itself.
  if (!run || holds_thread_) MaybeRead();
  WatchStall();
  if (frames_ == 0 && writing_bytes_ == 0) {
    if (draining_) {
      End(Draining());
    } else if (half_closed_) {
      End(absl::OkStatus());
    }
  }
  return run;
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
  if (where == Where::kHere && cost_.IsSmall(frame_.size)) return true;
  if (where != Where::kElsewhere && HoldThread()) return true;
  Submit();
  return false;
}

void Stream::Submit() {
  runtime_.executor.Submit(this, std::min(std::exchange(unpaid_work_, 0), kMaxDebt));
}

void Stream::MaybeRead() {
  if (reading_ || half_closed_ || draining_ || IsFull()) return;
  if (queued_bytes_ > runtime_.limits.max_unread_bytes) return;
  reading_ = true;
  Ref();
  call_.Read(&read_bytes_, &read_);
}

absl::Status Stream::CheckFlow(size_t size) const {
  const CallLimits& limits = runtime_.limits;
  if (size > limits.max_frame_bytes) return TooManyBytes(limits.max_frame_bytes);
  if (frames_ < limits.max_frames_in_flight) return absl::OkStatus();
  return WithRetryDelay(
      Refused(absl::StatusCode::kResourceExhausted, "",
              absl::StrCat("must be at most ", limits.max_frames_in_flight, " (frames in flight)")),
      kRetryFrameUs);
}

void Stream::Enqueue(const FrameHead& head) {
  last_activity_ = Clock::now();
  ReadFrame& frame = queue_.emplace_back();
  frame.received = last_activity_;
  frame.size = read_bytes_.Length();
  frame.head = head;
  frame.refusal = CheckFlow(frame.size);
  if (frame.refusal.ok()) {
    frame.bytes.Swap(&read_bytes_);
  } else {
    frame.size = kRefusalBytes;
  }
  read_bytes_.Clear();
  queued_bytes_ += frame.size;
  ++frames_;
}

bool Stream::TakeFrame() {
  while (!queue_.empty() && !IsFull()) {
    ReadFrame frame = std::move(queue_.front());
    queue_.pop_front();
    queued_bytes_ -= frame.size;
    if (frame.refusal.ok()) {
      if (IsSuperseded(frame)) frame.use = FrameUse::kSkip;
      frame_ = std::move(frame);
      return true;
    }
    Answer(Refusal(frame.head.seq, frame.refusal));
  }
  return false;
}

bool Stream::IsSuperseded(const ReadFrame& frame) const {
  const auto supersedes = [](const ReadFrame& other) {
    return other.refusal.ok() && other.head.supersede;
  };
  return !queue_.empty() && supersedes(frame) &&
         std::any_of(queue_.begin(), queue_.end(), supersedes);
}

void Stream::Answer(const grpc::ByteBuffer& bytes) {
  unread_bytes_ += bytes.Length();
  ready_.push_back(bytes);
}

grpc::ByteBuffer Stream::Encoded(v1::StreamResponse& response) {
  if (!std::exchange(limits_told_, true)) runtime_.EncodeLimits(*response.mutable_limits());
  return Serialize(response);
}

grpc::ByteBuffer Stream::Refusal(uint64_t seq, const absl::Status& status) {
  v1::StreamResponse response;
  response.mutable_answer()->set_seq(seq);
  wire::EncodeStatus(status, *response.mutable_answer()->mutable_status());
  return Encoded(response);
}

void Stream::End(const absl::Status& status) {
  ended_ = true;
  Ref();
  call_.Finish(ToGrpcStatus(status), &finished_);
}

void Stream::Break() {
  cancelled_ = true;
  queue_.clear();
  ready_.clear();
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

void Stream::CheckIdle() {
  {
    absl::MutexLock lock(&mu_);
    idle_timer_ = 0;
    if (!ended_ && !cancelled_) {
      const Clock::time_point due = last_activity_ + runtime_.limits.idle_stream;
      const Clock::time_point now = Clock::now();
      if (now >= due && writing_bytes_ != 0) {
        Cut();
      } else if (now >= due && frames_ == 0) {
        End(absl::AbortedError("the stream was idle; open another one"));
      } else {
        ScheduleIdleCheck(now < due ? due : now + runtime_.limits.idle_stream);
      }
    }
  }
  Unref();
}

void Stream::ScheduleIdleCheck(Clock::time_point when) {
  Ref();
  idle_timer_ = runtime_.timer.Schedule(when, [this] { CheckIdle(); });
}

void Stream::WatchStall() {
  if (stall_timer_ != 0 || writing_bytes_ == 0 || !IsFull()) return;
  Ref();
  stall_timer_ = runtime_.timer.Schedule(Clock::now() + runtime_.limits.stalled_stream,
                                         [this, writes = writes_] { CheckStall(writes); });
}

void Stream::CheckStall(uint64_t writes) {
  {
    absl::MutexLock lock(&mu_);
    stall_timer_ = 0;
    if (!ended_ && !cancelled_) {
      if (writes == writes_ && IsFull()) {
        Cut();
      } else {
        WatchStall();
      }
    }
  }
  Unref();
}

void Stream::Cut() {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED,
                               "the client does not take its answers", nullptr);
}

void Stream::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (registered_) {
    runtime_.streams.fetch_sub(1, std::memory_order_relaxed);
    runtime_.calls.Remove(this);
  }
  delete this;
}

}  // namespace carom::server
