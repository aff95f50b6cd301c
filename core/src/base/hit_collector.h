// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which of the hits of one segment, ray, arc or sweep are its answer?
//
// `HitCollector` takes hits in whatever order the index brings them and keeps those that the mode
// wants: under ANY the first that comes, under CLOSEST the least, under ALL and ALL_PASSAGES the
// `max_hits` least, and whether there were more. Least is by the total order of hits (exact time,
// scene before bodies, polygon id or index of the body, ring, edge): all hits of one polygon differ
// in time, since its passages are apart, so that ring and edge never decide.
//
// Invariant: the hits kept are a heap with the last in the total order on top, of at most
// `capacity` entries: 1, or max_hits + 1. The one more says that the answer is truncated, and is
// dropped at the end. While the heap is full, a hit that comes after the last one cannot matter, so
// that the search may be narrowed to what comes up to `last()`; this changes no answer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/metered_sort.h"
#include "carom/cast.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Whether all hits are wanted, in the total order.
inline bool IsOrdered(CastMode mode) {
  return mode == CastMode::kAll || mode == CastMode::kAllPassages;
}

// What is hit: a polygon by its id, or a body by its index.
struct HitSource {
  bool is_body = false;
  uint64_t id = 0;

  friend bool operator<(const HitSource& a, const HitSource& b) {
    return a.is_body != b.is_body ? b.is_body : a.id < b.id;
  }
};

// What the inside policy reports of a polygon: the begin of the passage of that number, or its end.
// Later passages (ALL_PASSAGES) are reported by their begins.
struct ReportedPassage {
  size_t index = 0;  // 1 where the passage that holds the start is skipped
  bool at_exit = false;
};

//                 starts outside     starts inside
//   REPORT_START  begin of the first begin of the first, the start
//   IGNORE        begin of the first begin of the second: re-entry
//   EXIT          begin of the first end of the first
inline ReportedPassage ApplyInsidePolicy(InsidePolicy policy, bool starts_inside) {
  if (!starts_inside) return {};
  return {policy == InsidePolicy::kIgnore ? size_t{1} : 0, policy == InsidePolicy::kExit};
}

// A `Hit` has `source()`. `compare(a, b)` below is the sign of the difference of the times of
// two hits, exactly, and the same at every call from one start to the next. Reused from item to
// item, it allocates for items of very many hits alone. Not thread-safe.
template <class Hit>
class HitCollector {
 public:
  void Start(CastMode mode, uint32_t max_hits) {
    mode_ = mode;
    capacity_ = IsOrdered(mode) ? size_t{max_hits} + 1 : 1;
    is_truncated_ = false;
    hits_.clear();
  }

  // Whether no more hits are wanted.
  bool is_done() const { return mode_ == CastMode::kAny && !hits_.empty(); }
  bool empty() const { return hits_.empty(); }
  // Whether a hit matters only if it comes before `last()`.
  bool is_full() const { return hits_.size() >= capacity_; }
  // Of those kept the last in the total order. There is one.
  const Hit& last() const { return hits_.front(); }

  // Returns whether the hit is kept, which may displace the last one. `meter` counts comparisons
  // that there may be many of for one hit.
  template <class Compare>
  bool Add(const Hit& hit, const Compare& compare, WorkMeter& meter) {
    if (capacity_ == 1) {
      if (hits_.empty()) {
        hits_.push_back(hit);
        return true;
      }
      if (!ComesBefore(hit, hits_[0], compare)) return false;
      hits_[0] = hit;
      return true;
    }
    return AddToHeap(hit, compare, meter);
  }

  // Once all hits are in: sorts those kept, drops the one more than `max_hits`, and returns how
  // many there are. Meaningless once the meter has stopped.
  template <class Compare>
  size_t Finish(const Compare& compare, WorkMeter& meter) {
    if (!IsOrdered(mode_)) return hits_.size();
    SortHeap(hits_, meter, [&](const Hit& a, const Hit& b) { return ComesBefore(a, b, compare); });
    is_truncated_ = is_full();
    if (is_truncated_) hits_.pop_back();
    return hits_.size();
  }
  // After `Finish`: in the total order.
  std::span<const Hit> hits() const { return hits_; }
  // Whether there were more than `max_hits`.
  bool is_truncated() const { return is_truncated_; }

  // Finishes item `index` and adds its row to `out`, answers with `counts`, `hits` and `truncated`
  // as the public headers have them. `measure(rank)` makes the answer's hit of `hits()[rank]`, and
  // counts the work. Returns false once the meter has stopped; `out` is then meaningless.
  template <class Answers, class Compare, class Measure>
  bool Write(size_t index, Answers& out, const Compare& compare, const Measure& measure,
             WorkMeter& meter) {
    const size_t count = Finish(compare, meter);
    if (meter.stopped()) return false;
    out.counts[index] = static_cast<uint32_t>(count);
    if (mode_ == CastMode::kAny) return true;
    if (is_truncated_) out.truncated.push_back(static_cast<uint32_t>(index));
    if (!meter.SpendRows(count)) return false;
    for (size_t rank = 0; rank < count && !meter.stopped(); ++rank) {
      out.hits.push_back(measure(rank));
    }
    return !meter.stopped();
  }

  // Gives back the memory of very many hits, which are then gone.
  void Trim() {
    if (hits_.capacity() > kKeptCapacity) hits_ = {};
  }

 private:
  static constexpr size_t kKeptCapacity = 128;

  // Apart from `Add`, so that the casts that keep one hit, which are most, stay small.
  template <class Compare>
  [[gnu::noinline]] bool AddToHeap(const Hit& hit, const Compare& compare, WorkMeter& meter) {
    const auto before = [&](const Hit& a, const Hit& b) {
      meter.Spend(1);
      return ComesBefore(a, b, compare);
    };
    if (is_full()) {
      if (!before(hit, last())) return false;
      std::pop_heap(hits_.begin(), hits_.end(), before);
      hits_.back() = hit;
    } else {
      hits_.push_back(hit);
    }
    std::push_heap(hits_.begin(), hits_.end(), before);
    return true;
  }

  template <class Compare>
  static bool ComesBefore(const Hit& a, const Hit& b, const Compare& compare) {
    const int order = compare(a, b);
    return order != 0 ? order < 0 : a.source() < b.source();
  }

  std::vector<Hit> hits_;
  size_t capacity_ = 1;
  CastMode mode_ = CastMode::kClosest;
  bool is_truncated_ = false;
};

}  // namespace carom::internal
