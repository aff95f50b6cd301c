// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/area.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "area/direction.h"
#include "area/envelope.h"
#include "area/reentry.h"
#include "area/rows.h"
#include "base/thread_scratch.h"
#include "carom/predicates.h"
#include "carom/sincos.h"
#include "edges/indexed_polygon.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"
#include "numeric/exact_count.h"
#include "numeric/expansion.h"
#include "shape/meets_box.h"

namespace carom {
namespace {

using internal::Blocker;
using internal::Direction;
using internal::EyeEdge;
using internal::QueryFilter;

// What an eye sees: every direction, the directions of a sector, or none.
enum class Sector : uint8_t { kWhole, kPart, kEmpty };

// The numbers of an eye.
struct EyeItem {
  Circle disc;
  Sector sector = Sector::kWhole;
  Vec2 from, to;  // the sides of the sector
};

// The double nearest to 2 pi.
constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Returns which directions a ray meets that turns counter-clockwise by about `turn` from `from` to
// `to`. Rounded sides of a very thin sector may coincide, or be exchanged: nothing is between them.
// Those of a sector that lacks very little of the whole circle may coincide, or be exchanged, too.
Sector SectorOf(Vec2 from, Vec2 to, double turn) {
  if (turn == kTwoPi) return Sector::kWhole;
  const int side = Orientation({0, 0}, from, to);
  if (turn < 2 && side <= 0) return Sector::kEmpty;
  if (turn > 5 && side >= 0) return Sector::kWhole;
  return Sector::kPart;
}

bool ReadAngles(const AreaColumns& areas, size_t i, ItemChecker& check, EyeItem& item) {
  if (areas.from.empty()) return true;
  const double from = areas.from[i], to = areas.to[i];
  // Comparisons are false for NaN.
  if (!(std::abs(from) <= kMaxAngle)) {
    return check.Fail(ItemColumn::kFrom, ItemFault::kAngleOutOfRange);
  }
  if (!(std::abs(to) <= kMaxAngle)) {
    return check.Fail(ItemColumn::kTo, ItemFault::kAngleOutOfRange);
  }
  const double turn = to - from;
  if (!(from < to && turn <= kTwoPi)) return check.Fail(ItemColumn::kTo, ItemFault::kNotARange);
  const CosSin c_from = SinCos(from), c_to = SinCos(to);
  item.from = {c_from.c, c_from.s};
  item.to = {c_to.c, c_to.s};
  item.sector = SectorOf(item.from, item.to, turn);
  return true;
}

// Returns whether the point at the distance `range` on the far side of `x` from 0 is beyond 2^53.
bool IsBeyond(double x, double range) {
  const internal::TwoDoubles sum = internal::TwoSum(std::abs(x), range);
  return sum.high > kMaxCoordinate || (sum.high == kMaxCoordinate && sum.low > 0);
}

bool ReadItem(const AreaColumns& areas, size_t i, ItemChecker& check, EyeItem& item) {
  if (!check.Coordinate(ItemColumn::kX, areas.x[i]) ||
      !check.Coordinate(ItemColumn::kY, areas.y[i]) ||
      !check.Coordinate(ItemColumn::kRange, areas.range[i])) {
    return false;
  }
  const Vec2 p = Normalized(Vec2{areas.x[i], areas.y[i]});
  const double range = Normalized(areas.range[i]);
  if (!(range > 0)) return check.Fail(ItemColumn::kRange, ItemFault::kNegativeLength);
  if (!ReadAngles(areas, i, check, item)) return false;
  if (IsBeyond(p.x, range) || IsBeyond(p.y, range)) {
    return check.Fail(ItemColumn::kRange, ItemFault::kNotAccepted);
  }
  item.disc = {p, range};
  return true;
}

// Finds the area of one eye after the other. Its memory is kept from batch to batch.
class AreaFinder {
 public:
  // Appends the answer for item i. Returns false once the meter stops the work.
  bool Find(const World& world, const EyeItem& item, const QueryFilter& filter,
            const AreaOptions& options, size_t i, AreaAnswers& out, WorkMeter& meter);

 private:
  bool Collect(const World& world, const QueryFilter& filter, WorkMeter& meter);
  bool Add(const IndexedPolygon& polygon, uint64_t id, bool is_body, WorkMeter& meter);
  bool AddEdges(const IndexedPolygon& polygon, WorkMeter& meter);
  bool Insert(WorkMeter& meter);

