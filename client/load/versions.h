// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Keeps recent versions of the edited scene in this process, so that answers can be checked.
#pragma once

#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "carom/scene.h"
#include "client/src/mutex.h"

namespace carom::load {

// Holds the last 256 versions of a scene. Thread-safe.
class SceneVersions {
 public:
  explicit SceneVersions(Scene::Ptr first) { Add(std::move(first)); }

  // Adds a version, which must be above all versions added before.
  void Add(Scene::Ptr scene) {
    MutexLock lock(mutex_);
    const uint64_t version = scene->version();
    scenes_[version] = std::move(scene);
    if (scenes_.size() > kKept) scenes_.erase(scenes_.begin());
    changed_.NotifyAll();
  }

  // Makes all waiting `Find` calls return. The caller adds no version after this call.
  void Close() {
    MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
  }

  // Returns the scene of `version`, or null if this object does not have it. If `version` is above
  // all added versions, first waits until it is added or `Close` is called: a stream may receive an
  // answer from a version before the editor receives the answer to the commit that made the
  // version.
  Scene::Ptr Find(uint64_t version) {
    MutexLock lock(mutex_);
    while (!is_closed_ && scenes_.rbegin()->first < version) changed_.Wait(mutex_);
    const auto found = scenes_.find(version);
    return found == scenes_.end() ? nullptr : found->second;
  }

 private:
  static constexpr size_t kKept = 256;

  Mutex mutex_;
  ConditionVariable changed_;
  std::map<uint64_t, Scene::Ptr> scenes_ ABSL_GUARDED_BY(mutex_);
  bool is_closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace carom::load
