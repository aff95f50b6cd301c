// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do polygons become GeoJSON (RFC 7946) that other programs draw, and that Carom reads back?
//
// Each polygon is a Feature with its id and the property `category`:
//
//   * a solid polygon is a Polygon, its outer ring first, or a MultiPolygon if several rings are
//     outside of all others, or inside of a hole;
//   * a hollow polygon is a LineString, or a MultiLineString if it has several rings, with the
//     first point of a closed ring once more at its end.
//
// What GeoJSON has no word for is in the Feature's member `carom`, which other programs ignore:
// `fill` (nonzero), `category`, and `closed` (the numbers of the lines that are closed rings).
// client/maps/geojson.h reads a Feature with this member as one polygon that equals the one that
// was written, except for its user data, which is not written, and for the order of its rings if
// some outer ring is not the first. Other programs see holes where an even number of rings contain
// a point, for the fill rule `nonzero` too. Rings keep their direction, since RFC 7946 makes
// readers accept both.
//
// Vertices are exact. Thread-safe. Cost: linear in the vertices, and for a solid polygon of n
// vertices in r rings O(n r) at most.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"

namespace carom {

// Returns a FeatureCollection with the polygons, one per line. `mapping` is the text of a JSON
// object that states how the polygons were imported; unless it is empty, it is the member `mapping`
// of the collection's member `carom`.
std::string WriteGeoJson(std::span<const Polygon> polygons, const std::string& mapping = "");

}  // namespace carom
