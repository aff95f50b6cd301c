// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What the conformance tests find around them: the folder of shared data and the two programs under test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace carom::testing {

inline std::string EnvironmentOr(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// Returns $CAROM_SHARED_DIR, or the folder the build was configured with.
inline std::string SharedDir() {
#ifdef CAROM_SHARED_DIR
  return EnvironmentOr("CAROM_SHARED_DIR", CAROM_SHARED_DIR);
#else
  return EnvironmentOr("CAROM_SHARED_DIR", "");
#endif
}

/// Returns the programs: the environment goes before the build's own.
inline std::string CaromBinary() {
#ifdef CAROM_BINARY
  return EnvironmentOr("CAROM_BINARY", CAROM_BINARY);
#else
  return EnvironmentOr("CAROM_BINARY", "carom");
#endif
}

inline std::string CaromdBinary() {
#ifdef CAROMD_BINARY
  return EnvironmentOr("CAROMD_BINARY", CAROMD_BINARY);
#else
  return EnvironmentOr("CAROMD_BINARY", "caromd");
#endif
}

inline bool HasSharedData() {
  return !SharedDir().empty() && std::filesystem::is_directory(SharedDir() + "/data/scenes");
}

/// Returns whether a missing folder is an error rather than a reason to skip.
inline bool IsContinuousIntegration() { return EnvironmentOr("CI", "") == "true"; }

}  // namespace carom::testing

/// Names the shared data folder `data`; without it ends the test: skipped, or failed where CI=true.
#define CAROM_NEEDS_SHARED_DIR(data)                                                                    \
  if (!::carom::testing::HasSharedData()) {                                                             \
    if (::carom::testing::IsContinuousIntegration()) FAIL() << "CAROM_SHARED_DIR has no data/scenes";   \
    GTEST_SKIP() << "set CAROM_SHARED_DIR to the folder that holds data/scenes and data/packs";         \
  }                                                                                                     \
  const std::string data = ::carom::testing::SharedDir() + "/data"
