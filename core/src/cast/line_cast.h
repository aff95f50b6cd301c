// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which hits does one line have with polygons that are added one by one, in any order?
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

// Collects the hits of one line: keeps the hits so far, and the part of the line in which a better
// hit may be. A hit is the begin or the end of a passage, an interval of the line inside a polygon
// or body. A `LineCast` is reused from line to line, and allocates only for lines with very many
// hits. Not thread-safe.
//
// A soft cast (`StartSoft`) passes polygons and bodies of some categories, the soft ones: its hits,
// called events, are those of the mode ALL_PASSAGES, of which it keeps the first `soft_count` + 1.
// The event that ends the line is among them: the first hard event, or the last one kept.
class LineCast {
 public:
  // What a soft cast knows beside its events. The caller owns it, and sets the first two members.
  struct Soft {
    uint64_t mask = 0;            // categories of soft polygons and bodies
    bool stops_early = false;     // whether the caller asks only whether there is a hit
    bool is_decided = false;      // whether the search may stop, since there is a hit
    bool contains_start = false;  // whether a soft polygon or body contains the start
    Fraction start_end;           // the last end of the soft passages that contain the start
  };
  // How a soft cast ends.
  struct SoftEnd {
    bool has_hit = false;
    size_t rank = 0;  // of the hit, for `Measure`; without a hit, the number of events
  };
  // Returns the line, which the caller sets before `Start` and does not change after it.
  Line& line() { return line_; }
  // Starts the cast of `line()`. `options` and `meter` must outlive all calls for the line.
  void Start(const CastOptions& options, WorkMeter& meter) {
    options_ = &options;
    meter_ = &meter;
    reach_ = line_.bounds;
    end_ = line_.t_max;
    hits_.Start(options.mode, options.max_hits);
  }
  bool is_ordered() const { return IsOrdered(options_->mode); }
  // Starts a soft cast of `line()`. `options` has the mode ALL_PASSAGES, and `max_hits` is the soft
  // count. `options`, `soft` and `meter` must outlive all calls for the line. An object that
  // starts soft casts starts no others.
  void StartSoft(const CastOptions& options, Soft& soft, WorkMeter& meter);

  // Tests a polygon of the scene that the line may meet, and adds the hits of the polygon. A
  // polygon may be added repeatedly, except in cast modes ALL and ALL_PASSAGES. Returns whether
  // `reach()`, the bounds of the part of the line that is still searched, became smaller. `finder`
  // is working memory, which casts may share.
  bool Add(const IndexedPolygon& indexed, PassageFinder& finder);
  // Adds a polygon as `Add` does, but without an index of its edges: O(edges).
  bool AddWithoutIndex(const Polygon& polygon, PassageFinder& finder);
  // Tests a body (a moving shape that was sent with the queries) that the line may meet, and adds
  // the hits of the body. The body must outlive the calls for the line. Returns whether `reach()`
  // became smaller.
  bool AddBody(Body& body, PassageFinder& finder);
  bool has_hits() const { return !hits_.empty(); }
  // Returns the rounded fraction of the first hit so far, in cast mode CLOSEST. A hit must exist.
  double BestRounded() const { return hits_.last().fraction().Rounded(line_); }
  // Returns whether the answer is complete, so that no more polygons need to be added.
  bool is_done() const { return hits_.is_done(); }
  // A better hit can only be in the part of the line up to parameter `end()`; `reach()` is the
  // bounding box of that part.
  double end() const { return end_; }
  const Box& reach() const { return reach_; }
  // Makes later calls ignore hits at parameters above `t`.
  void EndAt(double t);

  // Sorts the hits and returns their number. The caller adds all polygons before `Finish`, and
  // calls the functions below after it.
  size_t Finish();
  // Ends a soft cast, in place of `Finish`.
  SoftEnd FinishSoft();
  // Returns the length of the part of the line before the end of a soft cast that is in soft
  // polygons and bodies. To be called after `FinishSoft`.
  double SoftLength(const SoftEnd& end) const;
  // Returns whether the line had more than `max_hits` hits.
  bool is_truncated() const { return hits_.is_truncated(); }
  // Sets `hit` to the hit of the given rank in the order of the answer (by the hit's position along
  // the line, then polygons of the scene before bodies, then id), and `reflection` if the options
  // ask for reflections.
  void Measure(size_t rank, CastHit& hit, Vec2& reflection) const;
  // Frees the memory of the hits if it is large, and discards the hits.
  void Trim() { hits_.Trim(); }

 private:
  // The object that is hit: `polygon`, a polygon of the scene, if `body` is null; else `body`.
  struct Target {
    const Polygon* polygon;
    Body* body;
  };
  // A hit without its measures (point, normal, edge), which are computed later.
  struct Candidate {
    Target target;
    Passage passage;
    bool at_exit;  // whether the passage's end is the hit

    const Fraction& fraction() const { return at_exit ? passage.end : passage.begin; }
    const PassageEdge& reported() const { return at_exit ? passage.exit : passage.entry; }
    HitSource source() const {
      return target.body != nullptr ? HitSource{true, target.body->index()}
                                    : HitSource{false, target.polygon->id()};
    }
  };

  // Returns a function that compares two hits by their exact fractions (positions along the line).
  auto ByFraction() const {
    return [this](const Candidate& a, const Candidate& b) {
      return Fraction::Compare(line_, a.fraction(), b.fraction());
    };
  }

  bool AddPolygon(const IndexedPolygon& indexed, const Target& target, PassageFinder& finder);
  bool AddPassages(const Target& target, std::span<const Passage> passages);
  bool Keep(const Target& target, const Passage& passage, bool at_exit);
  bool IsSoft(const Target& target) const {
    const uint64_t category =
        target.body != nullptr ? target.body->category() : target.polygon->category();
    return (category & soft_->mask) != 0;
  }
  bool AddSoft(const Target& target, std::span<const Passage> passages,
               const ReportedPassage& reported);
  void NoteStart(const Target& target, const Passage& passage);
  void MeasurePolygon(const Candidate& candidate, const Polygon& target, CastHit& hit,
                      Vec2& reflection) const;
  void MeasureBody(const Candidate& candidate, CastHit& hit, Vec2& reflection) const;
  bool Narrow(const Fraction& best);

  const CastOptions* options_ = nullptr;
  WorkMeter* meter_ = nullptr;
  Soft* soft_ = nullptr;  // null unless the cast is soft
  Line line_{Segment{}};
  Box reach_;  // bounds of the line up to parameter `end_`
  double end_ = 1;
  HitCollector<Candidate> hits_;
};

}  // namespace carom::internal
