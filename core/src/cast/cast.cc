// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/cast.h"

#include <cmath>
#include <vector>

#include "cast/fast_batch.h"
#include "cast/general_batch.h"
#include "cast/soft_casts.h"
#include "cast/world_casts.h"
#include "index/body_set.h"
#include "index/scene_traversal.h"
#include "shape/line.h"

namespace carom {
namespace {

using internal::Line;

// Sets `line` to ray i; or, if the ray is invalid, records an error and returns false.
bool ReadLine(const RayColumns& rays, size_t i, Line& line, std::vector<ItemError>& errors) {
  ItemChecker check(i, errors);
  if (!check.Coordinate(ItemColumn::kX, rays.x[i]) ||
      !check.Coordinate(ItemColumn::kY, rays.y[i]) ||
      !check.Coordinate(ItemColumn::kDx, rays.dx[i]) ||
      !check.Coordinate(ItemColumn::kDy, rays.dy[i])) {
    return false;
  }
  Ray ray{Normalized(Vec2{rays.x[i], rays.y[i]}), Normalized(Vec2{rays.dx[i], rays.dy[i]})};
  if (ray.direction == Vec2{}) return check.Fail(ItemColumn::kDx, ItemFault::kZeroDirection);
  if (!rays.t_min.empty()) ray.t_min = rays.t_min[i] + 0.0;  // + 0.0 turns -0 into 0
  if (!rays.t_max.empty()) ray.t_max = rays.t_max[i];
  if (!(ray.t_min >= 0 && ray.t_min < HUGE_VAL)) {
    return check.Fail(ItemColumn::kTMin, ItemFault::kNotARange);
  }
  if (!(ray.t_min < ray.t_max)) return check.Fail(ItemColumn::kTMax, ItemFault::kNotARange);
  line = Line(ray);
  return true;
}

// Sets `line` to segment i; or, if the segment is invalid, records an error and returns false.
bool ReadLine(const SegmentColumns& segments, size_t i, Line& line,
              std::vector<ItemError>& errors) {
  const Segment segment{{segments.ax[i], segments.ay[i]}, {segments.bx[i], segments.by[i]}};
  if (!IsAccepted(segment.a) || !IsAccepted(segment.b)) {
    ItemChecker check(i, errors);
    return check.Coordinate(ItemColumn::kAx, segment.a.x) &&
           check.Coordinate(ItemColumn::kAy, segment.a.y) &&
           check.Coordinate(ItemColumn::kBx, segment.b.x) &&
           check.Coordinate(ItemColumn::kBy, segment.b.y);
  }
  line = Line(Segment{Normalized(segment.a), Normalized(segment.b)});
  return true;
}

// Returns elements [begin, begin + count) of a column; an empty column, which stands for default
// values, if `column` is empty.
std::span<const double> Part(std::span<const double> column, size_t begin, size_t count) {
  return column.empty() ? column : column.subspan(begin, count);
}

// Casts segments against the scene. Options that `IsFastQuestion` accepts take the fast path
// (`CastFast`), which decides by floating-point filters and leaves only undecided lines to the
// general path; other options take the general path (`CastGeneral`). Both paths return identical
// answers.
bool CastScene(const Scene& scene, const SegmentColumns& segments, const CastOptions& options,
               CastAnswers& out, WorkMeter& meter) {
  const auto line_of = [&](size_t i, Line& line) {
    return ReadLine(segments, i, line, out.errors);
  };
  if (internal::IsFastQuestion(options)) {
    return internal::CastFast(scene, options, {segments.size(), line_of, &segments}, out, meter);
  }
  return internal::CastGeneral(scene, options, segments.size(), line_of, out, meter);
}

// Casts rays against the scene. The fast path (`CastFast`) reads each ray by `line_of`, since it
// reads only segments directly from columns.
bool CastScene(const Scene& scene, const RayColumns& rays, const CastOptions& options,
               CastAnswers& out, WorkMeter& meter) {
  const auto line_of = [&](size_t i, Line& line) { return ReadLine(rays, i, line, out.errors); };
  if (internal::IsFastQuestion(options)) {
    return internal::CastFast(scene, options, {rays.size(), line_of}, out, meter);
  }
  return internal::CastGeneral(scene, options, rays.size(), line_of, out, meter);
}

// Casts lines in the scene and among bodies, without soft walls.
bool CastPlain(const World& world, const SegmentColumns& segments, const CastOptions& options,
               CastAnswers& out, WorkMeter& meter) {
  if (internal::IsUniform(segments.scope)) {
    return CastScene(world.scene, segments, options, out, meter);
  }
  const auto line_of = [&](size_t i, Line& line, std::vector<ItemError>& errors) {
    return ReadLine(segments, i, line, errors);
  };
  const auto cast_scene = [&](size_t begin, size_t count, const CastOptions& by,
                              CastAnswers& answers) {
    const SegmentColumns part{Part(segments.ax, begin, count), Part(segments.ay, begin, count),
                              Part(segments.bx, begin, count), Part(segments.by, begin, count)};
    return CastScene(world.scene, part, by, answers, meter);
  };
  const auto near = [&](size_t begin, size_t count, const internal::BoxRaster& raster) {
    return raster.Meeting({segments.ax, segments.ay, segments.bx, segments.by}, begin, count);
  };
  return internal::CastInWorld(
      {world, options, segments.scope, segments.size(), near, line_of, cast_scene}, out, meter);
}

bool CastPlain(const World& world, const RayColumns& rays, const CastOptions& options,
               CastAnswers& out, WorkMeter& meter) {
  if (internal::IsUniform(rays.scope)) return CastScene(world.scene, rays, options, out, meter);
  const auto line_of = [&](size_t i, Line& line, std::vector<ItemError>& errors) {
    return ReadLine(rays, i, line, errors);
  };
  const auto cast_scene = [&](size_t begin, size_t count, const CastOptions& by,
                              CastAnswers& answers) {
    const RayColumns part{Part(rays.x, begin, count),     Part(rays.y, begin, count),
                          Part(rays.dx, begin, count),    Part(rays.dy, begin, count),
                          Part(rays.t_min, begin, count), Part(rays.t_max, begin, count)};
    return CastScene(world.scene, part, by, answers, meter);
  };
  // `near` returns a set bit for every ray, as if each ray were near a body (a moving shape that is
  // sent with the queries): a test of the bounding box of a ray would have to compute where the ray
  // ends, which takes as long as setting the ray's `Line`.
  const auto near = [](size_t, size_t, const internal::BoxRaster&) { return ~uint64_t{0}; };
  return internal::CastInWorld({world, options, rays.scope, rays.size(), near, line_of, cast_scene},
                               out, meter);
}

// Casts segments or rays under options that mention soft walls.
template <class Columns>
[[gnu::noinline]] bool CastWithSoft(const World& world, const Columns& lines,
                                    const CastOptions& options, CastAnswers& out,
                                    WorkMeter& meter) {
  if (internal::NeedsSoftCasts(options)) {
    const auto line_of = [&](size_t i, Line& line, std::vector<ItemError>& errors) {
      return ReadLine(lines, i, line, errors);
    };
    return internal::CastSoft({world, options, lines.scope, lines.size(), line_of}, out, meter);
  }
  if (!CastPlain(world, lines, options, out, meter)) return false;
  internal::AddSoftColumns(options, out);
  return true;
}

}  // namespace

void CastAnswers::Clear() {
  counts.clear();
  hits.clear();
  reflections.clear();
  passed.clear();
  soft_lengths.clear();
  truncated.clear();
  errors.clear();
}

// Lines that pass soft walls take a path of their own (`CastSoft`).
bool CastSegments(const World& world, const SegmentColumns& segments, const CastOptions& options,
                  CastAnswers& out, WorkMeter& meter) {
  if (internal::MentionsSoft(options)) [[unlikely]] {
    return CastWithSoft(world, segments, options, out, meter);
  }
  return CastPlain(world, segments, options, out, meter);
}

bool CastRays(const World& world, const RayColumns& rays, const CastOptions& options,
              CastAnswers& out, WorkMeter& meter) {
  if (internal::MentionsSoft(options)) [[unlikely]] {
    return CastWithSoft(world, rays, options, out, meter);
  }
  return CastPlain(world, rays, options, out, meter);
}

}  // namespace carom
