// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a scene get into a file, and out of it?
//
// A file `NAME.carom` is one bundle (carom/bundle.h). Start with `OpenBundle`. Files are replaced
// as a whole, so that whoever opens one finds the old scene or the new one. This is the one header
// of the library that knows files.
//
//   const absl::Status saved = SaveBundle(*scene, path);
//   const absl::StatusOr<Scene::Ptr> opened = OpenBundle(path);
//   const bool same = saved.ok() && opened.ok() && (*opened)->polygon_count() == 1;  // true
//
// Paths are those of the operating system, sizes in bytes. Error: none, numbers are kept bit by
// bit. Cost: that of carom/bundle.h, and reading the file once. Thread-safe. Cheaper:
// carom/bundle.h for bytes in memory; richer: none.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/bundle.h"
#include "carom/scene.h"

namespace carom {

// Writes the bundle of `scene` to a file beside `path`, on the disk, and gives it that name.
//
// Errors: UNKNOWN if it cannot be written, naming the path and the system's reason; what was at
// `path` is then still there.
absl::Status SaveBundle(const Scene& scene, const std::string& path,
                        BundleIndex index = BundleIndex::kArranged);

// The scene in the file `path`, which is mapped while it is read and closed then: a file that is
// replaced or deleted later does no harm.
//
// Errors: NOT_FOUND if there is no regular file that can be read; else those of `ReadBundle`. The
// file must not be made shorter by another process during the call: the system then ends this one
// by SIGBUS, as it does with every mapped file. `SaveBundle` never does.
absl::StatusOr<Scene::Ptr> OpenBundle(const std::string& path,
                                      const BundleReadOptions& options = {});

}  // namespace carom
