// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/ring.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "carom/predicates.h"
#include "numeric/dyadic.h"
#include "numeric/exact.h"
#include "numeric/expansion.h"
#include "shape/convex_core.h"

namespace carom {
namespace {

using internal::Dyadic;
using internal::kFilterUnit;
using internal::kUnit;
using internal::TwoDoubles;

Vec2 Next(std::span<const Vec2> ring, size_t i) { return ring[i + 1 == ring.size() ? 0 : i + 1]; }

// Sums exact products, given as pairs of doubles, and bounds the error. `high_` is the rounded sum
// of the high parts; `low_` is the rounded sum of the low parts and of the rounding errors of
// `high_`. Only `low_` has an error: a sum of m terms, added one by one, errs by less than m u (u =
// 2^-53) times the sum of their magnitudes (Higham 2002, section 4.2); `error` returns twice that
// bound, which also covers the rounding of the sum of magnitudes.
class FilteredSum {
 public:
  void Add(TwoDoubles value) {
    const TwoDoubles sum = internal::TwoSum(high_, value.high);
    high_ = sum.high;
    low_ += sum.low;
    low_ += value.low;
    magnitude_ += std::abs(sum.low) + std::abs(value.low);
    terms_ += 2;
  }

  // Returns the sign of the exact sum; nullopt if the sign is not certain.
  std::optional<int> sign() const {
    const TwoDoubles sum = internal::TwoSum(high_, low_);
    // `sum.low` is at most half an ulp of `sum.high`, so both parts together have the sign of
    // `sum.high`.
    if (error() > 0 && std::abs(sum.high) <= 2 * error()) return std::nullopt;
    return (sum.high > 0) - (sum.high < 0);
  }

  // Returns the double nearest to the exact sum; nullopt if that double is not certain. The
  // interval around the computed sum is widened to twice the error plus 2u (u = 2^-53) times the
  // low part, which covers the roundings of low +- slack. If both ends of the interval round to one
  // double, all numbers in it do.
  std::optional<double> Nearest() const {
    const TwoDoubles sum = internal::TwoSum(high_, low_);
    if (error() == 0) return sum.high + 0.0;
    const double slack = 2 * error() + 2 * kFilterUnit * std::abs(sum.low);
    if (sum.high + (sum.low - slack) != sum.high) return std::nullopt;
    if (sum.high + (sum.low + slack) != sum.high) return std::nullopt;
    return sum.high;
  }

 private:
  double error() const { return 2 * kFilterUnit * static_cast<double>(terms_) * magnitude_; }

  double high_ = 0;
  double low_ = 0;
  double magnitude_ = 0;
  size_t terms_ = 0;
};

FilteredSum FilteredDoubleArea(std::span<const Vec2> ring) {
  FilteredSum sum;
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 v = ring[i];
    const Vec2 w = Next(ring, i);
    sum.Add(internal::TwoProduct(v.x, w.y));
    sum.Add(internal::TwoProduct(-v.y, w.x));
  }
  return sum;
}

Dyadic ExactCrossOf(Vec2 v, Vec2 w) { return Dyadic(v.x) * w.y - Dyadic(v.y) * w.x; }

Dyadic ExactDoubleArea(std::span<const Vec2> ring) {
  Dyadic sum;
  for (size_t i = 0; i < ring.size(); ++i) sum = sum + ExactCrossOf(ring[i], Next(ring, i));
  return sum;
}

// Returns the sign of the dot product (p - a) . (p - b), which is positive if p is outside of the
// circle with the diameter ab. The error bound of `RoundedCross` holds, because a cross product has
// equally many differences (four), products (two) and sums (one).
int DiameterSign(Vec2 a, Vec2 b, Vec2 p) {
  const internal::RoundedCross dot((p.x - a.x) * (p.x - b.x), -((p.y - a.y) * (p.y - b.y)));
  if (dot.is_certain()) return dot.sign();
  return ((Dyadic(p.x) - a.x) * (Dyadic(p.x) - b.x) + (Dyadic(p.y) - a.y) * (Dyadic(p.y) - b.y))
      .sign();
}

// Computes the determinant of the three rows (v.x, v.y, |v|^2) for three vectors v, in doubles or
// exact numbers. Also computes the sum of the magnitudes of the terms of the determinant, for the
// error bound. The sign of the determinant decides on which side of a circle a point lies.
template <class Number>
struct LiftedDeterminant {
  struct Vector {
    Number x, y;
    Number lift() const { return x * x + y * y; }
  };

