// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The inside of `Stream` (carom/stream.h).
//
// A stream has one call at a time. Frames wait in `unanswered_` until their answer comes; the first
// `sent_` of them are on the call. Whatever makes room writes the next message: a sender, the end
// of a write, an answer. Answers are read into a queue from the stream's first moment to its last,
// so that the server never waits for the caller to receive. One thread, the keeper, opens calls:
// it sleeps until a call is over and decides whether another one takes its place. Before that the
// server gets the forks that it has lost (fork_log.h); the call replays the session first, and then
// the unanswered frames.
//
// The state of a stream is three enumerations, each moving down its rows, but for `OpenCall`, which
// starts the lower two anew.
//
//   `State`      outstanding                             ends with
//   kRunning     frames, on this call or a later one     `EndAfter`, a fault, `Cancel`
//   kFailed      the end of a call that broke the rules  `EndCall`
//   kCancelled   the end of the call, if there is one    `EndCall`, or the keeper's waking up
//   kEnded       nothing; `end_` is the stream's status  never
//
//   `CallState`  outstanding                             ends with
//   kConnecting  the write of a first message, at most   the end of that write, or an answer
//                until `give_up_`
//   kConnected   the first answer: it has the limits,    an answer
//                until which one message is written
//   kAnswered    answers to the messages written         `EndCall`
//   kOver        nothing: no reaction is to come         `OpenCall`, after the keeper's deleting it
//
//   `WriteState` is written next                         ends with
//   kReplaying   the next definitions of the session     the last of them
//   kFrames      the frame number `sent_` of those       the last of them, after `Finish`
//                without an answer
//   kHalfClosed  nothing; answers are still taken        the last answer read
//   kClosed      nothing; what is read is dropped        `OpenCall`
//
// Every write state may pass straight to kClosed: at the last read of the call, at a fault, at a
// refused replay, and at `Cancel`. From each call state `EndCall` leads to kOver.
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

  uint64_t reconnects() const;
  absl::Status Send(const Frame& frame);
  absl::StatusOr<FrameAnswer> Receive();
  absl::Status Finish();
  void Cancel();

 private:
  using Clock = std::chrono::steady_clock;
  using Request = std::unique_ptr<v1::StreamRequest>;

  // The reactor of one call. Its reactions come here, from threads of gRPC.
  class Call;

  // See the tables above.
  enum class State { kRunning, kFailed, kCancelled, kEnded };
  enum class CallState { kConnecting, kConnected, kAnswered, kOver };
  enum class WriteState { kReplaying, kFrames, kHalfClosed, kClosed };

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

  // Takes the answer to a frame that replays the session, or to the oldest frame. An error ends the
  // stream.
  absl::Status TakeReplayAnswer(const FrameAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeFrameAnswer(FrameAnswer answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void RecordEdits(const v1::Frame& asked, const FrameAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Writes the next message if there is one and the call takes it.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const v1::StreamRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Recycle(SentFrame frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Request TakeSpare() ABSL_LOCKS_EXCLUDED(mutex_);

  // The body of `keeper_`, and its steps.
  void Keep() ABSL_LOCKS_EXCLUDED(mutex_);
  // Has the server of the next call have the client's forks.
  absl::Status RestoreForks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Opens the call, or one that ends at once, if the server is not `ready`.
  void OpenCall(const absl::Status& ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
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

  Mutex sending_;  // serializes senders

  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(sending_);
  ConditionVariable changed_;  // `unanswered_` shrank, or `answers_` grew, or kEnded
  ConditionVariable wake_;     // the keeper, at all that it waits for

  // --- The stream
  std::deque<SentFrame> unanswered_ ABSL_GUARDED_BY(mutex_);
  std::deque<FrameAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  StreamSession session_ ABSL_GUARDED_BY(mutex_);  // as of the last answer
  std::vector<Request> spare_ ABSL_GUARDED_BY(mutex_);
  State state_ ABSL_GUARDED_BY(mutex_) = State::kRunning;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // no frame is to come, in any state
  absl::Status end_ ABSL_GUARDED_BY(mutex_);       // meaningful in kFailed and kEnded
  uint64_t reconnects_ ABSL_GUARDED_BY(mutex_) = 0;

  // --- The call; `OpenCall` sets all of it anew
  std::unique_ptr<Call> call_ ABSL_GUARDED_BY(mutex_);
  CallState call_state_ ABSL_GUARDED_BY(mutex_) = CallState::kOver;
  WriteState write_state_ ABSL_GUARDED_BY(mutex_) = WriteState::kClosed;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // meaningful in kOver
  // Of a replayed frame, if another call may fare better: in place of the call's status.
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  const v1::StreamRequest* writing_ ABSL_GUARDED_BY(mutex_) = nullptr;
  SentFrame answered_ ABSL_GUARDED_BY(mutex_);        // before the end of its write was reported
  uint64_t outstanding_ ABSL_GUARDED_BY(mutex_) = 0;  // written, without an answer
  size_t sent_ ABSL_GUARDED_BY(mutex_) = 0;           // frames of `unanswered_`
  // Of the session: what this call has sent, the last message of it, and how many of the first
  // `outstanding_` messages are such.
  StreamSession::Cursor replay_position_ ABSL_GUARDED_BY(mutex_);
  v1::StreamRequest replay_message_ ABSL_GUARDED_BY(mutex_);
  uint64_t replay_outstanding_ ABSL_GUARDED_BY(mutex_) = 0;

  // --- From call to call
  v1::StreamLimits limits_ ABSL_GUARDED_BY(mutex_);  // of the last server that sent them
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
