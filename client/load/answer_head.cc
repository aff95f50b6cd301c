// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/answer_head.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "carom/v1/query_service.pb.h"

namespace carom::load {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Reads the fields of a serialized message from `in` up to the limit set by `PushLimit`. For each
// field calls field(number, type), which reads the field's value and returns true, or returns false
// without reading, to have the field skipped. Returns false for a malformed message.
template <class Field>
bool ReadMessage(CodedInputStream& in, const Field& field) {
  while (const uint32_t tag = in.ReadTag()) {
    const auto type = WireFormatLite::GetTagWireType(tag);
    if (field(WireFormatLite::GetTagFieldNumber(tag), type)) continue;
    if (!WireFormatLite::SkipField(&in, tag)) return false;
  }
  return in.ConsumedEntireMessage();
}

// Reads from `in` the length of a submessage and then the submessage, field by field as
// `ReadMessage` does.
template <class Field>
bool ReadMember(CodedInputStream& in, const Field& field) {
  uint32_t size = 0;
  if (!in.ReadVarint32(&size)) return false;
  const auto limit = in.PushLimit(static_cast<int>(size));
  const bool ok = ReadMessage(in, field);
  in.PopLimit(limit);
  return ok;
}

bool IsNumber(WireFormatLite::WireType type) { return type == WireFormatLite::WIRETYPE_VARINT; }
bool IsMember(WireFormatLite::WireType type) {
  return type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
}

// Reads a serialized v1::Status and sets `code` to its code.
bool ReadStatus(CodedInputStream& in, int& code) {
  return ReadMember(in, [&](int field, auto type) {
    uint64_t value = 0;
    if (field != v1::Status::kCodeFieldNumber || !IsNumber(type)) return false;
    if (!in.ReadVarint64(&value)) return false;
    code = static_cast<int>(value);
    return true;
  });
}

// Reads a v1::FrameStats and sets the members of `head`; skips fields that `AnswerHead` lacks.
bool ReadStats(CodedInputStream& in, AnswerHead& head) {
  using S = v1::FrameStats;
  return ReadMember(in, [&](int field, auto type) {
    uint64_t* member = nullptr;
    switch (field) {
      case S::kEvaluateNsFieldNumber:
        member = &head.evaluate_ns;
        break;
      case S::kQuietMovesFieldNumber:
        member = &head.moves.quiet;
        break;
      case S::kNearMovesFieldNumber:
        member = &head.moves.near;
        break;
      case S::kRefreshedMovesFieldNumber:
        member = &head.moves.refresh;
        break;
      case S::kColdMovesFieldNumber:
        member = &head.moves.cold;
        break;
      case S::kShadowDifferencesFieldNumber:
        member = &head.shadow_differences;
        break;
      default:
        break;
    }
    uint64_t value = 0;
    if (member == nullptr || !IsNumber(type) || !in.ReadVarint64(&value)) return false;
    *member = value;
    return true;
  });
}

// Counts a v1::GroupAnswer in `head.groups` and reads the code of its status, if it has one, into
// `head.group_code`.
bool ReadGroup(CodedInputStream& in, AnswerHead& head) {
  ++head.groups;
  return ReadMember(in, [&](int field, auto type) {
    return field == v1::GroupAnswer::kStatusFieldNumber && IsMember(type) &&
           ReadStatus(in, head.group_code);
  });
}

bool ReadFrameAnswer(CodedInputStream& in, AnswerHead& head) {
  using A = v1::FrameAnswer;
  return ReadMember(in, [&](int field, auto type) {
    if (field == A::kSeqFieldNumber && IsNumber(type)) return in.ReadVarint64(&head.seq);
    if (field == A::kStatusFieldNumber && IsMember(type)) return ReadStatus(in, head.frame_code);
    if (field == A::kGroupsFieldNumber && IsMember(type)) return ReadGroup(in, head);
    if (field == A::kStatsFieldNumber && IsMember(type)) return ReadStats(in, head);
    if (field == A::kSkippedFieldNumber && IsNumber(type)) {
      uint64_t value = 0;
      if (!in.ReadVarint64(&value)) return false;
      head.skipped = value != 0;
      return true;
    }
    return false;
  });
}

}  // namespace

// Skips the columns of answers, which are most of the bytes, by their lengths: the columns are
// neither copied nor validated.
std::optional<AnswerHead> ReadAnswerHead(grpc::ByteBuffer& answer) {
  grpc::ProtoBufferReader reader(&answer);
  if (!reader.status().ok()) return std::nullopt;
  CodedInputStream in(&reader);
  AnswerHead head;
  const bool ok = ReadMessage(in, [&](int field, auto type) {
    return field == v1::StreamResponse::kAnswerFieldNumber && IsMember(type) &&
           ReadFrameAnswer(in, head);
  });
  return ok ? std::optional(head) : std::nullopt;
}

}  // namespace carom::load
