// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bounce.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "carom/predicates.h"
#include "index/scene_traversal.h"
#include "numeric/exact.h"
#include "shape/line.h"
#include "shape/measures.h"

namespace carom {
namespace {

using internal::Line;

// Returns whether the angle of the vector ray.b - ray.a is at most the angle of to.b - to.a. Angles
// are counter-clockwise from the positive x axis, in (0, 2 pi]: the positive x axis itself has the
// largest angle.
bool IsAngleAtMost(const Segment& ray, const Segment& to) {
  const auto is_lower = [](const Segment& u) {
    return u.b.y < u.a.y || (u.b.y == u.a.y && u.b.x < u.a.x);
  };
  if (ray.b.y == ray.a.y && ray.b.x > ray.a.x) return false;
  if (is_lower(ray) != is_lower(to)) return is_lower(to);
  return internal::CrossSign(ray.a, ray.b, to.a, to.b) >= 0;
}

// Returns whether u and v are exactly parallel and have one direction.
bool IsSameDirection(const Segment& u, const Segment& v) {
  return internal::CrossSign(u.a, u.b, v.a, v.b) == 0 && internal::DotSign(u.a, u.b, v.a, v.b) > 0;
}

// Whether a polygon is filled on the left and on the right of a ray that leaves a vertex along an
// edge.
struct SidesOfRay {
  bool left;
  bool right;
};

// Returns, for each side of a ray from p = ray.a, whether the polygon is filled on that side next
// to the ray's start. The winding number left of the ray is the winding number next to p, just
// above the positive x direction, plus the changes at the edges that leave or reach p at an angle
// between the positive x direction and the ray. The edges along the ray separate its left from its
// right side.
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
    if (IsAngleAtMost(leaving, ray)) winding += crossing;
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

// Returns the polygon of the scene that has the given id, with the index of its edges. p is a point
// in the polygon's bounding box, which narrows the search. Returns null if the scene has no such
// polygon, or once the meter stops the work.
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

// --- Functions that differ between segments and rays

Vec2 StartOf(const BounceLeg& leg) { return leg.a; }
Vec2 StartOf(const RayBounceLeg& leg) { return leg.origin; }

Line LineOf(const BounceLeg& leg) { return Line(Segment{leg.a, leg.b}); }
Line LineOf(const RayBounceLeg& leg) { return Line(Ray{leg.origin, leg.direction, 0, leg.t_max}); }

double LargestOf(std::initializer_list<double> numbers) {
  double largest = kSmallestMagnitude;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  return largest;
}
// Returns the magnitude in whose ulps the rounding error of a hit of `leg` (a straight part of a
// bouncing line) at `point` is bounded: the largest magnitude of the coordinates of a segment, or
// of a ray's origin and `point`.
double LargestOf(const BounceLeg& leg, Vec2) {
  return LargestOf({leg.a.x, leg.a.y, leg.b.x, leg.b.y});
}
double LargestOf(const RayBounceLeg& leg, Vec2 point) {
  return LargestOf({leg.origin.x, leg.origin.y, point.x, point.y});
}

// Returns the most ulps by which the start of the next leg (straight part of a bouncing line) may
// be moved away from the hit point: 4 ulp, the greatest distance from the exact hit, minus the
// error of the hit point, which is 2 ulp for a segment and 3 ulp for a ray.
int MostSteps(const BounceLeg&) { return 2; }
int MostSteps(const RayBounceLeg&) { return 1; }

// Returns the next leg (straight part) of a bouncing line: from `start` along the reflection. The
// length of the next leg is the length of the part of `leg` after the hit of `leg`. Returns nullopt
// if the next leg is not a valid segment or ray.
std::optional<BounceLeg> NextLeg(const BounceLeg& leg, Vec2 start, Vec2 reflection) {
  const double rest = 1 - leg.hit.fraction;
  const Vec2 step{rest * reflection.x, rest * reflection.y};
  const BounceLeg next{start, Normalized(Vec2{start.x + step.x, start.y + step.y}), false, {}};
  return IsAccepted(next.b) ? std::optional(next) : std::nullopt;
}
std::optional<RayBounceLeg> NextLeg(const RayBounceLeg& leg, Vec2 start, Vec2 reflection) {
  const RayBounceLeg next{start, Normalized(reflection), leg.t_max - leg.hit.fraction, false, {}};
  const bool is_ray = IsAccepted(next.direction) && next.direction != Vec2{} && next.t_max > 0;
  return is_ray ? std::optional(next) : std::nullopt;
}

// Follows one line at a time that bounces off polygons: a chain of legs, its straight parts. Not
// thread-safe.
template <class Leg, class Answers>
class Bouncer {
 public:
  Bouncer(const Scene& scene, uint64_t mask, Answers& out, WorkMeter& meter)
      : scene_(scene), out_(out), meter_(meter) {
    cast_options_.detail = CastDetail::kEdge;
    cast_options_.mask = mask;
    any_options_.mode = CastMode::kAny;
    any_options_.mask = mask;
  }

