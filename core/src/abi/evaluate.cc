// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Questions and answers of carom.h.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "abi/answer_views.h"
#include "abi/call.h"
#include "abi/handles.h"
#include "abi/questions.h"
#include "absl/status/status.h"
#include "carom/group_kinds.h"
#include "carom/work_meter.h"

namespace carom::abi {
namespace {

// Empties the answers to `kinds`. Their memory is used again.
void Clear(const GroupKindSet& kinds, carom_answers& answers) {
  if (kinds.none()) return;
  ForEachOf<kGroupKinds>(kinds, [&](const auto& kind) { (answers.answers.*kind.answers).Clear(); });
}

// Begins a frame of a tracker table, and ends it also if the evaluation throws.
class TrackerFrame {
 public:
  TrackerFrame(TrackerTable& table, Group& group, const MoveAnswers& moves)
      : table_(table), moves_(moves) {
    table.BeginFrame();
    table.Begin(group);
  }
  ~TrackerFrame() { table_.End(moves_.memory_growth); }
  TrackerFrame(const TrackerFrame&) = delete;
  TrackerFrame& operator=(const TrackerFrame&) = delete;

 private:
  TrackerTable& table_;
  const MoveAnswers& moves_;
};

// What a call asks about, in use for its time.
struct UsedWorld {
  const carom_scene* scene = nullptr;
  carom_bodies* bodies = nullptr;
  carom_trackers* trackers = nullptr;
  carom_body_history* history = nullptr;
  BodyRotation rotation = BodyRotation::kNearest;
};

// Drops moves and numbers of eyes that an earlier call has left, and what it set for moves.
void DropUnasked(carom_answers& answers) {
  Group& group = answers.group;
  if (!answers.asked.test(CAROM_KIND_MOVES - 1) && group.moves.size() > 0) group.moves = {};
  if (!answers.asked.test(CAROM_KIND_AREAS - 1)) group.areas.eye = {};
  if (!answers.asked.test(CAROM_KIND_SEES - 1)) group.sees.eye = {};
  group.moves.trackers = {};
  answers.answers.moves.memory_growth = 0;
}

// Answers the group of `answers`, which has been read.
absl::Status Answer(const UsedWorld& world, carom_answers& answers) {
  carom_bodies* const bodies = world.bodies;
  if (bodies != nullptr) {
    answers.group.bodies = bodies->storage.columns();
  } else if (answers.group.bodies.size() > 0) {
    answers.group.bodies = {};  // those of an earlier question
  }
  answers.group.body_history = world.history != nullptr ? &world.history->history : nullptr;
  answers.group.body_rotation = world.rotation;
  if (!answers.asked.test(CAROM_KIND_BODY_CONTACTS - 1)) answers.group.body_contacts.mass = {};
  if (absl::Status status = CheckGroup(answers.group, answers.asked); !status.ok()) return status;
  WorkMeter meter;
  if (answers.max_rows != 0) meter.set_max_rows(answers.max_rows);
  if (answers.max_work_units != 0) meter.set_max_units(answers.max_work_units);
  std::optional<TrackerFrame> frame;
  DropUnasked(answers);
  const Group& group = answers.group;
  const bool has_eyes = !group.areas.eye.empty() || !group.sees.eye.empty();
  if (world.trackers != nullptr && (group.moves.size() > 0 || has_eyes)) {
    frame.emplace(world.trackers->table, answers.group, answers.answers.moves);
  }
  if (world.history != nullptr) {
    return world.history->use->answer(*world.scene->scene, answers.group, answers.asked,
                                      answers.answers, meter);
  }
  const World placed(*world.scene->scene, bodies != nullptr ? &bodies->bodies : nullptr);
  return EvaluateGroup(placed, answers.group, answers.asked, answers.answers, meter);
}

// Empties answers at the end of a call, whether by an error or by an exception, unless the call has
// kept them.
class ClearedUnlessKept {
 public:
  explicit ClearedUnlessKept(carom_answers& answers) : answers_(answers) {}
  ~ClearedUnlessKept() {
    if (kept_) return;
    answers_.answers.Clear();
    answers_.asked.reset();
  }
  ClearedUnlessKept(const ClearedUnlessKept&) = delete;
  ClearedUnlessKept& operator=(const ClearedUnlessKept&) = delete;

  void Keep() { kept_ = true; }

