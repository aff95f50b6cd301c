// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/visibility.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "carom/geometry.h"
#include "carom/sincos.h"
#include "cast/soft_casts.h"
#include "cast/world_casts.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"
#include "numeric/double_lanes.h"
#include "numeric/sincos_column.h"
#include "shape/line.h"
#include "sight/fan_scan.h"

namespace carom {
namespace {

using internal::BeamHits;
using internal::FanBatch;
using internal::Lanes;

// The beams of some fans: segments from the points of the fans, at angles that differ by a constant
// step in each fan.
class Beams {
 public:
  // `is_soft`: whether beams pass soft walls.
  explicit Beams(bool is_soft) : is_soft_(is_soft) {}

  // Fans are read until there are this many beams: enough to interleave lines that are cast one by
  // one.
  static constexpr size_t kEnough = 2048;
  // A fan whose beams are here.
  struct Fan {
    size_t index;
    double range;
    FanBatch beams;
  };

  // Adds the beams of fan i. If a number of the fan is out of range, records an error and adds
  // nothing.
  void Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors, WorkMeter& meter);
  void Clear();

  std::span<const Fan> fans() const { return fans_; }
  size_t size() const { return bx_.size(); }
  bool considers_bodies() const { return scope_.against != Against::kScene; }
  // Casts all beams, and appends the answers. Returns false once the meter stops the work.
  bool Cast(const World& world, const CastOptions& options, FanAnswers& out, WorkMeter& meter);

 private:
  // The number of beams whose ends are computed at once.
  static constexpr size_t kAtOnce = 256;

  bool SetEnds(const FanColumns& fans, const Fan& fan, WorkMeter& meter);
  bool CastInScene(const Scene& scene, size_t begin, const CastOptions& options,
                   const BeamHits& hits, WorkMeter& meter) const;
  bool CastWithBodies(const World& world, const CastOptions& options, CastAnswers& casts,
                      WorkMeter& meter) const;

