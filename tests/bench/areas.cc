// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the exact area of an eye cost beside the visibility polygons of CGAL, and beside a fan
// of beams, which misses what is between two beams?

#include <CGAL/Arr_naive_point_location.h>
#include <CGAL/Arr_segment_traits_2.h>
#include <CGAL/Arrangement_2.h>
#include <CGAL/Exact_predicates_exact_constructions_kernel.h>
#include <CGAL/Rotational_sweep_visibility_2.h>
#include <CGAL/Triangular_expansion_visibility_2.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "carom/area.h"
#include "carom/visibility.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"

namespace carom::bench {
namespace {

constexpr size_t kEyes = 10;  // of a batch
constexpr uint32_t kBeams = 4096;

// With inexact constructions, eyes are in no face of the arrangement of these rooms.
using Exact = CGAL::Exact_predicates_exact_constructions_kernel;

// Rooms within four walls, so that each face of the plane that an eye may be in is bounded.
World FramedRooms(size_t rooms) {
  World world = WallWorld(rooms);
  const double inner = world.half() + kRoom / 4, outer = inner + 1;
  world.polygons.push_back({{-outer, -outer}, {outer, -outer}, {outer, -inner}, {-outer, -inner}});
  world.polygons.push_back({{-outer, inner}, {outer, inner}, {outer, outer}, {-outer, outer}});
  world.polygons.push_back({{-outer, -inner}, {-inner, -inner}, {-inner, inner}, {-outer, inner}});
  world.polygons.push_back({{inner, -inner}, {outer, -inner}, {outer, inner}, {inner, inner}});
  return world;
}

size_t EdgeCount(const World& world) {
  size_t count = 0;
  for (const Outline& outline : world.polygons) count += outline.size();
  return count;
}

// The edges as an arrangement of CGAL, with the face of each eye.
template <class Kernel>
struct Plane {
  using Arrangement = CGAL::Arrangement_2<CGAL::Arr_segment_traits_2<Kernel>>;
  using Point = typename Kernel::Point_2;
  using Face = typename Arrangement::Face_const_handle;

  Plane(const World& world, const Points& eyes) {
    std::vector<typename Kernel::Segment_2> segments;
    for (const Outline& outline : world.polygons) {
      for (size_t i = 0; i < outline.size(); ++i) {
        const Vec2 a = outline[i], b = outline[(i + 1) % outline.size()];
        segments.emplace_back(Point(a.x, a.y), Point(b.x, b.y));
      }
    }
    CGAL::insert(arrangement, segments.begin(), segments.end());
    const CGAL::Arr_naive_point_location<Arrangement> location(arrangement);
    for (size_t i = 0; i < eyes.size(); ++i) {
      points.emplace_back(eyes.x[i], eyes.y[i]);
      const auto found = location.locate(points.back());
      const Face* const face = boost::get<Face>(&found);
      if (face == nullptr || (*face)->is_unbounded()) std::abort();
      faces.push_back(*face);
    }
  }

  Arrangement arrangement;
  std::vector<Point> points;
  std::vector<Face> faces;
};

// The area of the only bounded face.
template <class Arrangement>
double AreaOf(const Arrangement& arrangement) {
  double twice = 0;
  for (auto face = arrangement.faces_begin(); face != arrangement.faces_end(); ++face) {
    if (face->is_unbounded()) continue;
    const auto begin = face->outer_ccb();
    auto at = begin;
    do {
      const auto& a = at->source()->point();
      const auto& b = at->target()->point();
      twice += CGAL::to_double(a.x()) * CGAL::to_double(b.y()) -
               CGAL::to_double(a.y()) * CGAL::to_double(b.x());
    } while (++at != begin);
  }
  return twice / 2;
}

// Answers are compared by the sums of their areas.
uint64_t Rounded(double area) { return static_cast<uint64_t>(std::llround(area)); }

// The areas of CGAL's `Visibility` in a plane, whose preprocessing is not timed.
template <template <class, class> class Visibility, class Kernel>
Question AskCgal(const Plane<Kernel>& plane) {
  using Arrangement = typename Plane<Kernel>::Arrangement;
  using Finder = Visibility<Arrangement, CGAL::Tag_true>;  // without needles
  const auto finder = std::make_shared<Finder>(plane.arrangement);
  return [&plane, finder](size_t begin, size_t end) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) {
      Arrangement area;
      finder->compute_visibility(plane.points[i], plane.faces[i], area);
      sum += AreaOf(area);
    }
    return Rounded(sum);
  };
}

