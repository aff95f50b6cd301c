// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/line_traversal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// Highway includes this file once for each instruction set. The guard macro below limits the part
// up to `#endif` to the first time.
#ifndef CAROM_CORE_SRC_LINE_TRAVERSAL_CC_
#define CAROM_CORE_SRC_LINE_TRAVERSAL_CC_
namespace carom::internal {
namespace {

// For each byte, as a set of up to eight lanes: the numbers of its set bits in ascending order,
// followed by zeros.
constexpr auto kSetLanes = [] {
  std::array<std::array<uint8_t, 8>, 256> table{};
  for (size_t bits = 0; bits < table.size(); ++bits) {
    size_t count = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) != 0) table[bits][count++] = lane;
    }
  }
  return table;
}();

}  // namespace
}  // namespace carom::internal
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/index/line_traversal.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/mask_bits.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// While `Open` processes a pair of a line and a tree node, it prefetches the node of the pair that
// comes `kAhead` pairs later.
constexpr size_t kAhead = 16;

// The eight children of a node of a bounding-box tree, to be tested against the line with the index
// `line`. The child with the box in lane k of the node has the number `first` + k.
struct Children {
  uint32_t first;
  uint16_t line;
};

// Writes pairs of the line and those children of `node` that the line may meet to `out`, from pair
// `count` on. Returns the number of pairs that `out` then has, and leaves `out.count` unchanged.
//
// The box of a child meets the line only if the box's extreme corners along the line's normal are
// not both on one side of the line. The function always stores eight pairs, and the pairs of the
// children that the line may meet come first, in the order of the children: a table, indexed by the
// bits of these children, gives the numbers of their lanes. The call for the next node overwrites
// the pairs beyond the returned count.
template <class Pairs>
HWY_INLINE size_t AddChildren(const BoxNode& node, const LineCull& cull, Children children,
                              Pairs& out, size_t count) {
  const hn::CappedTag<float, BoxNode::kWidth> d;
  const float* const start = node.min_x.data();
  const auto normal_x = hn::Set(d, cull.normal_x);
  const auto normal_y = hn::Set(d, cull.normal_y);
  unsigned bits = 0;
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(d)) {
    const auto in_x = hn::And(hn::Le(hn::Load(d, start + kMinX + i), hn::Set(d, cull.max_x)),
                              hn::Ge(hn::Load(d, start + kMaxX + i), hn::Set(d, cull.min_x)));
    const auto in_y = hn::And(hn::Le(hn::Load(d, start + kMinY + i), hn::Set(d, cull.max_y)),
                              hn::Ge(hn::Load(d, start + kMaxY + i), hn::Set(d, cull.min_y)));
    const auto upper = hn::MulAdd(normal_x, hn::Load(d, start + cull.upper_x + i),
                                  hn::Mul(normal_y, hn::Load(d, start + cull.upper_y + i)));
    const auto lower = hn::MulAdd(normal_x, hn::Load(d, start + cull.lower_x + i),
                                  hn::Mul(normal_y, hn::Load(d, start + cull.lower_y + i)));
    const auto on_line =
        hn::And(hn::Ge(upper, hn::Set(d, cull.least)), hn::Le(lower, hn::Set(d, cull.most)));
    bits |= MaskBits(d, hn::And(hn::And(in_x, in_y), on_line)) << i;
  }
  const hn::CappedTag<uint32_t, BoxNode::kWidth> numbers;
  const hn::Rebind<uint8_t, decltype(numbers)> bytes;
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(numbers)) {
    const auto lanes = hn::PromoteTo(numbers, hn::LoadU(bytes, kSetLanes[bits].data() + i));
    hn::StoreU(hn::Add(lanes, hn::Set(numbers, children.first)), numbers,
               out.targets.data() + count + i);
  }
  // The product repeats the 16 bits of `children.line` four times, and two stores of the product
  // fill eight lanes.
  const uint64_t four = uint64_t{0x0001000100010001} * children.line;
  std::memcpy(out.lines.data() + count, &four, sizeof(four));
  std::memcpy(out.lines.data() + count + 4, &four, sizeof(four));
  return count + static_cast<size_t>(std::popcount(bits));
}