  const bool is_soft_;
  std::vector<Fan> fans_;
  std::vector<double> bx_, by_;
  // The points that beams start at, unless every beam considers the scene alone, under one mask,
  // and passes no soft walls.
  std::vector<double> ax_, ay_;
  std::vector<uint64_t> mask_;
  std::vector<uint32_t> ignore_owner_;
  std::vector<double> as_of_;
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
  as_of_.clear();
}

// Sets the ends of the beams of a fan, two at a time in the lanes of a vector. Returns false if an
// end is not accepted.
bool Beams::SetEnds(const FanColumns& fans, const Fan& fan, WorkMeter& meter) {
  const auto& [from, begin, size] = fan.beams;
  alignas(64) std::array<double, kAtOnce> angle, x, y;
  for (size_t done = 0; done < size; done += kAtOnce) {
    const size_t count = std::min(kAtOnce, size - done);
    if (!meter.Spend(count)) return true;
    for (size_t k = 0; k < count; ++k) {
      angle[k] = fans.angle[fan.index] + static_cast<double>(done + k) * fans.step[fan.index];
    }
    if (count % 2 != 0) angle[count] = angle[count - 1];
    internal::SinCosOfAll({angle.data(), count + count % 2}, x, y);
    Lanes most{};
    for (size_t k = 0; k < count; k += 2) {
      const Lanes end_x = from.x + fan.range * Lanes{x[k], x[k + 1]};
      const Lanes end_y = from.y + fan.range * Lanes{y[k], y[k + 1]};
      most = internal::Max(most, internal::Max(internal::Abs(end_x), internal::Abs(end_y)));
      std::memcpy(&x[k], &end_x, sizeof(end_x));
      std::memcpy(&y[k], &end_y, sizeof(end_y));
    }
    if (!IsAccepted(Vec2{most[0], most[1]})) return false;
    std::copy_n(x.begin(), count, &bx_[begin + done]);
    std::copy_n(y.begin(), count, &by_[begin + done]);
  }
  return true;
}

// Normalizes each number of the fan (-0 and magnitudes below 2^-140 become 0) before its use. The
// ends of the beams are normalized when beams are cast.
void Beams::Read(const FanColumns& fans, size_t i, std::vector<ItemError>& errors,
                 WorkMeter& meter) {
  ItemChecker check(i, errors);
  if (!IsFan(fans, i, check)) return;
  const size_t begin = size(), end = begin + fans.beams[i];
  const Vec2 from = Normalized(Vec2{fans.x[i], fans.y[i]});
  const Fan fan{i, Normalized(fans.range[i]), {from, begin, fans.beams[i]}};
  bx_.resize(end);
  by_.resize(end);
  if (!SetEnds(fans, fan, meter)) {
    bx_.resize(begin);
    by_.resize(begin);
    check.Fail(ItemColumn::kRange, ItemFault::kNotAccepted);
    return;
  }
  fans_.push_back(fan);
  scope_.against = fans.scope.against;
  if (internal::IsUniform(fans.scope) && !is_soft_) return;
  ax_.resize(end, from.x);
  ay_.resize(end, from.y);
  if (!fans.scope.mask.empty()) mask_.resize(end, fans.scope.mask[i]);
  scope_.mask = mask_;
  if (!fans.scope.ignore_owner.empty()) ignore_owner_.resize(end, fans.scope.ignore_owner[i]);
  scope_.ignore_owner = ignore_owner_;
  if (!fans.scope.as_of.empty()) as_of_.resize(end, fans.scope.as_of[i]);
  scope_.as_of = as_of_;
}

// Casts the beams from `begin` on against the scene, as many as `hits` has elements: the beams of
// whole fans.
bool Beams::CastInScene(const Scene& scene, size_t begin, const CastOptions& options,
                        const BeamHits& hits, WorkMeter& meter) const {
  const size_t count = hits.is_hit.size();
  std::vector<FanBatch> batches;
  for (const Fan& fan : fans_) {
    FanBatch batch = fan.beams;
    if (batch.begin < begin || batch.begin >= begin + count) continue;
    batch.begin -= begin;
    batches.push_back(batch);
  }
  const auto ends = [&](const std::vector<double>& of) {
    return std::span(of).subspan(begin, count);
  };
  return CastFans(scene, options, {batches, ends(bx_), ends(by_)}, hits, meter);
}

// Casts all beams against the scene and the bodies, or past soft walls.
bool Beams::CastWithBodies(const World& world, const CastOptions& options, CastAnswers& casts,
                           WorkMeter& meter) const {
  const auto line_of = [&](size_t i, internal::Line& line, std::vector<ItemError>&) {
    line = internal::Line(Segment{{ax_[i], ay_[i]}, {Normalized(bx_[i]), Normalized(by_[i])}});
    return true;
  };
  if (is_soft_) {
    return internal::CastSoft({world, options, scope_, size(), line_of}, casts, meter);
  }
  const auto near = [&](size_t begin, size_t count, const internal::BoxRaster& raster) {
    return raster.Meeting({ax_, ay_, bx_, by_}, begin, count);
  };
  const auto cast_scene = [&](size_t begin, size_t count, const CastOptions& by,
                              CastAnswers& answers) {
    std::vector<uint8_t> is_hit(count, 0);
    std::vector<double> fraction(count, 1);
    std::vector<uint64_t> polygon_id(count, 0);
    answers.Clear();
    if (!CastInScene(world.scene, begin, by, {is_hit, fraction, polygon_id}, meter)) return false;
    answers.counts.assign(is_hit.begin(), is_hit.end());
    for (size_t i = 0; i < count; ++i) {
      if (is_hit[i] == 0) continue;
      CastHit& hit = answers.hits.emplace_back();
      hit.fraction = fraction[i];
      hit.polygon_id = polygon_id[i];
    }
    return true;
  };
  return internal::CastInWorld({world, options, scope_, size(), near, line_of, cast_scene}, casts,
                               meter);
}

// A beam may have a hit at a distance equal to its range, so the number of hits, and not the
// distance, decides whether a beam has a hit. The casts count the rows of beams with a hit.
bool Beams::Cast(const World& world, const CastOptions& options, FanAnswers& out,
                 WorkMeter& meter) {
  const size_t begin = out.hits.size(), end = begin + size();
  out.hits.resize(end, 0);
  out.distances.resize(end, 1);
  out.polygon_ids.resize(end, 0);
  const std::span<uint8_t> is_hit = std::span(out.hits).subspan(begin);
  const std::span<double> fraction = std::span(out.distances).subspan(begin);
  const std::span<uint64_t> polygon_id = std::span(out.polygon_ids).subspan(begin);
  if (ax_.empty()) {
    if (!CastInScene(world.scene, 0, options, {is_hit, fraction, polygon_id}, meter)) return false;
  } else {
    CastAnswers casts;
    if (!CastWithBodies(world, options, casts, meter)) return false;
    if (considers_bodies()) out.is_body.resize(end, 0);
    for (size_t i = 0, row = 0; i < size(); ++i) {
      if (casts.counts[i] == 0) continue;
      const CastHit& hit = casts.hits[row++];
      is_hit[i] = 1;
      fraction[i] = hit.fraction;
      polygon_id[i] = hit.polygon_id;
      if (considers_bodies()) out.is_body[begin + i] = hit.is_body ? 1 : 0;
    }
  }
  size_t hits = 0;
  for (const uint8_t bit : is_hit) hits += bit;
  if (!meter.SpendRows(size() - hits)) return false;
  for (const Fan& fan : fans_) {
    out.counts[fan.index] = static_cast<uint32_t>(fan.beams.count);
    for (double& of : fraction.subspan(fan.beams.begin, fan.beams.count)) {
      of = of * fan.range + 0.0;
    }
  }
  return true;
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
bool TestLinesOfSight(const World& world, const SegmentColumns& sights, const SightOptions& options,
                      SightAnswers& out, WorkMeter& meter) {
  out.Clear();
  CastOptions any;
  any.mode = CastMode::kAny;
  any.mask = options.mask;
  any.soft_mask = options.soft_mask;
  any.soft_count = options.soft_count;
  CastAnswers casts;
  if (!CastSegments(world, sights, any, casts, meter)) return false;
  for (const uint32_t count : casts.counts) out.visible.push_back(count == 0 ? 1 : 0);
  for (const ItemError& error : casts.errors) out.visible[error.index] = 0;
  out.errors = std::move(casts.errors);
  return true;
}

// Casts the beams of several fans (segments of one length from one point, at evenly spaced angles)
// as one batch.
bool ScanFans(const World& world, const FanColumns& fans, const FanOptions& options,
              FanAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(fans.size(), 0);
  CastOptions closest;
  closest.inside_policy = options.inside_policy;
  closest.mask = options.mask;
  closest.soft_mask = options.soft_mask;
  closest.soft_count = options.soft_count;
  closest.detail = CastDetail::kFraction;
  Beams beams(internal::NeedsSoftCasts(closest));
  for (size_t i = 0; i < fans.size(); ++i) {
    if (!meter.Spend(1)) return false;
    beams.Read(fans, i, out.errors, meter);
    if (beams.size() < Beams::kEnough && i + 1 < fans.size()) continue;
    if (meter.stopped() || !beams.Cast(world, closest, out, meter)) return false;
    beams.Clear();
  }
  return true;
}

}  // namespace carom
