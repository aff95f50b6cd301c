// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// An independent oracle: answers every static question of docs/conventions.md in exact rationals,
// by the definition of the answer rather than by an algorithm of the core. Start with `Oracle`. It
// is slow (microseconds an edge) and is meant for tests only; it shares no code with the core and
// takes plain doubles.
//
// Note for tests in namespace carom: with this header, write `::testing::Values`, not
// `testing::Values`.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tests/support/exact.h"

namespace carom::testing {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

enum class OracleFill { kEvenOdd, kNonZero };
enum class OracleSolidity { kSolid, kBoundary };

/// One ring as a caller gives it, with at least one point. An open chain of n ≥ 2 points has n − 1
/// edges, a closed ring n; one point is edge 0.
struct OracleRing {
  std::vector<Xy> points;
  bool open = false;
};

/// One polygon as a caller gives it: a closing duplicate may be present, coordinates may be −0 or
/// below 2^-140.
struct OraclePolygon {
  std::uint64_t id = 0;
  OracleFill fill = OracleFill::kEvenOdd;
  std::vector<OracleRing> rings;
  OracleSolidity solidity = OracleSolidity::kSolid;
  std::uint64_t category = 1;
};

/// Names edge `edge` of ring `ring`: from vertex `edge` to the next one. Ordered by (polygon, ring,
/// edge).
struct OracleEdge {
  std::uint64_t polygon = 0;
  std::uint32_t ring = 0;
  std::uint32_t edge = 0;

  friend auto operator<=>(const OracleEdge&, const OracleEdge&) = default;
};

enum class OraclePlace { kOutside, kBoundary, kInside };
enum class OracleFeature { kNone, kEdge, kVertex, kCollinear };
enum class OracleInside { kReportStart, kIgnore, kExit };
enum class OracleMode { kClosest, kAll, kAllPassages };

/// One end of a passage. `edge` is empty, and `feature` kNone, where the end lies strictly inside.
/// `normal` is exact, perpendicular to the edge, of any positive length; zero where the contract
/// says so.
struct OracleEnd {
  Rational fraction;
  std::optional<OracleEdge> edge;
  OracleFeature feature = OracleFeature::kNone;
  RationalXy normal;
};

/// A maximal interval of fractions whose points lie in the polygon (contract 3.2).
struct OraclePassage {
  OracleEnd entry;
  OracleEnd exit;
  bool starts_inside = false;
  bool ends_inside = false;
};

/// One hit. `at` orders it and is what a cast reports: the passage's entry, or its exit where kExit
/// applies.
struct OracleHit {
  std::uint64_t polygon = 0;
  OracleEnd at;
  OraclePassage passage;
};

/// The segment from `origin` at fraction `t_min` to fraction `t_max`, in units of `direction`. No
/// `t_max`: +∞, for which `direction` is not zero.
struct OracleLine {
  RationalXy origin;
  RationalXy direction;
  Rational t_min = 0;
  std::optional<Rational> t_max = Rational(1);
};

/// Returns the closed segment from `a` to `b`, coordinates read as contract 1.2 says. A segment of
/// length zero has the one fraction 0: its passage begins and ends there, as in the exact answers
/// of the public pack.
OracleLine Segment(Xy a, Xy b);

/// Returns the ray; bounds are in units of `direction`, +∞ allowed for `t_max`.
OracleLine Ray(Xy origin, Xy direction, double t_min, double t_max);

struct OracleCastOptions {
  OracleMode mode = OracleMode::kClosest;
  OracleInside inside = OracleInside::kReportStart;
  std::size_t max_hits = SIZE_MAX;
  std::uint64_t mask = ~std::uint64_t{0};
};

/// What a line does among soft walls (conventions, "Soft walls"), of shapes without radius.
struct OracleSoftAnswer {
  std::optional<OracleHit> hit;
  std::size_t passed = 0;
  /// The measure of the fractions before the hit at which the line is in a soft shape.
  Rational soft_sum;
  /// The greatest of these fractions, 0 if there are none.
  Rational soft_end;
};

/// The hits in the total order (exact fraction, polygon id, ring, edge). `truncated`: there were
/// more than max_hits.
struct OracleCastAnswer {
  std::vector<OracleHit> hits;
  bool truncated = false;
};

/// Polygon ids, ascending: those that hold the point strictly inside, and those with an edge
/// through it.
struct OraclePointAnswer {
  std::vector<std::uint64_t> in;
  std::vector<std::uint64_t> on;
};

/// Polygon ids that share a point with the closed shape, ascending; `touch` (circles only): those
/// whose distance from the centre is exactly the radius; `edges`: every static edge that shares a
/// point with the shape, in order.
struct OracleOverlapAnswer {
  std::vector<std::uint64_t> ids;
  std::vector<std::uint64_t> touch;
  std::vector<OracleEdge> edges;
};

/// A closed box; the empty box has low > high.
struct OracleBox {
  Xy low;
  Xy high;
};

bool BoxesMeet(const OracleBox& a, const OracleBox& b);

/// A polygon made ready: coordinates flushed (1.2), closing duplicates dropped (2.1), edges
/// numbered.
class OracleShape {
 public:
  struct Edge {
    Xy from;
    Xy to;
    OracleEdge name;
    OracleBox box;
  };

