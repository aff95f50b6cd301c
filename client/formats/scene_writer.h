// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Polygons as the scene file that client/formats/scene_reader.h reads.
#pragma once

#include <span>
#include <string>

#include "carom/polygon.h"

namespace carom {

// A JSON document with the polygons, each on a line, which reads back as they are.
std::string WriteScene(std::span<const Polygon> polygons);

// Appends one of them.
void AppendPolygon(const Polygon& polygon, std::string& out);

}  // namespace carom
