// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/store/faulty_vfs.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace carom::testing {

namespace {

// A file of SQLite's, behind which the system's own lies.
struct File {
  sqlite3_file base;
  FaultyVfs* vfs;
  std::string* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& Of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

using M = sqlite3_io_methods;

// Calls the system's method of the same name.
template <auto kMethod>
struct Forward;
template <class Result, class... Arguments, Result (*M::*kMethod)(sqlite3_file*, Arguments...)>
struct Forward<kMethod> {
  static Result Call(sqlite3_file* file, Arguments... arguments) {
    sqlite3_file* const real = Of(file).real();
    return (real->pMethods->*kMethod)(real, arguments...);
  }
};

}  // namespace

struct FaultyVfs::Methods {
  static int Open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto& faulty = *static_cast<FaultyVfs*>(vfs->pAppData);
    sqlite3_vfs* const system = sqlite3_vfs_find("unix");
    if (name == nullptr) return SQLITE_CANTOPEN;
    File& opened = Of(file);
    opened.base.pMethods = nullptr;
    const int result = system->xOpen(system, name, opened.real(), flags, out);
    if (result != SQLITE_OK) return result;
    opened.vfs = &faulty;
    opened.path = new std::string(name);
    opened.base.pMethods = &kMethods;
    const std::lock_guard lock(faulty.mu_);
    if (!faulty.images_.contains(*opened.path)) {
      std::ifstream there(name, std::ios::binary);
      faulty.images_[name].synced.assign(std::istreambuf_iterator<char>(there), {});
    }
    return SQLITE_OK;
  }

  static int Close(sqlite3_file* file) {
    const int result = Forward<&M::xClose>::Call(file);
    delete std::exchange(Of(file).path, nullptr);
    return result;
  }

  static int Write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
    FaultyVfs& vfs = *Of(file).vfs;
    const std::lock_guard lock(vfs.mu_);
    if (vfs.writes_to_cut_ > 0 && --vfs.writes_to_cut_ == 0) {
      vfs.CutPowerNow(vfs.cut_folder_, vfs.cut_kept_);
    }
    Image& image = vfs.images_[*Of(file).path];
    const int64_t growth = std::max<int64_t>(0, offset + size - image.size);
    if (vfs.used_.load() + growth > vfs.capacity_.load()) return SQLITE_FULL;
    const int result = Forward<&M::xWrite>::Call(file, bytes, size, offset);
    if (result != SQLITE_OK) return result;
    image.size += growth;
    vfs.used_ += growth;
    image.pending.push_back({offset, {static_cast<const char*>(bytes), static_cast<size_t>(size)}});
    return result;
  }

  static int Truncate(sqlite3_file* file, sqlite3_int64 size) {
    const int result = Forward<&M::xTruncate>::Call(file, size);
    FaultyVfs& vfs = *Of(file).vfs;
    const std::lock_guard lock(vfs.mu_);
    Image& image = vfs.images_[*Of(file).path];
    vfs.used_ -= image.size - std::min<int64_t>(size, image.size);
    image.size = std::min<int64_t>(size, image.size);
    image.pending.push_back({-1, {}, size});
    return result;
  }

  static int Sync(sqlite3_file* file, int flags) {
    const int result = Forward<&M::xSync>::Call(file, flags);
    FaultyVfs& vfs = *Of(file).vfs;
    const std::lock_guard lock(vfs.mu_);
    Image& image = vfs.images_[*Of(file).path];
    for (const FaultyVfs::Write& write : image.pending) Apply(write, image.synced);
    image.pending.clear();
    return result;
  }

  static int Delete(sqlite3_vfs* vfs, const char* name, int sync) {
    auto& faulty = *static_cast<FaultyVfs*>(vfs->pAppData);
    sqlite3_vfs* const system = sqlite3_vfs_find("unix");
    const std::lock_guard lock(faulty.mu_);
    faulty.images_.erase(name);
    return system->xDelete(system, name, sync);
  }

  static constexpr sqlite3_io_methods kMethods = {
      .iVersion = 2,  // memory maps of the file would pass the writes by
      .xClose = Close,
      .xRead = Forward<&M::xRead>::Call,
      .xWrite = Write,
      .xTruncate = Truncate,
      .xSync = Sync,
      .xFileSize = Forward<&M::xFileSize>::Call,
      .xLock = Forward<&M::xLock>::Call,
      .xUnlock = Forward<&M::xUnlock>::Call,
      .xCheckReservedLock = Forward<&M::xCheckReservedLock>::Call,
      .xFileControl = Forward<&M::xFileControl>::Call,
      .xSectorSize = Forward<&M::xSectorSize>::Call,
      .xDeviceCharacteristics = [](sqlite3_file*) { return 0; },
      .xShmMap = Forward<&M::xShmMap>::Call,
      .xShmLock = Forward<&M::xShmLock>::Call,
      .xShmBarrier = Forward<&M::xShmBarrier>::Call,
      .xShmUnmap = Forward<&M::xShmUnmap>::Call,
      .xFetch = nullptr,
      .xUnfetch = nullptr,
  };
};

FaultyVfs::FaultyVfs() {
  sqlite3_initialize();
  sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  vfs_ = *system;
  vfs_.szOsFile = static_cast<int>(sizeof(File)) + system->szOsFile;
  vfs_.pNext = nullptr;
  vfs_.zName = name();
  vfs_.pAppData = this;
  vfs_.xOpen = Methods::Open;
  vfs_.xDelete = Methods::Delete;
  sqlite3_vfs_register(&vfs_, 0);
}

FaultyVfs::~FaultyVfs() { sqlite3_vfs_unregister(&vfs_); }

void FaultyVfs::Apply(const Write& write, std::string& bytes) {
  if (write.offset < 0) return bytes.resize(write.size);
  const size_t end = write.offset + write.bytes.size();
  if (bytes.size() < end) bytes.resize(end);
  std::memcpy(bytes.data() + write.offset, write.bytes.data(), write.bytes.size());
}

void FaultyVfs::CutPower(const std::string& folder, size_t kept) {
  const std::lock_guard lock(mu_);
  CutPowerNow(folder, kept);
}

void FaultyVfs::CutPowerAt(int64_t count, const std::string& folder, size_t kept) {
  const std::lock_guard lock(mu_);
  writes_to_cut_ = count;
  cut_folder_ = folder;
  cut_kept_ = kept;
}

bool FaultyVfs::awaits_cut() {
  const std::lock_guard lock(mu_);
  return writes_to_cut_ > 0;
}

void FaultyVfs::CutPowerNow(const std::string& folder, size_t kept) {
  std::filesystem::create_directories(folder);
  for (const auto& [path, image] : images_) {
    std::string bytes = image.synced;
    for (size_t i = 0; i < std::min(kept, image.pending.size()); ++i) {
      Apply(image.pending[i], bytes);
    }
    const std::filesystem::path file = folder / std::filesystem::path(path).filename();
    std::ofstream(file, std::ios::binary) << bytes;
  }
}

}  // namespace carom::testing
