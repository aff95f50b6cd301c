// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/keyed_mutex.h"

#include "server/transport/executor.h"

namespace carom::server {

KeyedMutex::Lock::Lock(KeyedMutex& owner, absl::string_view key) ABSL_NO_THREAD_SAFETY_ANALYSIS
    : owner_(owner),
      key_(key),
      mutex_(owner.Enter(key_)) {
  if (mutex_->TryLock()) return;
  // While this thread waits for the mutex, the executor does not count its task as running: the
  // task that holds the mutex may need to be scheduled first.
  const Executor::Blocked blocked;
  mutex_->Lock();
}

KeyedMutex::Lock::~Lock() ABSL_NO_THREAD_SAFETY_ANALYSIS {
  mutex_->Unlock();
  owner_.Leave(key_);
}

absl::Mutex* KeyedMutex::Enter(const std::string& key) {
  absl::MutexLock lock(&mu_);
  Entry& entry = entries_[key];
  ++entry.users;
  return entry.mutex.get();
}

void KeyedMutex::Leave(const std::string& key) {
  absl::MutexLock lock(&mu_);
  const auto it = entries_.find(key);
  if (--it->second.users == 0) entries_.erase(it);
}

}  // namespace carom::server
