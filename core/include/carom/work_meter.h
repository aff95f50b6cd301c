// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much work has a batch done, and when must it stop?
//
// Every batch function counts the polygons and edges that it visits on a `WorkMeter`, and the
// vertices of a moving shape before it places them; the batch stops soon after a count returns
// false. The core reads no clock: the owner of the meter supplies a function that returns whether
// it is time to stop, and the meter calls this function once per `kInterval` units. The meter also
// limits the rows of answers, so that a small request cannot produce a huge answer.
//
//   const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
//   WorkMeter meter([end] { return std::chrono::steady_clock::now() > end; });
//   meter.set_max_rows(1000);
//   const bool finished = LocatePoints(*scene, {x, y}, kEveryCategory, out, meter);
//   // finished == !meter.stopped()
//
// Work is counted in units, answers in rows. Error: the work stops up to `kInterval` units late.
// Cost: O(1), a subtraction and a test of its sign for each count. Not thread-safe: one meter
// serves one batch at a time. Cheaper alternative: a default `WorkMeter`, which never stops. More
// powerful: `Frame::budget_us` of carom/frame.h.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

namespace carom {

// Counts the work and the rows of one batch, and stops the batch at a limit. Not thread-safe: one
// meter serves one batch on one thread at a time.
class WorkMeter {
 public:
  // The units between two calls of the stop function. One unit is a visit of a polygon, an edge or
  // an index node, or a comparison of two hits: some nanoseconds each. A product in exact
  // arithmetic counts the units that its time is worth. The meter therefore calls the stop function
  // about every 20 µs at the latest.
  static constexpr uint64_t kInterval = 1024;

  // Makes a meter that counts and never stops.
  WorkMeter() = default;
  // Makes a meter that stops the work once `stop` has returned true.
  explicit WorkMeter(std::function<bool()> stop) : stop_(std::move(stop)) { AskNext(); }

  // Counts `units`. Returns false once the work is to stop; every later call returns false, too.
  bool Spend(uint64_t units) {
    left_ -= static_cast<int64_t>(units);
    return left_ >= 0 || Ask();
  }
  // Counts a few units without calling the stop function. The next `Spend`, which should follow
  // soon, calls it if it is due.
  void Count(uint64_t units) { left_ -= static_cast<int64_t>(units); }
  // Counts `units` and makes the next count call the stop function: for work that is expensive
  // compared with what the caller counts.
  void SpendAndAsk(uint64_t units) {
    left_ -= static_cast<int64_t>(units);
    AskNext();
  }
  // Sets the number of units after which the work stops soon. Default: no limit.
  void set_max_units(uint64_t max_units) {
    max_units_ = max_units;
    AskNext();
  }

  // Counts rows of answers: hits, polygons, edges. Returns false, and stops the work, once there
  // are more rows than `max_rows`.
  bool SpendRows(uint64_t rows) {
    rows_ += rows;
    if (rows_ > max_rows_) {
      stopped_ = true;
      AskNext();
    }
    return !stopped_;
  }
  // Sets the limit for `SpendRows`. Default: no limit.
  void set_max_rows(uint64_t max_rows) { max_rows_ = max_rows; }

  uint64_t used() const { return granted_ - static_cast<uint64_t>(left_); }
  uint64_t rows() const { return rows_; }
  uint64_t rows_left() const { return rows_ < max_rows_ ? max_rows_ - rows_ : 0; }
  bool stopped() const { return stopped_; }
  bool out_of_rows() const { return rows_ > max_rows_; }
  bool out_of_units() const { return used() > max_units_; }

 private:
  // Calls the stop function. Not inlined, so that a count is only a subtraction and a test of its
  // sign.
  [[gnu::noinline, gnu::cold]] bool Ask() {
    if (stopped_) return false;
    stopped_ = out_of_units() || (stop_ && stop_());
    Grant(stopped_ ? -1 : int64_t{kInterval} - 1);
    return !stopped_;
  }
  // Allows `units` more before the next call of the stop function; -1 makes the next count call it.
  void Grant(int64_t units) {
    granted_ = used() + static_cast<uint64_t>(units);
    left_ = units;
  }
  void AskNext() { Grant(-1); }

  std::function<bool()> stop_;
  uint64_t max_units_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_rows_ = std::numeric_limits<uint64_t>::max();
  uint64_t rows_ = 0;
  // `granted_`: units that may be counted in all before the next count calls the stop function.
  // `left_`: units that remain of `granted_`; less than 0 once stopped.
  uint64_t granted_ = std::numeric_limits<int64_t>::max();
  int64_t left_ = std::numeric_limits<int64_t>::max();
  bool stopped_ = false;
};

}  // namespace carom
