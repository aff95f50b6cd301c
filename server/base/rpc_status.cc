// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/rpc_status.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "wire/errors.h"

namespace carom::server {

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()),
                      wire::SerializeDetails(status));
}

absl::Status TooManyCalls(size_t limit, absl::string_view what) {
  constexpr uint64_t kRetryDelayUs = 1000000;
  return WithRetryDelay(
      absl::ResourceExhaustedError(absl::StrCat("the limit of ", limit, " ", what, " is reached")),
      kRetryDelayUs);
}

absl::Status OutOfMemory() { return absl::ResourceExhaustedError("the server is out of memory"); }

absl::Status InvalidMessage(absl::string_view type) {
  return absl::InvalidArgumentError(absl::StrCat("the message is not a valid ", type));
}

absl::Status OverLimit(absl::string_view field, uint64_t limit, absl::string_view what,
                       Limit counted) {
  const std::string why = absl::StrCat("must be at most ", limit, " (", what, ")");
  CountRefusal(counted, why);
  return Refused(absl::StatusCode::kResourceExhausted, field, why);
}

absl::Status TooManyBytes(size_t limit) {
  return OverLimit("", limit, "bytes of a message", Limit::kMessageBytes);
}

absl::Status Draining() {
  return absl::UnavailableError(
      "the server is shutting down; retry the call later or on another server");
}

}  // namespace carom::server
