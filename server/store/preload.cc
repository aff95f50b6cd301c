// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/preload.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "carom/bundle_file.h"
#include "server/base/scene_name.h"

namespace carom::server {
namespace {

// Returns the error for the file `path` with the reason `why`; the message is one line, even if the
// file's name has line breaks.
absl::Status Refuse(const std::string& path, absl::string_view why) {
  const std::string line = absl::StrReplaceAll(absl::StrCat(path, ": ", why), {{"\n", " "}});
  return absl::FailedPreconditionError(absl::StrCat("cannot preload ", line));
}

// Returns the time of the file's last change, in microseconds since 1970, UTC.
absl::StatusOr<int64_t> ChangedAt(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return Refuse(path, "cannot be read");
  return int64_t{info.st_mtim.tv_sec} * 1000000 + info.st_mtim.tv_nsec / 1000;
}

// Loads the scene of one file into `store`. The scene is a copy in memory, which does not need the
// file after the call.
absl::Status Preload(const std::filesystem::path& file, const BundleReadOptions& options,
                     MemoryStore& store) {
  const std::string name = absl::StrCat("scenes/", file.stem().string());
  if (!IsSceneName(name)) {
    return Refuse(file, "a scene's name is 1 to 63 of the letters a-z, digits and hyphens");
  }
  const absl::StatusOr<int64_t> changed_us = ChangedAt(file);
  if (!changed_us.ok()) return changed_us.status();
  BundleReadOptions with_version = options;
  with_version.version = static_cast<uint64_t>(std::max<int64_t>(*changed_us, 1));
  const absl::StatusOr<Scene::Ptr> scene = OpenBundle(file, with_version);
  if (!scene.ok()) return Refuse(file, scene.status().message());
  const absl::Status preloaded = store.Preload(name, *scene, *changed_us);
  return preloaded.ok() ? preloaded : Refuse(file, preloaded.message());
}

}  // namespace

// Loads files by ascending name, so that, if several files are bad, the error always names the
// first of them.
absl::Status PreloadScenes(const std::string& folder, const PolygonLimits& polygon_limits,
                           const SceneLimits& scene_limits, MemoryStore& store) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() == ".carom") files.push_back(it->path());
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("the folder ", folder, " cannot be preloaded: ", error.message()));
  }
  std::sort(files.begin(), files.end());
  BundleReadOptions options;
  options.polygon_limits = polygon_limits;
  options.limits = scene_limits;
  for (const std::filesystem::path& file : files) {
    if (absl::Status status = Preload(file, options, store); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace carom::server
