// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/evaluate_call.h"

#include "server/base/rpc_status.h"
#include "server/query/query_service.h"
#include "server/transport/message_io.h"

namespace carom::server {

void EvaluateCall::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  // The call begins with two references, for its events `accepted_` and `done_`; the last `Unref`
  // deletes the call.
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
  if (status.ok() && frame_.size > runtime_.limits->max_frame_bytes) {
    status = TooManyBytes(runtime_.limits->max_frame_bytes);
  }
  if (status.ok()) status = CheckWork();
  frame_.charge = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = frame_.charge.Add(frame_.size);
  if (!status.ok()) return Begin(status);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Evaluates the frame (the request's batch of queries) on this thread of the event loop, if the
// frame is small and the call's peer (client address or tenant) may use more of the loop's time;
// else submits the frame to the executor. If `started` is an error, ends the call with it. `Begin`
// takes over the reference to the call that the event `accepted_` holds.
void EvaluateCall::Begin(const absl::Status& started) {
  if (!started.ok()) {
    frame_.Clear();  // frees the request: the client may read the error late
    Fail(started);
    return Unref();
  }
  frame_.arrival.received = Clock::now();
  // The evaluation checks the deadline itself: gRPC's event `done_` also happens when the deadline
  // passes, but late if all threads of the event loop are busy.
  const auto remaining = context_.deadline() - std::chrono::system_clock::now();
  if (remaining < std::chrono::hours(24)) {
    frame_.arrival.call_deadline =
        frame_.arrival.received + std::chrono::duration_cast<Clock::duration>(remaining);
  }
  // Scans the frame only after the call has passed the limits of calls (`started` is OK), so that a
  // refused call costs the server little.
  frame_.head = PeekFrame(frame_.bytes);
  // The evaluation takes over the reference to the call that the event `accepted_` holds.
  if (!CostEstimate().IsSmall(frame_.cost_bytes()) || !MayTakeLoop(frame_.arrival.received)) {
    absl::MutexLock lock(&mu_);
    return Submit();
  }
  const LoopTime time(*this, frame_.arrival.received);
  if (!Evaluate(CostEstimate::Slice())) return;
  OnEvaluated();
  Unref();
}

void EvaluateCall::OnEvaluated() {
  size_t answer_bytes = 0;  // 0: the call has no answer
  if (!run_->work.status.ok()) {
    Fail(run_->work.status);
  } else if (cancelled_) {
    // gRPC requires that every call is finished, although a cancelled call has no reader.
    Fail(absl::CancelledError("the call is cancelled"));
  } else if (Clock::now() >= frame_.arrival.call_deadline) {
    // After its deadline the call fails as a whole. The answer would be misleading: for the groups
    // of queries that the deadline stopped, it has errors that name the frame's time budget, not
    // the deadline.
    Fail(absl::DeadlineExceededError("the call's deadline has passed"));
  } else {
    const grpc::ByteBuffer answer = Serialize(run_->response);
    RecordAnswer(Clock::now());
    answer_bytes = answer.Length();
    Answer(answer);
  }
  runtime_.runs.Return(std::move(run_), answer_bytes);
  frame_.Clear();
}

void EvaluateCall::Answer(const grpc::ByteBuffer& answer) {
  Ended(absl::OkStatus());
  Ref();
  {
    absl::MutexLock lock(&mu_);
    unread_charge_.Set(answer.Length());
    // The timer starts before `Finish`, so that `OnFinished`, which may run on another thread, can
    // stop it.
    if (!cancelled_) {
      const bool is_large = answer.Length() > runtime_.limits->max_unread_bytes;
      StartTimer(unread_timer_,
                 Clock::now() +
                     (is_large ? runtime_.limits->stalled_stream : runtime_.limits->idle_stream),
                 [this] { CheckUnread(); });
    }
  }
  // `Finish` runs without the lock: `OnFinished` may run on another thread before `Finish` returns,
  // and would wait for the lock and so block a thread of the event loop.
  writer_.Finish(answer, grpc::Status::OK, &finished_);
}

void EvaluateCall::Fail(const absl::Status& status) {
  Ended(status);
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
  // `unread_timer_` is 0 if `OnFinished` ran while this thread waited for the lock.
  if (std::exchange(unread_timer_, 0) != 0) Abort(kUnread);
}

}  // namespace carom::server
