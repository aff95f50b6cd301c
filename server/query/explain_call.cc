// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/explain_call.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/explain.h"
#include "carom/status.h"
#include "carom/svg.h"
#include "carom/tracker_table.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/base/thread_scheduling.h"
#include "server/query/query_service.h"
#include "server/transport/message_io.h"
#include "wire/counts.h"
#include "wire/decode.h"
#include "wire/encode.h"

namespace carom::server {
namespace {

constexpr Clock::duration kLongestExplanation = std::chrono::seconds(10);
// The most rows of the answers of an explanation, which ask the query again and again.
constexpr uint64_t kMostRows = 131072;
// Bounds of the memory that an explanation takes: for itself, as a struct, a message and bytes; for
// a row; and for the index of a vertex of a candidate that is asked alone.
constexpr uint64_t kExplanationBytes = 8 << 20;
constexpr uint64_t kBytesOfRow = 272;
constexpr uint64_t kBytesOfVertex = 32;

absl::Status InvalidRequest(absl::string_view field, absl::string_view description) {
  return Refused(absl::StatusCode::kInvalidArgument, field, description);
}

// Checks the numbers of the request, before anything is decoded.
absl::Status CheckRequest(const v1::ExplainRequest& request, const FrameLimits& limits) {
  if (absl::Status status = CheckSceneName("scene", request.scene()); !status.ok()) return status;
  const v1::Group& group = request.group();
  if (group.has_edits()) return InvalidRequest("group.edits", "must not be given");
  if (group.has_body_set()) return InvalidRequest("group.body_set", "must not be given");
  if (group.has_version_at_tick()) {
    return InvalidRequest("group.version_at_tick", "must not be given");
  }
  if (group.min_version() != 0) return InvalidRequest("group.min_version", "must not be given");
  if (request.max_candidates() > kMaxExplainedCandidates) {
    return InvalidRequest("max_candidates",
                          absl::StrCat("must be in [1, ", kMaxExplainedCandidates, "]"));
  }
  const uint32_t width = request.svg_width();
  if (width != 0 && (width < kMinSvgWidth || width > kMaxSvgWidth)) {
    return InvalidRequest("svg_width",
                          absl::StrCat("must be in [", kMinSvgWidth, ", ", kMaxSvgWidth, "]"));
  }
  wire::QuestionCounts asked = wire::CountQuestions(group);
  for (const v1::TrackerDefinitions& definitions : request.trackers()) {
    asked.shapes += static_cast<uint64_t>(definitions.shapes_size());
  }
  if (asked.queries > limits.max_queries) {
    return OverLimit("group", limits.max_queries, "queries a frame");
  }
  if (asked.shapes > limits.max_queries) {
    return OverLimit("group", limits.max_queries, "shapes a frame, as many as queries");
  }
  return absl::OkStatus();
}

}  // namespace

void ExplainCall::Accept(QueryService& service, EventLoop& loop, QueryRuntime& runtime) {
  // The call begins with two references, for its events `accepted_` and `done_`.
  auto* call = new ExplainCall(service, loop, runtime);
  call->context_.AsyncNotifyWhenDone(&call->done_);
  service.RequestExplain(&call->context_, &call->request_, &call->writer_, &loop.queue(),
                         &loop.queue(), &call->accepted_);
}

void ExplainCall::OnAccepted(bool ok) {
  if (!ok) {
    // There is no call, and the event `done_` never happens.
    Unref();
    return Unref();
  }
  Accept(service_, loop_, runtime_);
  bytes_ = request_;
  request_.Clear();
  absl::Status status = Admit(Role::kReader);
  if (status.ok() && bytes_.size() > runtime_.limits->max_frame_bytes) {
    status = TooManyBytes(runtime_.limits->max_frame_bytes);
  }
  if (status.ok() && caller().shares != nullptr) status = caller().shares->CheckWork(Clock::now());
  charge_ = NewCharge(MemoryShare::kMessages);
  if (status.ok()) status = charge_.Add(bytes_.size());
  if (!status.ok()) return Begin(status);
  CallWhenStarted([this](const absl::Status& started) { Begin(started); });
}

// Queues the call for `Run`, which takes over the reference that the event `accepted_` holds; or
// ends the call with the error `started`.
void ExplainCall::Begin(const absl::Status& started) {
  if (started.ok()) return runtime_.executor.Submit(this);
  bytes_.Clear();
  Finish(started, {});
  Unref();
}

void ExplainCall::Run() {
  grpc::ByteBuffer answer;
  absl::Status status;
  try {
    status = Answer(answer);
  } catch (const std::bad_alloc&) {
    status = OutOfMemory();
  }
  bytes_.Clear();
  charge_.Clear();
  Finish(status, answer);
  Unref();
}

absl::Status ExplainCall::Answer(grpc::ByteBuffer& answer) {
  if (!IsCallerValid()) return CredentialEnded();
  MemoryCharge parsed = charge_.Another();
  absl::Status status = ChargeParsed(bytes_, *v1::ExplainRequest::descriptor(),
                                     runtime_.limits->max_frame_bytes, parsed);
  if (!status.ok()) return status;
  v1::ExplainRequest request;
  if (!Parse(bytes_, request)) return InvalidMessage("carom.v1.ExplainRequest");
  v1::ExplainResponse response;
  status = Explain(request, response);
  if (status.ok()) answer = Serialize(response);
  return status;
}

absl::Status ExplainCall::Explain(const v1::ExplainRequest& request,
                                  v1::ExplainResponse& response) {
  const FrameLimits& limits = runtime_.evaluator.limits();
  absl::Status status = CheckRequest(request, limits);
  if (!status.ok()) return status;
  wire::DecodedGroup decoded;
  if (status = wire::DecodeGroup(request.group(), decoded); !status.ok()) return status;
  wire::DecodedTrackers definitions;
  status = wire::DecodeTrackers(request.trackers(), definitions);
  TrackerTable trackers(limits.trackers);
  if (status.ok()) status = trackers.Define({}, definitions.definitions);
  if (!status.ok()) return status;
  const std::string key = runtime_.evaluator.KeyOf(caller().tenant, request.scene());
  ForkStore& store = runtime_.evaluator.store();
  Scene::Ptr scene = store.Use(key);
  if (request.group().version() != 0) {
    absl::StatusOr<Scene::Ptr> old = store.UseVersion(key, request.group().version(), "scene");
    if (!old.ok()) return old.status();
    scene = *std::move(old);
  }
  if (scene == nullptr) return store.WhyMissing(key, "scene");
  const uint64_t vertices = std::min(scene->vertex_count(), limits.polygons.max_vertices);
  status = charge_.Add(trackers.memory_bytes() + kExplanationBytes + vertices * kBytesOfVertex);
  if (!status.ok()) return status;

  const Clock::time_point begin = slice_begin_ = Clock::now();
  const auto remaining = context_.deadline() - std::chrono::system_clock::now();
  const Clock::time_point end =
      begin + std::min<Clock::duration>(kLongestExplanation,
                                        std::chrono::duration_cast<Clock::duration>(remaining));
  WorkMeter meter([this, end] { return MustStop(end); });
  meter.set_max_rows(std::min(limits.max_answer_rows, kMostRows));
  if (limits.max_work_units != 0) meter.set_max_units(limits.max_work_units);
  meter_ = &meter;
  if (decoded.group.moves.size() != 0) trackers.Begin(decoded.group);
  const ExplainOptions options{
      request.max_candidates() == 0 ? ExplainOptions().max_candidates : request.max_candidates(),
      request.svg_width()};
  const absl::StatusOr<Explanation> explanation =
      carom::Explain(*scene, decoded.group, options, meter);
  TakeWork();
  meter_ = nullptr;
  if (!explanation.ok()) return StopStatus(explanation.status());
  wire::EncodeExplanation(*explanation, response);
  return absl::OkStatus();
}

bool ExplainCall::MustStop(Clock::time_point end) {
  if (cancelled_.load(std::memory_order_relaxed)) return true;
  Clock::time_point now = Clock::now();
  YieldIfSliceIsOver(now);
  if (now - slice_begin_ >= Executor::kSlice) {
    TakeWork();
    runtime_.executor.Pause(this);
    slice_begin_ = now = Clock::now();
  }
  const uint64_t rows = meter_ == nullptr ? 0 : meter_->rows();
  if (rows > charged_rows_) {
    absl::Status status = charge_.Add((rows - charged_rows_) * kBytesOfRow);
    charged_rows_ = rows;
    if (!status.ok()) {
      out_of_memory_ = std::move(status);
      return true;
    }
  }
  return now >= end;
}

absl::Status ExplainCall::StopStatus(const absl::Status& status) const {
  if (!out_of_memory_.ok()) return out_of_memory_;
  if (status.code() != absl::StatusCode::kDeadlineExceeded) return status;
  if (cancelled_) return absl::CancelledError("the call is cancelled");
  return absl::DeadlineExceededError(
      "the explanation takes too long: the call's deadline, 10 seconds, or the work units of a "
      "frame are over");
}

void ExplainCall::TakeWork() {
  if (meter_ == nullptr) return;
  const uint64_t used = meter_->used();
  const uint64_t taken = used - std::exchange(charged_work_, used);
  shared_.metrics.Add({{Counter::kWorkUnits, taken}});
  if (caller().shares != nullptr) caller().shares->TakeWork(taken, Clock::now());
}

void ExplainCall::Finish(const absl::Status& status, const grpc::ByteBuffer& answer) {
  Ended(status);
  Ref();
  if (!status.ok()) return writer_.FinishWithError(ToGrpcStatus(status), &finished_);
  {
    absl::MutexLock lock(&mu_);
    unread_charge_ = NewCharge(MemoryShare::kMessages);
    unread_charge_.Set(answer.Length());
    if (!cancelled_) {
      StartTimer(unread_timer_, Clock::now() + runtime_.limits->stalled_stream,
                 [this] { CheckUnread(); });
    }
  }
  // `Finish` runs without the lock: `OnFinished` may run on another thread before it returns.
  writer_.Finish(answer, grpc::Status::OK, &finished_);
}

void ExplainCall::OnFinished(bool) {
  {
    absl::MutexLock lock(&mu_);
    StopTimer(unread_timer_);
  }
  Unref();
}

void ExplainCall::OnDone(bool) {
  if (context_.IsCancelled()) {
    absl::MutexLock lock(&mu_);
    cancelled_ = true;
    StopTimer(unread_timer_);
  }
  Unref();
}

void ExplainCall::CheckUnread() {
  absl::MutexLock lock(&mu_);
  // `unread_timer_` is 0 if `OnFinished` ran while this thread waited for the lock.
  if (std::exchange(unread_timer_, 0) != 0) Abort(kUnread);
}

}  // namespace carom::server
