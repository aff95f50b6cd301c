// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "line_traversal.h"

#include <algorithm>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/line_traversal.cc"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// How many pairs ahead the memory of a node is asked for.
constexpr size_t kAhead = 12;

// Adds the children of `node` that the line may meet to `out`: child `first` + k for lane k.
HWY_INLINE void AddChildren(const BoxNode& node, const LineCull& cull, uint32_t first,
                            uint16_t line, Frontier& out) {
  const hn::CappedTag<float, BoxNode::kWidth> d;
  const hn::RebindToUnsigned<decltype(d)> numbers;
  const float* const start = node.min_x.data();
  const auto normal_x = hn::Set(d, cull.normal_x);
  const auto normal_y = hn::Set(d, cull.normal_y);
  std::fill_n(out.lines.data() + out.count, BoxNode::kWidth, line);
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(d)) {
    const auto at = [&](size_t column) { return hn::Load(d, start + column + i); };
    const auto in_x = hn::And(hn::Le(at(kMinX), hn::Set(d, cull.max_x)),
                              hn::Ge(at(kMaxX), hn::Set(d, cull.min_x)));
    const auto in_y = hn::And(hn::Le(at(kMinY), hn::Set(d, cull.max_y)),
                              hn::Ge(at(kMaxY), hn::Set(d, cull.min_y)));
    const auto upper =
        hn::MulAdd(normal_x, at(cull.upper_x), hn::Mul(normal_y, at(cull.upper_y)));
    const auto lower =
        hn::MulAdd(normal_x, at(cull.lower_x), hn::Mul(normal_y, at(cull.lower_y)));
    const auto on_line = hn::And(hn::Ge(upper, hn::Set(d, cull.least)),
                                 hn::Le(lower, hn::Set(d, cull.most)));
    const auto meets = hn::RebindMask(numbers, hn::And(hn::And(in_x, in_y), on_line));
    const auto children = hn::Iota(numbers, first + static_cast<uint32_t>(i));
    out.count += hn::CompressStore(children, meets, numbers, out.targets.data() + out.count);
  }
}

// Opens the nodes of a part of `in`: `node_of(target)` is one, its children are `first_of(target)`
// and those that follow.
template <class NodeOf, class FirstOf>
HWY_INLINE void Open(const Frontier& in, size_t begin, const LineCull* lines, Frontier& out,
                     const NodeOf& node_of, const FirstOf& first_of) {
  const size_t end = std::min(begin + Frontier::kPart, in.count);
  const auto prefetch = [&](size_t i) {
    const auto* const at = reinterpret_cast<const char*>(&node_of(in.targets[i]));
    __builtin_prefetch(at);
    __builtin_prefetch(at + 64);
  };
  for (size_t i = begin; i < std::min(begin + kAhead, end); ++i) prefetch(i);
  for (size_t i = begin; i < end; ++i) {
    if (i + kAhead < end) prefetch(i + kAhead);
    const uint32_t target = in.targets[i];
    const uint16_t line = in.lines[i];
    AddChildren(node_of(target), lines[line], first_of(target), line, out);
  }
}

void OpenUpperNodes(const SceneIndex& scene, size_t level, const Frontier& in, size_t begin,
                    const LineCull* lines, Frontier& out) {
  const BoxTree& tree = scene.tree();
  Open(
      in, begin, lines, out,
      [&](uint32_t node) -> const BoxNode& { return tree.node(level, node); },
      [](uint32_t node) { return node * uint32_t{BoxNode::kWidth}; });
}

void OpenTileNodes(const SceneIndex& scene, size_t level, const Frontier& in, size_t begin,
                   const LineCull* lines, Frontier& out) {
  Open(
      in, begin, lines, out,
      [&](uint32_t number) -> const BoxNode& {
        const Slot node = Slot::Of(number);
        return scene.tile(node.tile).tree().node(level, node.index);
      },
      [](uint32_t number) {
        const Slot node = Slot::Of(number);
        return Slot{node.tile, node.index * uint32_t{BoxNode::kWidth}}.number();
      });
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

// Floats that are certainly not above, respectively not below, without a branch.
float Below(double value) {
  const auto nearest = static_cast<float>(value);
  return nearest - (std::abs(nearest) * 0x1p-22F + 0x1p-120F);
}
float Above(double value) { return -Below(-value); }

HWY_EXPORT(OpenUpperNodes);
HWY_EXPORT(OpenTileNodes);

}  // namespace

