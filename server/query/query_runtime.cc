// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/query_runtime.h"

#include <algorithm>
#include <utility>

#include "server/base/rpc_status.h"

namespace carom::server {
namespace {

constexpr size_t kMaxCachedRuns = 16;
// `kMaxRetainedBytes`: the most bytes that the messages of a cached `FrameRun` may retain.
// `kMeasureBytes`: after how many bytes of requests and answers the retained bytes are measured
// again; a measurement takes about 15,000 instructions per group of queries.
constexpr size_t kMaxRetainedBytes = 4 << 20;
constexpr size_t kMeasureBytes = 4 << 20;
// A request of at most `kShortFrameBytes` bytes is parsed without a memory charge, as the parsed
// message is small.
constexpr size_t kShortFrameBytes = 16 << 10;
// A message of at most `kMaxJoinedBytes` bytes that arrived in several slices (buffers of gRPC) is
// copied into one slice. While it is copied, both copies exist, but only one is charged.
constexpr size_t kMaxJoinedBytes = 256 << 10;
// The `FrameRun` (messages and buffers) of a request without an answer is cached only if the
// request has at most `kMaxUnansweredBytes` bytes: the buffers of such a run do not show how much
// memory its messages retain.
constexpr size_t kMaxUnansweredBytes = 64 << 10;

// Returns whether a group of the frame (queries of one scene) may have to wait for a version of its
// scene that does not exist yet.
bool MayWait(const v1::Frame& frame) {
  return frame.budget_us() != 0 &&
         std::any_of(frame.groups().begin(), frame.groups().end(),
                     [](const v1::Group& group) { return group.min_version() != 0; });
}

}  // namespace

std::unique_ptr<FrameRun> FrameRunPool::Take() {
  if (FrameRun* last = last_.exchange(nullptr)) return std::unique_ptr<FrameRun>(last);
  absl::MutexLock lock(&mu_);
  if (free_.empty()) return std::make_unique<FrameRun>();
  std::unique_ptr<FrameRun> run = std::move(free_.back());
  free_.pop_back();
  return run;
}

void FrameRunPool::Return(std::unique_ptr<FrameRun> run, size_t answer_bytes) {
  run->parsed.Clear();
  run->work.rows_charge.Clear();
  run->work.edited.clear();
  const bool answered = answer_bytes != 0 && run->work.status.ok();
  if (!answered && run->request_bytes > kMaxUnansweredBytes) return;
  if (!run->scratch.IsWorthCaching()) return;
  run->unmeasured_bytes += run->request_bytes + answer_bytes;
  if (run->unmeasured_bytes > kMeasureBytes) {
    if (run->request.SpaceUsedLong() + run->response.SpaceUsedLong() > kMaxRetainedBytes) return;
    run->unmeasured_bytes = 0;
  }
  run.reset(last_.exchange(run.release()));
  if (run == nullptr) return;
  absl::MutexLock lock(&mu_);
  if (free_.size() < kMaxCachedRuns) free_.push_back(std::move(run));
}

void FrameRunPool::Clear() {
  delete last_.exchange(nullptr);
  std::vector<std::unique_ptr<FrameRun>> all;
  absl::MutexLock lock(&mu_);
  free_.swap(all);
}

std::unique_ptr<FrameRun> QueryRuntime::Begin(ReceivedFrame& frame, Session& session,
                                              MemoryCharge& session_charge) {
  std::unique_ptr<FrameRun> run = runs.Take();
  run->request_bytes = frame.bytes.size();
  // Joins the slices of gRPC's buffer: parsing small fields from one slice is much faster than from
  // several slices.
  if (run->request_bytes <= kMaxJoinedBytes) frame.bytes.Join();
  run->response.clear_limits();
  run->work.rows_charge = frame.charge.Another();
  v1::FrameAnswer& answer = *run->response.mutable_answer();
  // Checks the number of parts (groups, scene bindings, tracker definitions) before the request is
  // parsed: an empty part takes two bytes in the request, and about 200 bytes when parsed.
  absl::Status status = evaluator.CheckParts(frame.head.parts);
  if (status.ok()) status = ChargeRequest(frame, *run);
  if (status.ok() && !Parse(frame.bytes, run->request)) {
    status = InvalidMessage("carom.v1.StreamRequest");
  }
  if (!status.ok() || !MayWait(run->request.frame())) frame.Clear();
  if (status.ok()) status = ReserveDefinitions(run->request.frame(), session, session_charge);
  if (status.ok()) {
    ReserveMemories(run->request.frame(), session, session_charge);
    evaluator.Begin(run->request.frame(), frame.arrival, session, answer, run->work);
  } else {
    run->request.Clear();
    evaluator.Refuse(frame.head.seq, std::move(status), answer, run->work);
  }
  return run;
}

absl::Status QueryRuntime::ReserveDefinitions(const v1::Frame& frame, const Session& session,
                                              MemoryCharge& session_charge) const {
  const Session::Growth growth = session.GrowthBy(frame);
  if (growth.handles != 0) {
    if (absl::Status status = session_charge.Add(growth.handles); !status.ok()) return status;
  }
  const uint64_t most = evaluator.limits().trackers.max_bytes;
  const uint64_t room = most - std::min<uint64_t>(most, session.trackers.memory_bytes());
  if (growth.trackers != 0) session_charge.AddUpTo(std::min(growth.trackers, room));
  return absl::OkStatus();
}

// Charges the memory that the caches of the frame's trackers (moving shapes) may take, but at most
// half of the available memory, so that the next frame gets some memory, too. If the charge is less
// than the caches need, the server answers moves of trackers without caches.
void QueryRuntime::ReserveMemories(const v1::Frame& frame, Session& session,
                                   MemoryCharge& session_charge) const {
  const Session::Growth growth = session.GrowthBy(frame);
  const uint64_t most = evaluator.limits().trackers.max_bytes;
  if (growth.memories != 0) {
    const uint64_t left = calls.memory.available(MemoryShare::kTrackers, session_charge.peer());
    session_charge.AddUpTo(std::min({growth.memories, most, left / 2}));
  }
  const uint64_t reserved = session_charge.bytes() - session.memory_bytes();
  session.trackers.set_max_bytes(std::min<uint64_t>(
      most, session.trackers.memory_bytes() + reserved - std::min(reserved, growth.handles)));
}

absl::Status QueryRuntime::ChargeRequest(const ReceivedFrame& frame, FrameRun& run) const {
  if (frame.bytes.size() <= kShortFrameBytes) return absl::OkStatus();
  run.parsed = frame.charge.Another();
  return ChargeParsed(frame.bytes, *v1::StreamRequest::descriptor(), limits->max_frame_bytes,
                      run.parsed);
}

void QueryRuntime::Park(FrameRun& run) const {
  run.request = {};
  run.scratch = {};
  run.parsed.Clear();
  run.work.frame = nullptr;
  run.is_parked = true;
}

absl::Status QueryRuntime::Resume(FrameRun& run, const ReceivedFrame& frame) const {
  // Resets the flag also if this function returns an error, as the run may be reused for another
  // frame.
  run.is_parked = false;
  absl::Status status = ChargeRequest(frame, run);
  if (!status.ok()) return status;
  Parse(frame.bytes, run.request);  // succeeds, as `Begin` has parsed the same bytes
  run.work.frame = &run.request.frame();
  return status;
}

void QueryRuntime::EncodeLimits(v1::StreamLimits& message) const {
  const FrameLimits& frame = evaluator.limits();
  message.set_max_frames_in_flight(static_cast<uint32_t>(limits->max_frames_in_flight));
  message.set_max_frame_bytes(limits->max_frame_bytes);
  message.set_max_queries_per_frame(frame.max_queries);
  message.set_max_groups_per_frame(frame.max_groups);
  message.set_max_answer_rows_per_frame(frame.max_answer_rows);
  message.set_max_work_units_per_frame(frame.max_work_units);
}

void CostEstimate::AddSample(size_t bytes, uint64_t work_units) {
  // `kUnitsPerByte`: the work units (visited polygons or edges) that reading the request and
  // writing the answer cost for each byte of a frame, in addition to the evaluation.
  constexpr double kUnitsPerByte = 0.25;
  const double rate =
      kUnitsPerByte + static_cast<double>(work_units) / static_cast<double>(bytes + kFrameBytes);
  // An expensive frame raises the estimate at once, cheap frames lower it gradually: an
  // underestimated frame blocks a thread of the event loop that other calls need.
  units_per_byte_ = std::max(rate, 0.875 * units_per_byte_ + 0.125 * rate);
}

}  // namespace carom::server
