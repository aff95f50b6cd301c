// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "line_traversal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/line_traversal.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The lanes of `node` whose boxes the line may meet, as bits, and the keys of all.
unsigned Meeting(const BoxNode& node, const LineCull& cull, float* keys) {
  const hn::CappedTag<float, BoxNode::kWidth> d;
  const auto upper_least = hn::Set(d, cull.offset - cull.slack);
  const auto lower_most = hn::Set(d, cull.offset + cull.slack);
  const auto normal_x = hn::Set(d, cull.normal_x);
  const auto normal_y = hn::Set(d, cull.normal_y);
  const auto key_sign = hn::Set(d, cull.key_sign);
  const float* const key = (node.*cull.key).data();
  unsigned bits = 0;
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(d)) {
    const auto min_x = hn::Load(d, node.min_x.data() + i);
    const auto max_x = hn::Load(d, node.max_x.data() + i);
    const auto min_y = hn::Load(d, node.min_y.data() + i);
    const auto max_y = hn::Load(d, node.max_y.data() + i);
    const auto in_x =
        hn::And(hn::Le(min_x, hn::Set(d, cull.max_x)), hn::Ge(max_x, hn::Set(d, cull.min_x)));
    const auto in_y =
        hn::And(hn::Le(min_y, hn::Set(d, cull.max_y)), hn::Ge(max_y, hn::Set(d, cull.min_y)));
    const auto ax = hn::Mul(normal_x, min_x);
    const auto bx = hn::Mul(normal_x, max_x);
    const auto ay = hn::Mul(normal_y, min_y);
    const auto by = hn::Mul(normal_y, max_y);
    const auto upper = hn::Add(hn::Max(ax, bx), hn::Max(ay, by));
    const auto lower = hn::Add(hn::Min(ax, bx), hn::Min(ay, by));
    const auto on_line = hn::And(hn::Ge(upper, upper_least), hn::Le(lower, lower_most));
    uint8_t lanes[8];
    hn::StoreMaskBits(d, hn::And(hn::And(in_x, in_y), on_line), lanes);
    bits |= static_cast<unsigned>(lanes[0]) << i;
    hn::Store(hn::Mul(key_sign, hn::Load(d, key + i)), d, keys + i);
  }
  return bits;
}

// Asks for the memory that the last entry needs.
void Prefetch(const Flight& flight, const SceneIndex& scene) {
  if (flight.count == 0) return;
  const Flight::Entry& entry = flight.entries[flight.count - 1];
  const char* at = nullptr;
  switch (entry.level) {
    case Flight::kRoot:
      at = reinterpret_cast<const char*>(entry.tile);
      break;
    case Flight::kPolygon:
      at = reinterpret_cast<const char*>(&entry.tile->entries()[entry.index]);
      break;
    case Flight::kVertices:
      at = static_cast<const char*>(entry.tile->entries()[entry.index].polygon().memory());
      __builtin_prefetch(at + 128);
      break;
    default:
      const BoxTree& tree = entry.tile == nullptr ? scene.tree() : entry.tile->tree();
      at = reinterpret_cast<const char*>(&tree.node(entry.level, entry.index));
      break;
  }
  __builtin_prefetch(at);
  __builtin_prefetch(at + 64);
}

// Puts the children of a node that the line may meet on top, the nearest last.
void Open(const SceneIndex& scene, Flight& flight, const Flight::Entry& entry) {
  alignas(32) float keys[BoxNode::kWidth];
  const BoxTree& tree = entry.tile == nullptr ? scene.tree() : entry.tile->tree();
  const BoxNode& node = tree.node(entry.level, entry.index);
  unsigned bits = Meeting(node, flight.cull, keys);
  const size_t first = flight.count;
  for (; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
    Flight::Entry child{entry.tile, entry.index * uint32_t{BoxNode::kWidth} + lane, keys[lane],
                        static_cast<uint8_t>(entry.level - 1)};
    if (entry.level == 0) {
      child.level = entry.tile == nullptr ? Flight::kRoot : Flight::kPolygon;
      if (entry.tile == nullptr) child.tile = &scene.tile(child.index);
    }
    size_t at = flight.count++;
    for (; at > first && flight.entries[at - 1].key < child.key; --at) {
      flight.entries[at] = flight.entries[at - 1];
    }
    flight.entries[at] = child;
  }
}

