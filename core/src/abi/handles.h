// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the opaque handles of carom.h point to?
//
// The first member of each handle is a number, the mark, which differs between the types and is
// overwritten by `Destroy`. The functions of carom.h compare the mark, and refuse a handle of
// another type and a destroyed handle. A debug build never frees a destroyed handle, so that the
// comparison does not read freed memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/column_reader.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "carom/bodies.h"
#include "carom/body_history.h"
#include "carom/carom.h"
#include "carom/group.h"
#include "carom/group_kinds.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "carom/status.h"
#include "carom/tracker_table.h"
#include "carom/work_meter.h"

namespace carom::abi {

// The first member of each handle.
struct Head {
  uint64_t mark = 0;
};

// A handle that one call at a time may use.
struct ExclusiveHead : Head {
  std::atomic<bool> is_used{false};
};

// The shapes of a `carom_shapes`. Objects that are made of the shapes keep the table alive.
struct ShapeTable {
  std::vector<Polygon> polygons;
  std::vector<Shape> shapes;  // `polygons`, then the capsules
};

// What calls do with a history. A handle points to it, so that a program that makes no history,
// such as the modules for WebAssembly, links none of it.
struct HistoryUse {
  // Answers the kinds `asked` of `group`, whose other kinds have no meaning, with its history.
  absl::Status (*answer)(const Scene& scene, const Group& group, const GroupKindSet& asked,
                         GroupAnswers& out, WorkMeter& meter);
  // Sets `out` to the bodies of the newest tick. Returns false if there is none.
  bool (*newest)(const BodyHistory& history, BodyRotation rotation, PastBodies& out);
};

// Columns that a `carom_bodies` owns.
struct BodyStorage {
  std::shared_ptr<const ShapeTable> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y, c, s, angle;
  std::vector<uint64_t> category;
  std::vector<uint32_t> owner;

  BodyColumns columns() const;
};

}  // namespace carom::abi

struct carom_buffer : carom::abi::Head {
  std::string bytes;
};
struct carom_polygon_set : carom::abi::Head {
  std::vector<carom::Polygon> polygons;
};
struct carom_shapes : carom::abi::Head {
  std::shared_ptr<const carom::abi::ShapeTable> table;
};
struct carom_scene : carom::abi::Head {
  carom::Scene::Ptr scene;
};
struct carom_bodies : carom::abi::ExclusiveHead {
  carom::abi::BodyStorage storage;
  carom::Bodies bodies;
};
struct carom_trackers : carom::abi::ExclusiveHead {
  carom::TrackerTable table;
};
struct carom_body_history : carom::abi::ExclusiveHead {
  carom::BodyHistory history;
  const carom::abi::HistoryUse* use = nullptr;  // set where the history is made
};
struct carom_answers : carom::abi::ExclusiveHead {
  uint64_t max_rows = 0;        // 0: no limit
  uint64_t max_work_units = 0;  // 0: no limit
  carom::abi::ColumnStorage storage;
  carom::Group group;  // the last question, of the kinds `asked`; the other kinds have no meaning
  carom::GroupKindSet asked;    // the kinds of the last question
  carom::GroupAnswers answers;  // kinds that are not in `asked` are empty
};

namespace carom::abi {

// The mark of a living handle of each type.
template <class T>
inline constexpr uint64_t kMark = 0;
template <>
inline constexpr uint64_t kMark<carom_buffer> = 0xCA70'0000'0000'0001;
template <>
inline constexpr uint64_t kMark<carom_polygon_set> = 0xCA70'0000'0000'0002;
template <>
inline constexpr uint64_t kMark<carom_shapes> = 0xCA70'0000'0000'0003;
template <>
inline constexpr uint64_t kMark<carom_scene> = 0xCA70'0000'0000'0004;
template <>
inline constexpr uint64_t kMark<carom_bodies> = 0xCA70'0000'0000'0005;
template <>
inline constexpr uint64_t kMark<carom_trackers> = 0xCA70'0000'0000'0006;
template <>
inline constexpr uint64_t kMark<carom_answers> = 0xCA70'0000'0000'0007;
template <>
inline constexpr uint64_t kMark<carom_body_history> = 0xCA70'0000'0000'0008;
// The mark of a handle that was destroyed.
inline constexpr uint64_t kDestroyed = 0xDEAD'DEAD'DEAD'DEAD;

// Returns OK if `handle` is a living handle of the type T; else INVALID_ARGUMENT naming `field`.
template <class T>
absl::Status CheckHandle(const T* handle, const char* field) {
  if (handle != nullptr && handle->mark == kMark<T>) [[likely]]
    return absl::OkStatus();
  if (handle == nullptr) return InvalidField(field, "must not be null");
  return InvalidField(field, handle->mark == kDestroyed ? "is a handle that was destroyed"
                                                        : "is no handle of this type");
}

// Returns the name of a kind in field paths, such as "segments", by its number in CAROM_KINDS.
const char* NameOfKind(uint32_t number);

// Makes a handle.
template <class T>
T* New() {
  T* const handle = new T;
  handle->mark = kMark<T>;
  return handle;
}

// Stores the address of a destroyed handle, which a debug build never frees.
void Quarantine(void* memory);

// Destroys a handle. Does nothing if the handle is null or does not have the mark of T.
template <class T>
void Destroy(T* handle) {
  if (!CheckHandle(handle, "").ok()) return;
#ifdef NDEBUG
  handle->mark = kDestroyed;
  delete handle;
#else
  handle->~T();
  static_cast<Head*>(new (handle) Head)->mark = kDestroyed;
  Quarantine(handle);
#endif
}

// Marks a handle as used for the time of a call.
class Use {
 public:
  Use() = default;
  ~Use() {
    if (head_ != nullptr) head_->is_used.store(false, std::memory_order_release);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  // INVALID_ARGUMENT for what is no living handle, FAILED_PRECONDITION if another call uses the
  // handle.
  template <class T>
  absl::Status Begin(T* handle, const char* field) {
    if (absl::Status status = CheckHandle(handle, field); !status.ok()) return status;
    if (handle->is_used.exchange(true, std::memory_order_acquire)) {
      return Refused(absl::StatusCode::kFailedPrecondition, field, "is used by another call");
    }
    head_ = handle;
    return absl::OkStatus();
  }

 private:
  ExclusiveHead* head_ = nullptr;
};

}  // namespace carom::abi
