// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/message_io.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "carom/v1/query_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/executor.h"
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

// The fields of a type, by number. Descriptors are asked once for each type: to search one for a
// field takes longer than to skip it.
class TypeFields {
 public:
  struct Field {
    bool is_known = false;
    bool is_packable = false;
    bool is_repeated = false;
    WireFormatLite::WireType wire_type = WireFormatLite::WIRETYPE_VARINT;  // one of it alone
    const TypeFields* message = nullptr;                                   // if it is one
  };

  static const TypeFields& Of(const google::protobuf::Descriptor& type) {
    static absl::Mutex mu(absl::kConstInit);
    static auto& types = *new Types;
    absl::MutexLock lock(&mu);
    return Of(type, types);
  }

  const Field& Find(int number) const {
    return fields_[static_cast<size_t>(number) < fields_.size() ? number : 0];  // 0 is no field
  }

 private:
  using Types =
      absl::flat_hash_map<const google::protobuf::Descriptor*, std::unique_ptr<TypeFields>>;

  static const TypeFields& Of(const google::protobuf::Descriptor& type, Types& types) {
    if (const auto known = types.find(&type); known != types.end()) return *known->second;
    // There before its fields: a message may have itself as a part.
    TypeFields& made = *types.emplace(&type, std::make_unique<TypeFields>()).first->second;
    int last = 0;
    for (int i = 0; i < type.field_count(); ++i) last = std::max(last, type.field(i)->number());
    made.fields_.resize(static_cast<size_t>(last) + 1);
    for (int i = 0; i < type.field_count(); ++i) {
      const google::protobuf::FieldDescriptor& field = *type.field(i);
      const auto* const message = field.message_type();
      made.fields_[static_cast<size_t>(field.number())] = {
          .is_known = true,
          .is_packable = field.is_packable(),
          .is_repeated = field.is_repeated(),
          .wire_type = WireFormatLite::WireTypeForFieldType(
              static_cast<WireFormatLite::FieldType>(field.type())),
          .message = message == nullptr ? nullptr : &Of(*message, types)};
    }
    return made;
  }

  std::vector<Field> fields_;
};

// Adds up what the fields of a message take when they are parsed; see `GrowthWhenParsed`. Of bytes
// in one piece: protobuf's reader of pieces takes five times as long for small fields. Each call
// returns false at what is no message.
class GrowthCounter {
 public:
  GrowthCounter(const uint8_t* begin, size_t size) : at_(begin), end_(begin + size), size_(size) {}

  // The fields of a message that ends there, or with all bytes.
  bool AddMessage(const TypeFields& type, const uint8_t* end, int depth) {
    const uint8_t* const outer_end = std::exchange(end_, std::min(end, end_));
    while (at_ != end_) {
      uint32_t tag = 0;
      if (!ReadTag(tag) || !AddField(tag, type, depth)) return false;
    }
    end_ = outer_end;
    return true;
  }

  size_t bytes() const { return bytes_; }

 private:
  // What protobuf parses at most.
  static constexpr int kMaxGroupDepth = 100;

  bool AddField(uint32_t tag, const TypeFields& type, int depth) {
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    const TypeFields::Field& field = type.Find(WireFormatLite::GetTagFieldNumber(tag));
    if (!field.is_known) return AddUnknown(tag, kMaxGroupDepth);
    const bool is_bytes = wire_type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_bytes && field.is_packable) return AddPacked(field.wire_type);
    // What is written in another form than its type has is as good as unknown.
    if (wire_type != field.wire_type) return AddUnknown(tag, kMaxGroupDepth);
    if (field.message == nullptr) {
      if (field.is_repeated) bytes_ += is_bytes ? kUnknownFieldBytes : sizeof(double);
      return SkipField(wire_type);
    }
    bytes_ += kParsedMessageBytes;
    uint64_t length = 0;
    if (depth == 0 || !ReadVarint(length)) return false;
    return AddMessage(*field.message, at_ + std::min(length, left()), depth - 1);
  }

  // A column. Numbers of variable length are eight bytes each at most, as doubles are; those before
  // the end of the bytes are parsed even where the column goes on beyond it.
  bool AddPacked(WireFormatLite::WireType element) {
    uint64_t length = 0;
    if (!ReadVarint(length)) return false;
    if (element == WireFormatLite::WIRETYPE_VARINT) bytes_ += 7 * std::min<size_t>(length, size_);
    return Skip(length);
  }

  // A group has fields of its own, up to its end.
  bool AddUnknown(uint32_t tag, int depth) {
    bytes_ += kUnknownFieldBytes;
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    if (wire_type != WireFormatLite::WIRETYPE_START_GROUP) return SkipField(wire_type);
    while (ReadTag(tag)) {
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_END_GROUP) return true;
      if (depth == 0 || !AddUnknown(tag, depth - 1)) return false;
    }
    return false;
  }

  // A field that is no group, behind its tag.
  bool SkipField(WireFormatLite::WireType wire_type) {
    uint64_t value = 0;
    switch (wire_type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return ReadVarint(value);
      case WireFormatLite::WIRETYPE_FIXED64:
        return Skip(sizeof(uint64_t));
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return ReadVarint(value) && Skip(value);
      case WireFormatLite::WIRETYPE_FIXED32:
        return Skip(sizeof(uint32_t));
      default:
        return false;
    }
  }

  // There is no field 0.
  bool ReadTag(uint32_t& tag) {
    uint64_t value = 0;
    const bool is_tag = ReadVarint(value) && value > 7 && value <= UINT32_MAX;
    tag = static_cast<uint32_t>(value);
    return is_tag;
  }

  bool ReadVarint(uint64_t& value) {
    if (at_ == end_ || *at_ >= 0x80) return ReadLongVarint(value);
    value = *at_++;
    return true;
  }
  bool ReadLongVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool Skip(uint64_t bytes) {
    if (bytes > left()) return false;
    at_ += bytes;
    return true;
  }
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }

  const uint8_t* at_;
  const uint8_t* end_;  // of the message that is read, or of all bytes
  const size_t size_;
  size_t bytes_ = 0;
};