  internal::Eye eye_;
  InsidePolicy policy_ = InsidePolicy::kReportStart;
  bool starts_inside_ = false;
  std::vector<Blocker> blockers_;
  internal::Reentry reentry_;
  internal::Envelope envelope_;
  internal::AreaRows rows_;
};

// Adds a polygon with a box near the disc. Returns false to end the search: if the meter has stopped
// the work, or if the polygon makes the area empty.
bool AreaFinder::Add(const IndexedPolygon& polygon, uint64_t id, bool is_body, WorkMeter& meter) {
  const Vec2 p = eye_.position();
  bool is_inside = false;
  if (polygon.polygon().bounds().Contains(p)) {
    const auto found = internal::LocateInPolygon(polygon, p, meter);
    if (meter.stopped()) return false;
    is_inside = found.location != Location::kOutside;
  }
  if (is_inside) {
    starts_inside_ = true;
    if (policy_ == InsidePolicy::kReportStart) return false;
  }
  eye_.AddSource({&polygon.polygon(), id, is_body});
  return is_inside ? reentry_.Add(polygon, eye_, blockers_, meter) : AddEdges(polygon, meter);
}

bool AreaFinder::AddEdges(const IndexedPolygon& polygon, WorkMeter& meter) {
  return polygon.VisitEdges(
      meter, internal::MeetsBox{eye_.bounds()}, [&](size_t i, const Segment& s) {
        if (!eye_.AddEdge(s, i)) return true;
        const auto number = static_cast<uint32_t>(eye_.edges().size() - 1);
        const EyeEdge& edge = eye_.edges()[number];
        AddBlocker(edge.begin, edge.end, number, blockers_);
        return true;
      });
}

bool AreaFinder::Collect(const World& world, const QueryFilter& filter, WorkMeter& meter) {
  const internal::MeetsBox near{eye_.bounds()};
  const auto is_done = [&] {
    return starts_inside_ && policy_ == InsidePolicy::kReportStart;
  };
  if (filter.scene) {
    internal::VisitPolygons(world.scene, filter.mask, meter, near, [&](const auto& polygon) {
      return Add(polygon, polygon.polygon().id(), false, meter);
    });
  }
  if (meter.stopped() || is_done()) return !meter.stopped();
  internal::VisitBodies(world, filter, meter, near, [&](internal::Body& body) {
    return body.is_round() || Add(body.core(), body.index(), true, meter);
  });
  return !meter.stopped();
}

// Inserts the blockers in lots of geometrically growing sizes, the nearest ones first.
bool AreaFinder::Insert(WorkMeter& meter) {
  const auto is_nearer = [&](const Blocker& a, const Blocker& b) {
    return eye_.edges()[a.edge].distance2 < eye_.edges()[b.edge].distance2;
  };
  size_t done = 0;
  size_t size = std::max<size_t>(32, blockers_.size() / 16);
  while (done < blockers_.size()) {
    if (!meter.Spend(blockers_.size() - done)) return false;
    const size_t end = std::min(done + size, blockers_.size());
    const auto from = blockers_.begin();
    if (end < blockers_.size()) {
      std::nth_element(from + static_cast<std::ptrdiff_t>(done),
                       from + static_cast<std::ptrdiff_t>(end), blockers_.end(), is_nearer);
    }
    if (!envelope_.Insert(eye_, std::span(blockers_).subspan(done, end - done), meter)) return false;
    done = end;
    size = done;
  }
  return true;
}

bool AreaFinder::Find(const World& world, const EyeItem& item, const QueryFilter& filter,
                      const AreaOptions& options, size_t i, AreaAnswers& out, WorkMeter& meter) {
  eye_.Start(item.disc);
  blockers_.clear();
  policy_ = options.inside_policy;
  starts_inside_ = false;
  if (!Collect(world, filter, meter)) return false;
  out.starts_inside[i] = starts_inside_ ? 1 : 0;
  const bool is_blind = starts_inside_ && policy_ == InsidePolicy::kReportStart;
  if (is_blind || item.sector == Sector::kEmpty) return true;
  const bool has_sector = item.sector == Sector::kPart;
  Direction from, to;
  if (has_sector) {
    from = eye_.SetSide(0, item.from);
    to = eye_.SetSide(1, item.to);
    envelope_.Start(eye_, from, to);
  } else {
    envelope_.Start();
  }
  if (!Insert(meter)) return false;
  rows_.Find(eye_, envelope_, has_sector, from, to, meter);
  const size_t count = std::min<size_t>(rows_.size(), options.max_rows);
  if (meter.stopped() || !meter.SpendRows(count)) return false;
  rows_.Write(eye_, count, out.pieces);
  out.counts[i] = static_cast<uint32_t>(count);
  out.areas[i] = rows_.area();
  if (count < rows_.size()) out.truncated.push_back(static_cast<uint32_t>(i));
  return true;
}

}  // namespace

void AreaAnswers::Clear() {
  counts.clear();
  pieces.clear();
  areas.clear();
  starts_inside.clear();
  truncated.clear();
  errors.clear();
}

bool FindAreas(const World& world, const AreaColumns& areas, const AreaOptions& options,
               AreaAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(areas.size(), 0);
  out.areas.assign(areas.size(), 0);
  out.starts_inside.assign(areas.size(), 0);
  const internal::ExactCountScope exact_count(meter);
  internal::ThreadScratch<AreaFinder> finder;
  for (size_t i = 0; i < areas.size(); ++i) {
    if (!meter.Spend(1)) return false;
    ItemChecker check(i, out.errors);
    EyeItem item;
    if (!ReadItem(areas, i, check, item)) continue;
    const QueryFilter filter = QueryFilter::Of(areas.scope, i, options.mask);
    if (!finder->Find(world, item, filter, options, i, out, meter)) return false;
  }
  finder.Return();
  return true;
}

}  // namespace carom
