// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/message_io.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <cstddef>

#include "carom/v1/query_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/rpc_status.h"

namespace carom::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// What a parsed message takes beside its bytes: a polygon or a ring, with the pointer to it.
constexpr size_t kMessageBytes = 128;
// How much larger than the largest message one may become. A polygon of a single vertex, the least
// that is legal, is 28 bytes and two messages: 10 times its bytes.
constexpr size_t kMaxGrowth = 16;

// The tag of a field that is a message or a number.
constexpr uint32_t MessageTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t VarintTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT);
}

// Reads the fields of a Frame up to the end of its message.
void PeekFields(CodedInputStream& input, FrameHead& head) {
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    uint64_t number = 0;
    if (tag == VarintTag(v1::Frame::kSeqFieldNumber)) {
      if (!input.ReadVarint64(&head.seq)) return;
    } else if (tag == VarintTag(v1::Frame::kSupersedeFieldNumber)) {
      if (!input.ReadVarint64(&number)) return;
      head.supersede = number != 0;
    } else if (!WireFormatLite::SkipField(&input, tag)) {
      return;
    } else if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      ++head.parts;
    }
  }
}

// The messages within the bytes up to the limit; false at what is no such message.
bool CountUpToLimit(CodedInputStream& input, const google::protobuf::Descriptor& type, int depth,
                    size_t& count) {
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    const google::protobuf::FieldDescriptor* const field =
        type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field == nullptr || field->message_type() == nullptr ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    ++count;
    const CodedInputStream::Limit limit = input.ReadLengthAndPushLimit();
    if (depth == 0 || !CountUpToLimit(input, *field->message_type(), depth - 1, count) ||
        input.BytesUntilLimit() != 0) {
      return false;
    }
    input.PopLimit(limit);
  }
  return true;
}

// gRPC's reader takes a pointer to what it does not change.
grpc::ByteBuffer* Unconst(const grpc::ByteBuffer& bytes) {
  return const_cast<grpc::ByteBuffer*>(&bytes);
}

}  // namespace

bool Parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  grpc::ProtoBufferReader reader(Unconst(bytes));
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

std::string PeekName(const grpc::ByteBuffer& bytes) {
  std::string name;
  grpc::ProtoBufferReader reader(Unconst(bytes));
  if (!reader.status().ok()) return name;
  CodedInputStream input(&reader);
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    const bool is_read = tag == MessageTag(1) ? WireFormatLite::ReadString(&input, &name)
                                              : WireFormatLite::SkipField(&input, tag);
    if (!is_read) break;
  }
  return name;
}

size_t CountMessages(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type) {
  constexpr int kMaxDepth = 16;  // our messages are six deep at most
  size_t count = 0;
  grpc::ProtoBufferReader reader(Unconst(bytes));
  if (!reader.status().ok()) return count;
  CodedInputStream input(&reader);
  CountUpToLimit(input, type, kMaxDepth, count);
  return count;
}

absl::Status ChargeParsed(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed) {
  const size_t most = kMaxGrowth * max_message_bytes / kMessageBytes;
  const size_t count = CountMessages(bytes, type);
  if (count > most) return OverLimit("", most, "polygons, rings and other parts of a message");
  return parsed.Add(bytes.Length() + kMessageBytes * count);
}

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

FrameHead PeekFrame(const grpc::ByteBuffer& bytes) {
  FrameHead head;
  grpc::ProtoBufferReader reader(Unconst(bytes));
  if (!reader.status().ok()) return head;
  CodedInputStream input(&reader);
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    if (tag != MessageTag(v1::StreamRequest::kFrameFieldNumber)) {
      if (!WireFormatLite::SkipField(&input, tag)) break;
      continue;
    }
    const CodedInputStream::Limit limit = input.ReadLengthAndPushLimit();
    PeekFields(input, head);
    // What is not a frame ends the search.
    if (input.BytesUntilLimit() != 0) break;
    input.PopLimit(limit);
  }
  return head;
}

}  // namespace carom::server
