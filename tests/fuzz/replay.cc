// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs a fuzz target without libFuzzer.
//
//   replay FILE…                 each file once, such as a crash that ./dev fuzz found
//   replay --made COUNT          COUNT made-up inputs, the same ones every time; under CAROM_LONG a
//                                hundred times as many
//   replay --write FOLDER COUNT  writes them: the seeds of a corpus

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/target.h"
#include "tests/support/repeats.h"

namespace {

// The input under test, for the message of an abort.
void Announce(int number) {
  static const bool is_asked = std::getenv("CAROM_REPLAY_TRACE") != nullptr;
  if (is_asked) std::fprintf(stderr, "input %d\n", number);
}

int RunMade(int count) {
  for (int i = 0; i < count; ++i) {
    Announce(i);
    const std::vector<uint8_t> bytes = MakeInput(static_cast<uint64_t>(i));
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::printf("%d inputs passed\n", count);
  return 0;
}

int WriteMade(const std::string& folder, int count) {
  for (int i = 0; i < count; ++i) {
    const std::vector<uint8_t> bytes = MakeInput(static_cast<uint64_t>(i));
    std::ofstream file(folder + "/made-" + std::to_string(i), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) return 1;
  }
  return 0;
}

int RunFile(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "replay: cannot read %s\n", path);
    return 2;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::printf("%s: passed\n", path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--made") == 0) {
    const int count = std::atoi(argv[2]);
    return RunMade(carom::testing::Repeats(count, 50 * count));
  }
  if (argc == 4 && std::strcmp(argv[1], "--write") == 0) {
    return WriteMade(argv[2], std::atoi(argv[3]));
  }
  int status = argc > 1 ? 0 : 2;
  for (int i = 1; i < argc && status == 0; ++i) status = RunFile(argv[i]);
  return status;
}
