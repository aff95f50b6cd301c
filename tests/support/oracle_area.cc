// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_area.h"

#include <algorithm>
#include <boost/multiprecision/gmp.hpp>
#include <cstddef>
#include <tuple>
#include <utility>

namespace carom::testing {
namespace {

// Decimal digits: more than 2^-300.
using Real = boost::multiprecision::number<boost::multiprecision::gmp_float<100>,
                                           boost::multiprecision::et_off>;
using Integer =
    boost::multiprecision::number<boost::multiprecision::gmp_int, boost::multiprecision::et_off>;

// Returns the root of `square` >= 0, at most 2^-256 of it too small; exact if it is a rational
// number.
Rational RootOf(const Rational& square) {
  if (Sign(square) == 0) return 0;
  const Integer n = boost::multiprecision::numerator(square);
  const Integer d = boost::multiprecision::denominator(square);
  const Integer scaled = (n * d) << 1024;
  const Integer root = boost::multiprecision::sqrt(scaled);
  return Rational(root, d << 512);
}

// --- Directions

// 0 for angles in (-pi, 0), 1 for 0, 2 for (0, pi), 3 for pi.
int HalfOf(const RationalXy& u) {
  const int side = Sign(u.y);
  if (side != 0) return side < 0 ? 0 : 2;
  return Sign(u.x) > 0 ? 1 : 3;
}

// Compares the angles in (-pi, pi].
bool HasLesserAngle(const RationalXy& u, const RationalXy& v) {
  if (HalfOf(u) != HalfOf(v)) return HalfOf(u) < HalfOf(v);
  return Sign(Cross(u, v)) > 0;
}

bool HaveOneAngle(const RationalXy& u, const RationalXy& v) {
  return Sign(Cross(u, v)) == 0 && Sign(Dot(u, v)) > 0;
}

// Shortens a direction to unit length, about, so that sums of two are between them.
RationalXy Shortened(const RationalXy& u) { return (Rational(1) / (abs(u.x) + abs(u.y))) * u; }

// --- What blocks the sight

struct Wall {
  const OracleShape* shape;
  bool is_body;
};

// The points at which the lines of two edges cross, if both edges contain them. Edges on one line
// have no such point but their ends.
std::optional<RationalXy> CrossingOf(const OracleShape::Edge& a, const OracleShape::Edge& b) {
  const RationalXy from = Exact(a.from);
  const RationalXy along = Exact(a.to) - from;
  const RationalXy other = Exact(b.to) - Exact(b.from);
  const Rational turn = Cross(along, other);
  if (Sign(turn) == 0) return std::nullopt;
  const RationalXy between = Exact(b.from) - from;
  const Rational on_a = Cross(between, other) / turn;
  const Rational on_b = Cross(between, along) / turn;
  if (Sign(on_a) < 0 || on_a > 1 || Sign(on_b) < 0 || on_b > 1) return std::nullopt;
  return from + on_a * along;
}

struct Struck {
  bool is_body;
  const OracleShape::Edge* edge;

  friend bool operator==(const Struck&, const Struck&) = default;
};

// Traces the boundary of one area. Points are relative to the eye.
class Tracer {
 public:
  Tracer(const std::vector<Wall>& walls, const OracleEye& eye)
      : walls_(walls),
        at_(Exact(Flushed(eye.at))),
        range_(Exact(Flushed(eye.range))),
        square_(range_ * range_),
        inside_(eye.inside) {}

  // A part of the boundary in one gap: on the edge, or on the circle if there is none.
  struct Span {
    std::optional<Struck> struck;
    RationalXy from;
    RationalXy to;
    Rational from_square;  // exact squared lengths of `from` and `to`
    Rational to_square;
  };

  // Adds the spans between two directions less than pi apart, between which no edge ends or
  // crosses another one.
  void AddGap(const RationalXy& u, const RationalXy& v) {
    const std::optional<Struck> struck = FirstAlong(Shortened(u) + Shortened(v));
    if (!struck) return AddArc(OnCircle(u), OnCircle(v));
    AddEdge(*struck, OnEdge(*struck->edge, u), OnEdge(*struck->edge, v), {u, v});
  }

  const std::vector<Span>& spans() const { return spans_; }

  // The angle between two directions less than pi apart, times the square of the range, over 2.
  Rational SectorArea(const RationalXy& u, const RationalXy& v) const {
    const Real angle = atan2(Real(Cross(u, v)), Real(Dot(u, v)));
    return Rational(angle) * square_ / 2;
  }

  Rational Area() const {
    Rational sum = 0;
    for (const Span& span : spans_) {
      sum += span.struck ? Cross(span.from, span.to) / 2 : SectorArea(span.from, span.to);
    }
    return sum;
  }

