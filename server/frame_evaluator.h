// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a frame become its answer?
//
// `FrameEvaluator::Begin` checks the frame and binds its handles; `Continue` answers group after
// group: decode, resolve the scene once, evaluate, encode. A group whose `min_version` is not there
// is left for a later `Continue`, after the others. Waiting itself is the caller's
// (server/version_gate.h), and so are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/group.h"
#include "carom/v1/query_service.pb.h"
#include "server/scene_store.h"
#include "server/timer.h"
#include "server/version_gate.h"
#include "wire/decode.h"

namespace carom::server {

struct FrameLimits {
  size_t max_groups = 1024;
  size_t max_queries = 65536;
  uint64_t max_answer_rows = 262144;
};

// The scene handles of one stream. Not thread-safe.
class SceneHandles {
 public:
  static constexpr size_t kMaxHandles = 1024;

  // Binds all of `bindings`, or none. INVALID_ARGUMENT for a handle that is bound twice or to a
  // malformed name, RESOURCE_EXHAUSTED for more than kMaxHandles in all.
  absl::Status Bind(const google::protobuf::RepeatedPtrField<v1::SceneBinding>& bindings);

  // The bound name, or null.
  const std::string* Find(uint64_t handle) const;

 private:
  absl::flat_hash_map<uint64_t, std::string> names_;
};

// Buffers of one evaluation; reused, they stop allocating once warm. Not thread-safe.
struct FrameScratch {
  wire::DecodedGroup decoded;
  GroupAnswers answers;

  // Whether the buffers are of ordinary size, worth keeping for the next frame.
  bool IsModest() const;
};

// One frame on its way. `frame` and `answer` outlive it.
struct FrameWork {
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  const v1::Frame* frame = nullptr;
  v1::FrameAnswer* answer = nullptr;
  Clock::time_point received;           // where budget and elapsed time begin
  Clock::time_point deadline = kNever;  // the end of the budget
  // Of the frame as a whole; OK unless it was refused.
  absl::Status status;
  std::vector<int> pending;        // groups without answer, ascending
  std::vector<VersionWait> waits;  // of the pending groups, after `Continue` has returned false
  uint64_t rows = 0;
  uint64_t work_units = 0;
  Clock::duration evaluating{};
};

// Stateless beside its limits: thread-safe for distinct arguments. The store outlives it.
class FrameEvaluator {
 public:
  FrameEvaluator(const SceneStore& store, const FrameLimits& limits)
      : store_(store), limits_(limits) {}

  // Sets `work` up for `frame`, and `answer`, whose memory is reused. A refused frame binds
  // nothing, has its status in `work.status` and in the answer, and nothing pending.
  void Begin(const v1::Frame& frame, Clock::time_point received, SceneHandles& handles,
             v1::FrameAnswer& answer, FrameWork& work) const;

  // Answers every pending group that need not wait. False: groups wait for versions, until
  // `work.deadline` at most. Returns true early, with a meaningless answer, once `cancelled`.
  bool Continue(FrameWork& work, const SceneHandles& handles, FrameScratch& scratch,
                const std::atomic<bool>& cancelled) const;

 private:
  absl::Status CheckFrame(const v1::Frame& frame) const;
  // False if the group is to wait.
  bool AnswerGroup(const v1::Group& group, FrameWork& work, const SceneHandles& handles,
                   FrameScratch& scratch, const std::atomic<bool>& cancelled,
                   v1::GroupAnswer& answer) const;
  absl::Status Evaluate(const Scene& scene, FrameWork& work, FrameScratch& scratch,
                        const std::atomic<bool>& cancelled) const;

  const SceneStore& store_;
  const FrameLimits limits_;
};

}  // namespace carom::server
