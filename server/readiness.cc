// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/readiness.h"

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "server/base/log.h"

namespace carom::server {

void Readiness::NoteRecovery(uint64_t scenes, uint64_t vertices) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mu_);
  scenes_ = scenes;
  vertices_ = vertices;
  if (next_line_ == absl::InfinitePast()) next_line_ = now + absl::Seconds(1);
  if (now < next_line_) return;
  next_line_ = now + absl::Seconds(1);
  LogLine(LogLevel::kInfo, "recovery").With("scenes", scenes).With("vertices", vertices);
}

void Readiness::SetRecovered() {
  absl::MutexLock lock(&mu_);
  is_recovering_ = false;
  LogLine(LogLevel::kInfo, "recovered").With("scenes", scenes_).With("vertices", vertices_);
}

void Readiness::SetDraining() {
  absl::MutexLock lock(&mu_);
  is_draining_ = true;
}

void Readiness::SetReachable(bool is_reachable, bool may_read) {
  absl::MutexLock lock(&mu_);
  const bool changed = is_reachable != is_reachable_ || may_read != may_read_;
  is_reachable_ = is_reachable;
  may_read_ = may_read;
  if (!changed) return;
  LogLine(is_reachable && may_read ? LogLevel::kInfo : LogLevel::kWarning, "etcd_fault")
      .With("detail", !may_read       ? "etcd has another history: the scenes are read again"
                      : !is_reachable ? "etcd cannot be reached: changes of scenes are refused"
                                      : "etcd can be reached");
}

absl::Status Readiness::status() const {
  absl::MutexLock lock(&mu_);
  if (is_draining_) return absl::UnavailableError("draining: the server is shutting down");
  if (is_recovering_) {
    return absl::UnavailableError(absl::StrCat("recovering: the server reads its scenes; ", scenes_,
                                               " scenes and ", vertices_, " vertices so far"));
  }
  if (!may_read_) {
    return absl::UnavailableError(
        "cut off: etcd has another history, and the scenes are read again");
  }
  return absl::OkStatus();
}

std::pair<uint64_t, uint64_t> Readiness::recovered() const {
  absl::MutexLock lock(&mu_);
  return {scenes_, vertices_};
}

}  // namespace carom::server