  RationalXy OnCircle(const RationalXy& u) const { return RootOf(square_ / Dot(u, u)) * u; }

 private:
  std::optional<Struck> FirstAlong(const RationalXy& u) const {
    const OracleLine ray{at_, u, Rational(0), std::nullopt};
    std::optional<Struck> first;
    Rational least;
    const auto key = [](const Struck& s) { return std::make_tuple(s.is_body, s.edge->name); };
    for (const Wall& wall : walls_) {
      for (const OraclePassage& passage : wall.shape->Passages(ray)) {
        if (passage.starts_inside && inside_ == OracleInside::kIgnore) continue;
        const OracleEnd& entry = passage.entry;
        const Struck struck{wall.is_body, EdgeNamed(*wall.shape, *entry.edge)};
        if (!first || entry.fraction < least ||
            (entry.fraction == least && key(struck) < key(*first))) {
          first = struck;
          least = entry.fraction;
        }
        break;
      }
    }
    return first;
  }

  static const OracleShape::Edge* EdgeNamed(const OracleShape& shape, const OracleEdge& name) {
    for (const OracleShape::Edge& edge : shape.edges()) {
      if (edge.name == name) return &edge;
    }
    return nullptr;
  }

  RationalXy OnEdge(const OracleShape::Edge& edge, const RationalXy& u) const {
    const RationalXy from = Exact(edge.from) - at_;
    const RationalXy along = Exact(edge.to) - Exact(edge.from);
    return (Cross(from, along) / Cross(u, along)) * u;
  }

  void Add(const std::optional<Struck>& struck, const RationalXy& from, const RationalXy& to,
           const std::pair<Rational, Rational>& squares) {
    spans_.push_back({struck, from, to, squares.first, squares.second});
  }
  void AddArc(const RationalXy& from, const RationalXy& to) {
    Add(std::nullopt, from, to, {square_, square_});
  }

  // Cuts the edge from p, in the direction ends.first, to q, in the direction ends.second, by the
  // circle: |p + f (q - p)|^2 - R^2 = A f^2 + 2 B f + C.
  void AddEdge(const Struck& struck, const RationalXy& p, const RationalXy& q,
               const std::pair<RationalXy, RationalXy>& ends) {
    const RationalXy d = q - p;
    const Rational a = Dot(d, d), b = Dot(p, d), c = Dot(p, p) - square_;
    const Rational at_end = Dot(q, q) - square_;
    const Rational discriminant = b * b - a * c;
    const bool passes_within = Sign(b) < 0 && -b < a && Sign(discriminant) > 0;
    if (Sign(c) >= 0 && Sign(at_end) >= 0 && !passes_within) {
      return AddArc(OnCircle(ends.first), OnCircle(ends.second));
    }
    RationalXy from = p, to = q;
    Rational from_square = Dot(p, p), to_square = Dot(q, q);
    if (Sign(c) > 0) {
      from = p + ((-b - RootOf(discriminant)) / a) * d;
      from_square = square_;
      AddArc(OnCircle(ends.first), from);
    }
    if (Sign(at_end) > 0) {
      to = p + ((-b + RootOf(discriminant)) / a) * d;
      to_square = square_;
    }
    Add(struck, from, to, {from_square, to_square});
    if (Sign(at_end) > 0) AddArc(to, OnCircle(ends.second));
  }

