// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/nasty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tests/support/nasty_maker.h"

namespace carom::testing {
namespace {

constexpr double kLargest = 0x1p53;

}  // namespace

namespace nasty {

const std::array<Maker::Kind, 6> Maker::kPoints = {{{"point.vertex", &Maker::PointVertex},
                                                    {"point.edge", &Maker::PointEdge},
                                                    {"point.near", &Maker::PointNear},
                                                    {"point.level", &Maker::PointLevel},
                                                    {"point.inside", &Maker::PointInner},
                                                    {"point.random", &Maker::PointRandom}}};

const std::array<Maker::Kind, 18> Maker::kSegments = {
    {{"segment.through_vertex", &Maker::ThroughVertex},
     {"segment.along_edge", &Maker::AlongEdge},
     {"segment.whole_edge", &Maker::WholeEdge},
     {"segment.collinear_overshoot", &Maker::CollinearOvershoot},
     {"segment.vertex_to_vertex", &Maker::VertexToVertex},
     {"segment.tangent", &Maker::Tangent},
     {"segment.start_on_boundary", &Maker::StartOnBoundary},
     {"segment.start_inside", &Maker::StartInside},
     {"segment.end_on_boundary", &Maker::EndOnBoundary},
     {"segment.end_inside", &Maker::EndInside},
     {"segment.zero_length", &Maker::ZeroLength},
     {"segment.one_ulp_off", &Maker::OneUlpOff},
     {"segment.near_parallel", &Maker::NearParallel},
     {"segment.horizontal", &Maker::Horizontal},
     {"segment.vertical", &Maker::Vertical},
     {"segment.tiny", &Maker::Tiny},
     {"segment.huge", &Maker::Huge},
     {"segment.random", &Maker::SegmentRandom}}};

const std::array<Maker::Kind, 8> Maker::kCircles = {
    {{"circle.zero_radius", &Maker::ZeroRadius},
     {"circle.touch_vertex_by_triple", &Maker::TouchVertexByTriple},
     {"circle.touch_vertex_level", &Maker::TouchVertexLevel},
     {"circle.touch_flat_edge", &Maker::TouchFlatEdge},
     {"circle.touch_edge", &Maker::TouchEdge},
     {"circle.almost_touch", &Maker::AlmostTouch},
     {"circle.inside", &Maker::CircleInside},
     {"circle.random", &Maker::CircleRandom}}};

const std::array<Maker::Kind, 13> Maker::kPolygons = {
    {{"polygon.corner_on_vertex", &Maker::CornerOnVertex},
     {"polygon.corner_on_edge", &Maker::CornerOnEdge},
     {"polygon.corner_beside", &Maker::CornerBeside},
     {"polygon.shared_edge", &Maker::SharedEdge},
     {"polygon.copy", &Maker::CopyOfPolygon},
     {"polygon.around", &Maker::BoxAroundPolygon},
     {"polygon.contained", &Maker::ContainedInPolygon},
     {"polygon.hole_around", &Maker::HoleAroundPolygon},
     {"polygon.point", &Maker::DegeneratePoint},
     {"polygon.segment", &Maker::DegenerateSegment},
     {"polygon.bowtie", &Maker::Bowtie},
     {"polygon.pentagram", &Maker::Pentagram},
     {"polygon.random", &Maker::PolygonRandom}}};

// Writes a zero as one of the other texts that read as zero, now and then, and keeps coordinates in
// range.
void Maker::Disguise(Xy& point) {
  constexpr std::array<double, 5> kZeros = {-0.0, 1e-45, -1e-60, 5e-324, 0x1.fffffffffffffp-141};
  for (double* value : {&point.x, &point.y}) {
    *value = std::clamp(*value, -kLargest, kLargest);
    if (std::fabs(*value) < 0x1p-140 && dice_.Below(4) == 0)
      *value = kZeros[dice_.Below(kZeros.size())];
  }
}

Query Maker::Make(int number) {
  const auto pick = [&](const auto& kinds) { return kinds[dice_.Below(kinds.size())]; };
  const std::size_t op = dice_.Below(20);
  const Kind kind = op < 10   ? pick(kSegments)
                    : op < 13 ? pick(kPoints)
                    : op < 16 ? pick(kCircles)
                              : pick(kPolygons);
  Query query = (this->*kind.recipe)();
  query.name = std::string(kind.name) + ":" + std::to_string(number);
  query.radius = std::min(query.radius, kLargest);
  if (query.op == QueryOp::kSegment) query.inside = static_cast<OracleInside>(segments_made_++ % 3);
  Disguise(query.a);
  Disguise(query.b);
  for (OracleRing& ring : query.shape.rings) {
    for (Xy& point : ring.points) Disguise(point);
  }
  return query;
}

}  // namespace nasty

namespace {

void Scale(Xy& point, double factor) { point = {factor * point.x, factor * point.y}; }

}  // namespace

std::vector<Query> NastyQueries(const std::vector<OraclePolygon>& scene, std::uint64_t seed,
                                int count) {
  nasty::Maker maker(scene, seed);
  std::vector<Query> queries;
  for (int i = 0; i < count; ++i) queries.push_back(maker.Make(i));
  return queries;
}

std::vector<OraclePolygon> Scaled(std::vector<OraclePolygon> scene, double factor) {
  for (OraclePolygon& polygon : scene) {
    for (OracleRing& ring : polygon.rings) {
      for (Xy& point : ring.points) Scale(point, factor);
    }
  }
  return scene;
}

Query Scaled(Query query, double factor) {
  Scale(query.a, factor);
  Scale(query.b, factor);
  query.radius *= factor;
  for (OracleRing& ring : query.shape.rings) {
    for (Xy& point : ring.points) Scale(point, factor);
  }
  return query;
}

std::vector<double> ScalesFor(const std::vector<OraclePolygon>& scene) {
  double largest = 0.0;
  for (const OraclePolygon& polygon : scene) {
    for (const OracleRing& ring : polygon.rings) {
      for (Xy point : ring.points)
        largest = std::max({largest, std::fabs(point.x), std::fabs(point.y)});
    }
  }
  std::vector<double> scales;
  for (double scale : {1.0, 1e-9, 1e-3, 1e3, 1e9}) {
    if (largest * scale <= kLargest) scales.push_back(scale);
  }
  return scales;
}

std::uint64_t SeedOf(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace carom::testing
