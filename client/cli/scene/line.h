// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats what `carom scene` prints about scenes, as JSON objects of one line.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "carom/client.h"
#include "carom/geometry.h"

namespace carom::cli {

// Appends a box as `[[min x,min y],[max x,max y]]`, or null if the box is empty.
void AppendBox(const Box& box, std::string& line);

// Appends the JSON members `created` (the time) and, unless it is empty, `edit_id` of a version.
void AppendOrigin(std::chrono::sys_time<std::chrono::microseconds> created,
                  const std::string& edit_id, std::string& line);

// Returns a JSON object that has the members of `scene`, followed by `more`, the JSON text of
// further members.
std::string SceneLine(const SceneSummary& scene, std::string_view more = "");

}  // namespace carom::cli
