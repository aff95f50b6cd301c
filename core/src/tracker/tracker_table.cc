// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/tracker_table.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "tracker/tracked_shape.h"

namespace carom {

uint32_t TrackerTable::Slots::Take(uint32_t handle) {
  const uint32_t slot = Find(handle);
  if (slot != kNoSlot) return slot;
  if (size_ == 0) first_ = handle;
  if (is_run() && handle == first_ + run_) {
    ++run_;
    return size_++;
  }
  uint32_t& other = others_[handle];
  if (free_.empty()) {
    other = size_++;
  } else {
    other = free_.back();
    free_.pop_back();
  }
  return other;
}

void TrackerTable::Slots::Release(uint32_t handle) {
  const auto it = others_.find(handle);
  if (it == others_.end()) return;
  free_.push_back(it->second);
  others_.erase(it);
}

// Computes the result of an edit (removed handles and defined trackers), definition by definition,
// and collects its errors, before the table changes: an edit is applied as a whole or not at all. A
// handle is the number by which a client names a tracker; a slot is the index of a tracker in the
// table.
//
// `edit_.shape_bytes` is the number of bytes that all shapes of the table will take after the edit,
// with the definitions added so far. The bytes of a shape are charged once for all of its trackers:
// they are added when the first definition uses the shape, and subtracted when all trackers that
// hold the shape are released.
class TrackerTable::Checker {
 public:
  Checker(const TrackerTable& table, std::span<const uint32_t> removed) : table_(table) {
    edit_.shape_bytes = table.shape_bytes_;
    slots_ = table.slots_.size();
    others_ = table.slots_.other_count();
    for (const uint32_t handle : removed) Release(handle);
  }

  void Add(size_t index, const TrackerDefinitions& definitions) {
    path_ = absl::StrCat("trackers[", index, "].");
    const size_t count = definitions.size();
    if (!definitions.tracker.empty() && definitions.tracker.size() != count) {
      Refuse("tracker", absl::StrCat("must have as many entries as ",
                                     definitions.shape.empty() ? "shapes" : "shape", ", ", count));
      return;
    }
    definitions_ += count;
    if (definitions_ > table_.limits_.max_trackers) {
      return Exceed(definitions.shape.empty() ? "shapes" : "shape",
                    absl::StrCat("definitions must number at most ", table_.limits_.max_trackers,
                                 " (trackers a stream)"));
    }
    const std::vector<Tracker> prototypes = PrototypesOf(definitions);
    if (prototypes.size() != definitions.shapes.size()) return;
    for (size_t i = 0; i < count; ++i) Define(definitions, i, prototypes);
  }

  absl::StatusOr<Edit> Finished() {
    if (!refusal_.empty()) return refusal_.status(code_);
    if (SlotBytes(slots_, others_) + edit_.shape_bytes > table_.limits_.max_bytes) {
      return Refused(absl::StatusCode::kResourceExhausted, "trackers",
                     absl::StrCat("shapes must take at most ", table_.limits_.max_bytes,
                                  " bytes (tracker bytes a stream)"));
    }
    return std::move(edit_);
  }

 private:
  // Returns one tracker for each shape of `definitions`, as a prototype: the trackers that the edit
  // defines are copies of the prototypes. Returns fewer trackers if a shape is refused, with an
  // error recorded.
  std::vector<Tracker> PrototypesOf(const TrackerDefinitions& definitions) {
    std::vector<Tracker> prototypes;
    for (const Shape& shape : definitions.shapes) {
      const absl::Status size = CheckMovingVertices(shape.vertex_count(), "");
      if (!size.ok()) {
        Exceed(absl::StrCat("shapes[", prototypes.size(), "]"),
               Violations(size).front().description);
        break;
      }
      absl::StatusOr<Tracker> tracker = Tracker::Create(shape, definitions.options);
      if (!tracker.ok()) {
        for (const Violation& violation : Violations(tracker.status())) {
          Refuse(violation.field, violation.description);
        }
        break;
      }
      prototypes.push_back(*std::move(tracker));
    }
    return prototypes;
  }

