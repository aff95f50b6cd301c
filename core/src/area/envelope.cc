// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/envelope.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "carom/predicates.h"

namespace carom::internal {
namespace {

// Merges two lists of spans into a third. A list has one span at least, and at its end an element
// that begins where the list ends. No owner is in both lists.
class Merge {
 public:
  // `first` is the number of elements of `out` that are not part of the result.
  Merge(const Eye& eye, std::vector<Span>& out) : eye_(eye), out_(out), first_(out.size()) {}

  // Returns false once the meter stops the work.
  bool Run(std::span<const Span> a, std::span<const Span> b, WorkMeter& meter) {
    size_t i = 0, j = 0;
    uint32_t owner_a = kOpen, owner_b = kOpen;
    EyeDirection at;
    while (i < a.size() || j < b.size()) {
      if (!meter.Spend(1)) return false;
      const int order = i == a.size()   ? 1
                        : j == b.size() ? -1
                                        : eye_.Compare(a[i].begin, b[j].begin);
      const EyeDirection next = order <= 0 ? a[i].begin : b[j].begin;
      if (i + j > 0) Emit(at, next, owner_a, owner_b);
      if (order <= 0) owner_a = i + 1 < a.size() ? a[i].owner : kOpen, ++i;
      if (order >= 0) owner_b = j + 1 < b.size() ? b[j].owner : kOpen, ++j;
      at = next;
    }
    out_.push_back({at, kOpen});
    return true;
  }

 private:
  void Push(const EyeDirection& begin, uint32_t owner) {
    if (out_.size() > first_ && out_.back().owner == owner) return;
    out_.push_back({begin, owner});
  }

  // Adds the spans of an interval with the owners `a` and `b`.
  void Emit(const EyeDirection& begin, const EyeDirection& end, uint32_t a, uint32_t b) {
    if (b == kOpen || a == kClosed) return Push(begin, a);
    if (a == kOpen || b == kClosed) return Push(begin, b);
    const Nearer nearer = eye_.NearerOf(a, b);
    if (nearer == Nearer::kFirst) return Push(begin, a);
    if (nearer == Nearer::kSecond) return Push(begin, b);
    if (nearer == Nearer::kSecondThenFirst) std::swap(a, b);
    const EyeDirection crossing = eye_.Crossing(a, b);
    const Position position = eye_.PositionOf(crossing, begin, end);
    if (position != Position::kBefore) Push(begin, a);
    if (position == Position::kBefore) Push(begin, b);
    if (position == Position::kInside) Push(crossing, b);
  }

