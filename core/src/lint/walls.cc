// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/walls.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "carom/predicates.h"
#include "numeric/box_distance.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

// Compares two points by x, then by y. Both w are above 0.
int Compare(const ExactPoint& p, const ExactPoint& q) {
  const int by_x = (p.x * q.w - q.x * p.w).sign();
  return by_x != 0 ? by_x : (p.y * q.w - q.y * p.w).sign();
}

bool IsProperPair(const LintEdge& a, const LintEdge& b) { return a.is_proper() && b.is_proper(); }

}  // namespace

int WallDirection::sign_x() const { return turned ? -Sign(to.y - from.y) : Sign(to.x - from.x); }
int WallDirection::sign_y() const { return turned ? Sign(to.x - from.x) : Sign(to.y - from.y); }

DyadicVec2 WallDirection::Exact() const {
  const DyadicVec2 d = DyadicDifference(to, from);
  return turned ? DyadicVec2{-d.y, d.x} : d;
}

// With R for the turn to the left: R a x R b = a x b, R a x b = -(a . b), a x R b = a . b.
int CrossOf(const WallDirection& a, const WallDirection& b) {
  if (a.turned == b.turned) return CrossSign(a.from, a.to, b.from, b.to);
  const int dot = DotSign(a.from, a.to, b.from, b.to);
  return a.turned ? -dot : dot;
}

Walls::Walls(const LintMap& map, std::vector<Gap> gaps, WorkMeter& meter)
    : map_(map), gaps_(std::move(gaps)) {
  DropEqualDiscs(meter);
  points_.reserve(map.places().size() + gaps_.size());
  for (const LintPlace& place : map.places()) points_.push_back({place.point});
  for (uint32_t i = 0; i < map.edges().size(); ++i) {
    on_walls_.push_back({i, map.edges()[i].place_a});
    on_walls_.push_back({i, map.edges()[i].place_b});
  }
  if (!FindMeetings(meter) || !AddFeet(meter)) return;
  if (!meter.Spend(64 * points_.size())) return;
  MergePoints();
  if (meter.stopped() || !meter.Spend(16 * on_walls_.size())) return;
  SortPoints();
  if (meter.stopped()) return;
  CutWalls();
  ok_ = true;
}

WallDirection Walls::direction(uint32_t wall) const {
  if (!is_gap(wall)) return {map_.edges()[wall].segment.a, map_.edges()[wall].segment.b};
  const Gap& gap = gaps_[wall - map_.edges().size()];
  const Vec2 v = map_.places()[gap.v].point;
  if (gap.q != Gap::kNoPlace) return {v, map_.places()[gap.q].point};
  // From v to the foot: the normal of the edge on the side without v.
  const Segment& edge = map_.edges()[gap.edge].segment;
  return Orientation(edge.a, edge.b, v) < 0 ? WallDirection{edge.a, edge.b, true}
                                            : WallDirection{edge.b, edge.a, true};
}

Vec2 Walls::base(uint32_t wall) const {
  return is_gap(wall) ? map_.places()[gaps_[wall - map_.edges().size()].v].point
                      : map_.edges()[wall].segment.a;
}

ExactPoint Walls::ExactOfPoint(const Point& point) const {
  if (point.a == kNone) return ExactOf(point.rounded);
  if (is_gap(point.a)) {
    const Gap& gap = gaps_[point.a - map_.edges().size()];
    return Foot(map_.places()[gap.v].point, map_.edges()[gap.edge].segment).Exact();
  }
  return CrossingPoint(map_.edges()[point.a].segment, map_.edges()[point.b].segment);
}

ExactPoint Walls::exact(uint32_t point) const { return ExactOfPoint(points_[point]); }

int Walls::CompareY(uint32_t point, double y) const {
  const Point& at = points_[point];
  // Rounding is monotonic: it cannot exchange the order with a double.
  if (at.a == kNone || at.rounded.y != y) return Sign(at.rounded.y - y);
  const ExactPoint p = ExactOfPoint(at);
  return (p.y - p.w * Dyadic(y)).sign();
}

