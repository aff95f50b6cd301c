// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/explain.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "carom/group_kinds.h"
#include "carom/status.h"
#include "explain/question.h"
#include "index/edit_history.h"
#include "numeric/exact_count.h"
#include "tracker/tracker_access.h"

namespace carom {
namespace {

using internal::Question;
using internal::Questions;
using internal::TrackerAccess;

absl::Status RefusedItem(absl::string_view field, absl::string_view description) {
  return Refused(absl::StatusCode::kInvalidArgument, field, description);
}

// Returns OK if the group has one item, or moves of one tracker.
absl::Status CheckOneItem(const Group& group) {
  const absl::Status status = CheckGroup(group);
  if (!status.ok()) return status;
  size_t items = 0;
  ForEachKind([&](const auto& kind) { items += (group.*kind.columns).size(); });
  const MoveColumns& moves = group.moves;
  if (items == 0) return RefusedItem("group", "must have a question");
  if (items != 1 && items != moves.size()) return RefusedItem("group", "must have one item");
  if (moves.size() > kMaxExplainedMoves) {
    return RefusedItem("moves", absl::StrCat("must be at most ", kMaxExplainedMoves, " moves"));
  }
  for (size_t i = 1; i < moves.size(); ++i) {
    if (internal::TrackerIndexOf(moves, i) != internal::TrackerIndexOf(moves, 0)) {
      return RefusedItem("moves.tracker", "must be moves of one tracker");
    }
  }
  return absl::OkStatus();
}

// Returns the error of the item, if it has one, and sets the name of its kind.
std::optional<ItemError> ErrorOf(const Group& group, const GroupAnswers& answers,
                                 std::string& name) {
  std::optional<ItemError> error;
  ForEachKind([&](const auto& kind) {
    if ((group.*kind.columns).size() == 0) return;
    name = kind.name;
    const std::vector<ItemError>& errors = (answers.*kind.answers).errors;
    if (!errors.empty()) error = errors[0];
  });
  return error;
}

// Returns the part of the answer that the stages do not have.
std::string AnswerOf(const Group& group, const GroupAnswers& answers) {
  using internal::Text;
  if (group.sights.size() != 0) {
    return answers.sights.visible[0] != 0 ? "visible" : "not visible";
  }
  if (group.segments.size() + group.rays.size() != 0) {
    const CastAnswers& casts = group.segments.size() != 0 ? answers.segments : answers.rays;
    return absl::StrCat("hits: ", casts.counts[0],
                        casts.truncated.empty() ? "" : ", truncated at max_hits");
  }
  if (group.fans.size() != 0) {
    const auto hits = std::ranges::count(answers.fans.hits, 1);
    return absl::StrCat("beams: ", answers.fans.hits.size(), ", of which ", hits, " hit something");
  }
  if (group.areas.size() != 0) {
    const AreaAnswers& areas = answers.areas;
    return absl::StrCat("pieces: ", areas.counts[0], ", area ", Text(areas.areas[0]),
                        areas.truncated.empty() ? "" : ", truncated at max_rows",
                        areas.starts_inside[0] != 0 ? ", the eye is inside" : "");
  }
  if (group.sees.size() != 0) {
    return absl::StrCat("bodies seen: ", answers.sees.counts[0],
                        answers.sees.starts_inside[0] != 0 ? ", the eye is inside" : "");
  }
  if (group.slides.size() != 0) {
    const SlideRow& row = answers.slides.rows[0];
    return absl::StrCat("ends at ", Text(row.position), " after ", row.legs,
                        " legs, unused part of the push ", Text(row.left));
  }
  if (group.depenetrations.size() != 0) {
    const DepenetrateAnswers& pushed = answers.depenetrations;
    return absl::StrCat("ends at ", Text(pushed.positions[0]), " after ", pushed.steps[0],
                        " pushes, ", pushed.finished[0] != 0 ? "free" : "not free");
  }
  if (group.bounces.size() + group.ray_bounces.size() != 0) {
    const bool rays = group.ray_bounces.size() != 0;
    const bool stuck = !(rays ? answers.ray_bounces.stuck : answers.bounces.stuck).empty();
    const uint32_t legs = (rays ? answers.ray_bounces.counts : answers.bounces.counts)[0];
    return absl::StrCat("legs: ", legs, stuck ? ", stuck" : "");
  }
  if (group.sweeps.size() != 0 && !answers.sweeps.safe.empty()) {
    return absl::StrCat("hits: ", answers.sweeps.counts[0], ", safe pose ",
                        Text(answers.sweeps.safe[0]));
  }
  size_t count = 0;
  ForEachKind([&](const auto& kind) {
    const auto& columns = group.*kind.columns;
    const auto& answered = answers.*kind.answers;
    if constexpr (requires { answered.counts; }) {
      if (columns.size() != 0 && !answered.counts.empty()) count = answered.counts[0];
    }
  });
  return absl::StrCat("polygons and bodies in the answer: ", count);
}

absl::Status JudgeAll(const Scene& scene, const Questions& questions, const ExplainOptions& options,
                      Explanation& out, WorkMeter& meter) {
  internal::ExplainBudget budget{
      std::clamp(options.max_candidates, uint32_t{1}, kMaxExplainedCandidates), kMaxExplainedEdges};
  for (const Question& question : questions.list) {
    const absl::Status status =
        internal::Judge(scene, question, budget, out.stages.emplace_back(), meter);
    if (!status.ok()) return status;
  }
  out.unlisted_stages = questions.unlisted;
  if (!meter.stopped()) return absl::OkStatus();
  // Asks once more, for the status of a meter that has stopped.
  GroupAnswers none;
  return EvaluateGroup(scene, {}, none, meter);
}

// Returns move `i` alone, of the tracker `tracker`.
MoveColumns OneMove(const MoveColumns& moves, size_t i, Tracker& tracker) {
  MoveColumns one = moves;
  one.trackers = {&tracker, 1};
  one.tracker = {};
  one.first_tracker = 0;
  for (auto column : {&MoveColumns::x, &MoveColumns::y, &MoveColumns::c, &MoveColumns::s,
                      &MoveColumns::angle, &MoveColumns::from_x, &MoveColumns::from_y,
                      &MoveColumns::from_c, &MoveColumns::from_s, &MoveColumns::from_angle}) {
    if (!(one.*column).empty()) one.*column = (one.*column).subspan(i, 1);
  }
  return one;
}

// Reads what the tracker remembers before it moves to `p`.
void ReadMemory(const Scene& scene, Tracker& tracker, OverlapDetail detail, Vec2 p,
                ExplainedMemory& out) {
  const internal::QuietBall& ball = TrackerAccess::ball(tracker);
  out.ball_center = ball.center;
  out.ball_radius2 = ball.radius2[static_cast<size_t>(detail)];
  const double dx = p.x - ball.center.x;
  const double dy = p.y - ball.center.y;
  out.distance2 = dx * dx + dy * dy;
  out.same_scene = ball.scene_state == scene.history().state();
  const auto& memory = TrackerAccess::memory(tracker);
  if (memory == nullptr) return;
  out.mask_center = memory->center();
  out.mask_radius = memory->limit();
  out.known_radius = memory->known_radius();
  if (out.mask_radius < 0) return;
  for (size_t i = 0; i < memory->neighbor_count(); ++i) {
    out.neighbors.push_back(memory->id(i));
    if ((memory->touched() >> i & 1) != 0) out.touched.push_back(memory->id(i));
  }
}

MoveTier TierOf(const MoveTiers& tiers) {
  if (tiers.quiet != 0) return MoveTier::kQuiet;
  if (tiers.near != 0) return MoveTier::kNear;
  return tiers.refresh != 0 ? MoveTier::kRefresh : MoveTier::kCold;
}

std::string WhyOf(const ExplainedMemory& memory, Coherence coherence) {
  using internal::Text;
  if (coherence == Coherence::kOff) return "coherence is off: no memory is used";
  const std::string numbers =
      absl::StrCat("squared distance from the centre of the quiet ball ", Text(memory.distance2),
                   memory.distance2 < memory.ball_radius2 ? " < " : " >= ", "squared radius ",
                   Text(memory.ball_radius2));
  if (memory.tier == MoveTier::kQuiet) return absl::StrCat("quiet: ", numbers);
  if (memory.moves == 0) return "not quiet: the tracker has no memory yet";
  if (memory.ball_radius2 < 0) return "not quiet: the last answer left no quiet ball";
  if (!memory.same_scene) return "not quiet: the quiet ball is of another version of the scene";
  return absl::StrCat("not quiet: ", numbers);
}

// Makes the moves one after the other, and explains the last one.
absl::Status ExplainMoves(const Scene& scene, const Group& asked, const ExplainOptions& options,
                          Explanation& out, WorkMeter& meter) {
  const Tracker* const given = internal::TrackerOf(asked.moves, 0);
  Tracker tracker;
  if (given != nullptr) tracker = *given;
  if (given != nullptr) tracker.Forget();
  ExplainedMemory& memory = out.memory.emplace();
  GroupAnswers answers;
  Group group;
  group.move_options = asked.move_options;
  absl::Status status;
  for (size_t i = 0; i < asked.moves.size(); ++i) {
    group.moves = OneMove(asked.moves, i, tracker);
    const bool is_last = i + 1 == asked.moves.size();
    memory.moves = i;
    if (is_last && given != nullptr) {
      const Vec2 p{group.moves.x[0], group.moves.y[0]};
      ReadMemory(scene, tracker, group.move_options.detail, p, memory);
    }
    status = EvaluateGroup(scene, group, answers, meter);
    if (!status.ok()) return status;
  }
  out.version = answers.version;
  out.error = ErrorOf(group, answers, out.kind);
  if (out.error) {
    out.memory.reset();
    return absl::OkStatus();
  }
  const MoveAnswers& moved = answers.moves;
  memory.tier = TierOf(moved.tiers);
  memory.quiet_radius = std::sqrt(std::max(
      0.0, TrackerAccess::ball(tracker).radius2[static_cast<size_t>(group.move_options.detail)]));
  memory.why = WhyOf(memory, group.move_options.coherence);
  out.answer = moved.clear[0] != 0
                   ? "clear"
                   : absl::StrCat("touches at the end: ", moved.counts[0],
                                  moved.first_touches.empty() || !moved.first_touches[0].touches
                                      ? ""
                                      : absl::StrCat(", first touch: polygon ",
                                                     moved.first_touches[0].polygon_id, " at ",
                                                     internal::Text(moved.first_touches[0].high)));
  Questions questions;
  internal::AskMove(group, questions);
  status = JudgeAll(scene, questions, options, out, meter);
  if (!status.ok() || options.svg_width == 0) return status;
  internal::WriteSvg(scene, {group, answers}, questions, options.svg_width, out);
  return status;
}

absl::Status ExplainItem(const Scene& scene, const Group& group, const ExplainOptions& options,
                         Explanation& out, WorkMeter& meter) {
  GroupAnswers answers;
  absl::Status status = EvaluateGroup(scene, group, answers, meter);
  if (!status.ok()) return status;
  out.version = answers.version;
  out.error = ErrorOf(group, answers, out.kind);
  if (out.error) return absl::OkStatus();
  out.answer = AnswerOf(group, answers);
  Questions questions;
  internal::Ask(group, answers, questions);
  status = JudgeAll(scene, questions, options, out, meter);
  if (!status.ok() || options.svg_width == 0) return status;
  internal::WriteSvg(scene, {group, answers}, questions, options.svg_width, out);
  return status;
}

}  // namespace

namespace {

// Sets `of_moment` to the group with the bodies of the moment of its only item in place of their
// history: the answer of the item is the same. `past` owns the bodies. Returns OUT_OF_RANGE if the
// moment is not kept.
absl::Status TakeMoment(const Group& group, PastBodies& past, Group& of_moment) {
  const BodyHistory& history = *group.body_history;
  auto as_of = static_cast<double>(history.newest_tick());
  bool needs_bodies = group.body_contacts.size() > 0 || group.sees.size() > 0;
  of_moment = group;
  ForEachKind([&](const auto& kind) {
    auto& columns = of_moment.*kind.columns;
    if constexpr (HasScope<std::remove_cvref_t<decltype(columns)>>) {
      Scope& scope = ScopeOf(columns);
      needs_bodies = needs_bodies || (columns.size() > 0 && scope.against != Against::kScene);
      if (scope.as_of.empty()) return;
      as_of = scope.as_of[0];
      needs_bodies = true;
      scope.as_of = {};
    }
  });
  of_moment.body_history = nullptr;
  if (history.At(as_of, group.body_rotation, past)) {
    of_moment.bodies = past.columns();
  } else if (needs_bodies) {
    return Refused(absl::StatusCode::kOutOfRange, "as_of", Description(ItemFault::kNotKept));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Explanation> Explain(const Scene& scene, const Group& group,
                                    const ExplainOptions& options, WorkMeter& meter) {
  absl::Status status = CheckOneItem(group);
  if (!status.ok()) return status;
  if (group.body_history != nullptr) {
    PastBodies past;
    Group of_moment;
    status = TakeMoment(group, past, of_moment);
    return status.ok() ? Explain(scene, of_moment, options, meter) : status;
  }
  Explanation explanation;
  status = group.moves.size() != 0 ? ExplainMoves(scene, group, options, explanation, meter)
                                   : ExplainItem(scene, group, options, explanation, meter);
  if (!status.ok()) return status;
  internal::WriteText(explanation);
  return explanation;
}

}  // namespace carom
