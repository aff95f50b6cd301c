// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which items of a fixed sequence have boxes that meet a given box, or that are near the given box?
// A tree over the boxes of the items, with eight children per node, answers.
//
// Eight consecutive items make a leaf node, and eight consecutive nodes of a level make a node of
// the next level: an implicit tree without pointers, built in O(n). The closer consecutive items
// are in space, the smaller are the boxes of the nodes and the faster are searches. A node keeps
// its eight boxes in columns of floats rounded outward, 128 bytes, so that one vector operation
// compares all eight. Comparing the rounded boxes may pass too many items, never too few.
// docs/adr/0007-paged-scenes.md gives the reasons.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"
#include "numeric/lanes.h"
#include "shape/meets_box.h"

namespace carom::internal {

// Return the greatest float that is at most `value`, and the least float that is at least `value`.
// Both floats are finite for coordinates that `IsAccepted` accepts (magnitudes of at most 2^53).
inline float RoundedDown(double value) {
  const auto nearest = static_cast<float>(value);
  if (nearest <= value) return nearest;
  if (nearest == 0) return -std::numeric_limits<float>::denorm_min();
  const auto bits = std::bit_cast<int32_t>(nearest);
  // The bits of adjacent floats are adjacent integers.
  return std::bit_cast<float>(nearest > 0 ? bits - 1 : bits + 1);
}
inline float RoundedUp(double value) { return -RoundedDown(-value); }

// A box of floats, rounded outward.
struct FloatBox {
  explicit FloatBox(const Box& box)
      : min_x(RoundedDown(box.min.x)),
        min_y(RoundedDown(box.min.y)),
        max_x(RoundedUp(box.max.x)),
        max_y(RoundedUp(box.max.y)) {}

  float min_x, min_y, max_x, max_y;
};

// Eight boxes, one in each lane (element) of the columns. A lane without a box holds an empty box:
// min +inf, max -inf.
struct alignas(64) BoxNode {
  static constexpr size_t kWidth = 8;
  using Column = std::array<float, kWidth>;

  BoxNode();
  void Set(size_t lane, const Box& box);
  Box box(size_t lane) const { return {{min_x[lane], min_y[lane]}, {max_x[lane], max_y[lane]}}; }
  // Returns the bounds of all eight boxes.
  Box bounds() const;
  // Returns the lanes with boxes that may meet `reach`, which is finite. Every box that does meet
  // `reach` is among these lanes, since rounding is monotonic.
  LaneBits Meeting(const Box& reach) const;
  // Returns lower bounds of the squared distances between each box and the box `from`; +inf for
  // empty lanes.
  Column LowerDistances2(const FloatBox& from) const;

  // Returns the lanes with boxes.
  LaneBits lanes() const {
    return Bits(LoadLanes(&min_x[0]) <= LoadLanes(&max_x[0]),
                LoadLanes(&min_x[4]) <= LoadLanes(&max_x[4]));
  }
  // Returns upper bounds of the squared distances between the box `from` and the point of each box
  // that is farthest from it; without meaning for empty lanes.
  Column UpperDistances2(const FloatBox& from) const;

  // Returns the lanes of `values` that are finite and at most `limit`.
  static LaneBits Within(const Column& values, double limit);
  // Returns the lanes of `values` that may be greater than `limit`.
  static LaneBits Beyond(const Column& values, double limit);

  Column min_x, min_y, max_x, max_y;
};

inline LaneBits BoxNode::Meeting(const Box& reach) const {
  const auto half = [](const Column& column, size_t i) { return LoadLanes(&column[4 * i]); };
  const auto x0 = static_cast<float>(reach.min.x);
  const auto y0 = static_cast<float>(reach.min.y);
  const auto x1 = static_cast<float>(reach.max.x);
  const auto y1 = static_cast<float>(reach.max.y);
  const auto meeting = [&](size_t i) {
    return (half(min_x, i) <= x1) & (half(min_y, i) <= y1) & (half(max_x, i) >= x0) &
           (half(max_y, i) >= y0);
  };
  return Bits(meeting(0), meeting(1));
}

inline LaneBits BoxNode::Within(const Column& values, double limit) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const float most = limit < kMost ? RoundedUp(limit) : kMost;
  return Bits(LoadLanes(&values[0]) <= most, LoadLanes(&values[4]) <= most);
}

