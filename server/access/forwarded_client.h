// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which client is behind a call that another transport of this process forwards to gRPC?
//
// The HTTP port (server/http/) serves each request by a gRPC call within the process, so that one
// implementation of each RPC serves all transports. Such a call has neither the address nor the
// certificate of the client, so the HTTP port passes both in metadata of the call. The server
// accepts this metadata only with a random secret of the process: a client cannot forge it.
#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/server_context.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace carom::server {

// The client of a forwarded call, as the HTTP port has identified it.
struct ForwardedClient {
  std::string peer;  // name of the client address or connection (server/access/peer.h)
  // names in the client's certificate, SANs first; empty: the client has no certificate
  std::vector<std::string> certificate_names;
  // expiry of the client's certificate; infinity without a certificate
  absl::Time certificate_expiry = absl::InfiniteFuture();
};

// Adds `client` to the metadata of a call within the process.
void AddForwardedClient(const ForwardedClient& client, grpc::ClientContext& context);

// Returns the client that `AddForwardedClient` has added to a call, or nullopt if the call has no
// such metadata, or not the secret of this process.
std::optional<ForwardedClient> ForwardedClientOf(const grpc::ServerContext& context);

}  // namespace carom::server
