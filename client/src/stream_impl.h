// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The implementation of `Stream` (carom/stream.h).
//
// A stream has at most one gRPC call at a time. Frames wait in `unanswered_` until their answers
// arrive; the first `sent_` of them are written to the call. `WriteNext` runs after each event that
// permits a write: `Send`, the end of a write, an answer. The call reads answers into a queue all
// the time, so the server never waits for the caller to receive. One thread, the keeper, opens
// calls: it waits until a call is over and decides whether another call replaces it. The keeper
// first restores the forks that the server has lost (fork_log.h); the call then replays the session
// (sends the scene handles and trackers that the answered frames defined), and after the session
// sends the unanswered frames.
//
// The state of a stream consists of three enumerations. Each moves down the rows of its table;
// `OpenCall` alone sets `CallState` and `WriteState` back.
//
//   `State`      the stream waits for                    ends with
//   kRunning     frames, on this call or a later one     `EndAfter`, a server fault, `Cancel`
//   kFailed      the end of a call with a server fault   `EndCall`
//   kCancelled   the end of the call, if one exists      `EndCall`, or the keeper wakes up
//   kEnded       nothing; `final_status_` is set         never
//
//   `CallState`  the call waits for                      ends with
//   kConnecting  the write of a first message, at most   the end of that write, or an answer
//                until the time `give_up_`
//   kConnected   the first answer, which has the limits; an answer
//                before it, one message is written
//   kAnswered    answers to the messages written         `EndCall`
//   kOver        nothing: gRPC invokes no callback again `OpenCall`; the keeper deletes the call
//
//   `WriteState` the stream writes next                  ends with
//   kReplaying   the next definitions of the session     the last of them
//   kFrames      the frame `unanswered_[sent_]`          the last frame, after `Finish`
//   kHalfClosed  nothing; it still accepts answers       the last answer read
//   kClosed      nothing; it drops answers               `OpenCall`
//
// A server fault is an answer that breaks the protocol. Every write state may change to kClosed
// directly: at the last read of the call, at a server fault, when the server refuses a frame of the
// replay, and at `Cancel`. `EndCall` changes each call state to kOver.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "carom/stream.h"
#include "carom/v1/query_service.pb.h"
#include "client/src/addresses.h"
#include "client/src/mutex.h"
#include "client/src/recording_writer.h"
#include "client/src/stream_session.h"

namespace carom {

// Sends frames (the queries of one tick) and receives their answers over a series of gRPC calls.
// When a call breaks, the keeper, a thread of the stream, opens another call, which replays the
// session (sends again the scene handles and trackers that answered frames defined) and then sends
// the unanswered frames again. Thread-safe; see `Stream`.
class Stream::Impl {
 public:
  // Starts the keeper, which opens the first call.
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

  // The gRPC reactor of one call. On threads of gRPC it calls the functions `TakeResponse` to
  // `EndCall` of the stream.
  class Call;

  // The tables at the top of this file describe the states.
  enum class State { kRunning, kFailed, kCancelled, kEnded };
  enum class CallState { kConnecting, kConnected, kAnswered, kOver };
  enum class WriteState { kReplaying, kFrames, kHalfClosed, kClosed };

  struct SentFrame {
    Request request;
    uint64_t bytes = 0;
    RecordingWriter::Time sent;  // when `Send` was called
  };

  // Opens the file of the recording, if `options` name one. If that fails, the stream has failed
  // before its first call.
  void BeginRecording(const StreamOptions& options) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Handles `response`, which the call has read and decoded to `answer` with the status `decoded`.
  void TakeResponse(const v1::StreamResponse& response, const absl::Status& decoded,
                    FrameAnswer answer) ABSL_LOCKS_EXCLUDED(mutex_);
  // `EndReading` handles the failed read that ends the reading, `EndWrite` the end of the write of
  // a message, `EndCall` the end of a call.
  void EndReading() ABSL_LOCKS_EXCLUDED(mutex_);
  void EndWrite(bool ok) ABSL_LOCKS_EXCLUDED(mutex_);
  void EndCall(absl::Status status) ABSL_LOCKS_EXCLUDED(mutex_);

