// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are connections encrypted?
#pragma once

#include <grpcpp/security/server_credentials.h>

#include <memory>

#include "absl/status/statusor.h"
#include "server/options.h"

namespace carom::server {

// Of connections to a server with these options: plaintext if they name no certificate, else TLS,
// 1.2 or later, with a certificate of each client where they name an authority of these.
//
// The files are looked at once a second, and connections from then on have what they say; those
// that there are go on as they are. While a certificate and a key do not match, as between the
// writes of two files, nobody can connect: one file with both, put in place by a rename, has no
// such moment.
//
// Errors: INVALID_ARGUMENT naming the option of a file that cannot be used (wire/pem_files.h).
absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(
    const ServerOptions& options);

}  // namespace carom::server
