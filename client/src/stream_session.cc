// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/stream_session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "carom/batch.h"

namespace carom {
namespace {

// Limits of one frame that replays a part of a session (the scene handles and trackers that a
// stream has defined): scene bindings, lists of trackers (`TrackerDefinitions`), and encoded bytes.
constexpr uint64_t kMaxBindings = 1024;
constexpr uint64_t kMaxLists = 1024;
constexpr uint64_t kMaxBytes = 1 << 20;  // bytes; a quarter of a server's default message limit
// Upper bounds of the encoded size of one binding, tracker or list, in bytes.
constexpr uint64_t kBytesOfABinding = 128;  // scene handle and scene name
constexpr uint64_t kBytesOfATracker = 10;   // tracker handle and index of the shape
constexpr uint64_t kBytesOfAList = 32;      // mask, `within`, and the tags and lengths of columns

}  // namespace

// Builds a frame of tracker definitions. Trackers with equal `mask` and `within` share a list (a
// `TrackerDefinitions` message), and trackers in a list that were defined with one shape share the
// shape: a thousand equal players are encoded as one shape and their handles.
class StreamSession::TrackerFrame {
 public:
  TrackerFrame(const v1::StreamLimits& limits, v1::Frame& frame)
      : max_lists_(Capped(kMaxLists, limits.max_groups_per_frame())),
        max_shapes_(Capped(kMaxBytes, limits.max_queries_per_frame())),
        max_bytes_(Capped(kMaxBytes, limits.max_frame_bytes() / 2)),
        frame_(frame) {}

  // Adds a tracker, or returns false if the frame would exceed a limit. An empty frame accepts any
  // tracker.
  bool Add(uint32_t handle, const Tracker& tracker) {
    const auto list = lists_.find({tracker.mask, tracker.within});
    const bool has_list = list != lists_.end();
    const auto shape = has_list ? shapes_.find({list->second, tracker.shape.get()}) : shapes_.end();
    const bool has_shape = shape != shapes_.end();
    // The tracker adds a list or a shape only if the frame has no equal one yet.
    const uint64_t bytes = bytes_ + kBytesOfATracker + (has_list ? 0 : kBytesOfAList) +
                           (has_shape ? 0 : tracker.shape->ByteSizeLong());
    if (bytes_ != 0 && (bytes > max_bytes_ || (!has_list && lists_.size() >= max_lists_) ||
                        (!has_shape && shapes_.size() >= max_shapes_))) {
      return false;
    }
    bytes_ = bytes;
    const int index = has_list ? list->second : AddList(tracker);
    v1::TrackerDefinitions& definitions = *frame_.mutable_trackers(index);
    definitions.add_shape(has_shape ? shape->second : AddShape(index, tracker, definitions));
    definitions.add_tracker(handle);
    return true;
  }

 private:
  // Adds to `frame_` an empty list (a `TrackerDefinitions` message) for trackers with the mask and
  // `within` of `tracker`, and returns the index of the list.
  int AddList(const Tracker& tracker) {
    const int index = frame_.trackers_size();
    v1::TrackerDefinitions& definitions = *frame_.add_trackers();
    definitions.set_within(tracker.within);
    definitions.set_mask(tracker.mask);
    lists_[{tracker.mask, tracker.within}] = index;
    return index;
  }

  // Adds the shape of `tracker` to `definitions`, the list with the index `list`, and returns the
  // index of the shape in this list.
  uint32_t AddShape(int list, const Tracker& tracker, v1::TrackerDefinitions& definitions) {
    const auto index = static_cast<uint32_t>(definitions.shapes_size());
    *definitions.add_shapes() = *tracker.shape;
    shapes_[{list, tracker.shape.get()}] = index;
    return index;
  }

  const uint64_t max_lists_;
  const uint64_t max_shapes_;
  const uint64_t max_bytes_;
  v1::Frame& frame_;
  uint64_t bytes_ = 0;
  // index in `frame_` of the list for trackers with a given mask and `within`
  std::map<std::pair<uint64_t, double>, int> lists_;
  // index of a shape in a list, by the index of the list and the shape
  std::map<std::pair<int, const v1::Shape*>, uint32_t> shapes_;
};

// Applies bindings, removals and definitions in the order in which a server does.
void StreamSession::Apply(v1::Frame& frame) {
  for (v1::SceneBinding& binding : *frame.mutable_bindings()) {
    scenes_[binding.handle()] = std::move(*binding.mutable_scene());
  }
  for (const uint32_t handle : frame.removed_trackers()) trackers_.erase(handle);
  for (v1::TrackerDefinitions& definitions : *frame.mutable_trackers()) Define(definitions);
  ApplyBodySets(frame);
}

const std::string* StreamSession::SceneOf(const v1::Group& group) const {
  if (group.target_case() == v1::Group::kScene) return &group.scene();
  const auto bound = scenes_.find(group.scene_handle());
  return bound == scenes_.end() ? nullptr : &bound->second;
}

void StreamSession::Define(v1::TrackerDefinitions& definitions) {
  std::vector<std::shared_ptr<const v1::Shape>> shapes;
  for (v1::Shape& shape : *definitions.mutable_shapes()) {
    auto owned = std::make_shared<v1::Shape>();
    owned->Swap(&shape);
    shapes.push_back(std::move(owned));
  }
  const int count =
      definitions.shape_size() == 0 ? definitions.shapes_size() : definitions.shape_size();
  // Ignores definitions whose columns differ in length, even if the server did not refuse them.
  if (definitions.tracker_size() != 0 && definitions.tracker_size() != count) return;
  for (int i = 0; i < count; ++i) {
    // Absent columns have default values: without the column `shape` definition i has shape i,
    // without the column `tracker` it has the handle `first_tracker` + i.
    const auto shape =
        definitions.shape_size() == 0 ? static_cast<uint32_t>(i) : definitions.shape(i);
    if (shape >= shapes.size()) return;
    const uint32_t handle = definitions.tracker_size() == 0
                                ? definitions.first_tracker() + static_cast<uint32_t>(i)
                                : definitions.tracker(i);
    trackers_[handle] = {shapes[shape], definitions.within(),
                         definitions.has_mask() ? definitions.mask() : kEveryCategory};
  }
}

bool StreamSession::Replay(const v1::StreamLimits& limits, Cursor& cursor, v1::Frame& frame) const {
  frame.Clear();
  if (!cursor.bindings_done) {
    const auto room =
        static_cast<int>(1 + Capped(kMaxBindings - 1, limits.max_frame_bytes() / kBytesOfABinding));
    auto next = scenes_.lower_bound(cursor.next_binding);
    for (; next != scenes_.end() && frame.bindings_size() < room; ++next) {
      v1::SceneBinding& binding = *frame.add_bindings();
      binding.set_handle(next->first);
      binding.set_scene(next->second);
    }
    cursor.bindings_done = next == scenes_.end();
    if (!cursor.bindings_done) cursor.next_binding = next->first;
    if (frame.bindings_size() != 0) return true;
  }
  if (ReplayBodySets(limits, cursor, frame)) return true;
  if (cursor.next_tracker > UINT32_MAX)
    return false;  // past the largest handle: the replay is done
  TrackerFrame trackers(limits, frame);
  auto next = trackers_.lower_bound(static_cast<uint32_t>(cursor.next_tracker));
  while (next != trackers_.end() && trackers.Add(next->first, next->second)) ++next;
  cursor.next_tracker = next == trackers_.end() ? uint64_t{UINT32_MAX} + 1 : next->first;
  return frame.trackers_size() != 0;
}

}  // namespace carom
