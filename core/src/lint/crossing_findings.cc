// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <span>

#include "carom/predicates.h"
#include "lint/edge_findings.h"
#include "lint/lint_exact.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

bool LessByX(Vec2 a, Vec2 b) { return a.x != b.x ? a.x < b.x : a.y < b.y; }

bool IsEndOf(Vec2 p, const Segment& edge) { return p == edge.a || p == edge.b; }

// Whether one edge follows the other in a ring.
bool AreConsecutive(const LintMap& map, const EdgeName& a, const EdgeName& b) {
  if (a.ref.ring != b.ref.ring) return false;
  const Polygon& polygon = map.scene().polygon(a.polygon);
  const auto n = static_cast<uint32_t>(polygon.ring(a.ref.ring).size());
  const uint32_t low = std::min(a.ref.edge, b.ref.edge);
  const uint32_t high = std::max(a.ref.edge, b.ref.edge);
  return high - low == 1 || (!polygon.is_open(a.ref.ring) && low == 0 && high + 1 == n);
}

// Adds the finding, if any, about two proper edges of a polygon, `a` before `b`, that share a
// point.
void AddMeeting(const LintMap& map, const LintEdge& a, const LintEdge& b, FindingSink& sink) {
  const Segment& s = a.segment;
  const Segment& t = b.segment;
  const auto named = [&](LintKind kind) { return NamedFinding(map.scene(), kind, a.name, b.name); };
  const auto add_crossing = [&](Vec2 p) {
    if (!sink.Wants(LintKind::kCrossing) || (IsEndOf(p, s) && IsEndOf(p, t))) return;
    sink.Add(named(LintKind::kCrossing),
             [p](LintFinding& finding) { finding.point = finding.other_point = p; });
  };
  if (CrossSign(s.a, s.b, t.a, t.b) == 0) {  // parallel, hence on one line
    const Vec2 low = std::max(std::min(s.a, s.b, LessByX), std::min(t.a, t.b, LessByX), LessByX);
    const Vec2 high = std::min(std::max(s.a, s.b, LessByX), std::max(t.a, t.b, LessByX), LessByX);
    if (low == high) return add_crossing(low);
    if (!sink.Wants(LintKind::kOverlap) || AreConsecutive(map, a.name, b.name)) return;
    return sink.Add(named(LintKind::kOverlap), [=](LintFinding& finding) {
      finding.point = low;
      finding.other_point = high;
      finding.measure = RoundedDistance(low, high);
    });
  }
  for (const Vec2 p : {s.a, s.b}) {
    if (IsOnSegment(p, t)) return add_crossing(p);
  }
  for (const Vec2 p : {t.a, t.b}) {
    if (IsOnSegment(p, s)) return add_crossing(p);
  }
  if (!sink.Wants(LintKind::kCrossing)) return;
  sink.Add(named(LintKind::kCrossing), [&](LintFinding& finding) {
    finding.point = finding.other_point = CrossingPoint(s, t).Rounded();
  });
}

// Compares two edges of a polygon with boxes that meet.
void Compare(const LintMap& map, const LintEdge& a, const LintEdge& b, FindingSink& sink) {
  if (!a.is_proper() || !b.is_proper()) return;
  const bool ordered = a.name < b.name;
  const LintEdge& first = ordered ? a : b;
  const LintEdge& second = ordered ? b : a;
  // Consecutive edges that turn share only their common vertex.
  if (first.place_b == second.place_a && AreConsecutive(map, a.name, b.name) &&
      Orientation(first.segment.a, first.segment.b, second.segment.b) != 0) {
    return;
  }
  if (Intersects(a.segment, b.segment)) AddMeeting(map, first, second, sink);
}

// Polygons of at most this many edges compare all pairs.
constexpr size_t kFewEdges = 24;

}  // namespace

bool FindCrossings(const LintMap& map, FindingSink& sink, WorkMeter& meter) {
  for (uint32_t p = 0; p < map.scene().polygon_count(); ++p) {
    const std::span<const LintEdge> edges = map.edges_of(p);
    if (edges.size() <= kFewEdges) {
      if (!meter.Spend(1 + edges.size() * edges.size() / 2)) return false;
      for (size_t i = 1; i < edges.size(); ++i) {
        const Box box = BoundsOf(edges[i].segment);
        for (size_t j = 0; j < i; ++j) {
          if (box.Intersects(BoundsOf(edges[j].segment))) Compare(map, edges[j], edges[i], sink);
        }
      }
      continue;
    }
    const auto first = static_cast<size_t>(edges.data() - map.edges().data());
    for (size_t i = 0; i < edges.size(); ++i) {
      const Box box = BoundsOf(edges[i].segment);
      const bool finished = map.tree().Traverse(meter, MeetsBox{box}, [&](size_t j) {
        if (j <= first + i || j >= first + edges.size()) return true;
        if (box.Intersects(BoundsOf(map.edges()[j].segment))) {
          Compare(map, edges[i], map.edges()[j], sink);
        }
        return meter.Spend(4);
      });
      if (!finished) return false;
    }
  }
  return true;
}

}  // namespace carom::internal
