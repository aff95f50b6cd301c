// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many polygons, vertices and versions do the scenes of a store have? The metrics report these
// numbers.

#include "absl/synchronization/mutex.h"
#include "server/store/memory_store.h"

namespace carom::server {

MemoryStore::Totals MemoryStore::totals() const {
  Totals totals;
  absl::ReaderMutexLock lock(&mu_);
  totals.scenes = scenes_.size();
  for (const auto& [name, entry] : scenes_) {
    totals.versions += entry.versions.size();
    if (entry.scene == nullptr) continue;
    totals.polygons += entry.scene->polygon_count();
    totals.vertices += entry.scene->vertex_count();
  }
  return totals;
}

}  // namespace carom::server
