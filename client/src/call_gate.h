// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Prevents gRPC calls from reaching an in-process server that is being destroyed.
//
// An in-process channel of gRPC 1.51 passes each call to its server without checking that the
// server still exists, so each user of the channel has to check that the server exists.
#pragma once

#include "absl/base/thread_annotations.h"
#include "client/src/mutex.h"

namespace carom {

// A gate between the clients and an in-process server: calls begin only while the gate is open.
// Thread-safe.
class CallGate {
 public:
  // Runs `begin`, which begins a gRPC call and does not wait for the call's end, and returns true.
  // Returns false without running `begin` once the gate is closed.
  template <typename Begin>
  bool Enter(Begin begin) ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    if (!closed_) begin();
    return !closed_;
  }

  // Closes the gate: no further call begins; calls that have begun continue.
  void Close() ABSL_LOCKS_EXCLUDED(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
  }

 private:
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace carom
