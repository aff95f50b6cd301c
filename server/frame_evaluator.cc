// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/frame_evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/scene_name.h"
#include "wire/counts.h"
#include "wire/encode.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

constexpr uint64_t kMaxBudgetMicros = 60000000;

// Scratch above these sizes is freed after its frame.
constexpr size_t kModestShapes = 4096;
constexpr size_t kModestRows = 65536;
constexpr size_t kModestFloats = 131072;

// What a joined batch may take, 50 to 80 us: groups that take more gain nothing by it, and what is
// given up, at the end of a budget as well, is lost.
constexpr uint64_t kJoinedUnits = 1 << 14;

uint64_t Nanoseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
}

// Whether a group is a few segments and nothing else.
bool IsJoinable(const v1::Group& group) {
  const uint64_t segments = wire::CountLoneSegments(group);
  return segments >= 1 && segments <= JoinedCasts::kMaxOfGroup;
}

bool HasSameTarget(const v1::Group& a, const v1::Group& b) {
  return a.target_case() == b.target_case() && a.scene_handle() == b.scene_handle() &&
         a.scene() == b.scene() && a.min_version() == b.min_version();
}

absl::Status OverLimit(absl::string_view field, absl::string_view what, uint64_t limit) {
  return Refused(absl::StatusCode::kResourceExhausted, field,
                 absl::StrCat("must be at most ", limit, " (", what, ")"));
}

// The name of the group's scene; points into the group or into `handles`.
absl::StatusOr<absl::string_view> SceneName(const v1::Group& group, const SceneHandles& handles) {
  if (group.target_case() == v1::Group::kSceneHandle) {
    const std::string* name = handles.Find(group.scene_handle());
    if (name == nullptr) return InvalidField("scene_handle", "must be bound on this stream");
    return absl::string_view(*name);
  }
  if (group.target_case() != v1::Group::kScene) {
    return InvalidField("scene", "must be given, or scene_handle");
  }
  if (absl::Status status = CheckSceneName("scene", group.scene()); !status.ok()) return status;
  return absl::string_view(group.scene());
}

// All of `work` and of `answer` but the groups, which keep their memory.
void ClearWork(v1::FrameAnswer& answer, FrameWork& work) {
  work.frame = nullptr;
  work.answer = &answer;
  work.deadline = FrameWork::kNever;
  work.status = absl::OkStatus();
  work.pending.clear();
  work.waits.clear();
  work.rows = work.work_units = 0;
  work.tiers = {};
  work.shadow = {};
  work.evaluating = {};
  answer.clear_seq();
  answer.clear_status();
  answer.clear_stats();
  answer.clear_skipped();
}

void AnswerStatus(const absl::Status& status, v1::GroupAnswer& answer) {
  answer.Clear();
  wire::EncodeStatus(status, *answer.mutable_status());
}

}  // namespace

// Beside these there are vectors of one entry an item, which `max_queries` bounds.
bool FrameScratch::IsWorthCaching() const {
  return decoded.shape_capacity() <= kModestShapes && decoded.floats.capacity() <= kModestFloats &&
         answers.row_capacity() <= kModestRows && joined.answer_capacity() <= kModestRows;
}

absl::Status FrameEvaluator::CheckParts(size_t parts) const {
  const size_t limit = 2 * limits_.max_groups + SceneHandles::kMaxHandles;
  return parts <= limit ? absl::OkStatus()
                        : OverLimit("groups", "groups a frame", limits_.max_groups);
}

absl::Status FrameEvaluator::CheckFrame(const v1::Frame& frame) const {
  if (frame.budget_us() > kMaxBudgetMicros) {
    return InvalidField("budget_us", absl::StrCat("must be in [0, ", kMaxBudgetMicros, "]"));
  }
  if (static_cast<size_t>(frame.groups_size()) > limits_.max_groups) {
    return OverLimit("groups", "groups a frame", limits_.max_groups);
  }
  if (static_cast<size_t>(frame.trackers_size()) > limits_.max_groups) {
    return OverLimit("trackers", "definitions a frame, as many as groups", limits_.max_groups);
  }
  const wire::QuestionCounts asked = wire::CountQuestions(frame);
  if (asked.queries > limits_.max_queries) {
    return OverLimit("groups", "queries a frame", limits_.max_queries);
  }
  if (asked.shapes > limits_.max_queries) {
    return OverLimit("groups", "shapes a frame, as many as queries", limits_.max_queries);
  }
  return absl::OkStatus();
}

