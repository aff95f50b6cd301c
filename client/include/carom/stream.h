// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a tick loop keep the server busy?
//
// A `Stream` sends frames ahead of their answers and receives the answers in order. It is made by
// `Client::OpenStream` (carom/client.h). For a question now and then, `Client::Evaluate` is
// simpler.
//
//   auto stream = client->OpenStream();
//   stream->Send(frame);                 // returns as soon as the frame is on its way
//   auto answer = stream->Receive();     // waits for the oldest answer
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/frame.h"

namespace carom {

struct StreamOptions {
  // Performance. `Send` waits while this many frames have no answer; at least 1. More than the
  // server reads ahead (16 unless its operator changed it) gains nothing; fewer lower the latency
  // of a client that sends faster than the server answers.
  uint32_t max_in_flight = 8;
};

// One stream of frames: a session of the server. Scene handles live and die with it.
//
// Thread-safe. The common shapes are one thread that sends and receives, and one thread for each;
// frames of several sending threads go out one after the other. Answers that nobody receives wait
// in memory. Destruction cancels what is still running; no other call may be under way.
class Stream {
 public:
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Sends a frame, waiting while `max_in_flight` frames have no answer. OK does not tell that the
  // frame was or will be answered.
  //
  // Errors: the status with which the stream has ended (UNAVAILABLE: the server cannot be reached,
  // or is gone, or drains; RESOURCE_EXHAUSTED: a frame over the server's message size; ABORTED: no
  // frame for the server's idle time; CANCELLED: `Cancel`); FAILED_PRECONDITION after `Finish`.
  absl::Status Send(const Frame& frame);

  // The answer of the oldest frame that has not been received yet. Waits for it, and for a frame
  // to be sent if there is none: another thread's, or nobody's.
  //
  // Errors, after every answer that arrived has been received: OUT_OF_RANGE when the stream ended
  // as it should (`Finish`), else the status with which it ended. A frame that the server refused
  // is not an error here: see `FrameAnswer::status`.
  absl::StatusOr<FrameAnswer> Receive();

  // Ends the sending side and waits until every frame is answered or the stream is broken. Answers
  // stay there for `Receive`. Returns how the stream ended; OK if every frame got its answer.
  // Calling it again returns the same.
  absl::Status Finish();

  // Ends the stream at once, from any thread; calls that wait return CANCELLED.
  void Cancel();

 private:
  friend class Client;
  class Impl;

  explicit Stream(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