// One step. Returns false where the flight is over.
bool Step(const SceneIndex& scene, size_t index, Flight& flight, FlightObserver& observer,
          WorkMeter& meter) {
  while (flight.count > 0 && flight.entries[flight.count - 1].key > flight.cull.limit) {
    --flight.count;
  }
  if (flight.count == 0) return false;
  Flight::Entry entry = flight.entries[--flight.count];
  switch (entry.level) {
    case Flight::kVertices:
      observer.Visit(index, entry.tile->entries()[entry.index]);
      break;
    case Flight::kPolygon:
      entry.level = Flight::kVertices;
      flight.entries[flight.count++] = entry;
      break;
    case Flight::kRoot:
      // The upper tree's items are tiles.
      entry.level = static_cast<uint8_t>(entry.tile->tree().level_count() - 1);
      entry.index = 0;
      flight.entries[flight.count++] = entry;
      break;
    default:
      meter.Spend(BoxNode::kWidth);
      Open(scene, flight, entry);
      break;
  }
  if (flight.stopped) return false;
  Prefetch(flight, scene);
  return true;
}

void FlyAll(const SceneIndex& scene, std::span<Flight> flights, FlightObserver& observer,
            WorkMeter& meter) {
  std::array<size_t, kMaxFlights> active;
  size_t count = flights.size();
  std::iota(active.begin(), active.begin() + count, size_t{0});
  while (count > 0 && !meter.stopped()) {
    for (size_t k = 0; k < count;) {
      const size_t i = active[k];
      if (Step(scene, i, flights[i], observer, meter) || observer.Finish(i)) {
        ++k;
      } else {
        active[k] = active[--count];
      }
    }
  }
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {

LineCull::LineCull(const Line& line, double magnitude) {
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  const bool is_x = std::abs(dx) >= std::abs(dy);
  const double along = is_x ? dx : dy;
  // 2^-e for |along| in [2^e, 2^(e+1)).
  const uint64_t exponent = std::bit_cast<uint64_t>(along) >> 52 & 0x7ff;
  const double scale = exponent == 0 ? 0 : std::bit_cast<double>((uint64_t{2046} - exponent) << 52);
  normal_x = static_cast<float>(-dy * scale);
  normal_y = static_cast<float>(dx * scale);
  offset = static_cast<float>(normal_x * line.origin.x + normal_y * line.origin.y);
  const double most = std::max({magnitude, std::abs(line.origin.x), std::abs(line.origin.y)});
  slack = static_cast<float>(most * 0x1p-18) + 0x1p-120F;
  if (is_x) {
    key = along >= 0 ? &BoxNode::min_x : &BoxNode::max_x;
  } else {
    key = along >= 0 ? &BoxNode::min_y : &BoxNode::max_y;
  }
  key_sign = along >= 0 ? 1 : -1;
  SetReach(line.bounds);
}

void LineCull::SetReach(const Box& reach) {
  constexpr double kFar = 0x1p60;  // beyond all that is accepted
  min_x = RoundedDown(std::max(reach.min.x, -kFar));
  min_y = RoundedDown(std::max(reach.min.y, -kFar));
  max_x = RoundedUp(std::min(reach.max.x, kFar));
  max_y = RoundedUp(std::min(reach.max.y, kFar));
  const bool is_x = key == &BoxNode::min_x || key == &BoxNode::max_x;
  limit = key_sign > 0 ? (is_x ? max_x : max_y) : -(is_x ? min_x : min_y);
}

void Flight::Start(const Line& line, const SceneIndex& scene) {
  stopped = false;
  count = 0;
  if (scene.polygon_count() == 0) return;
  cull = LineCull(line, scene.magnitude());
  entries[count++] = {nullptr, 0, -HUGE_VALF, static_cast<uint8_t>(scene.tree().level_count() - 1)};
}

HWY_EXPORT(FlyAll);

void Fly(const SceneIndex& scene, std::span<Flight> flights, FlightObserver& observer,
         WorkMeter& meter) {
  HWY_DYNAMIC_DISPATCH(FlyAll)(scene, flights, observer, meter);
}

}  // namespace carom::internal
#endif  // HWY_ONCE
