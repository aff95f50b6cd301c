// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the members of a line of `carom eval` say?
//
// Each function reads one member, or a value at a path. Errors are INVALID_ARGUMENT and name the
// member, or the element of it, that is at fault: `d[1]`, `shape.circle`.
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

namespace carom::cli {

// The member `name`: [x, y].
absl::StatusOr<Vec2> Point(const nlohmann::json& line, const char* name);

// The member `name`, which must be a string.
absl::StatusOr<std::string> Word(const nlohmann::json& line, const char* name);

// The number `name`, or `absent`.
absl::StatusOr<double> Number(const nlohmann::json& line, const char* name,
                              std::optional<double> absent);

// `value` as an array of accepted numbers, whose length one of `sizes` is.
absl::StatusOr<std::vector<double>> Numbers(const nlohmann::json& value, const std::string& name,
                                            std::initializer_list<size_t> sizes);

// A shape: {"circle":r}, {"capsule":[ax,ay,bx,by,r]}, or {"rings":…} with what a polygon has beside
// them. RESOURCE_EXHAUSTED above the limit of moving shapes.
absl::StatusOr<Shape> ReadAnyShape(const nlohmann::json& value, const std::string& path);

// An integer in [0, most].
absl::StatusOr<uint64_t> ReadInteger(const nlohmann::json& value, const std::string& path,
                                     uint64_t most);

// The member `name`, an integer in [1, most], or `absent`.
absl::StatusOr<uint32_t> ReadCount(const nlohmann::json& line, const char* name, uint32_t absent,
                                   uint32_t most);

}  // namespace carom::cli
