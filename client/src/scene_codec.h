// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Messages of scenes as the client's users see them.
#pragma once

#include <chrono>
#include <cstdint>

#include "carom/v1/scene_service.pb.h"
#include "carom/watch.h"

namespace carom {

// The message without bounds is that of a scene without polygons, whose box is empty.
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

inline std::chrono::sys_time<std::chrono::microseconds> TimeOf(int64_t since_1970_us) {
  return std::chrono::sys_time<std::chrono::microseconds>(std::chrono::microseconds(since_1970_us));
}

}  // namespace carom
