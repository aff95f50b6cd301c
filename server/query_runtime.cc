// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query_runtime.h"

#include <algorithm>
#include <utility>

namespace carom::server {
namespace {

constexpr size_t kMaxFreeRuns = 16;
// A run is freed once its messages have held so much in all, as cleared messages keep their memory.
constexpr size_t kMaxHeldBytes = 32 << 20;
// A frame that was not answered may have been anything; its run is kept if it was short.
constexpr size_t kModestRefusedBytes = 64 << 10;

}  // namespace

std::unique_ptr<FrameRun> FrameRunPool::Take() {
  absl::MutexLock lock(&mu_);
  if (free_.empty()) return std::make_unique<FrameRun>();
  std::unique_ptr<FrameRun> run = std::move(free_.back());
  free_.pop_back();
  return run;
}

void FrameRunPool::Return(std::unique_ptr<FrameRun> run, size_t answer_bytes) {
  const bool answered = answer_bytes != 0 && run->work.status.ok();
  if (!answered && run->request_bytes > kModestRefusedBytes) return;
  run->held_bytes += run->request_bytes + answer_bytes;
  if (run->held_bytes > kMaxHeldBytes || !run->scratch.IsWorthCaching()) return;
  absl::MutexLock lock(&mu_);
  if (free_.size() < kMaxFreeRuns) free_.push_back(std::move(run));
}

std::unique_ptr<FrameRun> QueryRuntime::Begin(const grpc::ByteBuffer& bytes, const FrameHead& head,
                                              Clock::time_point received, FrameUse use,
                                              Session& session) {
  std::unique_ptr<FrameRun> run = runs.Take();
  run->request_bytes = bytes.Length();
  run->response.clear_limits();
  v1::FrameAnswer& answer = *run->response.mutable_answer();
  // An empty part is two bytes, and a hundred times that when it is parsed.
  if (absl::Status status = evaluator.CheckParts(head.parts); !status.ok()) {
    run->request.Clear();
    evaluator.Refuse(head.seq, std::move(status), answer, run->work);
  } else if (Parse(bytes, run->request)) {
    evaluator.Begin(run->request.frame(), received, use, session, answer, run->work);
  } else {
    run->request.Clear();
    evaluator.Refuse(head.seq,
                     absl::InvalidArgumentError("the message is not a carom.v1.StreamRequest"),
                     answer, run->work);
  }
  return run;
}

void QueryRuntime::EncodeLimits(v1::StreamLimits& message) const {
  const FrameLimits& frame = evaluator.limits();
  message.set_max_frames_in_flight(static_cast<uint32_t>(limits.max_frames_in_flight));
  message.set_max_frame_bytes(limits.max_frame_bytes);
  message.set_max_queries_per_frame(frame.max_queries);
  message.set_max_groups_per_frame(frame.max_groups);
  message.set_max_answer_rows_per_frame(frame.max_answer_rows);
  message.set_max_work_units_per_frame(frame.max_work_units);
}

void CostEstimate::Learn(size_t bytes, uint64_t work_units) {
  constexpr double kUnitsAByte = 0.25;  // beside the work
  const double rate =
      kUnitsAByte + static_cast<double>(work_units) / static_cast<double>(bytes + kFrameBytes);
  // A dear frame is believed at once, a cheap one by and by.
  units_a_byte_ = std::max(rate, 0.875 * units_a_byte_ + 0.125 * rate);
}

}  // namespace carom::server