// Calls read(input) at the bytes and returns what it returns, or `none` where gRPC cannot read
// them. Its reader takes longer than small messages, which are in one piece, do.
template <class Read, class Result>
Result ReadCoded(const MessageBytes& bytes, const Read& read, Result none) {
  if (bytes.is_joined()) {
    CodedInputStream input(bytes.joined().data(), static_cast<int>(bytes.size()));
    return read(input);
  }
  grpc::ByteBuffer pieces = bytes.ToByteBuffer();
  grpc::ProtoBufferReader reader(&pieces);
  if (!reader.status().ok()) return none;
  CodedInputStream input(&reader);
  return read(input);
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
void ForEachFrame(const MessageBytes& bytes, const Read& read) {
  const auto read_all = [&](CodedInputStream& input) {
    ForEachFrameIn(input, read);
    return true;
  };
  ReadCoded(bytes, read_all, false);
}

// Of a large message the pieces are some KB each, and all of them milliseconds.
class InterruptedReader final : public grpc::ProtoBufferReader {
 public:
  using ProtoBufferReader::ProtoBufferReader;
  bool Next(const void** data, int* size) override {
    Executor::Checkpoint();
    return ProtoBufferReader::Next(data, size);
  }
};

}  // namespace

bool Parse(const MessageBytes& bytes, google::protobuf::MessageLite& message) {
  if (bytes.is_joined()) {
    return message.ParseFromArray(bytes.joined().data(), static_cast<int>(bytes.size()));
  }
  grpc::ByteBuffer pieces = bytes.ToByteBuffer();
  InterruptedReader reader(&pieces);
  return reader.status().ok() && message.ParseFromZeroCopyStream(&reader);
}

absl::Status ParseShort(const MessageBytes& bytes, google::protobuf::MessageLite& message) {
  constexpr size_t kMaxBytes = 4096;
  if (bytes.size() > kMaxBytes) return TooManyBytes(kMaxBytes);
  return Parse(bytes, message) ? absl::OkStatus() : NoSuchMessage(message.GetTypeName());
}

std::string PeekName(const MessageBytes& bytes) {
  const auto read = [](CodedInputStream& input) {
    std::string name;
    uint32_t tag = 0;
    while ((tag = input.ReadTag()) != 0) {
      const bool is_read = tag == MessageTag(1) ? WireFormatLite::ReadString(&input, &name)
                                                : WireFormatLite::SkipField(&input, tag);
      if (!is_read) break;
    }
    return name;
  };
  return ReadCoded(bytes, read, std::string());
}

size_t GrowthWhenParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type) {
  constexpr int kMaxDepth = 16;  // our messages are six deep at most
  const auto count = [&](std::span<const uint8_t> all) {
    GrowthCounter counter(all.data(), all.size());
    counter.AddMessage(TypeFields::Of(type), all.data() + all.size(), kMaxDepth);
    return counter.bytes();
  };
  if (bytes.is_joined()) return count(bytes.joined());
  MessageBytes copy(bytes.ToByteBuffer());
  copy.Join();
  return count(copy.joined());
}

absl::Status ChargeParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed) {
  const size_t most = kMaxGrowth * max_message_bytes;
  const size_t growth = GrowthWhenParsed(bytes, type);
  if (growth > most) {
    return OverLimit("", most / kParsedMessageBytes,
                     "polygons, rings and other parts of a message");
  }
  return parsed.Add(bytes.size() + growth);
}

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message) {
  return SerializeToBytes(message).ToByteBuffer();
}

MessageBytes SerializeToBytes(const google::protobuf::MessageLite& message) {
  return MessageBytes::Of(message.ByteSizeLong(),
                          [&](uint8_t* to) { message.SerializeWithCachedSizesToArray(to); });
}

FrameHead PeekFrame(const MessageBytes& bytes) {
  FrameHead head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { PeekFields(input, head); });
  if (!head.supersede) return head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { head.has_edits |= PeekEdits(input); });
  return head;
}

}  // namespace carom::server