// Keeps one of the gaps with the same disc, the first one. Equal discs have equal middles, whose
// rounded coordinates are equal, too.
void Walls::DropEqualDiscs(WorkMeter& meter) {
  if (gaps_.size() < 2 || !meter.Spend(64 * gaps_.size())) return;
  const auto middle_of = [this](uint32_t gap) {
    return Foot(map_.places()[gaps_[gap].v].point, map_.edges()[gaps_[gap].edge].segment).Middle();
  };
  std::vector<Vec2> rounded;
  rounded.reserve(gaps_.size());
  for (uint32_t gap = 0; gap < gaps_.size(); ++gap) rounded.push_back(middle_of(gap).Rounded());
  std::vector<uint32_t> order(gaps_.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    if (!(rounded[a] == rounded[b])) {
      return std::tie(rounded[a].x, rounded[a].y) < std::tie(rounded[b].x, rounded[b].y);
    }
    const int sign = Compare(middle_of(a), middle_of(b));
    return sign != 0 ? sign < 0 : a < b;
  });
  std::vector<bool> is_equal(gaps_.size());
  for (size_t i = 1; i < order.size(); ++i) {
    is_equal[order[i]] = rounded[order[i]] == rounded[order[i - 1]] &&
                         Compare(middle_of(order[i]), middle_of(order[i - 1])) == 0;
  }
  std::vector<Gap> kept;
  for (uint32_t gap = 0; gap < gaps_.size(); ++gap) {
    if (!is_equal[gap]) kept.push_back(gaps_[gap]);
  }
  gaps_ = std::move(kept);
}

bool Walls::FindMeetings(WorkMeter& meter) {
  const std::vector<LintEdge>& edges = map_.edges();
  const size_t most = points_.size() + 2 * edges.size() + kFreeCrossings;
  for (uint32_t i = 0; i < edges.size(); ++i) {
    const Box box = BoundsOf(edges[i].segment);
    const bool finished = map_.tree().Traverse(meter, MeetsBox{box}, [&](size_t j) {
      if (j <= i || !box.Intersects(BoundsOf(edges[j].segment))) return true;
      return meter.Spend(8) && AddMeeting(i, static_cast<uint32_t>(j), meter) &&
             points_.size() <= most && on_walls_.size() <= 8 * most;
    });
    if (!finished) return false;
  }
  return true;
}

// Adds the points in which two edges meet to the edges that do not end there. Returns true.
bool Walls::AddMeeting(uint32_t i, uint32_t j, WorkMeter& meter) {
  const LintEdge& a = map_.edges()[i];
  const LintEdge& b = map_.edges()[j];
  const auto end_on = [&](uint32_t place, const LintEdge& edge, uint32_t wall) {
    if (place == edge.place_a || place == edge.place_b) return true;
    if (!IsOnSegment(map_.places()[place].point, edge.segment)) return false;
    on_walls_.push_back({wall, place});
    return true;
  };
  bool meets_at_end = false;
  for (const uint32_t place : {a.place_a, a.place_b}) meets_at_end |= end_on(place, b, j);
  for (const uint32_t place : {b.place_a, b.place_b}) meets_at_end |= end_on(place, a, i);
  if (meets_at_end || !IsProperPair(a, b) || !Intersects(a.segment, b.segment)) return true;
  meter.Count(2 * kExactUnits);
  const auto point = static_cast<uint32_t>(points_.size());
  points_.push_back({CrossingPoint(a.segment, b.segment).Rounded(), i, j});
  on_walls_.push_back({i, point});
  on_walls_.push_back({j, point});
  return true;
}

