// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are connections encrypted?
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace carom::server {

// Paths of the TLS files of a server, in PEM.
struct TlsFiles {
  // the server's certificate, followed by the certificates of the authorities that signed it;
  // empty: connections are plaintext
  std::string certificate;
  std::string key;  // key of `certificate`
  // authorities that sign the certificates of clients; empty: clients need no certificate
  std::string client_ca;
};

// Returns the credentials for connections to a server: plaintext if `files.certificate` is empty,
// else TLS 1.2 or later. With `client_ca`, each client must have a certificate signed by one of the
// authorities in `client_ca`.
//
// gRPC reloads the files once a second and uses their contents for new connections; existing
// connections do not change. While certificate and key do not match, for example after only one of
// the two files was replaced, no client can connect. To avoid this, put certificate and key into
// one file and replace the file by a rename.
//
// Errors: INVALID_ARGUMENT naming the option of a file that cannot be used (wire/pem_files.h).
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const TlsFiles& files);

}  // namespace carom::server
