// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The Connect protocol (https://connectrpc.com/docs/protocol): which bytes are sent for a message,
// an error and the end of a stream? Pure functions.
#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/descriptor.h"
#include "server/http/http_message.h"

namespace carom::server {

// How the messages of a call are written.
struct ConnectCodec {
  bool is_json = false;       // JSON, else the wire format of protobuf
  bool is_streaming = false;  // messages are enveloped, as in calls with several messages
};

// Returns the codec that a content type names, or nullopt for another type.
std::optional<ConnectCodec> CodecOf(absl::string_view content_type);
// Returns the content type of a codec.
absl::string_view ContentTypeOf(const ConnectCodec& codec);

// Returns the method with the path `/PACKAGE.SERVICE/METHOD`, one of SceneService or QueryService,
// or null.
const google::protobuf::MethodDescriptor* FindMethod(absl::string_view path);

// Returns the timeout of the header `Connect-Timeout-Ms`, nullopt if it is empty, or
// INVALID_ARGUMENT if it is not a number of at most ten digits.
absl::StatusOr<std::optional<std::chrono::milliseconds>> TimeoutOf(absl::string_view header);

// Returns the error of a call as JSON: code, message and details. The details are those of the
// gRPC status (google.rpc.BadRequest and google.rpc.RetryInfo), each also readable in `debug`.
std::string ErrorJson(const grpc::Status& status);
// Returns the response of a unary call that failed.
HttpResponse ErrorResponse(const grpc::Status& status);
// Returns the HTTP status for the code of a gRPC status.
unsigned HttpStatusOf(grpc::StatusCode code);

// The flag of the envelope that ends a stream.
inline constexpr uint8_t kEndOfStream = 2;
// Returns `message` in an envelope: a byte of flags and four of length, most significant first.
std::string Envelope(uint8_t flags, absl::string_view message);
// Returns the message in the one envelope of `body`, or INVALID_ARGUMENT if there is no envelope,
// more than one, or a compressed one.
absl::StatusOr<absl::string_view> OpenEnvelope(absl::string_view body);
// Returns the envelope that ends a stream with `status`.
std::string EndOfStream(const grpc::Status& status);

}  // namespace carom::server
