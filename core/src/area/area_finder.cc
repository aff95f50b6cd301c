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

// Polygons within these parts of the range are inserted one part after the other, so that what is
// near hides most of what is far before that is looked at.
constexpr double kParts[] = {1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1};

// Returns by which sign the edges on the back of a strictly convex polygon turn about an eye: as
// the polygon winds. They are behind those on its front.
int BackOf(Convexity convexity) {
  if (convexity == Convexity::kStrict) return 1;
  return convexity == Convexity::kStrictClockwise ? -1 : 0;
}

// Squares of distances err by less than 4 u, u = 2^-53: differences by u, squares by 3 u, sums by u
// more. A limit of squares that is greater by this factor leaves out nothing that is within it.
constexpr double kSlack2 = 1 + 0x1p-40;

// Returns the square of the distance of a box from `p`, rounded.
double Distance2(const Box& box, Vec2 p) {
  const double dx = std::max({box.min.x - p.x, p.x - box.max.x, 0.0});
  const double dy = std::max({box.min.y - p.y, p.y - box.max.y, 0.0});
  return dx * dx + dy * dy;
}

// The condition that a box may have polygons of one part of the range that an eye may see. The part
// has the polygons with distances whose squares are above `inner2` and at most `outer2`.
template <class MayBeSeen>
struct BoxesOfPart {
  FloatBox from;
  double inner2, outer2;
  const MayBeSeen& may_be_seen;

  LaneBits CandidatesOf(const BoxNode& node) const {
    return BoxNode::Within(node.LowerDistances2(from), outer2) &
           BoxNode::Beyond(node.UpperDistances2(from), inner2);
  }
  bool operator()(const Box& box) const { return may_be_seen(box); }
};

Box BoxAbout(Vec2 p, double reach) {
  return {{NextBelow(p.x - reach), NextBelow(p.y - reach)},
          {NextAbove(p.x + reach), NextAbove(p.y + reach)}};
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
  if (spread_.radius() > 0) {
    AddSpread(edge, index, back);
    return true;
  }
  if (!eye_.AddEdge(edge, index, back)) return true;
  const auto number = static_cast<uint32_t>(eye_.edges().size() - 1);
  const EyeEdge& added = eye_.edges()[number];
  AddBlocker(added.begin, added.end, number, blockers_);
  return true;
}

bool AreaFinder::MayBeSeen(const Box& box, WorkMeter& meter) const {
  const Vec2 p = eye_.position();
  if (box.Contains(p)) return true;
  return Distance2(box, p) <= farthest2_ && !envelope_.IsHidden(eye_, box, meter);
}

bool AreaFinder::AddEdges(const IndexedPolygon& polygon, WorkMeter& meter) {
  const int back = BackOf(polygon.convexity());
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

// Leaves out nodes of the index that are hidden, or that have no polygon that is farther than the
// part before. The search ends at the distance beyond which the envelope hides everything.
bool AreaFinder::InsertPolygons(const Scene& scene, uint64_t mask, double reach, WorkMeter& meter) {
  const Vec2 p = eye_.position();
  const double whole2 = std::min(eye_.range() * eye_.range(), 2 * reach * reach) * kSlack2;
  const auto may_be_seen = [&](const Box& box) { return MayBeSeen(box, meter); };
  double inner2 = -1;
  for (const double part : kParts) {
    if (inner2 >= farthest2_) break;
    const double outer2 = std::min(whole2 * part * part, farthest2_);
    const BoxesOfPart<decltype(may_be_seen)> wanted{FloatBox({p, p}), inner2, outer2, may_be_seen};
    blockers_.clear();
    scene.index().Traverse(meter, wanted, [&](const IndexedPolygon& indexed) {
      const Polygon& polygon = indexed.polygon();
      const double distance2 = Distance2(polygon.bounds(), p);
      return (polygon.category() & mask) == 0 || distance2 <= inner2 || distance2 > outer2 ||
             Add(indexed, polygon.id(), false, meter);
    });
    if (meter.stopped()) return false;
    if (IsBlind()) return true;
    if (!Insert(meter)) return false;
    inner2 = outer2;
  }
  return true;
}

bool AreaFinder::InsertBodies(const World& world, const QueryFilter& filter, double reach,
                              WorkMeter& meter) {
  const MeetsBox near{BoxAbout(eye_.position(), reach)};
  blockers_.clear();
  VisitBodies(world, filter, meter, near, [&](Body& body) {
    return body.is_round() || !MayBeSeen(body.bounds(), meter) ||
           Add(body.core(), body.index(), true, meter);
  });
  return !meter.stopped() && (IsBlind() || Insert(meter));
}

bool AreaFinder::FindEnvelope(const World& world, const QueryFilter& filter, double reach,
                              WorkMeter& meter) {
  SetFarthest();
  if (filter.scene && !InsertPolygons(world.scene, filter.mask, reach, meter)) return false;
  return IsBlind() || InsertBodies(world, filter, reach, meter);
}

// Inserts the blockers, and clears them: in lots of geometrically growing sizes, the nearest ones
// first.
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
  blockers_.clear();
  SetFarthest();
  return true;
}

