// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "lint/gap_search.h"

#include <bit>
#include <cmath>

#include "carom/predicates.h"
#include "lint/lint_exact.h"

namespace carom::internal {
namespace {

// The relative error of the products of `IsHidden`: a few roundings, with a wide margin.
constexpr double kProductError = 0x1p-48;

}  // namespace

GapSearch::GapSearch(const LintMap& map, double radius)
    : map_(map), width_(2 * radius), limit2_(width_ * width_) {}

bool GapSearch::Run(uint32_t place, std::vector<uint32_t>& edges, WorkMeter& meter) {
  place_ = place;
  v_ = map_.places()[place].point;
  directions_.clear();
  blockers_.clear();
  found_.clear();
  for (const uint32_t edge : map_.edges_at(place)) AddDirections(map_.edges()[edge]);
  if (map_.tree().count() != 0 && !Descend(map_.tree().level_count() - 1, 0, meter)) return false;
  edges.clear();
  const Circle reach{v_, width_};
  for (const uint32_t edge : found_) {
    const Segment& segment = map_.edges()[edge].segment;
    if (!IsHidden(NearestNear(v_, segment)) && CompareDistance(segment, reach) < 0) {
      edges.push_back(edge);
    }
  }
  return meter.Spend(4 * found_.size());
}

// Adds the directions in which an edge through v leaves v.
void GapSearch::AddDirections(const LintEdge& edge) {
  for (const Vec2 end : {edge.segment.a, edge.segment.b}) {
    if (!(end == v_)) directions_.push_back({end.x - v_.x, end.y - v_.y});
  }
}

// A box is hidden by a half-plane if its corner that is least far in the direction of the
// half-plane's normal is. A direction has a relative error of one rounding, which the error of
// products covers; the corner may be a computed point, within the slack of the exact one. A blocker
// x has a distance of at most `slack` from a point of an edge, and so has v + (x - v) after
// rounding; so (x - v) . (q - x) errs by at most slack (|x - v| + |q - x|), and slack^2, beyond the
// errors of its products.
bool GapSearch::IsHidden(const Box& box) const {
  const auto corner = [&box](Vec2 normal) {
    return Vec2{normal.x > 0 ? box.min.x : box.max.x, normal.y > 0 ? box.min.y : box.max.y};
  };
  const double slack = 4 * map_.slack();
  for (const Vec2 u : directions_) {
    const Vec2 q = corner(u);
    const double x = u.x * (q.x - v_.x);
    const double y = u.y * (q.y - v_.y);
    if (x + y > 0 && x + y > kProductError * (std::abs(x) + std::abs(y)) +
                                 slack * (std::abs(u.x) + std::abs(u.y))) {
      return true;
    }
  }
  for (const auto& [blocker, u] : blockers_) {
    const Vec2 q = corner(u);
    const Vec2 d{q.x - blocker.x, q.y - blocker.y};
    const double x = u.x * d.x;
    const double y = u.y * d.y;
    if (!(x + y > 0)) continue;
    const double lengths = std::abs(u.x) + std::abs(u.y) + std::abs(d.x) + std::abs(d.y);
    if (x + y > kProductError * (std::abs(x) + std::abs(y)) + slack * (lengths + slack)) {
      return true;
    }
  }
  return false;
}

bool GapSearch::Descend(size_t level, size_t index, WorkMeter& meter) {
  if (!meter.Spend(BoxNode::kWidth)) return false;
  const BoxNode& node = map_.tree().node(level, index);
  const BoxNode::Column distances2 = node.LowerDistances2(FloatBox({v_, v_}));
  for (LaneBits bits = BoxNode::Within(distances2, limit2_); bits != 0;) {
    size_t nearest = static_cast<size_t>(std::countr_zero(bits));
    for (LaneBits rest = bits & (bits - 1); rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(rest));
      if (distances2[lane] < distances2[nearest]) nearest = lane;
    }
    bits &= ~(LaneBits{1} << nearest);
    if (IsHidden(node.box(nearest))) continue;
    const size_t child = index * BoxNode::kWidth + nearest;
    if (level == 0) {
      Visit(static_cast<uint32_t>(child));
    } else if (!Descend(level - 1, child, meter)) {
      return false;
    }
  }
  return true;
}

void GapSearch::Visit(uint32_t index) {
  const LintEdge& edge = map_.edges()[index];
  if (edge.place_a == place_ || edge.place_b == place_) return;
  const Vec2 q = NearestNear(v_, edge.segment);
  const double far = std::max(std::abs(q.x - v_.x), std::abs(q.y - v_.y));
  if (far <= 8 * map_.slack() && IsOnSegment(v_, edge.segment)) return AddDirections(edge);
  if (IsHidden(q)) return;
  found_.push_back(index);
  if (blockers_.size() < kMaxBlockers) blockers_.push_back({q, {q.x - v_.x, q.y - v_.y}});
}

}  // namespace carom::internal
