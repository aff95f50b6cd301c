// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Casts of the oracle. Method: every edge that the line touches gives the closed interval of
// fractions at which it does; the ends of these intervals cut the line into points and open gaps. A
// point is in the polygon iff it is touched or filled; no edge is met inside a gap except one that
// runs all along it, so a gap is in the polygon iff such an edge exists or its midpoint is filled.
// Passages are the maximal runs. Nothing is perturbed and no crossing is counted along the line.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/oracle.h"

namespace carom::testing {
namespace {

// The fractions [low, high] at which the line is on an edge.
struct Touch {
  Rational low;
  Rational high;
  const OracleShape::Edge* edge;
  bool parallel;
};

RationalXy PointAt(const OracleLine& line, const Rational& fraction) {
  return line.origin + fraction * line.direction;
}

// Returns the touch of `line` with an edge parallel to it; zero-length edges and zero directions
// are parallel to all.
std::optional<Touch> ParallelTouch(const OracleLine& line, const OracleShape::Edge& edge) {
  const RationalXy from = Exact(edge.from) - line.origin;
  const RationalXy to = Exact(edge.to) - line.origin;
  if (IsZero(line.direction)) {
    const bool on_edge = Sign(Cross(from, to)) == 0 && Sign(Dot(from, to)) <= 0;
    if (!on_edge || !line.t_max) return std::nullopt;
    return Touch{line.t_min, *line.t_max, &edge, true};
  }
  if (Sign(Cross(from, line.direction)) != 0) return std::nullopt;
  const Rational length_squared = Dot(line.direction, line.direction);
  const Rational t_from = Dot(from, line.direction) / length_squared;
  const Rational t_to = Dot(to, line.direction) / length_squared;
  Rational low = std::max(std::min(t_from, t_to), line.t_min);
  Rational high = std::max(t_from, t_to);
  if (line.t_max) high = std::min(high, *line.t_max);
  if (low > high) return std::nullopt;
  return Touch{low, high, &edge, true};
}

std::optional<Touch> TouchOf(const OracleLine& line, const OracleShape::Edge& edge) {
  const RationalXy from = Exact(edge.from) - line.origin;
  const RationalXy along = Exact(edge.to) - Exact(edge.from);
  const Rational denominator = Cross(line.direction, along);
  if (Sign(denominator) == 0) return ParallelTouch(line, edge);
  const Rational on_edge = Cross(from, line.direction) / denominator;
  if (Sign(on_edge) < 0 || on_edge > 1) return std::nullopt;
  const Rational fraction = Cross(from, along) / denominator;
  if (fraction < line.t_min || (line.t_max && fraction > *line.t_max)) return std::nullopt;
  return Touch{fraction, fraction, &edge, false};
}

// Returns a box of doubles around the line.
OracleBox BoxOf(const OracleLine& line) {
  if (!line.t_max) return {{-kInf, -kInf}, {kInf, kInf}};
  const RationalXy a = PointAt(line, line.t_min);
  const RationalXy b = PointAt(line, *line.t_max);
  return {{AtMost(std::min(a.x, b.x)), AtMost(std::min(a.y, b.y))},
          {AtLeast(std::max(a.x, b.x)), AtLeast(std::max(a.y, b.y))}};
}

std::vector<Touch> TouchesOf(const OracleLine& line, const OracleShape& shape) {
  std::vector<Touch> touches;
  const OracleBox box = BoxOf(line);
  if (!BoxesMeet(box, shape.box())) return touches;
  for (const OracleShape::Edge& edge : shape.edges()) {
    if (!BoxesMeet(box, edge.box)) continue;
    if (std::optional<Touch> touch = TouchOf(line, edge)) touches.push_back(*touch);
  }
  return touches;
}

// Returns all ends of touches and of the line, ascending, each once. An unbounded line is cut one
// unit after its last touch: a polygon is bounded, so nothing lies beyond.
std::vector<Rational> CutsOf(const OracleLine& line, const std::vector<Touch>& touches) {
  std::vector<Rational> cuts{line.t_min};
  for (const Touch& touch : touches) {
    cuts.push_back(touch.low);
    cuts.push_back(touch.high);
  }
  cuts.push_back(line.t_max ? *line.t_max : *std::max_element(cuts.begin(), cuts.end()) + 1);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

// Returns whether some touch holds all fractions from `low` to `high`.
bool IsTouched(const std::vector<Touch>& touches, const Rational& low, const Rational& high) {
  return std::any_of(touches.begin(), touches.end(),
                     [&](const Touch& touch) { return touch.low <= low && high <= touch.high; });
}

// Returns the touch whose edge is reported at `fraction` (contract 3.5): the least (ring, edge)
// that is not parallel to the line, else the least of all; null where no edge is touched.
const Touch* ReportedTouch(const std::vector<Touch>& touches, const Rational& fraction) {
  const Touch* best = nullptr;
  for (const Touch& touch : touches) {
    if (fraction < touch.low || fraction > touch.high) continue;
    if (best == nullptr || (!touch.parallel && best->parallel) ||
        (touch.parallel == best->parallel && touch.edge->name < best->edge->name)) {
      best = &touch;
    }
  }
  return best;
}

// Returns the perpendicular of the edge whose product with the direction has the sign of `side`.
RationalXy NormalOf(const OracleShape::Edge& edge, const RationalXy& direction, int side) {
  const RationalXy along = Exact(edge.to) - Exact(edge.from);
  const RationalXy left{-along.y, along.x};
  return Sign(Dot(left, direction)) == side ? left : RationalXy{along.y, -along.x};
}

// Describes the end of a passage at `fraction`. `side` is −1 for an entry, +1 for an exit, and 0
// where the normal is zero because the passage holds that end of the line.
OracleEnd EndAt(const OracleLine& line, const std::vector<Touch>& touches, const Rational& fraction,
                int side) {
  OracleEnd end;
  end.fraction = fraction;
  const Touch* touch = ReportedTouch(touches, fraction);
  if (touch == nullptr) return end;
  end.edge = touch->edge->name;
  const RationalXy point = PointAt(line, fraction);
  if (touch->parallel) {
    end.feature = OracleFeature::kCollinear;
  } else if (point == Exact(touch->edge->from) || point == Exact(touch->edge->to)) {
    end.feature = OracleFeature::kVertex;
  } else {
    end.feature = OracleFeature::kEdge;
  }
  if (!touch->parallel && side != 0) end.normal = NormalOf(*touch->edge, line.direction, side);
  return end;
}

OraclePassage PassageBetween(const OracleLine& line, const std::vector<Touch>& touches,
                             const Rational& low, const Rational& high) {
  OraclePassage passage;
  passage.starts_inside = low == line.t_min;
  passage.ends_inside = line.t_max && high == *line.t_max;
  passage.entry = EndAt(line, touches, low, passage.starts_inside ? 0 : -1);
  passage.exit = EndAt(line, touches, high, passage.ends_inside ? 0 : 1);
  return passage;
}

OracleHit HitOf(std::uint64_t polygon, const OraclePassage& passage, OracleInside inside) {
  const bool from_exit = passage.starts_inside && inside == OracleInside::kExit;
  return {polygon, from_exit ? passage.exit : passage.entry, passage};
}

bool ComesBefore(const OracleHit& a, const OracleHit& b) {
  if (a.at.fraction != b.at.fraction) return a.at.fraction < b.at.fraction;
  if (a.polygon != b.polygon) return a.polygon < b.polygon;
  return a.at.edge < b.at.edge;
}

}  // namespace

OracleLine Segment(Xy a, Xy b) {
  const RationalXy from = Exact(Flushed(a));
  const RationalXy direction = Exact(Flushed(b)) - from;
  return {from, direction, Rational(0), Rational(IsZero(direction) ? 0 : 1)};
}

OracleLine Ray(Xy origin, Xy direction, double t_min, double t_max) {
  OracleLine line{Exact(Flushed(origin)), Exact(Flushed(direction)), Exact(t_min), std::nullopt};
  if (std::isfinite(t_max)) line.t_max = Exact(t_max);
  return line;
}

std::vector<OraclePassage> OracleShape::Passages(const OracleLine& line) const {
  const std::vector<Touch> touches = TouchesOf(line, *this);
  const std::vector<Rational> cuts = CutsOf(line, touches);
  const auto holds = [&](const Rational& low, const Rational& high) {
    return IsTouched(touches, low, high) || IsFilled(PointAt(line, (low + high) / 2));
  };
  std::vector<OraclePassage> passages;
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (!holds(cuts[i], cuts[i])) continue;
    std::size_t last = i;
    while (last + 1 < cuts.size() && holds(cuts[last], cuts[last + 1])) ++last;
    passages.push_back(PassageBetween(line, touches, cuts[i], cuts[last]));
    i = last;
  }
  return passages;
}

OracleCastAnswer Oracle::Cast(const OracleLine& line, const OracleCastOptions& options) const {
  OracleCastAnswer answer;
  for (const OracleShape& shape : shapes_) {
    if ((shape.category() & options.mask) == 0) continue;
    for (const OraclePassage& passage : shape.Passages(line)) {
      if (passage.starts_inside && options.inside == OracleInside::kIgnore) continue;
      answer.hits.push_back(HitOf(shape.id(), passage, options.inside));
      if (options.mode != OracleMode::kAllPassages) break;
    }
  }
  std::sort(answer.hits.begin(), answer.hits.end(), ComesBefore);
  const std::size_t wanted = options.mode == OracleMode::kClosest ? 1 : options.max_hits;
  if (answer.hits.size() > wanted) {
    answer.truncated = options.mode != OracleMode::kClosest;
    answer.hits.resize(wanted);
  }
  return answer;
}

// Counts by definition: cuts the fractions before the end at all ends of soft passages, and adds up
// the pieces whose middle is in one.
OracleSoftAnswer Oracle::SoftCast(const OracleLine& line, const OracleCastOptions& options,
                                  std::uint64_t soft_mask, std::size_t soft_count) const {
  OracleSoftAnswer answer;
  const auto is_soft = [&](std::uint64_t id) {
    const auto shape = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const OracleShape& each) { return each.id() == id; });
    return (shape->category() & soft_mask) != 0;
  };
  const OracleCastAnswer events =
      Cast(line, {OracleMode::kAllPassages, options.inside, SIZE_MAX, options.mask});
  for (const OracleHit& event : events.hits) {
    if (!is_soft(event.polygon) || answer.passed == soft_count) {
      answer.hit = event;
      break;
    }
    ++answer.passed;
  }
  std::vector<OraclePassage> soft;
  for (const OracleShape& shape : shapes_) {
    if ((shape.category() & options.mask) == 0 || (shape.category() & soft_mask) == 0) continue;
    for (const OraclePassage& passage : shape.Passages(line)) soft.push_back(passage);
  }
  std::vector<Rational> cuts{line.t_min};
  for (const OraclePassage& passage : soft) {
    for (const Rational& end : {passage.entry.fraction, passage.exit.fraction}) {
      cuts.push_back(answer.hit ? std::min(end, answer.hit->at.fraction) : end);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    const Rational middle = (cuts[i - 1] + cuts[i]) / 2;
    const bool is_in = std::any_of(soft.begin(), soft.end(), [&](const OraclePassage& passage) {
      return passage.entry.fraction <= middle && middle <= passage.exit.fraction;
    });
    if (!is_in) continue;
    answer.soft_sum = answer.soft_sum + (cuts[i] - cuts[i - 1]);
    answer.soft_end = cuts[i];
  }
  return answer;
}

bool Oracle::Hits(const OracleLine& line, OracleInside inside, std::uint64_t mask) const {
  return !Cast(line, {OracleMode::kClosest, inside, 1, mask}).hits.empty();
}

}  // namespace carom::testing
