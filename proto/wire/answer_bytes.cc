// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/answer_bytes.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "wire/enums.h"

namespace carom::wire {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// The most bytes before the columns: the version and the length of the answers, with their tags.
constexpr size_t kMaxHeadBytes = 16;
// The most bytes of the columns: 23 tags of one or two bytes and 23 lengths; and the most bytes of
// a hit and of a count.
constexpr size_t kMaxColumnsBytes = size_t{23} * (2 + 3);
constexpr size_t kMaxHitBytes = 113;
constexpr size_t kMaxVarintBytes = 5;
static_assert(AnswerBytes::kMaxBytes < 1 << 21, "a length has three bytes");

// Each `Put` function writes at `at` and returns the end of the written bytes.

uint8_t* PutTag(int field, WireFormatLite::WireType type, uint8_t* at) {
  return CodedOutputStream::WriteTagToArray(WireFormatLite::MakeTag(field, type), at);
}
uint8_t* PutLength(int field, size_t length, uint8_t* at) {
  at = PutTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED, at);
  return CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(length), at);
}
// Writes a varint field, or nothing if `number` is 0, as proto3 does.
uint8_t* PutNumber(int field, uint64_t number, uint8_t* at) {
  if (number == 0) return at;
  at = PutTag(field, WireFormatLite::WIRETYPE_VARINT, at);
  return CodedOutputStream::WriteVarint64ToArray(number, at);
}
// Writes the fields of a message whose size is cached, without a tag and a length.
uint8_t* PutFields(const MessageLite& message, uint8_t* at) {
  [[maybe_unused]] const uint8_t* const end = at + message.GetCachedSize();
  at = message.SerializeWithCachedSizesToArray(at);
  assert(at == end);
  return at;
}
// Writes a field that is a message whose size is cached.
uint8_t* PutMessage(int field, const MessageLite& message, uint8_t* at) {
  at = PutLength(field, static_cast<size_t>(message.GetCachedSize()), at);
  return PutFields(message, at);
}

// Returns the size of a field with `bytes` bytes of content, its length, and a tag of one byte.
size_t LengthDelimitedSize(size_t bytes) {
  return 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(bytes)) + bytes;
}

// Writes the tag and the length of a packed field. The tag is a constant, which takes one or two
// stores.
template <int kField>
uint8_t* PutHead(size_t bytes, uint8_t* at) {
  constexpr uint32_t kTag =
      WireFormatLite::MakeTag(kField, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  static_assert(kTag < 1 << 14, "a tag has two bytes at most");
  if constexpr (kTag < 128) {
    *at++ = kTag;
  } else {
    *at++ = (kTag & 127) | 128;
    *at++ = kTag >> 7;
  }
  if (bytes < 128) {
    *at++ = static_cast<uint8_t>(bytes);
    return at;
  }
  return CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(bytes), at);
}

// Writes a column of `rows` as a packed field; `value` returns the entry of a row. Writes nothing
// if there are no rows.
template <int kField, class Row, class Value>
uint8_t* PutColumn(std::span<const Row> rows, const Value& value, uint8_t* at) {
  using T = decltype(value(rows[0]));
  if (rows.empty()) return at;
  if constexpr (std::is_same_v<T, uint32_t>) {
    const auto put = [&](uint8_t* to) {
      for (const Row& row : rows) to = CodedOutputStream::WriteVarint32ToArray(value(row), to);
      return to;
    };
    // The length of few rows has one byte, so it is written after the rows.
    if (rows.size() < 128 / kMaxVarintBytes) {
      uint8_t* const begin = PutHead<kField>(0, at);
      uint8_t* const end = put(begin);
      begin[-1] = static_cast<uint8_t>(end - begin);
      return end;
    }
    size_t bytes = 0;
    for (const Row& row : rows) bytes += CodedOutputStream::VarintSize32(value(row));
    return put(PutHead<kField>(bytes, at));
  } else {
    at = PutHead<kField>(sizeof(T) * rows.size(), at);
    for (const Row& row : rows) {
      const T entry = value(row);
      std::memcpy(at, &entry, sizeof(T));
      at += sizeof(T);
    }
    return at;
  }
}

