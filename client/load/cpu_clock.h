// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much CPU time does a process take?
#pragma once

#include <sys/types.h>
#include <time.h>

#include <optional>

#include "absl/status/statusor.h"

namespace carom::load {

// Measures the CPU time of all threads of a process, in user mode and in the kernel.
class CpuClock {
 public:
  // Returns the clock of process `pid` (0: this process), or NOT_FOUND if the process does not
  // exist.
  static absl::StatusOr<CpuClock> Of(pid_t pid);

  // Returns the CPU time in seconds, or nullopt if the process has ended.
  std::optional<double> Seconds() const {
    timespec time;
    if (clock_gettime(clock_, &time) != 0) return std::nullopt;
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

 private:
  explicit CpuClock(clockid_t clock) : clock_(clock) {}

  clockid_t clock_;
};

}  // namespace carom::load
