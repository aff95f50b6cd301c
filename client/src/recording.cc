// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/recording.h"

#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "carom/v1/recording.pb.h"
#include "client/src/stream_session.h"
#include "proto/wire/counts.h"
#include "proto/wire/errors.h"

namespace carom {
namespace {

RecordingEnd ReasonOf(v1::RecordingEnd::Reason reason) {
  switch (reason) {
    case v1::RecordingEnd::REASON_STREAM_ENDED:
      return RecordingEnd::kStreamEnded;
    case v1::RecordingEnd::REASON_FULL:
      return RecordingEnd::kFull;
    case v1::RecordingEnd::REASON_SLOW_DISK:
      return RecordingEnd::kSlowDisk;
    case v1::RecordingEnd::REASON_MISSING_SCENE:
      return RecordingEnd::kMissingScene;
    default:
      return RecordingEnd::kUnknown;
  }
}

// Returns the number of queries of each kind. Takes the queries out of `group`.
std::map<std::string, uint64_t> QueriesOf(v1::Group& group) {
  std::map<std::string, uint64_t> queries;
  const google::protobuf::Reflection& reflection = *group.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(group, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    v1::Group alone;
    reflection.SwapFields(&group, &alone, {field});
    if (alone.has_bodies() || alone.has_edits()) continue;
    queries[field->name()] = wire::CountQuestions(alone).queries;
  }
  return queries;
}

absl::Status StatusOf(bool has_status, const v1::Status& status) {
  return has_status ? wire::DecodeStatus(status) : absl::OkStatus();
}

}  // namespace

const char* RecordingEndName(RecordingEnd end) {
  switch (end) {
    case RecordingEnd::kStreamEnded:
      return "stream_ended";
    case RecordingEnd::kFull:
      return "full";
    case RecordingEnd::kSlowDisk:
      return "slow_disk";
    case RecordingEnd::kMissingScene:
      return "missing_scene";
    case RecordingEnd::kUnknown:
      break;
  }
  return "unknown";
}

class RecordingReader::Impl {
 public:
  explicit Impl(const std::string& path) : file_(path, std::ios::binary), stream_(&file_) {}

  bool is_open() const { return file_.is_open(); }
  absl::StatusOr<std::optional<RecordingEntry>> Next();

 private:
  absl::StatusOr<RecordingEntry> Take(v1::RecordingEntry& entry);
  absl::StatusOr<RecordingEntry> TakeFrame(v1::RecordedFrame& recorded);
  absl::Status Damage(const std::string& what) const;

  std::ifstream file_;
  google::protobuf::io::IstreamInputStream stream_;
  uint64_t index_ = 0;  // of the next entry
  bool has_ended_ = false;
  absl::Status damage_;
  StreamSession session_;  // the scene handles
};

absl::Status RecordingReader::Impl::Damage(const std::string& what) const {
  const std::string field = absl::StrCat("entries[", index_, "]");
  return WithViolations(absl::DataLossError(absl::StrCat(field, ": ", what)), {{field, what}});
}

absl::StatusOr<std::optional<RecordingEntry>> RecordingReader::Impl::Next() {
  if (!damage_.ok()) return damage_;
  v1::RecordingEntry entry;
  bool clean_end = false;
  if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&entry, &stream_, &clean_end)) {
    if (clean_end && index_ > 0) return std::nullopt;
    damage_ = Damage("the entry is cut short or malformed");
    return damage_;
  }
  absl::StatusOr<RecordingEntry> taken = Take(entry);
  if (!taken.ok()) {
    damage_ = taken.status();
    return damage_;
  }
  ++index_;
  return *std::move(taken);
}

absl::StatusOr<RecordingEntry> RecordingReader::Impl::Take(v1::RecordingEntry& entry) {
  if (entry.has_header() != (index_ == 0)) {
    return Damage(index_ == 0 ? "the first entry must be the header" : "a second header");
  }
  if (has_ended_) return Damage("an entry follows the end of the recording");
  switch (entry.entry_case()) {
    case v1::RecordingEntry::kHeader:
      return RecordingHeader{entry.header().server_version(), entry.header().begin_us()};
    case v1::RecordingEntry::kScene:
      return RecordedScene{entry.scene().name(), entry.scene().version(),
                           entry.scene().bundle().size()};
    case v1::RecordingEntry::kFrame:
      return TakeFrame(*entry.mutable_frame());
    case v1::RecordingEntry::kEnd:
      has_ended_ = true;
      return ReasonOf(entry.end().reason());
    case v1::RecordingEntry::ENTRY_NOT_SET:
      break;
  }
  return Damage("the entry has no content");
}

absl::StatusOr<RecordingEntry> RecordingReader::Impl::TakeFrame(v1::RecordedFrame& recorded) {
  v1::Frame& asked = *recorded.mutable_frame();
  const v1::FrameAnswer& answer = recorded.answer();
  RecordedFrame frame;
  frame.received_us = recorded.received_us();
  frame.seq = asked.seq();
  frame.frame_bytes = asked.ByteSizeLong();
  frame.answer_bytes = answer.ByteSizeLong();
  frame.status = StatusOf(answer.has_status(), answer.status());
  frame.skipped = answer.skipped();
  const bool is_answered = frame.status.ok() && !frame.skipped;
  if (answer.seq() != asked.seq() ||
      answer.groups_size() != (is_answered ? asked.groups_size() : 0)) {
    return Damage("the answer is not that of the frame");
  }
  if (frame.status.ok()) {
    asked.clear_trackers();
    session_.Apply(asked);
  }
  for (int i = 0; i < asked.groups_size(); ++i) {
    v1::Group& group = *asked.mutable_groups(i);
    RecordedGroup made;
    if (const std::string* scene = session_.SceneOf(group)) made.scene = *scene;
    made.edits = static_cast<uint64_t>(group.edits().edits_size());
    made.queries = QueriesOf(group);
    if (is_answered) {
      made.version = answer.groups(i).version();
      made.status = StatusOf(answer.groups(i).has_status(), answer.groups(i).status());
    }
    frame.groups.push_back(std::move(made));
  }
  return frame;
}

RecordingReader::RecordingReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RecordingReader::~RecordingReader() = default;

absl::StatusOr<std::unique_ptr<RecordingReader>> RecordingReader::Open(const std::string& path) {
  auto impl = std::make_unique<Impl>(path);
  if (!impl->is_open()) {
    return absl::NotFoundError(absl::StrCat("the file ", path, " cannot be opened"));
  }
  return std::unique_ptr<RecordingReader>(new RecordingReader(std::move(impl)));
}

absl::StatusOr<std::optional<RecordingEntry>> RecordingReader::Next() { return impl_->Next(); }

}  // namespace carom