  void Define(const TrackerDefinitions& definitions, size_t i,
              const std::vector<Tracker>& prototypes) {
    const bool is_dense = definitions.tracker.empty();
    const size_t handle = is_dense ? size_t{definitions.first_tracker} + i : definitions.tracker[i];
    const auto field = [&] {
      return is_dense ? std::string("first_tracker") : absl::StrCat("tracker[", i, "]");
    };
    const size_t kind = definitions.shape.empty() ? i : definitions.shape[i];
    if (kind >= prototypes.size()) {
      return Refuse(absl::StrCat("shape[", i, "]"), "must be an index into shapes");
    }
    if (handle >= table_.limits_.max_trackers) {
      return Exceed(field(), absl::StrCat("handles must be below ", table_.limits_.max_trackers,
                                          " (trackers a stream)"));
    }
    const auto number = static_cast<uint32_t>(handle);
    if (!defined_.insert(number).second) return Refuse(field(), "must not define a handle twice");
    Release(number);
    CountSlot(number);
    if (used_.insert(&prototypes[kind].shape()).second) {
      edit_.shape_bytes += prototypes[kind].shape_->memory_bytes();
    }
    edit_.handles.push_back(number);
    edit_.trackers.push_back(prototypes[kind]);
  }

  // Counts the slot that `Slots::Take` gives to the handle when `TrackerTable::Define` applies the
  // edit. `slots_` counts all slots, `others_` the slots that need an entry in a hash table, since
  // their handles do not continue the sequence of consecutive handles of the first slots. Assumes
  // that no slot that the edit frees is reused, so both counts are upper bounds.
  void CountSlot(uint32_t handle) {
    if (table_.slots_.Find(handle) != kNoSlot) return;
    if (slots_ == 0) first_ = handle;
    const uint32_t first = table_.slots_.size() == 0 ? first_ : table_.slots_.first();
    others_ += others_ > 0 || handle != first + slots_ ? 1 : 0;
    ++slots_;
  }

  // Records that the edit deletes the tracker at `handle`. Subtracts the bytes of its shape if no
  // other tracker holds the shape.
  void Release(uint32_t handle) {
    const Tracker* const tracker = table_.Find(handle);
    if (tracker == nullptr || !released_.insert(handle).second) return;
    const auto& shape = tracker->shape_;
    if (++releases_[shape.get()] == shape.use_count()) {
      edit_.shape_bytes -= shape->memory_bytes();
    }
  }

  void Refuse(absl::string_view field, absl::string_view description) {
    code_ = absl::StatusCode::kInvalidArgument;
    refusal_.Add(absl::StrCat(path_, field), description);
  }
  // Records a violation of a limit. The status is RESOURCE_EXHAUSTED only if no violation is
  // INVALID_ARGUMENT, whatever the order in which the violations are found.
  void Exceed(absl::string_view field, absl::string_view description) {
    if (refusal_.empty()) code_ = absl::StatusCode::kResourceExhausted;
    refusal_.Add(absl::StrCat(path_, field), description);
  }

