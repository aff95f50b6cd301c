// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much CPU time does a process take?
#pragma once

#include <sys/types.h>
#include <time.h>

#include <optional>

#include "absl/status/statusor.h"

namespace carom::load {

// Of all threads of a process, the kernel's work for them included.
class CpuClock {
 public:
  // NOT_FOUND if there is no such process. `pid` 0: this one.
  static absl::StatusOr<CpuClock> Of(pid_t pid);

  // Seconds; nothing once the process has ended.
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
