// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads JSON documents, and writes JSON numbers and strings, without exceptions and without loss of
// precision.
//
// `ParseJson` reads one document; `AppendNumber` and `AppendString` write the values that `carom`
// prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace carom {

// The string that replaces a number above the range of a double, such as 1e999, in a parsed
// document: a text with such a number is valid JSON, but the number cannot be used. Readers refuse
// the string where they expect a number.
inline constexpr std::string_view kOverflow = "(a number above every double)";

// The deepest nesting of arrays and objects that `IsTooDeep` accepts.
inline constexpr size_t kMaxDepth = 256;

// A parsed JSON document.
struct JsonDocument {
  nlohmann::json value;
  bool has_overflow = false;  // `value` contains `kOverflow` in place of a number
};

// Returns the document in `text`, or nullopt if `text` is not JSON. If an object has several
// members of one name, the last one is used.
std::optional<JsonDocument> ParseJson(std::string_view text);

// Returns whether arrays and objects are nested deeper than kMaxDepth in `text`, which must be
// JSON. Printing a document takes stack in proportion to its depth, so callers refuse such texts.
bool IsTooDeep(std::string_view text);

// Returns the path of the first `kOverflow` in `value`, such as `q[3]`, or nullopt if `value` does
// not contain it. Takes stack in proportion to the depth of `value`.
std::optional<std::string> OverflowPath(const nlohmann::json& value);

// Appends the shortest decimal text that is parsed to `value`, which must be finite. Appends 0 for
// -0.
void AppendNumber(double value, std::string& out);
void AppendNumber(uint64_t value, std::string& out);

// Appends `text` as a JSON string. Replaces bytes that are not UTF-8 by U+FFFD.
void AppendString(std::string_view text, std::string& out);

}  // namespace carom
