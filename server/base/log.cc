// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/log.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace carom::server {
namespace {

constexpr std::array<const char*, 4> kNames = {"error", "warning", "info", "debug"};
constexpr size_t kMaxTextBytes = 1024;  // a longer text of a field is cut to this length

std::atomic<LogLevel> g_level{LogLevel::kWarning};
std::atomic<bool> g_is_json{true};
std::array<std::atomic<uint64_t>, kNames.size()> g_lines{};

// Returns `text` as a JSON string, with U+FFFD in place of bytes that are not UTF-8.
std::string Quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::optional<LogLevel> ParseLogLevel(absl::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

void SetLogLevel(LogLevel level) { g_level = level; }
void SetLogFormat(bool is_json) { g_is_json = is_json; }
bool IsLogged(LogLevel level) { return level <= g_level.load(std::memory_order_relaxed); }
uint64_t LoggedLines(LogLevel level) { return g_lines[static_cast<size_t>(level)]; }

LogLine::LogLine(LogLevel level, const char* event)
    : level_(level), event_(event), is_logged_(IsLogged(level)) {}

LogLine& LogLine::With(const char* name, absl::string_view text) {
  if (is_logged_) fields_.push_back({name, std::string(text.substr(0, kMaxTextBytes)), false});
  return *this;
}

LogLine& LogLine::With(const char* name, uint64_t number) {
  if (is_logged_) fields_.push_back({name, absl::StrCat(number), true});
  return *this;
}

LogLine& LogLine::With(const char* name, double number) {
  if (is_logged_) fields_.push_back({name, absl::StrCat(number), true});
  return *this;
}

LogLine& LogLine::WithIfAny(const char* name, absl::string_view text) {
  return text.empty() ? *this : With(name, text);
}

LogLine::~LogLine() {
  if (!is_logged_) return;
  const auto index = static_cast<size_t>(level_);
  g_lines[index].fetch_add(1, std::memory_order_relaxed);
  const bool is_json = g_is_json;
  const std::string time =
      absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(), absl::UTCTimeZone());
  std::string line = is_json ? absl::StrCat(R"({"time":")", time, R"(","level":")", kNames[index],
                                            R"(","event":")", event_, "\"")
                             : absl::StrCat(time, " ", kNames[index], " ", event_);
  for (const Field& field : fields_) {
    const std::string value = field.is_number ? field.text : Quoted(field.text);
    if (is_json) {
      absl::StrAppend(&line, ",\"", field.name, "\":", value);
    } else {
      absl::StrAppend(&line, " ", field.name, "=", value);
    }
  }
  line += is_json ? "}\n" : "\n";
  // A single write keeps the lines of several threads apart.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

bool LogLimiter::Allow(uint64_t& suppressed) {
  const int64_t now = absl::GetCurrentTimeNanos();
  int64_t next = next_ns_.load(std::memory_order_relaxed);
  if (now < next || !next_ns_.compare_exchange_strong(next, now + 1000000000)) {
    suppressed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  suppressed = suppressed_.exchange(0);
  return true;
}

}  // namespace carom::server
