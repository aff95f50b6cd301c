// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does an error leave a call?
//
// The one place where an absl::Status becomes a grpc::Status.
#pragma once

#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom::server {

// The same code and message; violations travel as google.rpc.BadRequest in the details.
grpc::Status ToGrpcStatus(const absl::Status& status);

// UNAVAILABLE: what a call gets from a server that drains.
absl::Status Draining();

// RESOURCE_EXHAUSTED, to be tried again in a second: what a call above `limit` of them gets. `what`
// as in "streams and Evaluate calls".
absl::Status TooManyCalls(size_t limit, absl::string_view what);

// RESOURCE_EXHAUSTED naming `field`: there may be at most `limit` of `what`, "groups a frame".
absl::Status OverLimit(absl::string_view field, uint64_t limit, absl::string_view what);

// RESOURCE_EXHAUSTED: what a call gets for which the process has no memory.
absl::Status OutOfMemory();

// INVALID_ARGUMENT: what bytes get that are no message of this type.
absl::Status NoSuchMessage(absl::string_view type);

// RESOURCE_EXHAUSTED: what a message above `limit` bytes gets.
absl::Status TooManyBytes(size_t limit);

}  // namespace carom::server
