// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/recorder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "carom/bundle.h"
#include "carom/status.h"
#include "google/protobuf/util/delimited_message_util.h"
#include "server/base/file_descriptor.h"
#include "server/base/log.h"

namespace carom::server {
namespace {

constexpr char kRecordingSuffix[] = ".carec";
// An estimate of the bytes that a frame in the queue takes beside its messages.
constexpr size_t kQueuedFrameBytes = 512;

// Returns the size of the bundle of a scene, approximately.
size_t BundleBytes(const Scene& scene) {
  return 16 * static_cast<size_t>(scene.vertex_count()) + 48 * scene.polygon_count();
}

int64_t MicrosecondsOf(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

}  // namespace

// The file of one stream. The recorder's thread uses all members but `has_ended` and `reason`.
struct Recorder::File {
  std::string path;
  FileDescriptor descriptor;  // from the first frame to the end of the recording
  bool has_begun = false;
  int64_t begin_us = 0;
  uint64_t bytes = 0;
  std::atomic<bool> has_ended{false};
  // The reason that a thread which adds frames has found; the recorder's thread writes it.
  std::atomic<v1::RecordingEnd::Reason> reason{v1::RecordingEnd::REASON_STREAM_ENDED};
};

absl::StatusOr<std::unique_ptr<Recorder>> Recorder::Start(RecorderOptions options) {
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(options)));
  if (absl::Status status = recorder->ReadFolder(); !status.ok()) return status;
  recorder->thread_ = std::thread([self = recorder.get()] { self->Run(); });
  return recorder;
}

absl::Status Recorder::ReadFolder() {
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  std::vector<std::pair<std::filesystem::file_time_type, Ended>> found;
  for (std::filesystem::directory_iterator at(options_.folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != kRecordingSuffix || !at->is_regular_file(error)) continue;
    found.push_back({at->last_write_time(error), {at->path(), at->file_size(error)}});
  }
  if (error) {
    return InvalidField("record", absl::StrCat("cannot be used as a folder: ", error.message()));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [time, recording] : found) {
    total_bytes_ += recording.bytes;
    ended_bytes_ += recording.bytes;
    ended_.push_back(std::move(recording));
  }
  return absl::OkStatus();
}

Recorder::~Recorder() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Recording> Recorder::Begin() {
  absl::MutexLock lock(&mu_);
  if (open_ >= kMaxRecordings) return nullptr;
  ++open_;
  auto file = std::make_shared<File>();
  const std::string time = absl::FormatTime("%Y%m%d-%H%M%E6S", absl::Now(), absl::UTCTimeZone());
  file->path = std::filesystem::path(options_.folder) /
               absl::StrCat("stream-", time, "-", ++begun_, kRecordingSuffix);
  return std::make_shared<Recording>(*this, std::move(file));
}

Recording::~Recording() { recorder_.Queue(file_, nullptr, 0); }

void Recording::Add(std::unique_ptr<AnsweredFrame> frame) {
  if (file_->has_ended) return;
  size_t bytes = kQueuedFrameBytes + frame->frame.ByteSizeLong() + frame->answer.ByteSizeLong();
  std::erase_if(frame->scenes, [this](const auto& scene) {
    return !scenes_.emplace(scene.first, scene.second->version()).second;
  });
  // A large scene may wait alone.
  for (const auto& [name, scene] : frame->scenes) {
    bytes += std::min(BundleBytes(*scene), Recorder::kMaxWaitingBytes / 2);
  }
  recorder_.Queue(file_, std::move(frame), bytes);
}

void Recorder::Queue(std::shared_ptr<File> file, std::unique_ptr<AnsweredFrame> frame,
                     size_t bytes) {
  absl::MutexLock lock(&mu_);
  const bool is_full = waiting_bytes_ + bytes > kMaxWaitingBytes;
  if (frame != nullptr && (is_full || !frame->is_complete)) {
    file->reason =
        is_full ? v1::RecordingEnd::REASON_SLOW_DISK : v1::RecordingEnd::REASON_MISSING_SCENE;
    file->has_ended = true;
    return;
  }
  waiting_bytes_ += bytes;
  tasks_.push_back({std::move(file), std::move(frame), bytes});
}

