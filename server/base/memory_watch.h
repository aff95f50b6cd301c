// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the process really hold?
//
// The account counts what clients make the server hold; what the process holds beyond that shrinks
// what the account has to give. And memory that is free goes back to the system: the allocator
// keeps what was freed for the next to ask, which after a burst of large messages
// is most of what the process holds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/base/file_descriptor.h"
#include "server/base/memory_account.h"

namespace carom::server {

// Looks every half second, more often when memory is scarce, on a thread of its own: nothing that
// clients ask for can hold it up. `account` outlives it.
class MemoryWatch {
 public:
  // `drop_caches` frees what is held for speed alone.
  MemoryWatch(MemoryAccount& account, std::function<void()> drop_caches);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  // Waits for the end, that long at most; whether it has come.
  bool AwaitStop(absl::Duration period) ABSL_LOCKS_EXCLUDED(mu_);
  // Returns what the process holds.
  uint64_t Look();
  uint64_t HeldBytes() const;
  // Gives free memory back, if much of what is held is free; by tcmalloc also if too much is held.
  void Trim(uint64_t held_bytes, bool is_over);

  MemoryAccount& account_;
  const std::function<void()> drop_caches_;
  const FileDescriptor statm_;   // opened while there are descriptors
  Clock::time_point next_trim_;  // of the thread alone
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
