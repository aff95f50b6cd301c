// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/visibility.h"

#include <cmath>
#include <cstdlib>

#include "carom/geometry.h"
#include "carom/sincos.h"
#include "index/scene_traversal.h"

namespace carom {
namespace {

// The beams of one fan at a time: segments of one length from one point, at angles that differ by a
// constant step. Stored in columns, as `CastSegments` reads them.
class Beams {
 public:
  // Sets the beams to the beams of fan i. If a number of the fan is out of range, records an error
  // and returns false.
  bool Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors, WorkMeter& meter);

  double range() const { return range_; }
  size_t size() const { return ax_.size(); }
  bool considers_bodies() const { return scope_.against != Against::kScene; }
  SegmentColumns segments() const { return {ax_, ay_, bx_, by_, scope_}; }

 private:
  double range_ = 0;
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<uint64_t> mask_;
  std::vector<uint32_t> ignore_owner_;
  Scope scope_;
};

// Returns whether an angle is accepted. The comparison is false for NaN.
bool IsAngle(double radians) { return std::abs(radians) <= kMaxAngle; }

// A fan consists of beams: segments of one length from one point, at evenly spaced angles. Checks
// the numbers of fan i in the order of the columns, then the angle of the last beam. The angles of
// all beams lie between the first and the last angle, since rounding is monotonic.
bool IsFan(const FanColumns& fans, size_t i, ItemChecker& check) {
  if (!check.Coordinate(ItemColumn::kX, fans.x[i]) ||
      !check.Coordinate(ItemColumn::kY, fans.y[i])) {
    return false;
  }
  if (!IsAngle(fans.angle[i])) return check.Fail(ItemColumn::kAngle, ItemFault::kAngleOutOfRange);
  if (!IsAngle(fans.step[i])) return check.Fail(ItemColumn::kStep, ItemFault::kAngleOutOfRange);
  if (!check.Coordinate(ItemColumn::kRange, fans.range[i])) return false;
  if (fans.range[i] < 0) return check.Fail(ItemColumn::kRange, ItemFault::kNegativeLength);
  if (fans.beams[i] < 1 || fans.beams[i] > kMaxBeams) {
    return check.Fail(ItemColumn::kBeams, ItemFault::kTooManyBeams);
  }
  if (!IsAngle(fans.angle[i] + (fans.beams[i] - 1) * fans.step[i])) {
    return check.Fail(ItemColumn::kStep, ItemFault::kAngleOutOfRange);
  }
  return true;
}

// Normalizes each number of the fan (-0 and magnitudes below 2^-140 become 0) before its use.
// `CastSegments` normalizes the ends of the beams.
bool Beams::Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors,
                 WorkMeter& meter) {
  ItemChecker check(i, errors);
  if (!IsFan(fans, i, check)) return false;
  const Vec2 from = Normalized(Vec2{fans.x[i], fans.y[i]});
  range_ = Normalized(fans.range[i]);
  ax_.assign(fans.beams[i], from.x);
  ay_.assign(fans.beams[i], from.y);
  bx_.clear();
  by_.clear();
  scope_.against = fans.scope.against;
  if (!fans.scope.mask.empty()) mask_.assign(fans.beams[i], fans.scope.mask[i]);
  scope_.mask = mask_;
  if (!fans.scope.ignore_owner.empty()) {
    ignore_owner_.assign(fans.beams[i], fans.scope.ignore_owner[i]);
  }
  scope_.ignore_owner = ignore_owner_;
  for (uint32_t k = 0; k < fans.beams[i] && meter.Spend(1); ++k) {
    const CosSin to = SinCos(fans.angle[i] + k * fans.step[i]);
    const Vec2 end{from.x + range_ * to.c, from.y + range_ * to.s};
    if (!IsAccepted(end)) return check.Fail(ItemColumn::kRange, ItemFault::kNotAccepted);
    bx_.push_back(end.x);
    by_.push_back(end.y);
  }
  return true;
}

// Appends the answer of each beam (a segment that starts at the point of its fan). A beam may have
// a hit at a distance equal to its range, so `casts.counts`, and not the distance, decides whether
// a beam has a hit.
void AddBeams(const Beams& beams, const CastAnswers& casts, FanAnswers& out) {
  size_t row = 0;
  for (const uint32_t count : casts.counts) {
    out.hits.push_back(count == 0 ? 0 : 1);
    out.distances.push_back(count == 0 ? beams.range()
                                       : casts.hits[row].fraction * beams.range() + 0.0);
    out.polygon_ids.push_back(count == 0 ? 0 : casts.hits[row].polygon_id);
    if (beams.considers_bodies()) {
      out.is_body.push_back(count != 0 && casts.hits[row].is_body ? 1 : 0);
    }
    row += count;
  }
}

}  // namespace

void SightAnswers::Clear() {
  visible.clear();
  errors.clear();
}

void FanAnswers::Clear() {
  counts.clear();
  hits.clear();
  distances.clear();
  polygon_ids.clear();
  is_body.clear();
  errors.clear();
}

// Casts the lines of sight in mode ANY, which stops at the first polygon that a line meets. A line
// of sight with an error has no hit either, but is reported as not visible.
bool TestLinesOfSight(const World& world, const SegmentColumns& sights, uint64_t mask,
                      SightAnswers& out, WorkMeter& meter) {
  out.Clear();
  CastOptions options;
  options.mode = CastMode::kAny;
  options.mask = mask;
  CastAnswers casts;
  if (!CastSegments(world, sights, options, casts, meter)) return false;
  for (const uint32_t count : casts.counts) out.visible.push_back(count == 0 ? 1 : 0);
  for (const ItemError& error : casts.errors) out.visible[error.index] = 0;
  out.errors = std::move(casts.errors);
  return true;
}

// Casts the beams of each fan (segments of one length from one point, at evenly spaced angles) as
// one batch of segments.
bool ScanFans(const World& world, const FanColumns& fans, const FanOptions& options,
              FanAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(fans.size(), 0);
  CastOptions closest;
  closest.inside_policy = options.inside_policy;
  closest.mask = options.mask;
  CastAnswers casts;
  Beams beams;
  for (size_t i = 0; i < fans.size(); ++i) {
    if (!meter.Spend(1)) return false;
    if (!beams.Read(fans, i, out.errors, meter)) continue;
    if (meter.stopped() || !CastSegments(world, beams.segments(), closest, casts, meter)) {
      return false;
    }
    // `CastSegments` has counted the answer rows of the beams with a hit; `SpendRows` counts the
    // rows of the beams without a hit.
    if (!meter.SpendRows(beams.size() - casts.hits.size())) return false;
    AddBeams(beams, casts, out);
    out.counts[i] = fans.beams[i];
  }
  return true;
}

}  // namespace carom
