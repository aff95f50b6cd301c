// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are errors encoded in messages? Only errors.cc encodes and decodes errors.
//
// An absl::Status carries violations (refused fields of a request) and a retry delay
// (carom/status.h). The status is sent in two forms: as `v1.Status` inside an answer, and as
// google.rpc.Status with google.rpc.BadRequest and google.rpc.RetryInfo in the trailing metadata of
// a failed call (`grpc-status-details-bin`). Both forms are below 4 KiB.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// Writes `status`, which must not be OK.
void EncodeStatus(const absl::Status& status, v1::Status& message);
// Returns the status that a message has. A code that is not a gRPC error code becomes UNKNOWN.
absl::Status DecodeStatus(const v1::Status& message);

// Returns the bytes of a google.rpc.Status with the violations and the retry delay of `status`, or
// an empty string if `status` has neither.
std::string SerializeDetails(const absl::Status& status);
// Returns the status of a failed call, made from its code, its message and `details`, the bytes of
// its google.rpc.Status. Ignores `details` that cannot be parsed.
absl::Status StatusFromDetails(absl::StatusCode code, absl::string_view message,
                               absl::string_view details);

}  // namespace carom::wire
