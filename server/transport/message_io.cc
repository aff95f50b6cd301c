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

// A parsed message may take at most this multiple of `max_message_bytes` in addition to its bytes.
// The smallest legal polygon, with a single vertex, has 28 bytes on the wire and two submessages,
// and takes 10 times its bytes.
constexpr size_t kMaxGrowth = 16;

// `MessageTag` and `VarintTag` return the tag of the field number `field` for a submessage and for
// a varint.
constexpr uint32_t MessageTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t VarintTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT);
}

// Reads the fields of a Frame up to the end of the message: sets `head.seq` and `head.supersede`,
// and counts in `head.parts` each group, scene binding and tracker definition, and each further
// field with a length, such as `removed_trackers`.
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

// Reads the fields of a Frame and returns whether a group of the frame has edits.
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

// A table of the fields of a message type, by field number. Built once for each type, because a
// search in protobuf's descriptor takes longer than skipping a field.
class TypeFields {
 public:
  struct Field {
    bool is_known = false;
    bool is_packable = false;
    bool is_repeated = false;
    // the wire type of one value of the field, when the field is not packed
    WireFormatLite::WireType wire_type = WireFormatLite::WIRETYPE_VARINT;
    const TypeFields* message = nullptr;  // fields of the submessage; null: no submessage
  };

  // Returns the table of `type`, which is never deleted. Thread-safe.
  static const TypeFields& Of(const google::protobuf::Descriptor& type) {
    static absl::Mutex mu(absl::kConstInit);
    static auto& types = *new Types;
    absl::MutexLock lock(&mu);
    return Of(type, types);
  }

  // Returns the field with the number `number`; a field with `is_known == false` if there is none.
  const Field& Find(int number) const {
    // `fields_[0]` has `is_known == false`, as no field has the number 0.
    return fields_[static_cast<size_t>(number) < count_ ? number : 0];
  }

 private:
  using Types =
      absl::flat_hash_map<const google::protobuf::Descriptor*, std::unique_ptr<TypeFields>>;

  static const TypeFields& Of(const google::protobuf::Descriptor& type, Types& types) {
    if (const auto known = types.find(&type); known != types.end()) return *known->second;
    // Inserts the table before its fields: a message type may contain itself.
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

// Adds up the bytes that the fields of a message take when parsed in addition to their bytes on the
// wire; see `GrowthWhenParsed`. Reads bytes in one piece, because protobuf's reader of several
// pieces takes five times as long for small fields. Each function takes the position of the first
// byte that it reads and returns the position after the last byte that it reads, like protobuf's
// parsers, or null if the bytes are invalid: a position in a member would cost a store and a load
// for each field.
class GrowthCounter {
 public:
  // `size` is the number of bytes of the whole message.
  explicit GrowthCounter(size_t size) : size_(size) {}

  // Counts the fields of a message of type `type` in the bytes [at, end), with submessages up to
  // `depth` levels deep.
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
  // protobuf parses groups (a start tag, fields and an end tag) that are nested at most this deep
  static constexpr int kMaxGroupDepth = 100;

  const uint8_t* AddField(uint32_t tag, const TypeFields& type, const uint8_t* at,
                          const uint8_t* end, int depth) {
    const auto wire_type = WireFormatLite::GetTagWireType(tag);
    const TypeFields::Field& field = type.Find(WireFormatLite::GetTagFieldNumber(tag));
    if (!field.is_known) return AddUnknown(tag, at, end, kMaxGroupDepth);
    const bool is_bytes = wire_type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    if (is_bytes && field.is_packable) return AddPacked(field.wire_type, at, end);
    // Protobuf treats a known field with a wrong wire type as an unknown field.
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

  // Counts a packed field (an array of numbers). A varint takes at least one byte on the wire and
  // at most eight bytes when parsed; numbers of fixed length do not grow. The growth is counted
  // even if fewer than `length` bytes follow, since protobuf then parses the numbers up to the end.
  const uint8_t* AddPacked(WireFormatLite::WireType element, const uint8_t* at,
                           const uint8_t* end) {
    uint64_t length = 0;
    at = ReadVarint(at, end, length);
    if (at == nullptr) return nullptr;
    if (element == WireFormatLite::WIRETYPE_VARINT) bytes_ += 7 * std::min<size_t>(length, size_);
    return Skip(length, at, end);
  }

  // Counts an unknown field, whose tag has been read. A group (a field with a start tag and an end
  // tag) contains fields up to its end tag, each of which is counted as an unknown field.
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

  // Skips a field whose tag has been read. Returns null for a group (a field with a start tag and
  // an end tag).
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

  // Reads a tag. Returns null for an invalid tag, such as one with field number 0.
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

// Returns read(input) for a `CodedInputStream` of the bytes, or `none` if gRPC cannot read the
// bytes. If the bytes are in one piece, reads them without gRPC's reader, which takes longer than
// parsing a small message.
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

// Calls read(input) for each submessage `frame` of the StreamRequest `input`, with `input` at the
// first field of the frame and limited to the frame.
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

// Calls read(input) for each submessage `frame` in the bytes of a StreamRequest, with `input` at
// the first field of the frame. A StreamRequest may have several such submessages on the wire, all
// of which a protobuf parser merges. Stops after a frame that `read` does not read to its end.
template <class Read>
void ForEachFrame(const MessageBytes& bytes, const Read& read) {
  const auto read_all = [&](CodedInputStream& input) {
    ForEachFrameIn(input, read);
    return true;
  };
  ReadCoded(bytes, read_all, false);
}

// Calls `Executor::Checkpoint` for each piece of the bytes: parsing all pieces of a large message,
// which have some KB each, takes milliseconds.
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
  return Parse(bytes, message) ? absl::OkStatus() : InvalidMessage(message.GetTypeName());
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
  constexpr int kMaxDepth = 16;  // carom's messages are nested at most six levels deep
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
