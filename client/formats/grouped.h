// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats large integers for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace carom {

// Returns `number` with commas between groups of three digits: "1,234,567".
inline std::string Grouped(uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace carom