template <int kField>
using Field = std::integral_constant<int, kField>;

// Writes the fields of v1::CastAnswers in the order of their numbers, as wire/answer_columns.h
// does: a column is present from its level of detail on, and an entry without a meaning is 0.
uint8_t* PutCasts(const CastPart& part, CastDetail detail, uint8_t* at) {
  using M = v1::CastAnswers;
  const auto put = [&]<int kField>(Field<kField>, CastDetail level, const auto& value) {
    if (detail >= level) at = PutColumn<kField>(part.hits, value, at);
  };
  using Hit = const CastHit&;
  const auto has_edge = [](Hit hit) { return hit.feature != Feature::kNone; };
  at = PutColumn<M::kCountsFieldNumber>(
      part.counts, [](uint32_t count) { return count; }, at);
  put(Field<M::kPolygonIdFieldNumber>(), CastDetail::kFraction,
      [](Hit hit) { return hit.polygon_id; });
  put(Field<M::kRingFieldNumber>(), CastDetail::kEdge,
      [&](Hit hit) { return has_edge(hit) ? hit.edge.ring : 0; });
  put(Field<M::kEdgeFieldNumber>(), CastDetail::kEdge,
      [&](Hit hit) { return has_edge(hit) ? hit.edge.edge : 0; });
  put(Field<M::kFeatureFieldNumber>(), CastDetail::kEdge,
      [](Hit hit) { return static_cast<uint8_t>(EnumToWire(hit.feature)); });
  put(Field<M::kFractionFieldNumber>(), CastDetail::kFraction,
      [](Hit hit) { return hit.fraction; });
  put(Field<M::kPointXFieldNumber>(), CastDetail::kNormal, [](Hit hit) { return hit.point.x; });
  put(Field<M::kPointYFieldNumber>(), CastDetail::kNormal, [](Hit hit) { return hit.point.y; });
  put(Field<M::kNormalXFieldNumber>(), CastDetail::kNormal, [](Hit hit) { return hit.normal.x; });
  put(Field<M::kNormalYFieldNumber>(), CastDetail::kNormal, [](Hit hit) { return hit.normal.y; });
  put(Field<M::kStartsInsideFieldNumber>(), CastDetail::kFraction,
      [](Hit hit) { return hit.starts_inside; });
  put(Field<M::kEndsInsideFieldNumber>(), CastDetail::kFraction,
      [](Hit hit) { return hit.ends_inside; });
  put(Field<M::kExitFractionFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.exit_fraction; });
  put(Field<M::kHasExitEdgeFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.has_exit_edge; });
  put(Field<M::kExitRingFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.has_exit_edge ? hit.exit_edge.ring : 0; });
  put(Field<M::kExitEdgeFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.has_exit_edge ? hit.exit_edge.edge : 0; });
  put(Field<M::kExitNormalXFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.exit_normal.x; });
  put(Field<M::kExitNormalYFieldNumber>(), CastDetail::kExit,
      [](Hit hit) { return hit.exit_normal.y; });
  at = PutColumn<M::kReflectionXFieldNumber>(
      part.reflections, [](const Vec2& row) { return row.x; }, at);
  at = PutColumn<M::kReflectionYFieldNumber>(
      part.reflections, [](const Vec2& row) { return row.y; }, at);
  if (std::ranges::any_of(part.hits, &CastHit::is_body)) {
    put(Field<M::kIsBodyFieldNumber>(), CastDetail::kFraction, [](Hit hit) { return hit.is_body; });
  }
  return at;
}

}  // namespace

void AnswerBytes::Clear() {
  size_ = 0;
  groups_.clear();
}

bool AnswerBytes::Reserve(size_t groups, size_t segments, size_t hits) {
  if (std::max({groups, segments, hits}) > kMaxBytes) return false;
  const size_t needed = size_ + (kMaxHeadBytes + kMaxColumnsBytes) * groups +
                        kMaxVarintBytes * segments + kMaxHitBytes * hits;
  if (needed <= capacity_) return true;
  if (needed > kMaxBytes) return false;
  capacity_ = std::min(kMaxBytes, 2 * needed);
  auto larger = std::make_unique_for_overwrite<uint8_t[]>(capacity_);
  std::copy_n(bytes_.get(), size_, larger.get());
  bytes_ = std::move(larger);
  return true;
}

