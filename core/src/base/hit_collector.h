// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which hits of one segment, ray, arc or sweep are the answer?
//
// `HitCollector` takes hits in the order in which the index finds them and keeps the hits that the
// mode asks for: under ANY the first one found, under CLOSEST the least, under ALL and ALL_PASSAGES
// the `max_hits` least, and whether there were more. Hits are compared in the total order (exact
// time, scene before bodies, polygon id or index of the body, ring, edge). All hits of one polygon
// differ in time, since its passages are disjoint, so that ring and edge never decide.
//
// Invariant: the kept hits are a heap with the last hit in the total order on top, of at most
// `capacity` entries: 1, or max_hits + 1. The additional entry shows that the answer is truncated,
// and is dropped at the end. While the heap is full, a hit after the last one cannot change the
// answer, so the search may be narrowed to hits up to `last()`.
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

// Returns whether the mode reports all hits in the total order.
inline bool IsOrdered(CastMode mode) {
  return mode == CastMode::kAll || mode == CastMode::kAllPassages;
}

// The object that is hit: a polygon by its id, or a body by its index.
struct HitSource {
  bool is_body = false;
  uint64_t id = 0;

  friend bool operator<(const HitSource& a, const HitSource& b) {
    return a.is_body != b.is_body ? b.is_body : a.id < b.id;
  }
};

// What the inside policy reports of a polygon: the begin or the end of passage number `index`.
// Under ALL_PASSAGES, the later passages are reported by their begins.
struct ReportedPassage {
  size_t index = 0;  // 1 if the passage that contains the start is skipped
  bool at_exit = false;
};

// Returns what `policy` reports of a polygon:
//                 starts outside      starts inside
//   REPORT_START  begin of passage 0  begin of passage 0, the start
//   IGNORE        begin of passage 0  begin of passage 1, the re-entry
//   EXIT          begin of passage 0  end of passage 0
inline ReportedPassage ApplyInsidePolicy(InsidePolicy policy, bool starts_inside) {
  if (!starts_inside) return {};
  return {policy == InsidePolicy::kIgnore ? size_t{1} : 0, policy == InsidePolicy::kExit};
}

// Collects the hits of one item after another. A `Hit` has `source()`. `compare(a, b)` below is the
// exact sign of the difference of the times of two hits, and returns equal results from one call of
// `Start` to the next. An object that is used for many items allocates only for items of very many
// hits. Not thread-safe.
template <class Hit>
class HitCollector {
 public:
  void Start(CastMode mode, uint32_t max_hits) {
    mode_ = mode;
    capacity_ = IsOrdered(mode) ? size_t{max_hits} + 1 : 1;
    is_truncated_ = false;
    hits_.clear();
  }

  // Returns whether the answer is complete, so that the search may stop.
  bool is_done() const { return mode_ == CastMode::kAny && !hits_.empty(); }
  bool empty() const { return hits_.empty(); }
  // Returns whether only hits before `last()` can change the answer.
  bool is_full() const { return hits_.size() >= capacity_; }
  // Returns the last kept hit in the total order; there must be a hit.
  const Hit& last() const { return hits_.front(); }

  // Adds a hit; returns whether it is kept, in which case it may displace the last one. `meter`
  // counts the comparisons if one hit may need many.
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

  // Ends the item: sorts the kept hits, drops the entry beyond `max_hits`, and returns the number
  // of hits. The result is meaningless once the meter has stopped.
  template <class Compare>
  size_t Finish(const Compare& compare, WorkMeter& meter) {
    if (!IsOrdered(mode_)) return hits_.size();
    SortHeap(hits_, meter, [&](const Hit& a, const Hit& b) { return ComesBefore(a, b, compare); });
    is_truncated_ = is_full();
    if (is_truncated_) hits_.pop_back();
    return hits_.size();
  }
  // Returns the hits in the total order, after `Finish`.
  std::span<const Hit> hits() const { return hits_; }
  // Returns whether there were more than `max_hits` hits, after `Finish`.
  bool is_truncated() const { return is_truncated_; }

  // Finishes item `index` and adds its row to `out`, answers with `counts`, `hits` and `truncated`
  // as in the public headers. `measure(rank)` makes the reported hit from `hits()[rank]` and counts
  // the work. Returns false once the meter has stopped; `out` is then meaningless.
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

  // Frees the memory if it has room for very many hits; this drops the hits.
  void Trim() {
    if (hits_.capacity() > kKeptCapacity) hits_ = {};
  }

 private:
  static constexpr size_t kKeptCapacity = 128;

  // Separate from `Add`, so that `Add` stays small for casts that keep one hit, the most frequent
  // ones.
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
