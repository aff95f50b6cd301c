// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/rpc_status.h"

namespace carom::server {
namespace {

// Messages are kept for reuse up to this size and number; larger ones are freed.
constexpr size_t kModestMessageBytes = 256 << 10;
constexpr size_t kSpareMessages = 2;

template <typename Message>
std::unique_ptr<Message> TakeOrMake(std::vector<std::unique_ptr<Message>>& spare) {
  if (spare.empty()) return std::make_unique<Message>();
  std::unique_ptr<Message> message = std::move(spare.back());
  spare.pop_back();
  return message;
}

}  // namespace

Stream* Stream::Start(grpc::CallbackServerContext& context, QueryRuntime& runtime) {
  auto* stream = new Stream(context, runtime);
  // The call's end may come at once, and with it the end of the last reference.
  stream->Ref();
  const bool accepted = runtime.calls.Add(stream);
  {
    absl::MutexLock lock(&stream->mu_);
    if (accepted) {
      stream->ScheduleIdleCheck(stream->last_activity_ + runtime.idle_stream);
    } else {
      stream->draining_ = true;
    }
    stream->Advance();
  }
  stream->Unref();
  return stream;
}

Stream::Stream(grpc::CallbackServerContext& context, QueryRuntime& runtime)
    : context_(context),
      runtime_(runtime),
      session_(runtime.evaluator.limits().trackers),
      last_activity_(Clock::now()) {}

void Stream::OnReadDone(bool ok) {
  absl::MutexLock lock(&mu_);
  if (!ok || draining_ || ended_) {
    reading_.reset();
    half_closed_ |= !ok;
  } else {
    last_activity_ = Clock::now();
    queue_.push_back({std::move(reading_), last_activity_});
    ++frames_;
  }
  Advance();
}

void Stream::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mu_);
  last_activity_ = Clock::now();
  Recycle(std::move(writing_));
  --frames_;
  if (!ok) Break();
  Advance();
}

void Stream::OnCancel() {
  absl::MutexLock lock(&mu_);
  Break();
  Advance();
}

void Stream::OnDone() {
  {
    absl::MutexLock lock(&mu_);
    if (idle_timer_ != 0 && runtime_.timer.Cancel(idle_timer_)) {
      references_.fetch_sub(1, std::memory_order_relaxed);  // the call's is still there
    }
  }
  Unref();
}

void Stream::Drain() {
  absl::MutexLock lock(&mu_);
  draining_ = true;
  Advance();
}

void Stream::Run() {
  {
    // Waits for the run that parked, which may still hold the lock.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
  }
  if (!begun_) {
    runtime_.evaluator.Begin(frame_.request->frame(), frame_.received, session_,
                             *answer_->mutable_answer(), work_);
    begun_ = true;
  }
  const bool done = runtime_.Continue(work_, session_, cancelled_);
  {
    absl::MutexLock lock(&mu_);
    if (!done && !cancelled_) {
      ticket_ = runtime_.gate.Park(work_.waits, work_.deadline, this);
      return;  // the task and its reference go on
    }
    evaluating_ = begun_ = false;
    Recycle(std::move(frame_.request));
    ready_ = std::move(answer_);
    Advance();
  }
  Unref();
}

void Stream::Advance() {
  if (ended_) return;
  if (cancelled_) {
    if (!evaluating_) End(absl::CancelledError("the call is cancelled"));
    return;
  }
  MaybeWrite();
  MaybeEvaluate();
  MaybeRead();
  if (frames_ != 0) return;
  if (draining_) {
    End(Draining());
  } else if (half_closed_) {
    End(absl::OkStatus());
  }
}

void Stream::MaybeRead() {
  if (reading_ != nullptr || half_closed_ || draining_) return;
  if (frames_ >= runtime_.max_frames_in_flight) return;
  reading_ = TakeOrMake(spare_requests_);
  StartRead(reading_.get());
}

void Stream::MaybeEvaluate() {
  if (evaluating_ || ready_ != nullptr || queue_.empty()) return;
  evaluating_ = true;
  frame_ = std::move(queue_.front());
  queue_.pop_front();
  answer_ = TakeOrMake(spare_responses_);
  Ref();
  runtime_.executor.Submit(this);
}

void Stream::MaybeWrite() {
  if (ready_ == nullptr || writing_ != nullptr) return;
  writing_ = std::move(ready_);
  StartWrite(writing_.get());
}

void Stream::End(const absl::Status& status) {
  ended_ = true;
  Finish(ToGrpcStatus(status));
}

void Stream::Break() {
  cancelled_ = true;
  queue_.clear();
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

void Stream::CheckIdle() {
  {
    absl::MutexLock lock(&mu_);
    idle_timer_ = 0;
    if (!ended_) {
      const Clock::time_point due = last_activity_ + runtime_.idle_stream;
      const Clock::time_point now = Clock::now();
      if (now < due) {
        ScheduleIdleCheck(due);
      } else if (frames_ == 0) {
        End(absl::AbortedError("the stream was idle; open another one"));
      } else if (writing_ != nullptr) {
        context_.TryCancel();
      } else {
        ScheduleIdleCheck(now + runtime_.idle_stream);
      }
    }
  }
  Unref();
}

void Stream::ScheduleIdleCheck(Clock::time_point when) {
  Ref();
  idle_timer_ = runtime_.timer.Schedule(when, [this] { CheckIdle(); });
}

void Stream::Recycle(std::unique_ptr<v1::StreamRequest> request) {
  if (spare_requests_.size() >= kSpareMessages) return;
  if (request->ByteSizeLong() > kModestMessageBytes) return;
  spare_requests_.push_back(std::move(request));
}

void Stream::Recycle(std::unique_ptr<v1::StreamResponse> response) {
  if (spare_responses_.size() >= kSpareMessages) return;
  // It was written, so its size is known.
  if (static_cast<size_t>(response->GetCachedSize()) > kModestMessageBytes) return;
  spare_responses_.push_back(std::move(response));
}

void Stream::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  runtime_.calls.Remove(this);
  delete this;
}

}  // namespace carom::server
