// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bounce.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "carom/predicates.h"
#include "index/scene_traversal.h"
#include "numeric/exact.h"
#include "shape/line.h"
#include "shape/measures.h"

namespace carom {
namespace {

using internal::Line;

// The vectors b - a of two edges, or parts of them: which comes first, counter-clockwise from the
// positive x axis, which itself comes last of all.
bool IsUpTo(const Segment& ray, const Segment& to) {
  const auto is_lower = [](const Segment& u) {
    return u.b.y < u.a.y || (u.b.y == u.a.y && u.b.x < u.a.x);
  };
  if (ray.b.y == ray.a.y && ray.b.x > ray.a.x) return false;
  if (is_lower(ray) != is_lower(to)) return is_lower(to);
  return internal::CrossSign(ray.a, ray.b, to.a, to.b) >= 0;
}

// Exactly parallel, and not opposite.
bool IsSameDirection(const Segment& u, const Segment& v) {
  return internal::CrossSign(u.a, u.b, v.a, v.b) == 0 && internal::DotSign(u.a, u.b, v.a, v.b) > 0;
}

// Whether a polygon is filled on both sides of a ray that leaves p along an edge.
struct SidesOfRay {
  bool left;
  bool right;
};

// The winding number left of the ray is that of a point that is a little above p and to the right,
// and what the edges add that leave or reach p on the way to the ray; those along it stand between
// its sides.
SidesOfRay FillBeside(const IndexedPolygon& fixed, const Segment& ray, WorkMeter& meter) {
  const Polygon& polygon = fixed.polygon();
  const Vec2 p = ray.a;
  int64_t winding = 0;
  int64_t along = 0;
  const auto meets = [&](const Box& box) {
    return box.min.y <= p.y && p.y <= box.max.y && p.x <= box.max.x;
  };
  const auto add = [&](const Segment& leaving, int crossing) {
    if (leaving.a == leaving.b) return;
    if (IsUpTo(leaving, ray)) winding += crossing;
    if (IsSameDirection(leaving, ray)) along += crossing;
  };
  fixed.VisitEdges(meter, meets, [&](size_t, const Segment& e) {
    const int side = Orientation(e.a, e.b, p);
    if (side == 0 && IsOnSegment(p, e)) {
      add({p, e.b}, 1);
      add({p, e.a}, -1);
      return true;
    }
    const bool above_a = e.a.y > p.y;
    if (above_a != (e.b.y > p.y) && side == (above_a ? -1 : 1)) winding += side;
    return true;
  });
  return {polygon.IsFilled(winding), polygon.IsFilled(winding - along)};
}

// The polygon of a hit, for the edges about a vertex.
const IndexedPolygon* FindIndexed(const Scene& scene, uint64_t id, Vec2 p, WorkMeter& meter) {
  const IndexedPolygon* found = nullptr;
  internal::VisitPolygons(
      scene, kEveryCategory, meter, [&](const Box& box) { return box.Contains(p); },
      [&](const IndexedPolygon& indexed) {
        if (indexed.polygon().id() == id) found = &indexed;
        return found == nullptr;
      });
  return found;
}

// Bounces one segment after the other. Not thread-safe.
class Bouncer {
 public:
  Bouncer(const Scene& scene, const BounceOptions& options, BounceAnswers& out, WorkMeter& meter)
      : scene_(scene), options_(options), out_(out), meter_(meter) {
    cast_options_.detail = CastDetail::kEdge;
    cast_options_.mask = options.mask;
    any_options_.mode = CastMode::kAny;
    any_options_.mask = options.mask;
  }

  // Adds the chain of item `index`. Returns false once the meter stops.
  bool Bounce(size_t index, Segment leg);

 private:
  bool Cast(const Segment& segment, const CastOptions& options);
  std::optional<Segment> EdgeOf(const Segment& leg, const CastHit& hit);
  std::optional<Vec2> StartAfter(const Segment& leg, Vec2 point, Vec2 normal);

