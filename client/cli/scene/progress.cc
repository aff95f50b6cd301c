// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/formats/grouped.h"

namespace carom::cli {

std::string ProgressText(const std::string& what, const std::string& unit, uint64_t done,
                         uint64_t total, double seconds) {
  const double rate = seconds > 0 ? static_cast<double>(done) / seconds : 0;
  std::string text = absl::StrCat(what, ": ", Grouped(done));
  if (total > 0) absl::StrAppend(&text, " of ", Grouped(total));
  absl::StrAppend(&text, " ", unit);
  if (total > 0) {
    const double part = static_cast<double>(done) / static_cast<double>(total);
    absl::StrAppend(&text, ", ", static_cast<int>(100 * std::min(part, 1.0)), " %");
  }
  absl::StrAppend(&text, ", ", Grouped(static_cast<uint64_t>(rate)), "/s");
  if (total > done && rate > 0) {
    const double left = static_cast<double>(total - done) / rate;
    absl::StrAppend(&text, ", ", Grouped(static_cast<uint64_t>(std::ceil(left))), " s left");
  }
  return text;
}

Progress::Progress(std::string what, std::string unit)
    : what_(std::move(what)),
      unit_(std::move(unit)),
      is_terminal_(isatty(STDERR_FILENO) == 1),
      next_(begin_ + std::chrono::seconds(1)) {}

void Progress::operator()(uint64_t done, uint64_t total) {
  if (!is_terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  // Erases from the cursor, at the begin of the line, to its end.
  std::cerr << "\r\x1b[K" << ProgressText("carom: " + what_, unit_, done, total, seconds)
            << std::flush;
  is_shown_ = true;
}

void Progress::Erase() {
  if (is_shown_) std::cerr << "\r\x1b[K" << std::flush;
  is_shown_ = false;
}

// Without a terminal there is no thread.
Waiting::Waiting(std::string what) {
  if (isatty(STDERR_FILENO) != 1) return;
  thread_ = std::thread([this, what = std::move(what)] {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(1), [this] { return is_over_; });
    bool is_shown = false;
    for (; !is_over_; is_shown = true) {
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
      std::cerr << "\r\x1b[Kcarom: " << what << ": "
                << Grouped(static_cast<uint64_t>(waited.count())) << " s" << std::flush;
      changed_.wait_for(lock, std::chrono::milliseconds(100), [this] { return is_over_; });
    }
    if (is_shown) std::cerr << "\r\x1b[K" << std::flush;
  });
}

Waiting::~Waiting() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace carom::cli
