// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/locate.h"
#include "carom/predicates.h"
#include "edges/point_scan.h"
#include "lint/edge_findings.h"
#include "shape/meets_box.h"

namespace carom::internal {
namespace {

LintFinding PairFinding(const LintMap& map, LintKind kind, uint32_t polygon, uint32_t other) {
  return NamedFinding(map.scene(), kind, {polygon, {}}, {other, {}});
}

void SetFirstVertex(const Polygon& polygon, LintFinding& finding) {
  finding.point = finding.other_point = polygon.vertices()[0];
}

// Whether a point is a point of the closed polygon.
bool Contains(const Polygon& polygon, Vec2 p) {
  if (!polygon.bounds().Contains(p)) return false;
  PointScan scan(p);
  for (size_t r = 0; r < polygon.ring_count(); ++r) {
    if (!scan.AddRing(polygon.ring(r), polygon.is_open(r))) return true;
  }
  return polygon.IsFilled(scan.winding());
}

// Whether a polygon fills a point that is on none of its edges.
bool Fills(const Polygon& polygon, Vec2 p) {
  if (!polygon.bounds().Contains(p)) return false;
  PointScan scan(p);
  for (size_t r = 0; r < polygon.ring_count(); ++r) {
    if (!scan.AddRing(polygon.ring(r), polygon.is_open(r))) return false;
  }
  return polygon.IsFilled(scan.winding());
}

// Finds which of some candidates, polygons that fill the first vertex of polygon `inner`, fill all
// of it.
class InsideCheck {
 public:
  InsideCheck(const LintMap& map, uint32_t inner, std::vector<uint32_t> candidates,
              WorkMeter& meter)
      : map_(map), inner_(inner), candidates_(std::move(candidates)), meter_(meter) {}

  // Returns the candidates, ascending, that fill all of the polygon. Meaningless once the meter has
  // stopped the work.
  std::vector<uint32_t> Run() {
    const Polygon& inner = map_.scene().polygon(inner_);
    std::erase_if(candidates_, [&](uint32_t outer) {
      const Polygon& polygon = map_.scene().polygon(outer);
      meter_.Spend((inner.ring_count() - 1) * polygon.edge_count());
      for (size_t r = 1; r < inner.ring_count() && !meter_.stopped(); ++r) {
        if (!Fills(polygon, inner.ring(r)[0])) return true;
      }
      return false;
    });
    DropThoseThatMeet();
    if (inner.solidity() == Solidity::kSolid) DropThoseWithin(inner);
    return std::move(candidates_);
  }

 private:
  bool IsCandidate(uint32_t polygon) const {
    return std::binary_search(candidates_.begin(), candidates_.end(), polygon);
  }
  void Drop(uint32_t polygon) {
    candidates_.erase(std::lower_bound(candidates_.begin(), candidates_.end(), polygon));
  }

  // Drops the candidates with edges that meet the polygon's edges.
  void DropThoseThatMeet() {
    for (const LintEdge& edge : map_.edges_of(inner_)) {
      if (candidates_.empty()) return;
      const MeetsBox meets{BoundsOf(edge.segment)};
      map_.tree().Traverse(meter_, meets, [&](size_t i) {
        const LintEdge& other = map_.edges()[i];
        if (IsCandidate(other.name.polygon) && Intersects(edge.segment, other.segment)) {
          Drop(other.name.polygon);
        }
        return meter_.Spend(1) && !candidates_.empty();
      });
      if (meter_.stopped()) return;
    }
  }

  // Drops the candidates with a ring within the polygon. No edges meet, so that each ring is within
  // the polygon or outside of it as a whole, and one vertex of the ring decides.
  void DropThoseWithin(const Polygon& inner) {
    if (candidates_.empty()) return;
    std::vector<std::pair<uint32_t, uint32_t>> seen;  // (polygon, ring), ascending
    map_.tree().Traverse(meter_, MeetsBox{inner.bounds()}, [&](size_t i) {
      const EdgeName& name = map_.edges()[i].name;
      if (name.polygon == inner_ || !IsCandidate(name.polygon)) return meter_.Spend(1);
      const std::pair ring(name.polygon, name.ref.ring);
      const auto at = std::lower_bound(seen.begin(), seen.end(), ring);
      if (at != seen.end() && *at == ring) return meter_.Spend(1);
      seen.insert(at, ring);
      if (Contains(inner, map_.edges()[i].segment.a)) Drop(name.polygon);
      return meter_.Spend(inner.edge_count());
    });
  }

