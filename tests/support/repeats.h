// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// How often does a random test repeat? Few times in every run, many in the long suite
// (`./dev test --long`, which sets CAROM_LONG).
#pragma once

#include <cstdlib>

namespace carom::testing {

inline int Repeats(int usual, int in_the_long_suite) {
  static const bool is_long = std::getenv("CAROM_LONG") != nullptr;
  return is_long ? in_the_long_suite : usual;
}

}  // namespace carom::testing
