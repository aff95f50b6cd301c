// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The inside of `Stream` (carom/stream.h).
//
// A stream has one call at a time. Frames wait in `unanswered_` until their answer comes; the first
// `sent_` of them are on the call. Whatever makes room writes the next message: a sender, the end
// of a write, an answer. Answers are read into a queue from the stream's first moment to its last,
// so that the server never waits for the caller to receive. One thread, the keeper, opens calls:
// it sleeps until a call is over and decides whether another one takes its place. That one is told
// the session first, and then the unanswered frames.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/stream.h"
#include "carom/v1/query_service.pb.h"
#include "client/src/addresses.h"
#include "client/src/mutex.h"
#include "client/src/stream_session.h"

namespace carom {

// Thread-safe; see `Stream`.
class Stream::Impl {
 public:
  // Opens the call. `addresses` is kept for as long as the stream.
  Impl(std::shared_ptr<Addresses> addresses, const StreamOptions& options);
  ~Impl();

  absl::Status Send(const Frame& frame);
  absl::StatusOr<FrameAnswer> Receive();
  absl::Status Finish();
  void Cancel();
  uint64_t reconnects() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Request = std::unique_ptr<v1::StreamRequest>;

  // The reactor of one call. Its reactions come here, from threads of gRPC.
  class Call;

  struct SentFrame {
    Request request;
    uint64_t bytes = 0;
  };

  // A message of the call was read, and decoded with `decoded`.
  void TakeResponse(const v1::StreamResponse& response, const absl::Status& decoded,
                    FrameAnswer answer) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndReading() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWrite(bool ok) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndCall(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // Takes the answer to a frame that retells the session, or to the oldest frame. An error ends the
  // stream.
  absl::Status TakeToldAnswer(const FrameAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeFrameAnswer(FrameAnswer answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Writes the next message if there is one and the call takes it.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const v1::StreamRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Recycle(SentFrame frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Request TakeSpare() ABSL_LOCKS_EXCLUDED(mutex_);

  // The body of `keeper_`, and its steps.
  void Keep() ABSL_LOCKS_EXCLUDED(mutex_);
  void OpenCall() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status AwaitCallEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // How the stream ends after a call that ended with `status`; absent: another call takes over.
  std::optional<absl::Status> EndAfter(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until another call is to be opened (absent), or the stream ends.
  std::optional<absl::Status> AwaitAttempt() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets when the next attempt may be made after one that ended with `status`.
  void BackOff(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void End(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<Addresses> addresses_;
  const uint64_t max_in_flight_;
  const std::chrono::milliseconds reconnect_timeout_;

  Mutex sending_;  // held by the sender whose frame is next

  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(sending_);
  ConditionVariable changed_;  // `unanswered_` shrank, or `answers_` grew, or `ended_`
  ConditionVariable wake_;     // the keeper, at all that it waits for

  // --- The stream
  std::deque<SentFrame> unanswered_ ABSL_GUARDED_BY(mutex_);
  std::deque<FrameAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  StreamSession session_ ABSL_GUARDED_BY(mutex_);  // as of the last answer
  std::vector<Request> spare_ ABSL_GUARDED_BY(mutex_);
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status fault_ ABSL_GUARDED_BY(mutex_);  // of the server: the stream ends with it
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);  // meaningful once `ended_`
  uint64_t reconnects_ ABSL_GUARDED_BY(mutex_) = 0;

  // --- The call; `OpenCall` sets all of it anew
  std::unique_ptr<Call> call_ ABSL_GUARDED_BY(mutex_);
  bool open_ ABSL_GUARDED_BY(mutex_) = false;         // messages may be written
  bool over_ ABSL_GUARDED_BY(mutex_) = false;         // no reaction is to come
  bool half_closed_ ABSL_GUARDED_BY(mutex_) = false;  // by this side
  bool connected_ ABSL_GUARDED_BY(mutex_) = false;    // a message has gone out
  bool limits_told_ ABSL_GUARDED_BY(mutex_) = false;  // an answer has come
  absl::Status status_ ABSL_GUARDED_BY(mutex_);       // meaningful once `over_`
  // Refuses what was told, in a way that passes: in place of the call's status.
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  const v1::StreamRequest* writing_ ABSL_GUARDED_BY(mutex_) = nullptr;
  SentFrame answered_ ABSL_GUARDED_BY(mutex_);        // before the end of its write was told
  uint64_t outstanding_ ABSL_GUARDED_BY(mutex_) = 0;  // written, without an answer
  size_t sent_ ABSL_GUARDED_BY(mutex_) = 0;           // frames of `unanswered_`
  StreamSession::Cursor replayed_ ABSL_GUARDED_BY(mutex_);
  bool all_told_ ABSL_GUARDED_BY(mutex_) = false;
  v1::StreamRequest replay_ ABSL_GUARDED_BY(mutex_);
  bool has_replay_ ABSL_GUARDED_BY(mutex_) = false;            // `replay_` waits to be written
  uint64_t replayed_outstanding_ ABSL_GUARDED_BY(mutex_) = 0;  // of `outstanding_`, the first ones

  // --- From call to call
  v1::StreamLimits limits_ ABSL_GUARDED_BY(mutex_);  // last told
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t address_ ABSL_GUARDED_BY(mutex_) = 0;
  uint32_t failures_ ABSL_GUARDED_BY(mutex_) = 0;  // since a frame was answered
  Clock::time_point next_attempt_ ABSL_GUARDED_BY(mutex_);
  std::optional<Clock::time_point> give_up_ ABSL_GUARDED_BY(mutex_);  // while frames wait in vain
  absl::Status last_break_ ABSL_GUARDED_BY(mutex_);
  std::minstd_rand random_ ABSL_GUARDED_BY(mutex_);

  std::thread keeper_;
};

}  // namespace carom
