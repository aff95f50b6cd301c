// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/frame_evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/query/frame_slice.h"
#include "wire/counts.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

constexpr uint64_t kMaxBudgetMicros = 60000000;

// `FrameRunPool` deletes a `FrameScratch` (the buffers for the evaluation of a frame of queries)
// when the frame is answered, if one of the buffers has more entries than the limits below.
constexpr size_t kMaxCachedShapes = 4096;
constexpr size_t kMaxCachedRows = 65536;
constexpr size_t kMaxCachedFloats = 131072;

uint64_t ElapsedNanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

// Clears `work` and `answer`, except for the groups of `answer`, which keep their memory for reuse.
void ClearWork(v1::FrameAnswer& answer, FrameWork& work) {
  work.frame = nullptr;
  work.answer = &answer;
  work.deadline = FrameWork::kNever;
  work.status = absl::OkStatus();
  work.pending.clear();
  work.waits.clear();
  work.edited.clear();
  work.rows = work.work_units = work.time_slices = 0;
  work.tiers = {};
  work.eye_tiers = {};
  work.shadow = {};
  work.evaluating = {};
  answer.clear_seq();
  answer.clear_status();
  answer.clear_stats();
  answer.clear_skipped();
}

}  // namespace

// Checks only buffers of shapes, floats and rows. The other buffers have one entry per query, so
// that `FrameLimits::max_queries` bounds their size.
bool FrameScratch::IsWorthCaching() const {
  return decoded.shape_capacity() <= kMaxCachedShapes &&
         decoded.floats.capacity() <= kMaxCachedFloats &&
         answers.row_capacity() <= kMaxCachedRows && joined.answer_capacity() <= kMaxCachedRows;
}

// `parts` is the number of groups, scene bindings, tracker definitions, body sets and ticks of a
// frame together. This check bounds `parts` before the server parses the frame and iterates over
// the parts; the limit of each kind is checked afterwards.
absl::Status FrameEvaluator::CheckParts(size_t parts) const {
  const size_t limit = 2 * limits_->max_groups + SceneHandles::kMaxHandles +
                       BodySetTable::kMaxSets + StreamBodySets::kMaxTicksOfFrame;
  return parts <= limit ? absl::OkStatus()
                        : OverLimit("groups", limits_->max_groups, "groups a frame");
}

// Checks the time budget of `frame` and its numbers of groups, tracker definitions, queries and
// shapes, before the server decodes any member of the frame.
absl::Status FrameEvaluator::CheckFrame(const v1::Frame& frame) const {
  if (frame.budget_us() > kMaxBudgetMicros) {
    return InvalidField("budget_us", absl::StrCat("must be in [0, ", kMaxBudgetMicros, "]"));
  }
  if (static_cast<size_t>(frame.groups_size()) > limits_->max_groups) {
    return OverLimit("groups", limits_->max_groups, "groups a frame");
  }
  if (static_cast<size_t>(frame.trackers_size()) > limits_->max_groups) {
    return OverLimit("trackers", limits_->max_groups, "definitions a frame, as many as groups");
  }
  const wire::QuestionCounts asked = wire::CountQuestions(frame);
  if (asked.queries > limits_->max_queries) {
    return OverLimit("groups", limits_->max_queries, "queries a frame");
  }
  if (asked.shapes > limits_->max_queries) {
    return OverLimit("groups", limits_->max_queries, "shapes a frame, as many as queries");
  }
  return absl::OkStatus();
}

