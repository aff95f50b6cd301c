// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which calls are in progress, and how does a drain reach them?
#pragma once

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace carom::server {

// A call that a drain asks to come to its end.
class Drainable {
 public:
  // Answers what is read, reads no more. Called once at most, under the registry's lock.
  virtual void Drain() = 0;
  // Ends if its credential has. Called now and then, under the registry's lock.
  virtual void CheckCaller() = 0;

 protected:
  ~Drainable() = default;
};

// The calls in progress. Thread-safe; outlives them.
class CallRegistry {
 public:
  // False once draining: the call is then not registered, and refused.
  bool Add(Drainable* call);
  // The last thing that a call does with what it shares.
  void Remove(Drainable* call);

  // Refuses further calls and drains those in progress; does not wait for them.
  void Drain();
  // Ends the calls whose credentials have ended.
  void CheckCallers();
  // Waits until no call is registered; false if that is not so at `deadline`.
  bool AwaitEmpty(absl::Time deadline);

 private:
  bool IsEmpty() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return calls_.empty(); }

  absl::Mutex mu_;  // taken before the calls' own
  absl::flat_hash_set<Drainable*> calls_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace carom::server