// Opens the tree nodes of a part of a frontier (an array of pairs of a line and a node): for each
// pair of a line and a node, appends to `out` the pairs of the line and those children of the node
// that the line may meet. `node_of(target)` returns the node of a pair, and `first_of(target)` the
// number of the node's first child.
template <class NodeOf, class FirstOf>
HWY_INLINE void Open(const FrontierPart& part, Frontier& out, const NodeOf& node_of,
                     const FirstOf& first_of) {
  // Copies the members of `part`, since the compiler must assume that the stores below may change
  // `part`.
  const Frontier& in = part.frontier;
  const size_t begin = part.begin;
  const LineCull* const lines = part.lines;
  const size_t size = std::min(Frontier::kPart, in.count - begin);
  std::array<const BoxNode*, Frontier::kPart + kAhead> nodes;
  for (size_t i = 0; i < size; ++i) {
    nodes[i] = node_of(in.targets[begin + i]);
    if (i >= kAhead) continue;
    __builtin_prefetch(nodes[i]->min_x.data());
    __builtin_prefetch(nodes[i]->max_x.data());
  }
  std::fill_n(nodes.data() + size, kAhead, node_of(in.targets[begin]));
  size_t count = out.count;
  for (size_t i = 0; i < size; ++i) {
    __builtin_prefetch(nodes[i + kAhead]->min_x.data());
    __builtin_prefetch(nodes[i + kAhead]->max_x.data());
    const uint32_t target = in.targets[begin + i];
    const uint16_t line = in.lines[begin + i];
    count = AddChildren(*nodes[i], lines[line], {first_of(target), line}, out, count);
  }
  out.count = count;
}

void OpenUpperNodes(const SceneIndex& scene, size_t level, const FrontierPart& part,
                    Frontier& out) {
  const BoxTree& tree = scene.tree();
  Open(
      part, out, [&](uint32_t node) { return &tree.node(level, node); },
      [](uint32_t node) { return node * uint32_t{BoxNode::kWidth}; });
}

void OpenTileNodes(const SceneIndex& scene, size_t level, const FrontierPart& part, Frontier& out) {
  Open(
      part, out,
      [&](uint32_t number) {
        const Slot node = Slot::Of(number);
        return &scene.tile(node.tile).tree().node(level, node.index);
      },
      [](uint32_t number) {
        const Slot node = Slot::Of(number);
        return Slot{node.tile, node.index * uint32_t{BoxNode::kWidth}}.number();
      });
}

// Descends, depth first and for line `line` alone, the scene's tree over its tiles (groups of
// neighbouring polygons) and the trees of the tiles over their polygons, and collects the polygons
// that the line may meet in `polygons`. Calls the observer at the end, and whenever `polygons` has
// Frontier::kPart pairs.
void WalkLine(const LineDescent::Call& call, LineCull& cull, uint16_t line, Frontier& polygons) {
  const BoxTree& upper = call.scene.tree();
  WalkStack stack;
  stack.targets[0] = 0;
  stack.lines[0] = static_cast<uint16_t>(WalkStack::kUpper + upper.level_count() - 1);
  stack.count = 1;
  polygons.count = 0;
  while (stack.count > 0) {
    if (!call.meter.Spend(BoxNode::kWidth)) return;
    const uint32_t target = stack.targets[--stack.count];
    const uint16_t kind = stack.lines[stack.count];
    if (kind >= WalkStack::kUpper) {
      const auto below = static_cast<uint16_t>(kind - 1);
      const BoxNode& node = upper.node(kind - WalkStack::kUpper, target);
      stack.count =
          AddChildren(node, cull, {target * uint32_t{BoxNode::kWidth}, below}, stack, stack.count);
      continue;
    }
    const Slot at = kind == WalkStack::kTile ? Slot{target, 0} : Slot::Of(target);
    const BoxTree& tree = call.scene.tile(at.tile).tree();
    const size_t level = kind == WalkStack::kTile ? tree.level_count() - 1 : kind - size_t{1};
    const BoxNode& node = tree.node(level, at.index);
    const uint32_t first = Slot{at.tile, at.index * uint32_t{BoxNode::kWidth}}.number();
    if (level > 0) {
      const auto below = static_cast<uint16_t>(level);
      stack.count = AddChildren(node, cull, {first, below}, stack, stack.count);
      continue;
    }
    polygons.count = AddChildren(node, cull, {first, line}, polygons, polygons.count);
    if (polygons.count < Frontier::kPart) continue;
    call.observer.Visit(polygons);
    polygons.count = 0;
  }
  if (polygons.count > 0) call.observer.Visit(polygons);
  polygons.count = 0;
}

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(OpenUpperNodes);
HWY_EXPORT(OpenTileNodes);
HWY_EXPORT(WalkLine);

}  // namespace

