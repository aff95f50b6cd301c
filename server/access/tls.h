// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are connections encrypted?
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace carom::server {

// Paths of files in PEM.
struct TlsFiles {
  std::string certificate;  // of the server, with those that signed it after it; empty: plaintext
  std::string key;          // of the certificate
  std::string client_ca;    // authorities for clients' certificates; empty: clients need none
};

// Returns the credentials of connections to a server: plaintext if `files` names no certificate,
// else TLS 1.2 or later. With `client_ca` every client must have a certificate that one of these
// authorities has signed.
//
// gRPC reads the files again once a second and uses what they then hold for new connections;
// connections that exist are not changed. While a certificate and a key do not match, as between
// the writes of two files, no client can connect. One file that holds both, and that a rename
// replaces, avoids this.
//
// Errors: INVALID_ARGUMENT naming the option of a file that cannot be used (wire/pem_files.h).
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const TlsFiles& files);

}  // namespace carom::server
