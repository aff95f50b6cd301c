// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The versions of the scene that are known here, so that answers can be checked while it is edited.
#pragma once

#include <cstdint>
#include <map>

#include "absl/base/thread_annotations.h"
#include "carom/scene.h"
#include "client/src/mutex.h"

namespace carom::load {

// The last 256 versions. Thread-safe.
class SceneVersions {
 public:
  explicit SceneVersions(Scene::Ptr first) { Add(std::move(first)); }

  // A version above all before.
  void Add(Scene::Ptr scene) {
    MutexLock lock(mutex_);
    const uint64_t version = scene->version();
    scenes_[version] = std::move(scene);
    if (scenes_.size() > kKept) scenes_.erase(scenes_.begin());
    changed_.NotifyAll();
  }

  // No version is added any more.
  void Close() {
    MutexLock lock(mutex_);
    is_closed_ = true;
    changed_.NotifyAll();
  }

  // The scene of a version, or null if it is not known. Waits for one that may yet be added: a
  // server may answer from a version before the commit that made it is answered.
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
