// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What every query call works with.
//
// `QueryRuntime` gathers the parts that unary and streaming calls share: the evaluator, the threads
// it runs on, and the registry through which a drain reaches the calls in progress.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "server/executor.h"
#include "server/frame_evaluator.h"
#include "server/timer.h"
#include "server/version_gate.h"

namespace carom::server {

// A call that can be told to come to its end.
class Drainable {
 public:
  // Answers what is read, reads no more. Called once at most, under the registry's lock.
  virtual void Drain() = 0;

 protected:
  ~Drainable() = default;
};

// The query calls in progress. Thread-safe.
class CallRegistry {
 public:
  // False once draining: the call is then not registered, and refused.
  bool Add(Drainable* call);
  // The last thing that a call does with what it shares.
  void Remove(Drainable* call);

  // Refuses further calls and drains those in progress; does not wait for them.
  void Drain();
  // Waits until no call is registered.
  void AwaitEmpty();

 private:
  bool IsEmpty() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return calls_.empty(); }

  absl::Mutex mu_;  // taken before the calls' own
  absl::flat_hash_set<Drainable*> calls_ ABSL_GUARDED_BY(mu_);
  bool draining_ ABSL_GUARDED_BY(mu_) = false;
};

// Evaluation buffers, shared by all calls: as many as threads run at once. Thread-safe.
class ScratchPool {
 public:
  std::unique_ptr<FrameScratch> Take();
  // Keeps it for the next `Take`, unless one frame made it very large.
  void Return(std::unique_ptr<FrameScratch> scratch);

 private:
  absl::Mutex mu_;
  std::vector<std::unique_ptr<FrameScratch>> free_ ABSL_GUARDED_BY(mu_);
};

// Outlives every call. Thread-safe: each part is.
struct QueryRuntime {
  const FrameEvaluator& evaluator;
  Executor& executor;
  VersionGate& gate;
  Timer& timer;
  const size_t max_frames_in_flight;
  const Clock::duration idle_stream;
  CallRegistry calls{};
  ScratchPool scratch{};

  // `FrameEvaluator::Continue` with scratch from the pool.
  bool Continue(FrameWork& work, const SceneHandles& handles, const std::atomic<bool>& cancelled);
};

}  // namespace carom::server