// Adds the ends of gaps, and cuts edges at the feet: the gap's edge, and edges on its line.
bool Walls::AddFeet(WorkMeter& meter) {
  const auto edge_count = static_cast<uint32_t>(map_.edges().size());
  for (uint32_t k = 0; k < gaps_.size(); ++k) {
    const Gap& gap = gaps_[k];
    const uint32_t wall = edge_count + k;
    on_walls_.push_back({wall, gap.v});
    if (gap.q != Gap::kNoPlace) {
      on_walls_.push_back({wall, gap.q});
      continue;
    }
    const Segment& edge = map_.edges()[gap.edge].segment;
    const ExactPoint exact = Foot(map_.places()[gap.v].point, edge).Exact();
    meter.Count(2 * kExactUnits);
    const auto point = static_cast<uint32_t>(points_.size());
    points_.push_back({exact.Rounded(), wall, kNone});
    on_walls_.push_back({wall, point});
    on_walls_.push_back({gap.edge, point});
    const Vec2 q = points_.back().rounded;
    const MeetsBox meets{Grown({q, q}, map_.slack())};
    const bool finished = map_.tree().Traverse(meter, meets, [&](size_t g) {
      const LintEdge& other = map_.edges()[g];
      if (g == gap.edge || !other.is_proper() ||
          Orientation(edge.a, edge.b, other.segment.a) != 0 ||
          Orientation(edge.a, edge.b, other.segment.b) != 0) {
        return meter.Spend(2);
      }
      const DyadicVec2 d = DyadicDifference(other.segment.b, other.segment.a);
      const DyadicVec2 from_a{exact.x - exact.w * Dyadic(other.segment.a.x),
                              exact.y - exact.w * Dyadic(other.segment.a.y)};
      const Dyadic along = Dot(from_a, d);
      if (along.sign() > 0 && along < exact.w * Dot(d, d)) {
        on_walls_.push_back({static_cast<uint32_t>(g), point});
      }
      return meter.Spend(64);
    });
    if (!finished) return false;
  }
  return true;
}

bool Walls::AreEqual(uint32_t a, uint32_t b) const {
  return points_[a].rounded == points_[b].rounded && Compare(exact(a), exact(b)) == 0;
}

// Gives equal points one number, that of a place if there is one. Equal points have equal rounded
// coordinates.
void Walls::MergePoints() {
  const auto places = static_cast<uint32_t>(map_.places().size());
  std::vector<uint32_t> order(points_.size() - places);
  std::iota(order.begin(), order.end(), places);
  std::sort(order.begin(), order.end(), [this](uint32_t a, uint32_t b) {
    const Vec2 p = points_[a].rounded;
    const Vec2 q = points_[b].rounded;
    if (!(p == q)) return std::tie(p.x, p.y) < std::tie(q.x, q.y);
    const int sign = Compare(exact(a), exact(b));
    return sign != 0 ? sign < 0 : a < b;
  });
  std::vector<uint32_t> same(points_.size());
  std::iota(same.begin(), same.end(), 0);
  for (size_t i = 0; i < order.size(); ++i) {
    const Vec2 at = points_[order[i]].rounded;
    const auto place = std::lower_bound(
        map_.places().begin(), map_.places().end(), at, [](const LintPlace& a, Vec2 b) {
          return a.point.x != b.x ? a.point.x < b.x : a.point.y < b.y;
        });
    const auto index = static_cast<uint32_t>(place - map_.places().begin());
    if (place != map_.places().end() && place->point == at && AreEqual(order[i], index)) {
      same[order[i]] = index;
    } else if (i > 0 && AreEqual(order[i], order[i - 1])) {
      same[order[i]] = same[order[i - 1]];
    }
  }
  for (OnWall& on : on_walls_) on.point = same[on.point];
}