  const std::vector<Wall>& walls_;
  const RationalXy at_;
  const Rational range_;
  const Rational square_;
  const OracleInside inside_;
  std::vector<Span> spans_;
};

// Returns the directions that bound the gaps, ascending by angle, each once.
std::vector<RationalXy> CutsAround(const RationalXy& at, const std::vector<Wall>& walls,
                                   const OracleEye& eye) {
  std::vector<const OracleShape::Edge*> edges;
  for (const Wall& wall : walls) {
    for (const OracleShape::Edge& edge : wall.shape->edges()) edges.push_back(&edge);
  }
  std::vector<RationalXy> cuts{{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  const auto add = [&](const RationalXy& point) {
    if (!(point == at)) cuts.push_back(point - at);
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    add(Exact(edges[i]->from));
    add(Exact(edges[i]->to));
    for (std::size_t k = 0; k < i; ++k) {
      if (!BoxesMeet(edges[i]->box, edges[k]->box)) continue;
      if (const std::optional<RationalXy> point = CrossingOf(*edges[i], *edges[k])) add(*point);
    }
  }
  if (eye.sector) {
    cuts.push_back(Exact(eye.sector->from));
    cuts.push_back(Exact(eye.sector->to));
  }
  std::sort(cuts.begin(), cuts.end(), HasLesserAngle);
  cuts.erase(std::unique(cuts.begin(), cuts.end(), HaveOneAngle), cuts.end());
  return cuts;
}

// Orders the cuts as the sector meets them: from its first side to its second one.
std::vector<RationalXy> CutsOfSector(const std::vector<RationalXy>& cuts,
                                     const OracleSector& sector) {
  const auto found = [&](Xy side) {
    return std::find_if(cuts.begin(), cuts.end(),
                        [&](const RationalXy& u) { return HaveOneAngle(u, Exact(side)); });
  };
  std::vector<RationalXy> ordered;
  auto next = found(sector.from);
  const auto last = found(sector.to);
  while (next != last) {
    ordered.push_back(*next);
    if (++next == cuts.end()) next = cuts.begin();
  }
  ordered.push_back(*last);
  return ordered;
}

// Makes pieces of the spans of a tracer.
class Pieces {
 public:
  Pieces(const RationalXy& at, const std::vector<Wall>& walls, std::vector<OracleAreaPiece>& out)
      : at_(at), walls_(walls), out_(out) {}

  void Sight(const RationalXy& start) { Start(OracleAreaKind::kSight, std::nullopt, start); }
  void Begin(const Tracer::Span& span) {
    Start(span.struck ? OracleAreaKind::kEdge : OracleAreaKind::kArc, span.struck, span.from);
  }
  // Adds what starts between two spans: a step, if they do not meet, and the second, unless it
  // continues the first.
  void Join(const Tracer::Span& before, const Tracer::Span& after) {
    const bool meet = before.to_square == after.from_square;
    if (!meet) Sight(before.to);
    if (!meet || before.struck != after.struck) Begin(after);
  }

 private:
  void Start(OracleAreaKind kind, const std::optional<Struck>& struck, const RationalXy& start) {
    OracleAreaPiece piece;
    piece.kind = kind;
    if (struck) {
      piece.is_body = struck->is_body;
      piece.edge = struck->edge->name;
    }
    piece.start = at_ + start;
    piece.is_vertex = IsVertex(piece.start);
    out_.push_back(piece);
  }
  bool IsVertex(const RationalXy& point) const {
    return std::any_of(walls_.begin(), walls_.end(), [&](const Wall& wall) {
      return std::any_of(
          wall.shape->edges().begin(), wall.shape->edges().end(),
          [&](const auto& e) { return Exact(e.from) == point || Exact(e.to) == point; });
    });
  }

  const RationalXy at_;
  const std::vector<Wall>& walls_;
  std::vector<OracleAreaPiece>& out_;
};

// The starts of a whole turn, by angle in (-pi, pi]: the direction -x, with which the first span
// starts, comes last.
void AddTurn(const Tracer& tracer, Pieces& pieces, const OracleArea& out) {
  const std::vector<Tracer::Span>& spans = tracer.spans();
  for (std::size_t i = 1; i <= spans.size(); ++i) {
    pieces.Join(spans[i - 1], spans[i % spans.size()]);
  }
  if (out.pieces.empty()) pieces.Begin(spans[0]);
}

}  // namespace

OracleArea SeenArea(const std::vector<OracleShape>& scene, const std::vector<OracleShape>& bodies,
                    const OracleEye& eye) {
  std::vector<Wall> walls;
  for (const OracleShape& shape : scene) walls.push_back({&shape, false});
  for (const OracleShape& shape : bodies) walls.push_back({&shape, true});
  OracleArea out;
  const Xy at = Flushed(eye.at);
  for (const Wall& wall : walls) {
    out.starts_inside |= wall.shape->Locate(at) != OraclePlace::kOutside;
  }
  if (out.starts_inside && eye.inside == OracleInside::kReportStart) return out;

  const RationalXy exact_at = Exact(at);
  std::vector<RationalXy> cuts = CutsAround(exact_at, walls, eye);
  if (eye.sector) {
    cuts = CutsOfSector(cuts, *eye.sector);
    if (cuts.size() < 2) return out;
  } else {
    cuts.insert(cuts.begin(), cuts.back());  // -x, of the angle pi
  }
  Tracer tracer(walls, eye);
  for (std::size_t i = 1; i < cuts.size(); ++i) tracer.AddGap(cuts[i - 1], cuts[i]);
  out.area = tracer.Area();

  Pieces pieces(exact_at, walls, out.pieces);
  if (!eye.sector) {
    AddTurn(tracer, pieces, out);
    return out;
  }
  const std::vector<Tracer::Span>& spans = tracer.spans();
  pieces.Sight({0, 0});
  pieces.Begin(spans[0]);
  for (std::size_t i = 1; i < spans.size(); ++i) pieces.Join(spans[i - 1], spans[i]);
  pieces.Sight(spans.back().to);
  return out;
}

}  // namespace carom::testing