void FrameEvaluator::Begin(const v1::Frame& frame, Clock::time_point received, FrameUse use,
                           Session& session, v1::FrameAnswer& answer, FrameWork& work) const {
  absl::Status status = CheckFrame(frame);
  const absl::StatusOr<Coherence> coherence = wire::DecodeCoherence(frame.coherence());
  status.Update(coherence.status());
  if (status.ok()) status = session.Define(frame);
  if (!status.ok()) return Refuse(frame.seq(), std::move(status), answer, work);
  ClearWork(answer, work);
  work.frame = &frame;
  work.received = received;
  work.coherence = *coherence;
  if (frame.budget_us() != 0) {
    work.deadline = received + std::chrono::microseconds(frame.budget_us());
  }
  answer.set_seq(frame.seq());
  if (use == FrameUse::kSkip) {
    answer.set_skipped(true);
    return answer.clear_groups();
  }
  // The groups keep their memory.
  while (answer.groups_size() > frame.groups_size()) answer.mutable_groups()->RemoveLast();
  while (answer.groups_size() < frame.groups_size()) answer.add_groups();
  for (int i = 0; i < frame.groups_size(); ++i) work.pending.push_back(i);
}

void FrameEvaluator::Refuse(uint64_t seq, absl::Status status, v1::FrameAnswer& answer,
                            FrameWork& work) const {
  ClearWork(answer, work);
  answer.clear_groups();
  answer.set_seq(seq);
  wire::EncodeStatus(status, *answer.mutable_status());
  work.status = std::move(status);
}

Progress FrameEvaluator::Continue(FrameWork& work, Session& session, FrameScratch& scratch,
                                  const std::atomic<bool>& cancelled, uint64_t turn_units) const {
  if (!work.status.ok()) return Progress::kDone;
  work.waits.clear();
  work.turn_units = turn_units;
  work.alone_until = 0;
  Progress progress = Progress::kDone;
  size_t left = 0;
  for (size_t next = 0; next < work.pending.size();) {
    if (cancelled.load(std::memory_order_relaxed)) return Progress::kDone;
    Progress of_group = Progress::kYields;
    const int index = work.pending[next];
    if (progress != Progress::kYields) {
      if (const size_t joined = AnswerJoined(next, work, session, scratch, cancelled)) {
        next += joined;
        continue;
      }
      of_group = AnswerGroup(work.frame->groups(index), work, session, scratch, cancelled,
                             *work.answer->mutable_groups(index));
    }
    if (of_group != Progress::kDone) work.pending[left++] = index;
    progress = std::max(progress, of_group);
    ++next;
  }
  work.pending.resize(left);
  if (progress != Progress::kDone) return progress;
  v1::FrameStats& stats = *work.answer->mutable_stats();
  stats.set_elapsed_ns(Nanoseconds(Clock::now() - work.received));
  stats.set_evaluate_ns(Nanoseconds(work.evaluating));
  stats.set_work_units(work.work_units);
  stats.set_quiet_moves(work.tiers.quiet);
  stats.set_near_moves(work.tiers.near);
  stats.set_refreshed_moves(work.tiers.refresh);
  stats.set_cold_moves(work.tiers.cold);
  stats.set_tracker_bytes(session.trackers.memory_bytes());
  stats.set_shadow_moves(work.shadow.moves);
  stats.set_shadow_differences(work.shadow.differences);
  return Progress::kDone;
}

size_t FrameEvaluator::AnswerJoined(size_t first, FrameWork& work, Session& session,
                                    FrameScratch& scratch,
                                    const std::atomic<bool>& cancelled) const {
  const auto group = [&](size_t i) -> const v1::Group& {
    return work.frame->groups(work.pending[i]);
  };
  const auto may_join = [&](size_t i) {
    return i < work.pending.size() && IsJoinable(group(i)) && HasSameTarget(group(i), group(first));
  };
  // One that has no neighbor is not decoded twice.
  if (first < work.alone_until || !may_join(first + 1) || !may_join(first)) return 0;
  JoinedCasts& joined = scratch.joined;
  joined.Clear();
  for (size_t i = first; may_join(i); ++i) {
    if (!wire::DecodeGroup(group(i), scratch.decoded).ok() || !joined.Add(scratch.decoded.group)) {
      break;
    }
  }
  if (joined.size() < 2) return 0;
  // What does not go well together is told group by group.
  work.alone_until = first + joined.size();
  const absl::StatusOr<absl::string_view> name = SceneName(group(first), session.handles);
  if (!name.ok()) return 0;
  const Scene::Ptr scene = store_.Find(*name);
  if (scene == nullptr || scene->version() < group(first).min_version()) return 0;
  const uint64_t work_units = work.work_units, turn_units = work.turn_units;
  work.turn_units = std::min(turn_units, kJoinedUnits);
  scratch.decoded.group = joined.all();
  absl::Status status;
  const Progress progress = Evaluate(*scene, work, session, scratch, cancelled, status);
  work.turn_units = turn_units;
  if (progress != Progress::kDone || !status.ok()) {
    work.work_units = work_units;
    work.alone_until = work.pending.size();
    return 0;
  }
  work.turn_units -= std::min(turn_units, work.work_units - work_units);
  for (size_t i = first; i < first + joined.size(); ++i) {
    const JoinedCasts::Part part = joined.Next(scratch.answers);
    wire::EncodeGroupAnswers(part.group, part.answers,
                             *work.answer->mutable_groups(work.pending[i]));
  }
  return joined.size();
}