  // `TakeReplayAnswer` handles the answer to a frame that replays the scene handles and trackers of
  // `session_`, `TakeFrameAnswer` the answer to the oldest unanswered frame. If one of these
  // functions returns an error, the stream ends with this error.
  absl::Status TakeReplayAnswer(const FrameAnswer& answer) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status TakeFrameAnswer(const v1::FrameAnswer& message, FrameAnswer answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Updates the client's `ForkLog` with the edits that `answer` reports.
  void RecordEdits(const v1::Frame& asked, const FrameAnswer& answer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Writes the next message of the call (a frame of the replay or an unanswered frame), if there is
  // one and the call accepts another message.
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether the server accepts another message before it has answered the written messages.
  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Write(const v1::StreamRequest& request) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // `Recycle` keeps the message of a frame in `spare_` for reuse; `TakeSpare` returns a message
  // from `spare_`, or makes one.
  void Recycle(SentFrame frame) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Request TakeSpare() ABSL_LOCKS_EXCLUDED(mutex_);

  // Runs in the thread `keeper_`; the functions below are its steps.
  void RunKeeper() ABSL_LOCKS_EXCLUDED(mutex_);
  // Restores the client's forks (editable copies of scenes, each on one server) that the server of
  // the next call has lost.
  absl::Status RestoreForks() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Opens a call if `ready` is OK. Otherwise makes a `Call` that is not started and counts as ended
  // with the status `ready`.
  void OpenCall(const absl::Status& ready) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for the end of the call, deletes the call, and returns the status with which it ended.
  absl::Status AwaitCallEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the status with which the stream ends after a call that ended with `status`, or nullopt
  // if another call replaces the ended call.
  std::optional<absl::Status> EndAfter(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until the keeper should open another call, and returns nullopt; if the stream should end
  // instead, returns its final status.
  std::optional<absl::Status> AwaitAttempt() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Sets the server and the time of the next attempt to open a call, after a call that ended with
  // `status`.
  void BackOff(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Ends the stream with `status`.
  void End(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<Addresses> addresses_;
  const uint64_t max_in_flight_;
  const std::chrono::milliseconds reconnect_timeout_;

  Mutex sending_;  // held by `Send` and `Finish`, so that frames are queued one after the other

  mutable Mutex mutex_ ABSL_ACQUIRED_AFTER(sending_);
  // notified when `unanswered_` shrinks, when `answers_` grows, and when `state_` becomes kEnded
  ConditionVariable changed_;
  // notified to wake the thread `keeper_`, when a condition that it waits for may have become true
  ConditionVariable wake_;

  // --- The stream
  std::deque<SentFrame> unanswered_ ABSL_GUARDED_BY(mutex_);
  std::deque<FrameAnswer> answers_ ABSL_GUARDED_BY(mutex_);
  // scene handles and trackers that the server had after the last answered frame
  StreamSession session_ ABSL_GUARDED_BY(mutex_);
  std::vector<Request> spare_ ABSL_GUARDED_BY(mutex_);
  // recording of the answered frames; null: none
  std::unique_ptr<RecordingWriter> recording_ ABSL_GUARDED_BY(mutex_);
  State state_ ABSL_GUARDED_BY(mutex_) = State::kRunning;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;  // `Finish` was called: `Send` fails
  // status with which the stream ends; set when `state_` is kFailed or kEnded
  absl::Status final_status_ ABSL_GUARDED_BY(mutex_);
  uint64_t reconnects_ ABSL_GUARDED_BY(mutex_) = 0;

  // --- The call; `OpenCall` resets these members
  std::unique_ptr<Call> call_ ABSL_GUARDED_BY(mutex_);
  CallState call_state_ ABSL_GUARDED_BY(mutex_) = CallState::kOver;
  WriteState write_state_ ABSL_GUARDED_BY(mutex_) = WriteState::kClosed;
  // status with which the call ended; set when `call_state_` is kOver
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  // status with which the server refused a frame that replays `session_`, if another call may
  // succeed; the call then ends with this status instead of `status_`
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);
  // message that gRPC is writing, until `EndWrite`; null: none
  const v1::StreamRequest* writing_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // frame that was answered before the end of its write; kept until `EndWrite`, because gRPC still
  // reads its message
  SentFrame answered_ ABSL_GUARDED_BY(mutex_);
  uint64_t outstanding_ ABSL_GUARDED_BY(mutex_) = 0;  // messages written and not answered
  // how many frames, from the front of `unanswered_`, were passed to `Write` on this call
  size_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  // progress of the replay of `session_` on this call: the next definition to send, the last
  // message, and for each of the `outstanding_` messages that belong to the replay (always the
  // oldest ones) the fork whose body sets the message has, or an empty name
  StreamSession::Cursor replay_position_ ABSL_GUARDED_BY(mutex_);
  v1::StreamRequest replay_message_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> replayed_forks_ ABSL_GUARDED_BY(mutex_);

  // --- Members that outlive a call
  v1::StreamLimits limits_ ABSL_GUARDED_BY(mutex_);  // the last limits that a server sent
  uint64_t calls_ ABSL_GUARDED_BY(mutex_) = 0;       // number of calls opened so far
  // index in `addresses_` of the server of the call
  size_t address_ ABSL_GUARDED_BY(mutex_) = 0;
  // consecutive calls that broke without an answer to a frame
  uint32_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
  Clock::time_point next_attempt_ ABSL_GUARDED_BY(mutex_);
  // after a call broke: the time by which another call must answer a frame; absent: no limit
  std::optional<Clock::time_point> give_up_ ABSL_GUARDED_BY(mutex_);
  absl::Status last_failure_ ABSL_GUARDED_BY(mutex_);  // status of the last call that broke
  std::minstd_rand random_ ABSL_GUARDED_BY(mutex_);

  std::thread keeper_;
};

}  // namespace carom
