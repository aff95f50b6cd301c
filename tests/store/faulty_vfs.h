// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A disk that forgets what was not synced when its power is cut, that may be full, and that has no
// place for temporary files.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace carom::testing {

// A VFS of SQLite over the system's. Files are real, so that they can be shared; what a power cut
// would leave of them is kept beside. One at a time, and made before its databases. Thread-safe.
class FaultyVfs {
 public:
  FaultyVfs();
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  // For sqlite3_open_v2.
  const char* name() const { return "faulty"; }

  // Files that would have more than so many bytes in all find the disk full.
  void set_capacity(int64_t bytes) { capacity_ = bytes; }
  // What files have now.
  int64_t used() const { return used_; }
  // Writes what a power cut would leave now into another folder. Of what was written since the last
  // sync, the first `kept` writes of each file are there.
  void CutPower(const std::string& folder, size_t kept = 0);
  // The same just before the `count`th write from now on.
  void CutPowerAt(int64_t count, const std::string& folder, size_t kept = 0);
  // Whether that write is yet to come.
  bool awaits_cut();

 private:
  struct Methods;  // of SQLite's interface

  struct Write {
    int64_t offset;  // -1: truncated to the size of `bytes`
    std::string bytes;
    int64_t size = 0;
  };
  // What lasts of a file, and what may not.
  struct Image {
    std::string synced;
    std::vector<Write> pending;
    int64_t size = 0;  // with those
  };
  static void Apply(const Write& write, std::string& bytes);
  void CutPowerNow(const std::string& folder, size_t kept);

  std::mutex mu_;
  std::map<std::string, Image> images_;
  int64_t writes_to_cut_ = 0;  // 0: none is waited for
  std::string cut_folder_;
  size_t cut_kept_ = 0;
  std::atomic<int64_t> capacity_{INT64_MAX};
  std::atomic<int64_t> used_{0};
  sqlite3_vfs vfs_{};
};

}  // namespace carom::testing
