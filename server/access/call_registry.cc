// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/call_registry.h"

namespace carom::server {

// False once the server drains: the call is then refused.
bool CallRegistry::Add(Drainable* call) {
  absl::MutexLock lock(&mu_);
  if (draining_) return false;
  calls_.insert(call);
  return true;
}

// The last act of a call.
void CallRegistry::Remove(Drainable* call) {
  absl::MutexLock lock(&mu_);
  calls_.erase(call);
}

// Under the lock, so that no call goes away before it is asked to end.
void CallRegistry::Drain() {
  absl::MutexLock lock(&mu_);
  if (draining_) return;
  draining_ = true;
  for (Drainable* call : calls_) call->Drain();
}

// Under the lock, as `Drain`.
void CallRegistry::CheckCallers() {
  absl::MutexLock lock(&mu_);
  for (Drainable* call : calls_) call->CheckCaller();
}

// Whether all calls were over by then.
bool CallRegistry::AwaitEmpty(absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  return mu_.AwaitWithDeadline(absl::Condition(this, &CallRegistry::IsEmpty), deadline);
}

}  // namespace carom::server
