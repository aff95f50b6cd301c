// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the members of a JSON line of `carom eval`.
//
// Each function reads one member, or a value at a path. Errors are INVALID_ARGUMENT and name the
// faulty member or the faulty element of the member, such as `d[1]` or `shape.circle`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/shape.h"
#include "client/cli/eval/soft_walls.h"

namespace carom::cli {

// Returns the member `name`, which must be a point [x, y].
absl::StatusOr<Vec2> Point(const nlohmann::json& line, const char* name);

// Returns the member `name`, which must be a string.
absl::StatusOr<std::string> Word(const nlohmann::json& line, const char* name);

// Returns the member `name`, which must be a number. If the line does not have the member, returns
// `absent`, or an error if `absent` is nullopt.
absl::StatusOr<double> Number(const nlohmann::json& line, const char* name,
                              std::optional<double> absent);

// Returns the elements of `value`, which must be an array of numbers. Its length must be in
// `sizes`, and each number finite and at most 2^53 in magnitude. `name` is the path of `value` in
// errors.
absl::StatusOr<std::vector<double>> Numbers(const nlohmann::json& value, const std::string& name,
                                            std::initializer_list<size_t> sizes);

// Returns the shape that `value` describes: {"circle":r}, {"capsule":[ax,ay,bx,by,r]}, or
// {"rings":…} with the other members of a polygon. Returns RESOURCE_EXHAUSTED for more vertices
// than a moving shape may have.
absl::StatusOr<Shape> ReadAnyShape(const nlohmann::json& value, const std::string& path);

// Returns the members "soft_mask" and "soft_count", each 0 if absent; nullopt if both are absent.
absl::StatusOr<std::optional<SoftWalls>> ReadSoftWalls(const nlohmann::json& line);

// Returns `value`, which must be an integer in [0, most].
absl::StatusOr<uint64_t> ReadInteger(const nlohmann::json& value, const std::string& path,
                                     uint64_t most);

// Returns the member `name`, which must be an integer in [1, most]. Returns `absent` if the line
// does not have the member.
absl::StatusOr<uint32_t> ReadCount(const nlohmann::json& line, const char* name, uint32_t absent,
                                   uint32_t most);

}  // namespace carom::cli
