// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "carom/predicates.h"
#include "numeric/box_distance.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// Disjoint sets of numbers, by path halving.
class Sets {
 public:
  explicit Sets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  uint32_t Find(uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(uint32_t a, uint32_t b) { parent_[Find(a)] = Find(b); }

 private:
  std::vector<uint32_t> parent_;
};

// Whether a direction has an angle in [0, 180) degrees.
bool IsUpper(const WallDirection& d) {
  const int y = d.sign_y();
  return y != 0 ? y > 0 : d.sign_x() > 0;
}

}  // namespace

Regions::Regions(const Walls& walls, WorkMeter& meter) : walls_(walls) {
  const std::vector<Gap>& gaps = walls.gaps();
  gap_tree_ = BoxTree(gaps.size(), [&](size_t i) {
    Box box;
    const auto wall = static_cast<uint32_t>(walls.map().edges().size() + i);
    for (const uint32_t p : walls.points_of(wall)) box.Extend(walls.rounded(p));
    return Grown(box, walls.map().slack());
  });
  SortAroundPoints();
  if (!meter.Spend(32 * walls.pieces().size())) return;
  FindLoops();
  ok_ = JoinLoops(meter) && FindSolids(meter);
}

WallDirection Regions::DirectionOf(uint32_t side) const {
  const WallPiece& piece = walls_.pieces()[side / 2];
  const WallDirection d = walls_.direction(piece.wall);
  return piece.along == (side % 2 == 0) ? d : d.Reversed();
}

void Regions::SortAroundPoints() {
  const auto side_count = static_cast<uint32_t>(2 * walls_.pieces().size());
  std::vector<WallDirection> directions(side_count);
  for (uint32_t side = 0; side < side_count; ++side) directions[side] = DirectionOf(side);
  first_leaving_.assign(walls_.point_count() + 1, 0);
  for (uint32_t side = 0; side < side_count; ++side) ++first_leaving_[begin_of(side)];
  std::partial_sum(first_leaving_.begin(), first_leaving_.end(), first_leaving_.begin());
  leaving_.resize(side_count);
  for (uint32_t side = side_count; side-- > 0;) leaving_[--first_leaving_[begin_of(side)]] = side;
  next_.resize(side_count);
  for (uint32_t p = 0; p < walls_.point_count(); ++p) {
    const auto begin = leaving_.begin() + first_leaving_[p];
    const auto end = leaving_.begin() + first_leaving_[p + 1];
    std::sort(begin, end, [&](uint32_t a, uint32_t b) {
      const bool upper_a = IsUpper(directions[a]);
      const bool upper_b = IsUpper(directions[b]);
      return upper_a != upper_b ? upper_a : CrossOf(directions[a], directions[b]) > 0;
    });
    // The way that arrives by the reverse of `*i` leaves by the side before it, counter-clockwise:
    // the region stays to the left.
    for (auto i = begin; i != end; ++i) next_[*i ^ 1] = i == begin ? *(end - 1) : *(i - 1);
  }
}

void Regions::FindLoops() {
  constexpr uint32_t kNoLoop = UINT32_MAX;
  loop_.assign(next_.size(), kNoLoop);
  uint32_t loops = 0;
  for (uint32_t first = 0; first < next_.size(); ++first) {
    if (loop_[first] != kNoLoop) continue;
    for (uint32_t side = first; loop_[side] == kNoLoop; side = next_[side]) loop_[side] = loops;
    ++loops;
  }
  is_outer_loop_.assign(loops, false);
}

// Finds, for each connected part of the walls, a side of its outer loop that begins at its leftmost
// point. That point is a place: other points are within edges. The sides that leave it have angles
// in (-90, 90] degrees, so the direction to the left is between the last of those in [0, 90], or of
// all, and the next one.
void Regions::FindOuterSides(std::vector<uint32_t>& outer_sides) {
  Sets parts(walls_.point_count());
  for (const WallPiece& piece : walls_.pieces()) parts.Join(piece.a, piece.b);
  std::vector<bool> seen(walls_.point_count(), false);
  // Places are in ascending order of (x, y), so the first of a part is its leftmost one.
  for (uint32_t p = 0; p < walls_.map().places().size(); ++p) {
    const uint32_t begin = first_leaving_[p];
    const uint32_t end = first_leaving_[p + 1];
    if (begin == end || seen[parts.Find(p)]) continue;
    seen[parts.Find(p)] = true;
    uint32_t last = end - 1;
    for (uint32_t i = begin; i < end; ++i) {
      if (IsUpper(DirectionOf(leaving_[i]))) last = i;
    }
    if (!IsUpper(DirectionOf(leaving_[last]))) last = end - 1;
    outer_sides.push_back(leaving_[last]);
    is_outer_loop_[loop_[leaving_[last]]] = true;
  }
}

