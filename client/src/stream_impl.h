// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The inside of `Stream` (carom/stream.h).
//
// One thread of its own reads answers into a queue from the stream's first moment to its last, so
// that neither `Send` nor the server ever waits for the caller to receive. That thread alone reads
// the call's end; senders hand frames to the call one at a time.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/stream.h"
#include "carom/v1/query_service.grpc.pb.h"
#include "client/src/mutex.h"

namespace carom {

// Thread-safe; see `Stream`.
class Stream::Impl {
 public:
  // Opens the call, waiting for the connection. `stub` is kept for as long as the stream.
  Impl(std::shared_ptr<v1::QueryService::Stub> stub, const StreamOptions& options);
  ~Impl();

  absl::Status Send(const Frame& frame);
  absl::StatusOr<FrameAnswer> Receive();
  absl::Status Finish();
  void Cancel();

 private:
  // The body of `reader_`.
  void ReadAnswers();
  void End(absl::Status status);
  // Waits for a free place in flight and takes it.
  absl::Status TakePlace();
  // Why nothing can be sent any more.
  absl::Status SendingEnd() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<v1::QueryService::Stub> stub_;
  const uint64_t max_in_flight_;
  grpc::ClientContext context_;
  // Reads belong to `reader_`, writes to whoever holds `sending_`: the call allows one of each.
  std::unique_ptr<grpc::ClientReaderWriter<v1::StreamRequest, v1::StreamResponse>> call_;

  Mutex sending_;
  v1::StreamRequest request_ ABSL_GUARDED_BY(sending_);  // its memory is reused
  bool finished_ ABSL_GUARDED_BY(sending_) = false;

  Mutex mutex_ ABSL_ACQUIRED_AFTER(sending_);
  ConditionVariable changed_;  // `in_flight_` fell, or `answers_` grew, or `ended_`
  uint64_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;  // sent and not answered
  std::deque<FrameAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // meaningful once `ended_`

  std::thread reader_;
};

}  // namespace carom
