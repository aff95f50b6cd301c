// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/rpc_status.h"

#include <string>

#include "wire/errors.h"

namespace carom::server {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      wire::SerializeDetails(status));
}

absl::Status Draining() {
  return absl::UnavailableError("the server drains; send the call to another one, or later");
}

}  // namespace carom::server