 private:
  carom_answers& answers_;
  bool kept_ = false;
};

// Asks `batch_count` batches and fills `answers`, which is empty after an error.
absl::Status Evaluate(const carom_world* given, const carom_batch* batches, size_t batch_count,
                      carom_answers* answers) {
  Use use_answers, use_bodies, use_trackers, use_history;
  absl::Status status = use_answers.Begin(answers, "answers");
  if (!status.ok()) return status;
  ClearedUnlessKept cleared(*answers);
  carom_world copy;
  const carom_world* read = nullptr;
  status = ReadWorld(given, copy, read);
  if (!status.ok()) return status;
  if (read->bodies != nullptr) status = use_bodies.Begin(read->bodies, "world.bodies");
  if (status.ok() && read->trackers != nullptr) {
    status = use_trackers.Begin(read->trackers, "world.trackers");
  }
  if (status.ok() && read->body_history != nullptr) {
    status = use_history.Begin(read->body_history, "world.body_history");
  }
  UsedWorld world = {read->scene, read->bodies, read->trackers, read->body_history};
  if (status.ok()) status = ReadRotation(*read, world.rotation);
  GroupKindSet asked;
  if (status.ok()) {
    status = ReadBatches(batches, batch_count, answers->storage, answers->group, asked);
  }
  if (!status.ok()) return status;
  Clear(answers->asked & ~asked, *answers);
  answers->asked = asked;
  status = Answer(world, *answers);
  answers->group.body_history = nullptr;  // the history may be destroyed after the call
  if (status.ok()) cleared.Keep();
  return status;
}

uint32_t Ask(const carom_world* world, uint32_t kind, const void* question, carom_answers* answers,
             carom_status* status) {
  return Run(status, [&] {
    const carom_batch batch = {kind, 0, question};
    return Evaluate(world, &batch, 1, answers);
  });
}

// Reads body columns and places the bodies.
absl::Status Place(const carom_body_columns* given, carom_bodies& bodies) {
  carom_body_columns copy;
  const carom_body_columns* columns = nullptr;
  absl::Status status = Whole(given, "bodies", copy, columns);
  if (!status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("bodies", storage, refusal);
  Group group;
  reader.CheckReserved(columns->reserved);
  ReadPlaced(columns->placed, reader.Below("placed."), group.bodies.placed);
  reader.Read("category", columns->category, group.bodies.category);
  reader.Read("owner", columns->owner, group.bodies.owner);
  if (!refusal.empty()) return refusal.status();
  status = CheckGroup(group, GroupKindSet());
  if (!status.ok()) return status;
  auto placed = Bodies::Create(group.bodies);
  if (!placed.ok()) return placed.status();
  const auto keep = [](auto& to, const auto& from) { to.assign(from.begin(), from.end()); };
  BodyStorage kept;
  if (columns->placed.shapes != nullptr) kept.shapes = columns->placed.shapes->table;
  keep(kept.shape, group.bodies.placed.shape);
  keep(kept.x, group.bodies.placed.x);
  keep(kept.y, group.bodies.placed.y);
  keep(kept.c, group.bodies.placed.c);
  keep(kept.s, group.bodies.placed.s);
  keep(kept.angle, group.bodies.placed.angle);
  keep(kept.category, group.bodies.category);
  keep(kept.owner, group.bodies.owner);
  bodies.storage = std::move(kept);  // nothing fails from here on
  bodies.bodies = *std::move(placed);
  return absl::OkStatus();
}

absl::Status Define(carom_trackers* trackers, const carom_u32_column& removed,
                    const carom_tracker_definitions* given) {
  Use use;
  if (absl::Status status = use.Begin(trackers, "trackers"); !status.ok()) return status;
  ColumnStorage storage;
  Refusal refusal;
  ColumnReader reader("trackers", storage, refusal);
  std::span<const uint32_t> freed;
  reader.Read("removed", removed, freed);
  TrackerDefinitions definitions;
  if (given != nullptr) {
    carom_tracker_definitions copy;
    const carom_tracker_definitions* read = nullptr;
    absl::Status status = Whole(given, "trackers", copy, read);
    if (status.ok()) status = CheckHandle(read->shapes, "trackers.shapes");
    if (!status.ok()) return status;
    definitions.shapes = read->shapes->table->shapes;
    definitions.first_tracker = read->first_tracker;
    definitions.options.within = read->within;
    if (read->mask != 0) definitions.options.mask = read->mask;
    reader.Read("shape", read->shape, definitions.shape);
    reader.Read("tracker", read->tracker, definitions.tracker);
  }
  if (!refusal.empty()) return refusal.status();
  return trackers->table.Define(freed, given != nullptr
                                           ? std::span<const TrackerDefinitions>(&definitions, 1)
                                           : std::span<const TrackerDefinitions>());
}

}  // namespace

absl::Status ReadWorld(const carom_world* given, carom_world& copy, const carom_world*& world) {
  absl::Status status = Whole(given, "world", copy, world);
  if (!status.ok()) return status;
  if (world->reserved != 0) return InvalidField("world.reserved", "must be 0");
  if (world->reserved_2 != 0) return InvalidField("world.reserved_2", "must be 0");
  return CheckHandle(world->scene, "world.scene");
}

absl::Status ReadRotation(const carom_world& world, BodyRotation& rotation) {
  rotation = world.body_rotation == CAROM_BODY_ROTATION_LINEAR ? BodyRotation::kLinear
                                                               : BodyRotation::kNearest;
  if (world.body_rotation > CAROM_BODY_ROTATION_LINEAR) {
    return InvalidField("world.body_rotation", "must be in [0, 2]");
  }
  if (world.body_history == nullptr) return absl::OkStatus();
  if (world.bodies != nullptr) {
    return InvalidField("world.bodies", "must be null beside body_history");
  }
  if (world.body_history->history.Allows(rotation)) return absl::OkStatus();
  return InvalidField("world.body_rotation", "must be nearest for ticks with c and s");
}

BodyColumns BodyStorage::columns() const {
  BodyColumns result;
  if (shapes != nullptr) result.placed.shapes = shapes->shapes;
  result.placed.shape = shape;
  result.placed.x = x;
  result.placed.y = y;
  result.placed.c = c;
  result.placed.s = s;
  result.placed.angle = angle;
  result.category = category;
  result.owner = owner;
  return result;
}

void Quarantine(void* memory) {
  // Reachable for the leak checker, and never freed, so that no other handle gets the address.
  static std::atomic<void**> kept{nullptr};
  void** const node = new void* [2] { memory, nullptr };
  void** next = kept.load();
  do {
    node[1] = static_cast<void*>(next);
  } while (!kept.compare_exchange_weak(next, node));
}

}  // namespace carom::abi

using namespace carom::abi;  // NOLINT: the functions of carom.h are in no namespace

uint32_t carom_evaluate(const carom_world* world, const carom_batch* batches, size_t batch_count,
                        carom_answers* answers, carom_status* status) {
  return Run(status, [&] { return Evaluate(world, batches, batch_count, answers); });
}

#define CAROM_DEFINE_KIND(number, name, Question, View, function)                            \
  uint32_t function(const carom_world* world, const Question* asked, carom_answers* answers, \
                    carom_status* status) {                                                  \
    return Ask(world, number, asked, answers, status);                                       \
  }
CAROM_KINDS(CAROM_DEFINE_KIND)
#undef CAROM_DEFINE_KIND

uint32_t carom_answers_create(const carom_answer_limits* limits, carom_answers** out,
                              carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    carom_answer_limits copy{};
    const carom_answer_limits* read = &copy;
    if (limits != nullptr) {
      absl::Status checked = Whole(limits, "limits", copy, read);
      if (checked.ok() && read->reserved != 0) {
        checked = carom::InvalidField("limits.reserved", "must be 0");
      }
      if (!checked.ok()) return checked;
    }
    *out = New<carom_answers>();
    (*out)->max_rows = read->max_rows;
    (*out)->max_work_units = read->max_work_units;
    return absl::OkStatus();
  });
}

