// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/message_io.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "carom/v1/query_service.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"
#include "server/base/rpc_status.h"
#include "server/transport/executor.h"

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
    return fields_[static_cast<size_t>(number) < count_ ? number : 0];  // 0 is no field
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
    made.count_ = static_cast<size_t>(last) + 1;
    made.fields_ = std::make_unique<Field[]>(made.count_);
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

  size_t count_ = 0;
  std::unique_ptr<Field[]> fields_;
};

// Adds up what the fields of a message take when they are parsed; see `GrowthWhenParsed`. Of bytes
// in one piece: protobuf's reader of pieces takes five times as long for small fields. Each call
// takes where it begins and returns where it ends, as protobuf's parsers do: a place that is a
// member costs a store and a load for each field. Null at what is no message.
class GrowthCounter {
 public:
  // Of so many bytes in all.
  explicit GrowthCounter(size_t size) : size_(size) {}

  // The fields of a message that ends at `end`.
  const uint8_t* AddMessage(const TypeFields& type, const uint8_t* at, const uint8_t* end,
                            int depth) {
    while (at != nullptr && at != end) {
      uint32_t tag = 0;
      at = ReadTag(at, end, tag);
      if (at != nullptr) at = AddField(tag, type, at, end, depth);
    }
    return at;
  }

  size_t bytes() const { return bytes_; }

 private:
  // What protobuf parses at most.
  static constexpr int kMaxGroupDepth = 100;

  const uint8_t* AddField(uint32_t tag, const TypeFields& type, const uint8_t* at,
                          const uint8_t* end, int depth) {
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    const TypeFields::Field& field = type.Find(WireFormatLite::GetTagFieldNumber(tag));
    if (!field.is_known) return AddUnknown(tag, at, end, kMaxGroupDepth);
    const bool is_bytes = wire_type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_bytes && field.is_packable) return AddPacked(field.wire_type, at, end);
    // What is written in another form than its type has is as good as unknown.
    if (wire_type != field.wire_type) return AddUnknown(tag, at, end, kMaxGroupDepth);
    if (field.message == nullptr) {
      if (field.is_repeated) bytes_ += is_bytes ? kUnknownFieldBytes : sizeof(double);
      return SkipField(wire_type, at, end);
    }
    bytes_ += kParsedMessageBytes;
    uint64_t length = 0;
    at = ReadVarint(at, end, length);
    if (depth == 0 || at == nullptr) return nullptr;
    return AddMessage(*field.message, at, at + std::min(length, Left(at, end)), depth - 1);
  }

  // A column. Numbers of variable length are eight bytes each at most, as doubles are; those before
  // the end of the bytes are parsed even where the column goes on beyond it.
  const uint8_t* AddPacked(WireFormatLite::WireType element, const uint8_t* at,
                           const uint8_t* end) {
    uint64_t length = 0;
    at = ReadVarint(at, end, length);
    if (at == nullptr) return nullptr;
    if (element == WireFormatLite::WIRETYPE_VARINT) bytes_ += 7 * std::min<size_t>(length, size_);
    return Skip(length, at, end);
  }

  // A group has fields of its own, up to its end.
  const uint8_t* AddUnknown(uint32_t tag, const uint8_t* at, const uint8_t* end, int depth) {
    bytes_ += kUnknownFieldBytes;
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    if (wire_type != WireFormatLite::WIRETYPE_START_GROUP) return SkipField(wire_type, at, end);
    while ((at = ReadTag(at, end, tag)) != nullptr) {
      if (WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_END_GROUP) return at;
      at = depth == 0 ? nullptr : AddUnknown(tag, at, end, depth - 1);
      if (at == nullptr) break;
    }
    return nullptr;
  }

  // A field that is no group, behind its tag.
  static const uint8_t* SkipField(WireFormatLite::WireType wire_type, const uint8_t* at,
                                  const uint8_t* end) {
    uint64_t value = 0;
    switch (wire_type) {
      case WireFormatLite::WIRETYPE_VARINT:
        return ReadVarint(at, end, value);
      case WireFormatLite::WIRETYPE_FIXED64:
        return Skip(sizeof(uint64_t), at, end);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        at = ReadVarint(at, end, value);
        return at == nullptr ? nullptr : Skip(value, at, end);
      case WireFormatLite::WIRETYPE_FIXED32:
        return Skip(sizeof(uint32_t), at, end);
      default:
        return nullptr;
    }
  }

  // There is no field 0.
  static const uint8_t* ReadTag(const uint8_t* at, const uint8_t* end, uint32_t& tag) {
    uint64_t value = 0;
    at = ReadVarint(at, end, value);
    tag = static_cast<uint32_t>(value);
    return value > 7 && value <= UINT32_MAX ? at : nullptr;
  }

  static const uint8_t* ReadVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
    if (at == end || *at >= 0x80) return ReadLongVarint(at, end, value);
    value = *at;
    return at + 1;
  }
  static const uint8_t* ReadLongVarint(const uint8_t* at, const uint8_t* end, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64 && at != end; shift += 7) {
      const uint8_t byte = *at++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return at;
    }
    return nullptr;
  }

  static const uint8_t* Skip(uint64_t bytes, const uint8_t* at, const uint8_t* end) {
    return bytes > Left(at, end) ? nullptr : at + bytes;
  }
  static uint64_t Left(const uint8_t* at, const uint8_t* end) {
    return static_cast<uint64_t>(end - at);
  }

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
    GrowthCounter counter(all.size());
    counter.AddMessage(TypeFields::Of(type), all.data(), all.data() + all.size(), kMaxDepth);
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
                          [&](uint8_t* to) { return message.SerializeWithCachedSizesToArray(to); });
}

FrameHead PeekFrame(const MessageBytes& bytes) {
  FrameHead head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { PeekFields(input, head); });
  if (!head.supersede) return head;
  ForEachFrame(bytes, [&](CodedInputStream& input) { head.has_edits |= PeekEdits(input); });
  return head;
}

}  // namespace carom::server
