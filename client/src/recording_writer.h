// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes what a stream asks, and what it is answered, to a file (proto/carom/v1/recording.proto).
// carom/recording.h reads the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/recording.pb.h"

namespace carom {

// One file, which the user of this process alone can read. Not thread-safe.
class RecordingWriter {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Begins the recording of a stream in the file `path`, which is made or replaced. The file gets
  // at most `max_bytes` before its last entry. Errors: INVALID_ARGUMENT naming `record` if the file
  // cannot be written.
  static absl::StatusOr<std::unique_ptr<RecordingWriter>> Create(const std::string& path,
                                                                 uint64_t max_bytes);
  // Writes that the stream has ended, unless the recording ended before.
  ~RecordingWriter();
  RecordingWriter(const RecordingWriter&) = delete;
  RecordingWriter& operator=(const RecordingWriter&) = delete;

  // Adds a frame that was sent at the time `sent`, and its answer. If they do not fit in the file,
  // or the disk is full, the recording ends with REASON_FULL, and this and later calls do nothing.
  void Add(Time sent, const v1::Frame& frame, const v1::FrameAnswer& answer);

 private:
  explicit RecordingWriter(uint64_t max_bytes) : max_bytes_(max_bytes) {}

  void Write(const v1::RecordingEntry& entry);
  void End(v1::RecordingEnd::Reason reason);

  const uint64_t max_bytes_;
  std::ofstream file_;
  uint64_t bytes_ = 0;
  bool has_begun_ = false;  // the header is written
  Time begin_;
};

}  // namespace carom
