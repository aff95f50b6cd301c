// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The status of a finished call, with the violations that the server attached.
#pragma once

#include <grpcpp/support/status.h>

#include "absl/status/status.h"
#include "wire/errors.h"

namespace carom {

inline absl::Status CallStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  return wire::StatusFromDetails(static_cast<absl::StatusCode>(status.error_code()),
                                 status.error_message(), status.error_details());
}

}  // namespace carom
