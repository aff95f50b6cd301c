// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which items are near? A hierarchy of boxes over items in a fixed order.
//
// Eight consecutive items share a box, eight such boxes a larger one, and so on: an implicit tree,
// no pointers, built in O(n). It is as good as the order is local: a ring's edges are local as they
// come, polygons are sorted along a space-filling curve first. Boxes are exact (comparisons only).
// docs/adr/0003-two-level-box-hierarchy.md tells why.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "carom/geometry.h"
#include "carom/work_meter.h"

namespace carom {

// Immutable after construction, hence thread-safe.
class BoxHierarchy {
 public:
  static constexpr size_t kFanout = 8;

  // `box_of(i)` is the box of item i in [0, count).
  template <class BoxOf>
  BoxHierarchy(size_t count, BoxOf box_of) : count_(count) {
    std::vector<Box> level((count + kFanout - 1) / kFanout);
    for (size_t i = 0; i < count; ++i) level[i / kFanout].Extend(box_of(i));
    AddLevels(std::move(level));
  }

  size_t count() const { return count_; }

  // Calls visit(first, last) for each run of items whose box passes `meets(box)`, in order, while
  // it returns true and the meter allows. Returns whether both always did. Items in a run may be
  // far from each other: the visitor tests each. `meets` may be called with a box that holds other
  // items. Each box tested is a unit of work; the items are for the visitor to count.
  template <class Meets, class Visit>
  bool Traverse(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return count_ == 0 || TraverseNode(levels_.size() - 1, 0, meter, meets, visit);
  }

 private:
  void AddLevels(std::vector<Box> level);

  template <class Meets, class Visit>
  bool TraverseNode(size_t level, size_t node, WorkMeter& meter, const Meets& meets,
                    const Visit& visit) const {
    if (!meets(levels_[level][node])) return true;
    const size_t first = node * kFanout;
    if (level == 0) return visit(first, std::min(first + kFanout, count_));
    const size_t last = std::min(first + kFanout, levels_[level - 1].size());
    if (!meter.Spend(last - first)) return false;
    for (size_t child = first; child < last; ++child) {
      if (!TraverseNode(level - 1, child, meter, meets, visit)) return false;
    }
    return true;
  }

  size_t count_;
  std::vector<std::vector<Box>> levels_;  // from the boxes of items up to the root
};

}  // namespace carom
