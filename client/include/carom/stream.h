// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a tick loop keep the server busy?
//
// A `Stream` sends frames ahead of their answers and receives the answers in order.
// `Client::OpenStream` (carom/client.h) opens a stream. For occasional queries, `Client::Evaluate`
// is simpler.
//
//   auto stream = client->OpenStream();
//   absl::Status status = stream->Send(frame);  // returns as soon as the frame is queued
//   auto answer = stream->Receive();            // waits for the oldest answer
//   status = stream->Finish();                  // waits for all other answers
//
// Lengths are in the unit of the caller's coordinates. Errors: a status of the stream, and those of
// carom/frame.h. Cost: O(n) bytes, n the items and rows of a frame; frames need not wait for a
// round trip while fewer than `max_in_flight` frames are unanswered. Thread-safe. Cheaper
// alternative: `Client::Evaluate` for one frame, carom/group.h without a server. More powerful:
// carom/tracker_events.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/frame.h"

namespace carom {

struct StreamOptions {
  // Behaviour. How long the stream, after its gRPC call broke, tries to get a frame answered by
  // other calls, before it ends with the status of the last call. Zero means that a broken call
  // ends the stream.
  std::chrono::milliseconds reconnect_timeout{30000};

  // Performance. `Send` waits while this many frames are unanswered; at least 1. A number above the
  // number of frames that the server reads ahead (16 unless its operator changed that) gains
  // nothing; a smaller number reduces the latency of a client that sends faster than the server
  // answers.
  uint32_t max_in_flight = 8;

  // Behaviour. A file that the stream records the frames and their answers in (carom/recording.h);
  // an existing file is replaced. Empty: none. The answers of a stream that records wait for the
  // disk. A file that cannot be written ends the stream with INVALID_ARGUMENT, naming `record`.
  // `caromd --record` records the scenes, too, without which frames cannot be evaluated anew.
  std::string record = {};
  // Maximum number of bytes of the recording. The recording ends before a frame that does not fit;
  // the stream goes on.
  uint64_t record_max_bytes = uint64_t{256} << 20;
};

// A session of frames (messages with the queries of one tick, carom/frame.h). The scene handles and
// the trackers (moving shapes) that frames define exist until the end of the stream.
//
// Reconnects. A stream outlives the gRPC calls that carry its frames. If a call breaks, the stream
// opens another call as soon as a frame waits for its answer: at the next address of the client,
// first at once and then with a backoff from 20 ms to 2 s. The stream replays the handles and
// trackers of the frames that were answered and not refused, and then sends the unanswered frames
// again, in order. An answer does not depend on earlier frames, so the caller receives the answers
// of a stream that never broke, except for `stats` and for which frames are `skipped`. The server
// answers the first moves of trackers after a reconnect without tracker memory, its cache of what
// earlier moves found.
//
// Forks. If the server of the other call does not have a fork of the client (`Client::ForkScene`),
// or still has it as it was when the client went on with another server, the stream first restores
// the fork on that server, from its base and from the edits that the client's streams and commits
// made. The edits of unanswered frames follow with these frames. A restored fork has the same
// polygons and the same name, but other version numbers, and no version history: edits for a
// version of the lost fork are ABORTED, naming the current version, and groups with such a
// `version` are OUT_OF_RANGE. Edits that other clients made are lost. A fork is not restored if its
// base no longer exists, or if the fork was rolled back (`Client::RollbackScene`): groups that
// query the fork then get NOT_FOUND.
//
// A call breaks with UNAVAILABLE (the server has ended, cannot be reached, or is shutting down),
// ABORTED (no frame for the server's idle time; the stream keeps the address), CANCELLED without
// `Cancel`, INTERNAL and UNKNOWN (the transport failed), any status with a `RetryDelay`
// (carom/status.h; the stream waits for the delay), and when the server closes the call before it
// has answered every frame. Every other status ends the stream; so do answers that do not fit the
// queries (INTERNAL), and a server that refuses the replayed handles and trackers.
//
// Thread-safe. Common uses are one thread that sends and receives, and one thread for each; the
// stream sends the frames of several threads one after the other. Answers stay in memory until the
// caller receives them. The destructor cancels the call of the stream; no other function of the
// stream may be running then.
class Stream {
 public:
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Sends a frame; waits while `max_in_flight` frames are unanswered. OK does not mean that the
  // server has answered the frame, or will.
  //
  // Errors: the status with which the stream has ended (UNAVAILABLE: no server could be reached for
  // `reconnect_timeout`; RESOURCE_EXHAUSTED: a frame over twice the server's frame size; CANCELLED:
  // `Cancel` was called; the comment of `Stream` lists others); FAILED_PRECONDITION after `Finish`.
  absl::Status Send(const Frame& frame);

  // Returns the next answer, in the order of the frames. Waits for the answer; if no frame is
  // unanswered, waits until another thread sends one or the stream ends.
  //
  // Errors, after every answer that arrived has been received: OUT_OF_RANGE if the stream ended by
  // `Finish` without an error, else the status with which the stream ended. A frame that the server
  // refused is not an error of `Receive`: see `FrameAnswer::status`.
  absl::StatusOr<FrameAnswer> Receive();

  // Ends the sending: makes later `Send` calls fail, and waits until every frame is answered or the
  // stream has ended. `Receive` still returns the answers. Returns OK if every frame was answered,
  // else the status with which the stream ended. Later calls return the first result.
  absl::Status Finish();

  // Ends the stream at once, from any thread; functions that are waiting return CANCELLED.
  void Cancel();

  // Returns how often the stream has reconnected: the number of gRPC calls that replaced a broken
  // call and received an answer.
  uint64_t reconnects() const;

 private:
  friend class Client;
  class Impl;

  explicit Stream(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
