// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/line_members.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "carom/batch.h"
#include "carom/cast.h"
#include "carom/status.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {

using nlohmann::json;

// An error about a coordinate names the member and the index of the coordinate, such as `p[0]`.
absl::StatusOr<Vec2> Point(const json& line, const char* name) {
  const auto member = line.find(name);
  if (member == line.end()) return InvalidField(name, "required");
  if (!member->is_array() || member->size() != 2) return InvalidField(name, "must be [x, y]");
  Vec2 point;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<double> number = ReadNumber((*member)[i]);
    if (!number) return InvalidField(absl::StrCat(name, "[", i, "]"), kNumberRange);
    (i == 0 ? point.x : point.y) = *number;
  }
  return point;
}

// Accepts an empty string as the member.
absl::StatusOr<std::string> Word(const json& line, const char* name) {
  const auto member = line.find(name);
  if (member == line.end()) return InvalidField(name, "required");
  if (!member->is_string()) return InvalidField(name, "must be a string");
  return member->get<std::string>();
}

// Refuses a member that is null: only a missing member gets the value `absent`.
absl::StatusOr<double> Number(const json& line, const char* name, std::optional<double> absent) {
  const auto member = line.find(name);
  if (member == line.end() && absent) return *absent;
  if (member == line.end()) return InvalidField(name, "required");
  const std::optional<double> number = ReadNumber(*member);
  if (!number) return InvalidField(name, kNumberRange);
  return *number;
}

// An error about an element names the path of the array and the index, such as `at[2]`.
absl::StatusOr<std::vector<double>> Numbers(const json& value, const std::string& name,
                                            std::initializer_list<size_t> sizes) {
  const bool fits = value.is_array() && std::ranges::find(sizes, value.size()) != sizes.end();
  if (!fits) {
    return InvalidField(
        name, absl::StrCat("must be an array of ", absl::StrJoin(sizes, " or "), " numbers"));
  }
  std::vector<double> numbers;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::optional<double> number = ReadNumber(value[i]);
    if (!number) return InvalidField(absl::StrCat(name, "[", i, "]"), kNumberRange);
    numbers.push_back(*number);
  }
  return numbers;
}

// The first of the members "circle", "capsule" and "rings" that exists determines the kind of
// shape.
absl::StatusOr<Shape> ReadAnyShape(const json& value, const std::string& path) {
  if (!value.is_object()) return InvalidField(path, "must be an object");
  Capsule capsule;
  if (const auto circle = value.find("circle"); circle != value.end()) {
    const std::optional<double> radius = ReadNumber(*circle);
    if (!radius) return InvalidField(absl::StrCat(path, ".circle"), kNumberRange);
    capsule.radius = *radius;
  } else if (const auto five = value.find("capsule"); five != value.end()) {
    const auto numbers = Numbers(*five, absl::StrCat(path, ".capsule"), {5});
    if (!numbers.ok()) return numbers.status();
    const std::vector<double>& n = *numbers;
    capsule = {{{n[0], n[1]}, {n[2], n[3]}}, n[4]};
  } else {
    absl::StatusOr<Polygon> polygon = ReadShape(value);
    if (!polygon.ok()) return Prefixed(polygon.status(), path);
    return Shape(*std::move(polygon));
  }
  absl::StatusOr<Shape> shape = Shape::Create(capsule);
  if (!shape.ok()) return InvalidField(path, "must have a radius in [0, 2^53]");
  return shape;
}

// Does not convert the integer to double, which would map several integers above 2^53 to one value.
absl::StatusOr<uint64_t> ReadInteger(const json& value, const std::string& path, uint64_t most) {
  if (value.is_number_unsigned() && value.get<uint64_t>() <= most) return value.get<uint64_t>();
  return InvalidField(path, absl::StrCat("must be an integer in [0, ", most, "]"));
}

// Refuses the number 0, because in messages of the service 0 means an absent field.
absl::StatusOr<std::optional<SoftWalls>> ReadSoftWalls(const json& line) {
  const auto mask = line.find("soft_mask"), count = line.find("soft_count");
  if (mask == line.end() && count == line.end()) return std::optional<SoftWalls>();
  SoftWalls soft;
  if (mask != line.end()) {
    const auto read = ReadInteger(*mask, "soft_mask", kEveryCategory);
    if (!read.ok()) return read.status();
    soft.mask = *read;
  }
  if (count != line.end()) {
    const auto read = ReadInteger(*count, "soft_count", kMaxSoftCount);
    if (!read.ok()) return read.status();
    soft.count = static_cast<uint32_t>(*read);
  }
  return std::optional(soft);
}

absl::StatusOr<uint32_t> ReadCount(const json& line, const char* name, uint32_t absent,
                                   uint32_t most) {
  const auto member = line.find(name);
  if (member == line.end()) return absent;
  const bool fits = member->is_number_unsigned() && member->get<uint64_t>() >= 1 &&
                    member->get<uint64_t>() <= most;
  if (!fits) return InvalidField(name, absl::StrCat("must be an integer in [1, ", most, "]"));
  return member->get<uint32_t>();
}

}  // namespace carom::cli