Question AskAreas(const Scene& scene, const Points& eyes, const std::vector<double>& range) {
  return [&, answers = AreaAnswers()](size_t begin, size_t end) mutable {
    double sum = 0;
    for (size_t at = begin; at < end; at += kEyes) {
      const size_t count = std::min(kEyes, end - at);
      WorkMeter meter;
      const auto cut = [&](const std::vector<double>& column) {
        return std::span(column).subspan(at, count);
      };
      if (!FindAreas(scene, {cut(eyes.x), cut(eyes.y), cut(range)}, {}, answers, meter)) {
        std::abort();
      }
      for (const double area : answers.areas) sum += area;
    }
    return Rounded(sum);
  };
}

// Counts beams that hit.
Question AskFans(const Scene& scene, const Points& eyes, const std::vector<double>& range) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const std::vector<double> angle(kEyes, 0), step(kEyes, kTurn / kBeams);
  const std::vector<uint32_t> beams(kEyes, kBeams);
  return [&, angle, step, beams, answers = FanAnswers()](size_t begin, size_t end) mutable {
    uint64_t hits = 0;
    for (size_t at = begin; at < end; at += kEyes) {
      const size_t count = std::min(kEyes, end - at);
      WorkMeter meter;
      const auto cut = [&](const std::vector<double>& column, size_t first) {
        return std::span(column).subspan(first, count);
      };
      const FanColumns fans{cut(eyes.x, at), cut(eyes.y, at), cut(angle, 0),
                            cut(step, 0),    cut(range, at),  std::span(beams).first(count)};
      if (!ScanFans(scene, fans, {}, answers, meter)) std::abort();
      for (const uint8_t hit : answers.hits) hits += hit;
    }
    return hits;
  };
}

void RunRooms(Bench& bench, size_t rooms) {
  const World world = FramedRooms(rooms);
  const std::string row = "areas_rooms_" + std::to_string(EdgeCount(world));
  const size_t count = bench.quick ? kEyes : 10 * kEyes;
  const Points eyes = FreePoints(world, count, 3);
  const std::vector<double> range(count, 4 * world.half());
  const Scene::Ptr scene = MakeScene(MakePolygons(world.polygons));
  const Plane<Exact> exact(world, eyes);
  using CGAL::Rotational_sweep_visibility_2;
  using CGAL::Triangular_expansion_visibility_2;
  const std::vector<Timing> timings =
      RunInterleaved({{"Carom", AskAreas(*scene, eyes, range)},
                      {"fan of 4,096 beams", AskFans(*scene, eyes, range)},
                      {"expansion of CGAL", AskCgal<Triangular_expansion_visibility_2>(exact)},
                      {"sweep of CGAL", AskCgal<Rotational_sweep_visibility_2>(exact)}},
                     count, bench.rounds());
  bench.report.Timings(row, timings);
  bench.report.Add(
      {row + "_fan", timings[0].ns, "fan of 4,096 beams", timings[1].ns, RatioAtLeast(1)});
  AddRatio(bench, row + "_cgal_expansion", timings, {"Carom", "expansion"}, 1);
  AddRatio(bench, row + "_cgal_sweep", timings, {"Carom", "sweep"}, 5);
  if (rooms == 4) bench.report.Add({row + "_ns", timings[0].ns, "-", 0, ValueAtMost(150000)});
}

}  // namespace

void RunAreas(Bench& bench) {
  if (!bench.Wants("areas_rooms")) return;
  bench.report.Title("areas_rooms");
  RunRooms(bench, 4);
  RunRooms(bench, 12);
}

}  // namespace carom::bench
