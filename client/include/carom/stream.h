// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a tick loop keep the server busy?
//
// A `Stream` sends frames ahead of their answers and receives the answers in order. It is made by
// `Client::OpenStream` (carom/client.h). For a question now and then, `Client::Evaluate` is
// simpler.
//
//   auto stream = client->OpenStream();
//   absl::Status status = stream->Send(frame);  // returns as soon as the frame is queued
//   auto answer = stream->Receive();            // waits for the oldest answer
//   status = stream->Finish();                  // waits for the others
//
// Lengths are in the unit of the caller's coordinates. Errors: a status of the stream, and those of
// carom/frame.h. Cost: bytes O(n), n the items and rows of a frame; no round trip is waited for
// while fewer than `max_in_flight` frames are open. Thread-safe. Cheaper: `Client::Evaluate` for
// one frame, carom/group.h without a server; richer: carom/tracker_events.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/frame.h"

namespace carom {

struct StreamOptions {
  // Behaviour. How long a stream whose call broke tries to have frames answered by another one,
  // before it ends with the status of the last. Zero: a broken call ends the stream.
  std::chrono::milliseconds reconnect_timeout{30000};

  // Performance. `Send` waits while this many frames have no answer; at least 1. More than the
  // server reads ahead (16 unless its operator changed it) gains nothing; fewer lower the latency
  // of a client that sends faster than the server answers.
  uint32_t max_in_flight = 8;
};

// One stream of frames: a session. Scene handles and trackers live and die with it.
//
// It outlives its calls. When a call breaks, another one is opened as soon as a frame waits for its
// answer: at the next address of the client, at once and then with growing pauses from 20 ms to 2
// s. There the handles and trackers of the frames that were answered and not refused are defined
// again, and then the frames without an answer are sent once more, in order. As answers have no
// history, those received are those of a stream that never broke, but for `stats` and for which
// frames are `skipped`; moves are answered without memory at first.
//
// Forks of the client (`Client::ForkScene`) that the server of another call does not have are made
// again there, before that, from their base and from what the frames and commits answered on the
// client's streams have edited; the edits of frames without an answer follow with these. Such a
// fork has the same polygons and the same name, but other versions, and no old ones: edits for a
// version of the lost one are ABORTED, which names the current one, and pins OUT_OF_RANGE. What
// others have edited there is lost, as is a fork whose base is gone, or that was rolled back
// (`Client::RollbackScene`): its groups are NOT_FOUND.
//
// What breaks a call: UNAVAILABLE (the server is gone, cannot be reached, or drains), ABORTED (no
// frame for the server's idle time; the address stays), CANCELLED without `Cancel`, INTERNAL and
// UNKNOWN (the transport failed), any status with a `RetryDelay` (carom/status.h), which is waited
// for, and a server that closes the call though frames lack their answers. Every other status ends
// the stream, as do answers that do not fit the questions (INTERNAL), and a server that refuses
// the definitions of the session.
//
// Thread-safe. The common shapes are one thread that sends and receives, and one thread for each;
// frames of several sending threads go out one after the other. Answers that nobody receives wait
// in memory. Destruction cancels what is still running; no other call may be running.
class Stream {
 public:
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Sends a frame, waiting while `max_in_flight` frames have no answer. OK does not mean that the
  // frame was or will be answered.
  //
  // Errors: the status with which the stream has ended (UNAVAILABLE: no server in time;
  // RESOURCE_EXHAUSTED: a frame over twice the server's frame size; CANCELLED: `Cancel`; see
  // above); FAILED_PRECONDITION after `Finish`.
  absl::Status Send(const Frame& frame);

  // The answer of the oldest frame that has not been received yet. Waits for it, and for a frame
  // to be sent if there is none: another thread's, or nobody's.
  //
  // Errors, after every answer that arrived has been received: OUT_OF_RANGE when the stream ended
  // as it should (`Finish`), else the status with which it ended. A frame that the server refused
  // is not an error here: see `FrameAnswer::status`.
  absl::StatusOr<FrameAnswer> Receive();

  // Ends the sending side and waits until every frame is answered or the stream has ended. Answers
  // stay there for `Receive`. Returns how the stream ended; OK if every frame got its answer.
  // Calling it again returns the same.
  absl::Status Finish();

  // Ends the stream at once, from any thread; calls that wait return CANCELLED.
  void Cancel();

  // How many calls that took the place of a broken one were answered on, so far.
  uint64_t reconnects() const;

 private:
  friend class Client;
  class Impl;

  explicit Stream(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
