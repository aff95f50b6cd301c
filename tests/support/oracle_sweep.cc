// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_sweep.h"

#include <algorithm>
#include <utility>

namespace carom::testing {
namespace {

struct Line {
  RationalXy a;
  RationalXy b;
};

Line LineOf(const OracleShape::Edge& edge) { return {Exact(edge.from), Exact(edge.to)}; }

Line Moved(const Line& line, const RationalXy& by) { return {line.a + by, line.b + by}; }

bool Holds(const Line& line, const RationalXy& point) {
  return Sign(SquaredDistance(point, line.a, line.b)) == 0;
}

bool ShareAPoint(const Line& e, const Line& f) {
  if (std::max(e.a.x, e.b.x) < std::min(f.a.x, f.b.x) ||
      std::max(f.a.x, f.b.x) < std::min(e.a.x, e.b.x) ||
      std::max(e.a.y, e.b.y) < std::min(f.a.y, f.b.y) ||
      std::max(f.a.y, f.b.y) < std::min(e.a.y, e.b.y)) {
    return false;
  }
  const RationalXy u = e.b - e.a;
  const RationalXy v = f.b - f.a;
  const Rational slope = Cross(u, v);
  if (Sign(slope) == 0) {
    return Holds(e, f.a) || Holds(e, f.b) || Holds(f, e.a) || Holds(f, e.b);
  }
  const Rational along_e = Cross(f.a - e.a, v) / slope;
  const Rational along_f = Cross(f.a - e.a, u) / slope;
  return along_e >= 0 && along_e <= 1 && along_f >= 0 && along_f <= 1;
}

// The fractions in (0, 1) at which p + t * d is on the line of the segment and within it, or meets
// its ends.
void AddEvents(const RationalXy& p, const RationalXy& d, const Line& line,
               std::vector<Rational>& events) {
  const auto add = [&](const Rational& t) {
    if (t > 0 && t < 1 && Holds(line, p + t * d)) events.push_back(t);
  };
  const RationalXy s = line.b - line.a;
  const Rational m = Cross(d, s);
  if (Sign(m) != 0) {
    add(Cross(line.a - p, s) / m);
    return;
  }
  const Rational length2 = Dot(d, d);
  for (const RationalXy& q : {line.a, line.b}) add(Dot(q - p, d) / length2);
}

class PolygonSweep {
 public:
  PolygonSweep(const OracleShape& fixed, const OracleShape& moving, Xy d)
      : fixed_(fixed), moving_(moving), d_(Exact(d)) {
    for (const auto& edge : fixed.edges()) fixed_lines_.push_back(LineOf(edge));
    for (const auto& edge : moving.edges()) moving_lines_.push_back(LineOf(edge));
  }

  std::vector<Rational> Events() const {
    std::vector<Rational> events;
    const RationalXy back = Rational(-1) * d_;
    for (const Line& e : fixed_lines_) {
      for (const Line& f : moving_lines_) {
        AddEvents(f.a, d_, e, events);
        AddEvents(f.b, d_, e, events);
        AddEvents(e.a, back, f, events);
        AddEvents(e.b, back, f, events);
      }
    }
    std::sort(events.begin(), events.end());
    events.erase(std::unique(events.begin(), events.end()), events.end());
    return events;
  }

  bool InContact(const Rational& t) const {
    const RationalXy by = t * d_;
    for (const Line& f : moving_lines_) {
      const Line moved = Moved(f, by);
      for (const Line& e : fixed_lines_) {
        if (ShareAPoint(e, moved)) return true;
      }
    }
    for (const Xy start : moving_.ring_starts()) {
      if (fixed_.IsFilled(Exact(start) + by)) return true;
    }
    for (const Xy start : fixed_.ring_starts()) {
      if (moving_.IsFilled(Exact(start) - by)) return true;
    }
    return false;
  }

  std::vector<OracleEdgePair> Pairs(const Rational& t) const {
    std::vector<OracleEdgePair> pairs;
    for (std::size_t i = 0; i < fixed_lines_.size(); ++i) {
      for (std::size_t j = 0; j < moving_lines_.size(); ++j) {
        if (ShareAPoint(fixed_lines_[i], Moved(moving_lines_[j], t * d_))) pairs.push_back({i, j});
      }
    }
    return pairs;
  }

  std::optional<OracleEdge> FirstEdge(const Rational& t) const {
    const RationalXy by = t * d_;
    for (std::size_t i = 0; i < fixed_lines_.size(); ++i) {
      const Line& e = fixed_lines_[i];
      bool touches = moving_.Locate(e.a - by) != OraclePlace::kOutside;
      for (const Line& f : moving_lines_) touches = touches || ShareAPoint(e, Moved(f, by));
      if (touches) return fixed_.edges()[i].name;
    }
    return std::nullopt;
  }

