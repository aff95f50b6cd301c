// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "contact/separating_axis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "carom/predicates.h"
#include "numeric/double_lanes.h"
#include "numeric/dyadic.h"
#include "numeric/exact.h"

namespace carom::internal {
namespace {

// The squared distance of the point v from the line p -> q if `from_line`, else from the point p.
// `ExactValue` returns it as a quotient.
struct SquaredDistance {
  Vec2 p, q, v;
  bool from_line = true;
  int sign = 0;      // sign of (q - p) x (v - p): 1 if v is left of the line, -1 if right
  double value = 0;  // the squared distance with a relative error of at most 2^-41
};

struct Quotient {
  Dyadic numerator, denominator;
};

Dyadic ExactSum2(const Dyadic& x, const Dyadic& y) { return x * x + y * y; }

Quotient ExactValue(const SquaredDistance& d) {
  const Dyadic x = Dyadic(d.v.x) - d.p.x;
  const Dyadic y = Dyadic(d.v.y) - d.p.y;
  if (!d.from_line) return {ExactSum2(x, y), 1.0};
  const Dyadic ex = Dyadic(d.q.x) - d.p.x;
  const Dyadic ey = Dyadic(d.q.y) - d.p.y;
  const Dyadic cross = ex * y - ey * x;
  return {cross * cross, ExactSum2(ex, ey)};
}

// Returns the squared distance of the point v from the line of `edge`. Relative errors, with u =
// 2^-53: 2^-44 of the cross product if `RoundedCross` computes it, 2^-51 if `ExactCross` does; 5u
// of the squared length of the edge, and u of the quotient of both. In all, the relative error of
// `value` is less than 2^-42.
SquaredDistance FromLine(const Segment& edge, Vec2 v) {
  SquaredDistance d{edge.a, edge.b, v};
  const Vec2 e{edge.b.x - edge.a.x, edge.b.y - edge.a.y};
  const RoundedCross rounded(e.x * (v.y - edge.a.y), e.y * (v.x - edge.a.x));
  double cross = rounded.value;
  if (std::abs(cross) * 0x1p-44 <= rounded.error()) {
    cross = ExactCross(edge.a, edge.b, edge.a, v).estimate();
  }
  d.sign = (cross > 0) - (cross < 0);
  d.value = cross * cross / (e.x * e.x + e.y * e.y);
  return d;
}

SquaredDistance FromPoint(Vec2 p, Vec2 v) {
  const double x = v.x - p.x;
  const double y = v.y - p.y;
  return {p, p, v, false, 0, x * x + y * y};
}

// Compares two numbers, each given as a rounded sum or product (`high`) and its rounding error
// (`low`). Exact, since rounding is monotonic and a number has only one such pair.
int ComparePairs(TwoDoubles a, TwoDoubles b) {
  if (a.high != b.high) return a.high > b.high ? 1 : -1;
  return (a.low > b.low) - (a.low < b.low);
}

// Returns the distance of `d.v` from the line of `d` if this line is horizontal or vertical, as one
// exact difference; nullopt for other lines.
std::optional<TwoDoubles> AxisAlignedDistance(const SquaredDistance& d) {
  if (!d.from_line || (d.p.x != d.q.x && d.p.y != d.q.y)) return std::nullopt;
  const TwoDoubles far = d.p.x == d.q.x ? TwoDiff(d.v.x, d.p.x) : TwoDiff(d.v.y, d.p.y);
  return far.high < 0 ? TwoDoubles{-far.high, -far.low} : far;
}

// Returns whether `value`, a rounded product, is so large (or 0) that the rounding error of the
// product does not underflow.
bool AvoidsUnderflow(double value) { return value == 0 || value > 0x1p-900; }

// Returns the squared distance as a quotient of two doubles, high / low, if all products and sums
// of `ExactValue` are exact in doubles; nullopt otherwise. They are exact, for example, if all
// coordinates are integers that differ by at most 6888: the squared cross product is then below
// 2^53.
std::optional<TwoDoubles> DoubleQuotient(const SquaredDistance& d) {
  if (!d.from_line) return std::nullopt;
  const TwoDoubles ex = TwoDiff(d.q.x, d.p.x);
  const TwoDoubles ey = TwoDiff(d.q.y, d.p.y);
  const TwoDoubles x = TwoDiff(d.v.x, d.p.x);
  const TwoDoubles y = TwoDiff(d.v.y, d.p.y);
  const TwoDoubles left = TwoProduct(ex.high, y.high);
  const TwoDoubles right = TwoProduct(ey.high, x.high);
  const TwoDoubles cross = TwoDiff(left.high, right.high);
  const TwoDoubles square = TwoProduct(cross.high, cross.high);
  const TwoDoubles ex2 = TwoProduct(ex.high, ex.high);
  const TwoDoubles ey2 = TwoProduct(ey.high, ey.high);
  const TwoDoubles length2 = TwoSum(ex2.high, ey2.high);
  for (const TwoDoubles& step : {ex, ey, x, y, left, right, cross, square, ex2, ey2, length2}) {
    if (step.low != 0) return std::nullopt;
  }
  if (!AvoidsUnderflow(square.high)) return std::nullopt;
  return TwoDoubles{square.high, length2.high};
}

// Returns the sign of the difference a - b of two squared distances if doubles suffice to compute
// it exactly, as for most distances in tile maps; nullopt otherwise.
std::optional<int> CompareInDoubles(const SquaredDistance& a, const SquaredDistance& b) {
  const std::optional<TwoDoubles> far_a = AxisAlignedDistance(a);
  const std::optional<TwoDoubles> far_b = AxisAlignedDistance(b);
  if (far_a && far_b) return ComparePairs(*far_a, *far_b);
  const std::optional<TwoDoubles> of_a = DoubleQuotient(a);
  const std::optional<TwoDoubles> of_b = DoubleQuotient(b);
  if (!of_a || !of_b) return std::nullopt;
  const TwoDoubles left = TwoProduct(of_a->high, of_b->low);
  const TwoDoubles right = TwoProduct(of_b->high, of_a->low);
  if (!AvoidsUnderflow(left.high) || !AvoidsUnderflow(right.high)) return std::nullopt;
  return ComparePairs(left, right);
}

// Returns the sign of the difference a - b of two squared distances. Exact.
int Compare(const SquaredDistance& a, const SquaredDistance& b) {
  const double difference = a.value - b.value;
  if (kHasFilters && std::abs(difference) > 0x1p-40 * (a.value + b.value)) {
    return difference > 0 ? 1 : -1;
  }
  if (kHasFilters) {
    if (const std::optional<int> order = CompareInDoubles(a, b)) return *order;
  }
  const Quotient exact_a = ExactValue(a);
  const Quotient exact_b = ExactValue(b);
  return (exact_a.numerator * exact_b.denominator - exact_b.numerator * exact_a.denominator).sign();
}

// Returns the sign of a difference: the distance (of which `d` is the square) minus the sum of the
// radii. Exact.
int CompareToRadii(const SquaredDistance& d, double radius_a, double radius_b) {
  const double reach = radius_a + radius_b;
  const double difference = d.value - reach * reach;
  if (kHasFilters && std::abs(difference) > 0x1p-40 * (d.value + reach * reach)) {
    return difference > 0 ? 1 : -1;
  }
  const Quotient exact = ExactValue(d);
  const Dyadic radius = Dyadic(radius_a) + radius_b;
  return (exact.numerator - radius * radius * exact.denominator).sign();
}

// Returns the vertex of the convex core `other` that is farthest to the left of the edge `e`; of
// two such vertices, which are neighbors, the one before the other in counter-clockwise order (the
// first vertex, if the core is a segment).
size_t FarthestLeft(const Segment& e, const ConvexCore& other, WorkMeter& meter) {
  const auto gain = [&](size_t from, size_t to) {
    return CrossSign(e.a, e.b, other.vertex(from), other.vertex(to));
  };
  size_t best = 0;
  for (size_t k = 1; k < other.size() && meter.Spend(1); ++k) {
    if (gain(best, k) > 0) best = k;
  }
  const size_t before = other.Previous(best);
  return other.size() > 2 && gain(best, before) == 0 ? before : best;
}

// Finds, for the edges of one convex core in order, the vertex of another core that is farthest to
// the left of the edge, as `FarthestLeft` returns it. From each edge to the next, the direction of
// the edge turns by less than half a turn, so the vertex only advances, in all at most once around
// the other core.
class Supports {
 public:
  Supports(const ConvexCore& reference, const ConvexCore& other, WorkMeter& meter)
      : reference_(reference), other_(other), meter_(meter) {}