Progress FrameEvaluator::AnswerGroup(const v1::Group& group, FrameWork& work, Session& session,
                                     FrameScratch& scratch, const std::atomic<bool>& cancelled,
                                     v1::GroupAnswer& answer) const {
  const absl::StatusOr<absl::string_view> name = SceneName(group, session.handles);
  absl::Status status = name.status();
  if (status.ok()) status = wire::DecodeGroup(group, scratch.decoded);
  Scene::Ptr scene;
  if (status.ok()) {
    scene = store_.Find(*name);
    if (scene == nullptr) {
      status = NoSuchScene(group.target_case() == v1::Group::kScene ? "scene" : "scene_handle");
    }
  }
  if (status.ok() && scene->version() < group.min_version()) {
    if (work.deadline != FrameWork::kNever && Clock::now() < work.deadline) {
      work.waits.push_back({std::string(*name), group.min_version()});
      return Progress::kWaits;
    }
    status = Refused(absl::StatusCode::kUnavailable, "min_version",
                     absl::StrCat("the current version is ", scene->version()));
  }
  if (status.ok() &&
      Evaluate(*scene, work, session, scratch, cancelled, status) == Progress::kYields) {
    return Progress::kYields;
  }
  if (status.ok()) {
    wire::EncodeGroupAnswers(scratch.decoded.group, scratch.answers, answer);
  } else {
    AnswerStatus(status, answer);
  }
  return Progress::kDone;
}

Progress FrameEvaluator::Evaluate(const Scene& scene, FrameWork& work, Session& session,
                                  FrameScratch& scratch, const std::atomic<bool>& cancelled,
                                  absl::Status& status) const {
  const Clock::time_point start = Clock::now();
  if (start >= work.deadline) {
    status = absl::DeadlineExceededError("the frame's budget ended");
    return Progress::kDone;
  }
  const Clock::time_point deadline = work.deadline;
  const auto stop = [&deadline, &cancelled] {
    return cancelled.load(std::memory_order_relaxed) ||
           (deadline != FrameWork::kNever && Clock::now() >= deadline);
  };
  // Not that of the frame: rows that are compared are not answered.
  WorkMeter shadow_meter(stop);
  shadow_meter.set_max_rows(ShadowRun::kMaxRows);
  shadow_meter.set_max_units(work.turn_units);
  BeginMoves(scene, work, session, scratch, shadow_meter);
  work.turn_units -= std::min(work.turn_units, shadow_meter.used());
  WorkMeter meter(stop);
  meter.set_max_rows(limits_.max_answer_rows - work.rows);
  const uint64_t limit = limits_.max_work_units == 0 ? kNoTurn : limits_.max_work_units;
  const uint64_t units_left = limit - std::min(limit, work.work_units);
  meter.set_max_units(std::min(units_left, work.turn_units));
  status = EvaluateGroup(scene, scratch.decoded.group, scratch.answers, meter);
  session.trackers.End(scratch.answers.moves.memory_growth);
  work.evaluating += Clock::now() - start;
  if (!status.ok() && !meter.out_of_rows() && meter.used() > work.turn_units &&
      meter.used() <= units_left) {
    return Progress::kYields;
  }
  work.turn_units -= std::min(work.turn_units, meter.used());
  work.tiers += scratch.answers.moves.tiers;
  work.work_units += meter.used();
  if (status.ok()) {
    work.rows += meter.rows();
  } else {
    status = Stopped(meter);
  }
  return Progress::kDone;
}

absl::Status FrameEvaluator::Stopped(const WorkMeter& meter) const {
  if (meter.out_of_rows()) {
    return OverLimit("", "answer rows a frame", limits_.max_answer_rows);
  }
  if (meter.out_of_units()) {
    return OverLimit("", "work units a frame", limits_.max_work_units);
  }
  return absl::DeadlineExceededError("the frame's budget ended");
}

void FrameEvaluator::BeginMoves(const Scene& scene, FrameWork& work, Session& session,
                                FrameScratch& scratch, WorkMeter& meter) const {
  Group& group = scratch.decoded.group;
  if (group.moves.size() == 0) return;
  MoveOptions& options = group.move_options;
  session.trackers.Begin(group);
  options.coherence = work.coherence;
  if (work.coherence == Coherence::kOff || limits_.shadow_interval == 0) return;
  if (++session.move_batches % limits_.shadow_interval != 0) return;
  const uint64_t number = session.move_batches / limits_.shadow_interval;
  const uint64_t differences = work.shadow.differences;
  const int64_t growth =
      scratch.shadow.Compare(scene, group.moves, options, number, meter, work.shadow);
  session.trackers.End(growth);
  options.memory_budget -= growth;
  if (work.shadow.differences == differences) return;
  session.trackers.Forget();
  options.coherence = Coherence::kOff;
}

}  // namespace carom::server
