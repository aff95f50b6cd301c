// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does caromd write to standard error?
//
// One line for each event: a JSON object, or text with `--log-format text`. Each line has the time,
// the level, the name of the event and the fields of the event.
//
//   LogLine(LogLevel::kInfo, "scene_created").With("scene", name).With("tenant", tenant);
//
// A line is formatted only if its level is logged. An event that a client can cause often is
// limited by a `LogLimiter`. The settings are those of the process, as standard error is.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace carom::server {

enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

// Returns the level named `error`, `warning`, `info` or `debug`, or nullopt.
std::optional<LogLevel> ParseLogLevel(absl::string_view name);

// Sets which lines are written, and how. Thread-safe.
void SetLogLevel(LogLevel level);
void SetLogFormat(bool is_json);
// Returns whether lines of `level` are written. A server that has not set a level, such as one
// within another program, writes warnings and errors only.
bool IsLogged(LogLevel level);
// Returns the number of lines of `level` written so far.
uint64_t LoggedLines(LogLevel level);

// One line of the log about an event, with fields; the destructor writes the line to standard
// error. Not thread-safe; lines of several threads do not mix.
class LogLine {
 public:
  // `event` is the name of the event, in snake case.
  LogLine(LogLevel level, const char* event);
  ~LogLine();
  LogLine(const LogLine&) = delete;
  LogLine& operator=(const LogLine&) = delete;

  // Adds a field. Bytes of a text that are not UTF-8 are replaced.
  LogLine& With(const char* name, absl::string_view text);
  LogLine& With(const char* name, uint64_t number);
  LogLine& With(const char* name, double number);
  // Adds a field if `text` is not empty.
  LogLine& WithIfAny(const char* name, absl::string_view text);

 private:
  struct Field {
    const char* name;
    std::string text;
    bool is_number;
  };

  const LogLevel level_;
  const char* const event_;
  const bool is_logged_;
  std::vector<Field> fields_;
};

// Lets the first event pass, and then at most one a second. Thread-safe.
class LogLimiter {
 public:
  // Returns whether the event may be logged; `suppressed` is then the number of events that were
  // not logged since the last one that was.
  bool Allow(uint64_t& suppressed);

 private:
  std::atomic<int64_t> next_ns_{0};  // time from which on the next event may be logged
  std::atomic<uint64_t> suppressed_{0};
};

}  // namespace carom::server
