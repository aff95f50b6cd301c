// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do the columns of a bundle describe?
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

// A place in the columns: how many of each come before it.
struct Cursor {
  size_t polygon = 0;
  size_t ring = 0;
  size_t vertex = 0;
  size_t user_byte = 0;
};

// What an error about value `index` of a section is named: `vertices[12]`.
absl::Status InvalidItem(const char* section, size_t index, absl::string_view description);

// Views of a bundle's sections, which outlive it. The bytes are not trusted to stay as they are:
// what is used was copied before it was checked, or is checked again against the end of its part.
// Thread-safe.
class BundleColumns {
 public:
  BundleColumns(const BundleLayout& layout, const PolygonLimits& limits);

  size_t polygon_count() const { return header_.polygon_count; }

  // Moves `at`, which is before the last polygon, past one. Errors: counts and sizes that are 0, or
  // lead past the end of a column; a polygon over the limits.
  absl::Status Skip(Cursor& at) const;

  // OK if `at` is the end of every column.
  absl::Status CheckEnd(const Cursor& at) const;

  // The polygons from `begin` to `end`, two places that `Skip` came by. Errors: forms, open rings
  // and coordinates that no polygon has.
  absl::Status Read(const Cursor& begin, const Cursor& end, std::vector<Polygon>& polygons) const;

 private:
  // Memory to use again.
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
