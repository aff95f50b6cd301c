// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Pictures of carom.h.

#include "carom/svg.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "abi/call.h"
#include "abi/column_reader.h"
#include "abi/handles.h"
#include "abi/questions.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/body_history.h"
#include "carom/group_kinds.h"

namespace carom::abi {
namespace {

// The questions of a picture.
struct Questions {
  ColumnStorage storage;
  Group group;
  GroupKindSet kinds;
};

// Removes the moments of all items: without a history, a group must not have any.
void ForgetMoments(Group& group) {
  ForEachKind([&](const auto& kind) {
    auto& columns = group.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> && HasScope<std::remove_cvref_t<decltype(columns)>>) {
      ScopeOf(columns).as_of = {};
    }
  });
}

// Reads all batches and checks that their columns fit, as `carom_evaluate` does. The bodies of
// a history are those of its newest tick, which `past` keeps.
absl::Status ReadQuestions(const carom_picture& picture, const carom_world& world, PastBodies& past,
                           Questions& out) {
  const carom_body_history* const history = world.body_history;
  absl::Status read = ReadRotation(world, out.group.body_rotation);
  if (!read.ok()) return read;
  absl::Status status =
      ReadBatches(picture.batches, picture.batch_count, out.storage, out.group, out.kinds);
  if (!status.ok()) return status;
  if (world.bodies != nullptr) out.group.bodies = world.bodies->storage.columns();
  out.group.body_history = history != nullptr ? &history->history : nullptr;
  status = CheckGroup(out.group, out.kinds);
  out.group.body_history = nullptr;
  if (history != nullptr) ForgetMoments(out.group);
  if (status.ok() && history != nullptr &&
      history->use->newest(history->history, out.group.body_rotation, past)) {
    out.group.bodies = past.columns();
  }
  return status;
}

// Returns OK if `answers` has the kinds of the questions, and as many items of each.
absl::Status CheckAnswers(const Questions& questions, const carom_answers& answers) {
  bool fits = answers.asked == questions.kinds;
  ForEachOf<kGroupKinds>(questions.kinds, [&](const auto& kind) {
    fits =
        fits && ItemCount(answers.answers.*kind.answers) == (questions.group.*kind.columns).size();
  });
  return fits ? absl::OkStatus() : InvalidField("answers", "must be the answers to these batches");
}

// Draws the world's scene; if `picture` has batches, also the bodies and the questions; and if it
// has answers too, what was answered. The handles that one call at a time may use are marked as
// used, though they are only read.
absl::Status Draw(const carom_world* given, const carom_picture& picture, std::string& out) {
  SvgOptions options;
  if (picture.width != 0) options.width = picture.width;
  if (options.width < kMinSvgWidth || options.width > kMaxSvgWidth) {
    return InvalidField("picture.width",
                        absl::StrCat("must be 0 or in [", kMinSvgWidth, ", ", kMaxSvgWidth, "]"));
  }
  const carom_answers* const answers = picture.answers;
  Use use_answers, use_bodies, use_history;
  carom_world copy;
  const carom_world* world = nullptr;
  absl::Status status = ReadWorld(given, copy, world);
  if (status.ok() && world->bodies != nullptr) {
    status = use_bodies.Begin(world->bodies, "world.bodies");
  }
  if (status.ok() && world->trackers != nullptr) {
    status = CheckHandle(world->trackers, "world.trackers");
  }
  if (status.ok() && world->body_history != nullptr) {
    status = use_history.Begin(world->body_history, "world.body_history");
  }
  if (status.ok() && answers != nullptr) {
    status = use_answers.Begin(const_cast<carom_answers*>(answers), "answers");
  }
  if (!status.ok()) return status;
  const Scene& scene = *world->scene->scene;
  if (picture.batches == nullptr && picture.batch_count == 0) {
    out = DrawSvg(scene, nullptr, nullptr, options);
    return absl::OkStatus();
  }
  PastBodies past;
  Questions questions;
  status = ReadQuestions(picture, *world, past, questions);
  if (status.ok() && answers != nullptr) status = CheckAnswers(questions, *answers);
  if (!status.ok()) return status;
  out = DrawSvg(scene, &questions.group, answers != nullptr ? &answers->answers : nullptr, options);
  return absl::OkStatus();
}

}  // namespace
}  // namespace carom::abi

using namespace carom::abi;  // NOLINT: the functions of carom.h are in no namespace

uint32_t carom_write_svg(const carom_world* world, const carom_picture* picture, carom_buffer* out,
                         carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckHandle(out, "out"); !checked.ok()) return checked;
    carom_picture copy{};
    const carom_picture* read = &copy;
    if (picture != nullptr) {
      absl::Status checked = Whole(picture, "picture", copy, read);
      if (!checked.ok()) return checked;
    }
    return Draw(world, *read, out->bytes);
  });
}
