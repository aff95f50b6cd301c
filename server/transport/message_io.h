// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Messages from and to gRPC's buffers.
//
// Query calls take and give bytes: they are parsed where the frame is evaluated, into messages that
// are reused, and a frame that waits takes no more than its bytes. `EvaluateRequest` and
// `StreamRequest` are the same on the wire, and so are their responses.
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

// Whether `bytes` are such a message; else what `message` holds means nothing.
bool Parse(const MessageBytes& bytes, google::protobuf::MessageLite& message);

// The same of a request that is short if it is one: of a name and some numbers. INVALID_ARGUMENT,
// or RESOURCE_EXHAUSTED, without looking at it, above 4 KiB.
absl::Status ParseShort(const MessageBytes& bytes, google::protobuf::MessageLite& message);

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message);
MessageBytes SerializeToBytes(const google::protobuf::MessageLite& message);

// What a scan finds in a StreamRequest without parsing it. In bytes that are not one: what comes
// before the first error.
struct FrameHead {
  uint64_t seq = 0;
  bool supersede = false;
  bool has_edits = false;  // of a frame with `supersede`
  size_t parts = 0;        // groups, bindings and definitions of trackers
};
// Cost: O(fields of the frame), with `supersede` of its groups too; columns are skipped.
FrameHead PeekFrame(const MessageBytes& bytes);

// The string of field 1 in bytes of a message, the last one if there are several, as a parser takes
// it; empty if there is none. Cost: O(fields).
std::string PeekName(const MessageBytes& bytes);

// What a message within another takes when it is parsed, beside its bytes: a polygon or a ring,
// with the pointer to it.
inline constexpr size_t kParsedMessageBytes = 128;
// What a field takes that the type does not know: protobuf keeps each, as a string of its own.
inline constexpr size_t kUnknownFieldBytes = 64;

// About how many bytes a message of this type takes when it is parsed, beside those it has: for the
// messages within it, at any depth, for fields that its type does not know, and for numbers that
// take a byte or two each before they are parsed. Of bytes that are no such message: for what comes
// before the first error. Cost: O(fields); columns are skipped.
size_t GrowthWhenParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type);

// Makes `parsed` hold what a message of this type becomes when it is parsed, about: an empty ring
// takes two bytes, and fifty when it is parsed. RESOURCE_EXHAUSTED if it grows by more than 16
// times `max_message_bytes`, or the account has no room. Cost as `GrowthWhenParsed`.
absl::Status ChargeParsed(const MessageBytes& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed);

}  // namespace carom::server
