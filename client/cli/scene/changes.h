// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How do two sets of polygons differ, and which edits does a file with polygons stand for?
//
// `scene diff` and `scene commit` ask this about versions of a server and about files alike.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom::cli {

// Returns a JSON object for each polygon that differs, by its id: first those that `after` does not
// have or has otherwise, by ascending id, then those that are new.
std::vector<std::string> DiffLines(std::span<const Polygon> before, std::span<const Polygon> after);

// Returns the edits of `scene` that add or replace `polygons`, and remove the polygons `removed`.
std::vector<SceneEdit> EditsOf(std::span<const Polygon> scene, std::span<const Polygon> polygons,
                               std::span<const uint64_t> removed);

}  // namespace carom::cli