  static Number Of(const Vector& a, const Vector& b, const Vector& c) {
    return a.lift() * (b.x * c.y - b.y * c.x) + b.lift() * (c.x * a.y - c.y * a.x) +
           c.lift() * (a.x * b.y - a.y * b.x);
  }
  static Number Magnitude(const Vector& a, const Vector& b, const Vector& c) {
    return a.lift() * (std::abs(b.x * c.y) + std::abs(b.y * c.x)) +
           b.lift() * (std::abs(c.x * a.y) + std::abs(c.y * a.x)) +
           c.lift() * (std::abs(a.x * b.y) + std::abs(a.y * b.x));
  }
};

// Returns true if p is outside of the circle through a, b, c, which must turn left. Each term of
// the determinant has at most eleven roundings (four differences, a square, a sum, a product, a
// difference, a product, two sums), and the sum of magnitudes has as many: 16u times that sum of
// magnitudes, with u = 2^-53, covers the roundings of both.
bool IsOutsideCircumcircle(Vec2 a, Vec2 b, Vec2 c, Vec2 p) {
  using Rounded = LiftedDeterminant<double>;
  const auto from_p = [p](Vec2 v) { return Rounded::Vector{v.x - p.x, v.y - p.y}; };
  const auto pa = from_p(a);
  const auto pb = from_p(b);
  const auto pc = from_p(c);
  const double determinant = Rounded::Of(pa, pb, pc);
  if (std::abs(determinant) > 16 * kFilterUnit * Rounded::Magnitude(pa, pb, pc)) {
    return determinant < 0;
  }
  using Exact = LiftedDeterminant<Dyadic>;
  const auto exactly = [p](Vec2 v) { return Exact::Vector{Dyadic(v.x) - p.x, Dyadic(v.y) - p.y}; };
  return Exact::Of(exactly(a), exactly(b), exactly(c)).sign() < 0;
}

// The vertices that determine the smallest circle around a set of points: no vertex, one point, the
// two ends of a diameter, or three vertices that turn left. `count` is the number of these
// vertices.
struct Support {
  Vec2 p[3];
  int count = 0;

  bool IsOutside(Vec2 v) const {
    switch (count) {
      case 0:
        return true;
      case 1:
        return !(v == p[0]);
      case 2:
        return DiameterSign(p[0], p[1], v) > 0;
      default:
        return IsOutsideCircumcircle(p[0], p[1], p[2], v);
    }
  }
};

// Finds the smallest enclosing circle by Welzl's algorithm (1991), written as three loops. If a
// vertex is outside of the smallest circle around the vertices before it (and through the vertices
// that the outer loops have fixed), it lies on the smallest circle around the vertices before it
// and itself. With exact signs this holds even for duplicates and for vertices on one line or on
// one circle; three fixed vertices are then never on one line.
Support SmallestSupport(std::span<const Vec2> points) {
  Support support;
  for (size_t i = 0; i < points.size(); ++i) {
    if (!support.IsOutside(points[i])) continue;
    support = {{points[i]}, 1};
    for (size_t j = 0; j < i; ++j) {
      if (!support.IsOutside(points[j])) continue;
      support = {{points[i], points[j]}, 2};
      for (size_t k = 0; k < j; ++k) {
        if (!support.IsOutside(points[k])) continue;
        const bool left = Orientation(points[i], points[j], points[k]) > 0;
        support = {{points[i], points[left ? j : k], points[left ? k : j]}, 3};
      }
    }
  }
  return support;
}

// Returns the vertices in a pseudo-random order, by Fisher and Yates's shuffle with splitmix64
// (Steele, Lea and Flood 2014), so that every machine gets the same order.
std::vector<Vec2> Shuffled(std::span<const Vec2> ring) {
  std::vector<Vec2> points(ring.begin(), ring.end());
  uint64_t state = 0;
  for (size_t i = points.size(); i > 1; --i) {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    std::swap(points[i - 1], points[(z ^ (z >> 31)) % i]);
  }
  return points;
}

// Returns the centre of the circle through a, b, c, correctly rounded. It is a + u where, with b
// and c taken relative to a, 2 (b x c) u = (c.y |b|^2 - b.y |c|^2, b.x |c|^2 - c.x |b|^2).
Vec2 Circumcenter(Vec2 a, Vec2 b, Vec2 c) {
  const Dyadic bx = Dyadic(b.x) - a.x;
  const Dyadic by = Dyadic(b.y) - a.y;
  const Dyadic cx = Dyadic(c.x) - a.x;
  const Dyadic cy = Dyadic(c.y) - a.y;
  const Dyadic b2 = bx * bx + by * by;
  const Dyadic c2 = cx * cx + cy * cy;
  const Dyadic d = Scaled(bx * cy - by * cx, 1);
  return {NearestQuotient(a.x * d + (cy * b2 - by * c2), d),
          NearestQuotient(a.y * d + (bx * c2 - cx * b2), d)};
}

// Returns the centre of the circle that the vertices determine, correctly rounded. For two vertices
// it is half of a rounded sum, which equals the rounded half of the sum.
Vec2 CenterOf(const Support& support) {
  const Vec2* p = support.p;
  if (support.count == 3) return Circumcenter(p[0], p[1], p[2]);
  if (support.count == 2) return {(p[0].x + p[1].x) / 2, (p[0].y + p[1].y) / 2};
  return p[0];
}

// Returns the least radius, as a double, of a circle about `center` that contains every vertex.
// With u = 2^-53, the first guess has a relative error of 4u at most, so a guess lowered by 8u is
// below the exact radius, and fewer than 16 steps to the next double reach the result.
double RadiusAbout(Vec2 center, std::span<const Vec2> ring) {
  double distance2 = 0;
  for (const Vec2 v : ring) {
    const double dx = v.x - center.x;
    const double dy = v.y - center.y;
    distance2 = std::fmax(distance2, dx * dx + dy * dy);
  }
  double radius = std::sqrt(distance2) * (1 - 8 * kUnit);
  for (const Vec2 v : ring) {
    while (CompareDistance(v, Circle{center, radius}) > 0)
      radius = std::nextafter(radius, HUGE_VAL);
  }
  return radius > 0 && radius < kSmallestMagnitude ? kSmallestMagnitude : radius;
}

}  // namespace

