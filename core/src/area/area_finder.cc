// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/area_finder.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "carom/predicates.h"
#include "carom/sincos.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/convex_core.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// The double nearest to 2 pi.
constexpr double kTwoPi = 0x1.921fb54442d18p+2;

// Returns which directions a ray meets that turns counter-clockwise by about `turn` from `from` to
// `to`. Rounded sides of a very thin sector may coincide, or be exchanged: nothing is between them.
// Those of a sector that lacks very little of the whole circle may coincide, or be exchanged, too.
SectorKind SectorOf(Vec2 from, Vec2 to, double turn) {
  if (turn == kTwoPi) return SectorKind::kWhole;
  const int side = Orientation({0, 0}, from, to);
  if (turn < 2 && side <= 0) return SectorKind::kEmpty;
  if (turn > 5 && side >= 0) return SectorKind::kWhole;
  return SectorKind::kPart;
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
  const TwoDoubles sum = TwoSum(std::abs(x), range);
  return sum.high > kMaxCoordinate || (sum.high == kMaxCoordinate && sum.low > 0);
}

// The most entries of all lists of an `AreaFinder` that is kept: of 150 bytes at most.
constexpr size_t kMaxCachedEntries = 1 << 15;

// Boxes about the eye with these parts of the range are searched one after the other, so that what
// is near hides most of what is far before that is looked at.
constexpr double kParts[] = {1.0 / 64, 1.0 / 16, 1.0 / 4, 1.0 / 2, 1};

Box BoxAbout(const Circle& disc, double part) {
  const Vec2 p = disc.center;
  const double r = disc.radius * part;
  return {{NextBelow(p.x - r), NextBelow(p.y - r)}, {NextAbove(p.x + r), NextAbove(p.y + r)}};
}

}  // namespace

bool ReadEye(const AreaColumns& eyes, size_t i, ItemChecker& check, EyeItem& item) {
  if (!check.Coordinate(ItemColumn::kX, eyes.x[i]) ||
      !check.Coordinate(ItemColumn::kY, eyes.y[i]) ||
      !check.Coordinate(ItemColumn::kRange, eyes.range[i])) {
    return false;
  }
  const Vec2 p = Normalized(Vec2{eyes.x[i], eyes.y[i]});
  const double range = Normalized(eyes.range[i]);
  if (!(range > 0)) return check.Fail(ItemColumn::kRange, ItemFault::kNegativeLength);
  if (!ReadAngles(eyes, i, check, item)) return false;
  if (IsBeyond(p.x, range) || IsBeyond(p.y, range)) {
    return check.Fail(ItemColumn::kRange, ItemFault::kNotAccepted);
  }
  item.disc = {p, range};
  return true;
}

