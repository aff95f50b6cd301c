// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"

namespace carom {
namespace {

using nlohmann::json;

// Returns the index after the closing quote of the string whose opening quote is at `begin`.
size_t StringEnd(std::string_view text, size_t begin) {
  size_t i = begin + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

bool IsNumberStart(char c) { return c == '-' || (c >= '0' && c <= '9'); }

// Returns whether `c` may occur in a number; `IsJsonNumber` checks the grammar.
bool IsNumberPart(char c) {
  return IsNumberStart(c) || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Returns whether `token` is a number by JSON's grammar, of any magnitude.
bool IsJsonNumber(std::string_view token) {
  size_t i = 0;
  const auto at = [&](char c) { return i < token.size() && token[i] == c; };
  const auto digits = [&] {
    const size_t begin = i;
    while (i < token.size() && token[i] >= '0' && token[i] <= '9') ++i;
    return i - begin;
  };
  // number = [minus] integer [fraction] [exponent]; the integer is 0 or begins with another digit.
  if (at('-')) ++i;
  const bool has_leading_zero = at('0');
  const size_t integers = digits();
  if (integers == 0 || (has_leading_zero && integers > 1)) return false;
  if (at('.') && (++i, digits()) == 0) return false;
  if (at('e') || at('E')) {
    ++i;
    if (at('+') || at('-')) ++i;
    if (digits() == 0) return false;
  }
  return i == token.size();
}

// Returns `text` with `kOverflow` in place of each number outside of strings that overflows a
// double, or nullopt if no number does.
std::optional<std::string> WithoutOverflows(std::string_view text) {
  std::string repaired;
  size_t copied = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      i = StringEnd(text, i);
    } else if (IsNumberStart(text[i])) {
      size_t end = i;
      while (end < text.size() && IsNumberPart(text[end])) ++end;
      const std::string token(text.substr(i, end - i));
      if (IsJsonNumber(token) && std::isinf(std::strtod(token.c_str(), nullptr))) {
        repaired.append(text.substr(copied, i - copied));
        AppendString(kOverflow, repaired);
        copied = end;
      }
      i = end;
    } else {
      ++i;
    }
  }
  if (copied == 0) return std::nullopt;
  repaired.append(text.substr(copied));
  return repaired;
}

// Joins two paths in a JSON document: `a` and `b` make `a.b`, `a` and `[0]` make `a[0]`.
std::string Joined(const std::string& path, const std::string& rest) {
  return rest.empty() || rest.front() == '[' ? path + rest : path + "." + rest;
}

// Returns the document, or nullopt if the parser rejects `text`.
std::optional<json> Parse(std::string_view text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<JsonDocument> ParseJson(std::string_view text) {
  if (std::optional<json> value = Parse(text)) return JsonDocument{std::move(*value), false};
  // The parser rejects a number above the range of a double as a syntax error, although the text is
  // valid JSON. If `text` has such numbers, `repaired` is the text with `kOverflow` in place of
  // each of them, which is parsed instead.
  const std::optional<std::string> repaired = WithoutOverflows(text);
  if (!repaired) return std::nullopt;
  std::optional<json> value = Parse(*repaired);
  if (!value) return std::nullopt;
  return JsonDocument{std::move(*value), true};
}

// Counts the open brackets outside of strings. Does not recurse, because the depth of `text` is
// only bounded by its length.
bool IsTooDeep(std::string_view text) {
  size_t depth = 0;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = StringEnd(text, i);
      continue;
    }
    if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    ++i;
  }
  return false;
}

std::optional<std::string> OverflowPath(const json& value) {
  if (value.is_string() && value.get_ref<const std::string&>() == kOverflow) return "";
  if (value.is_array()) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (const auto path = OverflowPath(value[i])) {
        return Joined(absl::StrCat("[", i, "]"), *path);
      }
    }
  } else if (value.is_object()) {
    for (const auto& [key, member] : value.items()) {
      if (const auto path = OverflowPath(member)) return Joined(key, *path);
    }
  }
  return std::nullopt;
}

// std::to_chars writes the shortest text that is parsed to the same double, which has at most 24
// characters.
void AppendNumber(double value, std::string& out) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value == 0 ? 0.0 : value).ptr;
  out.append(buffer, end);
}

void AppendNumber(uint64_t value, std::string& out) { out += std::to_string(value); }

void AppendString(std::string_view text, std::string& out) {
  out += json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace carom
