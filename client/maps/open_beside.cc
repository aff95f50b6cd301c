// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/formats/grouped.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {
namespace {

namespace fs = std::filesystem;

// Opens files of a folder, within its limits.
class FolderReader {
 public:
  FolderReader(fs::path folder, size_t max_files, size_t max_bytes)
      : folder_(std::move(folder)), files_left_(max_files), bytes_left_(max_bytes) {}

  // Reads block by block and stops at the limit, so that a file that grows or has no end is
  // refused.
  absl::StatusOr<std::string> Read(std::string_view path) {
    const absl::StatusOr<fs::path> file = Resolve(path);
    if (!file.ok()) return file.status();
    const std::lock_guard<std::mutex> lock(mutex_);
    if (files_left_ == 0) return absl::ResourceExhaustedError("the map names too many files");
    std::ifstream stream(*file, std::ios::binary);
    if (!stream) return absl::NotFoundError("cannot be read");
    std::string bytes;
    std::string block(size_t{1} << 16, '\0');
    while (stream) {
      stream.read(block.data(), static_cast<std::streamsize>(block.size()));
      bytes.append(block, 0, static_cast<size_t>(stream.gcount()));
      if (bytes.size() > bytes_left_) {
        return absl::ResourceExhaustedError("the files beside the map are too large");
      }
    }
    --files_left_;
    bytes_left_ -= bytes.size();
    return bytes;
  }

 private:
  // Returns where the path leads, with links followed: it must be a file, since a pipe may wait for
  // ever, and inside of the folder, whatever links do.
  absl::StatusOr<fs::path> Resolve(std::string_view path) const {
    const fs::path relative = fs::path(path).lexically_normal();
    if (path.empty() || path.find('\0') != path.npos || relative.is_absolute()) {
      return absl::InvalidArgumentError("is no path within the folder of the map");
    }
    if (*relative.begin() == "..") {
      return absl::InvalidArgumentError("is outside of the folder of the map");
    }
    std::error_code error;
    const fs::path folder = fs::canonical(folder_, error);
    if (error) return absl::NotFoundError("the folder of the map cannot be read");
    const fs::path file = fs::canonical(folder / relative, error);
    if (error) return absl::NotFoundError("there is no such file");
    // A path is inside if it begins with the names of the folder's path.
    const auto differ = std::ranges::mismatch(folder, file);
    if (differ.in1 != folder.end()) {
      return absl::InvalidArgumentError("leads out of the folder of the map");
    }
    if (!fs::is_regular_file(file, error)) return absl::InvalidArgumentError("is no file");
    return file;
  }

  const fs::path folder_;
  std::mutex mutex_;
  size_t files_left_;
  size_t bytes_left_;
};

}  // namespace

// Copies of the opener share the reader, and with it the limits.
FileOpener OpenBeside(const std::string& path, size_t max_files, size_t max_bytes) {
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  const auto reader = std::make_shared<FolderReader>(std::move(folder), max_files, max_bytes);
  return [reader](std::string_view name) { return reader->Read(name); };
}

}  // namespace carom
