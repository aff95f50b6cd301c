// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes polygons in the JSON form that client/formats/scene_reader.h reads.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"

namespace carom {

// Returns a JSON document with the polygons, one per line. `SceneFile` reads back equal polygons.
std::string WriteScene(std::span<const Polygon> polygons);

// Appends one polygon as a JSON object to `out`.
void AppendPolygon(const Polygon& polygon, std::string& out);

}  // namespace carom
