// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The implementation of `SceneWatch` (carom/watch.h).
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

// Follows the versions of one scene with at most one gRPC call of `WatchScene` at a time, `call_`.
// The thread in `Next` reads from `call_`, and opens another call when `call_` has ended.
class SceneWatch::Impl {
 public:
  Impl(std::shared_ptr<Addresses> addresses, std::string name, const WatchOptions& options)
      : addresses_(std::move(addresses)),
        name_(std::move(name)),
        options_(options),
        last_version_(options.from_version) {}
  ~Impl();

  absl::StatusOr<SceneUpdate> Next();
  void Cancel();

 private:
  using Time = std::chrono::steady_clock::time_point;

  // Opens a call, `call_`, by which the server sends the versions after `last_version_`.
  absl::Status Open();
  // Returns the next version of the scene that the call sends, read from the first to the last
  // chunk (message) of the version, or the error with which the call ended.
  absl::StatusOr<SceneUpdate> Read();
  // Waits for the end of the call, deletes the call, and returns its status.
  absl::Status Close();
  // Waits until `time`. Returns false, at once, if the watch is cancelled.
  bool WaitUntil(Time time);

  const std::shared_ptr<Addresses> addresses_;
  const std::string name_;
  const WatchOptions options_;

  // Only the thread that runs `Next` uses the five members from here to `final_status_`.
  uint64_t last_version_;  // the last version that the caller has; 0: none
  size_t address_ = 0;     // index in `addresses_` of the server of `call_`
  std::unique_ptr<grpc::ClientReader<v1::WatchSceneResponse>> call_;
  // time when the server accepted the call by sending its headers, or when the call failed
  Time opened_;
  absl::Status final_status_;  // not OK once the watch has ended

  Mutex mutex_;
  ConditionVariable changed_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::ClientContext> context_ ABSL_GUARDED_BY(mutex_);  // context of `call_`
};

}  // namespace carom