double SignedArea(std::span<const Vec2> ring) {
  if (ring.size() < 3) return 0;
  const std::optional<double> nearest = FilteredDoubleArea(ring).Nearest();
  return 0.5 * (nearest ? *nearest : NearestDouble(ExactDoubleArea(ring)));
}

int WindingSign(std::span<const Vec2> ring) {
  if (ring.size() < 3) return 0;
  const std::optional<int> sign = FilteredDoubleArea(ring).sign();
  return sign ? *sign : ExactDoubleArea(ring).sign();
}

bool IsConvex(std::span<const Vec2> ring) {
  return internal::ConvexityOf(ring) != internal::Convexity::kNone;
}

Vec2 VertexMean(std::span<const Vec2> ring) {
  if (ring.empty()) return {};
  Dyadic x;
  Dyadic y;
  for (const Vec2 v : ring) {
    x = x + v.x;
    y = y + v.y;
  }
  const Dyadic count(static_cast<double>(ring.size()));
  return {NearestQuotient(x, count), NearestQuotient(y, count)};
}

// The formula: 3 * (2 area) * centroid is the sum of (v + w) (v x w) over the edges v->w. If the
// area is not 0, it is at least 2^-384, and the sum is 0 or a multiple of 2^-576: the quotient
// neither overflows nor underflows.
std::optional<Vec2> AreaCentroid(std::span<const Vec2> ring) {
  Dyadic double_area;
  Dyadic x;
  Dyadic y;
  for (size_t i = 0; i < ring.size(); ++i) {
    const Vec2 v = ring[i];
    const Vec2 w = Next(ring, i);
    const Dyadic cross = ExactCrossOf(v, w);
    if (cross.sign() == 0) continue;
    double_area = double_area + cross;
    x = x + (Dyadic(v.x) + w.x) * cross;
    y = y + (Dyadic(v.y) + w.y) * cross;
  }
  if (double_area.sign() == 0) return std::nullopt;
  const Dyadic divisor = 3.0 * double_area;
  return Vec2{NearestQuotient(x, divisor), NearestQuotient(y, divisor)};
}

Circle BoundingCircle(std::span<const Vec2> ring) {
  if (ring.empty()) return {};
  const std::vector<Vec2> points = Shuffled(ring);
  const Vec2 center = Normalized(CenterOf(SmallestSupport(points)));
  return {center, RadiusAbout(center, ring)};
}

}  // namespace carom
