// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes what streams ask and what they are answered to files (proto/carom/v1/recording.proto).
//
//   auto recorder = Recorder::Start({.folder = "/var/lib/carom/recordings"});
//   std::shared_ptr<Recording> recording = (*recorder)->Begin();
//   recording->Add(std::move(recorded));
//
// A thread of the recorder writes the files, so that a stream never waits for the disk. Each stream
// has a file of its own. Bounds: the bytes of all recordings in the folder, the bytes that wait for
// the disk, and the number of streams that are recorded at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "carom/scene.h"
#include "carom/v1/query_service.pb.h"
#include "carom/v1/recording.pb.h"

namespace carom::server {

struct RecorderOptions {
  // Created if it does not exist. No other server may have the same folder.
  std::string folder;
  // Bytes of the recordings in the folder, those of earlier processes included. The recorder
  // deletes the oldest recordings of ended streams to stay below, and then ends recordings. One
  // recording has at most a quarter of them.
  uint64_t max_bytes = uint64_t{1} << 30;
  std::string server_version = {};
};

// A frame that was answered.
struct AnsweredFrame {
  std::chrono::system_clock::time_point received;
  v1::Frame frame;
  v1::FrameAnswer answer;
  // The scenes that the groups of the frame were answered with, by name.
  std::vector<std::pair<std::string, Scene::Ptr>> scenes;
  bool is_complete = true;  // false: the server has no longer one of these scenes
};

class Recording;

// Thread-safe.
class Recorder {
 public:
  // Maximum number of streams that are recorded at once. Further streams are not recorded.
  static constexpr size_t kMaxRecordings = 64;
  // Maximum number of bytes that wait for the disk. A recording whose frame exceeds it ends.
  static constexpr size_t kMaxWaitingBytes = size_t{64} << 20;

  // Errors: INVALID_ARGUMENT naming `record` if the folder cannot be made or read.
  static absl::StatusOr<std::unique_ptr<Recorder>> Start(RecorderOptions options);
  // Writes what waits. All recordings have ended before.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Returns the recording of a new stream, or null if `kMaxRecordings` streams are recorded. The
  // recorder must outlive the recording. The file is made with the first frame.
  std::shared_ptr<Recording> Begin();

 private:
  friend class Recording;
  struct File;
  struct Task {
    std::shared_ptr<File> file;
    std::unique_ptr<AnsweredFrame> frame;  // null: the stream has ended
    size_t bytes = 0;
  };

  explicit Recorder(RecorderOptions options) : options_(std::move(options)) {}
  absl::Status ReadFolder();
  void Queue(std::shared_ptr<File> file, std::unique_ptr<AnsweredFrame> frame, size_t bytes);
  void Run();
  void Write(Task& task);
  // Makes the file of a recording, and writes the header. Only the user of the process may read the
  // file.
  void Open(File& file);
  void WriteScenes(File& file, AnsweredFrame& frame);
  void WriteEntry(File& file, const v1::RecordingEntry& entry);
  void End(File& file, v1::RecordingEnd::Reason reason);
  // Deletes recordings of ended streams, the oldest first, until `bytes` more of `file` fit.
  // Returns false, and deletes nothing, if they cannot fit.
  bool MakeRoom(const File& file, uint64_t bytes);
  bool HasWork() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stopping_ || !tasks_.empty(); }

  const RecorderOptions options_;
  std::thread thread_;

  absl::Mutex mu_;
  std::vector<Task> tasks_ ABSL_GUARDED_BY(mu_);
  size_t waiting_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  size_t open_ ABSL_GUARDED_BY(mu_) = 0;  // recordings that have not ended
  uint64_t begun_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  // Only `Start`, and then the recorder's thread, use the next two members.
  struct Ended {
    std::string path;
    uint64_t bytes = 0;
  };
  std::vector<Ended> ended_;  // recordings of ended streams, the oldest first
  uint64_t ended_bytes_ = 0;  // of these
  uint64_t total_bytes_ = 0;  // of all recordings
};

// The recording of one stream; ends with its destruction. Not thread-safe.
class Recording {
 public:
  Recording(Recorder& recorder, std::shared_ptr<Recorder::File> file)
      : recorder_(recorder), file_(std::move(file)) {}
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Adds a frame. Does nothing if the recording has ended, because of a bound. A version of a scene
  // is kept and written with the first frame that has it.
  void Add(std::unique_ptr<AnsweredFrame> frame);
  // Whether frames with this version of a scene were added.
  bool HasScene(const std::string& name, uint64_t version) const {
    return scenes_.contains({name, version});
  }

 private:
  Recorder& recorder_;
  const std::shared_ptr<Recorder::File> file_;
  std::set<std::pair<std::string, uint64_t>> scenes_;  // names and versions
};

}  // namespace carom::server
