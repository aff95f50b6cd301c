// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to tests/support/nasty.cc: how one awkward question is made. `Maker::Make` picks a recipe
// of a table; recipes draw on ingredients (a vertex, a point on an edge, an offset that adds
// without rounding).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/oracle.h"
#include "tests/support/query.h"

namespace carom::testing::nasty {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// splitmix64.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t Bits() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // In [0, count).
  std::size_t Below(std::size_t count) { return static_cast<std::size_t>(Bits() % count); }
  // In [low, high), of 53 random bits.
  double Between(double low, double high) {
    return low + (high - low) * static_cast<double>(Bits() >> 11) * 0x1p-53;
  }
  double Either(double a, double b) { return Bits() % 2 == 0 ? a : b; }

 private:
  std::uint64_t state_;
};

inline Xy operator+(Xy a, Xy b) { return {a.x + b.x, a.y + b.y}; }
inline Xy operator-(Xy a, Xy b) { return {a.x - b.x, a.y - b.y}; }
inline Xy operator*(double s, Xy v) { return {s * v.x, s * v.y}; }
inline double Length(Xy v) { return std::sqrt(v.x * v.x + v.y * v.y); }

// Arguments of recipes are braced lists, whose order of evaluation, and so the order of throws, is
// the same everywhere.
struct Ends {
  Xy a;
  Xy b;
};

struct Disc {
  Xy centre;
  double radius;
};

struct Corner {
  Xy before;
  Xy at;
  Xy after;
};

class Maker {
 public:
  Maker(const std::vector<OraclePolygon>& scene, std::uint64_t seed);

  Query Make(int number);

 private:
  using Recipe = Query (Maker::*)();
  struct Kind {
    const char* name;
    Recipe recipe;
  };
  static const std::array<Kind, 6> kPoints;
  static const std::array<Kind, 18> kSegments;
  static const std::array<Kind, 8> kCircles;
  static const std::array<Kind, 13> kPolygons;

  // Ingredients.
  const OracleShape& AnyShape() { return shapes_[dice_.Below(shapes_.size())]; }
  const OracleShape::Edge& AnyEdge();
  Corner AnyCorner();
  Xy AnyVertex() { return AnyEdge().from; }
  Xy PointOnEdge();
  Xy PointOnBoundary() { return dice_.Below(2) == 0 ? AnyVertex() : PointOnEdge(); }
  Xy PointInBox(const OracleBox& box);
  Xy PointInside();
  Xy AnyPoint() { return PointInBox(box_); }
  Xy Beside(Xy point);
  Xy Offset(Xy about, double size);
  Xy Offset(Xy about) { return Offset(about, Size()); }
  double Grid(Xy about) const;
  double Size();
  double Reach();
  OracleBox Around(const OracleBox& box, double margin) const;

  // Recipes.
  Query PointAt(Xy p) const {
    return {QueryOp::kPoint, "", p, {}, 0.0, OracleInside::kReportStart, {}};
  }
  Query SegmentOf(Ends ends) const {
    return {QueryOp::kSegment, "", ends.a, ends.b, 0.0, OracleInside::kReportStart, {}};
  }
  Query CircleOf(Disc disc) const {
    return {QueryOp::kCircle, "", disc.centre, {}, disc.radius, OracleInside::kReportStart, {}};
  }
  Query PolygonOf(std::vector<std::vector<Xy>> rings);

  Query PointVertex() { return PointAt(AnyVertex()); }
  Query PointEdge() { return PointAt(PointOnEdge()); }
  Query PointNear() { return PointAt(Beside(PointOnBoundary())); }
  Query PointLevel() { return PointAt({AnyPoint().x, AnyVertex().y}); }
  Query PointInner() { return PointAt(PointInside()); }
  Query PointRandom() { return PointAt(AnyPoint()); }

  Query ThroughVertex();
  Query AlongEdge();
  Query WholeEdge();
  Query CollinearOvershoot();
  Query VertexToVertex() { return SegmentOf({AnyVertex(), AnyVertex()}); }
  Query Tangent();
  Query StartOnBoundary();
  Query StartInside() { return SegmentOf({PointInside(), AnyPoint()}); }
  Query EndOnBoundary();
  Query EndInside() { return SegmentOf({AnyPoint(), PointInside()}); }
  Query ZeroLength();
  Query OneUlpOff();
  Query NearParallel();
  Query Horizontal();
  Query Vertical();
  Query Tiny();
  Query Huge();
  Query SegmentRandom() { return SegmentOf({AnyPoint(), AnyPoint()}); }

  Query ZeroRadius() {
    return CircleOf({dice_.Below(3) == 0 ? PointInside() : PointOnBoundary(), 0.0});
  }
  Query TouchVertexByTriple();
  Query TouchVertexLevel();
  Query TouchFlatEdge();
  Query TouchEdge();
  Query AlmostTouch();
  Query CircleInside() { return CircleOf({PointInside(), Size() * 0.125}); }
  Query CircleRandom() { return CircleOf({AnyPoint(), Size()}); }

  Query CornerOnVertex() { return Triangle(AnyVertex()); }
  Query CornerOnEdge() { return Triangle(PointOnEdge()); }
  Query CornerBeside() { return Triangle(Beside(PointOnBoundary())); }
  Query Triangle(Xy corner);
  Query SharedEdge();
  Query CopyOfPolygon();
  Query BoxAroundPolygon();
  Query ContainedInPolygon();
  Query HoleAroundPolygon();
  Query DegeneratePoint();
  Query DegenerateSegment();
  Query Bowtie();
  Query Pentagram();
  Query PolygonRandom();

  void Disguise(Xy& point);

  Dice dice_;
  std::vector<OracleShape> shapes_;
  std::vector<const OracleShape::Edge*> flat_edges_;
  OracleBox box_;
  int segments_made_ = 0;
};

}  // namespace carom::testing::nasty
