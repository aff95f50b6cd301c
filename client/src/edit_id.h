// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Ids by which a server knows edits again.
#pragma once

#include <random>
#include <string>

#include "absl/strings/str_cat.h"

namespace carom {

// 128 random bits, which no other edits have. From the system, not from a generator with a seed:
// clients that start together differ.
inline std::string NewEditId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 4; ++i) absl::StrAppend(&id, absl::Hex(random(), absl::kZeroPad8));
  return id;
}

}  // namespace carom
