// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What every query call works with.
//
// `QueryRuntime` gathers the parts that unary and streaming calls share: the evaluator, the threads
// it runs on, and the registry through which a drain reaches the calls in progress.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/call_registry.h"
#include "server/executor.h"
#include "server/frame_evaluator.h"
#include "server/timer.h"
#include "server/version_gate.h"

namespace carom::server {

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
  CallRegistry& calls;
  const size_t max_frames_in_flight;
  const Clock::duration idle_stream;
  ScratchPool scratch{};

  // `FrameEvaluator::Continue` with scratch from the pool.
  bool Continue(FrameWork& work, Session& session, const std::atomic<bool>& cancelled);
};

}  // namespace carom::server