LineCull::LineCull(const Line& line, const Box& reach, double magnitude) {
  const double dx = line.dx.high;
  const double dy = line.dy.high;
  const double longer = std::max(std::abs(dx), std::abs(dy));
  // The scale is 2^-e if the longer of |dx| and |dy| is in [2^e, 2^(e+1)), so that the normal's
  // components are below 2.
  const uint64_t exponent = std::bit_cast<uint64_t>(longer) >> 52;
  const double scale = exponent == 0 ? 0 : std::bit_cast<double>((uint64_t{2046} - exponent) << 52);
  SetNormal(static_cast<float>(-dy * scale), static_cast<float>(dx * scale));
  const double offset = normal_x * line.origin.x + normal_y * line.origin.y;
  const double size = std::max({magnitude, std::abs(line.origin.x), std::abs(line.origin.y)});
  const double slack = size * 0x1p-18 + 0x1p-120;
  far = 2 * size;
  least = static_cast<float>(offset - slack);
  most = static_cast<float>(offset + slack);
  SetReach(reach);
}

void LineCull::SetReach(const Box& reach) {
  min_x = static_cast<float>(std::max(reach.min.x, -far));
  min_y = static_cast<float>(std::max(reach.min.y, -far));
  max_x = static_cast<float>(std::min(reach.max.x, far));
  max_y = static_cast<float>(std::min(reach.max.y, far));
}

void LineDescent::Run(const SceneIndex& scene, size_t count, LineObserver& observer,
                      WorkMeter& meter) {
  const size_t levels = scene.tree().level_count();
  if (levels == 0) return;
  if (count <= kFew) {
    for (size_t i = 0; i < count; ++i) Walk({scene, observer, meter}, static_cast<uint16_t>(i));
    return;
  }
  for (Frontier& frontier : upper_) frontier.count = 0;
  for (Frontier& frontier : in_tiles_) frontier.count = 0;
  for (size_t i = 0; i < count; ++i) upper_[levels].Add(0, static_cast<uint16_t>(i));
  OpenUpper({scene, observer, meter}, levels);
}

void LineDescent::Walk(const Call& call, uint16_t line) {
  HWY_DYNAMIC_DISPATCH(WalkLine)(call, lines[line], line, in_tiles_[0]);
}

void LineDescent::OpenUpper(const Call& call, size_t level) {
  if (level == 0) return OpenTiles(call);
  Frontier& in = upper_[level];
  for (size_t begin = 0; begin < in.count; begin += Frontier::kPart) {
    if (!call.meter.Spend(BoxNode::kWidth * std::min(in.count - begin, Frontier::kPart))) return;
    HWY_DYNAMIC_DISPATCH(OpenUpperNodes)
    (call.scene, level - 1, {in, begin, lines.data()}, upper_[level - 1]);
    OpenUpper(call, level - 1);
  }
  in.count = 0;
}

// For each pair of a line and a tile (a group of neighbouring polygons), adds the pair of the line
// and the root of the tile's tree to the pairs of the root's level, since trees of tiles may have
// different numbers of levels.
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
    HWY_DYNAMIC_DISPATCH(OpenTileNodes)(call.scene, level - 1, {in, begin, lines.data()}, out);
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
