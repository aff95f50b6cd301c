// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do the attributes of SVG shapes mean: path data, transforms, lengths, viewports?
//
// `SvgPath` reads the attribute `d` of a path, with curves as chords; `SvgTransform` the attribute
// `transform`; `SvgLength` a length with its unit; `ViewBoxMap` maps a viewBox to its viewport. The
// elements of a document are in svg.h.
//
// Lengths are in user units: 1 in = 96, 1 mm = 96 / 25.4, 1 pt = 96 / 72. Points of paths that no
// transform moves are exactly the numbers of the file, and relative ones their sums in doubles.
// Errors are INVALID_ARGUMENT without a path: the caller adds the line. Thread-safe. Cost: linear
// in the text and the chords.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "client/maps/import_common.h"

namespace carom {

// One subpath: its vertices, and whether `Z` closes it.
struct SvgSubpath {
  std::vector<Vec2> points;
  bool closed = false;
};

// Returns the subpaths of path data with an edge, placed by `place`. No placed curve is farther
// than `chord` from its chords; the ends of curves are vertices.
absl::StatusOr<std::vector<SvgSubpath>> SvgPath(std::string_view data, const Affine& place,
                                                double chord);

// Returns the numbers of a list such as `points`, separated by spaces or commas.
absl::StatusOr<std::vector<double>> SvgNumbers(std::string_view text);

// Returns the map of a list of transforms such as `translate(1 2) rotate(45)`.
absl::StatusOr<Affine> SvgTransform(std::string_view text);

// Returns a length with an absolute unit in user units; a percentage is a part of `whole`. Errors:
// no number; a unit that depends on a font or a window, such as `em`.
absl::StatusOr<double> SvgLength(std::string_view text, double whole);

// A rectangle: the values of `viewBox`.
struct SvgBox {
  double x = 0, y = 0, width = 0, height = 0;
};

// Returns the values of a viewBox, or nullopt unless it is four numbers with a size above 0.
std::optional<SvgBox> SvgViewBox(std::string_view text);

// Returns the map from a viewBox to the viewport from (0, 0) to `size`, by an attribute
// `preserveAspectRatio` such as `xMidYMid meet`, which is the default.
Affine ViewBoxMap(const SvgBox& box, Vec2 size, std::string_view preserve_aspect_ratio);

}  // namespace carom
