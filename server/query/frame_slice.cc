// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/frame_slice.h"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/base/thread_scheduling.h"
#include "server/transport/executor.h"
#include "wire/counts.h"
#include "wire/encode.h"
#include "wire/errors.h"

namespace carom::server {
namespace {

// The most work units (visited polygons or edges) of a joined batch: the segments of several groups
// of queries, cast together. These units take 50 to 80 us. Groups whose casts take longer gain
// nothing by joining, and the work of a batch that is discarded, for example because the frame's
// time budget ends, is lost.
constexpr uint64_t kJoinedUnits = 1 << 14;

// The most bytes of memory that a row of an answer (one reported item, such as a hit) takes while
// the answer is built, as a struct of the geometry core, as a message and as serialized bytes
// together: measured with a million cast hits with all details.
constexpr uint64_t kBytesPerRow = 272;
// The memory of the answer's rows is charged in steps of `kChargedBytes` bytes.
constexpr uint64_t kChargedBytes = 1 << 20;

// The measured cost, in work units, of a group's edits (changes of polygons of its scene):
// `kUnitsOfEdits` once for each group with edits, and `kUnitsPerEdit` for each edit. A commit
// copies the blocks of polygons that change (pages) and the scene's table of pages.
constexpr uint64_t kUnitsOfEdits = 1 << 14;
constexpr uint64_t kUnitsPerEdit = 1 << 10;

// `Run` checks for the end of the time slice each time it has passed `kGroupsPerCheck` groups,
// which takes 20 to 100 us if all are refused with an error: work meters, which check otherwise,
// are not used for refused groups.
constexpr size_t kGroupsPerCheck = 16;

// The kinds of queries that a member of a joined batch has: segments, the first kind of the list of
// kinds.
const GroupKindSet kSegmentsAlone(1);
static_assert(std::string_view(std::get<0>(kGroupKinds).name) == "segments");

// Returns whether a group casts a few segments and has no other queries, so that it may be a member
// of a joined batch: several groups whose segments are cast together.
bool IsJoinable(const v1::Group& group) {
  if (group.has_edits() || group.version() != 0 || group.has_version_at_tick()) return false;
  const uint64_t segments = wire::CountLoneSegments(group);
  return segments >= 1 && segments <= JoinedCasts::kMaxOfGroup;
}

// Returns whether the groups `a` and `b` name one scene in the same way (by one name or one handle)
// and have the same `min_version`, so that one version of the scene serves both groups.
bool HasSameTarget(const v1::Group& a, const v1::Group& b) {
  return a.target_case() == b.target_case() && a.scene_handle() == b.scene_handle() &&
         a.scene() == b.scene() && a.min_version() == b.min_version();
}

// Returns the name of the scene of `group`. The result points into `group` or into `handles`.
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

// Returns the name of the field in which `group` names its scene.
const char* TargetField(const v1::Group& group) {
  return group.target_case() == v1::Group::kScene ? "scene" : "scene_handle";
}

// Returns the error `status` of a group's edits, with `edits.` put in front of each field path
// (`edits` for an empty path).
absl::Status PrefixWithEdits(const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  if (violations.empty()) return status;
  Refusal refusal;
  for (const Violation& violation : violations) {
    const char* dot = violation.field.empty() ? "" : ".";
    refusal.Add(absl::StrCat("edits", dot, violation.field), violation.description);
  }
  refusal.AddUnlisted(ViolationCount(status) - violations.size());
  return refusal.status(status.code());
}

// Answers a group with an error and nothing else.
Progress AnswerStatus(const absl::Status& status, v1::GroupAnswer& answer) {
  answer.Clear();
  wire::EncodeStatus(status, *answer.mutable_status());
  return Progress::kDone;
}

absl::Status BudgetEnded() { return absl::DeadlineExceededError("the frame's budget ended"); }

}  // namespace

FrameSlice::FrameSlice(const Context& context, const SliceLimits& limits)
    : context_(context),
      work_(context.work),
      limits_(limits),
      units_left_(limits.max_units),
      slice_begin_(Clock::now()),
      past_charge_(context.work.rows_charge.Another()) {}

absl::string_view FrameSlice::KeyOf(absl::string_view name) {
  if (context_.session.tenant == kDefaultTenant) return name;
  key_ = context_.store.KeyOf(context_.session.tenant, name);
  return key_;
}

// A work meter (it counts the work units of an evaluation) calls this function about every 20
// microseconds.
bool FrameSlice::MustStop(Clock::time_point now) {
  if (context_.cancelled.load(std::memory_order_relaxed)) return true;
  if (!ChargeRows()) return true;
  if (limits_.pause != nullptr) {
    YieldIfSliceIsOver(now);
    if (now - slice_begin_ >= Executor::kSlice) {
      if (!ChargePast()) return true;
      (*limits_.pause)();
      slice_begin_ = now = Clock::now();
    }
  }
  if (now >= std::min(work_.deadline, work_.call_deadline)) return true;
  is_out_of_cpu_ = is_out_of_cpu_ || IsOutOfCpu(now - slice_begin_);
  return is_out_of_cpu_;
}

bool FrameSlice::ChargeRows() {
  const uint64_t rows = work_.rows + (meter_ == nullptr ? 0 : meter_->rows());
  if (rows * kBytesPerRow < work_.rows_charge.bytes() + kChargedBytes) return true;
  absl::Status status = work_.rows_charge.GrowTo(rows * kBytesPerRow);
  if (!status.ok()) out_of_memory_ = std::move(status);
  return out_of_memory_.ok();
}

// While the slice pauses, other streams may add ticks to the fork's set, or delete the fork: the
// group still holds the ticks as they were. A set of the stream itself does not change meanwhile.
bool FrameSlice::ChargePast() {
  if (body_set_.set == nullptr || body_set_.fork.empty()) return true;
  absl::Status status = past_charge_.GrowTo(body_set_.set->memory_bytes());
  if (!status.ok()) out_of_memory_ = std::move(status);
  return out_of_memory_.ok();
}

// Reading the CPU time of the thread is a system call, which costs more than a small frame, so it
// is read only in the second half of a time slice. The first half counts as if the thread had run
// all the time.
bool FrameSlice::IsOutOfCpu(std::chrono::nanoseconds elapsed) {
  if (elapsed < limits_.max_cpu / 2) return false;
  const int64_t now = ThreadCpuNs();
  if (cpu_end_ns_ == 0) cpu_end_ns_ = now + limits_.max_cpu.count() / 2;
  return now >= cpu_end_ns_;
}

Progress FrameSlice::Run() {
  work_.waits.clear();
  Progress progress = Progress::kDone;
  // The first `kept` entries of `pending` are those groups, of the groups passed so far, that still
  // have no answer.
  size_t kept = 0;
  for (size_t i = 0; i < work_.pending.size(); ++i) {
    if (context_.cancelled.load(std::memory_order_relaxed)) return Progress::kDone;
    // Checks whether the time slice is over, and pauses when a pause is due.
    if (i % kGroupsPerCheck == kGroupsPerCheck - 1) {
      ReleasePast();
      MustStop(Clock::now());
    }
    // A group that waits for a version does not stop the pass: later groups are answered. After the
    // end of the time slice no further group is answered.
    const bool is_over = is_out_of_cpu_ || progress == Progress::kYields;
    const Progress group_progress = is_over ? Progress::kYields : Answer(i);
    if (group_progress != Progress::kDone) work_.pending[kept++] = work_.pending[i];
    progress = std::max(progress, group_progress);
  }
  work_.pending.resize(kept);
  ReleasePast();
  return progress;
}

void FrameSlice::ReleasePast() {
  if (body_set_.set == nullptr) return;
  body_set_ = {};
  decoded_ = -1;
  past_charge_.Clear();
}

Progress FrameSlice::Answer(size_t i) {
  if (i >= joined_end_) Join(i);
  const Progress progress = i < joined_end_ ? AnswerMember(i) : AnswerAlone(i);
  const Scene::Ptr edited = EditedScene(i);
  AnswerAt(i).set_edited_version(edited == nullptr ? 0 : edited->version());
  return progress;
}

bool FrameSlice::MayJoin(size_t first, size_t i) const {
  return i < work_.pending.size() && IsJoinable(GroupAt(i)) &&
         HasSameTarget(GroupAt(i), GroupAt(first));
}

void FrameSlice::Join(size_t first) {
  if (!may_join_ || !MayJoin(first, first) || !MayJoin(first, first + 1)) return;
  const auto name = SceneName(GroupAt(first), context_.session.handles);
  // Looks up the scene before the groups are decoded: if the scene is missing, each group is
  // answered or waits alone.
  if (!name.ok()) return;
  joined_scene_ = context_.store.Use(KeyOf(*name));
  if (joined_scene_ == nullptr || joined_scene_->version() < GroupAt(first).min_version()) return;
  JoinedCasts& joined = context_.scratch.joined;
  joined.Clear();
  // The first group that cannot join the batch (it cannot be decoded, has other cast options or too
  // many segments) stays in `scratch.decoded` until it is answered.
  for (size_t i = first; MayJoin(first, i); ++i) {
    if (!Decode(i).ok() || !joined.Add(context_.scratch.decoded.group)) break;
  }
  joined_end_ = first + joined.size();
  joined_answered_ = false;
  if (joined.size() < 2) return;
  Group all = joined.all();
  const Evaluation evaluation = Evaluate(*joined_scene_, all, std::min(units_left_, kJoinedUnits));
  joined_answered_ = !evaluation.yields && evaluation.status.ok();
  if (joined_answered_) {
    Charge(evaluation);
  } else {
    // The batch failed, for example at a limit. Evaluating each member of the batch (one group)
    // alone, from the segments that `JoinedCasts::Add` copied, shows which member exceeds a limit.
    // Later groups are likely to be as expensive, so no further batch is made.
    may_join_ = false;
  }
}

Progress FrameSlice::AnswerMember(size_t i) {
  JoinedCasts& joined = context_.scratch.joined;
  const GroupAnswers& all = context_.scratch.answers;
  Group& group = joined.Next();
  if (!joined_answered_) {
    return Conclude(Evaluate(*joined_scene_, group, units_left_), group, kSegmentsAlone, i);
  }
  const GroupAnswers& answers = joined.Answers(all);
  Count(group, kSegmentsAlone, answers);
  wire::EncodeGroupAnswers(group, answers, AnswerAt(i));
  return Progress::kDone;
}

Progress FrameSlice::AnswerAlone(size_t i) {
  const v1::Group& group = GroupAt(i);
  v1::GroupAnswer& answer = AnswerAt(i);
  // Checks the client's permission to edit before it looks up the scene, so that the error does not
  // depend on whether the scene exists.
  if (group.has_edits() && !context_.session.may_edit.ok()) {
    return AnswerStatus(PrefixWithEdits(context_.session.may_edit), answer);
  }
  const auto name = SceneName(group, context_.session.handles);
  if (!name.ok()) return AnswerStatus(name.status(), answer);
  if (!Decode(i).ok()) return AnswerStatus(decode_status_, answer);
  Progress progress = Progress::kDone;
  const absl::StatusOr<Scene::Ptr> scene = Resolve(i, KeyOf(*name), progress);
  if (!scene.ok()) return AnswerStatus(scene.status(), answer);
  if (*scene == nullptr) return progress;
  wire::DecodedGroup& decoded = context_.scratch.decoded;
  return Conclude(Evaluate(**scene, decoded.group, units_left_), decoded.group, decoded.kinds, i);
}

absl::StatusOr<Scene::Ptr> FrameSlice::Resolve(size_t i, absl::string_view name,
                                               Progress& progress) {
  const v1::Group& group = GroupAt(i);
  const char* const field = TargetField(group);
  if (group.has_version_at_tick()) return ResolveAtTick(i, name);
  if (group.version() != 0) {
    if (group.has_edits()) return InvalidField("version", "must not be given beside edits");
    if (group.min_version() != 0) {
      return InvalidField("version", "must not be given beside min_version");
    }
    return context_.store.UseVersion(name, group.version(), field);
  }
  if (Scene::Ptr edited = EditedScene(i)) return edited;
  Scene::Ptr scene = context_.store.Use(name);
  // If the scene is missing, another server may have created it, in a change that this server has
  // not read yet.
  const bool may_come = scene == nullptr && !context_.store.HasReached(group.min_version());
  if (scene == nullptr && !may_come) return context_.store.WhyMissing(name, field);
  if (scene != nullptr && scene->version() >= group.min_version()) {
    return group.has_edits() ? Edit(i, name, progress) : scene;
  }
  // A frame without a time budget does not wait for a version, as nothing would end the wait.
  if (work_.deadline != FrameWork::kNever && Clock::now() < work_.deadline) {
    work_.waits.push_back({std::string(name), group.min_version()});
    progress = Progress::kWaits;
    return nullptr;
  }
  return Refused(absl::StatusCode::kUnavailable, "min_version",
                 scene == nullptr ? "the scene does not exist yet"
                                  : absl::StrCat("the current version is ", scene->version()));
}

absl::StatusOr<Scene::Ptr> FrameSlice::ResolveAtTick(size_t i, absl::string_view name) {
  const v1::Group& group = GroupAt(i);
  constexpr char kField[] = "version_at_tick";
  if (group.version() != 0 || group.min_version() != 0 || group.has_edits()) {
    return InvalidField(kField, "must not be given beside version, min_version or edits");
  }
  if (body_set_.set == nullptr || body_set_.fork.empty() || body_set_.fork != name) {
    return InvalidField(kField, "must be a tick of a body set of the fork");
  }
  const uint64_t version = body_set_.set->VersionAt(group.version_at_tick());
  if (version != 0) return context_.store.UseVersion(name, version, TargetField(group));
  const bool is_kept = body_set_.set->history.HasTick(group.version_at_tick());
  return Refused(absl::StatusCode::kOutOfRange, kField,
                 is_kept ? "must not be a tick that was sent again to a fork that was made again"
                         : "must be a tick that the body set keeps");
}

// Makes the edits of a group. The caller has decoded the queries of the group, so that a malformed
// group makes no edits.
absl::StatusOr<Scene::Ptr> FrameSlice::Edit(size_t i, absl::string_view name, Progress& progress) {
  progress = Progress::kYields;
  if (MustStop(Clock::now())) {
    return is_out_of_cpu_ ? absl::StatusOr<Scene::Ptr>(nullptr) : StopStatus(WorkMeter());
  }
  const v1::GroupEdits& message = GroupAt(i).edits();
  if (message.edit_id().empty() || message.edit_id().size() > kMaxEditIdBytes) {
    return InvalidField("edits.edit_id", absl::StrCat("must have at least 1 and at most ",
                                                      kMaxEditIdBytes, " bytes"));
  }
  absl::StatusOr<std::vector<SceneEdit>> edits =
      wire::DecodeEdits(message.edits(), context_.limits.polygons);
  if (!edits.ok()) return PrefixWithEdits(edits.status());
  const uint64_t units = kUnitsOfEdits + kUnitsPerEdit * edits->size();
  // A time slice on the event loop, which has a limit of work units, makes short edits only; for
  // other edits `EditFork` returns null, and the group begins again on the executor.
  const EditTime time = limits_.max_units == SliceLimits::kNone ? EditTime::kAny : EditTime::kShort;
  const absl::StatusOr<Scene::Ptr> scene = context_.store.EditFork(
      name, {*std::move(edits), message.base_version(), message.edit_id()}, time);
  if (!scene.ok()) {
    // The edit failed; the scene may have been deleted after this function's caller found it.
    const bool is_gone = context_.store.Find(name) == nullptr;
    return is_gone ? context_.store.WhyMissing(name, TargetField(GroupAt(i)))
                   : PrefixWithEdits(scene.status());
  }
  if (*scene == nullptr) return scene;
  work_.edited.emplace_back(work_.pending[i], *scene);
  work_.work_units += units;
  units_left_ -= std::min(units_left_, units);
  return scene;
}

Scene::Ptr FrameSlice::EditedScene(size_t i) const {
  for (const auto& [group, scene] : work_.edited) {
    if (group == work_.pending[i]) return scene;
  }
  return nullptr;
}

const absl::Status& FrameSlice::Decode(size_t i) {
  if (decoded_ != work_.pending[i]) {
    decoded_ = work_.pending[i];
    const v1::Group& group = GroupAt(i);
    body_set_ = {};
    past_charge_.Clear();
    if (group.has_body_set()) body_set_ = context_.session.body_sets.Find(group.body_set());
    const BodyHistory* const history = body_set_.set == nullptr ? nullptr : &body_set_.set->history;
    decode_status_ = body_set_.status;
    if (decode_status_.ok()) {
      decode_status_ = wire::DecodeGroup(group, context_.scratch.decoded, history);
    }
  }
  return decode_status_;
}

FrameSlice::Evaluation FrameSlice::Evaluate(const Scene& scene, Group& group, uint64_t max_units) {
  const Clock::time_point start = Clock::now();
  if (MustStop(start)) return {.status = StopStatus(WorkMeter()), .yields = is_out_of_cpu_};
  const uint64_t limit =
      context_.limits.max_work_units == 0 ? SliceLimits::kNone : context_.limits.max_work_units;
  const uint64_t frame_units = limit - std::min(limit, work_.work_units);
  const uint64_t move_batches = context_.session.move_batches;
  const uint64_t eye_batches = context_.session.eye_batches;
  const ShadowStats shadow = BeginTrackers(scene, group, std::min(frame_units, max_units));
  max_units -= std::min(max_units, shadow.units);

  WorkMeter meter(Stop());
  meter.set_max_rows(context_.limits.max_answer_rows - work_.rows);
  meter.set_max_units(std::min(frame_units, max_units));
  GroupAnswers& answers = context_.scratch.answers;
  Evaluation evaluation;
  meter_ = &meter;
  evaluation.status = EvaluateGroup(scene, group, answers, meter);
  meter_ = nullptr;
  context_.session.trackers.End(answers.moves.memory_growth);
  work_.evaluating += Clock::now() - start;

  // The evaluation yields, to be repeated in the next time slice, only if the end of the time slice
  // stopped the evaluation, and not a limit of the frame.
  evaluation.yields = !evaluation.status.ok() && !meter.out_of_rows() &&
                      meter.used() <= frame_units && (is_out_of_cpu_ || meter.used() > max_units);
  evaluation.work_units = meter.used();
  evaluation.slice_units = shadow.units + meter.used();
  evaluation.tiers = answers.moves.tiers;
  if (evaluation.status.ok()) {
    evaluation.eye_tiers = answers.areas.tiers;
    evaluation.eye_tiers += answers.sees.tiers;
  }
  evaluation.shadow = shadow;
  // If the evaluation of a batch will be repeated in the next time slice, the batch keeps its
  // number, by which `BeginTrackers` selects the batches with a shadow run. A difference is counted
  // now, since its memories are gone.
  if (evaluation.yields && shadow.differences > 0) {
    work_.shadow += shadow;
  } else if (evaluation.yields) {
    context_.session.move_batches = move_batches;
    context_.session.eye_batches = eye_batches;
  }
  if (evaluation.status.ok()) {
    evaluation.rows = meter.rows();
  } else {
    evaluation.status = StopStatus(meter);
  }
  return evaluation;
}

absl::Status FrameSlice::StopStatus(const WorkMeter& meter) {
  if (meter.out_of_rows()) {
    return OverLimit("", context_.limits.max_answer_rows, "answer rows a frame");
  }
  if (!out_of_memory_.ok()) return std::exchange(out_of_memory_, absl::OkStatus());
  if (meter.out_of_units()) {
    return OverLimit("", context_.limits.max_work_units, "work units a frame");
  }
  return BudgetEnded();
}

// A meter calls what stops it once when it begins to count. This first call returns false without
// calling `MustStop`, which has just been called.
std::function<bool()> FrameSlice::Stop() {
  return [this, asked = true]() mutable {
    return !std::exchange(asked, false) && MustStop(Clock::now());
  };
}

ShadowStats FrameSlice::BeginTrackers(const Scene& scene, Group& group, uint64_t max_units) {
  context_.session.trackers.Begin(group, work_.coherence);
  group.move_options.coherence = work_.coherence;
  ShadowStats stats;
  if (work_.coherence == Coherence::kOff || context_.limits.shadow_interval == 0) return stats;
  stats += ShadowOfEyes(scene, group, max_units);
  stats += ShadowOfMoves(scene, group, max_units - std::min(max_units, stats.units));
  return stats;
}

// A difference is a bug in the memories of eyes: deletes all memories, and takes those of the eyes
// of this group away. The shadow run and the group share the room by which memories may grow.
ShadowStats FrameSlice::ShadowOfEyes(const Scene& scene, Group& group, uint64_t max_units) {
  Session& session = context_.session;
  AreaColumns& areas = group.areas;
  AreaColumns& sees = group.sees;
  const uint64_t interval = context_.limits.shadow_interval;
  if (areas.trackers.empty() && sees.trackers.empty()) return {};
  if (++session.eye_batches % interval != 0) return {};
  areas.memory_budget /= 2;
  sees.memory_budget /= 2;
  WorkMeter meter(Stop());
  meter.set_max_rows(ShadowRun::kMaxRows);
  meter.set_max_units(std::min(max_units, ShadowRun::kMaxUnits));
  ShadowStats stats =
      context_.scratch.shadow.CompareEyes(scene, group, session.eye_batches / interval, meter);
  stats.units = meter.used();
  if (stats.differences == 0) return stats;
  session.trackers.Forget();
  areas.trackers = sees.trackers = {};
  return stats;
}

// A difference is a bug in the trackers' memories (their caches of nearby polygons): deletes all
// memories, and answers this batch of moves without them.
ShadowStats FrameSlice::ShadowOfMoves(const Scene& scene, Group& group, uint64_t max_units) {
  Session& session = context_.session;
  MoveOptions& options = group.move_options;
  const uint64_t interval = context_.limits.shadow_interval;
  if (group.moves.size() == 0 || ++session.move_batches % interval != 0) return {};
  WorkMeter meter(Stop());
  meter.set_max_rows(ShadowRun::kMaxRows);
  meter.set_max_units(std::min(max_units, ShadowRun::kMaxUnits));
  ShadowResult result = context_.scratch.shadow.Compare(scene, group.moves, options,
                                                        session.move_batches / interval, meter);
  result.stats.units = meter.used();
  session.trackers.End(result.memory_growth);
  options.memory_budget -= result.memory_growth;
  if (result.stats.differences == 0) return result.stats;
  session.trackers.Forget();
  options.coherence = Coherence::kOff;
  return result.stats;
}

void FrameSlice::Charge(const Evaluation& evaluation) {
  // A work meter stops soon after its limit, so the last evaluation of a time slice may take more
  // units than `units_left_`.
  units_left_ -= std::min(units_left_, evaluation.slice_units);
  work_.work_units += evaluation.work_units;
  work_.rows += evaluation.rows;
  work_.tiers += evaluation.tiers;
  work_.eye_tiers += evaluation.eye_tiers;
  work_.shadow += evaluation.shadow;
}

Progress FrameSlice::Conclude(const Evaluation& evaluation, const Group& group,
                              const GroupKindSet& kinds, size_t i) {
  if (evaluation.yields) return Progress::kYields;
  Charge(evaluation);
  v1::GroupAnswer& answer = AnswerAt(i);
  if (!evaluation.status.ok()) return AnswerStatus(evaluation.status, answer);
  Count(group, kinds, context_.scratch.answers);
  wire::EncodeGroupAnswers(group, context_.scratch.answers, answer);
  return Progress::kDone;
}

void FrameSlice::Count(const Group& group, const GroupKindSet& kinds, const GroupAnswers& answers) {
  uint64_t left = kinds.to_ullong();  // the bits of `kinds` from that of `kind` on
  ForEachOf<kGroupKinds>(kinds, [&](const auto& kind) {
    const auto position = static_cast<size_t>(std::countr_zero(left));
    left &= left - 1;
    context_.metrics.AddQueries(position, (group.*kind.columns).size());
    for (const ItemError& error : (answers.*kind.answers).errors) {
      context_.metrics.AddItemFault(error.fault);
    }
  });
}

}  // namespace carom::server
