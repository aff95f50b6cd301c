// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do the columns of a bundle describe? A bundle is a file with the polygons of a
// scene; each of its sections is a column, with one value for each polygon, ring or vertex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "bundle/bundle_format.h"
#include "bundle/bundle_layout.h"
#include "carom/polygon.h"

namespace carom::internal {

// A position in the columns of a bundle: how many polygons, rings, vertices and bytes of user data
// come before it.
struct Cursor {
  size_t polygon = 0;
  size_t ring = 0;
  size_t vertex = 0;
  size_t user_byte = 0;
};

// Returns an INVALID_ARGUMENT error about value `index` of a section. The error names a field such
// as `vertices[12]`.
absl::Status InvalidItem(const char* section, size_t index, absl::string_view description);

// The polygons of a bundle, a file whose sections are columns: one value for each polygon, ring
// (connected outline of a polygon) or vertex. The bytes of the bundle must outlive this object.
// They may change at any time: each value is copied before it is checked, or is checked again
// against the end of the range that is read. Thread-safe.
class BundleColumns {
 public:
  BundleColumns(const BundleLayout& layout, const PolygonLimits& limits);

  size_t polygon_count() const { return header_.polygon_count; }

  // Advances `at`, which is before the end, past one polygon. Errors: counts and sizes that are 0
  // or lead past the end of a column; a polygon over the limits.
  absl::Status Skip(Cursor& at) const;

  // Returns OK if `at` is the end of every column.
  absl::Status CheckEnd(const Cursor& at) const;

  // Appends the polygons from `begin` to `end`, two positions that `Skip` has reached. Errors:
  // invalid values of the columns `forms`, `open_rings` and `vertices`; a column that changed since
  // `Skip`.
  absl::Status Read(const Cursor& begin, const Cursor& end, std::vector<Polygon>& polygons) const;

 private:
  // Working memory that `Read` reuses from polygon to polygon.
  struct Scratch {
    PolygonSpec head;
    std::vector<Vec2> ring;
  };

  absl::Status ReadPolygon(const Cursor& end, Cursor& at, Scratch& scratch,
                           std::vector<Polygon>& polygons) const;
  absl::Status ReadSpec(const Cursor& end, Cursor& at, Scratch& scratch, PolygonSpec& spec) const;
  absl::Status ReadRing(const Cursor& end, Cursor& at, std::vector<Vec2>& ring) const;

  BundleHeader header_;
  PolygonLimits limits_;
  Column<uint64_t> ids_, categories_;
  Column<uint8_t> forms_;
  Column<uint32_t> ring_counts_, ring_sizes_;
  Column<uint8_t> open_rings_;
  Column<Vec2> vertices_;
  Column<uint32_t> user_data_sizes_;
  absl::string_view user_data_;
};

}  // namespace carom::internal
