// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much memory does the process really hold?
//
// The memory account (server/base/memory_account.h) counts what clients make the server allocate;
// memory that the process holds beyond these charges shrinks the limits of the account. The
// `MemoryWatch` also returns free memory to the system: the allocator keeps freed memory for later
// allocations, which after a burst of large messages is most of the memory of the process.
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

// Measures the memory of the process every 500 ms, and every 100 ms while the process holds more
// than half of its memory limit. Runs on its own thread, so that no request of a client can delay a
// measurement. `account` must outlive the watch.
class MemoryWatch {
 public:
  // `drop_caches` frees caches of the server; the watch calls it while the process exceeds its
  // memory limit.
  MemoryWatch(MemoryAccount& account, std::function<void()> drop_caches);
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Run();
  // Waits until the destructor sets `stopping_`, but at most `period`. Returns whether the thread
  // must stop.
  bool AwaitStop(absl::Duration period) ABSL_LOCKS_EXCLUDED(mu_);
  // Frees memory if the process holds too much, and sets the excess of `account_`: the bytes by
  // which uncharged memory exceeds its part of the limit. Returns the bytes that the process holds.
  uint64_t UpdateExcess();
  // Returns the bytes of memory that the process holds, without the pages of mapped files; 0 if the
  // number cannot be read.
  uint64_t HeldBytes() const;
  // Returns free memory of the allocator to the system if more than a quarter of `held_bytes` is
  // free. With tcmalloc, also returns it if `is_over` is true, that is, if the process exceeds its
  // memory limit.
  void Trim(uint64_t held_bytes, bool is_over);

  MemoryAccount& account_;
  const std::function<void()> drop_caches_;
  // /proc/self/statm, opened at the start, as descriptors may run out later
  const FileDescriptor statm_;
  Clock::time_point next_trim_;  // time of the next `Trim`; used by `thread_` only
  absl::Mutex mu_;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