  // Appends the chain of legs (straight parts between bounces) of item `index` to the answer. `leg`
  // is the first leg. Returns false once the meter stops the work.
  bool Bounce(size_t index, Leg leg, uint32_t max_bounces);

 private:
  bool Cast(const BounceLeg& leg, const CastOptions& options);
  bool Cast(const RayBounceLeg& leg, const CastOptions& options);
  std::optional<Segment> EdgeOf(Vec2 start, const CastHit& hit);
  std::optional<Vec2> StartAfter(const Leg& leg, Vec2 normal);

  const Scene& scene_;
  Answers& out_;
  WorkMeter& meter_;
  CastOptions cast_options_;
  CastOptions any_options_;
  CastAnswers answers_;
};

// Casts one leg (straight part of a bouncing line) as a batch of one segment. The result of a
// segment does not depend on the other segments of its batch.
template <class Leg, class Answers>
bool Bouncer<Leg, Answers>::Cast(const BounceLeg& leg, const CastOptions& options) {
  const SegmentColumns segment{{&leg.a.x, 1}, {&leg.a.y, 1}, {&leg.b.x, 1}, {&leg.b.y, 1}};
  return CastSegments(scene_, segment, options, answers_, meter_);
}

template <class Leg, class Answers>
bool Bouncer<Leg, Answers>::Cast(const RayBounceLeg& leg, const CastOptions& options) {
  RayColumns ray{
      {&leg.origin.x, 1}, {&leg.origin.y, 1}, {&leg.direction.x, 1}, {&leg.direction.y, 1}};
  ray.t_max = {&leg.t_max, 1};
  return CastRays(scene_, ray, options, answers_, meter_);
}

// Casts one leg (straight part of a bouncing line) after another, and appends each leg with its hit
// to the answer. The next leg starts near the hit point, in the direction of the leg reflected at
// the hit edge. The chain ends after a leg without a hit or without a normal, after `max_bounces`
// bounces, or where no next leg is possible.
template <class Leg, class Answers>
bool Bouncer<Leg, Answers>::Bounce(size_t index, Leg leg, uint32_t max_bounces) {
  for (uint32_t k = 0; k <= max_bounces; ++k) {
    if (!Cast(leg, cast_options_) || !meter_.SpendRows(1)) return false;
    if (!answers_.errors.empty()) {
      out_.errors.push_back(answers_.errors[0]);
      out_.errors.back().index = static_cast<uint32_t>(index);
      return true;
    }
    ++out_.counts[index];
    leg.has_hit = !answers_.hits.empty();
    if (leg.has_hit) leg.hit = answers_.hits[0];
    out_.legs.push_back(leg);
    if (!leg.has_hit || leg.hit.normal == Vec2{} || k == max_bounces) return true;
    const std::optional<Segment> edge = EdgeOf(StartOf(leg), leg.hit);
    std::optional<Vec2> start;
    if (edge) {
      const int side = Orientation(edge->a, edge->b, StartOf(leg));
      start = StartAfter(leg, internal::UnitNormal(*edge, side));
    }
    if (meter_.stopped()) return false;
    if (!start) {
      out_.stuck.push_back(static_cast<uint32_t>(index));
      return true;
    }
    const std::optional<Leg> next = NextLeg(leg, *start, internal::Reflected(LineOf(leg), *edge));
    if (!next) return true;
    leg = *next;
  }
  return true;
}

// Returns the edge that reflects the leg (straight part of a bouncing line) from `start` to the
// hit. If the hit is at a vertex, this is the edge of least index that ends at the vertex and has
// an unfilled side towards `start`, if any; else it is the reported edge of the hit.
template <class Leg, class Answers>
std::optional<Segment> Bouncer<Leg, Answers>::EdgeOf(Vec2 start, const CastHit& hit) {
  std::optional<Segment> facing;
  const auto search = [&](const IndexedPolygon& polygon) {
    const auto meets = [&](const Box& box) { return box.Contains(hit.point); };
    polygon.VisitEdges(meter_, meets, [&](size_t, const Segment& e) {
      const bool is_end = e.a == hit.point || e.b == hit.point;
      const int side = Orientation(e.a, e.b, start);
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

// Returns the start of the next leg (straight part of a bouncing line): a point near the hit point,
// with no polygon between this point and the start of `leg`; or nullopt if no such point is found.
// The hit point errs by at most 2 ulp for a segment and 3 ulp for a ray. The function tries the hit
// point and then points moved away from it by up to 2 ulp (segment) or 1 ulp (ray), along `normal`,
// the edge's normal towards the start of `leg`, in steps of half an ulp in each coordinate.
template <class Leg, class Answers>
std::optional<Vec2> Bouncer<Leg, Answers>::StartAfter(const Leg& leg, Vec2 normal) {
  const Vec2 point = leg.hit.point;
  const double largest = LargestOf(leg, point);
  const double ulp = std::nextafter(largest, HUGE_VAL) - largest;
  const auto steps = [&](double n) { return std::abs(n) < 0.25 ? 0.0 : std::copysign(1.0, n); };
  const Vec2 along{steps(normal.x), steps(normal.y)};
  for (int half_steps = 0; half_steps <= 2 * MostSteps(leg); ++half_steps) {
    const double k = 0.5 * half_steps;
    const Vec2 start = Normalized(Vec2{point.x + k * ulp * along.x, point.y + k * ulp * along.y});
    if (!IsAccepted(start) || start == StartOf(leg)) continue;
    if (!Cast(BounceLeg{StartOf(leg), start, false, {}}, any_options_)) return std::nullopt;
    if (answers_.counts[0] == 0) return start;
  }
  return std::nullopt;
}

template <class Answers>
void ClearChains(Answers& answers) {
  answers.counts.clear();
  answers.legs.clear();
  answers.stuck.clear();
  answers.errors.clear();
}

// Returns p with -0 and magnitudes below 2^-140 replaced by 0; but an invalid p unchanged, so that
// the cast reports the column with the invalid value.
Vec2 NormalizedIfAccepted(Vec2 p) { return IsAccepted(p) ? Normalized(p) : p; }

}  // namespace

void BounceAnswers::Clear() { ClearChains(*this); }
void RayBounceAnswers::Clear() { ClearChains(*this); }

bool BounceSegments(const Scene& scene, const SegmentColumns& segments,
                    const BounceOptions& options, BounceAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(segments.size(), 0);
  Bouncer<BounceLeg, BounceAnswers> bouncer(scene, options.mask, out, meter);
  for (size_t i = 0; i < segments.size(); ++i) {
    const Vec2 a{segments.ax[i], segments.ay[i]};
    const Vec2 b{segments.bx[i], segments.by[i]};
    const BounceLeg first{NormalizedIfAccepted(a), NormalizedIfAccepted(b), false, {}};
    if (!bouncer.Bounce(i, first, options.max_bounces)) return false;
  }
  return true;
}

bool BounceRays(const Scene& scene, const RayBounceColumns& rays, uint64_t mask,
                RayBounceAnswers& out, WorkMeter& meter) {
  out.Clear();
  out.counts.assign(rays.size(), 0);
  Bouncer<RayBounceLeg, RayBounceAnswers> bouncer(scene, mask, out, meter);
  for (size_t i = 0; i < rays.size(); ++i) {
    RayBounceLeg first;
    first.origin = NormalizedIfAccepted({rays.x[i], rays.y[i]});
    first.direction = NormalizedIfAccepted({rays.dx[i], rays.dy[i]});
    if (!rays.t_max.empty()) first.t_max = rays.t_max[i];
    const uint32_t bounces = rays.max_bounces.empty() ? kDefaultBounces : rays.max_bounces[i];
    if (bounces < 1 || bounces > kMaxBounces) {
      if (!meter.Spend(1)) return false;
      out.errors.push_back(
          {static_cast<uint32_t>(i), ItemColumn::kMaxBounces, ItemFault::kTooManyBounces});
      continue;
    }
    if (!bouncer.Bounce(i, first, bounces)) return false;
  }
  return true;
}

}  // namespace carom
