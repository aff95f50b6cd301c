// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which client made a call, and how long is its credential valid?
//
// `Identities::Identify` authenticates a call by the token in its metadata
// (`authorization: Bearer TOKEN`), or without a token by the certificate of its connection. Without
// `--credentials` and `--tls-client-ca`, each client is `admin` of the tenant `default`; with
// `--tls-client-ca` only, each client with a certificate is `admin` of `default`.
#pragma once

#include <grpcpp/server_context.h>

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/access/credentials.h"
#include "server/access/tenant.h"
#include "server/base/scene_name.h"

namespace carom::server {

// The client that made a call.
struct Caller {
  std::string tenant = kDefaultTenant;
  Role role = Role::kAdmin;
  std::string credential;          // id of the credential; empty: the server requires none
  std::shared_ptr<Tenant> shares;  // usage and resource limits of the tenant; null: unlimited
  // expiry of the client's certificate; `Identities::IsValid` also checks the expiry of the
  // credential
  absl::Time expires = absl::InfiniteFuture();

  // Returns OK if the role of the caller includes the permissions of the role `least`, else
  // PERMISSION_DENIED.
  absl::Status Check(Role least) const;
};

// Returns UNAUTHENTICATED, the error of a call whose credential expired or was revoked during the
// call.
absl::Status CredentialEnded();

// Authenticates calls by the credentials file, which a thread reloads when the file changes and
// when `Reload` is called. If the file has an error, the thread prints it to stderr and keeps the
// old credentials. Thread-safe.
class Identities {
 public:
  // Reads the credentials file `path` (empty: no file) and sets the shares (resource limits) of
  // `tenants` from the file. If `requires_certificates` is true, each client must have a
  // certificate (server/access/tls.h).
  //
  // Errors: INVALID_ARGUMENT naming `--credentials` if the file cannot be read, or naming the line
  // that has an error.
  static absl::StatusOr<std::unique_ptr<Identities>> Create(std::string path,
                                                            bool requires_certificates,
                                                            std::shared_ptr<Tenants> tenants);
  const std::shared_ptr<Tenants>& tenants() const { return tenants_; }
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  // Returns the client that made a call. Returns UNAUTHENTICATED, with one message for all reasons,
  // if the call has no credential, or a credential that is unknown or expired.
  absl::StatusOr<Caller> Identify(const grpc::ServerContext& context) const;
  // Returns whether `caller` is still authenticated: its certificate has not expired, and its
  // credential is still in the file, with unchanged tenant and role, and has not expired.
  bool IsValid(const Caller& caller) const;
  // Returns whether there is a credentials file. The server then shares its resources fairly among
  // tenants; without a file, among client addresses (server/access/peer.h).
  bool has_credentials() const { return !path_.empty(); }

  // Starts the thread that reloads the credentials file when it changes, and calls `check` at least
  // twice a second until `Stop`. `check` may call `IsValid`. Starts no thread if callers can never
  // become invalid.
  void Start(std::function<void()> check);
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  // Makes the thread reload the file soon.
  void Reload() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Identities(std::string path, bool requires_certificates, std::shared_ptr<Tenants> tenants)
      : path_(std::move(path)),
        requires_certificates_(requires_certificates),
        tenants_(std::move(tenants)) {}

  std::shared_ptr<const Credentials> credentials() const ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Read() ABSL_LOCKS_EXCLUDED(mu_);
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for the end of the check period (`kCheckPeriod` in identity.cc), or for `Reload` or
  // `Stop`. Sets `reload` if `Reload` was called. Returns false after `Stop`.
  bool Await(bool& reload) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string path_;  // empty: there is no file
  const bool requires_certificates_;
  const std::shared_ptr<Tenants> tenants_;
  std::function<void()> check_;
  mutable absl::Mutex mu_;
  std::shared_ptr<const Credentials> credentials_ ABSL_GUARDED_BY(mu_);
  bool reload_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
