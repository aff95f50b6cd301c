// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/changes.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "client/cli/scene/line.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

using ById = std::map<uint64_t, const Polygon*>;

ById ByIds(std::span<const Polygon> polygons) {
  ById result;
  for (const Polygon& polygon : polygons) result.emplace(polygon.id(), &polygon);
  return result;
}

std::string ChangeLine(const char* change, const Polygon& polygon) {
  std::string line = absl::StrCat("{\"id\":", polygon.id(), ",\"change\":\"", change,
                                  "\",\"vertices\":", polygon.vertex_count(), ",\"bounds\":");
  AppendBox(polygon.bounds(), line);
  return line + "}";
}

bool AreEqual(const Polygon& a, const Polygon& b) {
  std::string as_json, other;
  AppendPolygon(a, as_json);
  AppendPolygon(b, other);
  return as_json == other;
}

}  // namespace

std::vector<std::string> DiffLines(std::span<const Polygon> before,
                                   std::span<const Polygon> after) {
  const ById old = ByIds(before), changed = ByIds(after);
  std::vector<std::string> lines;
  for (const auto& [id, polygon] : old) {
    const auto found = changed.find(id);
    if (found == changed.end()) {
      lines.push_back(ChangeLine("removed", *polygon));
    } else if (!AreEqual(*polygon, *found->second)) {
      lines.push_back(ChangeLine("replaced", *found->second));
    }
  }
  for (const auto& [id, polygon] : changed) {
    if (!old.contains(id)) lines.push_back(ChangeLine("added", *polygon));
  }
  return lines;
}

std::vector<SceneEdit> EditsOf(std::span<const Polygon> scene, std::span<const Polygon> polygons,
                               std::span<const uint64_t> removed) {
  const ById existing = ByIds(scene);
  std::vector<SceneEdit> edits;
  for (const Polygon& polygon : polygons) {
    if (existing.contains(polygon.id())) {
      edits.emplace_back(ReplacePolygon{polygon});
    } else {
      edits.emplace_back(AddPolygon{polygon});
    }
  }
  for (const uint64_t id : removed) edits.emplace_back(RemovePolygon{id});
  return edits;
}

}  // namespace carom::cli
