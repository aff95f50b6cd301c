// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Keeps calls from a server within the process that is gone. gRPC 1.51 leaves that to its users: an
// in-process channel passes each call to its server, without asking whether that still is there.
#pragma once

#include "absl/base/thread_annotations.h"
#include "client/src/mutex.h"

namespace carom {

// Thread-safe.
class CallGate {
 public:
  // Runs `begin`, which begins a call and does not wait for it; false, and no call, once closed.
  template <typename Begin>
  bool Enter(Begin begin) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    if (!closed_) begin();
    return !closed_;
  }

  // No call begins from here on; those that have begun go on.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
  }

 private:
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace carom