  explicit OracleShape(const OraclePolygon& polygon);

  std::uint64_t id() const { return id_; }
  std::uint64_t category() const { return category_; }
  const std::vector<Edge>& edges() const { return edges_; }
  const OracleBox& box() const { return box_; }
  /// Returns one vertex of each ring.
  const std::vector<Xy>& ring_starts() const { return ring_starts_; }

  /// Returns where `point` lies: kBoundary on any edge, even one inside the set. Hollow polygons
  /// have no inside.
  OraclePlace Locate(const RationalXy& point) const;
  OraclePlace Locate(Xy point) const { return Locate(Exact(Flushed(point))); }

  /// Returns whether a point that lies on no edge is filled, by the exact winding number. Hollow:
  /// false.
  bool IsFilled(const RationalXy& point) const;

  /// Returns the edges that hold `point`, in order.
  std::vector<OracleEdge> EdgesThrough(const RationalXy& point) const;

  /// Returns all passages of `line` through the shape, in order along it.
  std::vector<OraclePassage> Passages(const OracleLine& line) const;

 private:
  void AddRing(const OracleRing& ring, std::uint32_t index);

  std::uint64_t id_;
  std::uint64_t category_;
  OracleFill fill_;
  OracleSolidity solidity_;
  std::vector<Edge> edges_;
  std::vector<Xy> ring_starts_;
  OracleBox box_;
};

/// Answers questions about one scene. Polygons may be given in any order; ids are distinct.
/// Immutable after construction, so any number of threads may ask.
class Oracle {
 public:
  explicit Oracle(const std::vector<OraclePolygon>& polygons);

  OraclePointAnswer Point(Xy p, std::uint64_t mask = ~std::uint64_t{0}) const;
  OracleCastAnswer Cast(const OracleLine& line, const OracleCastOptions& options = {}) const;
  /// Casts past soft walls: shapes with a category in `soft_mask`, of which `soft_count` passages
  /// are passed. The mode and `max_hits` play no part.
  OracleSoftAnswer SoftCast(const OracleLine& line, const OracleCastOptions& options,
                            std::uint64_t soft_mask, std::size_t soft_count) const;
  /// Returns what mode ANY answers.
  bool Hits(const OracleLine& line, OracleInside inside = OracleInside::kReportStart,
            std::uint64_t mask = ~std::uint64_t{0}) const;
  /// Answers for the closed disc, radius ≥ 0.
  OracleOverlapAnswer Circle(Xy centre, double radius,
                             std::uint64_t mask = ~std::uint64_t{0}) const;
  /// Answers for a placed shape; its id and category play no part.
  OracleOverlapAnswer Overlap(const OraclePolygon& mover,
                              std::uint64_t mask = ~std::uint64_t{0}) const;

  const std::vector<OracleShape>& shapes() const { return shapes_; }

 private:
  std::vector<OracleShape> shapes_;  // ascending id
};

}  // namespace carom::testing