inline LaneBits BoxNode::Beyond(const Column& values, double limit) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const float least = limit < kMost ? RoundedDown(limit) : kMost;
  return Bits(LoadLanes(&values[0]) >= least, LoadLanes(&values[4]) >= least);
}

// Computes the gap between two boxes along each axis from rounded floats: the computed gap is
// within a factor 1 + 2^-24 of the exact gap of the float boxes, which is at most the gap of the
// boxes in doubles. So the sum of the squared gaps is within a factor 1 + 2^-21, or within 2^-147
// where it is close to underflow. The final factor and summand of `square` subtract more than both
// errors.
inline BoxNode::Column BoxNode::LowerDistances2(const FloatBox& from) const {
  Column distances2;
  const Float4 zero{};
  for (size_t i = 0; i < kWidth; i += 4) {
    const Float4 dx =
        Max(Max(LoadLanes(&min_x[i]) - from.max_x, from.min_x - LoadLanes(&max_x[i])), zero);
    const Float4 dy =
        Max(Max(LoadLanes(&min_y[i]) - from.max_y, from.min_y - LoadLanes(&max_y[i])), zero);
    const Float4 square = (dx * dx + dy * dy) * (1 - 0x1p-20F) - 0x1p-140F;
    std::memcpy(&distances2[i], &square, sizeof square);
  }
  return distances2;
}

// The float boxes contain the boxes in doubles, and the computed squares are within a factor 1 +
// 2^-21, or within 2^-147, of theirs; see `LowerDistances2`. The final factor and summand of
// `square` add more than both errors.
inline BoxNode::Column BoxNode::UpperDistances2(const FloatBox& from) const {
  Column distances2;
  for (size_t i = 0; i < kWidth; i += 4) {
    const Float4 dx = Max(LoadLanes(&max_x[i]) - from.min_x, from.max_x - LoadLanes(&min_x[i]));
    const Float4 dy = Max(LoadLanes(&max_y[i]) - from.min_y, from.max_y - LoadLanes(&min_y[i]));
    const Float4 square = (dx * dx + dy * dy) * (1 + 0x1p-20F) + 0x1p-140F;
    std::memcpy(&distances2[i], &square, sizeof square);
  }
  return distances2;
}

// A tree over the boxes of a sequence of items. A node has the boxes of up to eight children, which
// are items at level 0 and else nodes of the level below. The numbers of a node's children follow
// from the number of the node, so the tree stores no pointers. Immutable after construction but for
// `Reset`, hence thread-safe.
class BoxTree {
 public:
  // Makes an empty tree.
  BoxTree() = default;
  // Makes a tree of `count` items. `box_of(i)` returns the box of item i in [0, count).
  template <class BoxOf>
  BoxTree(size_t count, BoxOf box_of) : count_(count) {
    std::vector<BoxNode> leaves((count + BoxNode::kWidth - 1) / BoxNode::kWidth);
    for (size_t i = 0; i < count; ++i) {
      leaves[i / BoxNode::kWidth].Set(i % BoxNode::kWidth, box_of(i));
    }
    AddLevels(std::move(leaves));
  }

  // Replaces the box of an item, and enlarges or shrinks the boxes of the nodes above the item. Not
  // thread-safe: the caller calls `Reset` only before other threads can read the tree.
  void Reset(size_t item, const Box& box);

  size_t count() const { return count_; }
  size_t memory() const { return nodes_.capacity() * sizeof(BoxNode); }  // in bytes
  // Returns the number of levels, 0 for an empty tree. The root is node 0 of level level_count() -
  // 1. Child k (0 to 7) of node n is node 8 n + k of the level below; at level 0 the child is item
  // 8 n + k.
  size_t level_count() const { return level_count_; }
  const BoxNode& node(size_t level, size_t index) const {
    return nodes_[level_begin_[level] + index];
  }