  // Returns the vertex of `other_` farthest to the left of edge `edge` of `reference_`. `edge` is 0
  // in the first call and then advances by 1 from call to call.
  size_t Next(size_t edge) {
    const Segment e = reference_.Edge(edge);
    if (edge == 0 || reference_.size() == 2) return at_ = FarthestLeft(e, other_, meter_);
    for (size_t k = 0; k < other_.size() && meter_.Spend(1); ++k) {
      const size_t next = other_.Next(at_);
      if (CrossSign(e.a, e.b, other_.vertex(at_), other_.vertex(next)) <= 0) break;
      at_ = next;
    }
    return at_;
  }

 private:
  const ConvexCore& reference_;
  const ConvexCore& other_;
  WorkMeter& meter_;
  size_t at_ = 0;
};

// Bounds the depth of each edge of two small convex cores, in double arithmetic. The depth of an
// edge of a core is how far the other core reaches past the edge, to its left, into the core with
// the edge.
//
// Error, with u = 2^-53: coordinates are relative to one vertex. With R the largest of them, a
// coordinate errs by uR, an edge by 4uR, a product by 8uR^2, and a difference of two products by
// 20uR^2. The cross product of an edge e and the vector to a vertex is a difference of two such
// differences and errs by 48uR^2. The depth is this cross product divided by |e|. The rounded
// length of e, in place of the exact one, moves the depth by 24uR^2 / |e|; the square root, the
// inverse and the product move it by 46uR^2 / |e|. So 256uR^2 bounds the error of a depth times
// |e|. Where |e| rounds to 0 the bounds are NaN or infinite, and the edge counts as a candidate for
// the least deep edge.
class DepthFilter {
 public:
  static constexpr size_t kMaxEdges = 16;

