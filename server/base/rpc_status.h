// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which gRPC status does a failed call return?
//
// `ToGrpcStatus` is the only function that converts an absl::Status to a grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/base/refusals.h"

namespace carom::server {

// Returns a gRPC status with the code and message of `status`. The violations of request fields
// that `status` carries (carom/status.h) become a google.rpc.BadRequest in the details.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns UNAVAILABLE, the error of a call to a server that drains, that is, shuts down gracefully.
absl::Status Draining();

// Returns RESOURCE_EXHAUSTED with a retry delay of one second, the error of a call beyond `limit`
// concurrent calls. `what` names the kind of calls, such as "streams and Evaluate calls".
absl::Status TooManyCalls(size_t limit, absl::string_view what);

// Returns RESOURCE_EXHAUSTED naming the request field `field`, which has more than `limit` of
// `what`, such as "groups a frame". The metrics count the refusal as one by the limit `counted`.
absl::Status OverLimit(absl::string_view field, uint64_t limit, absl::string_view what,
                       Limit counted = Limit::kFrame);

// Returns RESOURCE_EXHAUSTED, the error of a call for which the process has no memory.
absl::Status OutOfMemory();

// Returns INVALID_ARGUMENT, the error for bytes that are no valid message of type `type`.
absl::Status InvalidMessage(absl::string_view type);

// Returns RESOURCE_EXHAUSTED, the error for a message above `limit` bytes.
absl::Status TooManyBytes(size_t limit);

}  // namespace carom::server
