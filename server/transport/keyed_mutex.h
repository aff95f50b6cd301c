// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Provides a mutex for each key, such as the name of a scene.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace carom::server {

// Holds one mutex for each key: locks of equal keys exclude each other, locks of different keys do
// not. Uses memory only for a key for which a `Lock` exists, which holds the mutex or waits for it.
// Thread-safe; must outlive its locks.
class KeyedMutex {
 public:
  // Acquires the mutex of `key` in the constructor and releases it in the destructor.
  class Lock {
   public:
    Lock(KeyedMutex& owner, absl::string_view key);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    KeyedMutex& owner_;
    const std::string key_;
    absl::Mutex* mutex_;
  };

 private:
  struct Entry {
    std::unique_ptr<absl::Mutex> mutex = std::make_unique<absl::Mutex>();
    int users = 0;  // objects `Lock` that hold the mutex or wait for it
  };

  // Counts one more user of the mutex of `key` and returns the mutex, which exists until the
  // matching `Leave`.
  absl::Mutex* Enter(const std::string& key);
  void Leave(const std::string& key);

  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
