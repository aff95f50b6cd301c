// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_blocking.h"

#include <algorithm>
#include <vector>

namespace carom::testing {
namespace {

// Where the segments a->b and c->d cross or touch, as fractions of the first: the crossing of their
// lines, or the ends of the second on the first where they are parallel.
void AddCuts(const RationalXy& a, const RationalXy& b, const RationalXy& c, const RationalXy& d,
             std::vector<Rational>& cuts) {
  const RationalXy u = b - a;
  const RationalXy v = d - c;
  const Rational slope = Cross(u, v);
  if (Sign(slope) != 0) {
    cuts.push_back(Cross(c - a, v) / slope);
    return;
  }
  const Rational length2 = Dot(u, u);
  if (Sign(length2) == 0) return;
  cuts.push_back(Dot(c - a, u) / length2);
  cuts.push_back(Dot(d - a, u) / length2);
}

// A point within the ring: of some triangle of its vertices the middle.
std::optional<RationalXy> PointWithin(const OracleShape& ring) {
  const auto& edges = ring.edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = i + 1; j < edges.size(); ++j) {
      for (std::size_t k = j + 1; k < edges.size(); ++k) {
        const RationalXy sum = Exact(edges[i].from) + Exact(edges[j].from) + Exact(edges[k].from);
        const RationalXy middle = Rational(1) / Rational(3) * sum;
        if (ring.Locate(middle) == OraclePlace::kInside) return middle;
      }
    }
  }
  return std::nullopt;
}

void AddEvents(const RationalXy& p, const RationalXy& d, const RationalXy& a, const RationalXy& b,
               std::vector<Rational>& events) {
  const RationalXy s = b - a;
  const Rational m = Cross(d, s);
  if (Sign(m) != 0) {
    events.push_back(Cross(a - p, s) / m);
    return;
  }
  const Rational length2 = Dot(d, d);
  for (const RationalXy& q : {a, b}) events.push_back(Dot(q - p, d) / length2);
}

}  // namespace

bool OverlapsInMoreThanTouch(const OracleShape& fixed, const OracleShape& moving, Xy d,
                             const Rational& t) {
  const RationalXy by = t * Exact(d);
  for (const auto& e : fixed.edges()) {
    const RationalXy a = Exact(e.from);
    const RationalXy b = Exact(e.to);
    std::vector<Rational> cuts = {0, 1};
    for (const auto& f : moving.edges()) {
      AddCuts(a, b, Exact(f.from) + by, Exact(f.to) + by, cuts);
    }
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      if (cuts[i] < 0 || cuts[i] > 1) continue;
      const auto is_inside = [&](const Rational& along) {
        return moving.Locate(a + along * (b - a) - by) == OraclePlace::kInside;
      };
      if (is_inside(cuts[i])) return true;
      if (i + 1 < cuts.size() && cuts[i + 1] <= 1 && is_inside((cuts[i] + cuts[i + 1]) / 2)) {
        return true;
      }
    }
  }
  const std::optional<RationalXy> within = PointWithin(moving);
  return within && fixed.Locate(*within + by) == OraclePlace::kInside;
}

OracleBlocked BlockedBy(const OracleShape& fixed, const OracleShape& moving, Xy d) {
  OracleBlocked blocked;
  const auto overlaps = [&](const Rational& t) {
    return OverlapsInMoreThanTouch(fixed, moving, d, t);
  };
  blocked.starts_inside = overlaps(0);
  if (blocked.starts_inside) blocked.begin = Rational(0);
  if (d == Xy{}) return blocked;
  std::vector<Rational> events = {0, 1};
  const RationalXy motion = Exact(d);
  const RationalXy back = Rational(-1) * motion;
  for (const auto& e : fixed.edges()) {
    for (const auto& f : moving.edges()) {
      AddEvents(Exact(f.from), motion, Exact(e.from), Exact(e.to), events);
      AddEvents(Exact(e.from), back, Exact(f.from), Exact(f.to), events);
      AddEvents(Exact(e.to), back, Exact(f.from), Exact(f.to), events);
    }
  }
  std::sort(events.begin(), events.end());
  bool has_left = !blocked.starts_inside;
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const Rational& t = events[i];
    if (t < 0 || t >= 1 || events[i + 1] == t) continue;
    if (!has_left && t > 0 && !overlaps(t)) has_left = true;
    if (!overlaps((t + events[i + 1]) / 2)) {
      has_left = true;
      continue;
    }
    if (!has_left) continue;
    if (blocked.starts_inside) {
      blocked.begin_after_leaving = t;
    } else {
      blocked.begin = t;
    }
    return blocked;
  }
  return blocked;
}

}  // namespace carom::testing