// Adds a polygon with a box near the disc. Returns false to end the search: if the meter has
// stopped the work, or if the polygon makes the area empty.
bool AreaFinder::Add(const IndexedPolygon& polygon, uint64_t id, bool is_body, WorkMeter& meter) {
  const Vec2 p = eye_.position();
  bool is_inside = false;
  if (polygon.polygon().bounds().Contains(p)) {
    const auto found = LocateInPolygon(polygon, p, meter);
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

bool AreaFinder::AddEdge(const Segment& edge, size_t index, int back) {
  if (!eye_.AddEdge(edge, index, back)) return true;
  const auto number = static_cast<uint32_t>(eye_.edges().size() - 1);
  const EyeEdge& added = eye_.edges()[number];
  AddBlocker(added.begin, added.end, number, blockers_);
  return true;
}

bool AreaFinder::MayBeSeen(const Box& box, WorkMeter& meter) const {
  const Vec2 p = eye_.position();
  if (box.Contains(p)) return true;
  const double dx = std::max({box.min.x - p.x, p.x - box.max.x, 0.0});
  const double dy = std::max({box.min.y - p.y, p.y - box.max.y, 0.0});
  const double limit = eye_.range() * eye_.range() * (1 + 0x1p-40);
  return dx * dx + dy * dy <= limit && !envelope_.IsHidden(eye_, box, meter);
}

// The edges on the back of a strictly convex polygon, which turn about the eye as the polygon
// winds, are behind those on its front.
bool AreaFinder::AddEdges(const IndexedPolygon& polygon, WorkMeter& meter) {
  const auto convexity = polygon.convexity();
  const int back = convexity == Convexity::kStrict            ? 1
                   : convexity == Convexity::kStrictClockwise ? -1
                                                              : 0;
  const MeetsBox near{eye_.bounds()};
  if (polygon.edge_index() == nullptr) {
    return polygon.VisitEdges(meter, near,
                              [&](size_t i, const Segment& s) { return AddEdge(s, i, back); });
  }
  const auto may_be_seen = [&](const Box& box) { return near(box) && MayBeSeen(box, meter); };
  return polygon.VisitRuns(meter, may_be_seen, [&](size_t first, size_t last) {
    if (!meter.Spend(last - first)) return false;
    for (size_t i = first; i < last; ++i) {
      const Segment edge = polygon.polygon().edge(i);
      if (near(BoundsOf(edge))) AddEdge(edge, i, back);
    }
    return true;
  });
}

// Adds what has a box that meets `outer` and not `inner`, the box of an earlier call.
bool AreaFinder::Collect(const World& world, const QueryFilter& filter, const Box& inner,
                         const Box& outer, WorkMeter& meter) {
  const MeetsBox near{outer};
  const auto is_wanted = [&](const Box& box) {
    return !inner.Intersects(box) && MayBeSeen(box, meter);
  };
  if (filter.scene) {
    VisitPolygons(world.scene, filter.mask, meter, near, [&](const IndexedPolygon& polygon) {
      return !is_wanted(polygon.polygon().bounds()) ||
             Add(polygon, polygon.polygon().id(), false, meter);
    });
  }
  if (meter.stopped() || IsBlind()) return !meter.stopped();
  VisitBodies(world, filter, meter, near, [&](Body& body) {
    return body.is_round() || !is_wanted(body.bounds()) ||
           Add(body.core(), body.index(), true, meter);
  });
  return !meter.stopped();
}

// What contains the eye has a box that meets each of the boxes searched, so it is found at once.
bool AreaFinder::FindEnvelope(const World& world, const QueryFilter& filter, double range,
                              WorkMeter& meter) {
  Box inner;
  for (const double part : kParts) {
    const Box outer = BoxAbout({eye_.position(), range}, part);
    blockers_.clear();
    if (!Collect(world, filter, inner, outer, meter)) return false;
    if (IsBlind()) return true;
    if (!Insert(meter)) return false;
    inner = outer;
  }
  return true;
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
    if (!envelope_.Insert(eye_, std::span(blockers_).subspan(done, end - done), meter))
      return false;
    done = end;
    size = done;
  }
  return true;
}

void AreaFinder::Start(const EyeQuestion& asked, const Targets* targets) {
  const EyeItem& item = asked.item;
  eye_.Start(item.disc);
  policy_ = asked.policy;
  starts_inside_ = false;
  sector_.has_ranges = targets != nullptr;
  sector_.is_part = item.sector == SectorKind::kPart || targets != nullptr;
  if (!sector_.is_part) return envelope_.Start();
  if (targets == nullptr) {
    sector_.from = eye_.AddSide(0, item.from);
    sector_.to = eye_.AddSide(1, item.to);
    return envelope_.Start(eye_, sector_.from, sector_.to);
  }
  ranges_.clear();
  for (const TargetRange& range : targets->ranges()) {
    const EyeDirection from = eye_.AddSide(0, range.from);
    ranges_.push_back({from, eye_.AddSide(1, range.to)});
  }
  envelope_.Start(eye_, ranges_);
}

bool AreaFinder::Find(const World& world, const EyeQuestion& asked, const Targets* targets,
                      double reach, WorkMeter& meter) {
  Start(asked, targets);
  if (!FindEnvelope(world, asked.walls, reach, meter)) return false;
  has_area_ = !IsBlind() && asked.item.sector != SectorKind::kEmpty;
  has_rows_ = false;
  return !meter.stopped();
}

bool AreaFinder::FindRows(WorkMeter& meter) {
  if (!has_rows_) rows_.Find(eye_, envelope_, sector_, meter);
  has_rows_ = true;
  return !meter.stopped();
}

bool AreaFinder::IsWorthCaching() const {
  return eye_.capacity() + blockers_.capacity() + reentry_.capacity() + envelope_.capacity() +
             rows_.capacity() <=
         kMaxCachedEntries;
}

}  // namespace carom::internal
