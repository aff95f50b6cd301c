// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who is behind a call, and for how long?
//
// `Identities::Identify` says whose call it is: by the token in its metadata
// (`authorization: Bearer TOKEN`), else by the certificate of its connection. Where caromd was
// given neither `--credentials` nor `--tls-client-ca`, everybody is `admin` of the tenant
// `default`; with the latter alone, so is everybody who has a certificate.
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

struct Caller {
  std::string tenant = kDefaultTenant;
  Role role = Role::kAdmin;
  std::string credential;                       // its id; empty: none is asked for
  std::shared_ptr<Tenant> shares;               // of the tenant; null: it has no limits
  absl::Time expires = absl::InfiniteFuture();  // the certificate; a token's end is looked up

  // OK, or PERMISSION_DENIED if the role may not do what `least` may.
  absl::Status Check(Role least) const;
};

// UNAUTHENTICATED: what a call gets whose credential has ended.
absl::Status CredentialEnded();

// Reads the file again when it changes, on a thread of its own, and when asked. A file that is
// wrong changes nothing and is a line on stderr. Thread-safe.
class Identities {
 public:
  // Reads the credentials of the file at `path`; an empty path: there is no file. The shares that
  // the file gives to tenants become those of `tenants`. `asks_certificates`: every client has a
  // certificate (server/access/tls.h).
  //
  // Errors: INVALID_ARGUMENT naming `--credentials` and the line, for a file that cannot be read or
  // that has an error.
  static absl::StatusOr<std::unique_ptr<Identities>> Create(std::string path,
                                                            bool asks_certificates,
                                                            std::shared_ptr<Tenants> tenants);
  const std::shared_ptr<Tenants>& tenants() const { return tenants_; }
  ~Identities();
  Identities(const Identities&) = delete;
  Identities& operator=(const Identities&) = delete;

  // UNAUTHENTICATED for a call without a credential that is known and lasts: the same error for
  // all.
  absl::StatusOr<Caller> Identify(const grpc::ServerContext& context) const;
  // Whether the credential that a call came with is still what it was.
  bool IsValid(const Caller& caller) const;
  // Whether fair shares are those of tenants: whether there is a file of credentials.
  bool are_by_tenant() const { return !path_.empty(); }

  // From here until `Stop` the file is watched, and `check` called twice a second or more often,
  // if callers can become invalid. It may call `IsValid`.
  void Start(std::function<void()> check);
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);
  // Has the file read again soon.
  void Reload() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  Identities(std::string path, bool asks_certificates, std::shared_ptr<Tenants> tenants)
      : path_(std::move(path)),
        asks_certificates_(asks_certificates),
        tenants_(std::move(tenants)) {}

  std::shared_ptr<const Credentials> credentials() const ABSL_LOCKS_EXCLUDED(mu_);
  absl::Status Read() ABSL_LOCKS_EXCLUDED(mu_);
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Waits for a while, or for `Reload` or `Stop`. Returns whether it is to go on.
  bool Await(bool& reload) ABSL_LOCKS_EXCLUDED(mu_);

  const std::string path_;  // empty: there is no file
  const bool asks_certificates_;
  const std::shared_ptr<Tenants> tenants_;
  std::function<void()> check_;
  mutable absl::Mutex mu_;
  std::shared_ptr<const Credentials> credentials_ ABSL_GUARDED_BY(mu_);
  bool reload_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace carom::server
