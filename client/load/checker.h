// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Are the answers right? Compares a sample of them, byte for byte, with what the library says of
// the same questions in the same version of the scene.
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

struct CheckFigures {
  uint64_t checked = 0;      // frames that were compared
  uint64_t unchecked = 0;    // frames that were to be, of a version that is not known, or too many
  uint64_t differences = 0;  // frames that differ
  std::string first_difference;  // where
};

// Works on a thread of its own, at a low priority. `Add` is thread-safe.
class Checker {
 public:
  Checker(const Questions& questions, SceneVersions& versions);
  ~Checker() { Finish(); }

  // The answer to a frame, a StreamResponse without an error. Does not wait: if too many are
  // waiting, this one is not checked.
  void Add(uint32_t stream, uint64_t tick, const grpc::ByteBuffer& answer);

  // Checks what was added, and stops; once. `versions` is closed before.
  CheckFigures Finish();

 private:
  struct Item {
    uint32_t stream;
    uint64_t tick;
    grpc::ByteBuffer answer;
  };
  enum class Outcome : uint8_t { kEqual, kDifferent, kUnknownVersion };

  void Loop();
  Outcome Check(Item& item);
  // What the library answers, with trackers that remember nothing.
  bool Answer(const Item& item, const Scene& scene, v1::GroupAnswer& message);

  const Questions& questions_;
  SceneVersions& versions_;
  std::vector<Tracker> trackers_;
  GroupAnswers answers_;
  CheckFigures figures_;  // of the thread, until it is joined
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
  uint64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace carom::load