  const Scene& scene_;
  const BounceOptions& options_;
  BounceAnswers& out_;
  WorkMeter& meter_;
  CastOptions cast_options_;
  CastOptions any_options_;
  CastAnswers answers_;
};

// One segment as a batch of its own: the same bytes as in any other.
bool Bouncer::Cast(const Segment& segment, const CastOptions& options) {
  const auto [a, b] = segment;
  return CastSegments(scene_, {{&a.x, 1}, {&a.y, 1}, {&b.x, 1}, {&b.y, 1}}, options, answers_,
                      meter_);
}

// Each leg is cast, and recorded with what it hits; then comes the next, if there is one.
bool Bouncer::Bounce(size_t index, Segment leg) {
  for (uint32_t k = 0; k <= options_.max_bounces; ++k) {
    if (!Cast(leg, cast_options_) || !meter_.SpendRows(1)) return false;
    if (!answers_.errors.empty()) {
      out_.errors.push_back(answers_.errors[0]);
      out_.errors.back().index = static_cast<uint32_t>(index);
      return true;
    }
    ++out_.counts[index];
    out_.legs.push_back({leg.a, leg.b, !answers_.hits.empty(), {}});
    if (answers_.hits.empty()) return true;
    const CastHit hit = answers_.hits[0];
    out_.legs.back().hit = hit;
    if (hit.normal == Vec2{} || k == options_.max_bounces) return true;
    const std::optional<Segment> edge = EdgeOf(leg, hit);
    std::optional<Vec2> start;
    if (edge) {
      const Vec2 normal = internal::UnitNormal(*edge, Orientation(edge->a, edge->b, leg.a));
      start = StartAfter(leg, hit.point, normal);
    }
    if (meter_.stopped()) return false;
    if (!start) {
      out_.stuck.push_back(static_cast<uint32_t>(index));
      return true;
    }
    const Vec2 reflection = internal::Reflected(Line(leg), *edge);
    const double rest = 1 - hit.fraction;
    const Vec2 step{rest * reflection.x, rest * reflection.y};
    leg = {*start, Normalized(Vec2{start->x + step.x, start->y + step.y})};
    if (!IsAccepted(leg.b)) return true;
  }
  return true;
}

// The reported edge; at a vertex, the least one that faces the start.
std::optional<Segment> Bouncer::EdgeOf(const Segment& leg, const CastHit& hit) {
  std::optional<Segment> facing;
  const auto search = [&](const IndexedPolygon& polygon) {
    const auto meets = [&](const Box& box) { return box.Contains(hit.point); };
    polygon.VisitEdges(meter_, meets, [&](size_t, const Segment& e) {
      const bool is_end = e.a == hit.point || e.b == hit.point;
      const int side = Orientation(e.a, e.b, leg.a);
      if (!is_end || side == 0) return true;
      const bool leaves = e.a == hit.point;
      const Segment ray = leaves ? e : Segment{e.b, e.a};
      const SidesOfRay fill = FillBeside(polygon, ray, meter_);
      if (!((side > 0) == leaves ? fill.left : fill.right)) facing = e;
      return !facing;
    });
  };
  if (hit.feature == Feature::kVertex) {
    const IndexedPolygon* const fixed = FindIndexed(scene_, hit.polygon_id, hit.point, meter_);
    if (fixed != nullptr) search(*fixed);
  }
  if (facing) return facing;
  const Polygon* const polygon = scene_.Find(hit.polygon_id);
  for (size_t i = 0; i < polygon->edge_count() && meter_.Spend(1); ++i) {
    if (polygon->edge_ref(i) == hit.edge) return polygon->edge(i);
  }
  return std::nullopt;
}

// The hit's point errs by 2 ulp at most, so that two more are left: towards the start along the
// normal of the edge, in each coordinate by half a step at a time.
std::optional<Vec2> Bouncer::StartAfter(const Segment& leg, Vec2 point, Vec2 normal) {
  const double largest = std::max({std::abs(leg.a.x), std::abs(leg.a.y), std::abs(leg.b.x),
                                   std::abs(leg.b.y), kSmallestMagnitude});
  const double ulp = std::nextafter(largest, HUGE_VAL) - largest;
  const auto steps = [&](double n) { return std::abs(n) < 0.25 ? 0.0 : std::copysign(1.0, n); };
  const Vec2 along{steps(normal.x), steps(normal.y)};
  for (const double k : {0.0, 0.5, 1.0, 1.5, 2.0}) {
    const Vec2 start = Normalized(Vec2{point.x + k * ulp * along.x, point.y + k * ulp * along.y});
    if (!IsAccepted(start) || start == leg.a) continue;
    if (!Cast({leg.a, start}, any_options_)) return std::nullopt;
    if (answers_.counts[0] == 0) return start;
  }
  return std::nullopt;
}

}  // namespace

void BounceAnswers::Clear() {
  counts.clear();
  legs.clear();
  stuck.clear();
  errors.clear();
}

bool BounceSegments(const Scene& scene, const SegmentColumns& segments,
                    const BounceOptions& options, BounceAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(segments.size(), 0);
  Bouncer bouncer(scene, options, out, meter);
  for (size_t i = 0; i < segments.size(); ++i) {
    const Vec2 a{segments.ax[i], segments.ay[i]};
    const Vec2 b{segments.bx[i], segments.by[i]};
    const bool accepted = IsAccepted(a) && IsAccepted(b);
    // What is not accepted goes to the cast as it is, which names the column.
    if (!bouncer.Bounce(i, accepted ? Segment{Normalized(a), Normalized(b)} : Segment{a, b})) {
      return false;
    }
  }
  return true;
}

}  // namespace carom
