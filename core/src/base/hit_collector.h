// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which hits of one segment, ray, arc or sweep are the answer?
//
// `HitCollector` takes hits in the order in which the index of the scene finds them, and keeps the
// hits that the cast mode asks for: in mode ANY the first hit found, in mode CLOSEST the least hit,
// in modes ALL and ALL_PASSAGES the `max_hits` least hits, and whether there were more. Hits are
// compared in the total order (exact time, hits of the scene's polygons before hits of bodies,
// polygon id or index of the body, ring, edge). All hits of one polygon differ in time, since its
// passages are disjoint, so that ring and edge never decide.
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

// Returns whether the mode reports several hits, sorted in the total order of `HitCollector`: by
// exact time, then polygons of the scene before bodies, then by id.
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

// The hit that a cast reports of a polygon by its inside policy (`InsidePolicy`: what is reported
// of a polygon that contains the start): the begin or the end of passage number `index`. A passage
// is a largest interval of time throughout which the line is in the polygon. In cast mode
// ALL_PASSAGES, the begins of all later passages are reported, too.
struct ReportedPassage {
  size_t index = 0;  // 1 if the passage that contains the start is skipped
  bool at_exit = false;
};

// Returns which begin or end of a passage the policy reports of a polygon (passage 0 is the first):
//                 starts outside      starts inside
//   REPORT_START  begin of passage 0  begin of passage 0, the start
//   IGNORE        begin of passage 0  begin of passage 1, the re-entry
//   EXIT          begin of passage 0  end of passage 0
inline ReportedPassage ApplyInsidePolicy(InsidePolicy policy, bool starts_inside) {
  if (!starts_inside) return {};
  return {policy == InsidePolicy::kIgnore ? size_t{1} : 0, policy == InsidePolicy::kExit};
}

// Collects the hits of one query item (a segment, ray, arc or sweep) after another. A `Hit` has a
// member function `source()` that returns its `HitSource`. The argument `compare` of the functions
// below returns the exact sign of the difference of the times of two hits, and returns equal
// results from one call of `Start` to the next. An object that is used for many items allocates
// only for items with very many hits. Not thread-safe.
template <class Hit>
class HitCollector {
 public:
  void Start(CastMode mode, uint32_t max_hits) {
    mode_ = mode;
    capacity_ = IsOrdered(mode) ? size_t{max_hits} + 1 : 1;
    is_truncated_ = false;
    hits_.clear();
  }

  // Returns whether the answer is complete, so that the search for hits may stop: in mode ANY,
  // after the first hit.
  bool is_done() const { return mode_ == CastMode::kAny && !hits_.empty(); }
  bool empty() const { return hits_.empty(); }
  // Returns whether as many hits are kept as the mode needs, so that only hits before `last()` can
  // change the answer.
  bool is_full() const { return hits_.size() >= capacity_; }
  // Returns the kept hit that is last in the total order (latest time, bodies after the polygons of
  // the scene, greatest id). There must be a hit.
  const Hit& last() const { return hits_.front(); }

  // Adds a hit. Returns whether the hit is kept, in which case it may displace the last kept hit.
  // `meter` counts the comparisons in modes that keep several hits, since one hit may then need
  // many.
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

  // Ends the current query item: sorts the kept hits, drops the hit beyond `max_hits`, if any, and
  // returns the number of hits. The result is meaningless once the meter has stopped.
  template <class Compare>
  size_t Finish(const Compare& compare, WorkMeter& meter) {
    if (!IsOrdered(mode_)) return hits_.size();
    SortHeap(hits_, meter, [&](const Hit& a, const Hit& b) { return ComesBefore(a, b, compare); });
    is_truncated_ = is_full();
    if (is_truncated_) hits_.pop_back();
    return hits_.size();
  }
  // Sorts the kept hits, and drops none, in place of `Finish`.
  template <class Compare>
  void Sort(const Compare& compare, WorkMeter& meter) {
    if (capacity_ == 1) return;
    SortHeap(hits_, meter, [&](const Hit& a, const Hit& b) { return ComesBefore(a, b, compare); });
  }
  // Returns the hits, sorted by exact time, then polygons of the scene before bodies, then id.
  // Valid after `Finish` or `Sort`.
  std::span<const Hit> hits() const { return hits_; }
  // Returns whether there were more than `max_hits` hits. Valid after `Finish`.
  bool is_truncated() const { return is_truncated_; }

  // Finishes query item `index` of a batch and writes its hits to `out`, which has the members
  // `counts`, `hits` and `truncated` that `CastAnswers` has. `measure(rank)` returns the hit to
  // report for `hits()[rank]`, and counts its own work. Returns false once the meter has stopped;
  // `out` is then meaningless.
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

  // Frees the memory of the hits, and drops the hits, if the memory has room for more than
  // `kKeptCapacity` hits.
  void Trim() {
    if (hits_.capacity() > kKeptCapacity) hits_ = {};
  }

 private:
  static constexpr size_t kKeptCapacity = 128;

  // Adds a hit in modes that keep several hits. A separate function, so that `Add` stays small for
  // the most frequent casts, which keep one hit.
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
