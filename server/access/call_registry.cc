// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/call_registry.h"

namespace carom::server {

bool CallRegistry::Add(Drainable* call) {
  absl::MutexLock lock(&mu_);
  if (draining_) return false;
  calls_.insert(call);
  return true;
}

void CallRegistry::Remove(Drainable* call) {
  absl::MutexLock lock(&mu_);
  calls_.erase(call);
}

// Holds the lock while it calls `Drain` of each registered call. `Remove`, which each call invokes
// before it deletes itself, waits for the lock, so that no call is deleted meanwhile.
void CallRegistry::Drain() {
  absl::MutexLock lock(&mu_);
  if (draining_) return;
  draining_ = true;
  for (Drainable* call : calls_) call->Drain();
}

// Holds the lock while it calls `CheckCaller` of each registered call. `Remove`, which each call
// invokes before it deletes itself, waits for the lock, so that no call is deleted meanwhile.
void CallRegistry::CheckCallers() {
  absl::MutexLock lock(&mu_);
  for (Drainable* call : calls_) call->CheckCaller();
}

uint64_t CallRegistry::unread_bytes() {
  absl::MutexLock lock(&mu_);
  uint64_t bytes = 0;
  for (Drainable* const call : calls_) bytes += call->unread_bytes();
  return bytes;
}

bool CallRegistry::AwaitEmpty(absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithDeadline(absl::Condition(this, &CallRegistry::IsEmpty), deadline);
}

}  // namespace carom::server
