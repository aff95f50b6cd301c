// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Body histories of carom.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "abi/call.h"
#include "abi/column_reader.h"
#include "abi/handles.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "carom/body_history.h"
#include "carom/group_kinds.h"
#include "carom/status.h"

namespace carom::abi {
namespace {

// Puts `prefix`, the name of a struct and a dot, before the field paths of an error.
absl::Status Under(const char* prefix, const absl::Status& status) {
  std::vector<Violation> violations = Violations(status);
  for (Violation& violation : violations) {
    violation.field = absl::StrCat(prefix, violation.field);
  }
  return WithViolations(status, violations, ViolationCount(status));
}

// Makes the history of a definition, without ticks.
absl::StatusOr<BodyHistory> MakeHistory(const carom_body_definition* given) {
  carom_body_definition copy;
  const carom_body_definition* read = nullptr;
  absl::Status status = Whole(given, "body_history", copy, read);
  if (status.ok() && read->shapes != nullptr) {
    status = CheckHandle(read->shapes, "body_history.shapes");
  }
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("body_history", storage, refusal);
  const auto column = [&](const char* name, const auto& from, auto& to) {
    std::span<const ElementOf<std::remove_cvref_t<decltype(from)>>> values;
    reader.Read(name, from, values);
    to.assign(values.begin(), values.end());
  };
  BodyDefinition definition;
  column("shape", read->shape, definition.shape);
  column("category", read->category, definition.category);
  column("owner", read->owner, definition.owner);
  if (!refusal.empty()) return refusal.status();
  if (read->keep_ticks != 0) definition.keep_ticks = read->keep_ticks;
  if (read->shapes != nullptr) definition.shapes = read->shapes->table->shapes;
  absl::StatusOr<BodyHistory> made = BodyHistory::Create(std::move(definition));
  return made.ok() ? std::move(made) : Under("body_history.", made.status());
}

// Adds a tick to a history.
absl::Status AddTick(carom_body_history* history, const carom_body_poses* given) {
  Use use;
  carom_body_poses copy;
  const carom_body_poses* read = nullptr;
  absl::Status status = use.Begin(history, "body_history");
  if (status.ok()) status = Whole(given, "poses", copy, read);
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("poses", storage, refusal);
  reader.CheckReserved(read->reserved);
  PoseColumns poses;
  poses.tick = read->tick;
  reader.Read("x", read->x, poses.x);
  reader.Read("y", read->y, poses.y);
  reader.Read("c", read->c, poses.c);
  reader.Read("s", read->s, poses.s);
  reader.Read("angle", read->angle, poses.angle);
  reader.Read("alive", read->alive, poses.alive);
  reader.Read("teleported", read->teleported, poses.teleported);
  if (!refusal.empty()) return refusal.status();
  return Under("poses.", history->history.Add(poses));
}

absl::Status AnswerOfHistory(const Scene& scene, const Group& given, const GroupKindSet& asked,
                             GroupAnswers& out, WorkMeter& meter) {
  Group group;
  group.body_history = given.body_history;
  group.body_rotation = given.body_rotation;
  ForEachOf<kGroupKinds>(asked, [&](const auto& kind) {
    group.*kind.columns = given.*kind.columns;
    group.*kind.options = given.*kind.options;
  });
  return EvaluateGroup(scene, group, out, meter);
}

bool NewestBodies(const BodyHistory& history, BodyRotation rotation, PastBodies& out) {
  return history.At(static_cast<double>(history.newest_tick()), rotation, out);
}

constexpr HistoryUse kHistoryUse = {&AnswerOfHistory, &NewestBodies};

// Returns f(history), or 0 for what is no living handle, and while another call uses the handle.
template <class F>
auto NumberOf(const carom_body_history* history, const F& f) {
  using Number = decltype(f(history->history));
  Use use;
  const absl::Status status = use.Begin(const_cast<carom_body_history*>(history), "");
  return status.ok() ? f(history->history) : Number{0};
}

}  // namespace
}  // namespace carom::abi

using namespace carom::abi;  // NOLINT: the functions of carom.h are in no namespace

uint32_t carom_body_history_create(const carom_body_definition* definition,
                                   carom_body_history** out, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    absl::StatusOr<carom::BodyHistory> made = MakeHistory(definition);
    if (!made.ok()) return made.status();
    *out = New<carom_body_history>();
    (*out)->history = *std::move(made);  // does not fail
    (*out)->use = &kHistoryUse;
    return absl::OkStatus();
  });
}

void carom_body_history_destroy(carom_body_history* history) { Destroy(history); }

uint32_t carom_body_history_add(carom_body_history* history, const carom_body_poses* poses,
                                carom_status* status) {
  return Run(status, [&] { return AddTick(history, poses); });
}

size_t carom_body_history_size(const carom_body_history* history) {
  return NumberOf(history, [](const carom::BodyHistory& of) { return of.size(); });
}

size_t carom_body_history_tick_count(const carom_body_history* history) {
  return NumberOf(history, [](const carom::BodyHistory& of) { return of.tick_count(); });
}

uint64_t carom_body_history_oldest_tick(const carom_body_history* history) {
  return NumberOf(history, [](const carom::BodyHistory& of) { return of.oldest_tick(); });
}

uint64_t carom_body_history_newest_tick(const carom_body_history* history) {
  return NumberOf(history, [](const carom::BodyHistory& of) { return of.newest_tick(); });
}