void carom_answers_destroy(carom_answers* answers) { Destroy(answers); }

uint32_t carom_answers_read(const carom_answers* answers, uint32_t kind, void* out,
                            carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckHandle(answers, "answers"); !checked.ok()) return checked;
    if (answers->is_used.load(std::memory_order_acquire)) {
      return carom::Refused(absl::StatusCode::kFailedPrecondition, "answers",
                            "is used by another call");
    }
    return ViewAnswers(answers->answers, kind, out);
  });
}

uint64_t carom_answers_version(const carom_answers* answers) {
  return CheckHandle(answers, "").ok() ? answers->answers.version : 0;
}

uint64_t carom_answers_digest(const carom_answers* answers) {
  return CheckHandle(answers, "").ok() ? DigestOf(answers->answers, answers->asked) : 0;
}

uint32_t carom_bodies_create(const carom_body_columns* columns, carom_bodies** out,
                             carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    const auto destroy = [](carom_bodies* bodies) { Destroy(bodies); };
    std::unique_ptr<carom_bodies, decltype(destroy)> made(New<carom_bodies>(), destroy);
    const absl::Status placed = Place(columns, *made);
    if (placed.ok()) *out = made.release();
    return placed;
  });
}

uint32_t carom_bodies_place(carom_bodies* bodies, const carom_body_columns* columns,
                            carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    Use use;
    if (absl::Status checked = use.Begin(bodies, "bodies"); !checked.ok()) return checked;
    return Place(columns, *bodies);
  });
}