  // Calls visit(item), in ascending order of the items, for each item for which `meets(box)` holds
  // for the item's box and for all its ancestors' boxes, until `visit` returns false or `meter`
  // stops the work. Returns whether the traversal ran to its end. The boxes passed to `meets` are
  // rounded outward, so slightly larger than the item's. Each box counts as one unit of work.
  //
  // `meets` may have a member `CandidatesOf`, which takes a node and returns the lanes for whose
  // boxes `meets` may hold, without empty lanes: `meets` is called for these alone. The traversal
  // is fastest when `meets` is a `MeetsBox`, which is tested for eight boxes at a time.
  template <class Meets, class Visit>
  bool Traverse(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return count_ == 0 || TraverseNode(level_count() - 1, 0, meter, meets, visit);
  }

  // Calls visit(item) for each item whose box may have a distance of at most the square root of
  // `limit2` from the box `from`, until `visit` returns false or `meter` stops the work. `visit`
  // may lower `limit2`. The traversal visits the children of each node in the order of their
  // distances from `from`, nearest first. Returns whether the traversal ran to its end.
  template <class Visit>
  bool TraverseNearest(WorkMeter& meter, const FloatBox& from, const double& limit2,
                       const Visit& visit) const {
    return count_ == 0 ||
           TraverseNearest(level_count() - 1, 0, Nearest<Visit>{meter, from, limit2, visit});
  }

 private:
  // The arguments that `TraverseNearest` passes on unchanged from a node to its children.
  template <class Visit>
  struct Nearest {
    WorkMeter& meter;
    const FloatBox& from;
    const double& limit2;
    const Visit& visit;
  };

  void AddLevels(std::vector<BoxNode> level);

  template <class Visit>
  bool TraverseNearest(size_t level, size_t index, const Nearest<Visit>& query) const {
    if (!query.meter.Spend(BoxNode::kWidth)) return false;
    const BoxNode::Column distances2 = node(level, index).LowerDistances2(query.from);
    for (LaneBits bits = BoxNode::Within(distances2, query.limit2); bits != 0;) {
      size_t nearest = static_cast<size_t>(std::countr_zero(bits));
      for (LaneBits rest = bits & (bits - 1); rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(rest));
        if (distances2[lane] < distances2[nearest]) nearest = lane;
      }
      if (distances2[nearest] > query.limit2) break;
      bits &= ~(LaneBits{1} << nearest);
      const size_t child = index * BoxNode::kWidth + nearest;
      if (!(level == 0 ? query.visit(child) : TraverseNearest(level - 1, child, query))) {
        return false;
      }
    }
    return true;
  }

  // Returns the lanes with boxes that `meets` may hold for.
  template <class Meets>
  static LaneBits CandidatesOf(const BoxNode& at, const Meets& meets) {
    if constexpr (requires { meets.CandidatesOf(at); }) {
      return meets.CandidatesOf(at);
    } else {
      return at.lanes();
    }
  }

  template <class Meets, class Visit>
  bool TraverseNode(size_t level, size_t index, WorkMeter& meter, const Meets& meets,
                    const Visit& visit) const {
    if (!meter.Spend(BoxNode::kWidth)) return false;
    const BoxNode& at = node(level, index);
    for (LaneBits bits = CandidatesOf(at, meets); bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<size_t>(std::countr_zero(bits));
      if (!meets(at.box(lane))) continue;
      const size_t child = index * BoxNode::kWidth + lane;
      if (!(level == 0 ? visit(child) : TraverseNode(level - 1, child, meter, meets, visit))) {
        return false;
      }
    }
    return true;
  }

  template <class Visit>
  bool TraverseNode(size_t level, size_t index, WorkMeter& meter, const MeetsBox& meets,
                    const Visit& visit) const {
    if (!meter.Spend(BoxNode::kWidth)) return false;
    for (LaneBits bits = node(level, index).Meeting(meets.reach); bits != 0; bits &= bits - 1) {
      const size_t child = index * BoxNode::kWidth + static_cast<size_t>(std::countr_zero(bits));
      if (!(level == 0 ? visit(child) : TraverseNode(level - 1, child, meter, meets, visit))) {
        return false;
      }
    }
    return true;
  }

  static constexpr size_t kMaxLevels = 11;  // enough for 2^32 items

  size_t count_ = 0;
  uint32_t level_count_ = 0;
  // The index in `nodes_` of the first node of each level. Level 0 has the leaves.
  std::array<uint32_t, kMaxLevels> level_begin_{};
  std::vector<BoxNode> nodes_;
};

}  // namespace carom::internal
