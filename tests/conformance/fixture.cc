// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/fixture.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <sstream>

#include "tests/support/process.h"

namespace carom::testing {
namespace {

constexpr double kEvalSeconds = 200.0;

std::vector<std::string> Split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> Eval(const std::vector<std::string>& where, const std::string& text,
                              const std::string& root) {
  std::vector<std::string> command = {EnvironmentOr("CAROM_BINARY", "carom"), "eval", "--root",
                                      root};
  command.insert(command.end(), where.begin(), where.end());
  const ProcessResult result = RunProcess(command, text, kEvalSeconds);
  EXPECT_EQ(result.exit_code, 0) << where[0] << (result.timed_out ? " took too long\n" : "\n")
                                 << result.standard_error.substr(0, 2000);
  return Split(result.standard_output);
}

}  // namespace

std::vector<std::string> EvalBothWays(const std::vector<std::string>& input,
                                      const std::string& root) {
  std::string text;
  for (const std::string& line : input) text += line + "\n";
  const std::vector<std::string> local = Eval({"--local"}, text, root);
  const std::unique_ptr<ServerProcess> server =
      ServerProcess::Start(EnvironmentOr("CAROMD_BINARY", "caromd"));
  EXPECT_NE(server, nullptr) << "caromd does not start";
  if (server == nullptr) return local;
  const std::vector<std::string> remote = Eval({"--address", server->address()}, text, root);
  EXPECT_EQ(server->Stop(), 0) << "caromd does not end cleanly on SIGTERM";
  EXPECT_EQ(local.size(), remote.size());
  const auto [here, there] =
      std::mismatch(local.begin(), local.end(), remote.begin(), remote.end());
  if (here != local.end() && there != remote.end()) {
    ADD_FAILURE() << "output line " << here - local.begin() + 1 << " differs\n  local  " << *here
                  << "\n  remote " << *there;
  }
  return local;
}

std::string WriteLines(const std::string& name, const std::vector<std::string>& lines) {
  const std::string path = ::testing::TempDir() + name;
  std::ofstream file(path, std::ios::binary);
  for (const std::string& line : lines) file << line << "\n";
  return path;
}

}  // namespace carom::testing
