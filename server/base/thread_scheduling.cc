// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/thread_scheduling.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace carom::server {
namespace {

constexpr uint64_t kShortSliceNs = 100000;  // the shortest time slice that Linux accepts
// A nice value higher by 10 gives a tenth of the scheduling weight. A thread with the usual nice
// value, such as a thread of the event loop, that has run for two milliseconds is then scheduled
// again after a fraction of a millisecond. With equal nice values, it would wait for a time slice
// of each thread with long work.
constexpr int kNiceIncrement = 10;
constexpr int kMaxNice = 19;

// The struct sched_attr of Linux (sched_setattr(2)) in its first version, which has 48 bytes. glibc
// 2.36 does not declare the struct.
struct SchedulingAttributes {
  uint32_t size = 48;
  uint32_t policy = 0;  // SCHED_OTHER
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // for SCHED_OTHER: the time slice, in nanoseconds
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

}  // namespace

// Reads the scheduling attributes of the thread before it writes them with another time slice, so
// that the nice value does not change. Ignores errors, which leave the scheduling of the thread
// unchanged.
void RequestShortTimeSlices() {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != 0) return;
  attributes.runtime = kShortSliceNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// Reads the CPU time of the thread: to return it, Linux updates the time that the current slice has
// used, and so detects the end of the slice. Reading the time costs less than `sched_yield` and
// ends no slice early.
void YieldIfSliceIsOver(Clock::time_point now) {
  thread_local Clock::time_point next;
  if (now < next) return;
  next = now + std::chrono::nanoseconds(kShortSliceNs);
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
}

// Sets the nice value of the calling thread to that of the first thread of the process plus
// `kNiceIncrement`. Does not start from the calling thread's nice value, which the thread has
// inherited from its creator: the creator may have raised it already.
void LowerPriority() {
  const int usual = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  setpriority(PRIO_PROCESS, 0, std::min(usual + kNiceIncrement, kMaxNice));
}

}  // namespace carom::server
