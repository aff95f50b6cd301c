// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_call.h"

#include <algorithm>
#include <new>
#include <utility>

#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

// Work done on the event loop, while nobody waited for the executor, that counts against a frame
// that does wait. Without a bound a stream that was alone for a while would wait for long.
constexpr uint64_t kMaxUnpaidWork = 1 << 17;
// About, where filters decide.
constexpr int64_t kNsAUnit = 4;

}  // namespace

QueryCall::QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime)
    : AsyncCall(loop, runtime.calls, 2),
      service_(service),
      runtime_(runtime),
      session_(runtime.evaluator.limits().trackers) {}

absl::Status QueryCall::AdmitQuery() {
  const absl::Status status = Admit(Role::kReader);
  session_.tenant = caller().tenant;
  session_.may_edit = caller().Check(Role::kWriter);
  absl::MutexLock lock(&mu_);
  session_charge_ = NewCharge(MemoryShare::kTrackers);
  unread_charge_ = NewCharge(MemoryShare::kMessages);
  return status;
}

void QueryCall::Discard() {
  Unref();
  Unref();
}

void QueryCall::Run() {
  {
    // Waits for the turn that parked or submitted, which may not have released the lock yet.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
    OnResume();
  }
  const std::function<void()> pause = [this] { runtime_.executor.Pause(this); };
  if (!Evaluate({.pause = &pause})) return;
  OnEvaluated();
  Unref();
}

bool QueryCall::Evaluate(const TurnLimits& turn) {
  try {
    return Continue(turn);
  } catch (const std::bad_alloc&) {
    // How far the session's definitions have come is not known, so the call is over.
    run_ = std::make_unique<FrameRun>();
    run_->work.status = OutOfMemory();
    absl::MutexLock lock(&mu_);
    CutOff("the server is out of memory");
    Cancel();
    return true;
  }
}

bool QueryCall::Continue(const TurnLimits& turn) {
  const bool begins = run_ == nullptr;
  if (begins) {
    run_ = runtime_.Begin(frame_, session_, session_charge_);
    taken_work_ = 0;
  } else if (run_->is_parked) {
    const absl::Status status = runtime_.Resume(*run_, frame_);
    if (!status.ok()) runtime_.evaluator.RefusePending(status, run_->work);
  }
  // What a turn left is another one's meanwhile.
  if (!begins && run_->work.frame != nullptr) {
    runtime_.ReserveMemories(*run_->work.frame, session_, session_charge_);
  }
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_, turn);
  if (caller().shares != nullptr) {
    const uint64_t taken = std::exchange(taken_work_, run_->work.work_units);
    caller().shares->TakeWork(taken_work_ - taken, Clock::now());
  }
  session_charge_.Set(session_.memory_bytes());
  if (progress == Progress::kDone) return true;
  if (progress == Progress::kWaits) runtime_.Park(*run_);
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
  const uint64_t unpaid = std::min(std::exchange(unpaid_work_, 0), kMaxUnpaidWork);
  runtime_.executor.Submit(this, kNsAUnit * static_cast<int64_t>(unpaid));
}

void QueryCall::Cancel() {
  cancelled_ = true;
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

}  // namespace carom::server
