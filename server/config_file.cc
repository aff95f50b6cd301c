// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/config_file.h"

#include <toml++/toml.h>
#include <algorithm>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"
#include "server/settings.h"
#include "wire/pem_files.h"

namespace carom::server {
namespace {

constexpr size_t kColumns = 100;

// Returns the number of single-character edits that turn `a` into `b` (Levenshtein distance).
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> AllKeys() {
  std::vector<std::string> keys;
  for (const TextOption& text : TextOptions()) keys.push_back(KeyOf(text.flag));
  for (const FlagOption& flag : FlagOptions()) keys.push_back(KeyOf(flag.flag));
  for (const NumberOption& number : NumberOptions()) keys.push_back(KeyOf(number.flag));
  return keys;
}

std::string UnknownKey(absl::string_view key) {
  const std::vector<std::string> keys = AllKeys();
  const auto nearest =
      std::min_element(keys.begin(), keys.end(), [&](const std::string& a, const std::string& b) {
        return EditDistance(key, a) < EditDistance(key, b);
      });
  return absl::StrCat("is no setting; the most similar one is ", *nearest);
}

// Sets the member of `options` that `key` names. Returns an error message, or an empty string.
std::string Set(absl::string_view key, const toml::node& value, ServerOptions& options) {
  for (const TextOption& text : TextOptions()) {
    if (KeyOf(text.flag) != key) continue;
    const auto* const string = value.as_string();
    if (string == nullptr) return "must be a string";
    options.*text.member = string->get();
    return text.is_path() && string->get().empty() ? "" : text.check(string->get());
  }
  for (const FlagOption& flag : FlagOptions()) {
    if (KeyOf(flag.flag) != key) continue;
    if (!value.is_boolean()) return "must be true or false";
    options.*flag.member = value.as_boolean()->get();
    return "";
  }
  for (const NumberOption& number : NumberOptions()) {
    if (KeyOf(number.flag) != key) continue;
    const int64_t given = value.is_integer() ? value.as_integer()->get() : -1;
    if (given < 0 || static_cast<uint64_t>(given) < number.min ||
        static_cast<uint64_t>(given) > number.max) {
      return absl::StrCat("must be an integer in [", number.min, ", ", number.max, "]");
    }
    options.*number.member = static_cast<uint64_t>(given);
    return "";
  }
  return UnknownKey(key);
}

// Appends `text` as comment lines.
void AppendComment(absl::string_view text, std::string& out) {
  std::string line = "#";
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    if (line.size() + 1 + word.size() > kColumns) {
      absl::StrAppend(&out, line, "\n");
      line.resize(1);
    }
    absl::StrAppend(&line, " ", word);
  }
  absl::StrAppend(&out, line, "\n");
}

// Appends a setting: its help text, its flag and its value.
void AppendSetting(const char* flag, absl::string_view help, const toml::node& value,
                   std::string& out) {
  out += '\n';
  AppendComment(absl::StrCat(help, ". (", flag, ")"), out);
  std::ostringstream text;
  text << toml::default_formatter(value, toml::format_flags::none);
  absl::StrAppend(&out, KeyOf(flag), " = ", text.str(), "\n");
}

}  // namespace

absl::Status ReadConfigFile(const std::string& path, ServerOptions& options) {
  const absl::StatusOr<std::string> text = wire::ReadNamedFile({"--config", path});
  if (!text.ok()) return text.status();
  // toml++ reports errors by exceptions.
  toml::table table;
  try {
    table = toml::parse(*text, path);
  } catch (const toml::parse_error& error) {
    const std::string why(error.description());
    return InvalidField("--config", absl::StrCat(path, ":", error.source().begin.line, ": ", why));
  }
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    const std::string why = Set(name, value, options);
    if (why.empty()) continue;
    return InvalidField("--config",
                        absl::StrCat(path, ":", key.source().begin.line, ": ", name, " ", why));
  }
  return absl::OkStatus();
}

std::string FormatConfig(const ServerOptions& options) {
  std::string out =
      "# Settings of caromd. A flag on the command line and an environment variable override a\n"
      "# setting of this file. An empty path is a path that is not set.\n";
  for (const TextOption& text : TextOptions()) {
    AppendSetting(text.flag, text.help, toml::value<std::string>(options.*text.member), out);
  }
  for (const FlagOption& flag : FlagOptions()) {
    AppendSetting(flag.flag, flag.help, toml::value<bool>(options.*flag.member), out);
  }
  for (const NumberOption& number : NumberOptions()) {
    AppendSetting(number.flag,
                  absl::StrCat(number.help, ". In [", number.min, ", ", number.max, "]"),
                  toml::value<int64_t>(static_cast<int64_t>(options.*number.member)), out);
  }
  return out;
}

std::string FormatChanged(const ServerOptions& options) {
  const ServerOptions defaults = CaromdDefaults();
  std::vector<std::string> changed;
  for (const TextOption& text : TextOptions()) {
    if (options.*text.member == defaults.*text.member) continue;
    changed.push_back(absl::StrCat(KeyOf(text.flag), "=", options.*text.member));
  }
  for (const FlagOption& flag : FlagOptions()) {
    if (options.*flag.member) changed.push_back(absl::StrCat(KeyOf(flag.flag), "=true"));
  }
  for (const NumberOption& number : NumberOptions()) {
    if (options.*number.member == defaults.*number.member) continue;
    changed.push_back(absl::StrCat(KeyOf(number.flag), "=", options.*number.member));
  }
  return absl::StrJoin(changed, " ");
}

}  // namespace carom::server