void FrameEvaluator::Begin(const v1::Frame& frame, const FrameArrival& arrival, Session& session,
                           v1::FrameAnswer& answer, FrameWork& work) const {
  // Checks the limits before `session.Define`, so that a refused frame defines no scene handles and
  // trackers.
  absl::Status status = CheckFrame(frame);
  const absl::StatusOr<Coherence> coherence = wire::DecodeCoherence(frame.coherence());
  status.Update(coherence.status());
  uint64_t work_units = 0;
  if (status.ok()) status = session.Define(frame, store_, work_units);
  if (!status.ok()) {
    Refuse(frame.seq(), std::move(status), answer, work);
    work.work_units = work_units;
    return;
  }
  ClearWork(answer, work);
  work.work_units = work_units;
  work.frame = &frame;
  work.received = arrival.received;
  work.call_deadline = arrival.call_deadline;
  work.coherence = *coherence;
  work.staleness_us = store_.staleness_us();
  if (frame.budget_us() != 0) {
    work.deadline = arrival.received + std::chrono::microseconds(frame.budget_us());
  }
  answer.set_seq(frame.seq());
  if (arrival.use == FrameUse::kSkip) {
    answer.set_skipped(true);
    return answer.clear_groups();
  }
  // Existing groups of `answer` are reused, as they keep their memory.
  while (answer.groups_size() > frame.groups_size()) answer.mutable_groups()->RemoveLast();
  while (answer.groups_size() < frame.groups_size()) answer.add_groups();
  for (int i = 0; i < frame.groups_size(); ++i) work.pending.push_back(i);
}

Scene::Ptr FrameEvaluator::FindScene(absl::string_view name, uint64_t version) const {
  Scene::Ptr scene = store_.Use(name);
  if (scene != nullptr && scene->version() == version) return scene;
  return store_.UseVersion(name, version, "version").value_or(nullptr);
}

void FrameEvaluator::Refuse(uint64_t seq, absl::Status status, v1::FrameAnswer& answer,
                            FrameWork& work) const {
  ClearWork(answer, work);
  answer.clear_groups();
  answer.set_seq(seq);
  wire::EncodeStatus(status, *answer.mutable_status());
  work.status = std::move(status);
}

void FrameEvaluator::RefusePending(const absl::Status& status, FrameWork& work) const {
  for (const int i : work.pending) {
    v1::GroupAnswer& answer = *work.answer->mutable_groups(i);
    const uint64_t edited_version = answer.edited_version();
    answer.Clear();
    answer.set_edited_version(edited_version);
    wire::EncodeStatus(status, *answer.mutable_status());
  }
  work.pending.clear();
}

Progress FrameEvaluator::Continue(FrameWork& work, Session& session, FrameScratch& scratch,
                                  const std::atomic<bool>& cancelled,
                                  const SliceLimits& limits) const {
  if (!work.status.ok()) return Progress::kDone;
  FrameSlice frame_slice({.store = store_,
                          .limits = *limits_,
                          .work = work,
                          .session = session,
                          .scratch = scratch,
                          .cancelled = cancelled,
                          .metrics = metrics_},
                         limits);
  ++work.time_slices;
  const Progress progress = frame_slice.Run();
  if (progress != Progress::kDone) return progress;
  v1::FrameStats& stats = *work.answer->mutable_stats();
  stats.set_elapsed_ns(ElapsedNanoseconds(Clock::now() - work.received));
  stats.set_evaluate_ns(ElapsedNanoseconds(work.evaluating));
  stats.set_work_units(work.work_units);
  stats.set_quiet_moves(work.tiers.quiet);
  stats.set_near_moves(work.tiers.near);
  stats.set_refreshed_moves(work.tiers.refresh);
  stats.set_cold_moves(work.tiers.cold);
  stats.set_tracker_bytes(session.trackers.memory_bytes());
  stats.set_shadow_moves(work.shadow.moves);
  stats.set_shadow_eyes(work.shadow.eyes);
  stats.set_shadow_differences(work.shadow.differences);
  stats.set_quiet_eyes(work.eye_tiers.quiet);
  stats.set_refreshed_eyes(work.eye_tiers.refresh);
  stats.set_cold_eyes(work.eye_tiers.cold);
  // All scenes were read after `Begin`. The staleness of the store (how far it may lag behind other
  // servers) at `Begin` plus the time elapsed since therefore bounds the staleness of the answer.
  if (work.staleness_us != 0) {
    stats.set_staleness_us(work.staleness_us + stats.elapsed_ns() / 1000);
  }
  return Progress::kDone;
}

}  // namespace carom::server
