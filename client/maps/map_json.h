// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do the readers of JSON maps read a document and its members?
//
// `StreamMapJson` parses a file, hands over the elements of its long arrays one by one, and returns
// the rest; the other functions read members and name their paths in errors. A member that is
// `null` counts as absent. The readers are in foundry.h, uvtt.h, rube.h and carom_map.h. For a
// document that is needed as a whole, packed_json.h takes less memory.
//
//   JsonStream walls;
//   walls.arrays = {"walls"};
//   walls.element = [](auto array, size_t index, const nlohmann::json& wall) { ... };
//   const absl::StatusOr<nlohmann::json> rest = StreamMapJson(bytes, walls);
//
// Numbers are accepted coordinates (`IsAccepted` of carom/geometry.h). Errors are INVALID_ARGUMENT.
// Thread-safe. Cost: linear in the text;
// O(log n) for a member of n. Memory: the greatest element.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/map_import.h"

namespace carom {

// Which members at the top of a document are read, and how.
struct JsonStream {
  std::vector<std::string_view> arrays;   // whose elements are handed over
  std::vector<std::string_view> members;  // that are kept whole
  // Receives an element, and the name of its array; an error ends the parse.
  std::function<absl::Status(std::string_view array, size_t index, const nlohmann::json& element)>
      element;
  const ReadProgress* progress = nullptr;  // of the parse; may be null
};

// Returns the document with the kept members, and with empty arrays in place of those that were
// handed over; all else takes no memory. A number above every double is an error, as is nesting
// deeper than `kMaxDepth` (json_text.h). Errors of syntax have the line; errors of `element` are
// returned as they are.
absl::StatusOr<nlohmann::json> StreamMapJson(std::string_view bytes, const JsonStream& stream);

// Returns the error of a JSON text: the parser met `token` and stopped at the byte `offset`.
absl::Status JsonSyntaxError(std::string_view bytes, size_t offset, std::string_view token);

// Returns the member, or null if `object` is no object, or the member is absent or `null`.
const nlohmann::json* Member(const nlohmann::json& object, std::string_view name);

// Returns `value` as a coordinate. Error: it is none.
absl::StatusOr<double> NumberOf(const nlohmann::json& value, std::string_view path);

// Returns a member as a coordinate, or `absent` if there is none.
absl::StatusOr<double> NumberMember(const nlohmann::json& object, std::string_view name,
                                    double absent, std::string_view path);

// Returns a member that is an integer from `least` to `greatest`, or `absent` if there is none.
struct IntegerRange {
  int64_t least = 0;
  int64_t greatest = 0;
};
absl::StatusOr<int64_t> IntegerMember(const nlohmann::json& object, std::string_view name,
                                      int64_t absent, IntegerRange range, std::string_view path);

// Returns the point {"x": 1, "y": 2}.
absl::StatusOr<Vec2> PointOf(const nlohmann::json& value, std::string_view path);

// Returns a member that is an array, or null if there is none. Error: it is something else.
absl::StatusOr<const nlohmann::json*> ArrayMember(const nlohmann::json& object,
                                                  std::string_view name, std::string_view path);

// Returns a member that is a string, or "" if there is none.
std::string TextMember(const nlohmann::json& object, std::string_view name);

// Returns whether a member is true.
bool IsTrue(const nlohmann::json& object, std::string_view name);

// Appends a value to an array, or sets the member `key` of an object; returns where the value is.
nlohmann::json& AddValue(nlohmann::json& parent, const std::string& key, nlohmann::json value);

// Returns an id: an unsigned number, or a string of decimal digits; else nullopt.
std::optional<uint64_t> IdOf(const nlohmann::json& value);

}  // namespace carom