// What is farther than the range is out of sight, too.
void AreaFinder::SetFarthest() {
  const double range2 = eye_.range() * eye_.range();
  farthest2_ = std::min(range2, envelope_.Farthest2(eye_)) * kSlack2;
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
  if (!(tier_ == EyeTier::kCold ? FindEnvelope(world, asked.walls, reach, meter)
                                : FindByMemory(world, asked, reach, meter))) {
    return false;
  }
  if (asked.memory != nullptr) RememberEye(*asked.memory);
  has_area_ = !IsBlind() && asked.item.sector != SectorKind::kEmpty;
  has_rows_ = false;
  return !meter.stopped();
}

// A second attempt is for a memory that would be too large for the nearest wall, whose distance the
// first one found.
bool AreaFinder::Prepare(const World& world, const EyeQuestion& asked, WorkMeter& meter) {
  tier_ = EyeTier::kCold;
  if (asked.memory == nullptr || !asked.walls.scene) return true;
  EyeMemory& memory = *asked.memory;
  const Circle& disc = asked.item.disc;
  if (memory.Covers(world.scene.history(), asked.walls.mask, disc)) {
    tier_ = EyeTier::kQuiet;
    return true;
  }
  if (memory.RadiusFor(disc) == 0 || !memory.IsWorthwhile()) return true;
  for (int attempts = 0; attempts < 2 && tier_ == EyeTier::kCold; ++attempts) {
    const double radius = memory.RadiusFor(disc);
    if (radius > 0 && !MakeMemory(world, asked, radius, meter)) return false;
  }
  memory.has_failed = tier_ == EyeTier::kCold;
  return true;
}

// Finds the envelope of an eye that sees as far as an eye at any point of the disc, then the one of
// the umbras, and keeps the edges that the second one does not hide. Makes no memory for a disc in
// which an eye may be in a polygon, or whose range is beyond 2^53.
bool AreaFinder::MakeMemory(const World& world, const EyeQuestion& asked, double radius,
                            WorkMeter& meter) {
  EyeMemory& memory = *asked.memory;
  memory.Drop();
  const Circle& disc = asked.item.disc;
  const QueryFilter walls = QueryFilter::Scene(asked.walls.mask);
  const Circle whole{disc.center, (disc.radius + radius) * (1 + 0x1p-20)};
  if (IsBeyond(disc.center.x, whole.radius) || IsBeyond(disc.center.y, whole.radius)) return true;
  StartWhole(whole);
  if (!FindEnvelope(world, walls, whole.radius, meter)) return false;
  if (starts_inside_) return true;
  memory.nearest = NearestEdge();
  if (memory.nearest < 2 * radius) return true;
  spread_ = EyeSpread(radius);
  on_line_.clear();
  nearest2_ = memory.nearest * memory.nearest;
  blockers_.clear();
  bool is_done = meter.Spend(envelope_.spans().size());
  if (is_done && spread_.AddUmbras(eye_, envelope_, blockers_)) {
    envelope_.Start();
    is_done = Insert(meter) && FindEnvelope(world, walls, whole.radius, meter) &&
              KeepEdges(world, asked, radius, meter);
  }
  spread_ = EyeSpread();
  return is_done;
}

void AreaFinder::StartWhole(const Circle& disc) {
  eye_.Start(disc);
  envelope_.Start();
  starts_inside_ = false;
  policy_ = InsidePolicy::kReportStart;
}

