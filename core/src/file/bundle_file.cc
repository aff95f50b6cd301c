// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bundle_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"

namespace carom {
namespace {

// An open file. The destructor closes it.
class File {
 public:
  File(const std::string& path, int flags) : descriptor_(::open(path.c_str(), flags, 0666)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  // Returns the size of the file in bytes, or nullopt if it is not a regular file.
  std::optional<size_t> Size() const {
    struct stat status;
    if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return static_cast<size_t>(status.st_size);
  }

  // Writes all of `bytes` and flushes them to the disk. Returns false on an error.
  bool Write(absl::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(written));
    }
    return ::fsync(descriptor_) == 0;
  }

 private:
  int descriptor_;
};

// Maps the first `size` bytes of a file into memory. The destructor unmaps them.
class Mapping {
 public:
  Mapping(const File& file, size_t size) : size_(size) {
    if (size == 0) return;  // mmap rejects a length of 0
    void* memory =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file.descriptor(), 0);
    if (memory != MAP_FAILED) memory_ = memory;
  }
  ~Mapping() {
    if (memory_ != nullptr) ::munmap(memory_, size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool is_mapped() const { return memory_ != nullptr || size_ == 0; }
  absl::string_view bytes() const { return {static_cast<const char*>(memory_), size_}; }

 private:
  void* memory_ = nullptr;
  size_t size_;
};

// Returns the error after a failed system call, with the text of `errno`.
absl::Status CannotWrite(const std::string& path) {
  return absl::UnknownError(absl::StrCat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

// Writes to a temporary file beside `path` and renames it to `path`, so that `path` never names a
// partly written bundle (a file with a scene). Each call uses a temporary file of its own: if
// several calls save to one path at the same time, the last rename wins.
absl::Status SaveBundle(const Scene& scene, const std::string& path, BundleIndex index) {
  const std::string bytes = WriteBundle(scene, index);
  static std::atomic<uint64_t> calls = 0;
  const std::string temporary = absl::StrCat(path, ".", ::getpid(), "-", ++calls, ".part");
  const bool is_written = [&] {
    const File file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    return file.is_open() && file.Write(bytes);
  }();
  if (is_written && std::rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const absl::Status status = CannotWrite(path);
  ::unlink(temporary.c_str());
  return status;
}

// Reads the size once, after opening the file, and maps that many bytes: `ReadBundle` reads nothing
// beyond them, even if the file grows.
absl::StatusOr<Scene::Ptr> OpenBundle(const std::string& path, const BundleReadOptions& options) {
  const File file(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const std::optional<size_t> size = file.is_open() ? file.Size() : std::nullopt;
  if (!size) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  const Mapping mapping(file, *size);
  if (!mapping.is_mapped()) return absl::NotFoundError(absl::StrCat("cannot map ", path));
  return ReadBundle(mapping.bytes(), options);
}

}  // namespace carom
