// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which calls are in progress, and how does a drain (a graceful shutdown of the server) end the
// calls?
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace carom::server {

// A call that the registry can end: when the server drains, or when the credential of the call
// becomes invalid.
class Drainable {
 public:
  // Stops reading requests, and ends the call when all requests that were read are answered. The
  // registry calls `Drain` at most once, while the registry holds its lock.
  virtual void Drain() = 0;
  // Ends the call if the credential of the call is no longer valid. The registry calls
  // `CheckCaller` periodically, while the registry holds its lock.
  virtual void CheckCaller() = 0;
  // Returns the bytes of answers that the client has not read. The registry holds its lock.
  virtual uint64_t unread_bytes() { return 0; }

 protected:
  ~Drainable() = default;
};

// Holds the calls in progress. To drain a call is to end it after its requests that were read are
// answered; the server drains all calls when it shuts down. Thread-safe; must outlive the calls.
class CallRegistry {
 public:
  // Registers `call`. Returns false once the server drains: the call is not registered and must be
  // refused.
  bool Add(Drainable* call);
  // Unregisters `call`. A call unregisters itself immediately before it deletes itself, as the
  // registry may use a registered call at any time.
  void Remove(Drainable* call);

  // Refuses further calls and drains the calls in progress; does not wait until they end.
  void Drain();
  // Ends the calls whose credentials are no longer valid.
  void CheckCallers();
  // Returns the bytes of answers that the clients of all calls have not read. Cost: O(calls).
  uint64_t unread_bytes() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits until no call is registered, but at most until `deadline`. Returns false if calls are
  // still registered.
  bool AwaitEmpty(absl::Time deadline);

 private:
  bool IsEmpty() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return calls_.empty(); }

  absl::Mutex mu_;  // must be acquired before the lock of any call in `calls_`
  absl::flat_hash_set<Drainable*> calls_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
