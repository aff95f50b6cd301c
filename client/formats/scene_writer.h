// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Writes polygons in the JSON form that client/formats/scene_reader.h reads.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"

namespace carom {

// Returns a JSON document with the polygons, one per line. `SceneFile` reads back equal polygons.
// `mapping` is the text of a JSON object that states how the polygons were imported; it becomes the
// member `mapping`, and `id` the member `id`, unless they are empty.
std::string WriteScene(std::span<const Polygon> polygons, const std::string& mapping = "",
                       const std::string& id = "");

// Appends one polygon as a JSON object to `out`.
void AppendPolygon(const Polygon& polygon, std::string& out);

}  // namespace carom
