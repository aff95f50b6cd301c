// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Tokens for tests, and lines of a file of credentials.
#pragma once

#include <openssl/sha.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace carom::testing {

// A line that gives a token, whose text is `token`, a tenant and a role, and what `more` says.
inline std::string TokenLine(const std::string& token, const std::string& tenant,
                             const std::string& role, const std::string& more = "") {
  unsigned char hash[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), hash);
  const std::string bytes(reinterpret_cast<const char*>(hash), sizeof(hash));
  return absl::StrCat("token ", absl::BytesToHexString(bytes), " ", tenant, " ", role, " ", more,
                      "\n");
}

}  // namespace carom::testing