// Takes an edge of a polygon outside of which the eye is: as one that hides, between the directions
// of its umbra, and as one that may be visible. An edge that is on the back of its polygon for each
// point of the disc is neither.
void AreaFinder::AddSpread(const Segment& edge, size_t index, int back) {
  const Vec2 p = eye_.position();
  const int side = Orientation(p, edge.a, edge.b);
  const bool is_beside = spread_.IsBeside(p, edge);
  if (back != 0 && side == back && is_beside) return;
  if (side == 0) {
    const Vec2 a{edge.a.x - p.x, edge.a.y - p.y}, b{edge.b.x - p.x, edge.b.y - p.y};
    const double a2 = a.x * a.x + a.y * a.y, b2 = b.x * b.x + b.y * b.y;
    nearest2_ = a.x * b.x + a.y * b.y <= 0 ? 0 : std::min({nearest2_, a2, b2});
    on_line_.emplace_back(static_cast<uint32_t>(eye_.source_count() - 1),
                          static_cast<uint32_t>(index));
    return;
  }
  if (!eye_.AddEdge(edge, index)) return;
  const auto number = static_cast<uint32_t>(eye_.edges().size() - 1);
  nearest2_ = std::min(nearest2_, eye_.edges()[number].distance2);
  if (!is_beside) return;
  spread_.AddUmbra(eye_, number, blockers_);
}

// Keeps each edge that the envelope of the umbras does not hide: once, although both searches may
// have found it. Keeps none if an edge on a line with the eye is too near. Returns false once the
// meter stops the work.
bool AreaFinder::KeepEdges(const World& world, const EyeQuestion& asked, double radius,
                           WorkMeter& meter) {
  EyeMemory& memory = *asked.memory;
  memory.nearest = std::sqrt(nearest2_);
  if (memory.nearest < 2 * radius) return true;
  kept_.clear();
  const auto count = static_cast<uint32_t>(eye_.edges().size());
  for (uint32_t i = 0; i < count; ++i) {
    if (!meter.Spend(1)) return false;
    const EyeEdge& edge = eye_.edges()[i];
    blockers_.clear();
    AddBlocker(edge.begin, edge.end, i, blockers_);
    const bool is_hidden = std::ranges::all_of(blockers_, [&](const Blocker& blocker) {
      return envelope_.IsHidden(eye_, blocker, meter);
    });
    if (!is_hidden) kept_.push_back({eye_.SourceOf(edge).polygon, edge.index});
  }
  for (const auto& [source, index] : on_line_) {
    kept_.push_back({eye_.source(source).polygon, index});
  }
  if (!meter.Spend(kept_.size())) return false;
  memory.Keep(kept_);
  if (memory.edges.empty() && !kept_.empty()) return true;  // too many
  memory.disc = {asked.item.disc.center, radius};
  memory.range = asked.item.disc.radius;
  memory.scene_state = world.scene.history().state();
  memory.mask = asked.walls.mask;
  tier_ = EyeTier::kRefresh;
  return true;
}

// Finds the envelope by the edges of the memory, and the bodies.
bool AreaFinder::FindByMemory(const World& world, const EyeQuestion& asked, double range,
                              WorkMeter& meter) {
  const EyeMemory& memory = *asked.memory;
  blockers_.clear();
  size_t next = 0;
  for (const KeptPolygon& kept : memory.polygons) {
    if (!meter.Spend(uint64_t{4} * kept.edge_count)) return false;
    eye_.AddSource({&kept.polygon, kept.polygon.id(), false});
    const int back = BackOf(IndexedPolygon::ConvexityInScene(kept.polygon));
    for (uint32_t i = 0; i < kept.edge_count; ++i, ++next) {
      const uint32_t index = memory.edges[next];
      AddEdge(kept.polygon.edge(index), index, back);
    }
  }
  if (!Insert(meter)) return false;
  return !asked.walls.bodies || InsertBodies(world, asked.walls, range, meter);
}

// An eye that looks for targets without a memory may not find the nearest edge, which is then at
// most so much farther as the eye has moved.
void AreaFinder::RememberEye(EyeMemory& memory) const {
  const Vec2 p = eye_.position();
  const double step = memory.has_last ? std::hypot(p.x - memory.last.x, p.y - memory.last.y) : 0;
  memory.has_last = true;
  memory.last = p;
  if (sector_.has_ranges && tier_ == EyeTier::kCold) {
    memory.nearest += step;
    return;
  }
  memory.nearest = NearestEdge();
}

// Returns the distance of the nearest edge of the scene that was found, at most the range.
double AreaFinder::NearestEdge() const {
  double nearest2 = eye_.range() * eye_.range();
  for (const EyeEdge& edge : eye_.edges()) {
    if (!eye_.SourceOf(edge).is_body) nearest2 = std::min(nearest2, edge.distance2);
  }
  return std::sqrt(nearest2);
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
