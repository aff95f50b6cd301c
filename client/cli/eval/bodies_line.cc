// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/bodies_line.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "carom/status.h"
#include "client/cli/eval/line_members.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

using nlohmann::json;

// The largest number of vertices of all shapes of a line {"op":"bodies",…}, including shapes that
// no body uses. With this limit, the bodies that a group (the queries about one scene) sends take
// about 1.2 MiB, 16 bytes per vertex and 50 per body, so that two such groups fit in one message.
constexpr size_t kMaxTableVertices = 16 * kMaxMovingVertices;
constexpr uint32_t kMaxOwner = std::numeric_limits<uint32_t>::max();

// Returns RESOURCE_EXHAUSTED for a line whose member `field` is over a limit.
absl::Status TooManyOf(const char* field, const char* what) {
  return Refused(absl::StatusCode::kResourceExhausted, field, what);
}

// Reads the member "shapes" into `out`.
absl::Status ReadTable(const json& line, BodyTable& out) {
  const auto shapes = line.find("shapes");
  if (shapes == line.end()) return InvalidField("shapes", "required");
  if (!shapes->is_array()) return InvalidField("shapes", "must be an array of shapes");
  size_t vertices = 0;
  for (size_t i = 0; i < shapes->size(); ++i) {
    absl::StatusOr<Shape> shape = ReadAnyShape((*shapes)[i], absl::StrCat("shapes[", i, "]"));
    if (!shape.ok()) return shape.status();
    vertices += shape->vertex_count();
    if (vertices > kMaxTableVertices) {
      return TooManyOf("shapes", "must have at most 65536 vertices in total");
    }
    out.shapes.push_back(*std::move(shape));
  }
  return absl::OkStatus();
}

// Reads one body from `row`, an array of 3, 5, 6 or 7 elements, and appends the body to `out`.
// Reads integers without a conversion to double, which would lose bits of a category.
absl::Status ReadBody(const json& row, const std::string& path, BodyTable& out) {
  const size_t size = row.is_array() ? row.size() : 0;
  if (size != 3 && (size < 5 || size > 7)) {
    return InvalidField(path,
                        "must be [shape, x, y, c, s, owner, category]; all from c on are optional");
  }
  const auto at = [&](size_t k) { return absl::StrCat(path, "[", k, "]"); };
  const auto last = out.shapes.empty() ? 0 : out.shapes.size() - 1;
  const auto shape = ReadInteger(row[0], at(0), last);
  if (!shape.ok()) return shape.status();
  if (out.shapes.empty()) return InvalidField(at(0), "must be the index of a shape");
  double pose[] = {0, 0, 1, 0};
  for (size_t k = 1; k < std::min<size_t>(size, 5); ++k) {
    const std::optional<double> number = ReadNumber(row[k]);
    if (!number) return InvalidField(at(k), kNumberRange);
    pose[k - 1] = *number;
  }
  const auto owner = size > 5 ? ReadInteger(row[5], at(5), kMaxOwner) : uint64_t{0};
  if (!owner.ok()) return owner.status();
  const auto category = size > 6 ? ReadInteger(row[6], at(6), kEveryCategory) : uint64_t{1};
  if (!category.ok()) return category.status();
  out.shape.push_back(static_cast<uint32_t>(*shape));
  out.x.push_back(pose[0]);
  out.y.push_back(pose[1]);
  out.c.push_back(pose[2]);
  out.s.push_back(pose[3]);
  out.owner.push_back(static_cast<uint32_t>(*owner));
  out.category.push_back(*category);
  return absl::OkStatus();
}

// Translates the library's error about a column of bodies to a field path within the JSON line:
// `bodies.placed.c[2]` becomes `at[2][3]`, because c is element 3 (counted from 0) of a body in
// "at".
absl::Status BodyRowError(const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  if (violations.empty()) return status;
  absl::string_view field = violations.front().field;
  if (!absl::ConsumePrefix(&field, "bodies.placed.")) {
    return Refused(status.code(), "at", violations.front().description);
  }
  constexpr std::pair<absl::string_view, int> kColumns[] = {
      {"shape", 0}, {"x", 1}, {"y", 2}, {"c", 3}, {"s", 4}};
  for (const auto& [column, place] : kColumns) {
    absl::string_view index = field;
    if (!absl::ConsumePrefix(&index, absl::StrCat(column, "["))) continue;
    return Refused(status.code(), absl::StrCat("at[", index, "[", place, "]"),
                   violations.front().description);
  }
  return Refused(status.code(), "at", violations.front().description);
}

}  // namespace

BodyColumns BodyTable::columns() const {
  return {.placed = {.shapes = shapes, .shape = shape, .x = x, .y = y, .c = c, .s = s},
          .category = category,
          .owner = owner};
}

BodyDefinition BodyTable::definition() const {
  return {.shapes = shapes,
          .shape = shape,
          .category = category,
          .owner = owner,
          .keep_ticks = kMaxKeepTicks};
}

PoseColumns PoseTable::columns() const { return {.tick = tick, .x = x, .y = y, .c = c, .s = s}; }

// Counts the vertices of the shapes, and four vertices for each body (placed shape): the pose,
// owner and category of a body take at most the bytes of four encoded vertices.
size_t BodyTable::cost() const {
  size_t vertices = 4 * x.size();
  for (const Shape& each : shapes) vertices += each.vertex_count();
  return vertices;
}

