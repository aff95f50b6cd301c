// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which settings does caromd have, and what may each be set to?
//
// The three tables are the only list of the settings: flags, environment variables, the
// configuration file (server/config_file.h), `/config` and a reload all follow the tables, and a
// test compares docs/operations.md with them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"
#include "server/options.h"

namespace carom::server {

inline constexpr char kOff[] =
    "off";  // the value of an address on which the server does not listen

// Whether SIGHUP changes the setting of a running server.
enum class Reloadable : uint8_t { kNo, kYes };

// A setting whose value is text: an address, a path or a word.
struct TextOption {
  const char* flag;         // "--state-dir"
  const char* environment;  // "CAROM_STATE_DIR"
  std::string ServerOptions::*member;
  // Returns an error message for an invalid value, else an empty string.
  std::string (*check)(const std::string& value);
  Reloadable reloadable;
  const char* help;

  // Returns whether the value is the path of a file or a folder. Only a path may be unset; an unset
  // path is an empty string.
  bool is_path() const;
};

// A setting that is on or off; off by default.
struct FlagOption {
  const char* flag;
  const char* environment;
  bool ServerOptions::*member;
  const char* help;
};

// A numeric setting, with values in [min, max].
struct NumberOption {
  const char* flag;         // "--max-scenes"
  const char* environment;  // "CAROM_MAX_SCENES"
  uint64_t ServerOptions::*member;
  uint64_t min;
  uint64_t max;
  Reloadable reloadable;
  const char* help;  // unit of the value, then the reason for the limit
};

std::span<const TextOption> TextOptions();
std::span<const FlagOption> FlagOptions();
std::span<const NumberOption> NumberOptions();

// Returns the key of a setting in the configuration file: `max_scenes` for `--max-scenes`.
std::string KeyOf(absl::string_view flag);

}  // namespace carom::server