  DepthFilter(const ConvexCore& fixed, const ConvexCore& mover) {
    const Vec2 origin = fixed.vertex(0);
    const double extent = std::max(fixed_.Take(fixed, origin), mover_.Take(mover, origin));
    error_ = 256 * kFilterUnit * extent * extent;
    fixed_.Bound(mover_, error_);
    if (!separates()) mover_.Bound(fixed_, error_);
  }

  // Returns whether an edge certainly separates the cores: whether its depth is certainly below 0.
  bool separates() const { return fixed_.least_high < 0 || mover_.least_high < 0; }
  // Returns the edges of the fixed core (if `of_fixed`) or of the mover's core that may be the
  // least deep edge of both cores: bit k for edge k.
  uint32_t CandidateEdges(bool of_fixed) const {
    const Side& side = of_fixed ? fixed_ : mover_;
    const double least = std::min(fixed_.least_high, mover_.least_high);
    uint32_t near = 0;
    for (size_t k = 0; k < side.edge_count; k += 2) {
      near |= (SignBits(LoadLanes(&side.low[k]) > least) ^ 3) << k;
    }
    return near & ((uint32_t{1} << side.edge_count) - 1);
  }
  // Returns the vertex that is farthest to the left of edge `edge` of the fixed core (if
  // `of_fixed`) or of the mover's core, among the vertices of the core without this edge, as
  // `FarthestLeft` does; nullopt unless rounded cross products prove that only this vertex can be
  // the farthest one.
  std::optional<size_t> Support(bool of_fixed, size_t edge) const {
    const Side& side = of_fixed ? fixed_ : mover_;
    const Side& other = of_fixed ? mover_ : fixed_;
    const double ex = side.x[edge + 1] - side.x[edge];
    const double ey = side.y[edge + 1] - side.y[edge];
    double best = -HUGE_VAL;
    double second = -HUGE_VAL;
    size_t found = 0;
    for (size_t k = 0; k < other.size; ++k) {
      const double left = ex * other.y[k] - ey * other.x[k];
      second = std::max(second, std::min(best, left));
      found = left > best ? k : found;
      best = std::max(best, left);
    }
    if (!(best - second > error_)) return std::nullopt;
    return found;
  }

 private:
  // The vertices of a core in columns, with the first few repeated behind the last one for code
  // that reads several at a time; and lower bounds of the depths of its edges (`low`).
  struct Side {
    static constexpr size_t kStep = 4;

