// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does a GeoJSON file (RFC 7946) have?
//
// `ImportGeoJson` reads a FeatureCollection, a Feature or a geometry. Each Polygon, and each part
// of a MultiPolygon, is a solid polygon with its holes (even-odd); each LineString, and each part
// of a MultiLineString, is an open chain. Points are skipped. Vertices are exactly the first two
// numbers of a position. y points up: `flip_y` is off by default.
//
//   * Layers: the whole file is one layer, named by the member `name` of the collection (`features`
//     if there is none); a choice may name a type of geometry too, such as `LineString`.
//   * Ids: the `id` of a Feature with one part, if it is a number or a string of digits.
//   * The property of the options is one of `properties` of the Feature; null counts as absent.
//   * All parts of a Feature with the member `carom`, which client/formats/geojson_writer.h writes,
//     are one polygon, with the category and the fill rule that the member has.
//
// Errors are INVALID_ARGUMENT with a path such as `features[3].geometry.coordinates[0][5]`, or the
// line of a syntax error. Thread-safe. Cost: linear in the file; only one feature
// at a time is in memory.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file has the type of a GeoJSON object.
bool LooksLikeGeoJson(const Sniffed& file);

// Reads a file that is sniffed already.
absl::StatusOr<ImportedMap> ImportSniffedGeoJson(const Sniffed& file, const ImportOptions& options,
                                                 const FileOpener& open);
absl::StatusOr<ImportedMap> ImportGeoJson(std::string_view bytes, const ImportOptions& options,
                                          const FileOpener& open);

}  // namespace carom