  const Eye& eye_;
  std::vector<Span>& out_;
  const size_t first_;
};

// Returns the corners of a box between whose directions, counter-clockwise, a point outside of the
// box sees it.
std::pair<Vec2, Vec2> SilhouetteOf(const Box& box, Vec2 p) {
  const auto& [min, max] = box;
  const bool is_below = p.y < min.y;
  const bool is_above = p.y > max.y;
  const bool is_left = p.x < min.x;
  const bool is_right = p.x > max.x;
  const Vec2 from{is_below || (!is_above && is_right) ? max.x : min.x,
                  is_right || (!is_left && is_above) ? max.y : min.y};
  const Vec2 to{is_above || (!is_below && is_right) ? max.x : min.x,
                is_left || (!is_right && is_above) ? max.y : min.y};
  return {from, to};
}

// Returns true only if `p` is on the right of the line from `a` to `b`: what the sum of the errors
// of a rounded cross product leaves open is not. With u = 2^-53, that sum is below 3.01 u times the
// sum of the magnitudes of the two products.
bool IsSurelyRight(Vec2 a, Vec2 b, Vec2 p) {
  const double left = (b.x - a.x) * (p.y - a.y), right = (b.y - a.y) * (p.x - a.x);
  return left - right < -4 * kUnit * (std::abs(left) + std::abs(right));
}

}  // namespace

// The keys of the ends of an edge without the cut between them differ by less than 2, with the
// begin before the end; with the cut between them, the key of the begin is by more than 2 greater.
void AddBlocker(const EyeDirection& begin, const EyeDirection& end, uint32_t edge,
                std::vector<Blocker>& blockers) {
  if (end.key > begin.key - 1) {
    blockers.push_back({begin, end, edge});
    return;
  }
  blockers.push_back({begin, kCutEnd, edge});
  blockers.push_back({kCutBegin, end, edge});
}

void Envelope::Start() { spans_.assign({{kCutBegin, kOpen}, {kCutEnd, kOpen}}); }

void Envelope::Start(const Eye& eye, const EyeDirection& from, const EyeDirection& to) {
  const bool has_cut = eye.Compare(from, to) >= 0;
  spans_.clear();
  StartSpan(eye, kCutBegin, has_cut ? kOpen : kClosed);
  StartSpan(eye, has_cut ? to : from, has_cut ? kClosed : kOpen);
  StartSpan(eye, has_cut ? from : to, has_cut ? kOpen : kClosed);
  StartSpan(eye, kCutEnd, kOpen);
}

void Envelope::Start(const Eye& eye, std::span<const Range> ranges) {
  spans_.clear();
  StartSpan(eye, kCutBegin, kClosed);
  for (const Range& range : ranges) {
    StartSpan(eye, range.from, kOpen);
    StartSpan(eye, range.to, kClosed);
  }
  StartSpan(eye, kCutEnd, kOpen);
}

// An interval without directions ends where it begins: at the cut.
void Envelope::StartSpan(const Eye& eye, const EyeDirection& begin, uint32_t owner) {
  if (!spans_.empty() && eye.Compare(spans_.back().begin, begin) == 0) spans_.pop_back();
  spans_.push_back({begin, owner});
}

std::vector<Span>::const_iterator Envelope::SpanAt(const Eye& eye,
                                                   const EyeDirection& begin) const {
  return std::upper_bound(
             spans_.begin() + 1, spans_.end() - 1, begin,
             [&](const EyeDirection& a, const Span& b) { return eye.Compare(a, b.begin) < 0; }) -
         1;
}

bool Envelope::IsHidden(const Eye& eye, const Blocker& blocker, WorkMeter& meter) const {
  const auto first = SpanAt(eye, blocker.begin);
  for (auto span = first; span + 1 != spans_.end(); ++span) {
    if (span != first && eye.Compare(span->begin, blocker.end) >= 0) break;
    meter.Count(1);
    if (span->owner == kClosed) continue;
    if (span->owner == kOpen || span->owner == blocker.edge) return false;
    if (eye.NearerOf(span->owner, blocker.edge) != Nearer::kFirst) return false;
  }
  return true;
}

bool Envelope::ShowsPartOf(const Eye& eye, const Blocker& blocker, WorkMeter& meter) const {
  const auto later = [&](const EyeDirection& a, const EyeDirection& b) {
    return eye.Compare(a, b) >= 0 ? a : b;
  };
  const auto first = SpanAt(eye, blocker.begin);
  for (auto span = first; span + 1 != spans_.end(); ++span) {
    if (span != first && eye.Compare(span->begin, blocker.end) >= 0) break;
    meter.Count(1);
    if (span->owner == kClosed) continue;
    if (span->owner == kOpen) return true;
    const Nearer nearer = eye.NearerOf(span->owner, blocker.edge);
    if (nearer == Nearer::kFirst) continue;
    if (nearer == Nearer::kSecond) return true;
    const EyeDirection begin = later(span->begin, blocker.begin);
    const EyeDirection& next = (span + 1)->begin;
    const EyeDirection end = eye.Compare(next, blocker.end) <= 0 ? next : blocker.end;
    const Position position = eye.PositionOf(eye.Crossing(span->owner, blocker.edge), begin, end);
    if (position == Position::kInside) return true;
    const bool is_after = position == Position::kBefore;  // the interval is behind the crossing
    if (is_after == (nearer == Nearer::kFirstThenSecond)) return true;
  }
  return false;
}

// The spans beside the point are those whose closed intervals contain its direction: two where one
// ends, and at the cut the last one and the first one.
bool Envelope::IsInside(const Eye& eye, const EyeDirection& to, WorkMeter& meter) const {
  const Vec2 point = eye.VertexOf(to), p = eye.position();
  const auto is_nearer = [&](const Span& span) {
    meter.Count(1);
    if (span.owner == kClosed) return false;
    if (span.owner == kOpen) return CompareDistance(point, eye.disc()) < 0;
    const EyeEdge& edge = eye.edges()[span.owner];
    return Orientation(edge.a, edge.b, point) > 0;
  };
  const Span& last = *(spans_.end() - 2);
  if (point.y == p.y && point.x < p.x) return is_nearer(spans_.front()) && is_nearer(last);
  const auto span = SpanAt(eye, to);
  if (!is_nearer(*span)) return false;
  if (eye.Compare(span->begin, to) != 0) return true;
  return is_nearer(span == spans_.begin() ? last : *(span - 1));
}

double Envelope::Farthest2(const Eye& eye) const {
  double farthest2 = 0;
  for (const Span& span : std::span(spans_).first(spans_.size() - 1)) {
    if (span.owner == kOpen) return std::numeric_limits<double>::infinity();
    if (span.owner == kClosed) continue;
    farthest2 = std::max(farthest2, eye.edges()[span.owner].farthest2);
  }
  return farthest2;
}

// A box is convex, so it is behind the line of an edge if that corner is which is farthest on the
// eye's side of the line. The directions of the box are between those of its corners, widened to
// cover the errors of keys. A box beyond the cut counts as not hidden.
bool Envelope::IsHidden(const Eye& eye, const Box& box, WorkMeter& meter) const {
  const Vec2 p = eye.position();
  if (spans_.size() == 2 && spans_.front().owner == kOpen) return false;
  if (box.min.x < p.x && box.min.y <= p.y && p.y <= box.max.y) return false;
  const auto [from, to] = SilhouetteOf(box, p);
  const double low = KeyOf(from.x - p.x, from.y - p.y) - 2 * kKeyError;
  const double high = KeyOf(to.x - p.x, to.y - p.y) + 2 * kKeyError;
  const auto after =
      std::upper_bound(spans_.begin() + 1, spans_.end() - 1, low,
                       [](double key, const Span& span) { return key < span.begin.key; });
  for (auto span = after - 1; span + 1 != spans_.end(); ++span) {
    if (span != after - 1 && span->begin.key > high) break;
    meter.Count(1);
    if (span->owner == kClosed) continue;
    if (span->owner == kOpen) return false;
    const EyeEdge& edge = eye.edges()[span->owner];
    const Vec2 nearest{edge.b.y < edge.a.y ? box.max.x : box.min.x,
                       edge.b.x > edge.a.x ? box.max.y : box.min.y};
    if (!IsSurelyRight(edge.a, edge.b, nearest)) return false;
  }
  return true;
}

bool Envelope::Insert(const Eye& eye, std::span<Blocker> lot, WorkMeter& meter) {
  size_t count = 0;
  for (const Blocker& blocker : lot) {
    if (!meter.Spend(1)) return false;
    if (!IsHidden(eye, blocker, meter)) lot[count++] = blocker;
  }
  if (count == 0) return true;
  if (!meter.Spend(count)) return false;
  std::sort(lot.begin(), lot.begin() + static_cast<std::ptrdiff_t>(count),
            [](const Blocker& a, const Blocker& b) { return a.begin.key < b.begin.key; });
  lists_.clear();
  bounds_.clear();
  for (const Blocker& blocker : lot.first(count)) {
    bounds_.push_back({lists_.size(), 2});
    lists_.push_back({blocker.begin, blocker.edge});
    lists_.push_back({blocker.end, kOpen});
  }
  if (!MergeLists(eye, meter)) return false;
  merged_.clear();
  if (!Merge(eye, merged_).Run(spans_, lists_, meter)) return false;
  spans_.swap(merged_);
  return true;
}

bool Envelope::MergeLists(const Eye& eye, WorkMeter& meter) {
  const auto list = [&](const List& bounds) {
    return std::span<const Span>(lists_).subspan(bounds.begin, bounds.size);
  };
  while (bounds_.size() > 1) {
    next_lists_.clear();
    next_bounds_.clear();
    for (size_t i = 0; i < bounds_.size(); i += 2) {
      const size_t begin = next_lists_.size();
      if (i + 1 == bounds_.size()) {
        const auto last = list(bounds_[i]);
        next_lists_.insert(next_lists_.end(), last.begin(), last.end());
      } else if (!Merge(eye, next_lists_).Run(list(bounds_[i]), list(bounds_[i + 1]), meter)) {
        return false;
      }
      next_bounds_.push_back({begin, next_lists_.size() - begin});
    }
    lists_.swap(next_lists_);
    bounds_.swap(next_bounds_);
  }
  return true;
}

}  // namespace carom::internal