// Writes the columns first, and then the version and the length directly before them, as the length
// depends on the columns.
void AnswerBytes::Add(size_t group, uint64_t version, const CastPart& part,
                      const CastOptions& options) {
  uint8_t* const columns = bytes_.get() + size_ + kMaxHeadBytes;
  uint8_t* const end = PutCasts(part, options.detail, columns);
  uint8_t head[kMaxHeadBytes];
  uint8_t* at = PutNumber(v1::GroupAnswer::kVersionFieldNumber, version, head);
  at = PutLength(v1::GroupAnswer::kSegmentsFieldNumber, static_cast<size_t>(end - columns), at);
  uint8_t* const begin = columns - (at - head);
  std::copy(head, at, begin);
  if (groups_.size() <= group) groups_.resize(group + 1);
  groups_[group] = {.begin = static_cast<uint32_t>(begin - bytes_.get()),
                    .size = static_cast<uint32_t>(end - begin)};
  size_ = static_cast<size_t>(end - bytes_.get());
}

AnswerBytes::Range AnswerBytes::RangeOf(int index) const {
  const auto i = static_cast<size_t>(index);
  return i < groups_.size() ? groups_[i] : Range();
}

// Adds the bytes of the added groups to the size that `ByteSizeLong` returns for the messages.
// `ByteSizeLong` also caches the size of each group's message.
size_t AnswerBytes::ByteSize(const v1::StreamResponse& response) {
  const v1::FrameAnswer& answer = response.answer();
  answer_size_ = answer.ByteSizeLong();
  for (int i = 0; i < answer.groups_size(); ++i) {
    const size_t added = RangeOf(i).size;
    if (added == 0) continue;
    const auto fields = static_cast<size_t>(answer.groups(i).GetCachedSize());
    answer_size_ += LengthDelimitedSize(added + fields) - LengthDelimitedSize(fields);
  }
  const size_t limits =
      response.has_limits() ? LengthDelimitedSize(response.limits().ByteSizeLong()) : 0;
  return LengthDelimitedSize(answer_size_) + limits;
}

// Writes fields in the order of their numbers, as protobuf does: `version` and `segments`, which
// the bytes of an added group contain, precede `edited_version`, the only field of its message.
uint8_t* AnswerBytes::Serialize(const v1::StreamResponse& response, uint8_t* to) const {
  static_assert(v1::GroupAnswer::kVersionFieldNumber < v1::GroupAnswer::kSegmentsFieldNumber &&
                v1::GroupAnswer::kSegmentsFieldNumber < v1::GroupAnswer::kEditedVersionFieldNumber);
  using Answer = v1::FrameAnswer;
  const v1::FrameAnswer& answer = response.answer();
  uint8_t* at = PutLength(v1::StreamResponse::kAnswerFieldNumber, answer_size_, to);
  at = PutNumber(Answer::kSeqFieldNumber, answer.seq(), at);
  if (answer.has_status()) at = PutMessage(Answer::kStatusFieldNumber, answer.status(), at);
  for (int i = 0; i < answer.groups_size(); ++i) {
    const Range range = RangeOf(i);
    const v1::GroupAnswer& group = answer.groups(i);
    if (range.size == 0) {
      at = PutMessage(Answer::kGroupsFieldNumber, group, at);
    } else {
      assert(!group.has_status() && group.version() == 0 && !group.has_segments());
      const auto fields = static_cast<size_t>(group.GetCachedSize());
      at = PutLength(Answer::kGroupsFieldNumber, range.size + fields, at);
      at = std::copy_n(bytes_.get() + range.begin, range.size, at);
      if (fields != 0) at = PutFields(group, at);
    }
  }
  if (answer.has_stats()) at = PutMessage(Answer::kStatsFieldNumber, answer.stats(), at);
  at = PutNumber(Answer::kSkippedFieldNumber, answer.skipped() ? 1 : 0, at);
  if (response.has_limits()) {
    at = PutMessage(v1::StreamResponse::kLimitsFieldNumber, response.limits(), at);
  }
  return at;
}

}  // namespace carom::wire