    // Stores the vertices of the core, relative to `origin`. Returns the largest magnitude of a
    // stored coordinate.
    double Take(const ConvexCore& core, Vec2 origin) {
      const std::span<const Vec2> vertices = core.vertices();
      size = vertices.size();
      edge_count = core.edge_count();
      Lanes extent{};
      for (size_t i = 0; i < size; ++i) {
        const Lanes v = ToLanes(vertices[i]) - ToLanes(origin);
        x[i] = v[0];
        y[i] = v[1];
        extent = Max(extent, Abs(v));
      }
      for (size_t i = 0; i <= kStep; ++i) {
        x[size + i] = x[i];
        y[size + i] = y[i];
      }
      return std::max(extent[0], extent[1]);
    }

    void Bound(const Side& other, double error) {
      Double2 least{HUGE_VAL, HUGE_VAL};
      for (size_t k = 0; k < edge_count; k += kStep) {
        Double2 ex[2], ey[2], best[2];
        for (size_t h = 0; h < 2; ++h) {
          const size_t i = k + 2 * h;
          ex[h] = LoadLanes(&x[i + 1]) - LoadLanes(&x[i]);
          ey[h] = LoadLanes(&y[i + 1]) - LoadLanes(&y[i]);
          best[h] = Double2{-HUGE_VAL, -HUGE_VAL};
        }
        for (size_t j = 0; j < other.size; ++j) {
          const Double2 px{other.x[j], other.x[j]};
          const Double2 py{other.y[j], other.y[j]};
          best[0] = Max(best[0], ex[0] * py - ey[0] * px);
          best[1] = Max(best[1], ex[1] * py - ey[1] * px);
        }
        for (size_t h = 0; h < 2; ++h) {
          const size_t i = k + 2 * h;
          const Double2 cross = best[h] - (ex[h] * LoadLanes(&y[i]) - ey[h] * LoadLanes(&x[i]));
          const Double2 inverse = 1 / SquareRoot(ex[h] * ex[h] + ey[h] * ey[h]);
          const Double2 bound = (cross - error) * inverse;
          std::memcpy(&low[i], &bound, sizeof bound);
          least = Min((cross + error) * inverse, least);
        }
      }
      least_high = std::min(least[0], least[1]);
    }

    size_t size = 0;
    size_t edge_count = 0;
    double least_high = HUGE_VAL;
    double x[kMaxEdges + kStep + 1], y[kMaxEdges + kStep + 1];
    double low[kMaxEdges + kStep];
  };

  Side fixed_, mover_;
  double error_ = 0;
};

struct Sums {
  Dyadic x, y, count;
};

Sums SumsOf(const ConvexCore& core, WorkMeter& meter) {
  Sums sums;
  const std::span<const Vec2> points = core.source_vertices();
  for (const Vec2 p : points) {
    if (!meter.Spend(1)) break;
    sums.x = sums.x + p.x;
    sums.y = sums.y + p.y;
  }
  sums.count = static_cast<double>(points.size());
  return sums;
}

// Returns the sign of the dot product of the normal on the right of the edge from -> to and the
// vector from the centre of `fixed` to the centre of `mover` (the means of their vertices). Exact.
int TowardsMover(const ConvexCore& fixed, const ConvexCore& mover, Vec2 from, Vec2 to,
                 WorkMeter& meter) {
  const Sums a = SumsOf(fixed, meter);
  const Sums b = SumsOf(mover, meter);
  const Dyadic x = b.x * a.count - a.x * b.count;
  const Dyadic y = b.y * a.count - a.y * b.count;
  // The normal of the edge is (to - from) turned clockwise.
  return ((Dyadic(to.y) - from.y) * x - (Dyadic(to.x) - from.x) * y).sign();
}

// Keeps the least deep of the contact axes that were added. An axis is the normal of an edge of one
// convex core (a shape without its radius); its depth is how far the other core reaches past this
// edge. Ties are broken in the order that `ContactAxis` documents (separating_axis.h).
class LeastAxis {
 public:
  LeastAxis(const ConvexCore& fixed, const ConvexCore& mover, WorkMeter& meter)
      : fixed_(fixed), mover_(mover), meter_(meter) {}