 private:
  const OracleShape& fixed_;
  const OracleShape& moving_;
  RationalXy d_;
  std::vector<Line> fixed_lines_;
  std::vector<Line> moving_lines_;
};

// The interval in which one edge is reached, for an edge that is within [0, 1].
OracleRoundPassage Bracketed(const OracleShape::Edge& edge, const OracleCapsule& mover, Xy d) {
  constexpr int kHalvings = 101;
  OracleRoundPassage found{{0, 0}, {1, 1}};
  if (!IsReached(edge, mover, d, 0, 0)) {
    found.begin.high = 1;
    for (int i = 0; i < kHalvings; ++i) {
      const Rational middle = (found.begin.low + found.begin.high) / 2;
      (IsReached(edge, mover, d, 0, middle) ? found.begin.high : found.begin.low) = middle;
    }
  }
  if (!IsReached(edge, mover, d, 1, 1)) {
    found.end.low = 0;
    for (int i = 0; i < kHalvings; ++i) {
      const Rational middle = (found.end.low + found.end.high) / 2;
      (IsReached(edge, mover, d, middle, 1) ? found.end.low : found.end.high) = middle;
    }
  }
  return found;
}

}  // namespace

Rational SquaredDistance(const RationalXy& point, const RationalXy& a, const RationalXy& b) {
  const RationalXy s = b - a;
  const RationalXy from_a = point - a;
  const Rational along = Dot(from_a, s);
  const Rational length2 = Dot(s, s);
  if (along <= 0) return Dot(from_a, from_a);
  if (along >= length2) return Dot(point - b, point - b);
  const Rational cross = Cross(s, from_a);
  return cross * cross / length2;
}

std::vector<OracleSweepPassage> SweepPassages(const OracleShape& fixed, const OracleShape& moving,
                                              Xy d) {
  const PolygonSweep sweep(fixed, moving, d);
  std::vector<OracleSweepPassage> passages;
  if (d == Xy{}) {
    if (sweep.InContact(0)) passages.push_back({0, 0});
    return passages;
  }
  std::vector<Rational> events = sweep.Events();
  events.insert(events.begin(), 0);
  events.push_back(1);
  bool open = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (sweep.InContact(events[i])) {
      if (!open) passages.push_back({events[i], events[i]});
      passages.back().end = events[i];
      open = true;
    }
    open = open && i + 1 < events.size() && sweep.InContact((events[i] + events[i + 1]) / 2);
  }
  return passages;
}

std::vector<OracleEdgePair> TouchingPairs(const OracleShape& fixed, const OracleShape& moving, Xy d,
                                          const Rational& t) {
  return PolygonSweep(fixed, moving, d).Pairs(t);
}

std::optional<OracleEdge> FirstEdgeTouched(const OracleShape& fixed, const OracleShape& moving,
                                           Xy d, const Rational& t) {
  return PolygonSweep(fixed, moving, d).FirstEdge(t);
}

bool IsNear(const OracleShape& shape, const RationalXy& point, const Rational& tolerance) {
  for (const auto& edge : shape.edges()) {
    const Line line = LineOf(edge);
    if (SquaredDistance(point, line.a, line.b) <= tolerance * tolerance) return true;
  }
  return shape.IsFilled(point);
}

// The axis sweeps a parallelogram. An edge meets it, or is nearest to one of its sides, at an end
// of one of the two.
bool IsReached(const OracleShape::Edge& edge, const OracleCapsule& mover, Xy d,
               const Rational& from, const Rational& to) {
  const Line e = LineOf(edge);
  const RationalXy a = Exact(mover.a);
  const RationalXy b = Exact(mover.b);
  const RationalXy first = from * Exact(d);
  const RationalXy last = to * Exact(d);
  const RationalXy corners[4] = {a + first, b + first, b + last, a + last};
  const Rational radius2 = Exact(mover.radius) * Exact(mover.radius);
  bool left = false;
  bool right = false;
  for (int i = 0; i < 4; ++i) {
    const Line side{corners[i], corners[(i + 1) % 4]};
    if (ShareAPoint(e, side) || SquaredDistance(e.a, side.a, side.b) <= radius2 ||
        SquaredDistance(e.b, side.a, side.b) <= radius2 ||
        SquaredDistance(side.a, e.a, e.b) <= radius2) {
      return true;
    }
    const int sign = Sign(Cross(side.b - side.a, e.a - side.a));
    left = left || sign > 0;
    right = right || sign < 0;
  }
  const bool flat = Sign(Cross(corners[1] - corners[0], corners[3] - corners[0])) == 0;
  return !flat && !(left && right);
}

std::optional<OracleEdge> FirstEdgeReached(const OracleShape& fixed, const OracleCapsule& mover,
                                           Xy d, const Rational& from, const Rational& to) {
  for (const auto& edge : fixed.edges()) {
    if (IsReached(edge, mover, d, from, to)) return edge.name;
  }
  return std::nullopt;
}

bool IsInContact(const OracleShape& fixed, const OracleCapsule& mover, Xy d, const Rational& t) {
  return FirstEdgeReached(fixed, mover, d, t, t) ||
         fixed.Locate(Exact(mover.a) + t * Exact(d)) != OraclePlace::kOutside;
}

std::optional<std::vector<OracleRoundPassage>> RoundPassages(const OracleShape& fixed,
                                                             const OracleCapsule& mover, Xy d) {
  std::vector<OracleRoundPassage> contacts;
  for (const auto& edge : fixed.edges()) {
    if (IsReached(edge, mover, d, 0, 1)) contacts.push_back(Bracketed(edge, mover, d));
  }
  std::sort(contacts.begin(), contacts.end(),
            [](const auto& a, const auto& b) { return a.begin.low < b.begin.low; });
  const auto filled = [&](const Rational& from, const Rational& to) {
    return fixed.IsFilled(Exact(mover.a) + (from + to) / 2 * Exact(d));
  };
  std::vector<OracleRoundPassage> passages;
  if (IsInContact(fixed, mover, d, 0)) passages.push_back({{0, 0}, {0, 0}});
  for (const OracleRoundPassage& contact : contacts) {
    if (!passages.empty()) {
      OracleBracket& end = passages.back().end;
      const bool is_gap = end.high < contact.begin.low;
      if (!is_gap && contact.begin.high > end.low) return std::nullopt;
      if (!is_gap || filled(end.high, contact.begin.low)) {
        if (contact.end.high > end.high) end = contact.end;
        continue;
      }
    }
    passages.push_back(contact);
  }
  if (!passages.empty() && passages.back().end.high < 1 && filled(passages.back().end.high, 1)) {
    passages.back().end = {1, 1};
  }
  return passages;
}

}  // namespace carom::testing
