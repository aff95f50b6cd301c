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
#include "server/memory_account.h"

namespace carom::server {

// Whether `bytes` are such a message; else what `message` holds means nothing.
bool Parse(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite& message);

grpc::ByteBuffer Serialize(const google::protobuf::MessageLite& message);

// What a scan finds in a StreamRequest without parsing it. In bytes that are not one: what comes
// before the first error.
struct FrameHead {
  uint64_t seq = 0;
  bool supersede = false;
  size_t parts = 0;  // groups, bindings and definitions of trackers
};
// Cost: O(fields of the frame); columns are skipped.
FrameHead PeekFrame(const grpc::ByteBuffer& bytes);

// The string of field 1 in bytes of a message, the last one if there are several, as a parser takes
// it; empty if there is none. Cost: O(fields).
std::string PeekName(const grpc::ByteBuffer& bytes);

// How many messages a message of this type has within it, at any depth. Of bytes that are no such
// message: those before the first error. Cost: O(fields); columns are skipped.
size_t CountMessages(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type);

// Makes `parsed` hold what a message of this type becomes when it is parsed, about: an empty ring
// takes two bytes, and fifty when it is parsed. RESOURCE_EXHAUSTED if that is more than 16 times
// `max_message_bytes`, or the account has no room. Cost as `CountMessages`.
absl::Status ChargeParsed(const grpc::ByteBuffer& bytes, const google::protobuf::Descriptor& type,
                          size_t max_message_bytes, MemoryCharge& parsed);

}  // namespace carom::server