LineCull::LineCull(const Line& line, double magnitude) {
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  const double longer = std::max(std::abs(dx), std::abs(dy));
  // 2^-e for a longer side in [2^e, 2^(e+1)).
  const uint64_t exponent = std::bit_cast<uint64_t>(longer) >> 52;
  const double scale = exponent == 0 ? 0 : std::bit_cast<double>((uint64_t{2046} - exponent) << 52);
  normal_x = static_cast<float>(-dy * scale);
  normal_y = static_cast<float>(dx * scale);
  const double offset = normal_x * line.origin.x + normal_y * line.origin.y;
  const double size = std::max({magnitude, std::abs(line.origin.x), std::abs(line.origin.y)});
  const double slack = size * 0x1p-18 + 0x1p-120;
  least = static_cast<float>(offset - slack);
  most = static_cast<float>(offset + slack);
  upper_x = normal_x >= 0 ? kMaxX : kMinX;
  lower_x = normal_x >= 0 ? kMinX : kMaxX;
  upper_y = normal_y >= 0 ? kMaxY : kMinY;
  lower_y = normal_y >= 0 ? kMinY : kMaxY;
  SetReach(line.bounds);
}

void LineCull::SetReach(const Box& reach) {
  min_x = Below(std::max<double>(reach.min.x, -kFar));
  min_y = Below(std::max<double>(reach.min.y, -kFar));
  max_x = Above(std::min<double>(reach.max.x, kFar));
  max_y = Above(std::min<double>(reach.max.y, kFar));
}

void LineDescent::Run(const SceneIndex& scene, size_t count, LineObserver& observer,
                      WorkMeter& meter) {
  const size_t levels = scene.tree().level_count();
  if (levels == 0) return;
  for (Frontier& frontier : upper_) frontier.count = 0;
  for (Frontier& frontier : in_tiles_) frontier.count = 0;
  for (size_t i = 0; i < count; ++i) upper_[levels].Add(0, static_cast<uint16_t>(i));
  OpenUpper({scene, observer, meter}, levels);
}

void LineDescent::OpenUpper(const Call& call, size_t level) {
  if (level == 0) return OpenTiles(call);
  Frontier& in = upper_[level];
  for (size_t begin = 0; begin < in.count; begin += Frontier::kPart) {
    if (!call.meter.Spend(BoxNode::kWidth * std::min(in.count - begin, Frontier::kPart))) return;
    HWY_DYNAMIC_DISPATCH(OpenUpperNodes)
    (call.scene, level - 1, in, begin, lines.data(), upper_[level - 1]);
    OpenUpper(call, level - 1);
  }
  in.count = 0;
}

// Trees of tiles may have fewer levels than others: their roots join the pairs of their level.
void LineDescent::OpenTiles(const Call& call) {
  Frontier& in = upper_[0];
  for (size_t begin = 0; begin < in.count; begin += Frontier::kPart) {
    const size_t end = std::min(begin + Frontier::kPart, in.count);
    for (size_t i = begin; i < end; ++i) {
      const uint32_t tile = in.targets[i];
      in_tiles_[call.scene.tile(tile).tree().level_count()].Add(Slot{tile, 0}.number(),
                                                                in.lines[i]);
    }
    for (size_t level = kTileLevels; level > 0; --level) OpenInTiles(call, level);
    if (call.meter.stopped()) return;
  }
  in.count = 0;
}

void LineDescent::OpenInTiles(const Call& call, size_t level) {
  Frontier& in = in_tiles_[level];
  Frontier& out = in_tiles_[level - 1];
  for (size_t begin = 0; begin < in.count; begin += Frontier::kPart) {
    if (!call.meter.Spend(BoxNode::kWidth * std::min(in.count - begin, Frontier::kPart))) return;
    HWY_DYNAMIC_DISPATCH(OpenTileNodes)(call.scene, level - 1, in, begin, lines.data(), out);
    if (level > 1) {
      OpenInTiles(call, level - 1);
    } else {
      call.observer.Visit(out);
      out.count = 0;
    }
  }
  in.count = 0;
}

}  // namespace carom::internal
#endif  // HWY_ONCE
