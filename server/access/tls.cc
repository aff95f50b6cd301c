// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/tls.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

#include "wire/pem_files.h"

namespace carom::server {
namespace {

constexpr unsigned kRefreshSeconds = 1;

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> CredentialsOf(const TlsFiles& files) {
  if (files.certificate.empty()) return grpc::InsecureServerCredentials();
  absl::Status status =
      wire::CheckKeyPair({"--tls-certificate", files.certificate}, {"--tls-key", files.key});
  const bool asks_clients = !files.client_ca.empty();
  if (status.ok() && asks_clients) {
    status = wire::CheckAuthorities({"--tls-client-ca", files.client_ca});
  }
  if (!status.ok()) return status;
  grpc::experimental::TlsServerCredentialsOptions tls(
      std::make_shared<grpc::experimental::FileWatcherCertificateProvider>(
          files.key, files.certificate, files.client_ca, kRefreshSeconds));
  tls.watch_identity_key_cert_pairs();
  if (asks_clients) {
    tls.watch_root_certs();
    tls.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return grpc::experimental::TlsServerCredentials(tls);
}

}  // namespace carom::server
