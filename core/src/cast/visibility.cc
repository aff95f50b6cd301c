// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/visibility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "carom/geometry.h"
#include "carom/sincos.h"
#include "index/scene_traversal.h"
#include "numeric/sincos_column.h"

namespace carom {
namespace {

// The beams of some fans: segments from the points of the fans, at angles that differ by a constant
// step in each fan. Stored in columns, as `CastSegments` reads them.
class Beams {
 public:
  // Fans are read until there are this many beams: enough for `CastSegments` to interleave lines.
  static constexpr size_t kEnough = 2048;
  // The number of beams whose ends are computed at once.
  static constexpr size_t kAtOnce = 256;
  // A fan whose beams are here.
  struct Fan {
    size_t index;
    uint32_t beams;
    double range;
  };

  // Adds the beams of fan i. If a number of the fan is out of range, records an error and adds
  // nothing.
  void Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors, WorkMeter& meter);
  void Clear();

  std::span<const Fan> fans() const { return fans_; }
  size_t size() const { return ax_.size(); }
  bool considers_bodies() const { return scope_.against != Against::kScene; }
  SegmentColumns segments() const { return {ax_, ay_, bx_, by_, scope_}; }

 private:
  std::vector<Fan> fans_;
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

void Beams::Clear() {
  fans_.clear();
  ax_.clear();
  ay_.clear();
  bx_.clear();
  by_.clear();
  mask_.clear();
  ignore_owner_.clear();
}

// Normalizes each number of the fan (-0 and magnitudes below 2^-140 become 0) before its use.
// `CastSegments` normalizes the ends of the beams.
void Beams::Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors,
                 WorkMeter& meter) {
  ItemChecker check(i, errors);
  if (!IsFan(fans, i, check)) return;
  const Vec2 from = Normalized(Vec2{fans.x[i], fans.y[i]});
  const double range = Normalized(fans.range[i]);
  const size_t begin = size(), end = begin + fans.beams[i];
  bx_.resize(end);
  by_.resize(end);
  bool are_accepted = true;
  for (size_t first = begin; first < end && are_accepted; first += kAtOnce) {
    const size_t count = std::min(kAtOnce, end - first);
    if (!meter.Spend(count)) return;
    std::array<double, kAtOnce> angle, c, s;
    for (size_t k = 0; k < count; ++k) {
      angle[k] = fans.angle[i] + static_cast<double>(first - begin + k) * fans.step[i];
    }
    internal::SinCosOfAll({angle.data(), count}, c, s);
    for (size_t k = 0; k < count; ++k) {
      bx_[first + k] = from.x + range * c[k];
      by_[first + k] = from.y + range * s[k];
      are_accepted &= IsAccepted({bx_[first + k], by_[first + k]});
    }
  }
  if (!are_accepted) {
    bx_.resize(begin);
    by_.resize(begin);
    check.Fail(ItemColumn::kRange, ItemFault::kNotAccepted);
    return;
  }
  ax_.resize(end, from.x);
  ay_.resize(end, from.y);
  scope_.against = fans.scope.against;
  if (!fans.scope.mask.empty()) mask_.resize(end, fans.scope.mask[i]);
  scope_.mask = mask_;
  if (!fans.scope.ignore_owner.empty()) ignore_owner_.resize(end, fans.scope.ignore_owner[i]);
  scope_.ignore_owner = ignore_owner_;
  fans_.push_back({i, fans.beams[i], range});
}

// Appends the answer of each beam (a segment that starts at the point of its fan). A beam may have
// a hit at a distance equal to its range, so `casts.counts`, and not the distance, decides whether
// a beam has a hit.
void AddBeams(const Beams& beams, const CastAnswers& casts, FanAnswers& out) {
  size_t row = 0, beam = 0;
  for (const Beams::Fan& fan : beams.fans()) {
    out.counts[fan.index] = fan.beams;
    for (const size_t end = beam + fan.beams; beam < end; ++beam) {
      const uint32_t count = casts.counts[beam];
      out.hits.push_back(count == 0 ? 0 : 1);
      out.distances.push_back(count == 0 ? fan.range : casts.hits[row].fraction * fan.range + 0.0);
      out.polygon_ids.push_back(count == 0 ? 0 : casts.hits[row].polygon_id);
      if (beams.considers_bodies()) {
        out.is_body.push_back(count != 0 && casts.hits[row].is_body ? 1 : 0);
      }
      row += count;
    }
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

// Casts the beams of several fans (segments of one length from one point, at evenly spaced angles)
// as one batch of segments.
bool ScanFans(const World& world, const FanColumns& fans, const FanOptions& options,
              FanAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(fans.size(), 0);
  CastOptions closest;
  closest.inside_policy = options.inside_policy;
  closest.mask = options.mask;
  closest.detail = CastDetail::kFraction;
  CastAnswers casts;
  Beams beams;
  for (size_t i = 0; i < fans.size(); ++i) {
    if (!meter.Spend(1)) return false;
    beams.Read(fans, i, out.errors, meter);
    if (beams.size() < Beams::kEnough && i + 1 < fans.size()) continue;
    if (meter.stopped() || !CastSegments(world, beams.segments(), closest, casts, meter)) {
      return false;
    }
    // `CastSegments` has counted the answer rows of the beams with a hit; `SpendRows` counts the
    // rows of the beams without a hit.
    if (!meter.SpendRows(beams.size() - casts.hits.size())) return false;
    AddBeams(beams, casts, out);
    beams.Clear();
  }
  return true;
}

}  // namespace carom
