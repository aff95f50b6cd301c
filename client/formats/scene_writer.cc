// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/scene_writer.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "client/formats/json_text.h"

namespace carom {
namespace {

// Appends a point, with a comma before it unless it is the first one of its ring.
void AppendPoint(Vec2 v, std::string& out) {
  if (out.back() == ']') out += ',';
  out += '[';
  AppendNumber(v.x, out);
  out += ',';
  AppendNumber(v.y, out);
  out += ']';
}

// Appends a ring. A reader drops the last point of a closed ring if it equals the first point, as a
// closing duplicate. So if the last vertex of a closed ring equals the first vertex, this function
// writes the first vertex once more at the end.
void AppendRing(std::span<const Vec2> vertices, bool is_open, std::string& out) {
  out += '[';
  for (const Vec2 v : vertices) AppendPoint(v, out);
  const bool ends_as_it_begins = vertices.size() >= 2 && vertices.front() == vertices.back();
  if (!is_open && ends_as_it_begins) AppendPoint(vertices.front(), out);
  out += ']';
}

}  // namespace

void AppendPolygon(const Polygon& polygon, std::string& out) {
  out += "{\"id\":";
  AppendNumber(polygon.id(), out);
  // Members with their default values are not written.
  if (polygon.fill_rule() == FillRule::kNonZero) out += ",\"fill\":\"nonzero\"";
  if (polygon.solidity() == Solidity::kBoundary) out += ",\"solidity\":\"boundary\"";
  if (polygon.category() != 1) {
    out += ",\"category\":";
    AppendNumber(polygon.category(), out);
  }
  if (!polygon.user_data().empty()) {
    absl::StrAppend(&out, ",\"user_data\":\"", absl::Base64Escape(polygon.user_data()), "\"");
  }
  out += ",\"rings\":[";
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    if (i != 0) out += ',';
    if (polygon.is_open(i)) out += "{\"points\":";
    AppendRing(polygon.ring(i), polygon.is_open(i), out);
    if (polygon.is_open(i)) out += ",\"open\":true}";
  }
  out += "]}";
}

std::string WriteScene(std::span<const Polygon> polygons, const std::string& mapping,
                       const std::string& id) {
  std::string out = "{";
  if (!id.empty()) {
    out += "\"id\":";
    AppendString(id, out);
    out += ",\n";
  }
  if (!mapping.empty()) absl::StrAppend(&out, "\"mapping\":", mapping, ",\n");
  out += "\"polygons\":[";
  for (size_t i = 0; i < polygons.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    AppendPolygon(polygons[i], out);
  }
  return out + "\n]}\n";
}

}  // namespace carom
