// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// During which times is a moving point or shape in contact with a set, given when it touches the
// boundary of the set?
//
// A point or a shape moves through [start, limit]; it is in contact with a closed set S at the
// times in C. The input consists of *touches*: closed intervals of time, and their union B contains
// the times at which the point or shape meets the boundary of S. `PassageMerge` joins touches to
// *passages*, the largest intervals of C, in order. Lines measure time by exact fractions
// (cast/passages.h), arcs by roots of quadratics (cast/arc_passage.h), translated shapes by contact
// intervals (sweep/sweep_passage.h).
//
// Theorem. Let B be a subset of C and a union of finitely many closed intervals, and let contact
// change at times in B only: contact begins and ends on the boundary.
//   (1) Each gap, a largest open interval without a touch, lies in C or is disjoint from C. One
//       exact test of contact, at any time in the gap, therefore decides about the whole gap.
//   (2) Closed intervals that share a time merge: touches [1, 2] and [2, 3] make the passage
//       [1, 3], whatever happens near time 2. There is no gap to decide about.
//   (3) A passage begins at the start, if the start is in C, or at a touch: a passage that began in
//       a gap would contradict (1). For this reason a passage also ends at the limit or at a touch.
//   (4) If touches are sorted by their begins, each passage has consecutive touches:
//       [first, last), and the next passage begins with touch `last`.
// A start in C \ B with a gap that is judged to be outside would contradict (1). The passage is
// then the start alone; nothing else fails.
//
// Cost: one or two comparisons for each touch after the sort, and one call of `IsGapInside` for
// each gap in or after a passage.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/metered_sort.h"
#include "carom/work_meter.h"

namespace carom::internal {

// Sorts touches (intervals of time at which a moving point or shape meets the boundary of a set) by
// begin, then by `source()` (for example, the index of the touched edge), which distinguishes
// touches that begin at one time. Passages do not depend on the source, but the sort makes a later
// choice among touches of one time independent of the order in which the touches were found.
// `compare(a, b)` is the sign of a - b for two times.
template <class Touch, class Compare>
void SortTouches(std::vector<Touch>& touches, const Compare& compare, WorkMeter& meter) {
  Sort(touches, meter, [&](const Touch& a, const Touch& b) {
    const int order = compare(a.begin, b.begin);
    return order != 0 ? order < 0 : a.source() < b.source();
  });
}

// A passage, a largest interval of time of contact with a set, merged from touches (intervals of
// time on the boundary of the set).
template <class Time>
struct MergedPassage {
  Time begin;
  Time end;
  // The passage contains the sorted touches with indices in [first, last).
  size_t first;
  size_t last;
};

// Merges touches (intervals of time on the boundary of a set) to passages (largest intervals of
// contact with the set). A `Touch` has members `begin` and `end` of type Time, begin <= end. A
// `Path` has
//   Time Start(), Time Limit();
//   int Compare(const Time& a, const Time& b);           the sign of a - b, exactly
//   bool IsGapInside(const Time& begin, size_t next);    whether contact holds in the gap between
//       touches from `begin` to touch `next`, or to the limit if there is no such touch. `next`
//       increases from call to call, and the touches before `next` begin at or before `begin`.
// Keeps references to touches, path and meter. Not thread-safe.
template <class Time, class Touch, class Path>
class PassageMerge {
 public:
  // `touches` are sorted as by `SortTouches` and lie in [path.Start(), path.Limit()].
  // `starts_inside`: the moving point or shape is in contact with the set at the start.
  PassageMerge(std::span<const Touch> touches, bool starts_inside, Path& path, WorkMeter& meter)
      : touches_(touches), path_(path), meter_(meter), is_open_(starts_inside) {}

  // Returns the next passage (largest interval of contact), or nullopt after the last passage. The
  // result is meaningless once the meter has stopped.
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
  // Consumes the touches that begin at or before `end`, since closed intervals that share a time
  // belong to one passage, and advances `end` to the latest of the ends of these touches.
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
  bool is_open_;     // whether `Next` has yet to return the passage that contains the start
  size_t next_ = 0;  // index of the first touch that belongs to no passage so far
};

}  // namespace carom::internal
