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

// Reads every bundle `NAME.carom` (carom/bundle_file.h) of a folder, and serves it read-only as
// `scenes/NAME`; ignores other files. The version of a scene is the time of its file's last change
// in microseconds since 1970, UTC: a file that is replaced later has a greater version, unless it
// was copied with an older time.
//
// The message of an error is one line that names the folder or the file. Errors: NOT_FOUND for a
// folder that cannot be read; FAILED_PRECONDITION for a file that is damaged, that has a scene
// above the limits, or that has an invalid name or the name of a scene of the store.
absl::Status PreloadScenes(const std::string& folder, const PolygonLimits& polygon_limits,
                           const SceneLimits& scene_limits, MemoryStore& store);

}  // namespace carom::server
