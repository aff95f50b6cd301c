// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query_call.h"

#include <grpc/grpc.h>

#include <algorithm>

#include "server/rpc_status.h"

namespace carom::server {
namespace {

// Work done on the event loop, while nobody waited for the executor, that counts against a frame
// that does wait. Without a bound a stream that was alone for a while would wait for long.
constexpr uint64_t kMaxUnpaidWork = 1 << 17;

}  // namespace

QueryCall::QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
    : loop_user_(loop),
      service_(service),
      loop_(loop),
      runtime_(runtime),
      session_(runtime.evaluator.limits().trackers) {}

void QueryCall::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (admitted_) {
    runtime_.streams.fetch_sub(1, std::memory_order_relaxed);
    // Before the destructors: until here a drain may call the subclass.
    runtime_.calls.Remove(this);
  }
  delete this;
}

void QueryCall::Discard() {
  Unref();
  Unref();
}

absl::Status QueryCall::Admit() {
  admitted_ = true;
  const size_t others = runtime_.streams.fetch_add(1, std::memory_order_relaxed);
  // From here on `Drain` may be called, on another thread.
  if (!runtime_.calls.Add(this)) return Draining();
  const size_t limit = runtime_.limits.max_streams;
  return others < limit ? absl::OkStatus() : TooManyStreams(limit);
}

void QueryCall::Run() {
  {
    // Waits for the turn that parked or submitted, which may not have released the lock yet.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
    OnResume();
  }
  if (!Evaluate(FrameEvaluator::kNoTurn)) return;
  OnEvaluated();
  Unref();
}

bool QueryCall::Evaluate(uint64_t turn_units) {
  if (run_ == nullptr) run_ = runtime_.Begin(frame_, session_);
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_, turn_units);
  if (progress == Progress::kDone) return true;
  absl::MutexLock lock(&mu_);
  // Checked under the lock: a cancellation comes before, and is seen here, or after, and wakes.
  if (cancelled_) return true;
  OnSuspend();
  if (progress == Progress::kWaits) {
    ticket_ = runtime_.gate.Park(run_->work.waits, run_->work.deadline, this);
  } else {
    Submit();
  }
  return false;
}

void QueryCall::Submit() {
  runtime_.executor.Submit(this, std::min(std::exchange(unpaid_work_, 0), kMaxUnpaidWork));
}

void QueryCall::Cancel() {
  cancelled_ = true;
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

void QueryCall::CutOff() {
  grpc_call_cancel_with_status(context_.c_call(), GRPC_STATUS_RESOURCE_EXHAUSTED,
                               "the client does not read its answers", nullptr);
}

void QueryCall::StopTimer(Timer::Id& timer) {
  if (timer != 0 && runtime_.timer.Cancel(std::exchange(timer, 0))) {
    references_.fetch_sub(1, std::memory_order_relaxed);  // not the last one
  }
}

}  // namespace carom::server
