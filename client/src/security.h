// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a client prove who it is, and know who the server is?
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

// What the files of `ClientOptions` say. Immutable; its channels look at the files again.
class ClientSecurity {
 public:
  // Reads the files. INVALID_ARGUMENT naming the member of ClientOptions, and the reason.
  static absl::StatusOr<ClientSecurity> Read(const ClientOptions& options);

  // INVALID_ARGUMENT naming `token_file` for an address of another machine without TLS: whoever is
  // on the way could read the token.
  absl::Status Check(const std::string& address) const;

  // A channel that is encrypted if there is an authority, and whose calls bring the token.
  std::shared_ptr<grpc::Channel> Connect(const std::string& address,
                                         const grpc::ChannelArguments& arguments) const;

 private:
  ClientSecurity() = default;

  std::shared_ptr<grpc::ChannelCredentials> transport_;
  bool is_encrypted_ = false;
  std::string token_file_;  // read again by channels when it changes
  std::string token_;       // that it had; empty: none
};

}  // namespace carom
