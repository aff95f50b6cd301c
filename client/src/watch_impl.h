// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The inside of `SceneWatch` (carom/watch.h).
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/v1/scene_service.pb.h"
#include "carom/watch.h"
#include "client/src/addresses.h"
#include "client/src/mutex.h"

namespace carom {

// Has one call at a time, which the thread in `Next` reads and replaces.
class SceneWatch::Impl {
 public:
  Impl(std::shared_ptr<Addresses> addresses, std::string name, const WatchOptions& options)
      : addresses_(std::move(addresses)),
        name_(std::move(name)),
        options_(options),
        seen_(options.from_version) {}
  ~Impl();

  absl::StatusOr<SceneUpdate> Next();
  void Cancel();

 private:
  using Time = std::chrono::steady_clock::time_point;

  absl::Status Open();
  // One version, from its first part to its last, or why the call has none.
  absl::StatusOr<SceneUpdate> Read();
  // How the call ended.
  absl::Status Close();
  // False once the watch is cancelled.
  bool WaitUntil(Time time);

  const std::shared_ptr<Addresses> addresses_;
  const std::string name_;
  const WatchOptions options_;

  // Of the thread in `Next`.
  uint64_t seen_;       // the last version that the caller has; 0: none
  size_t address_ = 0;  // of the call
  std::unique_ptr<grpc::ClientReader<v1::WatchSceneResponse>> call_;
  Time opened_;       // when the server had answered the call, or it had failed
  absl::Status end_;  // once it is not OK

  Mutex mutex_;
  ConditionVariable changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);  // of the call
};

}  // namespace carom
