// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "sight/fan_scan.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/thread_scratch.h"
#include "cast/fast_batch.h"
#include "cast/general_batch.h"
#include "edges/indexed_polygon.h"
#include "index/scene_index.h"
#include "numeric/exact.h"
#include "shape/line.h"
#include "shape/meets_box.h"
#include "sight/fan_lanes.h"

namespace carom::internal {
namespace {

// A part of a fan with fewer beams is cast beam by beam.
constexpr size_t kFewBeams = 6;
// All polygons that meet the box of a part of a fan are found if they are about kPolygons +
// kPolygonsABeam * (number of beams) at most: to find a polygon and compare it with a few beams
// takes 200 instructions, and to cast a beam by itself 1,500.
constexpr double kPolygons = 16;
constexpr double kPolygonsABeam = 3;
// Otherwise, a part with at least kManyBeams beams is compared with the nearest polygons, about as
// many as beams and kPolygons. Where that has decided less than half of the first kTried beams or
// more, as where polygons are small, the rest is cast beam by beam.
constexpr size_t kManyBeams = 32;
constexpr size_t kTried = 128;
// The search gives up beyond kTooMany polygons a beam, which are near where polygons lie much
// denser than elsewhere.
constexpr size_t kTooMany = 16;

// A polygon near the point that beams start at, and the least parameter t at which a beam may meet
// its box.
struct Near {
  double nearest;
  const void* polygon;  // its address (`Polygon::memory`)
};

// The working memory of `FanCaster`, which the thread keeps from batch to batch while it is small.
struct FanScratch {
  bool IsWorthCaching() const { return polygons.points.capacity() + left.capacity() <= 16384; }

  FanBeams beams;
  FanPolygons polygons;
  std::vector<Near> near;
  std::vector<uint32_t> which;    // beams of a part with a crossing
  std::vector<size_t> undecided;  // indices of beams
  std::array<double, FanBeams::kMost> fractions;
  // Beams that are cast one by one: their indices, and their ends.
  std::vector<size_t> left;
  std::vector<double> ax, ay, bx, by;
  CastAnswers casts;
};

// Casts the beams of fans, up to `FanBeams::kMost` beams of one fan at a time.
class FanCaster {
 public:
  FanCaster(const Scene& scene, const CastOptions& options, const FanSource& source,
            const BeamHits& out, WorkMeter& meter)
      : scene_(scene),
        index_(scene.index()),
        options_(options),
        source_(source),
        out_(out),
        meter_(meter) {}

  // Casts all beams. Called once. Returns false once the meter stops the work.
  bool Run() {
    scratch_->left.clear();
    scratch_->ax.clear();
    scratch_->ay.clear();
    scratch_->bx.clear();
    scratch_->by.clear();
    const bool is_fast = IsFastQuestion(options_);
    for (const FanBatch& fan : source_.fans) {
      for (size_t at = 0; at < fan.count; at += FanBeams::kMost) {
        const FanBatch part{fan.from, fan.begin + at, std::min(FanBeams::kMost, fan.count - at)};
        if (!meter_.Spend(part.count)) return false;
        if (!is_fast || part.count < kFewBeams) {
          for (size_t i = 0; i < part.count; ++i) Leave(part, i);
        } else if (!CastPart(part)) {
          return false;
        }
      }
    }
    if (!CastLeft(is_fast)) return false;
    if (scratch_->IsWorthCaching()) scratch_.Return();
    return true;
  }

 private:
  bool CastPart(const FanBatch& part);
  // Leaves beam i of a part for `CastLeft`.
  void Leave(const FanBatch& part, size_t i) {
    const size_t beam = part.begin + i;
    scratch_->left.push_back(beam);
    scratch_->ax.push_back(part.from.x);
    scratch_->ay.push_back(part.from.y);
    scratch_->bx.push_back(source_.end_x[beam]);
    scratch_->by.push_back(source_.end_y[beam]);
  }
  void WriteCasts(std::span<const size_t> beams);
  void SetLength();
  double CountIn(const Box& reach) const;
  bool Search(const Box& bounds);
  bool FindPolygons(const Box& reach, const Box& searched);
  bool MayStartIn(const IndexedPolygon& indexed);
  void AddPolygons();
  size_t StopWithin(double half);
  bool Write(const FanBatch& part);
  bool CastUndecided(Vec2 from);
  bool CastLeft(bool is_fast);

