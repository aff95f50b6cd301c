// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/cpu_clock.h"

#include "absl/strings/str_cat.h"

namespace carom::load {

absl::StatusOr<CpuClock> CpuClock::Of(pid_t pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(pid, &clock) != 0) {
    return absl::NotFoundError(absl::StrCat("--server-pid: no process ", pid));
  }
  return CpuClock(clock);
}

}  // namespace carom::load
