// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query_runtime.h"

#include <utility>

namespace carom::server {

std::unique_ptr<FrameScratch> ScratchPool::Take() {
  absl::MutexLock lock(&mu_);
  if (free_.empty()) return std::make_unique<FrameScratch>();
  std::unique_ptr<FrameScratch> scratch = std::move(free_.back());
  free_.pop_back();
  return scratch;
}

void ScratchPool::Return(std::unique_ptr<FrameScratch> scratch) {
  if (!scratch->IsModest()) return;
  absl::MutexLock lock(&mu_);
  free_.push_back(std::move(scratch));
}

bool QueryRuntime::Continue(FrameWork& work, Session& session, const std::atomic<bool>& cancelled) {
  std::unique_ptr<FrameScratch> buffers = scratch.Take();
  const bool done = evaluator.Continue(work, session, *buffers, cancelled);
  scratch.Return(std::move(buffers));
  return done;
}

}  // namespace carom::server
