// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The predicate cases of the JTS Topology Suite: XML files of geometries as WKT, and what each
// operation on them is. Start with `ReadJtsFile`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "carom/geometry.h"

namespace carom::testing {

using Path = std::vector<Vec2>;

// Points, lines and polygons (rings, the shell first), whatever they were collected in.
struct JtsGeometry {
  Path points;
  std::vector<Path> lines;
  std::vector<std::vector<Path>> polygons;

  bool IsEmpty() const { return points.empty() && lines.empty() && polygons.empty(); }
  // How many of the three kinds there are.
  int KindCount() const { return !points.empty() + !lines.empty() + !polygons.empty(); }
};

// Nothing if `text` is not the WKT of a geometry in two dimensions.
std::optional<JtsGeometry> ParseWkt(std::string_view text);

struct JtsOperation {
  std::string name;      // in lower case
  bool swapped = false;  // asked of (b, a)
  std::string expected;  // "true", "10.0"
};

struct JtsCase {
  std::string description;
  JtsGeometry a, b;
  std::vector<JtsOperation> operations;
};

// The cases of a file; geometries that are not WKT leave no case, and are counted.
struct JtsFile {
  std::vector<JtsCase> cases;
  int unread_count = 0;
};
std::optional<JtsFile> ReadJtsFile(const std::string& path);

}  // namespace carom::testing
