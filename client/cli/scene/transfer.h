// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Sends scenes to a server and fetches them, without a deadline, since the time depends on the size
// of the scene, and with a line of progress (progress.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/client.h"

namespace carom::cli {

// `name` is the full name of a scene; `note` is `CallOptions::note`. Errors: those of
// `Client::ImportScene`.
absl::StatusOr<SceneSummary> ImportShown(Client& client, const std::string& name,
                                         std::span<const Polygon> polygons, ImportMode mode,
                                         const std::string& note = "");

// Asks the server for the number of vertices first, if the current version (0) is fetched. Errors:
// those of `Client::ExportScene`.
absl::StatusOr<std::vector<Polygon>> ExportShown(Client& client, const std::string& name,
                                                 uint64_t version = 0);

}  // namespace carom::cli
