// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Errors on the wire: the one door.
//
// An absl::Status with violations and a retry delay (carom/status.h) travels in two forms: as
// `v1.Status` inside an answer, and as google.rpc.Status with google.rpc.BadRequest and
// google.rpc.RetryInfo in the trailer of a failed call (`grpc-status-details-bin`). Both are below
// 4 KiB and never echo the request.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// `status` is not OK.
void EncodeStatus(const absl::Status& status, v1::Status& message);
// An unknown code becomes UNKNOWN.
absl::Status DecodeStatus(const v1::Status& message);

// The bytes of a google.rpc.Status with the violations and the retry delay of `status`; empty if it
// carries neither.
std::string SerializeDetails(const absl::Status& status);
// The status of a failed call from its three parts. Details that cannot be read are ignored.
absl::Status StatusFromDetails(absl::StatusCode code, absl::string_view message,
                               absl::string_view details);

}  // namespace carom::wire
