// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Parses messages from gRPC's buffers and serializes messages to them.
//
// Query calls pass on the bytes of a message: the thread that evaluates a frame (a batch of
// queries) parses the frame into reused messages, so that a waiting frame takes only the memory of
// its bytes. The bytes of an `EvaluateRequest` are a valid `StreamRequest` with the same fields,
// and the bytes of an `EvaluateResponse` are a valid `StreamResponse`, so both methods share their
// parsing and serializing.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message_lite.h"
#include "server/base/memory_account.h"
#include "server/transport/message_bytes.h"

namespace carom::server {

// Parses `bytes` into `message`. Returns false if `bytes` are no valid message of its type; the
// contents of `message` are then undefined.
bool Parse(const MessageBytes& bytes, google::protobuf::MessageLite& message);

// Parses the bytes of a request that has only a name and some numbers. Returns INVALID_ARGUMENT if
// `bytes` are no valid message, and RESOURCE_EXHAUSTED, without parsing them, if `bytes` are more
// than 4 KiB.
absl::Status ParseShort(const MessageBytes& bytes, google::protobuf::MessageLite& message);

// `Serialize` and `SerializeToBytes` return the wire format of `message`.
grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message);
MessageBytes SerializeToBytes(const google::protobuf::MessageLite& message);

// Fields of a StreamRequest that `PeekFrame` finds without parsing the message. For invalid bytes:
// the fields before the first error.
struct FrameHead {
  uint64_t seq = 0;
  bool supersede = false;
  // whether a group of the frame (queries of one scene) has edits of its scene; set only if
  // `supersede` is true
  bool has_edits = false;
  // number of length-delimited fields of the frame: groups, scene bindings, tracker definitions
  size_t parts = 0;
};
// Scans the bytes of a StreamRequest and returns the head of its frame. Cost: O(fields of the
// frame), with `supersede` also O(fields of its groups); columns (packed repeated fields) are
// skipped.
FrameHead PeekFrame(const MessageBytes& bytes);

// Returns the string in the field with number 1 of the message with the bytes `bytes`: the last
// such string if there are several, as a protobuf parser does; empty if there is none. Cost:
// O(fields).
std::string PeekName(const MessageBytes& bytes);

// memory that a parsed submessage, such as a polygon or a ring, takes in addition to its bytes,
// including the pointer to the submessage
inline constexpr size_t kParsedMessageBytes = 128;
// memory that an unknown field takes in addition to its bytes on the wire: protobuf stores each
// unknown field as a separate string
inline constexpr size_t kUnknownFieldBytes = 64;

// Estimates how many bytes more a parsed message of type `type` takes than its wire format: for
// submessages at any depth, for unknown fields, and for varints, which often take only one or two
// bytes each on the wire. For invalid bytes: the estimate of the fields before the first error.
// Cost: O(fields); columns (packed repeated fields) are skipped.
size_t GrowthWhenParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type);

// Charges to `parsed` the approximate memory of a message of type `type` after parsing: an empty
// ring, for example, takes two bytes on the wire and fifty when parsed. Returns RESOURCE_EXHAUSTED
// if the message grows by more than 16 times `max_message_bytes`, or if the memory account has no
// memory left. Cost: that of `GrowthWhenParsed`.
absl::Status ChargeParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed);

}  // namespace carom::server
