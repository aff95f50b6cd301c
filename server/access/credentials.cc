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

constexpr size_t kMaxCertificateName = 255;  // bytes
constexpr std::array<absl::string_view, 3> kRoles = {"reader", "writer", "admin"};

absl::Status ParseError(absl::string_view why) {
  return absl::InvalidArgumentError(std::string(why));
}

absl::Status ParseRole(absl::string_view word, Role& role) {
  const auto found = std::find(kRoles.begin(), kRoles.end(), word);
  if (found == kRoles.end()) return ParseError("the role must be reader, writer or admin");
  role = static_cast<Role>(found - kRoles.begin());
  return absl::OkStatus();
}

absl::Status ParseExpiry(absl::string_view word, absl::Time& expires) {
  if (absl::ConsumePrefix(&word, "expires=") &&
      absl::ParseTime("%Y-%m-%dT%H:%M:%S%Ez", word, &expires, nullptr)) {
    return absl::OkStatus();
  }
  return ParseError(
      "the word after the role must be expires=TIME, with TIME such as 2027-01-31T00:00:00Z");
}

}  // namespace

absl::string_view NameOf(Role role) { return kRoles[static_cast<size_t>(role)]; }

// Puts no part of a line into errors: a malformed line may have a secret token where the hash of
// the token belongs.
absl::StatusOr<Credentials> Credentials::Parse(absl::string_view text) {
  Credentials credentials;
  size_t number = 0;
  size_t lines = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const std::vector<absl::string_view> words =
        absl::StrSplit(line.substr(0, line.find('#')), absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) continue;
    absl::Status status = ++lines > kMaxLines
                              ? ParseError(absl::StrCat("there are more than ", kMaxLines,
                                                        " lines that are not comments"))
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
    return ParseError("the first word must be token, certificate or tenant");
  }
  if (words.size() < 4 || words.size() > 5) {
    return ParseError(absl::StrCat(kind, " must be followed by ",
                                   kind == "token" ? "the SHA-256 of the token" : "a name",
                                   ", a tenant, a role and at most an expiry"));
  }
  return Add(kind, words[1], words);
}

// Parses a line `tenant TENANT NAME=N …` with the shares (resource limits) of a tenant. A share
// that the line does not name is unlimited; two values for one share are an error.
absl::Status Credentials::AddShares(const std::vector<absl::string_view>& words) {
  constexpr std::pair<absl::string_view, uint64_t TenantShares::*> kShares[] = {
      {"scenes=", &TenantShares::scenes},
      {"bytes=", &TenantShares::bytes},
      {"streams=", &TenantShares::streams},
      {"work=", &TenantShares::work}};
  if (words.size() < 2 || !IsTenantName(words[1])) {
    return ParseError("tenant must be followed by a tenant that matches [a-z0-9-]{1,63}");
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
      return ParseError(
          "each share must be scenes=N, bytes=N, streams=N or work=N, given once, with N at least "
          "1");
    }
  }
  if (shares_.emplace(std::string(words[1]), shares).second) return absl::OkStatus();
  return ParseError("an earlier line has the shares of this tenant");
}

// Adds the credential of a line `token` or `certificate`. The id of a token's credential contains
// the hash of the token, which is no secret: a client cannot authenticate with the hash.
absl::Status Credentials::Add(absl::string_view kind, absl::string_view key,
                              const std::vector<absl::string_view>& words) {
  const bool is_token = kind == "token";
  const std::string name = is_token ? absl::AsciiStrToLower(key) : std::string(key);
  if (is_token && (name.size() != 2 * sizeof(Hash) ||
                   !std::all_of(name.begin(), name.end(), absl::ascii_isxdigit))) {
    return ParseError("the SHA-256 of a token must be 64 hexadecimal digits");
  }
  if (name.size() > kMaxCertificateName) {
    return ParseError(absl::StrCat("a name must have at most ", kMaxCertificateName, " bytes"));
  }
  Credential credential{.id = absl::StrCat(kind, " ", name), .tenant = std::string(words[2])};
  if (!IsTenantName(credential.tenant)) return ParseError("the tenant must match [a-z0-9-]{1,63}");
  absl::Status status = ParseRole(words[3], credential.role);
  if (status.ok() && words.size() == 5) status = ParseExpiry(words[4], credential.expires);
  if (!status.ok()) return status;
  if (!by_id_.emplace(credential.id, credential).second) {
    return ParseError(is_token ? "an earlier line has this token"
                               : "an earlier line has this name");
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

// Compares the hash of `token` with the hashes of all tokens in the file, each in constant time, so
// that the time reveals neither whether a hash is in the file nor how many of its bytes match.
const Credential* Credentials::FindToken(absl::string_view token) const {
  Hash hash;
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash.data());
  const Credential* found = nullptr;
  for (const auto& [known, credential] : tokens_) {
    if (CRYPTO_memcmp(known.data(), hash.data(), hash.size()) == 0) found = &credential;
  }
  return found;
}

// Uses a hash table: names of certificates are no secrets, so the time may depend on the name.
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
