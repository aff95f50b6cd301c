// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What the conformance tests share: the folder of scenes and packs, and `carom eval` run both ways.
// Start with `EvalBothWays`. The environment names everything: CAROM_SHARED_DIR, CAROM_BINARY,
// CAROMD_BINARY.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace carom::testing {

inline std::string EnvironmentOr(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

inline std::string SharedDir() { return EnvironmentOr("CAROM_SHARED_DIR", ""); }

inline bool HasSharedData() {
  return !SharedDir().empty() && std::filesystem::is_directory(SharedDir() + "/data/scenes");
}

/// Returns whether a missing folder is an error rather than a reason to skip.
inline bool IsContinuousIntegration() { return EnvironmentOr("CI", "") == "true"; }

/// Runs `carom eval --local` and `carom eval --address …` against a fresh `caromd` on the same
/// input. Expects both to end with status 0, to print the same bytes, and `caromd` to end with
/// status 0 on SIGTERM. Returns the lines of the local run.
std::vector<std::string> EvalBothWays(const std::vector<std::string>& input,
                                      const std::string& root);

/// Writes `lines` to a file of the tests' temporary folder and returns its path.
std::string WriteLines(const std::string& name, const std::vector<std::string>& lines);

}  // namespace carom::testing

/// Names the shared data folder `data`; without it ends the test: skipped, or failed where CI=true.
#define CAROM_NEEDS_SHARED_DIR(data)                                                            \
  if (!::carom::testing::HasSharedData()) {                                                     \
    if (::carom::testing::IsContinuousIntegration()) FAIL() << "CAROM_SHARED_DIR has no data";  \
    GTEST_SKIP() << "set CAROM_SHARED_DIR to the folder that holds data/scenes and data/packs"; \
  }                                                                                             \
  const std::string data = ::carom::testing::SharedDir() + "/data"
