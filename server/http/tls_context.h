// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The TLS settings of the connections of an HTTP port.
//
// gRPC has TLS settings of its own (server/access/tls.h), made from the same files.
#pragma once

#include <openssl/ssl.h>

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/tls.h"
#include "wire/pem_files.h"

namespace carom::server {

// Makes TLS connections with the certificate and key in files, and reads the files again when they
// have changed. Thread-safe.
class TlsContext {
 public:
  explicit TlsContext(const TlsFiles& files) : files_(files) {}

  // Reads the files. Errors: INVALID_ARGUMENT naming the option of a file that cannot be used.
  absl::Status Load() ABSL_LOCKS_EXCLUDED(mu_);

  // Returns the settings for a new connection, or null if the port is plaintext. Looks for changed
  // files at most once a second; keeps the old settings if the changed files cannot be used, for
  // example because only one of them is written yet.
  std::shared_ptr<boost::asio::ssl::context> Get() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  using FileStates = std::array<wire::FileState, 3>;
  FileStates StatesOfFiles() const;

  const TlsFiles files_;
  absl::Mutex mu_;
  std::shared_ptr<boost::asio::ssl::context> current_ ABSL_GUARDED_BY(mu_);
  FileStates states_ ABSL_GUARDED_BY(mu_);  // of the files that `current_` was made from
  absl::Time next_check_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
};

// Returns the names in the certificate of the client of `connection`, subject alternative names
// first, then the common name, as gRPC lists them; none without a certificate.
std::vector<std::string> CertificateNamesOf(const SSL& connection);
// Returns when that certificate expires; infinity without a certificate.
absl::Time CertificateExpiryOf(const SSL& connection);

}  // namespace carom::server
