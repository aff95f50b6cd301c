// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much work was that, and may it go on?
//
// Every batch function counts the polygons and edges it visits on a `WorkMeter` as it goes, and a
// moving shape's vertices before it places them, and stops soon after the meter says so. The core
// knows no clock: the owner supplies the question "is it time to stop?", and the meter asks it once
// per `kInterval` units. The meter also caps the rows of answers, so that a small question cannot
// make a huge answer.
//
//   const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
//   WorkMeter meter([end] { return std::chrono::steady_clock::now() > end; });
//   meter.set_max_rows(1000);
//   const bool finished = LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // finished == !meter.stopped()
//
// Work is counted in units, answers in rows. Error: the work stops up to `kInterval` units late.
// Cost: O(1), a subtraction and its sign a count. Not thread-safe: one meter serves one batch at
// a time. Cheaper: a default `WorkMeter`, which never stops; richer: `Frame::budget_us` of
// carom/frame.h.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace carom {

// Not thread-safe: one meter serves one batch on one thread at a time.
class WorkMeter {
 public:
  // One unit is a polygon, an edge or an index node visited, or a comparison of two hits, some
  // nanoseconds each; products of exact arithmetic count as many units as they take. So the
  // question is asked about every 20 µs at the latest.
  static constexpr uint64_t kInterval = 1024;

  // A meter that counts and never stops.
  WorkMeter() = default;
  // A meter that stops once `stop` has returned true.
  explicit WorkMeter(std::function<bool()> stop) : stop_(std::move(stop)) { AskNext(); }

  // Counts `units`. Returns false once the work is to stop; from then on always.
  bool Spend(uint64_t units) {
    left_ -= static_cast<int64_t>(units);
    return left_ >= 0 || Ask();
  }
  // Counts a few units without the question, which the next `Spend` asks: where that follows soon.
  void Count(uint64_t units) { left_ -= static_cast<int64_t>(units); }
  // Counts `units`, and has the next count ask whether to stop: for work that is expensive beside
  // what its caller counts.
  void SpendAndAsk(uint64_t units) {
    left_ -= static_cast<int64_t>(units);
    AskNext();
  }
  // Stops the work soon after more units than this. Default: no cap.
  void set_max_units(uint64_t max_units) {
    max_units_ = max_units;
    AskNext();
  }

  // Counts rows of answers: hits, polygons, edges. Returns false, and stops the work, once there
  // are more than `max_rows`.
  bool SpendRows(uint64_t rows) {
    rows_ += rows;
    if (rows_ > max_rows_) {
      stopped_ = true;
      AskNext();
    }
    return !stopped_;
  }
  // Default: no cap.
  void set_max_rows(uint64_t max_rows) { max_rows_ = max_rows; }

  uint64_t used() const { return granted_ - static_cast<uint64_t>(left_); }
  uint64_t rows() const { return rows_; }
  uint64_t rows_left() const { return rows_ < max_rows_ ? max_rows_ - rows_ : 0; }
  bool stopped() const { return stopped_; }
  bool out_of_rows() const { return rows_ > max_rows_; }
  bool out_of_units() const { return used() > max_units_; }

 private:
  // Apart, so that a count is a subtraction whose sign says the rest.
  [[gnu::noinline, gnu::cold]] bool Ask() {
    if (stopped_) return false;
    stopped_ = out_of_units() || (stop_ && stop_());
    Grant(stopped_ ? -1 : int64_t{kInterval} - 1);
    return !stopped_;
  }
  // So many units more, -1 to be asked by the next count.
  void Grant(int64_t units) {
    granted_ = used() + static_cast<uint64_t>(units);
    left_ = units;
  }
  void AskNext() { Grant(-1); }

  std::function<bool()> stop_;
  uint64_t max_units_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_rows_ = std::numeric_limits<uint64_t>::max();
  uint64_t rows_ = 0;
  // Units up to the next question, the one that it is asked at left out, and those of them that are
  // left: less than 0 once stopped.
  uint64_t granted_ = std::numeric_limits<int64_t>::max();
  int64_t left_ = std::numeric_limits<int64_t>::max();
  bool stopped_ = false;
};

}  // namespace carom
