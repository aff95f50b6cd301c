// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Opens all streams of a run of `carom load` and drives them with a fixed number of threads.
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "client/load/load_stream.h"
#include "client/load/tally.h"
#include "client/src/security.h"

namespace carom::load {

// A signal handler or another thread sets the flag to end the run.
using StopFlag = std::atomic<bool>;

// A completion queue with its streams, and two threads: the poller handles the events of the queue
// (answers, and ends of writes), the sender sends the frames (messages with the queries of one
// tick) of an open loop (frames are sent at scheduled times, whether or not answers arrive), or the
// first frames of a closed loop. So the handling of an answer never waits for the sending of a
// frame, nor the sending for the handling.
class LoadThread {
 public:
  LoadThread(Run& run, const std::vector<uint32_t>& indices,
             const std::vector<std::unique_ptr<grpc::GenericStub>>& stubs);
  // All streams must have ended before, unless none was opened.
  ~LoadThread();

  // Starts to open the streams, up to 512 at a time, and returns; `opened` and `failed` report the
  // progress.
  void Open();
  // Starts the sender, which sends frames from `start_ns` to the end of the measured time.
  void StartSending(int64_t start_ns);
  // Waits until the sender has ended.
  void JoinSending();
  // Half-closes all streams (tells the server that no frame follows).
  void Close();
  // Cancels all streams.
  void Cancel();

  uint64_t opened() const { return opened_.load(); }
  // Returns the number of streams that could not be opened plus the number of streams that have
  // ended; a stream may count as both.
  uint64_t failed() const { return failed_.load(); }
  bool all_ended() const {
    return ended_.load() >= std::min(next_to_open_.load(), streams_.size());
  }
  // Ends the poller and returns the counts of frames and answers of both threads. All streams and
  // the sender must have ended.
  Tally Join();
  // Returns the first error of a stream, or OK. May be called after `Join`.
  const absl::Status& status() const { return status_; }

 private:
  void Poll();
  void OpenNext();
  void SendOpenLoop(int64_t start_ns);
  void SendClosedLoop(int64_t start_ns);

  Run& run_;
  grpc::CompletionQueue queue_;
  std::vector<std::unique_ptr<LoadStream>> streams_;
  std::atomic<size_t> next_to_open_ = 0;
  std::atomic<bool> is_closing_ = false;
  std::atomic<uint64_t> opened_ = 0;
  std::atomic<uint64_t> failed_ = 0;
  std::atomic<uint64_t> ended_ = 0;
  Tally polled_;  // counts of the thread `poller_`, which alone uses it until `Join`
  Tally sent_;    // counts of the thread `sender_`, which alone uses it until `JoinSending`
  absl::Status status_;
  std::thread poller_;
  std::thread sender_;
};

// All streams of a run of `carom load`, spread over `LoadThread`s. A stream sends frames (messages
// with the queries of one tick).
class Engine {
 public:
  // `security` must be made from `run.options.security`.
  Engine(Run& run, const ClientSecurity& security);
  // Closes the streams that are still open.
  ~Engine();

  // Opens all streams and waits until they are open. Errors: the error of the first stream that
  // cannot be opened; CANCELLED if `stop` is set; DEADLINE_EXCEEDED after a minute in which no
  // further stream has opened.
  absl::Status Open(const StopFlag& stop);
  // Starts to send frames at `start_ns`.
  void Start(int64_t start_ns);
  // Waits until all frames were sent, then up to 5 s for their answers, ends the streams, and
  // returns the counts of all threads.
  Tally Finish();
  // Returns the first error of a stream, or OK. May be called after `Finish`.
  absl::Status status() const;

 private:
  uint64_t Sum(uint64_t (LoadThread::*member)() const) const;
  absl::Status OpenFailure(uint64_t opened);
  void CloseStreams();

  Run& run_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;  // gRPC stubs, one for each connection
  std::vector<std::unique_ptr<LoadThread>> threads_;
  bool is_closed_ = false;
};

}  // namespace carom::load
