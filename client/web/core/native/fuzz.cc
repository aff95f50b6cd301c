// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// fuzz COUNT: gives a fuzz target COUNT made-up inputs, the same ones every time.
// tests/fuzz/replay.cc does more, by files, which WebAssembly lacks.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/fuzz/target.h"

int main(int argc, char** argv) {
  const long count = argc == 2 ? std::atol(argv[1]) : 0;
  for (long i = 0; i < count; ++i) {
    const std::vector<uint8_t> bytes = MakeInput(static_cast<uint64_t>(i));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%ld inputs passed\n", count);
  return count > 0 ? 0 : 2;
}
