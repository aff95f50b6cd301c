// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/access/credentials.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/base/scene_name.h"

namespace carom::server {
namespace {

constexpr size_t kMaxCertificateName = 255;  // of a certificate
constexpr std::array<absl::string_view, 3> kRoles = {"reader", "writer", "admin"};

absl::Status Wrong(absl::string_view why) { return absl::InvalidArgumentError(std::string(why)); }

absl::Status ParseRole(absl::string_view word, Role& role) {
  const auto found = std::find(kRoles.begin(), kRoles.end(), word);
  if (found == kRoles.end()) return Wrong("the role must be reader, writer or admin");
  role = static_cast<Role>(found - kRoles.begin());
  return absl::OkStatus();
}

absl::Status ParseExpiry(absl::string_view word, absl::Time& expires) {
  if (absl::ConsumePrefix(&word, "expires=") &&
      absl::ParseTime("%Y-%m-%dT%H:%M:%S%Ez", word, &expires, nullptr)) {
    return absl::OkStatus();
  }
  return Wrong("what follows the role must be expires=TIME, TIME as 2027-01-31T00:00:00Z");
}

}  // namespace

absl::string_view NameOf(Role role) { return kRoles[static_cast<size_t>(role)]; }

// Line by line, and nothing of a line in an error: what is wrong may be a token in place of its
// hash.
absl::StatusOr<Credentials> Credentials::Parse(absl::string_view text) {
  Credentials credentials;
  size_t number = 0;
  size_t lines = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    absl::Status status =
        ++lines > kMaxLines
            ? Wrong(absl::StrCat("there are more than ", kMaxLines, " lines that are no comments"))
            : credentials.ParseLine(words);
    if (!status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("line ", number, ": ", status.message()));
    }
  }
  return credentials;
}

absl::Status Credentials::ParseLine(const std::vector<absl::string_view>& words) {
  const absl::string_view kind = words[0];
  if (kind == "tenant") return AddShares(words);
  if (kind != "token" && kind != "certificate") {
    return Wrong("the first word must be token, certificate or tenant");
  }
  if (words.size() < 4 || words.size() > 5) {
    return Wrong(absl::StrCat(kind, " must be followed by ",
                              kind == "token" ? "the SHA-256 of the token" : "a name",
                              ", a tenant, a role and at most an expiry"));
  }
  return Add(kind, words[1], words);
}

// A share that is not given has no limit, and one that is given twice is a mistake.
absl::Status Credentials::AddShares(const std::vector<absl::string_view>& words) {
  constexpr std::pair<absl::string_view, uint64_t TenantShares::*> kShares[] = {
      {"scenes=", &TenantShares::scenes},
      {"bytes=", &TenantShares::bytes},
      {"streams=", &TenantShares::streams},
      {"work=", &TenantShares::work}};
  if (words.size() < 2 || !IsTenantName(words[1])) {
    return Wrong("tenant must be followed by a tenant that matches [a-z0-9-]{1,63}");
  }
  TenantShares shares;
  for (size_t i = 2; i < words.size(); ++i) {
    bool is_known = false;
    for (const auto& [name, member] : kShares) {
      absl::string_view number = words[i];
      if (!absl::ConsumePrefix(&number, name)) continue;
      uint64_t& value = shares.*member;
      is_known = value == TenantShares::kUnlimited && absl::SimpleAtoi(number, &value) && value > 0;
    }
    if (!is_known) {
      return Wrong("a share must be scenes=N, bytes=N, streams=N or work=N, once, N from 1");
    }
  }
  if (shares_.emplace(std::string(words[1]), shares).second) return absl::OkStatus();
  return Wrong("the shares of this tenant are in a line before");
}

// The id of a token is its hash, which is no secret of its client: it opens nothing.
absl::Status Credentials::Add(absl::string_view kind, absl::string_view key,
                              const std::vector<absl::string_view>& words) {
  const bool is_token = kind == "token";
  const std::string name = is_token ? absl::AsciiStrToLower(key) : std::string(key);
  if (is_token && (name.size() != 2 * sizeof(Hash) ||
                   !std::all_of(name.begin(), name.end(), absl::ascii_isxdigit))) {
    return Wrong("the SHA-256 of a token must be 64 hexadecimal digits");
  }
  if (name.size() > kMaxCertificateName) {
    return Wrong(absl::StrCat("a name must have at most ", kMaxCertificateName, " bytes"));
  }
  Credential credential{.id = absl::StrCat(kind, " ", name), .tenant = std::string(words[2])};
  if (!IsTenantName(credential.tenant)) return Wrong("the tenant must match [a-z0-9-]{1,63}");
  absl::Status status = ParseRole(words[3], credential.role);
  if (status.ok() && words.size() == 5) status = ParseExpiry(words[4], credential.expires);
  if (!status.ok()) return status;
  if (!by_id_.emplace(credential.id, credential).second) {
    return Wrong(is_token ? "the token is in a line before" : "the name is in a line before");
  }
  if (is_token) {
    const std::string bytes = absl::HexStringToBytes(name);
    Hash hash;
    std::memcpy(hash.data(), bytes.data(), hash.size());
    tokens_.emplace_back(hash, std::move(credential));
  } else {
    certificates_.emplace(name, std::move(credential));
  }
  return absl::OkStatus();
}

// All are compared, so that time shows neither whether a hash is there nor how much of one is.
const Credential* Credentials::FindToken(absl::string_view token) const {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  const Credential* found = nullptr;
  for (const auto& [known, credential] : tokens_) {
    if (CRYPTO_memcmp(known.data(), hash.data(), hash.size()) == 0) found = &credential;
  }
  return found;
}

// The names of a certificate are no secrets, so a table finds them.
const Credential* Credentials::FindCertificate(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const auto found = certificates_.find(name);
    if (found != certificates_.end()) return &found->second;
  }
  return nullptr;
}

const Credential* Credentials::Find(absl::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &found->second;
}

}  // namespace carom::server
