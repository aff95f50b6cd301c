// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/memory_watch.h"

#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <utility>

namespace carom::server {
namespace {

constexpr std::chrono::milliseconds kPeriod{500};
constexpr std::chrono::milliseconds kScarcePeriod{100};  // from half of the limit on
constexpr std::chrono::seconds kTrimPeriod{3};
// Less than this is not worth a walk through the allocator's lists.
constexpr uint64_t kLeastTrimmed = 48u << 20;

// What the process holds in memory of its own, without files.
uint64_t HeldBytes() {
  uint64_t size = 0;
  uint64_t resident = 0;
  uint64_t of_files = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> of_files;
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

MemoryWatch::MemoryWatch(Timer& timer, Executor& executor, MemoryAccount& account,
                         std::function<void()> drop_caches)
    : timer_(timer),
      executor_(executor),
      account_(account),
      drop_caches_(std::move(drop_caches)),
      next_trim_(Clock::now() + kTrimPeriod) {
  absl::MutexLock lock(&mu_);
  Schedule(kPeriod);
}

MemoryWatch::~MemoryWatch() {
  Timer::Id id = 0;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    id = id_;
  }
  timer_.CancelAndWait(id);
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &MemoryWatch::IsIdle));
}

void MemoryWatch::Schedule(Clock::duration delay) {
  if (stopping_) return;
  id_ = timer_.Schedule(Clock::now() + delay, [this] {
    absl::MutexLock lock(&mu_);
    if (stopping_) return;
    is_running_ = true;
    executor_.Submit(this);
  });
}

// Free memory is given back before it counts: what the allocator keeps is nobody's.
void MemoryWatch::Run() {
  uint64_t held = HeldBytes();
  const Clock::time_point now = Clock::now();
  const bool is_over = account_.Excess(held) != 0;
  if (is_over) drop_caches_();
  if (is_over || now >= next_trim_) {
    next_trim_ = now + kTrimPeriod;
    Trim(held);
    held = HeldBytes();
  }
  account_.SetExcess(account_.Excess(held));
  absl::MutexLock lock(&mu_);
  is_running_ = false;
  Schedule(held > account_.limit() / 2 ? kScarcePeriod : kPeriod);
}

// Where less than three quarters of what is held is in use. The allocator's own counts, of blocks
// in arenas and of large ones apart, take a walk through its free lists.
void MemoryWatch::Trim(uint64_t held_bytes) {
  if (held_bytes < kLeastTrimmed) return;
  const struct mallinfo2 info = mallinfo2();
  if (info.uordblks + info.hblkhd < held_bytes / 4 * 3) malloc_trim(0);
}

}  // namespace carom::server
