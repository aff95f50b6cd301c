// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does one line hit, as polygons come up in any order?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hit_collector.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/work_meter.h"
#include "cast/passages.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "shape/fraction.h"
#include "shape/line.h"

namespace carom::internal {

// The hits of one line so far, and how much of the line still matters. Reused from line to line, it
// allocates for lines of very many hits alone. Not thread-safe.
class LineCast {
 public:
  // To be set before the start, and left alone from then on.
  Line& line() { return line_; }
  // `options` and `meter` outlive what is asked of the line.
  void Start(const CastOptions& options, WorkMeter& meter) {
    options_ = &options;
    meter_ = &meter;
    reach_ = line_.bounds;
    end_ = line_.t_max;
    hits_.Start(options.mode, options.max_hits);
  }
  bool is_ordered() const { return IsOrdered(options_->mode); }

  // Looks at a polygon that the line may meet, perhaps not for the first time unless the mode is
  // ALL or ALL_PASSAGES. Returns whether the reach became smaller. `finder` is anyone's.
  bool Add(const IndexedPolygon& indexed, PassageFinder& finder);
  // The same for a polygon whose index is not at hand: O(edges).
  bool AddWithoutIndex(const Polygon& polygon, PassageFinder& finder);
  // The same for a body that the line may meet. It outlives what is asked of the line.
  bool AddBody(Body& body, PassageFinder& finder);
  bool has_hits() const { return !hits_.empty(); }
  // Under CLOSEST the fraction of the first hit so far, rounded. There is one.
  double BestRounded() const { return hits_.last().fraction().Rounded(line_); }
  // Whether no more polygons are wanted.
  bool is_done() const { return hits_.is_done(); }
  // Where the part of the line ends in which a better hit may be, and a box that holds that part.
  double end() const { return end_; }
  const Box& reach() const { return reach_; }
  // Passes over what comes after `t`.
  void EndAt(double t);

  // The number of hits. What follows does so once all polygons are there.
  size_t Finish();
  // Whether there were more than `max_hits`.
  bool is_truncated() const { return hits_.is_truncated(); }
  // Sets `hit`, that of `rank` in the total order, and the reflection if it is asked.
  void Measure(size_t rank, CastHit& hit, Vec2& reflection) const;
  // Gives back the memory of very many hits, which are then gone.
  void Trim() { hits_.Trim(); }

 private:
  // What is hit: a polygon of the scene, or a body with the polygon that it is, if it is one.
  struct Target {
    const Polygon* polygon;
    Body* body;
  };
  // A hit before its measures are computed.
  struct Candidate {
    Target target;
    Passage passage;
    bool at_exit;  // the passage's end is the hit

    const Fraction& fraction() const { return at_exit ? passage.end : passage.begin; }
    const PassageEdge& reported() const { return at_exit ? passage.exit : passage.entry; }
    HitSource source() const {
      return target.body != nullptr ? HitSource{true, target.body->index()}
                                    : HitSource{false, target.polygon->id()};
    }
  };

  // Orders hits by exact fraction.
  auto ByFraction() const {
    return [this](const Candidate& a, const Candidate& b) {
      return Fraction::Compare(line_, a.fraction(), b.fraction());
    };
  }

  bool AddPolygon(const IndexedPolygon& indexed, const Target& target, PassageFinder& finder);
  bool AddPassages(const Target& target, std::span<const Passage> passages);
  bool Keep(const Target& target, const Passage& passage, bool at_exit);
  void MeasurePolygon(const Candidate& candidate, const Polygon& target, CastHit& hit,
                      Vec2& reflection) const;
  void MeasureBody(const Candidate& candidate, CastHit& hit, Vec2& reflection) const;
  bool Narrow(const Fraction& best);

  const CastOptions* options_ = nullptr;
  WorkMeter* meter_ = nullptr;
  Line line_{Segment{}};
  Box reach_;  // holds the part up to `end_`
  double end_ = 1;
  HitCollector<Candidate> hits_;
};

}  // namespace carom::internal
