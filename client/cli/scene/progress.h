// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How far is what takes over a second?
//
// A `Progress` writes one line to standard error, if that is a terminal: how much is done, at which
// rate, and how many seconds are left. The line appears after a second and is erased at the end, so
// that it is absent from scripts and after short commands.
//
//   Progress progress("import", "vertices");
//   client.ImportScene(name, polygons, mode, {.progress = std::ref(progress)});
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace carom::cli {

// Returns the text of the line: `import: 1,200 of 4,800 vertices, 25 %, 600/s, 6 s left`. Without a
// total (0), what is left is not known and left out. `seconds` is the time that `done` took.
std::string ProgressText(const std::string& what, const std::string& unit, uint64_t done,
                         uint64_t total, double seconds);

// Not thread-safe.
class Progress {
 public:
  Progress(std::string what, std::string unit);
  ~Progress() { Erase(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Shows that `done` of `total` units are done, at most ten times a second; a total of 0 is not
  // known.
  void operator()(uint64_t done, uint64_t total);
  // Erases the line; a later call shows it again.
  void Erase();

 private:
  using Clock = std::chrono::steady_clock;

  const std::string what_;
  const std::string unit_;
  const bool is_terminal_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;
  bool is_shown_ = false;
};

// Shows on a terminal, each tenth of a second from the first second on, for how many seconds a call
// of a server lasts that does not say how far it is. Thread-safe as `Progress` is.
class Waiting {
 public:
  explicit Waiting(std::string what);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

// Returns what `call` returns, and shows how long that takes.
template <class Call>
auto WaitedFor(const std::string& what, const Call& call) {
  const Waiting waiting(what);
  return call();
}

}  // namespace carom::cli
