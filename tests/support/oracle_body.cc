// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_body.h"

#include <array>
#include <bit>
#include <cstdint>

#include "tests/support/oracle_distance.h"
#include "tests/support/oracle_sweep.h"

namespace carom::testing {
namespace {

struct Side {
  RationalXy from;
  RationalXy to;
};

// The squared distance is least where the two cross, or at an end of one of them.
Rational SquaredDistance(const Side& e, const Side& f) {
  const RationalXy e_along = e.to - e.from;
  const RationalXy f_along = f.to - f.from;
  const Rational turn = Cross(e_along, f_along);
  if (Sign(turn) != 0) {
    const Rational s = Cross(f.from - e.from, f_along) / turn;
    const Rational t = Cross(f.from - e.from, e_along) / turn;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1) return 0;
  }
  Rational least = carom::testing::SquaredDistance(e.from, f.from, f.to);
  for (const Rational& other : {carom::testing::SquaredDistance(e.to, f.from, f.to),
                                carom::testing::SquaredDistance(f.from, e.from, e.to),
                                carom::testing::SquaredDistance(f.to, e.from, e.to)}) {
    if (other < least) least = other;
  }
  return least;
}

// Whether a point is in a parallelogram. One without area is all sides, so it need not say.
bool Holds(const std::array<RationalXy, 4>& corners, const RationalXy& p) {
  int low = 0;
  int high = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const int side = Sign(Cross(corners[(i + 1) % 4] - corners[i], p - corners[i]));
    low = side < low ? side : low;
    high = side > high ? side : high;
  }
  const Rational area = Cross(corners[1] - corners[0], corners[3] - corners[0]);
  return Sign(area) != 0 && (low == 0 || high == 0);
}

// The first double in [0, 1] for which `holds`, which then holds for all above; nothing where there
// is none. Doubles at least 0 are in the order of their bits.
template <class Predicate>
std::optional<double> FirstDouble(double most, const Predicate& holds) {
  if (!holds(most)) return std::nullopt;
  std::uint64_t low = 0;
  auto high = std::bit_cast<std::uint64_t>(most);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (holds(std::bit_cast<double>(middle))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return std::bit_cast<double>(high);
}

bool IsWithinRadii(const Rational& square, double radius, const OracleRoundBody& body) {
  return CompareRoot(square, Exact(radius) + Exact(body.radius)) <= 0;
}

}  // namespace

OracleShape PointShape(Xy p) { return OracleShape({.rings = {{{p}}}}); }

// While the core moves by t * d it sees the axis move backwards: over [from, to] that covers a
// parallelogram. Where no edge of the core comes near it, the core holds all of it or none.
Rational SquaredReach(const OracleShape& core, const RationalXy& d, const Rational& from,
                      const Rational& to, const OracleRoundBody& body) {
  const RationalXy a = Exact(body.a);
  const RationalXy b = Exact(body.b);
  const std::array<RationalXy, 4> corners{a - from * d, b - from * d, b - to * d, a - to * d};
  std::optional<Rational> least;
  for (const OracleShape::Edge& edge : core.edges()) {
    const Side side{Exact(edge.from), Exact(edge.to)};
    if (Holds(corners, side.from)) return 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Rational square = SquaredDistance(side, {corners[i], corners[(i + 1) % 4]});
      if (!least || square < *least) least = square;
    }
  }
  if (core.Locate(corners[0]) == OraclePlace::kInside) return 0;
  return *least;
}

std::optional<double> FirstMeeting(const OracleShape& core, double radius, const RationalXy& d,
                                   const OracleRoundBody& body) {
  return FirstDouble(1, [&](double t) {
    return IsWithinRadii(SquaredReach(core, d, 0, Exact(t), body), radius, body);
  });
}

// The first double at which it is over, and the one before that.
double LastMeeting(const OracleShape& core, double radius, const RationalXy& d,
                   const OracleRoundBody& body) {
  const auto over = FirstDouble(1, [&](double t) {
    return !IsWithinRadii(SquaredReach(core, d, Exact(t), 1, body), radius, body);
  });
  if (!over) return 1;
  const auto bits = std::bit_cast<std::uint64_t>(*over);
  return bits == 0 ? 0 : std::bit_cast<double>(bits - 1);
}

double RootAtLeast(const Rational& square, const Rational& radii) {
  const double most = 0x1p60;  // above every distance of accepted numbers
  return *FirstDouble(most, [&](double d) { return CompareRoot(square, radii + Exact(d)) <= 0; });
}

}  // namespace carom::testing
