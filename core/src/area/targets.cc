// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "area/targets.h"

#include <array>

namespace carom::internal {
namespace {

// By how many radians a range is wider than its box on each side, about: far more than the errors
// of keys, and more than `Envelope::IsHidden` widens a box by.
constexpr double kWider = 0x1p-30;
// The sum of differences of keys, of 4 in all, from which on all directions are looked in.
constexpr double kMost = 3;

// Turns a vector clockwise by `kWider`, or counter-clockwise by -kWider.
Vec2 Turned(Vec2 v, double by) { return {v.x + by * v.y, v.y - by * v.x}; }

TargetRange RangeOf(Vec2 low, Vec2 high) {
  TargetRange range{KeyOf(low.x, low.y), KeyOf(high.x, high.y), Turned(low, kWider),
                    Turned(high, -kWider)};
  const double from = KeyOf(range.from.x, range.from.y), to = KeyOf(range.to.x, range.to.y);
  // Turned across the cut: a range ends there.
  range.from = from > range.low ? Vec2{-1, 0} : range.from;
  range.to = to < range.high ? Vec2{-1, 0} : range.to;
  range.low = from > range.low ? -2 : from;
  range.high = to < range.high ? 2 : to;
  return range;
}

}  // namespace

void Targets::Start(Vec2 eye) {
  eye_ = eye;
  is_everywhere_ = false;
  reach_ = 0;
  ranges_.clear();
}

void Targets::Add(const Box& box) {
  if (is_everywhere_) return;
  const Box at{{box.min.x - eye_.x, box.min.y - eye_.y}, {box.max.x - eye_.x, box.max.y - eye_.y}};
  is_everywhere_ = at.min.x <= 0 && at.min.y <= 0 && at.max.x >= 0 && at.max.y >= 0;
  if (is_everywhere_) return;
  reach_ = std::max({reach_, -at.min.x, -at.min.y, at.max.x, at.max.y});
  const std::array<Vec2, 4> corners = {at.min, at.max, Vec2{at.min.x, at.max.y},
                                       Vec2{at.max.x, at.min.y}};
  const bool has_cut = at.min.x < 0 && at.min.y <= 0 && at.max.y >= 0;
  // The corners of the least and the greatest key; across the cut, of the greatest one below it and
  // of the least one above it.
  Vec2 low = at.max, high = at.max;
  const auto key_of = [&](Vec2 v) {
    const double key = KeyOf(v.x, v.y);
    return has_cut && key < 0 ? key + 4 : key;
  };
  for (const Vec2 corner : corners) {
    if (key_of(corner) < key_of(low)) low = corner;
    if (key_of(corner) > key_of(high)) high = corner;
  }
  if (!has_cut) return ranges_.push_back(RangeOf(low, high));
  const Vec2 cut{-1, 0};
  ranges_.push_back({KeyOf(low.x, low.y), 2, low, cut});
  ranges_.back().from = Turned(low, kWider);
  ranges_.back().low = KeyOf(ranges_.back().from.x, ranges_.back().from.y);
  const Vec2 last = Turned(high, -kWider);
  if (KeyOf(last.x, last.y) < 0) ranges_.push_back({-2, KeyOf(last.x, last.y), cut, last});
}

void Targets::Join() {
  std::sort(ranges_.begin(), ranges_.end(),
            [](const TargetRange& a, const TargetRange& b) { return a.low < b.low; });
  size_t count = 0;
  double sum = 0;
  for (const TargetRange& range : ranges_) {
    if (count > 0 && range.low <= ranges_[count - 1].high + kWider) {
      if (range.high <= ranges_[count - 1].high) continue;
      sum += range.high - ranges_[count - 1].high;
      ranges_[count - 1].high = range.high;
      ranges_[count - 1].to = range.to;
      continue;
    }
    sum += range.high - range.low;
    ranges_[count++] = range;
  }
  ranges_.resize(count);
  is_everywhere_ = is_everywhere_ || sum > kMost;
}

}  // namespace carom::internal
