// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/memory_watch.h"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

// Declares functions of tcmalloc, which caromd is linked with. Both are null in a program that uses
// the server as a library and another allocator.
extern "C" {
__attribute__((weak)) int MallocExtension_GetNumericProperty(const char* name, size_t* value);
__attribute__((weak)) void MallocExtension_ReleaseToSystem(size_t bytes);
}

namespace carom::server {
namespace {

constexpr absl::Duration kPeriod = absl::Milliseconds(500);
// period of the measurements while the process holds more than half of its memory limit
constexpr absl::Duration kScarcePeriod = absl::Milliseconds(100);
constexpr std::chrono::seconds kTrimPeriod{3};
// `Trim` does nothing if the process holds fewer bytes than `kLeastTrimmed`: the gain is not worth
// a walk through the allocator's lists of free blocks.
constexpr uint64_t kLeastTrimmed = 48u << 20;
constexpr size_t kTrimStep = 1u << 20;

// Returns free memory of glibc's allocator to the system if less than three quarters of
// `held_bytes`, the memory of the process, are allocated in glibc's arenas and large mapped blocks.
void TrimGlibc(uint64_t held_bytes) {
  const struct mallinfo2 info = mallinfo2();
  if (info.uordblks + info.hblkhd < held_bytes / 4 * 3) malloc_trim(0);
}

}  // namespace

MemoryWatch::MemoryWatch(MemoryAccount& account, std::function<void()> drop_caches)
    : account_(account),
      drop_caches_(std::move(drop_caches)),
      statm_(open("/proc/self/statm", O_RDONLY | O_CLOEXEC)),
      next_trim_(Clock::now() + kTrimPeriod),
      thread_([this] { Run(); }) {}

MemoryWatch::~MemoryWatch() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  thread_.join();
}

void MemoryWatch::Run() {
  absl::Duration period = kPeriod;
  while (!AwaitStop(period)) {
    period = UpdateExcess() > account_.limit() / 2 ? kScarcePeriod : kPeriod;
  }
}

bool MemoryWatch::AwaitStop(absl::Duration period) {
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithTimeout(absl::Condition(&stopping_), period);
}

// Returns free memory to the system before it sets the excess of the account, which shrinks the
// limits for clients: free memory that the allocator keeps is no memory of clients.
uint64_t MemoryWatch::UpdateExcess() {
  uint64_t held = HeldBytes();
  const Clock::time_point now = Clock::now();
  const bool is_over = account_.Excess(held) != 0;
  if (is_over) drop_caches_();
  if (is_over || now >= next_trim_) {
    next_trim_ = now + kTrimPeriod;
    Trim(held, is_over);
    held = HeldBytes();
  }
  account_.SetExcess(account_.Excess(held));
  return held;
}

// Reads /proc/self/statm and returns the bytes of the resident pages that no file backs, which is
// RssAnon of /proc/self/status.
uint64_t MemoryWatch::HeldBytes() const {
  std::array<char, 128> text{};
  if (pread(statm_.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  char* at = text.data();
  std::strtoull(at, &at, 10);  // skips the size of the address space
  const uint64_t resident = std::strtoull(at, &at, 10);
  const uint64_t of_files = std::strtoull(at, &at, 10);
  return (resident - of_files) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void MemoryWatch::Trim(uint64_t held_bytes, bool is_over) {
  if (held_bytes < kLeastTrimmed) return;
  if (MallocExtension_ReleaseToSystem == nullptr) return TrimGlibc(held_bytes);
  size_t free_bytes = 0;
  MallocExtension_GetNumericProperty("tcmalloc.pageheap_free_bytes", &free_bytes);
  if (!is_over && free_bytes < held_bytes / 4) return;
  // Releases in steps of 1 MiB: during a step, tcmalloc's lock blocks other threads that allocate
  // large blocks.
  for (size_t left = free_bytes; left != 0; left -= std::min(left, kTrimStep)) {
    MallocExtension_ReleaseToSystem(kTrimStep);
  }
}

}  // namespace carom::server