  // Adds the axis that an edge of one core and the supporting vertex of the other core (the vertex
  // that is deepest past this edge) give. Returns false if the edge separates the cores.
  bool Add(const Axis& axis) {
    const ConvexCore& reference = axis.fixed_is_reference ? fixed_ : mover_;
    const ConvexCore& other = axis.fixed_is_reference ? mover_ : fixed_;
    const SquaredDistance depth = FromLine(reference.Edge(axis.edge), other.vertex(axis.support));
    if (depth.sign < 0) return false;
    const int order = !found_ ? -1 : FaceEachOther(axis) ? 0 : Compare(depth, least_);
    if (order < 0 || (order == 0 && IsBefore(axis, axis_))) {
      found_ = true;
      axis_ = axis;
      least_ = depth;
    }
    return true;
  }

  const Axis& axis() const { return axis_; }

 private:
  // Returns whether the edge of `axis` is antiparallel to the edge of the least deep axis so far
  // (`axis_`), and the edges are of different cores. Each edge is then the farthest part of its
  // core past the other edge, so both are equally deep.
  bool FaceEachOther(const Axis& axis) const {
    if (!kHasFilters || axis.fixed_is_reference == axis_.fixed_is_reference) return false;
    const Segment e = (axis.fixed_is_reference ? fixed_ : mover_).Edge(axis.edge);
    const Segment f = (axis_.fixed_is_reference ? fixed_ : mover_).Edge(axis_.edge);
    const RoundedCross cross(e.a, e.b, f.a, f.b);
    if (std::abs(cross.value) > cross.error()) return false;
    return CrossSign(e.a, e.b, f.a, f.b) == 0 && DotSign(e.a, e.b, f.a, f.b) < 0;
  }

  bool IsBefore(const Axis& a, const Axis& b) const {
    if (a.fixed_is_reference != b.fixed_is_reference) return a.fixed_is_reference;
    const ConvexCore& reference = a.fixed_is_reference ? fixed_ : mover_;
    const uint32_t order_a = reference.edge_order(a.edge);
    const uint32_t order_b = reference.edge_order(b.edge);
    if (order_a != order_b) return order_a < order_b;
    Segment edge = reference.Edge(a.edge);
    if (!a.fixed_is_reference) std::swap(edge.a, edge.b);  // so that the normal points to the mover
    const int towards = TowardsMover(fixed_, mover_, edge.a, edge.b, meter_);
    if (towards != 0) return towards > 0;
    const Vec2 normal{edge.b.y - edge.a.y, edge.a.x - edge.b.x};
    return normal.x > 0 || (normal.x == 0 && normal.y > 0);
  }

  const ConvexCore& fixed_;
  const ConvexCore& mover_;
  WorkMeter& meter_;
  bool found_ = false;
  Axis axis_;
  SquaredDistance least_;
};

// Adds to `least` the axes (normals) of the edges of `reference` that may be the least deep edge of
// both cores, according to the bounds of `filter`. Returns false if one of these edges separates
// the cores.
bool AddNearEdges(const DepthFilter& filter, bool of_fixed, const ConvexCore& reference,
                  const ConvexCore& other, LeastAxis& least, WorkMeter& meter) {
  for (uint32_t near = filter.CandidateEdges(of_fixed); near != 0; near &= near - 1) {
    const auto k = static_cast<size_t>(std::countr_zero(near));
    const std::optional<size_t> support = filter.Support(of_fixed, k);
    const size_t vertex = support ? *support : FarthestLeft(reference.Edge(k), other, meter);
    if (!least.Add({AxisKind::kEdge, of_fixed, k, vertex})) return false;
  }
  return true;
}

// Adds to `least` the axes (normals) of all edges of `reference`, one of two convex cores (shapes
// without their radii). Returns false if one of the edges separates the cores, or once the meter
// stops.
bool AddEdges(bool of_fixed, const ConvexCore& reference, const ConvexCore& other, LeastAxis& least,
              WorkMeter& meter) {
  Supports supports(reference, other, meter);
  for (size_t k = 0; k < reference.edge_count(); ++k) {
    if (!meter.Spend(1) || !least.Add({AxisKind::kEdge, of_fixed, k, supports.Next(k)})) {
      return false;
    }
  }
  return true;
}

// Returns the contact axis of least depth (how far one core reaches past an edge of the other) of
// two convex cores that meet; nullopt if the cores are apart.
std::optional<Axis> DepthAxis(const ConvexCore& fixed, const ConvexCore& mover, WorkMeter& meter) {
  // If both cores are points or segments, tests them for a common point first: if they lie on a
  // common line, the normals of their edges cannot separate them.
  if (fixed.size() <= 2 && mover.size() <= 2 &&
      !Intersects(Segment{fixed.vertices().front(), fixed.vertices().back()},
                  Segment{mover.vertices().front(), mover.vertices().back()})) {
    return std::nullopt;
  }
  LeastAxis least(fixed, mover, meter);
  if (std::max(fixed.size(), mover.size()) > DepthFilter::kMaxEdges) {
    if (!AddEdges(true, fixed, mover, least, meter)) return std::nullopt;
    if (!AddEdges(false, mover, fixed, least, meter)) return std::nullopt;
    return least.axis();
  }
  if (!meter.Spend(fixed.size() + mover.size())) return std::nullopt;
  const DepthFilter filter(fixed, mover);
  if (filter.separates() || !AddNearEdges(filter, true, fixed, mover, least, meter) ||
      !AddNearEdges(filter, false, mover, fixed, least, meter)) {
    return std::nullopt;
  }
  return least.axis();
}

// Keeps the nearest of the pairs of features (an edge or vertex of one core and a vertex of the
// other) that were added, the first one among equally near pairs.
class NearestPair {
 public:
  explicit NearestPair(WorkMeter& meter) : meter_(meter) {}