bool Regions::JoinLoops(WorkMeter& meter) {
  std::vector<uint32_t> outer_sides;
  FindOuterSides(outer_sides);
  const auto loops = static_cast<uint32_t>(is_outer_loop_.size());
  Sets regions(loops + 1);  // loop l is l + 1; 0 is the unbounded region
  for (const uint32_t side : outer_sides) {
    bool on_wall = false;
    const std::optional<uint32_t> left = SideLeftOf(walls_.rounded(begin_of(side)), on_wall, meter);
    if (meter.stopped()) return false;
    regions.Join(loop_[side] + 1, left.has_value() ? loop_[*left] + 1 : 0);
  }
  std::vector<uint32_t> root_of(loops + 1);
  for (uint32_t i = 0; i <= loops; ++i) root_of[i] = regions.Find(i);
  NumberRegions(root_of);
  return true;
}

void Regions::NumberRegions(const std::vector<uint32_t>& root_of) {
  constexpr uint32_t kNoNumber = UINT32_MAX;
  std::vector<uint32_t> number(root_of.size(), kNoNumber);
  uint32_t regions = 0;
  number[root_of[0]] = regions++;
  region_of_loop_.resize(is_outer_loop_.size());
  for (uint32_t l = 0; l < is_outer_loop_.size(); ++l) {
    uint32_t& known = number[root_of[l + 1]];
    if (known == kNoNumber) known = regions++;
    region_of_loop_[l] = known;
  }
  first_side_.assign(regions + 1, 0);
  for (const uint32_t loop : loop_) ++first_side_[region_of_loop_[loop]];
  std::partial_sum(first_side_.begin(), first_side_.end(), first_side_.begin());
  sides_.resize(loop_.size());
  for (auto side = static_cast<uint32_t>(loop_.size()); side-- > 0;) {
    sides_[--first_side_[region_of_loop_[loop_[side]]]] = side;
  }
}

// Visits all regions by steps across pieces, and counts how often each polygon winds around the
// current region: a step across an edge from its left to its right subtracts one.
bool Regions::FindSolids(WorkMeter& meter) {
  is_solid_.assign(count(), false);
  std::vector<int32_t> winding(walls_.map().scene().polygon_count(), 0);
  size_t filled = 0;  // number of polygons that fill the current region
  const auto cross = [&](uint32_t side) {
    for (const PieceEdge& part : walls_.edges_of_piece(side / 2)) {
      const uint32_t number = walls_.map().edges()[part.edge].name.polygon;
      const Polygon& polygon = walls_.map().scene().polygon(number);
      int32_t& turns = winding[number];
      if (polygon.IsFilled(turns)) --filled;
      turns += part.along == (side % 2 == 0) ? -1 : 1;
      if (polygon.IsFilled(turns)) ++filled;
    }
  };
  struct Step {
    uint32_t region;
    uint32_t next;   // index in `sides_`
    uint32_t entry;  // the side that was crossed, in the region before
  };
  std::vector<bool> seen(count(), false);
  std::vector<Step> path = {{kUnbounded, first_side_[kUnbounded], UINT32_MAX}};
  seen[kUnbounded] = true;
  while (!path.empty()) {
    Step& step = path.back();
    if (!meter.Spend(4)) return false;
    if (step.next == first_side_[step.region + 1]) {
      if (step.entry != UINT32_MAX) cross(step.entry ^ 1);
      path.pop_back();
      continue;
    }
    const uint32_t side = sides_[step.next++];
    const uint32_t region = region_of_loop_[loop_[side ^ 1]];
    if (seen[region]) continue;
    seen[region] = true;
    cross(side);
    is_solid_[region] = filled > 0;
    path.push_back({region, first_side_[region], side});
  }
  return true;
}

std::optional<uint32_t> Regions::RegionAt(Vec2 p, WorkMeter& meter) const {
  bool on_wall = false;
  const std::optional<uint32_t> side = SideLeftOf(p, on_wall, meter);
  if (on_wall) return std::nullopt;
  return side.has_value() ? region_of_loop_[loop_[*side]] : kUnbounded;
}

