// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/transfer.h"

#include <chrono>

#include "client/cli/scene/progress.h"

namespace carom::cli {

absl::StatusOr<SceneSummary> ImportShown(Client& client, const std::string& name,
                                         std::span<const Polygon> polygons, ImportMode mode,
                                         const std::string& note) {
  Progress progress("import", "vertices");
  const TransferProgress show = [&progress](uint64_t done, uint64_t total) {
    progress(done, total);
  };
  return client.ImportScene(
      name, polygons, mode,
      {.timeout = std::chrono::milliseconds(0), .progress = &show, .note = note});
}

// The summary is for the line of progress alone, so its error counts for nothing.
absl::StatusOr<std::vector<Polygon>> ExportShown(Client& client, const std::string& name,
                                                 uint64_t version) {
  uint64_t vertices = 0;
  if (version == 0) {
    const absl::StatusOr<SceneSummary> scene = client.GetScene(name);
    if (scene.ok()) vertices = scene->vertex_count;
  }
  Progress progress("export", "vertices");
  const TransferProgress show = [&](uint64_t done, uint64_t) { progress(done, vertices); };
  return client.ExportScene(name, version,
                            {.timeout = std::chrono::milliseconds(0), .progress = &show});
}

}  // namespace carom::cli
