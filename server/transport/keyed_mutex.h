// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One lock for each name.
#pragma once

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

namespace carom::server {

// Locks by key: holders of equal keys exclude each other, of different keys do not. Costs memory
// only for keys that somebody holds or waits for. Thread-safe; outlives its locks.
class KeyedMutex {
 public:
  // Holds the lock of `key` while it lives.
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
    int users = 0;  // holders and waiters
  };

  absl::Mutex* Enter(const std::string& key);
  void Leave(const std::string& key);

  absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