  const LintMap& map_;
  uint32_t inner_;
  std::vector<uint32_t> candidates_;
  WorkMeter& meter_;
};

// Returns the number of the polygon with the id `id`, which is in the scene.
uint32_t NumberOf(const Scene& scene, uint64_t id) {
  size_t low = 0;
  size_t high = scene.polygon_count();
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    (scene.polygon(middle).id() <= id ? low : high) = middle;
  }
  return static_cast<uint32_t>(low);
}

// The edges of a polygon without their direction, sorted.
using EdgeList = std::vector<std::tuple<double, double, double, double>>;

EdgeList SortedEdges(const LintMap& map, uint32_t polygon) {
  EdgeList edges;
  for (const LintEdge& edge : map.edges_of(polygon)) {
    const auto& [a, b] = edge.segment;
    const bool ordered = std::tie(a.x, a.y) <= std::tie(b.x, b.y);
    edges.push_back(ordered ? std::tuple(a.x, a.y, b.x, b.y) : std::tuple(b.x, b.y, a.x, a.y));
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

// What equal polygons have in common, apart from their edges.
auto DuplicateKey(const Polygon& polygon) {
  const Box& box = polygon.bounds();
  return std::tuple(box.min.x, box.min.y, box.max.x, box.max.y, polygon.edge_count(),
                    polygon.solidity(), polygon.fill_rule(), polygon.category());
}

}  // namespace

bool FindInside(const LintMap& map, FindingSink& sink, WorkMeter& meter) {
  // Small, since each of the points may be in all polygons, and the answer has a row for each.
  constexpr uint32_t kChunk = 4;
  const Scene& scene = map.scene();
  const auto count = static_cast<uint32_t>(scene.polygon_count());
  std::vector<double> x;
  std::vector<double> y;
  LocateAnswers located;
  for (uint32_t begin = 0; begin < count; begin += kChunk) {
    const uint32_t end = std::min(count, begin + kChunk);
    x.clear();
    y.clear();
    for (uint32_t p = begin; p < end; ++p) {
      x.push_back(scene.polygon(p).vertices()[0].x);
      y.push_back(scene.polygon(p).vertices()[0].y);
    }
    if (!LocatePoints(scene, {x, y}, kEveryCategory, located, meter)) return false;
    size_t row = 0;
    for (uint32_t p = begin; p < end; ++p) {
      std::vector<uint32_t> outer;
      for (uint32_t k = 0; k < located.counts[p - begin]; ++k, ++row) {
        if (located.locations[row] != Location::kInside) continue;
        outer.push_back(NumberOf(scene, located.polygon_ids[row]));
      }
      if (outer.empty()) continue;
      outer = InsideCheck(map, p, std::move(outer), meter).Run();
      if (meter.stopped()) return false;
      for (const uint32_t other : outer) {
        sink.Add(PairFinding(map, LintKind::kInside, p, other),
                 [&](LintFinding& finding) { SetFirstVertex(scene.polygon(p), finding); });
      }
    }
  }
  return true;
}

bool FindDuplicates(const LintMap& map, FindingSink& sink, WorkMeter& meter) {
  const Scene& scene = map.scene();
  std::vector<uint32_t> order(scene.polygon_count());
  for (uint32_t p = 0; p < order.size(); ++p) order[p] = p;
  const auto key = [&](uint32_t p) { return DuplicateKey(scene.polygon(p)); };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key_a = key(a);
    const auto key_b = key(b);
    return key_a != key_b ? key_a < key_b : a < b;
  });
  if (!meter.Spend(16 * order.size())) return false;
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    for (end = begin + 1; end < order.size() && key(order[end]) == key(order[begin]);) ++end;
    if (end - begin == 1) continue;
    std::vector<std::pair<EdgeList, uint32_t>> lists;
    for (size_t i = begin; i < end; ++i) {
      if (!meter.Spend(16 * scene.polygon(order[i]).edge_count())) return false;
      lists.emplace_back(SortedEdges(map, order[i]), order[i]);
    }
    std::sort(lists.begin(), lists.end());
    size_t least = 0;
    for (size_t i = 1; i < lists.size(); ++i) {
      if (lists[i].first != lists[least].first) {
        least = i;
        continue;
      }
      const uint32_t p = lists[i].second;
      sink.Add(PairFinding(map, LintKind::kDuplicatePolygon, p, lists[least].second),
               [&](LintFinding& finding) { SetFirstVertex(scene.polygon(p), finding); });
    }
  }
  return true;
}

}  // namespace carom::internal
