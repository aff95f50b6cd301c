// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Converts the status of a finished gRPC call to absl::Status.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "wire/errors.h"

namespace carom {

// Returns `status` as an absl::Status, with the field violations that the server attached.
inline absl::Status CallStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return wire::StatusFromDetails(static_cast<absl::StatusCode>(status.error_code()),
                                 status.error_message(), status.error_details());
}

}  // namespace carom
