// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/session.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "server/base/rpc_status.h"
#include "server/base/scene_name.h"
#include "server/store/fork_store.h"
#include "wire/decode.h"

namespace carom::server {
namespace {

// Upper bounds of the bytes that the definition of a tracker (a moving shape) takes in a
// `TrackerTable` (carom/tracker_table.h): `kTrackerBytes` for an entry of the table; for each shape
// `kShapeBytes`, and `kTrackedRingBytes` for each ring and `kTrackedVertexBytes` for each vertex,
// including the bounding circle of the edge at the vertex.
constexpr uint64_t kTrackerBytes = 128;
constexpr uint64_t kShapeBytes = 768;
constexpr uint64_t kTrackedRingBytes = 128;
constexpr uint64_t kTrackedVertexBytes = 40;

// The bytes reserved for the memory (cache of nearby polygons) of one tracker, with a margin: a
// memory takes some 200 bytes to 1.5 KB, and more among many polygons. The last memory that a frame
// adds may exceed the reserved bytes, by less than `Tracker::kMaxMemoryBytes`, which `GrowthBy`
// adds.
constexpr uint64_t kMemoryBytes = 4 << 10;
// The bytes reserved for the memory of one eye with a number, as `EyeTable` allows for it. The
// entries of a table may take half of its bytes.
constexpr uint64_t kEyeBytes = 4 << 10;
// `GrowthBy` also reserves 1/kFreePart of the bytes that the tracker table takes: with that many
// free bytes the table need not drop memories (caches) of trackers.
constexpr uint64_t kFreePart = 4;

uint64_t BytesOf(const v1::TrackerDefinitions& definitions) {
  const auto shapes = static_cast<uint64_t>(definitions.shapes_size());
  const auto trackers = static_cast<uint64_t>(definitions.shape_size());
  uint64_t bytes = shapes * kShapeBytes + std::max(shapes, trackers) * kTrackerBytes;
  for (const v1::Shape& shape : definitions.shapes()) {
    bytes += shape.polygon().user_data().size();
    for (const v1::Ring& ring : shape.polygon().rings()) {
      bytes += kTrackedRingBytes + kTrackedVertexBytes * static_cast<uint64_t>(ring.x_size());
    }
  }
  return bytes;
}

}  // namespace

absl::Status SceneHandles::Check(const Bindings& bindings) const {
  if (bindings.empty()) return absl::OkStatus();
  Refusal refusal;
  absl::flat_hash_set<uint64_t> bound;
  size_t total = names_.size();
  for (int i = 0; i < bindings.size(); ++i) {
    const v1::SceneBinding& binding = bindings[i];
    if (!bound.insert(binding.handle()).second) {
      refusal.Add(absl::StrCat("bindings[", i, "].handle"), "must not be bound twice in a frame");
    } else if (!names_.contains(binding.handle())) {
      // Binding a handle again takes no more memory, so only handles that no earlier frame has
      // bound count.
      ++total;
    }
    const absl::Status name =
        CheckSceneName(absl::StrCat("bindings[", i, "].scene"), binding.scene());
    for (const Violation& violation : Violations(name)) {
      refusal.Add(violation.field, violation.description);
    }
  }
  if (!refusal.empty()) return refusal.status();
  if (total <= kMaxHandles) return absl::OkStatus();
  return OverLimit("bindings", kMaxHandles, "handles a stream");
}

void SceneHandles::Bind(const Bindings& bindings) {
  for (const v1::SceneBinding& binding : bindings) names_[binding.handle()] = binding.scene();
}

const std::string* SceneHandles::Find(uint64_t handle) const {
  const auto it = names_.find(handle);
  return it == names_.end() ? nullptr : &it->second;
}

Session::Growth Session::GrowthBy(const v1::Frame& frame) const {
  Growth growth;
  growth.handles = static_cast<uint64_t>(frame.bindings_size()) * SceneHandles::kHandleBytes +
                   StreamBodySets::GrowthBy(frame);
  for (const v1::TrackerDefinitions& definitions : frame.trackers()) {
    growth.trackers += BytesOf(definitions);
  }
  uint64_t moves = 0, eyes = 0, entries = 0;
  const auto count_eyes = [&](const auto& numbers) {
    eyes += static_cast<uint64_t>(numbers.size());
    for (const uint64_t eye : numbers) {
      if (eye < trackers.max_eyes()) entries = std::max(entries, eye + 1);
    }
  };
  for (const v1::Group& group : frame.groups()) {
    moves += static_cast<uint64_t>(group.moves().x_size() + group.moves().floats().x_size());
    if (trackers.max_eyes() == 0) continue;
    count_eyes(group.areas().eye());
    count_eyes(group.sees().eye());
  }
  if (growth.trackers + eyes == 0 && trackers.memory_bytes() == 0) return growth;
  growth.memories = Tracker::kMaxMemoryBytes + moves * kMemoryBytes + eyes * kEyeBytes +
                    2 * entries * EyeTable::kEntryBytes + trackers.memory_bytes() / kFreePart;
  return growth;
}

// Looks for a handle among those that the frame binds first: the frame has not bound them yet.
absl::StatusOr<std::string> Session::ForkKeyOf(const v1::Frame& frame, const v1::BodySet& set,
                                               const ForkStore& store) const {
  if (set.fork_case() == v1::BodySet::kScene) {
    absl::Status status = CheckSceneName("scene", set.scene());
    if (!status.ok()) return status;
    return store.KeyOf(tenant, set.scene());
  }
  for (const v1::SceneBinding& binding : frame.bindings()) {
    if (binding.handle() == set.scene_handle()) return store.KeyOf(tenant, binding.scene());
  }
  const std::string* const name = handles.Find(set.scene_handle());
  if (name == nullptr) return InvalidField("scene_handle", "must be bound on this stream");
  return store.KeyOf(tenant, *name);
}

absl::Status Session::Define(const v1::Frame& frame, ForkStore& store, uint64_t& work_units) {
  // All definitions are checked before any of them is made.
  absl::Status status = handles.Check(frame.bindings());
  if (!status.ok()) return status;
  wire::DecodedTrackers decoded;
  const std::span<const uint32_t> removed{frame.removed_trackers().data(),
                                          static_cast<size_t>(frame.removed_trackers_size())};
  const bool has_trackers = frame.trackers_size() + frame.removed_trackers_size() > 0;
  if (has_trackers) status = wire::DecodeTrackers(frame.trackers(), decoded);
  if (!status.ok()) return status;
  const bool has_body_sets =
      frame.body_sets_size() + frame.poses_size() + frame.removed_body_sets_size() > 0;
  if (has_body_sets && has_trackers) status = trackers.Check(removed, decoded.definitions);
  if (!status.ok()) return status;
  if (has_body_sets || body_sets.has_waiting()) {
    status = body_sets.Define(
        frame, {store, may_edit},
        [&](const v1::BodySet& set) { return ForkKeyOf(frame, set, store); }, work_units);
    if (!status.ok()) return status;
  }
  // `TrackerTable::Define` checks and, if the check succeeds, makes the definitions of trackers. In
  // a frame with body sets the check has succeeded already. Nothing after the call can fail.
  if (has_trackers) status = trackers.Define(removed, decoded.definitions);
  if (!status.ok()) return status;
  handles.Bind(frame.bindings());
  trackers.BeginFrame();
  return absl::OkStatus();
}

}  // namespace carom::server
