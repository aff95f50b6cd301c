// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/memory_trim.h"

#include <malloc.h>

#include <chrono>
#include <fstream>
#include <string>

namespace carom::server {
namespace {

constexpr std::chrono::seconds kPeriod{3};
// Less than this is not worth a walk through the allocator's lists.
constexpr size_t kLeastHeld = 48u << 20;

// What the process holds in memory of its own.
size_t HeldBytes() {
  std::ifstream file("/proc/self/status");
  std::string word;
  while (file >> word) {
    size_t kib = 0;
    if (word == "RssAnon:" && file >> kib) return kib << 10;
  }
  return 0;
}

}  // namespace

MemoryTrim::MemoryTrim(Timer& timer, Executor& executor) : timer_(timer), executor_(executor) {
  absl::MutexLock lock(&mu_);
  Schedule();
}

MemoryTrim::~MemoryTrim() {
  Timer::Id id = 0;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    id = id_;
  }
  timer_.CancelAndWait(id);
  absl::MutexLock lock(&mu_);
  mu_.Await(absl::Condition(this, &MemoryTrim::IsIdle));
}

void MemoryTrim::Schedule() {
  if (stopping_) return;
  id_ = timer_.Schedule(Clock::now() + kPeriod, [this] {
    absl::MutexLock lock(&mu_);
    if (stopping_) return;
    is_running_ = true;
    executor_.Submit(this);
  });
}

// Where less than three quarters of what is held is in use. The allocator's own counts, of blocks
// in arenas and of large ones apart, take a walk through its free lists.
void MemoryTrim::Run() {
  const size_t held = HeldBytes();
  if (held >= kLeastHeld) {
    const struct mallinfo2 info = mallinfo2();
    if (info.uordblks + info.hblkhd < held / 4 * 3) malloc_trim(0);
  }
  absl::MutexLock lock(&mu_);
  is_running_ = false;
  Schedule();
}

}  // namespace carom::server