// Whether p comes before q on a wall, from its base on.
bool Walls::IsBefore(uint32_t wall, uint32_t p, uint32_t q) const {
  const WallDirection d = direction(wall);
  const bool by_x = std::abs(d.to.x - d.from.x) >= std::abs(d.to.y - d.from.y);
  const bool along_x = by_x != d.turned;
  const int sign = along_x ? d.sign_x() : d.sign_y();
  const auto along = [along_x](Vec2 v) { return along_x ? v.x : v.y; };
  const double u = along(rounded(p));
  const double v = along(rounded(q));
  if (u != v) return (u < v) == (sign > 0);
  if (p == q) return false;
  const ExactPoint a = exact(p);
  const ExactPoint b = exact(q);
  const int less = along_x ? (a.x * b.w - b.x * a.w).sign() : (a.y * b.w - b.y * a.w).sign();
  return less * sign < 0;
}

void Walls::SortPoints() {
  std::sort(on_walls_.begin(), on_walls_.end(), [](const OnWall& a, const OnWall& b) {
    return std::tie(a.wall, a.point) < std::tie(b.wall, b.point);
  });
  const auto end = std::unique(
      on_walls_.begin(), on_walls_.end(),
      [](const OnWall& a, const OnWall& b) { return a.wall == b.wall && a.point == b.point; });
  on_walls_.erase(end, on_walls_.end());
  first_point_.assign(wall_count() + 1, 0);
  for (const OnWall& on : on_walls_) {
    ++first_point_[on.wall + 1];
    wall_points_.push_back(on.point);
  }
  std::partial_sum(first_point_.begin(), first_point_.end(), first_point_.begin());
  for (uint32_t wall = 0; wall < wall_count(); ++wall) {
    if (first_point_[wall + 1] - first_point_[wall] < 2) continue;
    std::sort(wall_points_.begin() + first_point_[wall],
              wall_points_.begin() + first_point_[wall + 1],
              [&](uint32_t p, uint32_t q) { return IsBefore(wall, p, q); });
  }
}

std::span<const uint32_t> Walls::points_of(uint32_t wall) const {
  return std::span(wall_points_)
      .subspan(first_point_[wall], first_point_[wall + 1] - first_point_[wall]);
}

// The pieces of a wall begin where its points begin, less one for each wall before; a piece takes
// the place of the point that it begins with.
std::span<const uint32_t> Walls::pieces_of(uint32_t wall) const {
  const size_t count = points_of(wall).size();
  return std::span(wall_pieces_).subspan(first_point_[wall], count == 0 ? 0 : count - 1);
}

std::span<const PieceEdge> Walls::edges_of_piece(uint32_t piece) const {
  return std::span(piece_edges_)
      .subspan(first_piece_edge_[piece], first_piece_edge_[piece + 1] - first_piece_edge_[piece]);
}

void Walls::CutWalls() {
  struct Cut {
    uint32_t a, b, wall, slot;
    bool along;
  };
  std::vector<Cut> cuts;
  for (uint32_t wall = 0; wall < wall_count(); ++wall) {
    const std::span<const uint32_t> points = points_of(wall);
    for (uint32_t i = 0; i + 1 < points.size(); ++i) {
      cuts.push_back({std::min(points[i], points[i + 1]), std::max(points[i], points[i + 1]), wall,
                      first_point_[wall] + i, points[i] < points[i + 1]});
    }
  }
  std::sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) {
    return std::tie(a.a, a.b, a.wall) < std::tie(b.a, b.b, b.wall);
  });
  wall_pieces_.assign(wall_points_.size(), 0);
  for (size_t i = 0; i < cuts.size(); ++i) {
    const Cut& cut = cuts[i];
    if (i == 0 || cuts[i - 1].a != cut.a || cuts[i - 1].b != cut.b) {
      first_piece_edge_.push_back(static_cast<uint32_t>(piece_edges_.size()));
      pieces_.push_back({cut.a, cut.b, cut.wall, cut.along});
    }
    wall_pieces_[cut.slot] = static_cast<uint32_t>(pieces_.size() - 1);
    if (!is_gap(cut.wall)) piece_edges_.push_back({cut.wall, cut.along});
  }
  first_piece_edge_.push_back(static_cast<uint32_t>(piece_edges_.size()));
}

}  // namespace carom::internal
