// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "carom/lint.h"

namespace carom {
namespace {

// What is to change in one polygon.
struct PolygonRepair {
  bool removed = false;
  std::set<EdgeRef> dropped;                      // vertices
  std::map<EdgeRef, Vec2> moved;                  // vertices
  std::map<EdgeRef, std::vector<Vec2>> inserted;  // points within an edge
  std::set<uint32_t> reversed;                    // rings
};

struct LessPoint {
  bool operator()(Vec2 a, Vec2 b) const { return std::tie(a.x, a.y) < std::tie(b.x, b.y); }
};

// A repair has at most as many vertices more as there are findings.
constexpr PolygonLimits kAnyPolygon{.max_vertices = std::numeric_limits<size_t>::max(),
                                    .max_user_data_bytes = std::numeric_limits<size_t>::max()};

double Squared(Vec2 a, Vec2 b) { return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); }

class Repairs {
 public:
  Repairs(const Scene& scene, double epsilon) : scene_(scene), epsilon_(epsilon) {}

  void Add(const LintFinding& finding) {
    if (!Has(finding.polygon_id, finding.at) || !Has(finding.other_polygon_id, finding.other)) {
      return;
    }
    PolygonRepair& repair = repairs_[finding.polygon_id];
    switch (finding.kind) {
      case LintKind::kDuplicatePolygon:
        repair.removed = true;
        break;
      case LintKind::kNearVertex:
        // The vertex that stays must be near: not one that another finding drops.
        if (finding.measure <= epsilon_ && !repair.dropped.contains(finding.at)) {
          repair.dropped.insert(VertexAfter(finding));
        }
        break;
      case LintKind::kDuplicateVertex:
        repair.dropped.insert(VertexAfter(finding));
        break;
      case LintKind::kSpike:
        repair.dropped.insert(finding.at);
        break;
      case LintKind::kWinding:
        repair.reversed.insert(finding.at.ring);
        break;
      case LintKind::kOffLattice:
        if (finding.measure <= epsilon_) repair.moved.emplace(finding.at, finding.other_point);
        break;
      case LintKind::kNearJunction:
        if (finding.measure <= epsilon_) AddJunction(finding);
        break;
      default:
        break;
    }
  }

  std::vector<SceneEdit> Edits() const {
    std::vector<SceneEdit> edits;
    for (size_t i = 0; i < scene_.polygon_count(); ++i) {
      const Polygon& polygon = scene_.polygon(i);
      const auto found = repairs_.find(polygon.id());
      static const PolygonRepair kNone;
      const PolygonRepair& repair = found == repairs_.end() ? kNone : found->second;
      if (repair.removed) {
        edits.emplace_back(RemovePolygon{polygon.id()});
        continue;
      }
      if (moved_places_.empty() && found == repairs_.end()) continue;
      PolygonSpec spec = polygon.spec();
      if (!Apply(polygon, repair, spec)) continue;
      absl::StatusOr<Polygon> repaired = Polygon::Create(std::move(spec), kAnyPolygon);
      if (repaired.ok()) edits.emplace_back(ReplacePolygon{*std::move(repaired)});
    }
    return edits;
  }

 private:
  // Whether the scene has the edge. A finding of a server may be about another scene.
  bool Has(uint64_t id, EdgeRef at) const {
    const Polygon* const polygon = scene_.Find(id);
    return polygon != nullptr && at.ring < polygon->ring_count() &&
           at.edge < polygon->ring(at.ring).size();
  }
  EdgeRef VertexAfter(const LintFinding& finding) const {
    const Polygon* polygon = scene_.Find(finding.polygon_id);
    const auto n = static_cast<uint32_t>(polygon->ring(finding.at.ring).size());
    return {finding.at.ring, (finding.at.edge + 1) % n};
  }

  // Moves all vertices at the place, and inserts its new point into the edge unless it ends there.
  void AddJunction(const LintFinding& finding) {
    if (!moved_places_.emplace(finding.point, finding.other_point).second) return;
    const Polygon* other = scene_.Find(finding.other_polygon_id);
    const std::span<const Vec2> ring = other->ring(finding.other.ring);
    const Vec2 a = ring[finding.other.edge];
    const Vec2 b = ring[(finding.other.edge + 1) % ring.size()];
    if (finding.other_point == a || finding.other_point == b) return;
    repairs_[finding.other_polygon_id].inserted[finding.other].push_back(finding.other_point);
  }

  // Returns the vertex after its move.
  Vec2 Moved(const PolygonRepair& repair, EdgeRef vertex, Vec2 p) const {
    if (const auto at = repair.moved.find(vertex); at != repair.moved.end()) return at->second;
    const auto place = moved_places_.find(p);
    return place == moved_places_.end() ? p : place->second;
  }

  // Changes the rings of `spec`, which describes `polygon`. Returns whether a ring has changed.
  bool Apply(const Polygon& polygon, const PolygonRepair& repair, PolygonSpec& spec) const {
    bool changed = false;
    for (uint32_t r = 0; r < polygon.ring_count(); ++r) {
      const std::span<const Vec2> ring = polygon.ring(r);
      std::vector<Vec2> vertices;
      for (uint32_t i = 0; i < ring.size(); ++i) {
        const EdgeRef at{r, i};
        if (!repair.dropped.contains(at)) vertices.push_back(Moved(repair, at, ring[i]));
        const auto inserted = repair.inserted.find(at);
        if (inserted == repair.inserted.end()) continue;
        std::vector<Vec2> points = inserted->second;
        std::sort(points.begin(), points.end(),
                  [from = ring[i]](Vec2 a, Vec2 b) { return Squared(from, a) < Squared(from, b); });
        vertices.insert(vertices.end(), points.begin(), points.end());
      }
      if (vertices.empty()) vertices.push_back(ring[0]);
      // The first vertex of a closed ring stays: it decides whether the ring is a hole.
      if (repair.reversed.contains(r)) {
        std::reverse(vertices.begin() + (polygon.is_open(r) ? 0 : 1), vertices.end());
      }
      if (std::equal(vertices.begin(), vertices.end(), ring.begin(), ring.end())) continue;
      changed = true;
      // `Polygon::Create` drops a last vertex that equals the first one.
      if (!polygon.is_open(r) && vertices.size() > 1) vertices.push_back(vertices.front());
      spec.rings[r].vertices = std::move(vertices);
    }
    return changed;
  }

  const Scene& scene_;
  const double epsilon_;
  std::map<uint64_t, PolygonRepair> repairs_;
  std::map<Vec2, Vec2, LessPoint> moved_places_;
};

}  // namespace

std::vector<SceneEdit> LintEdits(const Scene& scene, const LintReport& report, double epsilon) {
  Repairs repairs(scene, epsilon);
  for (const LintFinding& finding : report.findings) repairs.Add(finding);
  return repairs.Edits();
}

}  // namespace carom
