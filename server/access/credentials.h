// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Who may do what?
//
// `Credentials` are what the file of `--credentials` says: which token and which certificate
// belongs to which tenant, in which role. One line each, words with blanks between, `#` before a
// comment:
//
//   token SHA256 TENANT ROLE [expires=TIME]       SHA256 of the token, 64 hexadecimal digits
//   certificate NAME TENANT ROLE [expires=TIME]   NAME is the CN or a SAN of a client's certificate
//
//   tenant TENANT [scenes=N] [bytes=N] [streams=N] [work=N]   shares (server/access/tenant.h), N
//   from 1
//
// TENANT matches [a-z0-9-]{1,63}; ROLE is reader, writer or admin; TIME is as
// 2027-01-31T00:00:00Z. At most 4,096 lines that are no comments.
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

// Each may do what those before it may: read scenes and ask; change scenes; delete them.
enum class Role : uint8_t { kReader, kWriter, kAdmin };

absl::string_view NameOf(Role role);

// What a token or a certificate stands for.
struct Credential {
  std::string id;  // that no other one has: no secret
  std::string tenant;
  Role role = Role::kReader;
  absl::Time expires = absl::InfiniteFuture();
};

// Immutable, and so thread-safe.
class Credentials {
 public:
  static constexpr size_t kMaxLines = 4096;

  // Of a file's text. INVALID_ARGUMENT with the number of the first line that is wrong; nothing of
  // the text is in the error.
  static absl::StatusOr<Credentials> Parse(absl::string_view text);

  // That of a token, or null. Takes the same time for each that is not there: O(tokens), some
  // nanoseconds each.
  const Credential* FindToken(absl::string_view token) const;
  // That of a certificate with these names, or null: the first of the names that has one.
  const Credential* FindCertificate(const std::vector<std::string>& names) const;
  // By its id.
  const Credential* Find(absl::string_view id) const;

  const std::map<std::string, TenantShares>& shares() const { return shares_; }

 private:
  using Hash = std::array<unsigned char, 32>;  // SHA-256

  absl::Status ParseLine(const std::vector<absl::string_view>& words);
  absl::Status AddShares(const std::vector<absl::string_view>& words);
  absl::Status Add(absl::string_view kind, absl::string_view key,
                   const std::vector<absl::string_view>& words);

  std::vector<std::pair<Hash, Credential>> tokens_;
  absl::flat_hash_map<std::string, Credential> certificates_;  // by name
  absl::flat_hash_map<std::string, Credential> by_id_;
  std::map<std::string, TenantShares> shares_;  // by tenant
};

}  // namespace carom::server
