// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_call.h"

#include <algorithm>
#include <new>
#include <utility>

#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

// An upper bound of the work units, evaluated on the event loop, that `Submit` charges to the
// stream in the fair queue of the executor. Without a bound, a stream that used the server alone
// for a while would wait for long when another stream becomes active.
constexpr uint64_t kMaxUnchargedWork = 1 << 17;
// An estimate of the nanoseconds of a work unit (a visited polygon or edge), if floating-point
// filters decide all predicates.
constexpr int64_t kNsPerUnit = 4;

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
    // To acquire the lock, this thread also waits for the thread that parked or submitted the frame
    // and may still hold the lock.
    absl::MutexLock lock(&mu_);
    ticket_ = 0;
    OnResume();
  }
  const std::function<void()> pause = [this] { runtime_.executor.Pause(this); };
  if (!Evaluate({.pause = &pause})) return;
  OnEvaluated();
  Unref();
}

bool QueryCall::Evaluate(const SliceLimits& slice) {
  try {
    return Continue(slice);
  } catch (const std::bad_alloc&) {
    // The allocation may have failed while the session defined scene handles or trackers, so the
    // state of the session is unknown and the call must end.
    run_ = std::make_unique<FrameRun>();
    run_->work.status = OutOfMemory();
    absl::MutexLock lock(&mu_);
    Abort("the server is out of memory");
    Cancel();
    return true;
  }
}

bool QueryCall::Continue(const SliceLimits& slice) {
  const bool begins = run_ == nullptr;
  if (begins) {
    run_ = runtime_.Begin(frame_, session_, session_charge_);
    charged_work_ = 0;
  } else if (run_->is_parked) {
    const absl::Status status = runtime_.Resume(*run_, frame_);
    if (!status.ok()) runtime_.evaluator.RefusePending(status, run_->work);
  }
  // After each time slice, `session_charge_` is lowered to the used memory, and another frame may
  // have taken the rest since. If this is not the first time slice of the frame, reserves memory
  // again.
  if (!begins && run_->work.frame != nullptr) {
    runtime_.ReserveMemories(*run_->work.frame, session_, session_charge_);
  }
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_, slice);
  if (caller().shares != nullptr) {
    const uint64_t taken = std::exchange(charged_work_, run_->work.work_units);
    caller().shares->TakeWork(charged_work_ - taken, Clock::now());
  }
  session_charge_.Set(session_.memory_bytes());
  if (progress == Progress::kDone) return true;
  if (progress == Progress::kWaits) runtime_.Park(*run_);
  absl::MutexLock lock(&mu_);
  // Checks `cancelled_` under the lock: a cancellation either comes before this check, or comes
  // after the frame is parked and then wakes it.
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
  const uint64_t uncharged = std::min(std::exchange(uncharged_work_, 0), kMaxUnchargedWork);
  runtime_.executor.Submit(this, kNsPerUnit * static_cast<int64_t>(uncharged));
}

void QueryCall::Cancel() {
  cancelled_ = true;
  if (ticket_ != 0) runtime_.gate.Wake(ticket_);
}

}  // namespace carom::server