// Follows the ray in steps, each twice as long as all before: a wall that meets a part of the ray
// is nearer than all that meet the rest.
std::optional<uint32_t> Regions::SideLeftOf(Vec2 p, bool& on_wall, WorkMeter& meter) const {
  const Box& bounds = walls_.map().scene().bounds();
  if (bounds.empty() || p.x < bounds.min.x) return std::nullopt;
  const auto edges = static_cast<uint32_t>(walls_.map().edges().size());
  double length = (bounds.max.x - bounds.min.x) / std::sqrt(static_cast<double>(edges));
  std::optional<RayHit> best;
  for (double left = p.x;; length *= 2) {
    const double end = length > 0 ? std::max(bounds.min.x, p.x - length) : bounds.min.x;
    const MeetsBox meets{{{end, p.y}, {left, p.y}}};
    walls_.map().tree().Traverse(meter, meets, [&](size_t i) {
      Consider(static_cast<uint32_t>(i), p, best, on_wall);
      return meter.Spend(16);
    });
    gap_tree_.Traverse(meter, meets, [&](size_t i) {
      Consider(edges + static_cast<uint32_t>(i), p, best, on_wall);
      return meter.Spend(16);
    });
    if (meter.stopped()) return std::nullopt;
    const bool is_in_part = best.has_value() && (best->at.x - best->at.w * Dyadic(end)).sign() >= 0;
    if (is_in_part || end == bounds.min.x) break;
    left = end;
  }
  if (!best.has_value()) return std::nullopt;
  return SideOf(best->wall, p);
}

// A wall counts if the height of the ray is in [lower end, upper end). Of walls that meet the ray
// in one point, the one that is further to the right just above counts.
void Regions::Consider(uint32_t wall, Vec2 p, std::optional<RayHit>& best, bool& on_wall) const {
  const std::span<const uint32_t> points = walls_.points_of(wall);
  if (points.size() < 2) return;
  const WallDirection d = walls_.direction(wall);
  const int first = walls_.CompareY(points.front(), p.y);
  const int last = walls_.CompareY(points.back(), p.y);
  if (first == last && first != 0) return;
  const Vec2 base = walls_.base(wall);
  if (first == 0 && last == 0) {  // horizontal
    const ExactPoint a = walls_.exact(points.front());
    const ExactPoint b = walls_.exact(points.back());
    const int side_a = (a.x - a.w * Dyadic(p.x)).sign();
    const int side_b = (b.x - b.w * Dyadic(p.x)).sign();
    on_wall = on_wall || side_a * side_b <= 0;
    return;
  }
  const DyadicVec2 exact = d.Exact();
  // The wall meets the height of p at x = base.x + (p.y - base.y) dx / dy.
  Dyadic w = exact.y;
  Dyadic x = Dyadic(base.x) * w + (Dyadic(p.y) - Dyadic(base.y)) * exact.x;
  if (w.sign() < 0) {
    w = -w;
    x = -x;
  }
  const int side = (x - w * Dyadic(p.x)).sign();
  if (side == 0) on_wall = true;
  const bool is_up = d.sign_y() > 0;
  if (side >= 0 || (is_up ? first : last) > 0 || (is_up ? last : first) <= 0) return;
  RayHit hit{wall, {x, p.y, w}};
  if (best.has_value()) {
    const int order = (hit.at.x * best->at.w - best->at.x * hit.at.w).sign();
    const WallDirection other = walls_.direction(best->wall);
    const int right =
        CrossOf(other.sign_y() > 0 ? other : other.Reversed(), is_up ? d : d.Reversed());
    if (order < 0 || (order == 0 && right >= 0)) return;
  }
  best = std::move(hit);
}

// The side, to the right of a wall that the ray to the left from `p` meets, of its piece there.
uint32_t Regions::SideOf(uint32_t wall, Vec2 p) const {
  const std::span<const uint32_t> points = walls_.points_of(wall);
  const std::span<const uint32_t> pieces = walls_.pieces_of(wall);
  const bool is_up = walls_.direction(wall).sign_y() > 0;
  // The number of points, from the lower end on, at or below the ray.
  size_t low = 0;
  size_t high = points.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const uint32_t point = points[is_up ? middle : points.size() - 1 - middle];
    if (walls_.CompareY(point, p.y) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  const size_t index = is_up ? low - 1 : pieces.size() - low;
  const uint32_t piece = pieces[index];
  const uint32_t lower = is_up ? points[index] : points[index + 1];
  // The way down has the right of the wall to its left.
  return walls_.pieces()[piece].a == lower ? 2 * piece + 1 : 2 * piece;
}

}  // namespace carom::internal
