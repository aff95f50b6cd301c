// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Converts scene messages to the types of carom/watch.h.
#pragma once

#include <chrono>
#include <cstdint>

#include "carom/v1/scene_service.pb.h"
#include "carom/watch.h"

namespace carom {

// Returns `scene` as a SceneSummary. A message without bounds becomes an empty box: its scene has
// no polygons.
inline SceneSummary Summary(const v1::Scene& scene) {
  SceneSummary summary{.name = scene.name(),
                       .version = scene.version(),
                       .polygon_count = scene.polygon_count(),
                       .vertex_count = scene.vertex_count(),
                       .bounds = {},
                       .base = scene.base(),
                       .base_version = scene.base_version()};
  if (scene.has_bounds()) {
    const v1::Bounds& bounds = scene.bounds();
    summary.bounds.min = {bounds.min_x(), bounds.min_y()};
    summary.bounds.max = {bounds.max_x(), bounds.max_y()};
  }
  return summary;
}

// Returns the time `since_1970_us` microseconds after 1970-01-01 00:00 UTC.
inline std::chrono::sys_time<std::chrono::microseconds> TimeOf(int64_t since_1970_us) {
  return std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(since_1970_us));
}

}  // namespace carom