  const Scene& scene_;
  const SceneIndex& index_;
  const CastOptions& options_;
  const FanSource& source_;
  const BeamHits& out_;
  WorkMeter& meter_;
  ThreadScratch<FanScratch> scratch_;
  double length_ = 0;       // no beam of the part is longer
  size_t tried_ = 0;        // beams that were compared with the polygons in a square,
  size_t decided_ = 0;      // and those of them that were decided there
  bool is_inside_ = false;  // whether the beams start inside of polygon `inside_`
  uint64_t inside_ = 0;     // the least id of these polygons
};

// Returns the part of `box` within `half` of `from`, along x and along y.
Box Around(Vec2 from, double half, const Box& box) {
  return {{std::max(box.min.x, from.x - half), std::max(box.min.y, from.y - half)},
          {std::min(box.max.x, from.x + half), std::min(box.max.y, from.y + half)}};
}

// Casts the beams of a part of a fan. Beams that are not compared with all polygons near them are
// left for `CastLeft`.
bool FanCaster::CastPart(const FanBatch& part) {
  FanBeams& beams = scratch_->beams;
  const Box bounds = StartBeams(part.from, source_.end_x.subspan(part.begin, part.count),
                                source_.end_y.subspan(part.begin, part.count), beams);
  scratch_->polygons.chains.clear();
  scratch_->polygons.point_count = 0;
  is_inside_ = false;
  SetLength();
  const bool is_done = length_ > 0 && Search(bounds);
  if (meter_.stopped()) return false;
  if (is_inside_ && is_done) {
    for (size_t i = part.begin; i < part.begin + part.count; ++i) {
      out_.is_hit[i] = 1;
      out_.fraction[i] = 0;
      out_.polygon_id[i] = inside_;
    }
    return meter_.SpendRows(part.count);
  }
  for (size_t i = 0; !is_done && i < part.count; ++i) {
    if (!(beams.limit[i] >= 0)) continue;
    beams.edge[i] = FanBeams::kNoEdge;
    Leave(part, i);
  }
  return Write(part);
}

void FanCaster::SetLength() {
  const FanBeams& beams = scratch_->beams;
  double most = 0;
  for (size_t i = 0; i < beams.count; ++i) {
    most = std::max(most, beams.dx[i] * beams.dx[i] + beams.dy[i] * beams.dy[i]);
  }
  length_ = std::sqrt(most) * kUp;
}

// Returns about the number of polygons near a box.
double FanCaster::CountIn(const Box& reach) const {
  const auto all = static_cast<double>(index_.polygon_count());
  const double spacing = index_.spacing();
  if (!(spacing > 0)) return all;
  const Box& scene = index_.bounds();
  const double width = std::min(reach.max.x, scene.max.x) - std::max(reach.min.x, scene.min.x);
  const double height = std::min(reach.max.y, scene.max.y) - std::max(reach.min.y, scene.min.y);
  if (!(width >= 0 && height >= 0)) return 0;
  return std::min(all, (width / spacing + 1) * (height / spacing + 1));
}

// Compares the beams with the polygons near them: with all polygons that meet `bounds` if they are
// few, else with those in a square about the point that the beams start at, which is doubled while
// it adds few polygons for each beam that is not decided. Returns false if beams remain that have
// not been compared with all polygons near them: those with a `limit` of at least 0.
bool FanCaster::Search(const Box& bounds) {
  FanBeams& beams = scratch_->beams;
  const auto all = static_cast<double>(beams.count);
  double most = kPolygons + kPolygonsABeam * all;
  double half = HUGE_VAL;
  if (CountIn(bounds) > most) {
    if (beams.count < kManyBeams || (tried_ >= kTried && 2 * decided_ < tried_)) return false;
    most = kPolygons + all;
    half = index_.spacing() * 0.5 * (std::sqrt(most) - 1);
  }
  Box searched;
  for (double before = 0;;) {
    const Box reach = Around(beams.from, half, bounds);
    const double count = CountIn(reach);
    if (count - before > most || !FindPolygons(reach, searched)) return false;
    if (is_inside_) return true;
    AddPolygons();
    if (!ScanPolygons(scratch_->polygons, beams, meter_)) return false;
    if (reach.min == bounds.min && reach.max == bounds.max) return true;
    const size_t live = StopWithin(half);
    if (before == 0) {
      tried_ += beams.count;
      decided_ += beams.count - live;
    }
    if (live < kFewBeams) return live == 0;
    most = kPolygons + static_cast<double>(live);
    before = count;
    searched = reach;
    half *= 2;
  }
}

// Sets `scratch_->near` to the polygons that meet `reach` and do not meet `searched`, with which
// all beams have been compared before. Sets `is_inside_` and `inside_` if the beams start inside of
// polygons and have their hits there. Returns false if the polygons are too many, if the beams
// start on an edge, or inside of a polygon and the inside policy does not report that start.
bool FanCaster::FindPolygons(const Box& reach, const Box& searched) {
  std::vector<Near>& near = scratch_->near;
  near.clear();
  const Vec2 from = scratch_->beams.from;
  const double scale = kDown / length_;
  const size_t most = std::min(FanPolygons::kMost, kTooMany * scratch_->beams.count);
  const auto visit = [&](const IndexedPolygon& indexed) {
    const Polygon& polygon = indexed.polygon();
    const Box& box = polygon.bounds();
    if ((polygon.category() & options_.mask) == 0 || !reach.Intersects(box) ||
        searched.Intersects(box)) {
      return true;
    }
    const double x = std::max({box.min.x - from.x, from.x - box.max.x, 0.0});
    const double y = std::max({box.min.y - from.y, from.y - box.max.y, 0.0});
    if (x == 0 && y == 0 && !MayStartIn(indexed)) return false;
    const double nearest = std::sqrt(x * x + y * y) * scale;
    if (nearest > 1) return true;
    if (near.size() == most) return false;
    near.push_back({nearest, polygon.memory()});
    return true;
  };
  return index_.Traverse(meter_, MeetsBox{reach}, visit) && meter_.Spend(near.size());
}

// Returns whether the search may go on with a polygon whose box contains the point that the beams
// start at: they start outside of the polygon, or inside, and have their hits there.
bool FanCaster::MayStartIn(const IndexedPolygon& indexed) {
  const Location location = LocateInPolygon(indexed, scratch_->beams.from, meter_).location;
  if (location == Location::kOutside) return true;
  if (location != Location::kInside || options_.inside_policy != InsidePolicy::kReportStart) {
    return false;
  }
  const uint64_t id = indexed.polygon().id();
  inside_ = is_inside_ ? std::min(inside_, id) : id;
  is_inside_ = true;
  return true;
}

// Sets the columns of `scratch_->polygons` to the polygons that `FindPolygons` has found, by
// ascending distance. The boxes' corners to the left and right are those that bound the box's cone
// of directions.
void FanCaster::AddPolygons() {
  std::vector<Near>& near = scratch_->near;
  std::sort(near.begin(), near.end(),
            [](const Near& a, const Near& b) { return a.nearest < b.nearest; });
  FanPolygons& to = scratch_->polygons;
  const Vec2 from = scratch_->beams.from;
  to.count = near.size();
  for (size_t i = 0; i < near.size(); ++i) {
    to.polygons[i] = Unowned<Polygon>(near[i].polygon);
    const Box& box = to.polygons[i]->bounds();
    const double x[] = {box.min.x - from.x, box.max.x - from.x};
    const double y[] = {box.min.y - from.y, box.max.y - from.y};
    // Whether the box is to the right of, to the left of, above or below the beams' start.
    const bool right = x[0] > 0, left = x[1]<0, above = y[0]> 0, below = y[1] < 0;
    to.left_x[i] = x[below || (!above && left) ? 1 : 0];
    to.left_y[i] = y[right || (!left && below) ? 1 : 0];
    to.right_x[i] = x[above || (!below && left) ? 1 : 0];
    to.right_y[i] = y[left || (!right && below) ? 1 : 0];
    const bool is_narrow = (right || left || above || below) &&
                           to.left_x[i] * to.right_x[i] + to.left_y[i] * to.right_y[i] > 0;
    if (!is_narrow) to.left_x[i] = to.left_y[i] = to.right_x[i] = to.right_y[i] = 0;
    to.nearest[i] = near[i].nearest;
    to.edges[i].is_set = false;
  }
  for (size_t i = near.size(); i < near.size() + kMaxLanes; ++i) {
    to.nearest[i] = HUGE_VAL;
    to.left_x[i] = to.left_y[i] = to.right_x[i] = to.right_y[i] = 0;
  }
}

// Stops the beams that have been compared with all polygons that they may meet up to their first
// crossing: those that are, up to there, within `half` of their start along x and along y. Returns
// the number of the other beams that are not stopped.
size_t FanCaster::StopWithin(double half) {
  FanBeams& beams = scratch_->beams;
  const Vec2 from = beams.from;
  // The rounded sides of the square may be nearer than `half`.
  const double within = std::min({from.x - (from.x - half), (from.x + half) - from.x,
                                  from.y - (from.y - half), (from.y + half) - from.y}) *
                        kDown;
  size_t live = 0;
  for (size_t i = 0; i < beams.padded(); ++i) {
    const double extent = std::max(std::abs(beams.dx[i]), std::abs(beams.dy[i]));
    if (beams.limit[i] * extent <= within) beams.Stop(i);
    if (beams.limit[i] >= 0 && i < beams.count) ++live;
  }
  return live;
}

// Writes the hits of the beams of a part of a fan that are decided, and casts the undecided ones.
// Measuring a hit counts four units of work.
bool FanCaster::Write(const FanBatch& part) {
  const FanBeams& beams = scratch_->beams;
  std::vector<uint32_t>& which = scratch_->which;
  which.clear();
  scratch_->undecided.clear();
  for (uint32_t i = 0; i < part.count; ++i) {
    if (beams.edge[i] >= 0) which.push_back(i);
    if (beams.edge[i] == FanBeams::kUndecided) scratch_->undecided.push_back(part.begin + i);
  }
  if (!meter_.SpendRows(which.size()) || !meter_.Spend(4 * which.size())) return false;
  const FanPolygons& polygons = scratch_->polygons;
  MeasureCrossings(beams, polygons, which, scratch_->fractions.data());
  for (size_t k = 0; k < which.size(); ++k) {
    const size_t beam = part.begin + which[k];
    out_.is_hit[beam] = 1;
    out_.fraction[beam] = scratch_->fractions[k];
    out_.polygon_id[beam] = polygons.points[static_cast<size_t>(beams.edge[which[k]])].polygon;
  }
  return scratch_->undecided.empty() || CastUndecided(part.from);
}

// Writes the answers of `scratch_->casts` for these beams.
void FanCaster::WriteCasts(std::span<const size_t> beams) {
  const CastAnswers& casts = scratch_->casts;
  size_t row = 0;
  for (size_t k = 0; k < beams.size(); ++k) {
    if (casts.counts[k] == 0) continue;
    out_.is_hit[beams[k]] = 1;
    out_.fraction[beams[k]] = casts.hits[row].fraction;
    out_.polygon_id[beams[k]] = casts.hits[row].polygon_id;
    ++row;
  }
}

bool FanCaster::CastUndecided(Vec2 from) {
  const std::vector<size_t>& beams = scratch_->undecided;
  const auto line_of = [&](size_t k, Line& line) {
    const Vec2 end{source_.end_x[beams[k]], source_.end_y[beams[k]]};
    line = Line(Segment{from, Normalized(end)});
    return true;
  };
  if (!CastGeneral(scene_, options_, beams.size(), line_of, scratch_->casts, meter_)) return false;
  WriteCasts(beams);
  return true;
}

// Casts the beams that are left one by one.
bool FanCaster::CastLeft(bool is_fast) {
  const FanScratch& of = *scratch_;
  const size_t count = of.left.size();
  if (count == 0) return true;
  const auto line_of = [&](size_t k, Line& line) {
    line = Line(Segment{{of.ax[k], of.ay[k]}, Normalized(Vec2{of.bx[k], of.by[k]})});
    return true;
  };
  const SegmentColumns segments{of.ax, of.ay, of.bx, of.by};
  CastAnswers& casts = scratch_->casts;
  const bool is_finished =
      is_fast ? CastFast(scene_, options_, {count, line_of, &segments}, casts, meter_)
              : CastGeneral(scene_, options_, count, line_of, casts, meter_);
  if (is_finished) WriteCasts(of.left);
  return is_finished;
}

}  // namespace

bool CastFans(const Scene& scene, const CastOptions& options, const FanSource& source,
              const BeamHits& out, WorkMeter& meter) {
  return FanCaster(scene, options, source, out, meter).Run();
}

}  // namespace carom::internal
