// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/evaluate_call.h"

#include "server/base/rpc_status.h"
#include "server/query/query_service.h"
#include "server/transport/message_io.h"

namespace carom::server {

void EvaluateCall::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  // Owns itself from here on, by the references of the two events.
  auto* call = new EvaluateCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestEvaluate(&call->context_, &call->request_, &call->writer_, &loop.queue(),
                          &loop.queue(), &call->accepted_);
}

void EvaluateCall::OnAccepted(bool ok) {
  if (!ok) return Discard();
  Accept(service_, loop_, runtime_);
  frame_.bytes = request_;
  request_.Clear();
  frame_.size = frame_.bytes.size();
  absl::Status status = AdmitQuery();
  if (status.ok() && frame_.size > runtime_.limits.max_frame_bytes) {
    status = TooManyBytes(runtime_.limits.max_frame_bytes);
  }
  if (status.ok()) status = CheckWork();
  frame_.charge = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = frame_.charge.Add(frame_.size);
  if (!status.ok()) return Begin(status);
  OnceStarted([this](const absl::Status& started) { Begin(started); });
}

// With the reference of `accepted_`.
void EvaluateCall::Begin(const absl::Status& started) {
  if (!started.ok()) {
    frame_.Clear();  // the client may take its time
    Fail(started);
    return Unref();
  }
  frame_.arrival.received = Clock::now();
  // What others make of the call's end comes as an event, for which all threads may be too busy.
  const auto left = context_.deadline() - std::chrono::system_clock::now();
  if (left < std::chrono::hours(24)) {
    frame_.arrival.call_deadline =
        frame_.arrival.received + std::chrono::duration_cast<Clock::duration>(left);
  }
  // Scanned only once it is accepted: a refusal costs the server as little as possible.
  frame_.head = PeekFrame(frame_.bytes);
  // The reference becomes that of the evaluation.
  if (!CostEstimate().IsSmall(frame_.cost_bytes()) || !MayTakeLoop(frame_.arrival.received)) {
    absl::MutexLock lock(&mu_);
    return Submit();
  }
  const LoopTime time(*this, frame_.arrival.received);
  if (!Evaluate(CostEstimate::Turn())) return;
  OnEvaluated();
  Unref();
}

void EvaluateCall::OnEvaluated() {
  size_t answer_bytes = 0;  // of no answer
  if (!run_->work.status.ok()) {
    Fail(run_->work.status);
  } else if (cancelled_) {
    // Nobody reads it, but gRPC wants every call to be finished.
    Fail(absl::CancelledError("the call is cancelled"));
  } else if (Clock::now() >= frame_.arrival.call_deadline) {
    // What was not answered by then is an error of its group; a call that is late is none of those.
    Fail(absl::DeadlineExceededError("the call's deadline has passed"));
  } else {
    const grpc::ByteBuffer answer = run_->Serialize().ToByteBuffer();
    answer_bytes = answer.Length();
    Answer(answer);
  }
  runtime_.runs.Return(std::move(run_), answer_bytes);
  frame_.Clear();
}

void EvaluateCall::Answer(const grpc::ByteBuffer& answer) {
  Ref();
  {
    absl::MutexLock lock(&mu_);
    unread_charge_.Set(answer.Length());
    // Set before `OnFinished`, on another thread, can stop it: that comes after `Finish`.
    if (!cancelled_) {
      const bool is_large = answer.Length() > runtime_.limits.max_unread_bytes;
      StartTimer(
          unread_timer_,
          Clock::now() + (is_large ? runtime_.limits.stalled_stream : runtime_.limits.idle_stream),
          [this] { CheckUnread(); });
    }
  }
  // Without the lock, for which `OnFinished` would keep a thread of the event loop waiting.
  writer_.Finish(answer, grpc::Status::OK, &finished_);
}

void EvaluateCall::Fail(const absl::Status& status) {
  Ref();
  writer_.FinishWithError(ToGrpcStatus(status), &finished_);
}

void EvaluateCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  Unref();
}

void EvaluateCall::OnDone(bool) {
  if (context_.IsCancelled()) {
    absl::MutexLock lock(&mu_);
    Cancel();
    StopTimer(unread_timer_);
  }
  Unref();
}

void EvaluateCall::CheckUnread() {
  absl::MutexLock lock(&mu_);
  // `OnFinished` may have come while the timer waited for the lock.
  if (std::exchange(unread_timer_, 0) != 0) CutOff(kUnread);
}

}  // namespace carom::server
