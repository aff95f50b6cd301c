// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/recording_writer.h"

#include <google/protobuf/util/delimited_message_util.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom {
namespace {

// Maximum number of bytes of the size that precedes an entry.
constexpr uint64_t kMaxSizeBytes = 10;

int64_t ToMicroseconds(RecordingWriter::Time::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordingWriter>> RecordingWriter::Create(const std::string& path,
                                                                         uint64_t max_bytes) {
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(max_bytes));
  writer->file_.open(path, std::ios::binary | std::ios::trunc);
  if (!writer->file_) {
    return InvalidField("record", absl::StrCat("the file ", path, " cannot be written"));
  }
  using std::filesystem::perms;
  std::error_code ignored;
  std::filesystem::permissions(path, perms::owner_read | perms::owner_write, ignored);
  return writer;
}

RecordingWriter::~RecordingWriter() { End(v1::RecordingEnd::REASON_STREAM_ENDED); }

void RecordingWriter::Add(Time sent, const v1::Frame& frame, const v1::FrameAnswer& answer) {
  if (!std::exchange(has_begun_, true)) {
    begin_ = sent;
    v1::RecordingEntry entry;
    entry.mutable_header()->set_begin_us(ToMicroseconds(begin_.time_since_epoch()));
    Write(entry);
  }
  if (!file_.is_open()) return;
  v1::RecordingEntry entry;
  v1::RecordedFrame& recorded = *entry.mutable_frame();
  recorded.set_received_us(
      static_cast<uint64_t>(std::max<int64_t>(0, ToMicroseconds(sent - begin_))));
  *recorded.mutable_frame() = frame;
  *recorded.mutable_answer() = answer;
  Write(entry);
}

void RecordingWriter::Write(const v1::RecordingEntry& entry) {
  const uint64_t bytes = entry.ByteSizeLong() + kMaxSizeBytes;
  if (bytes > max_bytes_ - std::min(bytes_, max_bytes_)) {
    return End(v1::RecordingEnd::REASON_FULL);
  }
  google::protobuf::util::SerializeDelimitedToOstream(entry, &file_);
  bytes_ += bytes;
  if (!file_) End(v1::RecordingEnd::REASON_FULL);
}

void RecordingWriter::End(v1::RecordingEnd::Reason reason) {
  if (!file_.is_open()) return;
  // A file without a header is not a recording; a stream without frames has an empty file.
  if (file_ && bytes_ > 0) {
    v1::RecordingEntry entry;
    entry.mutable_end()->set_reason(reason);
    google::protobuf::util::SerializeDelimitedToOstream(entry, &file_);
  }
  file_.close();
}

}  // namespace carom
