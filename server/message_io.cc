// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/message_io.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstddef>

#include "carom/v1/query_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/rpc_status.h"

namespace carom::server {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

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

// Whether a group of the frame whose fields come next has edits.
bool PeekEdits(CodedInputStream& input) {
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    if (tag != MessageTag(v1::Frame::kGroupsFieldNumber)) {
      if (!WireFormatLite::SkipField(&input, tag)) return false;
      continue;
    }
    const CodedInputStream::Limit limit = input.ReadLengthAndPushLimit();
    while ((tag = input.ReadTag()) != 0) {
      if (tag == MessageTag(v1::Group::kEditsFieldNumber)) return true;
      if (!WireFormatLite::SkipField(&input, tag)) return false;
    }
    if (input.BytesUntilLimit() != 0) return false;
    input.PopLimit(limit);
  }
  return false;
}

// Adds up what the fields of a message take when they are parsed; see `GrowthWhenParsed`. Each call
// returns false at what is no message.
class GrowthCounter {
 public:
  // Of a message of `size` bytes.
  GrowthCounter(CodedInputStream& input, size_t size) : input_(input), size_(size) {}

  // The fields up to the limit.
  bool AddMessage(const google::protobuf::Descriptor& type, int depth) {
    uint32_t tag = 0;
    while ((tag = input_.ReadTag()) != 0) {
      if (!AddField(tag, type, depth)) return false;
    }
    return true;
  }

  size_t bytes() const { return bytes_; }

 private:
  // What protobuf parses at most.
  static constexpr int kMaxGroupDepth = 100;

  bool AddField(uint32_t tag, const google::protobuf::Descriptor& type, int depth) {
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    const google::protobuf::FieldDescriptor* const field =
        type.FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
    if (field == nullptr) return AddUnknown(tag, kMaxGroupDepth);
    const auto expected =
        WireFormatLite::WireTypeForFieldType(static_cast<WireFormatLite::FieldType>(field->type()));
    const bool is_bytes = wire_type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_bytes && field->is_packable()) return AddPacked(expected);
    // What is written in another form than its type has is as good as unknown.
    if (wire_type != expected) return AddUnknown(tag, kMaxGroupDepth);
    if (field->message_type() == nullptr) {
      if (field->is_repeated()) bytes_ += is_bytes ? kUnknownFieldBytes : sizeof(double);
      return WireFormatLite::SkipField(&input_, tag);
    }
    bytes_ += kParsedMessageBytes;
    const CodedInputStream::Limit limit = input_.ReadLengthAndPushLimit();
    if (depth == 0 || !AddMessage(*field->message_type(), depth - 1) ||
        input_.BytesUntilLimit() != 0) {
      return false;
    }
    input_.PopLimit(limit);
    return true;
  }

  // A column. Numbers of variable length are eight bytes each at most, as doubles are; those before
  // the end of the bytes are parsed even where the column goes on beyond it.
  bool AddPacked(WireFormatLite::WireType element) {
    uint32_t length = 0;
    if (!input_.ReadVarint32(&length)) return false;
    if (element == WireFormatLite::WIRETYPE_VARINT) bytes_ += 7 * std::min<size_t>(length, size_);
    return input_.Skip(static_cast<int>(length));
  }

  // A group has fields of its own, up to its end.
  bool AddUnknown(uint32_t tag, int depth) {
    bytes_ += kUnknownFieldBytes;
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_START_GROUP) {
      return WireFormatLite::SkipField(&input_, tag);
    }
    while ((tag = input_.ReadTag()) != 0) {
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_END_GROUP) return true;
      if (depth == 0 || !AddUnknown(tag, depth - 1)) return false;
    }
    return false;
  }

  CodedInputStream& input_;
  const size_t size_;
  size_t bytes_ = 0;
};

// gRPC's reader takes a pointer to what it does not change.
grpc::ByteBuffer* Unconst(const grpc::ByteBuffer& bytes) {
  return const_cast<grpc::ByteBuffer*>(&bytes);
}

// Calls read(data, size) of bytes that lie in one piece, as those of small messages do: gRPC's
// reader takes longer than they do. Returns false, and does nothing, where they do not.
template <class Read>
bool ReadSlice(const grpc::ByteBuffer& bytes, const Read& read) {
  grpc::Slice slice;
  if (!Unconst(bytes)->TrySingleSlice(&slice).ok()) return false;
  read(slice.begin(), static_cast<int>(slice.size()));
  return true;
}

template <class Read>
void ForEachFrameIn(CodedInputStream& input, const Read& read) {
  uint32_t tag = 0;
  while ((tag = input.ReadTag()) != 0) {
    if (tag != MessageTag(v1::StreamRequest::kFrameFieldNumber)) {
      if (!WireFormatLite::SkipField(&input, tag)) break;
      continue;
    }
    const CodedInputStream::Limit limit = input.ReadLengthAndPushLimit();
    read(input);
    if (input.BytesUntilLimit() != 0) break;
    input.PopLimit(limit);
  }
}

// Calls read(input) at the fields of each frame in the bytes of a StreamRequest, of which a parser
// takes all. What is not read to its end ends the search.
template <class Read>
void ForEachFrame(const grpc::ByteBuffer& bytes, const Read& read) {
  const auto read_slice = [&](const uint8_t* data, int size) {
    CodedInputStream input(data, size);
    ForEachFrameIn(input, read);
  };
  if (ReadSlice(bytes, read_slice)) return;
  grpc::ProtoBufferReader reader(Unconst(bytes));
  if (!reader.status().ok()) return;
  CodedInputStream input(&reader);
  ForEachFrameIn(input, read);
}

}  // namespace

bool Parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  bool is_parsed = false;
  const auto read_slice = [&](const uint8_t* data, int size) {
    is_parsed = message.ParseFromArray(data, size);
  };
  if (ReadSlice(bytes, read_slice)) return is_parsed;
  grpc::ProtoBufferReader reader(Unconst(bytes));
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

absl::Status ParseShort(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message) {
  constexpr size_t kMaxBytes = 4096;
  if (bytes.Length() > kMaxBytes) return TooManyBytes(kMaxBytes);
  return Parse(bytes, message) ? absl::OkStatus() : NoSuchMessage(message.GetTypeName());
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

size_t GrowthWhenParsed(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type) {
  constexpr int kMaxDepth = 16;  // our messages are six deep at most
  grpc::ProtoBufferReader reader(Unconst(bytes));
  if (!reader.status().ok()) return 0;
  CodedInputStream input(&reader);
  GrowthCounter counter(input, bytes.Length());
  counter.AddMessage(type, kMaxDepth);
  return counter.bytes();
}

absl::Status ChargeParsed(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed) {
  const size_t most = kMaxGrowth * max_message_bytes;
  const size_t growth = GrowthWhenParsed(bytes, type);
  if (growth > most) {
    return OverLimit("", most / kParsedMessageBytes,
                     "polygons, rings and other parts of a message");
  }
  return parsed.Add(bytes.Length() + growth);
}

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

FrameHead PeekFrame(const grpc::ByteBuffer& bytes) {
  FrameHead head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { PeekFields(input, head); });
  if (!head.supersede) return head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { head.has_edits |= PeekEdits(input); });
  return head;
}

}  // namespace carom::server