  const TrackerTable& table_;
  Edit edit_;
  size_t slots_ = 0;
  size_t others_ = 0;
  uint32_t first_ = 0;  // first handle of the edit if the table is empty before the edit
  size_t definitions_ = 0;
  std::unordered_set<uint32_t> defined_, released_;
  std::unordered_set<const Shape*> used_;
  std::unordered_map<const internal::TrackedShape*, long> releases_;
  std::string path_;
  Refusal refusal_;
  absl::StatusCode code_ = absl::StatusCode::kInvalidArgument;
};

// Checks everything first, since nothing can fail after the checks. A handle is the number by which
// a client names a tracker, its slot the index in `trackers_`. Frees the slots of the removed
// handles before the defined trackers take slots. Sets `shape_bytes_` to the sum that the checker
// computed.
absl::Status TrackerTable::Check(std::span<const uint32_t> removed,
                                 std::span<const TrackerDefinitions> definitions) const {
  Checker checker(*this, removed);
  for (size_t i = 0; i < definitions.size(); ++i) checker.Add(i, definitions[i]);
  return checker.Finished().status();
}

absl::Status TrackerTable::Define(std::span<const uint32_t> removed,
                                  std::span<const TrackerDefinitions> definitions) {
  Checker checker(*this, removed);
  for (size_t i = 0; i < definitions.size(); ++i) checker.Add(i, definitions[i]);
  absl::StatusOr<Edit> checked = checker.Finished();
  if (!checked.ok()) return checked.status();
  Edit& edit = *checked;
  for (const uint32_t handle : removed) {
    if (const uint32_t slot = slots_.Find(handle); slot != kNoSlot) Free(slot);
    slots_.Release(handle);
  }
  for (const uint32_t handle : edit.handles) slots_.Take(handle);
  trackers_.resize(slots_.size());
  last_moved_.resize(slots_.size());
  for (size_t i = 0; i < edit.handles.size(); ++i) {
    const uint32_t slot = slots_.Find(edit.handles[i]);
    Free(slot);
    trackers_[slot] = std::move(edit.trackers[i]);
    last_moved_[slot] = frame_;
  }
  defined_ += edit.handles.size();
  shape_bytes_ = edit.shape_bytes;
  if (defined_ == 0) {  // an empty table frees its memory
    slots_ = {};
    trackers_ = std::vector<Tracker>();
    last_moved_ = std::vector<uint32_t>();
  }
  made_room_ = false;
  // Shapes go before memories of eyes.
  if (fixed_bytes() + eyes_.memory_bytes() > limits_.max_bytes) {
    eyes_ = EyeTable({.max_eyes = limits_.max_eyes});
  }
  eye_room_ = eyes_.memory_bytes();
  MakeRoom();
  return absl::OkStatus();
}

const Tracker* TrackerTable::Find(uint32_t handle) const {
  const uint32_t slot = slots_.Find(handle);
  return slot != kNoSlot && trackers_[slot].is_defined() ? &trackers_[slot] : nullptr;
}

// Deletes the tracker in the slot (the element of `trackers_` with the index `slot`), if there is
// one. The slot stays in the table.
void TrackerTable::Free(uint32_t slot) {
  if (!trackers_[slot].is_defined()) return;
  Forget(slot);
  trackers_[slot] = Tracker();
  --defined_;
}

void TrackerTable::Forget(uint32_t slot) {
  learned_bytes_ -= trackers_[slot].memory_bytes() - sizeof(Tracker);
  trackers_[slot].Forget();
}

void TrackerTable::Forget() {
  for (uint32_t slot = 0; slot < trackers_.size(); ++slot) Forget(slot);
  eyes_.Forget();
}

void TrackerTable::BeginFrame() {
  ++frame_;
  made_room_ = false;
  eyes_.BeginFrame();
  // Drops the memories of trackers that have not moved for more than `kMaxIdleFrames` frames (each
  // call of this function begins a frame). Checks a 64th of the slots per frame, so that each slot
  // is checked every 64 frames. The difference of frame numbers is right after the counter has
  // wrapped around, too.
  for (size_t left = (trackers_.size() + 63) / 64; left > 0; --left, ++next_idle_) {
    if (next_idle_ >= trackers_.size()) next_idle_ = 0;
    const auto slot = static_cast<uint32_t>(next_idle_);
    if (frame_ - last_moved_[slot] > kMaxIdleFrames) Forget(slot);
  }
}

void TrackerTable::Begin(Group& group, Coherence coherence) {
  BeginEyes(group, coherence);
  BeginMoves(group);
}

void TrackerTable::BeginEyes(Group& group, Coherence coherence) {
  const size_t taken = std::min(limits_.max_bytes, fixed_bytes() + learned_bytes_);
  eyes_.set_max_bytes(std::min(most_eye_bytes_, limits_.max_bytes - taken));
  eyes_.Begin(group, coherence);
  eye_room_ = eyes_.room();
}

// A handle is the number by which a client names a tracker, its slot the index in `trackers_`; a
// frame is one message of a client with queries. If the handles of the table are consecutive
// (`is_run`), slots follow from handles by a subtraction: moves of consecutive handles only need
// another `first_tracker`, and if the handles of the table begin at 0, each handle in
// `moves.tracker` equals its slot. The trackers that `group` (queries that are evaluated together)
// moves count as moved in this frame before `MakeRoom` drops memories, so that they are the last to
// lose their memories.
void TrackerTable::BeginMoves(Group& group) {
  MoveColumns& moves = group.moves;
  if (moves.size() == 0) return;
  if (moves.tracker.empty() && slots_.is_run() && moves.first_tracker >= slots_.first()) {
    moves.first_tracker -= slots_.first();
    const size_t first = std::min<size_t>(moves.first_tracker, last_moved_.size());
    const size_t count = std::min(moves.size(), last_moved_.size() - first);
    std::fill_n(last_moved_.begin() + static_cast<std::ptrdiff_t>(first), count, frame_);
  } else {
    if (moves.tracker.empty() || !slots_.is_run() || slots_.first() != 0) Renumber(moves);
    for (const uint32_t slot : moves.tracker) {
      if (slot < last_moved_.size()) last_moved_[slot] = frame_;
    }
  }
  MakeRoom();
  moves.trackers = trackers_;
  group.move_options.memory_budget =
      static_cast<int64_t>(learned_bytes_ < room() ? room() - learned_bytes_ : 0);
}

// Replaces the handles in the moves (the numbers by which a client names trackers) by slots
// (indices in `trackers_`). A handle without a slot becomes kNoSlot, which is the slot of no
// tracker.
void TrackerTable::Renumber(MoveColumns& moves) {
  moved_.resize(moves.size());
  for (size_t i = 0; i < moved_.size(); ++i) {
    const uint64_t handle =
        moves.tracker.empty() ? moves.first_tracker + uint64_t{i} : moves.tracker[i];
    moved_[i] = handle < kNoSlot ? slots_.Find(static_cast<uint32_t>(handle)) : kNoSlot;
  }
  moves.tracker = moved_;
}

// `memory_growth` may be below 0. The conversion to size_t then wraps around, and so does the sum,
// which makes the result right.
void TrackerTable::End(int64_t memory_growth) {
  learned_bytes_ += static_cast<size_t>(memory_growth);
  eyes_.End();
}

// If the memories of all trackers (what they remember of the scene) take more than 7/8 of the bytes
// that they may take (`room`), drops memories until the rest takes at most half of these bytes:
// first the memories of the trackers that moved least recently and, among equals, of the lowest
// slots (indices in `trackers_`). Runs at most once a frame (one message of a client with queries),
// since it visits all trackers. The moves of a tracker without room for a memory are answered
// without memory.
void TrackerTable::MakeRoom() {
  if (learned_bytes_ <= room() / 8 * 7 || made_room_) return;
  made_room_ = true;
  std::vector<uint32_t> slots;
  for (uint32_t slot = 0; slot < trackers_.size(); ++slot) {
    if (trackers_[slot].memory_bytes() > sizeof(Tracker)) slots.push_back(slot);
  }
  const auto age = [this](uint32_t slot) { return frame_ - last_moved_[slot]; };
  std::sort(slots.begin(), slots.end(),
            [&](uint32_t a, uint32_t b) { return age(a) != age(b) ? age(a) > age(b) : a < b; });
  for (const uint32_t slot : slots) {
    if (learned_bytes_ <= room() / 2) return;
    Forget(slot);
  }
}

}  // namespace carom