  void AddEdges(const ConvexCore& reference, const ConvexCore& other, bool fixed_is_reference) {
    for (size_t k = 0; k < reference.edge_count(); ++k) {
      const Segment e = reference.Edge(k);
      for (size_t v = 0; v < other.size(); ++v) {
        if (!meter_.Spend(1)) return;
        const Vec2 p = other.vertex(v);
        if (DotSign(e.a, p, e.a, e.b) <= 0 || DotSign(e.b, p, e.a, e.b) >= 0) continue;
        const SquaredDistance distance = FromLine(e, p);
        if (distance.sign < 0) Add({AxisKind::kEdge, fixed_is_reference, k, v}, distance);
      }
    }
  }
  void AddVertices(const ConvexCore& fixed, const ConvexCore& mover) {
    for (size_t i = 0; i < fixed.size(); ++i) {
      for (size_t j = 0; j < mover.size(); ++j) {
        if (!meter_.Spend(1)) return;
        Add({AxisKind::kVertices, true, i, j}, FromPoint(fixed.vertex(i), mover.vertex(j)));
      }
    }
  }

  const Axis& axis() const { return axis_; }
  const SquaredDistance& distance() const { return least_; }

 private:
  void Add(const Axis& axis, const SquaredDistance& distance) {
    if (found_ && Compare(distance, least_) >= 0) return;
    found_ = true;
    axis_ = axis;
    least_ = distance;
  }

  WorkMeter& meter_;
  bool found_ = false;
  Axis axis_;
  SquaredDistance least_;
};

}  // namespace

int CompareDepths(const Segment& a, Vec2 u, const Segment& b, Vec2 v) {
  return Compare(FromLine(a, u), FromLine(b, v));
}

std::optional<Axis> ContactAxis(const ConvexCore& fixed, const ConvexCore& mover,
                                WorkMeter& meter) {
  if (fixed.size() == 1 && mover.size() == 1 && fixed.vertex(0) == mover.vertex(0)) {
    return Axis{};
  }
  if (std::optional<Axis> axis = DepthAxis(fixed, mover, meter)) return axis;
  if (fixed.radius() == 0 && mover.radius() == 0) return std::nullopt;
  NearestPair nearest(meter);
  nearest.AddEdges(fixed, mover, true);
  nearest.AddEdges(mover, fixed, false);
  nearest.AddVertices(fixed, mover);
  if (meter.stopped()) return std::nullopt;
  const int order = CompareToRadii(nearest.distance(), fixed.radius(), mover.radius());
  if (order > 0) return std::nullopt;
  Axis axis = nearest.axis();
  axis.cores = order == 0 ? Cores::kTouchingRadii : Cores::kApart;
  return axis;
}

}  // namespace carom::internal
