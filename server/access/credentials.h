// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which tenant and role does a token or a certificate have?
//
// `Credentials` holds the contents of the file that the option `--credentials` names. Each line of
// the file has the tenant and role of a token or certificate, or the shares (resource limits) of a
// tenant. Words are separated by blanks; `#` starts a comment:
//
//   token SHA256 TENANT ROLE [expires=TIME]       SHA256 of the token, 64 hexadecimal digits
//   certificate NAME TENANT ROLE [expires=TIME]   NAME is the CN or a SAN of a client's certificate
//
//   tenant TENANT [scenes=N] [bytes=N] [streams=N] [work=N]   shares (server/access/tenant.h)
//
// TENANT matches [a-z0-9-]{1,63}; ROLE is reader, writer or admin; TIME has the form
// 2027-01-31T00:00:00Z; N is at least 1. The file has at most 4,096 lines besides blank and comment
// lines.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/access/tenant.h"

namespace carom::server {

// A reader may read scenes and send queries; a writer may also change scenes; an admin may also
// delete scenes.
enum class Role : uint8_t { kReader, kWriter, kAdmin };

absl::string_view NameOf(Role role);

// The tenant, role and expiry of a token or a certificate.
struct Credential {
  std::string id;  // unique; contains no secret
  std::string tenant;
  Role role = Role::kReader;
  absl::Time expires = absl::InfiniteFuture();
};

// Holds the contents of a credentials file. Immutable, and therefore thread-safe.
class Credentials {
 public:
  static constexpr size_t kMaxLines = 4096;

  // Parses the text of a credentials file. Returns INVALID_ARGUMENT with the number of the first
  // invalid line; the error contains no part of the text, which may have secrets.
  static absl::StatusOr<Credentials> Parse(absl::string_view text);

  // Returns the credential of a token, or null. Takes equal time for all unknown tokens. Cost:
  // O(tokens in the credentials file), some nanoseconds for each token in the file.
  const Credential* FindToken(absl::string_view token) const;
  // Returns the credential of a certificate with the names `names`, or null. If several names have
  // credentials, returns that of the first name.
  const Credential* FindCertificate(const std::vector<std::string>& names) const;
  // Returns the credential with the id `id`, or null.
  const Credential* Find(absl::string_view id) const;

  // Returns the shares (resource limits) of the tenants, by name of the tenant.
  const std::map<std::string, TenantShares>& shares() const { return shares_; }

 private:
  using Hash = std::array<unsigned char, 32>;  // SHA-256

  absl::Status ParseLine(const std::vector<absl::string_view>& words);
  absl::Status AddShares(const std::vector<absl::string_view>& words);
  absl::Status Add(absl::string_view kind, absl::string_view key,
                   const std::vector<absl::string_view>& words);

  std::vector<std::pair<Hash, Credential>> tokens_;
  // by name of the certificate: its common name (CN) or a subject alternative name (SAN)
  absl::flat_hash_map<std::string, Credential> certificates_;
  absl::flat_hash_map<std::string, Credential> by_id_;
  std::map<std::string, TenantShares> shares_;  // by name of the tenant
};

}  // namespace carom::server
