// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// JSON in and JSON numbers out, without exceptions and without loss.
//
// `ParseJson` reads one document, `AppendNumber` and `AppendString` write what `carom` prints.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace carom {

// Stands in a parsed document where the text has a number that no double holds, such as 1e999: such
// a text is JSON, but its number cannot be used. No reader of this program takes it for a value.
inline constexpr std::string_view kOverflow = "(a number above every double)";

// Documents nested deeper are parsed, but not read: see `IsTooDeep`.
inline constexpr size_t kMaxDepth = 256;

struct JsonDocument {
  nlohmann::json value;
  bool has_overflow = false;  // `kOverflow` stands in for a number of it
};

// The document, or nothing if `text` is not JSON. Of members of one name the last one counts.
std::optional<JsonDocument> ParseJson(std::string_view text);

// Whether arrays and objects are nested deeper than kMaxDepth in `text`, which is JSON. Printing
// such a document would need as much stack.
bool IsTooDeep(std::string_view text);

// The path of the first `kOverflow` in `value`, such as `q[3]`; nothing if there is none. Needs as
// much stack as `value` is deep.
std::optional<std::string> OverflowPath(const nlohmann::json& value);

// The shortest text that reads back as `value`, which is finite. Never "-0".
void AppendNumber(double value, std::string& out);
void AppendNumber(uint64_t value, std::string& out);

// `text` in quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendString(std::string_view text, std::string& out);

}  // namespace carom
