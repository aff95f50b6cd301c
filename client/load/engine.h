// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// All streams of a run, and the threads that drive them.
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

// Set by a signal handler or another thread: the run is to end.
using StopFlag = std::atomic<bool>;

// A queue with its streams: one thread takes the events; while the load is on, one more sends the
// frames of an open loop, so that answers and frames never wait for each other.
class LoadThread {
 public:
  LoadThread(Run& run, const std::vector<uint32_t>& indices,
             const std::vector<std::unique_ptr<grpc::GenericStub>>& stubs);
  // All streams ended (or none was opened).
  ~LoadThread();

  // Opens the streams, up to 512 at a time; `opened` and `failed` count them.
  void Open();
  // Sends frames until the measured time ends, from `start_ns` on.
  void StartSending(int64_t start_ns);
  void JoinSending();
  void Close();
  void Cancel();

  uint64_t opened() const { return opened_.load(); }
  // Of the streams that were started, those that did not open, or ended.
  uint64_t failed() const { return failed_.load(); }
  bool all_ended() const {
    return ended_.load() >= std::min(next_to_open_.load(), streams_.size());
  }
  // Once all streams ended: what was counted.
  Tally Join();
  // After that: the first status of a stream that was not OK.
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
  Tally polled_;  // of `poller_`
  Tally sent_;    // of `sender_`
  absl::Status status_;
  std::thread poller_;
  std::thread sender_;
};

class Engine {
 public:
  // The security is that of the options.
  Engine(Run& run, const ClientSecurity& security);
  // Cancels what is still open.
  ~Engine();

  // Opens all streams. Errors: that of the first stream which cannot be opened; CANCELLED if
  // stopped; DEADLINE_EXCEEDED after a minute in which none was opened.
  absl::Status Open(const StopFlag& stop);
  // Starts the load.
  void Start(int64_t start_ns);
  // Waits until all frames were sent, then for their answers, 5 s at most, and ends the streams.
  Tally Finish();
  // After that: of a stream that did not end well.
  absl::Status status() const;

 private:
  uint64_t Sum(uint64_t (LoadThread::*member)() const) const;
  absl::Status OpenFailure(uint64_t opened);
  void CloseStreams();

  Run& run_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;  // one a connection
  std::vector<std::unique_ptr<LoadThread>> threads_;
  bool is_closed_ = false;
};

}  // namespace carom::load