void Recorder::Run() {
  bool stops = false;
  while (!stops) {
    std::vector<Task> tasks;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &Recorder::HasWork));
      tasks.swap(tasks_);
      stops = stopping_ && tasks.empty();
    }
    for (Task& task : tasks) {
      const bool is_last = task.frame == nullptr;
      try {
        Write(task);
      } catch (const std::bad_alloc&) {
        End(*task.file, v1::RecordingEnd::REASON_FULL);
      }
      task.frame.reset();
      absl::MutexLock lock(&mu_);
      waiting_bytes_ -= task.bytes;
      if (is_last) --open_;
    }
  }
}

void Recorder::Write(Task& task) {
  File& file = *task.file;
  if (task.frame == nullptr) return End(file, file.reason);
  if (!std::exchange(file.has_begun, true)) {
    file.begin_us = MicrosecondsOf(task.frame->received);
    Open(file);
  }
  WriteScenes(file, *task.frame);
  v1::RecordingEntry entry;
  v1::RecordedFrame& recorded = *entry.mutable_frame();
  const int64_t received_us = MicrosecondsOf(task.frame->received);
  recorded.set_received_us(
      static_cast<uint64_t>(std::max<int64_t>(0, received_us - file.begin_us)));
  recorded.mutable_frame()->Swap(&task.frame->frame);
  recorded.mutable_answer()->Swap(&task.frame->answer);
  WriteEntry(file, entry);
}

void Recorder::Open(File& file) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  file.descriptor = FileDescriptor(::open(file.path.c_str(), kFlags, S_IRUSR | S_IWUSR));
  if (file.descriptor.get() < 0) {
    file.has_ended = true;
    LogLine(LogLevel::kWarning, "recording_ended")
        .With("file", file.path)
        .With("reason", "the file cannot be made");
    return;
  }
  v1::RecordingEntry entry;
  entry.mutable_header()->set_server_version(options_.server_version);
  entry.mutable_header()->set_begin_us(file.begin_us);
  WriteEntry(file, entry);
}

void Recorder::WriteScenes(File& file, AnsweredFrame& frame) {
  for (auto& [name, scene] : frame.scenes) {
    if (file.descriptor.get() < 0) return;
    if (!MakeRoom(file, BundleBytes(*scene))) {
      return End(file, v1::RecordingEnd::REASON_FULL);
    }
    v1::RecordingEntry entry;
    entry.mutable_scene()->set_name(name);
    entry.mutable_scene()->set_version(scene->version());
    entry.mutable_scene()->set_bundle(WriteBundle(*scene, BundleIndex::kNone));
    WriteEntry(file, entry);
  }
}

void Recorder::WriteEntry(File& file, const v1::RecordingEntry& entry) {
  if (file.descriptor.get() < 0) return;
  // The size is a varint of at most 10 bytes.
  const uint64_t bytes = entry.ByteSizeLong() + 10;
  if (!MakeRoom(file, bytes) ||
      !google::protobuf::util::SerializeDelimitedToFileDescriptor(entry, file.descriptor.get())) {
    return End(file, v1::RecordingEnd::REASON_FULL);
  }
  file.bytes += bytes;
  total_bytes_ += bytes;
}

void Recorder::End(File& file, v1::RecordingEnd::Reason reason) {
  file.has_ended = true;
  if (file.descriptor.get() < 0) return;
  v1::RecordingEntry entry;
  entry.mutable_end()->set_reason(reason);
  google::protobuf::util::SerializeDelimitedToFileDescriptor(entry, file.descriptor.get());
  file.descriptor = FileDescriptor();
  ended_.push_back({file.path, file.bytes});
  ended_bytes_ += file.bytes;
  if (reason == v1::RecordingEnd::REASON_STREAM_ENDED) return;
  LogLine(LogLevel::kWarning, "recording_ended")
      .With("file", file.path)
      .With("reason", v1::RecordingEnd::Reason_Name(reason));
}

bool Recorder::MakeRoom(const File& file, uint64_t bytes) {
  if (file.bytes + bytes > options_.max_bytes / 4 ||
      total_bytes_ - ended_bytes_ + bytes > options_.max_bytes) {
    return false;
  }
  while (total_bytes_ + bytes > options_.max_bytes) {
    std::error_code error;
    std::filesystem::remove(ended_.front().path, error);
    if (error) return false;
    total_bytes_ -= ended_.front().bytes;
    ended_bytes_ -= ended_.front().bytes;
    ended_.erase(ended_.begin());
  }
  return true;
}

}  // namespace carom::server
