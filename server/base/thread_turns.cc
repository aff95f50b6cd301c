// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/thread_turns.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace carom::server {
namespace {

constexpr uint64_t kShortTurnNs = 100000;  // the least that Linux takes
// A tenth of the weight: a thread of the event loop that has just worked for two milliseconds is in
// front again a fraction of a millisecond later, not after as many turns as there are others.
constexpr int kNicerBy = 10;
constexpr int kNicest = 19;

// Of Linux (sched_setattr(2)), whose first version has this size; glibc 2.36 does not declare it.
struct SchedulingAttributes {
  uint32_t size = 48;
  uint32_t policy = 0;  // SCHED_OTHER
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = 0;  // of SCHED_OTHER: the turn, in nanoseconds
  uint64_t deadline = 0;
  uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

}  // namespace

// How nice the thread is stays as it is. An error leaves everything else as it is, too.
void AskForShortTurns() {
  SchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != 0) return;
  attributes.runtime = kShortTurnNs;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// To say what time a thread has had, Linux counts what its turn has taken, and so finds out that it
// is over. That costs less than to yield, and ends no turn early.
void EndTurnIfOver(Clock::time_point now) {
  thread_local Clock::time_point next;
  if (now < next) return;
  next = now + std::chrono::nanoseconds(kShortTurnNs);
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
}

// From that of the first thread: those that are started by one that is nicer are as nice as that.
void BeNicer() {
  const int usual = getpriority(PRIO_PROCESS, static_cast<id_t>(getpid()));
  setpriority(PRIO_PROCESS, 0, std::min(usual + kNicerBy, kNicest));
}

}  // namespace carom::server
