// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_call.h"

#include <algorithm>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "server/base/log.h"
#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

// The most work units, evaluated on the event loop, that `Submit` charges to the call's peer
// (client address or tenant) in the fair queue of the executor. Without this bound, a peer that
// used the idle server alone for a while would wait for long once another peer becomes active.
constexpr uint64_t kMaxUnchargedWork = 1 << 17;
// An estimate of the nanoseconds of a work unit (a visited polygon or edge), if floating-point
// filters decide all predicates.
constexpr int64_t kNsPerUnit = 4;

// Returns the limits of a call's trackers. A call of one frame has no use for memories of eyes.
TrackerTableLimits LimitsOf(const QueryRuntime& runtime, RpcMethod rpc) {
  TrackerTableLimits limits = runtime.evaluator.limits().trackers;
  if (rpc == RpcMethod::kEvaluate) limits.max_eyes = 0;
  return limits;
}

}  // namespace

QueryCall::QueryCall(QueryService& service, EventLoop& loop, QueryRuntime& runtime, RpcMethod rpc)
    : AsyncCall(loop, runtime.calls, rpc, 2),
      service_(service),
      runtime_(runtime),
      session_(LimitsOf(runtime, rpc)) {}

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
    // Acquiring the lock also makes this thread wait until the thread that parked or submitted the
    // frame has released the lock.
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
  // After each time slice, `session_charge_` is lowered to the memory that the session uses, and
  // other calls may since have taken the memory that was released. If this is not the first time
  // slice of the frame, reserves memory again.
  if (!begins && run_->work.frame != nullptr) {
    runtime_.ReserveMemories(*run_->work.frame, session_, session_charge_);
  }
  const Progress progress =
      runtime_.evaluator.Continue(run_->work, session_, run_->scratch, cancelled_, slice);
  if (caller().shares != nullptr) {
    const uint64_t taken =
        std::exchange(charged_work_, run_->work.work_units + run_->work.shadow.units);
    caller().shares->TakeWork(charged_work_ - taken, Clock::now());
  }
  session_charge_.Set(session_.memory_bytes());
  if (progress == Progress::kDone) return true;
  if (progress == Progress::kWaits) runtime_.Park(*run_);
  absl::MutexLock lock(&mu_);
  // Checks `cancelled_` under the lock: `Cancel` runs either before this check, or after the frame
  // is parked (waits for a version of a scene), and then submits the frame to the executor.
  if (cancelled_) return true;
  OnSuspend();
  if (progress == Progress::kWaits) {
    ticket_ = runtime_.gate.Park(run_->work.waits, run_->work.deadline, this);
  } else {
    Submit();
  }
  return false;
}

void QueryCall::RecordAnswer(Clock::time_point now) {
  const FrameWork& work = run_->work;
  Metrics& metrics = shared_.metrics;
  const Counter outcome = !work.status.ok()                       ? Counter::kFramesRefused
                          : frame_.arrival.use == FrameUse::kSkip ? Counter::kFramesSkipped
                                                                  : Counter::kFramesAnswered;
  metrics.Add({{outcome, 1},
               {Counter::kTimeSlices, work.time_slices},
               {Counter::kWorkUnits, work.work_units},
               {Counter::kAnswerRows, work.rows},
               {Counter::kQuietMoves, work.tiers.quiet},
               {Counter::kNearMoves, work.tiers.near},
               {Counter::kRefreshedMoves, work.tiers.refresh},
               {Counter::kColdMoves, work.tiers.cold},
               {Counter::kQuietEyes, work.eye_tiers.quiet},
               {Counter::kRefreshedEyes, work.eye_tiers.refresh},
               {Counter::kColdEyes, work.eye_tiers.cold},
               {Counter::kShadowMoves, work.shadow.moves},
               {Counter::kShadowEyes, work.shadow.eyes},
               {Counter::kShadowDifferences, work.shadow.differences}});
  const Clock::duration elapsed = now - frame_.arrival.received;
  metrics.Measure(Distribution::kFrame, elapsed);
  const Clock::duration slow = runtime_.limits->slow_frame;
  if (slow.count() != 0 && elapsed >= slow) {
    metrics.Add(Counter::kSlowFrames);
    LogSlowFrame(elapsed);
  }
}

std::string QueryCall::SceneOf(const v1::Group& group) const {
  if (group.has_scene()) return group.scene();
  const std::string* const bound = session_.handles.Find(group.scene_handle());
  return bound == nullptr ? "" : *bound;
}

void QueryCall::LogSlowFrame(Clock::duration elapsed) const {
  static LogLimiter limiter;
  uint64_t suppressed = 0;
  if (!IsLogged(LogLevel::kWarning) || !limiter.Allow(suppressed)) return;
  const v1::Frame& frame = run_->request.frame();
  std::set<std::string> kinds;
  for (const v1::Group& group : frame.groups()) {
    std::vector<const google::protobuf::FieldDescriptor*> fields;
    group.GetReflection()->ListFields(group, &fields);
    for (const auto* field : fields) {
      if (field->message_type() != nullptr) kinds.insert(field->name());
    }
  }
  LogLine(LogLevel::kWarning, "slow_frame")
      .With("milliseconds", std::chrono::duration<double, std::milli>(elapsed).count())
      .With("seq", frame.seq())
      .With("groups", static_cast<uint64_t>(frame.groups_size()))
      .WithIfAny("scene", frame.groups_size() == 0 ? "" : SceneOf(frame.groups(0)))
      .With("kinds", absl::StrJoin(kinds, ","))
      .With("work_units", run_->work.work_units)
      .With("tenant", caller().tenant)
      .WithIfAny("traceparent", MetadataOf("traceparent"))
      .With("suppressed", suppressed);
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
