// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/tls_context.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <ctime>

#include "absl/time/clock.h"
#include "carom/status.h"

namespace carom::server {
namespace {

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;

std::string TextOf(const ASN1_STRING& text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text)),
          static_cast<size_t>(ASN1_STRING_length(&text))};
}

// Returns an IP address as text; the certificate has its bytes.
std::string AddressOf(const ASN1_STRING& address) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(ASN1_STRING_length(&address) == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(&address),
            text, sizeof(text));
  return text;
}

}  // namespace

TlsContext::FileStates TlsContext::StatesOfFiles() const {
  return {wire::StateOf(files_.certificate), wire::StateOf(files_.key),
          wire::StateOf(files_.client_ca)};
}

absl::Status TlsContext::Load() {
  const FileStates states = StatesOfFiles();
  absl::Status status =
      wire::CheckKeyPair({"--tls-certificate", files_.certificate}, {"--tls-key", files_.key});
  if (status.ok() && !files_.client_ca.empty()) {
    status = wire::CheckAuthorities({"--tls-client-ca", files_.client_ca});
  }
  if (!status.ok()) return status;
  const auto context =
      std::make_shared<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  SSL_CTX* const settings = context->native_handle();
  SSL_CTX_set_min_proto_version(settings, TLS1_2_VERSION);
  bool is_usable = SSL_CTX_use_certificate_chain_file(settings, files_.certificate.c_str()) == 1 &&
                   SSL_CTX_use_PrivateKey_file(settings, files_.key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (is_usable && !files_.client_ca.empty()) {
    is_usable = SSL_CTX_load_verify_locations(settings, files_.client_ca.c_str(), nullptr) == 1;
    SSL_CTX_set_verify(settings, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    // A session cannot be resumed: a resumed session would not check the certificate again.
    SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(settings, SSL_OP_NO_TICKET);
  }
  ERR_clear_error();
  if (!is_usable) return InvalidField("--tls-certificate", "OpenSSL cannot use the file");
  absl::MutexLock lock(&mu_);
  current_ = context;
  states_ = states;
  return absl::OkStatus();
}

std::shared_ptr<boost::asio::ssl::context> TlsContext::Get() {
  if (files_.certificate.empty()) return nullptr;
  bool has_changed = false;
  {
    absl::MutexLock lock(&mu_);
    const absl::Time now = absl::Now();
    if (now >= next_check_) {
      next_check_ = now + absl::Seconds(1);
      has_changed = StatesOfFiles() != states_;
    }
  }
  if (has_changed) Load().IgnoreError();
  absl::MutexLock lock(&mu_);
  return current_;
}

std::vector<std::string> CertificateNamesOf(const SSL& connection) {
  std::vector<std::string> names;
  const Certificate certificate(SSL_get1_peer_certificate(&connection), X509_free);
  if (certificate == nullptr) return names;
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> alternatives(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    const GENERAL_NAME& name = *sk_GENERAL_NAME_value(alternatives.get(), i);
    if (name.type == GEN_DNS || name.type == GEN_EMAIL || name.type == GEN_URI) {
      names.push_back(TextOf(*name.d.ia5));
    } else if (name.type == GEN_IPADD) {
      names.push_back(AddressOf(*name.d.iPAddress));
    }
  }
  const X509_NAME* const subject = X509_get_subject_name(certificate.get());
  const int common = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (common >= 0) {
    names.push_back(TextOf(*X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, common))));
  }
  return names;
}

absl::Time CertificateExpiryOf(const SSL& connection) {
  const Certificate certificate(SSL_get1_peer_certificate(&connection), X509_free);
  if (certificate == nullptr) return absl::InfiniteFuture();
  std::tm expiry{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &expiry) != 1) {
    return absl::InfinitePast();
  }
  return absl::FromTM(expiry, absl::UTCTimeZone());
}

}  // namespace carom::server
