// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Makes the ids by which a server recognizes edits that are sent again.
#pragma once

#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace carom {

// Returns 128 random bits in hexadecimal, an id that no other edits have. The bits come from the
// system, not from a seeded generator, so that clients that start at the same moment get different
// ids.
inline std::string NewEditId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&id, absl::Hex(random(), absl::kZeroPad8));
  return id;
}

}  // namespace carom
