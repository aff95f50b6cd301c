// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do geometries in well-known text (OGC 06-103r4) have?
//
// `ImportWkt` reads one geometry or many, on one line or several, with or without `;` between them
// and `SRID=4326;` before them. POLYGON, TRIANGLE, CURVEPOLYGON and the parts of MULTIPOLYGON,
// MULTISURFACE, TIN and POLYHEDRALSURFACE are solid polygons with their holes (even-odd).
// LINESTRING, LINEARRING, CIRCULARSTRING, COMPOUNDCURVE and the parts of MULTILINESTRING and
// MULTICURVE are open chains. Points and EMPTY are skipped. Vertices are exactly the numbers of the
// file; circular arcs keep their given points, and no arc is farther than `chord` from its chords.
// Z and M are ignored. y points up: `flip_y` is off by default.
//
// The whole file is one layer, `geometries`; a choice may name a type too, such as `LINESTRING`.
// There are no ids and properties.
//
// Errors are INVALID_ARGUMENT with the line. Thread-safe. Cost: linear in the file and the chords.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file begins with the name of a geometry.
bool LooksLikeWkt(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportWkt(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& open);

}  // namespace carom
