// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/rows.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "carom/predicates.h"
#include "numeric/turn.h"

namespace carom::internal {
namespace {

// Returns the difference of two keys counter-clockwise, in [0, 4); 0 for equal keys.
double TurnOf(double from, double to) { return to >= from ? to - from : to - from + 4; }

EyeDirection WithKey(EyeDirection direction, double key) {
  direction.key = key;
  return direction;
}

}  // namespace

void AreaSum::Start(double range) {
  *this = {};
  range_ = range;
}

void AreaSum::AddTriangle(const PairVector& a, const PairVector& b) {
  twice_ = Add(twice_, CrossOf(a, b));
}

void AreaSum::AddSector(const PairVector& a, const PairVector& b, double turn) {
  const TwoDoubles square = TwoProduct(range_, range_);
  const TwoDoubles c = Divide(DotOf(a, b), square);
  const TwoDoubles s = Divide(CrossOf(a, b), square);
  const TwoDoubles c_sum = Subtract(Multiply(c_, c), Multiply(s_, s));
  s_ = Add(Multiply(c_, s), Multiply(s_, c));
  c_ = c_sum;
  turn_ += turn;
}

// The vectors are known within 2^-60 of their lengths, almost all within 2^-70, so triangles and
// the turned vector err by less than 2^-58 each, times R^2. `AngleOf` errs by 2^-50, and the
// difference to 2 pi, the constant and the product with R^2 round by 2^-51 each at most. Half of
// the sum of these is below 2^-50 R^2, and the result, below 4 R^2, is rounded by 2^-52 R^2.
double AreaSum::Sum() const {
  constexpr double kTwoPi = 0x1.921fb54442d18p+2;
  double angle = s_.high >= 0 ? AngleOf(c_.high, s_.high) : kTwoPi - AngleOf(c_.high, -s_.high);
  if (turn_ >= 3 && angle < 1) angle = kTwoPi;  // the whole circle, but for less than an error
  if (turn_ <= 1 && angle > 5) angle = 0;
  const TwoDoubles arcs = Multiply(TwoProduct(range_, range_), {angle, 0});
  const TwoDoubles twice = Add(twice_, arcs);
  return std::max(twice.high / 2, 0.0);
}

// The changes of owners, in the order of their angles in (-pi, pi]; with a sector, those from its
// first side on.
void AreaRows::ListChanges(const Envelope& envelope) {
  changes_.clear();
  cut_ = 0;
  const std::vector<Span>& spans = envelope.spans();
  const size_t count = spans.size() - 1;
  for (size_t i = 1; i < count; ++i) {
    changes_.push_back({spans[i].begin, spans[i - 1].owner, spans[i].owner, false});
  }
  if (spans[count - 1].owner != spans[0].owner) {
    changes_.push_back({kCutEnd, spans[count - 1].owner, spans[0].owner, true});
  }
  if (!sector_.is_part) return;
  const auto first = std::find_if(changes_.begin(), changes_.end(),
                                  [](const Change& c) { return c.before == kClosed; });
  cut_ = static_cast<size_t>(changes_.end() - first);
  std::rotate(changes_.begin(), first, changes_.end());
}

// Several directions of different kinds may be equal. Returns the one that depends on the two
// owners alone, not on how the envelope was found. If there is none, as where an eye in a polygon
// sees the inner part of an edge from another edge's end on, sets `is_any`.
EyeDirection AreaRows::Canonical(const Eye& eye, const Change& change, bool& is_any) const {
  const auto& [at, before, after, is_at_cut] = change;
  if (before == kClosed) return sector_.has_ranges ? at : sector_.from;
  if (after == kClosed) return sector_.has_ranges ? at : sector_.to;
  const std::vector<EyeEdge>& edges = eye.edges();
  const EyeDirection& as_begin = is_at_cut ? kCutBegin : at;
  if (after < kClosed && eye.Compare(edges[after].begin, as_begin) == 0) return edges[after].begin;
  if (before < kClosed && eye.Compare(edges[before].end, at) == 0) return edges[before].end;
  if (before < kClosed && after < kClosed) {
    const Nearer nearer = eye.NearerOf(before, after);
    if (nearer != Nearer::kFirst && nearer != Nearer::kSecond) {
      const EyeDirection crossing = eye.Crossing(before, after);
      if (eye.Compare(crossing, at) == 0) return crossing;
    }
  }
  is_any = true;
  return at;
}

void AreaRows::AddRow(AreaPieceKind kind, uint32_t edge, double key, const PlacedPoint& start) {
  rows_.push_back({kind, edge, start.is_exact, key, start.rounded, start.from_eye});
}

// Adds the pieces that begin where one owner follows another one: the piece of the next owner, and
// before it a piece along the line of sight if the two owners do not meet.
AreaRows::Ends AreaRows::AddRows(const Eye& eye, const Change& change) {
  bool is_any = false;
  const EyeDirection at = Canonical(eye, change, is_any);
  const auto place_of = [&](uint32_t owner, double key_at_cut, uint8_t end) {
    Place place = PlaceOf(eye, owner, change.is_at_cut ? WithKey(at, key_at_cut) : at, end);
    place.is_any = is_any;
    if (is_any && place.kind == PlaceKind::kVertex) place.kind = PlaceKind::kArc;
    return place;
  };
  const Place before = place_of(change.before, kCutEnd.key, 1);
  const Place after = place_of(change.after, kCutBegin.key, 0);
  const bool are_equal = AreEqual(eye, before, after);
  const PlacedPoint end = PointOf(eye, before);
  const PlacedPoint begin = are_equal ? end : PointOf(eye, after);
  double key = change.is_at_cut ? kCutEnd.key : at.key;
  if (is_any && !change.is_at_cut) key = KeyOf(end.from_eye.x.high, end.from_eye.y.high);
  const Ends ends{end, begin, key};
  if (!are_equal) AddRow(AreaPieceKind::kSight, 0, key, end);
  if (change.after != kClosed) {
    const auto kind = change.after == kOpen ? AreaPieceKind::kArc : AreaPieceKind::kEdge;
    AddRow(kind, change.after, key, ends.after);
  }
  return ends;
}

// Adds the piece of row `row`. Keys of directions that differ may be equal, so an arc is only known
// to be long if it is known to contain the cut.
void AreaRows::AddToSum(size_t row, uint32_t owner, const Ends& begin, const Ends& end,
                        bool has_cut) {
  if (owner == kClosed) return;
  if (owner != kOpen) return sum_.AddTriangle(begin.after.from_eye, end.before.from_eye);
  rows_[row].turn = std::max(end.key - begin.key + (has_cut ? 4 : 0), 0.0);
  sum_.AddSector(begin.after.from_eye, end.before.from_eye, rows_[row].turn);
}

void AreaRows::Find(const Eye& eye, const Envelope& envelope, const EyeSector& sector,
                    WorkMeter& meter) {
  sector_ = sector;
  rows_.clear();
  sum_.Start(eye.range());
  ListChanges(envelope);
  if (changes_.empty()) {
    const Place start{PlaceKind::kArc, 0, kCutEnd};
    AddRow(AreaPieceKind::kArc, kOpen, kCutEnd.key, PointOf(eye, start));
    rows_[0].turn = 4;
    sum_.AddDisc();
    return;
  }
  const Ends first = AddRows(eye, changes_[0]);
  Ends last = first;
  for (size_t i = 1; i < changes_.size() && meter.Spend(16); ++i) {
    const size_t row = rows_.size() - 1;
    const Ends next = AddRows(eye, changes_[i]);
    AddToSum(row, changes_[i].before, last, next, i == cut_);
    last = next;
  }
  AddToSum(rows_.size() - 1, changes_.back().after, last, first,
           cut_ == 0 || cut_ == changes_.size());
  PutInOrder(eye, meter);
}

// Returns whether the start of row k follows that of row i within a quarter turn.
bool AreaRows::IsClose(size_t i, size_t k) const {
  return i != k && TurnOf(rows_[i].key, rows_[k].key) < 1;
}

// Returns whether row i, with `start` as its start, does not turn clockwise from the row before it,
// nor to the next row with an exact start. The rows make a circle.
bool AreaRows::IsInOrder(const Eye& eye, size_t i, Vec2 start) const {
  constexpr size_t kAhead = 4;
  const Vec2 p = eye.position();
  const size_t count = rows_.size();
  const size_t before = (i + count - 1) % count;
  const bool is_chosen = i > 0 || rows_[before].is_exact;
  if (is_chosen && IsClose(before, i) && Orientation(p, rows_[before].start, start) < 0) {
    return false;
  }
  for (size_t step = 1; step <= kAhead; ++step) {
    const size_t k = (i + step) % count;
    if (!IsClose(i, k)) break;
    // Behind the last row all starts are chosen.
    if (rows_[k].is_exact || k < i) return Orientation(p, start, rows_[k].start) >= 0;
  }
  return true;
}

// Moves each rounded start that turns clockwise about the eye by at most three ulp of the largest
// coordinate, as little as possible.
void AreaRows::PutInOrder(const Eye& eye, WorkMeter& meter) {
  constexpr uint64_t kPlaces = 49;  // that are tried for a start
  const Vec2 p = eye.position();
  for (size_t i = 0; i < rows_.size() && meter.Spend(1); ++i) {
    if (rows_[i].is_exact || IsInOrder(eye, i, rows_[i].start)) continue;
    meter.Count(kPlaces);
    const Vec2 at = rows_[i].start;
    const double most = std::max({std::abs(p.x), std::abs(p.y), std::abs(at.x), std::abs(at.y)});
    const double ulp = most - NextBelow(most);
    int best = 7;
    for (int dx = -3; dx <= 3; ++dx) {
      for (int dy = -3; dy <= 3; ++dy) {
        const int steps = std::abs(dx) + std::abs(dy);
        const Vec2 moved{at.x + dx * ulp + 0.0, at.y + dy * ulp + 0.0};
        if (steps >= best || !IsInOrder(eye, i, moved)) continue;
        best = steps;
        rows_[i].start = moved;
      }
    }
  }
}

AreaRows::Piece AreaRows::piece(size_t index) const {
  const Row& row = rows_[index];
  const Row& next = rows_[index + 1 < rows_.size() ? index + 1 : 0];
  return {row.kind, row.turn, row.from_eye, next.from_eye};
}

void AreaRows::Write(const Eye& eye, size_t count, std::vector<AreaPiece>& out) const {
  for (size_t i = 0; i < count; ++i) {
    const Row& row = rows_[i];
    AreaPiece& piece = out.emplace_back();
    piece.kind = row.kind;
    piece.start = row.start;
    if (row.kind != AreaPieceKind::kEdge) continue;
    const EyeEdge& edge = eye.edges()[row.edge];
    const EyeSource& source = eye.SourceOf(edge);
    piece.polygon_id = source.id;
    piece.is_body = source.is_body;
    piece.edge = source.polygon->edge_ref(edge.index);
  }
}

}  // namespace carom::internal
