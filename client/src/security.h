// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client authenticate itself, and how does it authenticate the server?
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/client.h"

namespace carom {

// Holds the TLS credentials and the token from the files of `ClientOptions`. Immutable; the
// channels that it makes read the files again when the files change.
class ClientSecurity {
 public:
  // Reads the files of `options`. Returns INVALID_ARGUMENT with the member of ClientOptions and the
  // reason if a file cannot be used.
  static absl::StatusOr<ClientSecurity> Read(const ClientOptions& options);

  // Returns INVALID_ARGUMENT naming `token_file` if calls to `address` would send the token to
  // another machine without TLS, where the network could read the token.
  absl::Status Check(const std::string& address) const;

  // Returns a channel to `address`. The channel uses TLS if `ca_file` is set, and its calls send
  // the token if `token_file` is set.
  std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                         const grpc::ChannelArguments& arguments) const;

 private:
  ClientSecurity() = default;

  std::shared_ptr<grpc::ChannelCredentials> transport_;
  bool is_encrypted_ = false;
  std::string token_file_;  // path of the token file, which the channels read again when it changes
  std::string token_;       // the token that `Read` found in the file; empty: no token
};

}  // namespace carom
