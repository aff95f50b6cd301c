// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/geojson_writer.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/geometry.h"
#include "carom/predicates.h"
#include "client/formats/json_text.h"

namespace carom {
namespace {

using Vertices = std::span<const Vec2>;

void AppendPosition(Vec2 p, std::string& out) {
  if (out.back() == ']') out += ',';
  out += '[';
  AppendNumber(p.x, out);
  out += ',';
  AppendNumber(p.y, out);
  out += ']';
}

// Appends the positions of a ring; those of a closed one end with the first position.
void AppendPositions(Vertices vertices, bool is_open, std::string& out) {
  if (out.back() == ']') out += ',';
  out += '[';
  for (const Vec2 p : vertices) AppendPosition(p, out);
  if (!is_open) AppendPosition(vertices.front(), out);
  out += ']';
}

// Where a point is, seen from a closed ring.
enum class Where : uint8_t { kOutside, kOn, kInside };

// Counts the edges that cross the ray from `p` to the right; signs of areas are exact.
Where WhereIs(Vec2 p, Vertices ring) {
  bool is_inside = false;
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 a = ring[i], b = ring[(i + 1) % ring.size()];
    const int side = Orientation(a, b, p);
    const bool spans = std::min(a.y, b.y) <= p.y && p.y <= std::max(a.y, b.y) &&
                       std::min(a.x, b.x) <= p.x && p.x <= std::max(a.x, b.x);
    if (side == 0 && spans) return Where::kOn;
    if ((a.y <= p.y) != (b.y <= p.y) && (side > 0) == (b.y > a.y)) is_inside = !is_inside;
  }
  return is_inside ? Where::kInside : Where::kOutside;
}

// Returns whether `outer` contains `inner`, by the first vertex of `inner` that is not on `outer`.
// Rings that cross each other, which no GeoJSON has, get some answer.
bool Contains(Vertices outer, const Box& box, Vertices inner) {
  for (const Vec2 p : inner) {
    if (!box.Contains(p)) return false;
    const Where where = WhereIs(p, outer);
    if (where != Where::kOn) return where == Where::kInside;
  }
  return false;
}

// The rings of a polygon with their boxes.
struct Nesting {
  explicit Nesting(const Polygon& nested) : polygon(nested), boxes(nested.ring_count()) {
    for (size_t i = 0; i < boxes.size(); ++i) {
      for (const Vec2 p : polygon.ring(i)) boxes[i].Extend(p);
    }
  }
  // Returns whether ring `k` contains ring `i`.
  bool Holds(size_t k, size_t i) const {
    return k != i && Contains(polygon.ring(k), boxes[k], polygon.ring(i));
  }

  const Polygon& polygon;
  std::vector<Box> boxes;
};

// Returns the rings of each part of a solid polygon: an outer ring and its holes. A ring is an
// outer one if an even number of rings contain it; a hole belongs to the innermost of those.
std::vector<std::vector<size_t>> PartsOf(const Polygon& polygon) {
  const Nesting rings(polygon);
  const size_t count = polygon.ring_count();
  std::vector<size_t> depth(count, 0), part_of(count, 0);
  std::vector<std::vector<size_t>> parts;
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < count; ++k) depth[i] += rings.Holds(k, i) ? 1 : 0;
    if (depth[i] % 2 != 0) continue;
    part_of[i] = parts.size();
    parts.push_back({i});
  }
  for (size_t i = 0; i < count; ++i) {
    if (depth[i] % 2 == 0) continue;
    size_t outer = 0;
    while (outer < count && !(depth[outer] + 1 == depth[i] && rings.Holds(outer, i))) ++outer;
    // Rings that cross may leave a hole without an outer ring.
    if (outer < count) parts[part_of[outer]].push_back(i);
    if (outer == count) parts.push_back({i});
  }
  return parts;
}

// Appends the geometry of a solid polygon.
void AppendAreas(const Polygon& polygon, std::string& out) {
  const std::vector<std::vector<size_t>> parts = PartsOf(polygon);
  const bool is_multi = parts.size() > 1;
  absl::StrAppend(&out, "{\"type\":\"", is_multi ? "Multi" : "",
                  "Polygon\",\"coordinates\":", is_multi ? "[" : "");
  for (const std::vector<size_t>& part : parts) {
    if (out.back() == ']') out += ',';
    out += '[';
    for (const size_t ring : part) AppendPositions(polygon.ring(ring), false, out);
    out += ']';
  }
  out += is_multi ? "]}" : "}";
}

// Appends the geometry of a hollow polygon.
void AppendLines(const Polygon& polygon, std::string& out) {
  const bool is_multi = polygon.ring_count() > 1;
  absl::StrAppend(&out, "{\"type\":\"", is_multi ? "Multi" : "",
                  "LineString\",\"coordinates\":", is_multi ? "[" : "");
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    AppendPositions(polygon.ring(i), polygon.is_open(i), out);
  }
  out += is_multi ? "]}" : "}";
}

// Appends what GeoJSON has no word for.
void AppendCarom(const Polygon& polygon, std::string& out) {
  out += "{\"category\":";
  AppendNumber(polygon.category(), out);
  if (polygon.fill_rule() == FillRule::kNonZero) out += ",\"fill\":\"nonzero\"";
  if (polygon.solidity() == Solidity::kBoundary) {
    out += ",\"closed\":[";
    for (size_t i = 0; i < polygon.ring_count(); ++i) {
      if (polygon.is_open(i)) continue;
      if (out.back() != '[') out += ',';
      absl::StrAppend(&out, i);
    }
    out += ']';
  }
  out += '}';
}

}  // namespace

std::string WriteGeoJson(std::span<const Polygon> polygons, const std::string& mapping) {
  std::string out = "{\"type\":\"FeatureCollection\",";
  if (!mapping.empty()) absl::StrAppend(&out, "\"carom\":{\"mapping\":", mapping, "},\n");
  out += "\"features\":[";
  for (size_t i = 0; i < polygons.size(); ++i) {
    const Polygon& polygon = polygons[i];
    out += i == 0 ? "\n" : ",\n";
    out += "{\"type\":\"Feature\",\"id\":";
    AppendNumber(polygon.id(), out);
    out += ",\"properties\":{\"category\":";
    AppendNumber(polygon.category(), out);
    out += "},\"carom\":";
    AppendCarom(polygon, out);
    out += ",\"geometry\":";
    if (polygon.solidity() == Solidity::kSolid) {
      AppendAreas(polygon, out);
    } else {
      AppendLines(polygon, out);
    }
    out += '}';
  }
  return out + "\n]}\n";
}

}  // namespace carom
