// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does an SVG drawing have?
//
// `ImportSvg` reads the shapes (path, rect, circle, ellipse, line, polyline, polygon) that a
// renderer would draw, as if they were painted without a stroke width. The unit is the user unit of
// the outermost `svg`, that is, of its viewBox, so that vertices of shapes without a transform are
// exactly the numbers of the file; the mapping states how many pixels it has. y points down:
// `flip_y` is on by default.
//
//   * A filled shape is solid, by its `fill-rule`; all its subpaths are closed. With `fill: none`
//   it
//     is hollow, with the subpaths that no `Z` closes as open chains. One path is one polygon.
//   * No curve is farther than `chord` from its chords, after its transforms; the ends of curves
//   are
//     vertices. Lengths may have absolute units or percentages.
//   * Transforms of nested groups, nested `svg` and `symbol` with viewBox and preserveAspectRatio,
//     and `use` of elements of the same file are applied. Attributes and inline styles count, style
//     sheets do not.
//   * Layers: the groups `g` around a shape, by `inkscape:label`, else by `id`; the innermost names
//     the layer, and a choice may name any of them; `svg` without a group.
//   * The property of the options is an attribute of the shape or of a group around it.
//   * Skipped, with a report: text, images, clips and masks, hidden elements, style sheets,
//     references to other files. There are no ids.
//
// Errors are INVALID_ARGUMENT with the line. Entities are not expanded. Thread-safe. Cost: linear
// in the file, the copies that `use` makes (at most `kMaxSvgCopies` elements), and the chords.
#pragma once

#include <cstddef>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// The most elements that one file may draw by `use`.
inline constexpr size_t kMaxSvgCopies = 1'000'000;

// Returns whether the root element of a file is `svg`.
bool LooksLikeSvg(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportSvg(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& open);

}  // namespace carom
