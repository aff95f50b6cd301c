// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which edge is nearest to an eye, in each direction?
//
// An envelope divides the circle of directions, cut at (-1, 0), into spans: open intervals of
// directions with one owner each. The owner is the nearest edge, or `kOpen` where no edge is, or
// `kClosed` outside of the sector. Neighbouring spans have different owners, so an envelope depends
// on the set of edges alone, whatever order they were inserted in.
//
// Edges are inserted in lots. An edge that lies behind the envelope throughout is dropped after a
// binary search and a look at the spans that it covers, so it pays to insert near edges first. The
// other edges of the lot make an envelope of their own, by merging neighbours in angular order, two
// by two, and are then merged with the envelope. Two envelopes are merged in one pass, which
// compares the two owners of each interval in which neither changes; owners that cross there make
// two spans. Cost: O((n + k) log n + s) for n edges, in O(log n) lots that grow geometrically, k
// crossings of nearest edges, and s spans that hidden edges cover, each edge those of the envelope
// of nearer lots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "area/direction.h"
#include "carom/work_meter.h"

namespace carom::internal {

// A part of an edge that blocks: the edge in the directions from `begin` to `end`, begin < end.
struct Blocker {
  EyeDirection begin, end;
  uint32_t edge;
};

// Adds to `blockers` the edge in the directions from `begin` to `end`, counter-clockwise: two
// blockers if the directions go across the cut.
void AddBlocker(const EyeDirection& begin, const EyeDirection& end, uint32_t edge,
                std::vector<Blocker>& blockers);

// An interval of directions with one owner, from `begin` to the begin of the next span.
struct Span {
  EyeDirection begin;
  uint32_t owner;
};

// Not thread-safe. An object that is used for many eyes allocates only for larger envelopes.
class Envelope {
 public:
  // Starts anew with no edge. The sector has the sides `from` and `to`, counter-clockwise.
  void Start();
  void Start(const Eye& eye, const EyeDirection& from, const EyeDirection& to);
  // Starts anew with no edge, to look only in some ranges of directions, which do not touch, in
  // counter-clockwise order.
  struct Range {
    EyeDirection from, to;
  };
  void Start(const Eye& eye, std::span<const Range> ranges);

  // Inserts edges of `eye`. Reorders `lot`. Returns false once the meter stops the work.
  bool Insert(const Eye& eye, std::span<Blocker> lot, WorkMeter& meter);

  // Returns whether the envelope is nearer than the edge of `blocker` in all its directions. Cost:
  // O(log n) and the spans in these directions, up to the first one that is not nearer.
  bool IsHidden(const Eye& eye, const Blocker& blocker, WorkMeter& meter) const;

  // Returns true only if the envelope is nearer than every point of `box`, in all directions of the
  // box. The eye must be outside of the box.
  bool IsHidden(const Eye& eye, const Box& box, WorkMeter& meter) const;

  // Returns whether the edge of `blocker` is nearer than the envelope in some of its directions.
  // Cost: as `IsHidden`.
  bool ShowsPartOf(const Eye& eye, const Blocker& blocker, WorkMeter& meter) const;

  // Returns whether a point other than the eye is in the interior of the area: nearer than the
  // envelope in its direction and in all directions near that. `to` is the direction of the point,
  // a vertex of `eye`. Cost: O(log n).
  bool IsInside(const Eye& eye, const EyeDirection& to, WorkMeter& meter) const;

  // Returns the square of a distance, with a relative error of at most 4 * 2^-53, beyond which
  // every point is behind an edge of the envelope or outside of the sector; infinity if the sector
  // has a direction without an edge. Cost: O(n).
  double Farthest2(const Eye& eye) const;

  // Returns the number of spans for which there is memory.
  size_t capacity() const {
    return spans_.capacity() + merged_.capacity() + lists_.capacity() + next_lists_.capacity();
  }

  // Returns the spans in counter-clockwise order, and at the end an element that begins at the cut.
  const std::vector<Span>& spans() const { return spans_; }

 private:
  // A list of spans in `lists_`; the last one begins where the list ends.
  struct List {
    size_t begin, size;
  };

  void StartSpan(const Eye& eye, const EyeDirection& begin, uint32_t owner);
  bool MergeLists(const Eye& eye, WorkMeter& meter);
  // Returns the first span that reaches behind `begin`.
  std::vector<Span>::const_iterator SpanAt(const Eye& eye, const EyeDirection& begin) const;

  std::vector<Span> spans_;
  std::vector<Span> merged_;
  std::vector<Span> lists_, next_lists_;
  std::vector<List> bounds_, next_bounds_;
};

}  // namespace carom::internal
