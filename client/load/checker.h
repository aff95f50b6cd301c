// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are the server's answers correct?
//
// A `Checker` compares a sample of the answers, byte for byte, with the answers that the library
// computes for the same queries in the same version of the scene.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "carom/group.h"
#include "carom/tracker.h"
#include "carom/v1/query_service.pb.h"
#include "client/load/questions.h"
#include "client/load/versions.h"
#include "client/src/mutex.h"

namespace carom::load {

// The results of a `Checker`, which compares the server's answers to frames with those of the
// library.
struct CheckFigures {
  uint64_t checked = 0;    // frames that were compared
  uint64_t unchecked = 0;  // frames not compared: version unknown, or too many frames in the queue
  uint64_t differences = 0;  // frames with answers of server and library that differ
  // text that names the stream and the `seq` of the frame of the first difference
  std::string first_difference;
};

// Checks answers to frames (messages with the queries of one stream in one tick) on its own thread,
// at a low priority. `Add` is thread-safe.
class Checker {
 public:
  Checker(const Questions& questions, SceneVersions& versions);
  ~Checker() { Finish(); }

  // Queues `answer`, the server's answer to frame `tick` of `stream`: a StreamResponse without an
  // error. Returns at once; if the queue is full, the answer is not checked.
  void Add(uint32_t stream, uint64_t tick, const grpc::ByteBuffer& answer);

  // Checks the queued answers, stops the thread and returns the results. The caller must close
  // `versions` first, else a check may wait for a version for ever.
  CheckFigures Finish();

 private:
  struct Item {
    uint32_t stream;
    uint64_t tick;
    grpc::ByteBuffer answer;
  };
  enum class Outcome : uint8_t { kEqual, kDifferent, kUnknownVersion };

  void Loop();
  // Compares the server's answer in `item` with the library's answer.
  Outcome Check(Item& item);
  // Sets `message` to the library's answer to the queries that the server's answer in `item` is
  // about. Returns false on error.
  bool Answer(const Item& item, const Scene& scene, v1::GroupAnswer& message);

  const Questions& questions_;
  SceneVersions& versions_;
  std::vector<Tracker> trackers_;
  GroupAnswers answers_;
  CheckFigures figures_;  // used by `thread_` alone until the thread is joined
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;  // answers not queued because the queue was full
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace carom::load
