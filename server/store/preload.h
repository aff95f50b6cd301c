// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server load read-only scenes from files?
#pragma once

#include <string>

#include "absl/status/status.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "server/store/memory_store.h"

namespace carom::server {

// Adds to `store`, for every bundle file `NAME.carom` (carom/bundle_file.h) in the folder, the
// read-only scene `scenes/NAME`; ignores other files. The version of a scene is the time of its
// file's last change in microseconds since 1970, UTC: if a file is replaced, the version number
// grows, unless the new file has an older time of change.
//
// The message of an error is one line that names the folder or the file. Errors: NOT_FOUND for a
// folder that cannot be read; FAILED_PRECONDITION for a file that is damaged, whose scene exceeds
// the limits, whose name is invalid, or whose name a scene in `store` already has.
absl::Status PreloadScenes(const std::string& folder, const PolygonLimits& polygon_limits,
                           const SceneLimits& scene_limits, MemoryStore& store);

}  // namespace carom::server
