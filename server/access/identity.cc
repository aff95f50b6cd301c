// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/identity.h"

#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "carom/status.h"
#include "server/access/forwarded_client.h"
#include "server/base/log.h"
#include "wire/pem_files.h"

namespace carom::server {
namespace {

// period with which the thread of `Identities` checks whether the credentials file has changed, and
// whether the callers of the calls in progress are still valid
constexpr absl::Duration kCheckPeriod = absl::Milliseconds(400);
constexpr size_t kMaxTokenBytes = 4096;
constexpr absl::string_view kBearer = "bearer ";

// Returns one error for all reasons, so that a client that guesses credentials learns nothing.
absl::Status Unauthenticated() {
  return absl::UnauthenticatedError(
      "a valid credential must be given: a token in `authorization: Bearer`, or a certificate");
}

// Returns the names of the client's certificate, SANs first; none if the client has no certificate.
std::vector<std::string> CertificateNames(const grpc::ServerContext& context) {
  if (std::optional<ForwardedClient> client = ForwardedClientOf(context)) {
    return std::move(client->certificate_names);
  }
  std::vector<std::string> names;
  const std::shared_ptr<const grpc::AuthContext> connection = context.auth_context();
  if (connection == nullptr || !connection->IsPeerAuthenticated()) return names;
  for (const char* property : {GRPC_X509_SAN_PROPERTY_NAME, GRPC_X509_CN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : connection->FindPropertyValues(property)) {
      names.emplace_back(name.data(), name.size());
    }
  }
  return names;
}

// Returns the expiry of the client's certificate; infinity without a certificate.
absl::Time CertificateExpiry(const grpc::ServerContext& context) {
  if (const std::optional<ForwardedClient> client = ForwardedClientOf(context)) {
    return client->certificate_expiry;
  }
  const std::shared_ptr<const grpc::AuthContext> connection = context.auth_context();
  if (connection == nullptr) return absl::InfiniteFuture();
  const auto pem = connection->FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return pem.empty() ? absl::InfiniteFuture() : wire::ExpiryOf({pem[0].data(), pem[0].size()});
}

}  // namespace

absl::Status CredentialEnded() {
  return absl::UnauthenticatedError("the credential is revoked, or has expired");
}

absl::Status Caller::Check(Role least) const {
  if (role >= least) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      "the role ", NameOf(role), " may not do this; the role ", NameOf(least), " may"));
}

absl::StatusOr<std::unique_ptr<Identities>> Identities::Create(std::string path,
                                                               bool requires_certificates,
                                                               std::shared_ptr<Tenants> tenants) {
  std::unique_ptr<Identities> identities(
      new Identities(std::move(path), requires_certificates, std::move(tenants)));
  if (identities->has_credentials()) {
    if (absl::Status status = identities->Read(); !status.ok()) return status;
  }
  return identities;
}

Identities::~Identities() { Stop(); }

std::shared_ptr<const Credentials> Identities::credentials() const {
  absl::ReaderMutexLock lock(&mu_);
  return credentials_;
}

// Parses the file without holding `mu_`, which each call needs for its authentication, and then
// replaces `credentials_`.
absl::Status Identities::Read() {
  const absl::StatusOr<std::string> text = wire::ReadNamedFile({"--credentials", path_});
  if (!text.ok()) return text.status();
  absl::StatusOr<Credentials> parsed = Credentials::Parse(*text);
  if (!parsed.ok()) return InvalidField("--credentials", parsed.status().message());
  tenants_->SetShares(parsed->shares());
  auto read = std::make_shared<const Credentials>(*std::move(parsed));
  absl::MutexLock lock(&mu_);
  credentials_.swap(read);
  return absl::OkStatus();
}

// If the call has a token, ignores the certificate of its connection: a valid certificate does not
// replace an invalid token.
absl::StatusOr<Caller> Identities::Identify(const grpc::ServerContext& context) const {
  if (!has_credentials() && !requires_certificates_) return Caller();
  if (!has_credentials()) {
    // TLS has refused connections without a certificate. Only calls within the process have no
    // certificate.
    Caller caller;
    caller.expires = CertificateExpiry(context);
    if (caller.expires <= absl::Now()) return Unauthenticated();
    return caller;
  }
  const std::shared_ptr<const Credentials> known = credentials();
  const auto [first, last] = context.client_metadata().equal_range("authorization");
  const Credential* credential = nullptr;
  const absl::Time expires = CertificateExpiry(context);
  if (first != last) {
    const absl::string_view value(first->second.data(), first->second.size());
    if (std::next(first) != last || value.size() > kMaxTokenBytes ||
        !absl::StartsWithIgnoreCase(value, kBearer)) {
      return Unauthenticated();
    }
    const auto token = absl::StripAsciiWhitespace(value.substr(kBearer.size()));
    if (!token.empty()) credential = known->FindToken(token);
  } else {
    credential = known->FindCertificate(CertificateNames(context));
  }
  if (credential == nullptr) return Unauthenticated();
  Caller caller{.tenant = credential->tenant,
                .role = credential->role,
                .credential = credential->id,
                .shares = tenants_->Find(credential->tenant),
                .expires = expires};
  if (std::min(expires, credential->expires) <= absl::Now()) return Unauthenticated();
  return caller;
}

// Finds the caller's credential by its id in the current credentials: a reload of the file may have
// moved the line of the credential, which then stays valid, or changed the expiry of the
// credential, which then takes effect.
bool Identities::IsValid(const Caller& caller) const {
  const absl::Time now = absl::Now();
  if (caller.expires <= now) return false;
  if (caller.credential.empty()) return true;
  const std::shared_ptr<const Credentials> known = credentials();
  const Credential* const credential = known->Find(caller.credential);
  return credential != nullptr && credential->tenant == caller.tenant &&
         credential->role == caller.role && credential->expires > now;
}

// Starts no thread if the server has neither a credentials file nor client certificates: no caller
// can then become invalid.
void Identities::Start(std::function<void()> check) {
  if (!has_credentials() && !requires_certificates_) return;
  check_ = std::move(check);
  thread_ = std::thread([this] { Run(); });
}

void Identities::Stop() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

void Identities::Reload() {
  absl::MutexLock lock(&mu_);
  reload_ = true;
}

// Waits until `stopping_` or `reload_` is set, but at most `kCheckPeriod`: a reload on SIGHUP need
// not wait until the period ends.
bool Identities::Await(bool& reload) {
  absl::MutexLock lock(&mu_);
  const auto is_due = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) { return stopping_ || reload_; };
  mu_.AwaitWithTimeout(absl::Condition(&is_due), kCheckPeriod);
  reload = std::exchange(reload_, false);
  return !stopping_;
}

// Starts with an empty file state, so that the thread reads the file once more: the file may have
// changed since `Create` read it.
void Identities::Run() {
  wire::FileState read;
  bool reload = false;
  while (Await(reload)) {
    if (const wire::FileState state = wire::StateOf(path_);
        has_credentials() && (reload || state != read)) {
      read = state;
      if (const absl::Status status = Read(); !status.ok()) {
        LogLine(LogLevel::kError, "reload_failed")
            .With("detail", absl::StrCat("cannot reload the credentials: ", status.message()));
      }
    }
    check_();
  }
}

}  // namespace carom::server
