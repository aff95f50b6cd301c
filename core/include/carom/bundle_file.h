// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How is a scene saved to a file and opened again?
//
// A file `NAME.carom` is one bundle (carom/bundle.h). Start with `OpenBundle`. `SaveBundle`
// replaces a file as a whole, so that a reader opens either the old scene or the new scene. This is
// the only header of the library that accesses files.
//
//   const absl::Status saved = SaveBundle(*scene, path);
//   const absl::StatusOr<Scene::Ptr> opened = OpenBundle(path);
//   const bool same = saved.ok() && opened.ok() && (*opened)->polygon_count() == 1;  // true
//
// Paths are paths of the operating system, sizes in bytes. Error: none, numbers are kept bit by
// bit. Cost: that of carom/bundle.h, plus reading the file once. Thread-safe. Cheaper alternative:
// carom/bundle.h for bytes in memory.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/bundle.h"
#include "carom/scene.h"

namespace carom {

// Writes the bundle of `scene` to a file beside `path`, flushes it to the disk, and renames it to
// `path`.
//
// Errors: UNKNOWN if the file cannot be written, naming the path and the reason that the system
// gives; a file that existed at `path` then stays unchanged.
absl::Status SaveBundle(const Scene& scene, const std::string& path,
                        BundleIndex index = BundleIndex::kArranged);

// Returns the scene in the file `path`. The file is mapped into memory only during the call:
// replacing or deleting the file later does no harm.
//
// Errors: NOT_FOUND if `path` is no regular file that can be read; else the errors of `ReadBundle`.
// No other process may shorten the file during the call: the system would end this process by
// SIGBUS, as for every mapped file. `SaveBundle` never shortens a file at `path`.
absl::StatusOr<Scene::Ptr> OpenBundle(const std::string& path,
                                      const BundleReadOptions& options = {});

}  // namespace carom
