// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// From when to when is something inside a set, given when it touches the set's boundary?
//
// A point or a shape moves through [start, limit]; it is in contact with a closed set S at the
// times in C. Known are its *touches*: closed intervals of time whose union B is when it meets the
// boundary of S. `PassageMerge` joins them to the *passages*, the largest intervals of C, in order.
// Lines measure time by exact fractions (cast/passages.h), arcs by roots of quadratics
// (cast/arc_passage.h), translated shapes by contact intervals (sweep/sweep_passage.h).
//
// Theorem. Let B be a subset of C and a union of finitely many closed intervals, and let contact
// change at times in B only: it begins and ends on the boundary.
//   (1) Each gap, a largest open interval without a touch, lies in C or apart from it. So one exact
//       location, at any time in the gap, decides about all of it.
//   (2) Closed intervals that share a time are one: touches [1, 2] and [2, 3] make the passage
//       [1, 3], whatever lies beside time 2. No gap is there to be asked about.
//   (3) A passage begins at the start, if that is in C, or at a touch: a passage that began within
//       a gap would contradict (1). It ends at the limit or at a touch, likewise.
//   (4) Touches sorted by their begins belong to passages in a row: passage k holds touches
//       [first, last), and the next one begins with touch `last`.
// Excluded: a start in C \ B whose gap is judged to be outside contradicts (1). The passage is then
// that one time, and nothing worse.
//
// Cost: one comparison or two a touch after the sort, one location a gap within or after a passage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/metered_sort.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Sorts touches by begin, then by `source()`, which distinguishes those of one time: passages do
// not depend on it, but whoever picks among touches of one time does not depend on the visiting
// order. `compare(a, b)` is the sign of a - b for two times.
template <class Touch, class Compare>
void SortTouches(std::vector<Touch>& touches, const Compare& compare, WorkMeter& meter) {
  Sort(touches, meter, [&](const Touch& a, const Touch& b) {
    const int order = compare(a.begin, b.begin);
    return order != 0 ? order < 0 : a.source() < b.source();
  });
}

template <class Time>
struct MergedPassage {
  Time begin;
  Time end;
  // It holds the touches [first, last).
  size_t first;
  size_t last;
};

// A `Touch` has members `begin` and `end` of type Time, begin <= end. A `Path` has
//   Time Start(), Time Limit();
//   int Compare(const Time& a, const Time& b);           the sign of a - b, exactly
//   bool IsGapInside(const Time& begin, size_t next);    whether the gap from `begin` to touch
//       `next`, or to the limit where there is none, is in C. `next` increases from call to call,
//       and the touches before it are those that begin up to `begin`.
// Keeps references to all three. Not thread-safe.
template <class Time, class Touch, class Path>
class PassageMerge {
 public:
  // `touches` are sorted as by `SortTouches` and lie in [start, limit]. `starts_inside` says
  // whether the start is in C.
  PassageMerge(std::span<const Touch> touches, bool starts_inside, Path& path, WorkMeter& meter)
      : touches_(touches), path_(path), meter_(meter), is_open_(starts_inside) {}

  // The next passage, or nothing after the last one. Meaningless once the meter has stopped.
  std::optional<MergedPassage<Time>> Next() {
    if (!is_open_ && next_ == touches_.size()) return std::nullopt;
    const Time begin = is_open_ ? path_.Start() : touches_[next_].begin;
    MergedPassage<Time> passage{begin, begin, next_, next_};
    is_open_ = false;
    while (!meter_.stopped()) {
      Absorb(passage.end);
      if (path_.Compare(passage.end, path_.Limit()) >= 0) break;
      if (!path_.IsGapInside(passage.end, next_)) break;
      if (next_ == touches_.size()) {
        passage.end = path_.Limit();
        break;
      }
      passage.end = touches_[next_].begin;
    }
    passage.last = next_;
    return meter_.stopped() ? std::nullopt : std::optional(passage);
  }

 private:
  // Law (2): takes the touches that begin up to `end`, which moves on with theirs.
  void Absorb(Time& end) {
    for (; next_ < touches_.size() && meter_.Spend(1); ++next_) {
      const Touch& touch = touches_[next_];
      if (path_.Compare(touch.begin, end) > 0) break;
      if (path_.Compare(touch.end, end) > 0) end = touch.end;
    }
  }

  std::span<const Touch> touches_;
  Path& path_;
  WorkMeter& meter_;
  bool is_open_;     // the passage that holds the start has yet to be followed
  size_t next_ = 0;  // the first touch of no passage so far
};

}  // namespace carom::internal
