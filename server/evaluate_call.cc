// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/evaluate_call.h"

#include <utility>

#include "server/message_io.h"
#include "server/query_service.h"
#include "server/rpc_status.h"

namespace carom::server {

void EvaluateCall::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  auto* call = new EvaluateCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestEvaluate(&call->context_, &call->request_, &call->writer_, &loop.queue(),
                          &loop.queue(), &call->accepted_);
}

EvaluateCall::EvaluateCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
    : loop_user_(loop),
      service_(service),
      loop_(loop),
      runtime_(runtime),
      session_(runtime.evaluator.limits().trackers) {}

void EvaluateCall::OnAccepted(bool ok) {
  if (!ok) {
    Unref();  // there is no call, so `done_` never happens
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  received_ = Clock::now();
  registered_ = runtime_.calls.Add(this);
  counted_ = true;
  const size_t others = runtime_.streams.fetch_add(1, std::memory_order_relaxed);
  const size_t bytes = request_.Length();
  if (!registered_) {
    Finish(Draining());
  } else if (others >= runtime_.limits.max_streams) {
    Finish(TooManyStreams(runtime_.limits.max_streams));
  } else if (bytes > runtime_.limits.max_frame_bytes) {
    Finish(TooManyBytes(runtime_.limits.max_frame_bytes));
  } else if (CostEstimate().IsSmall(bytes)) {
    Evaluate(true);
  } else {
    Ref();
    runtime_.executor.Submit(this);
  }
  Unref();
}

void EvaluateCall::Run() {
  {
    // Waits for the run that parked, which may still hold the lock.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
  }
  Evaluate(false);
  Unref();
}

void EvaluateCall::Evaluate(bool is_here) {
  if (run_ == nullptr) {
    run_ = runtime_.Begin(request_, PeekFrame(request_), received_, FrameUse::kAnswer, session_);
    request_.Clear();
  }
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_,
                                  is_here ? CostEstimate::kTurnUnits : FrameEvaluator::kNoTurn);
  if (progress == Progress::kYields) {
    Ref();
    return runtime_.executor.Submit(this);
  }
  if (progress == Progress::kWaits) {
    absl::MutexLock lock(&mu_);
    if (!cancelled_) {
      Ref();
      ticket_ = runtime_.gate.Park(run_->work.waits, run_->work.deadline, this);
      return;
    }
  }
  size_t answer_bytes = 0;
  if (!cancelled_ && run_->work.status.ok()) {
    Ref();
    const grpc::ByteBuffer answer = Serialize(run_->response);
    answer_bytes = answer.Length();
    writer_.Finish(answer, grpc::Status::OK, &finished_);
  } else {
    Finish(run_->work.status.ok() ? absl::CancelledError("the call is cancelled")
                                  : run_->work.status);
  }
  runtime_.runs.Return(std::move(run_), answer_bytes);
}

void EvaluateCall::Finish(const absl::Status& status) {
  Ref();
  writer_.FinishWithError(ToGrpcStatus(status), &finished_);
}

void EvaluateCall::OnDone(bool) {
  if (context_.IsCancelled()) {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
    if (ticket_ != 0) runtime_.gate.Wake(ticket_);
  }
  Unref();
}

void EvaluateCall::OnFinished(bool) { Unref(); }

void EvaluateCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (counted_) runtime_.streams.fetch_sub(1, std::memory_order_relaxed);
  if (registered_) runtime_.calls.Remove(this);
  delete this;
}

}  // namespace carom::server