void carom_bodies_destroy(carom_bodies* bodies) { Destroy(bodies); }

size_t carom_bodies_size(const carom_bodies* bodies) {
  return CheckHandle(bodies, "").ok() ? bodies->bodies.size() : 0;
}

uint32_t carom_trackers_create(uint64_t max_trackers, uint64_t max_bytes, carom_trackers** out,
                               carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    if (absl::Status checked = CheckOut(out); !checked.ok()) return checked;
    if (max_trackers > uint64_t{1} << 24) {
      return carom::InvalidField("max_trackers", "must be in [0, 16777216]");
    }
    carom::TrackerTableLimits limits;
    if (max_trackers != 0) limits.max_trackers = limits.max_eyes = max_trackers;
    if (max_bytes != 0) limits.max_bytes = max_bytes;
    *out = New<carom_trackers>();
    (*out)->table = carom::TrackerTable(limits);
    return absl::OkStatus();
  });
}

void carom_trackers_destroy(carom_trackers* trackers) { Destroy(trackers); }

size_t carom_trackers_bytes(const carom_trackers* trackers) {
  return CheckHandle(trackers, "").ok() ? trackers->table.memory_bytes() : 0;
}

uint32_t carom_trackers_forget(carom_trackers* trackers, carom_status* status) {
  return Run(status, [&]() -> absl::Status {
    Use use;
    absl::Status checked = use.Begin(trackers, "trackers");
    if (checked.ok()) trackers->table.Forget();
    return checked;
  });
}

uint32_t carom_trackers_define(carom_trackers* trackers, carom_u32_column removed,
                               const carom_tracker_definitions* definitions, carom_status* status) {
  return Run(status, [&] { return Define(trackers, removed, definitions); });
}

const char* carom_item_column_name(uint32_t column) {
  return column < static_cast<uint32_t>(carom::kItemColumnCount)
             ? carom::Name(static_cast<carom::ItemColumn>(column))
             : nullptr;
}

const char* carom_item_fault_description(uint32_t fault) {
  return fault <= static_cast<uint32_t>(carom::ItemFault::kNotKept)
             ? carom::Description(static_cast<carom::ItemFault>(fault))
             : nullptr;
}

namespace {

template <class T>
uint32_t CopyTo(const T& column, ElementOf<T>* out, size_t capacity) {
  using Element = ElementOf<T>;
  constexpr size_t kMost = std::numeric_limits<ptrdiff_t>::max() / sizeof(Element);
  if (column.length == 0) return CAROM_OK;
  const size_t stride = column.stride != 0 ? column.stride : 1;
  if (column.length > capacity || column.data == nullptr || out == nullptr ||
      reinterpret_cast<uintptr_t>(column.data) % alignof(Element) != 0 ||
      reinterpret_cast<uintptr_t>(out) % alignof(Element) != 0 || stride > kMost / column.length) {
    return CAROM_INVALID_ARGUMENT;
  }
  for (size_t i = 0; i < column.length; ++i) out[i] = column.data[i * stride];
  return CAROM_OK;
}

}  // namespace

uint32_t carom_f64_copy(carom_f64_column column, double* out, size_t capacity) {
  return CopyTo(column, out, capacity);
}
uint32_t carom_u64_copy(carom_u64_column column, uint64_t* out, size_t capacity) {
  return CopyTo(column, out, capacity);
}
uint32_t carom_u32_copy(carom_u32_column column, uint32_t* out, size_t capacity) {
  return CopyTo(column, out, capacity);
}
uint32_t carom_u8_copy(carom_u8_column column, uint8_t* out, size_t capacity) {
  return CopyTo(column, out, capacity);
}