// `ignore_owner` names the owner of bodies (placed shapes) to ignore, so it has no effect if the
// query considers no bodies.
void ScopeColumns::Add(const ItemScope& scope) {
  masks_.push_back(scope.mask);
  owners_.push_back(scope.ignore_owner);
  has_masks_ |= scope.mask != kEveryCategory;
  has_owners_ |= scope.ignore_owner != 0 && scope.includes_bodies();
  moments_.push_back(scope.as_of.value_or(0));
  has_moments_ |= scope.as_of.has_value();
}

// Omits a column if all queries have its default value, so that queries without members such as
// "mask" or "ignore_owner" do not make the message larger.
Scope ScopeColumns::columns(Against against) const {
  Scope scope{.against = against};
  if (has_masks_) scope.mask = masks_;
  if (has_owners_) scope.ignore_owner = owners_;
  if (has_moments_) scope.as_of = moments_;
  return scope;
}

// Creates `Bodies` from the columns that it has read, but only to check them: an evaluator then
// cannot refuse the bodies later.
absl::StatusOr<BodyTable> ReadBodies(const json& line) {
  BodyTable bodies;
  absl::Status status = ReadTable(line, bodies);
  if (!status.ok()) return status;
  const auto rows = line.find("at");
  if (rows == line.end()) return InvalidField("at", "required");
  if (!rows->is_array()) return InvalidField("at", "must be an array of bodies");
  if (rows->size() > kMaxBodies) return TooManyOf("at", "must be at most 4096 bodies");
  for (size_t i = 0; i < rows->size(); ++i) {
    status = ReadBody((*rows)[i], absl::StrCat("at[", i, "]"), bodies);
    if (!status.ok()) return status;
  }
  status = Bodies::Create(bodies.columns()).status();
  if (!status.ok()) return BodyRowError(status);
  return bodies;
}

absl::StatusOr<PoseTable> ReadPoses(const json& line) {
  PoseTable poses;
  const auto tick = line.find("tick");
  if (tick == line.end()) return InvalidField("tick", "required");
  const absl::StatusOr<uint64_t> number = ReadInteger(*tick, "tick", kMaxTick);
  if (!number.ok()) return number.status();
  poses.tick = *number;
  const auto rows = line.find("at");
  if (rows == line.end()) return InvalidField("at", "required");
  if (!rows->is_array()) return InvalidField("at", "must be an array of poses");
  if (rows->size() > kMaxBodies) return TooManyOf("at", "must be at most 4096 poses");
  for (size_t i = 0; i < rows->size(); ++i) {
    const auto row = Numbers((*rows)[i], absl::StrCat("at[", i, "]"), {2, 4});
    if (!row.ok()) return row.status();
    poses.x.push_back((*row)[0]);
    poses.y.push_back((*row)[1]);
    poses.c.push_back(row->size() == 4 ? (*row)[2] : 1);
    poses.s.push_back(row->size() == 4 ? (*row)[3] : 0);
  }
  return poses;
}

// A column of poses becomes an element of a row of "at": `c[2]` becomes `at[2][2]`.
absl::Status PoseRowError(const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  if (violations.empty()) return status;
  const Violation& first = violations.front();
  if (first.field == "tick") return Refused(status.code(), "tick", first.description);
  constexpr std::pair<absl::string_view, int> kColumns[] = {{"x", 0}, {"y", 1}, {"c", 2}, {"s", 3}};
  for (const auto& [column, place] : kColumns) {
    absl::string_view index = first.field;
    if (!absl::ConsumePrefix(&index, absl::StrCat(column, "["))) continue;
    return Refused(status.code(), absl::StrCat("at[", index, "[", place, "]"), first.description);
  }
  return Refused(status.code(), "at", first.description);
}

// Reads each member independently: for example, "mask" does not require "against".
absl::StatusOr<ItemScope> ReadScope(const json& line) {
  ItemScope scope;
  if (const auto against = line.find("against"); against != line.end()) {
    if (*against == "bodies") {
      scope.against = Against::kBodies;
    } else if (*against == "both") {
      scope.against = Against::kBoth;
    } else if (*against != "scene") {
      return InvalidField("against", "must be \"scene\", \"bodies\" or \"both\"");
    }
  }
  if (const auto owner = line.find("ignore_owner"); owner != line.end()) {
    const absl::StatusOr<uint64_t> ignored = ReadInteger(*owner, "ignore_owner", kMaxOwner);
    if (!ignored.ok()) return ignored.status();
    scope.ignore_owner = static_cast<uint32_t>(*ignored);
  }
  if (line.contains("as_of")) {
    const absl::StatusOr<double> as_of = Number(line, "as_of", std::nullopt);
    if (!as_of.ok()) return as_of.status();
    scope.as_of = *as_of;
  }
  if (const auto mask = line.find("mask"); mask != line.end()) {
    const absl::StatusOr<uint64_t> categories = ReadInteger(*mask, "mask", kEveryCategory);
    if (!categories.ok()) return categories.status();
    scope.mask = *categories;
  }
  return scope;
}

}  // namespace carom::cli
