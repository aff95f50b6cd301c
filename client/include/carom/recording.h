// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does a recording of a stream have?
//
// `caromd --record` and `StreamOptions::record` (carom/stream.h) write recordings, files with the
// suffix `.carec`. `RecordingReader` reads the entries of a file one after the other:
//
//   auto reader = RecordingReader::Open(path).value();
//   auto entry = reader->Next();  // the header
//   entry = reader->Next();       // nullopt after the last entry
//   // std::get<RecordedFrame>(**entry).groups[0].scene == "scenes/arena"
//
// A reader returns what a frame asked, in numbers, and not the questions themselves. To evaluate
// frames anew: the package @carom/client/recording for JavaScript, and the page of caromd. Cost:
// O(n) bytes, n the bytes of the file. Not thread-safe. Cheaper alternative: none. More powerful:
// the messages of proto/carom/v1/recording.proto.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace carom {

// The first entry of a recording.
struct RecordingHeader {
  // Empty in a recording of a client.
  std::string server_version;
  // Begin of the recording in microseconds since 1970-01-01 UTC.
  int64_t begin_us = 0;
};

// One version of a scene, which later frames ask. A client records no scenes.
struct RecordedScene {
  std::string name;  // scenes/{scene}
  uint64_t version = 0;
  uint64_t bundle_bytes = 0;
};

// The queries of a frame about one scene.
struct RecordedGroup {
  // scenes/{scene}; empty if the group names a scene handle that the stream has not bound.
  std::string scene;
  // Version of the scene that the queries read; 0 if the group was not answered.
  uint64_t version = 0;
  // Why the server did not answer the group.
  absl::Status status;
  // Number of queries by kind, such as `segments`; a beam of a fan counts as a query.
  std::map<std::string, uint64_t> queries;
  uint64_t edits = 0;
};

// A frame and its answer.
struct RecordedFrame {
  // When the server received the frame, or the client sent it, in microseconds since
  // `RecordingHeader::begin_us`.
  uint64_t received_us = 0;
  uint64_t seq = 0;
  uint64_t frame_bytes = 0;
  uint64_t answer_bytes = 0;
  // Why the server refused the frame.
  absl::Status status;
  // Whether a later frame superseded the frame, which then has no answers.
  bool skipped = false;
  std::vector<RecordedGroup> groups;
};

// Why a recording has no later frames; the last entry of a recording.
enum class RecordingEnd {
  kUnknown,  // a reason that has no value here, from a later version
  kStreamEnded,
  kFull,          // the recording has as many bytes as it may have, or could not be written
  kSlowDisk,      // the disk took the frames more slowly than they came
  kMissingScene,  // a scene of a frame was replaced or deleted before the server could keep it
};

// A word for a reason, such as `stream_ended`.
const char* RecordingEndName(RecordingEnd end);

using RecordingEntry = std::variant<RecordingHeader, RecordedScene, RecordedFrame, RecordingEnd>;

// Reads a file from its begin to its end. Memory: O(bytes of the largest entry), plus the scene
// handles that the frames bind. Not thread-safe.
class RecordingReader {
 public:
  // Errors: NOT_FOUND if the file cannot be opened.
  static absl::StatusOr<std::unique_ptr<RecordingReader>> Open(const std::string& path);
  ~RecordingReader();
  RecordingReader(const RecordingReader&) = delete;
  RecordingReader& operator=(const RecordingReader&) = delete;

  // Returns the next entry; nullopt at the end of the file. A file without `RecordingEnd` is of a
  // stream that goes on, or of a process that was killed.
  //
  // Errors: DATA_LOSS, naming the entry as `entries[12]`, if the entry is cut short or malformed,
  // or does not belong where it is: the header comes first, and the end last. A later call returns
  // the same error.
  absl::StatusOr<std::optional<RecordingEntry>> Next();

 private:
  class Impl;
  explicit RecordingReader(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace carom
