// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/box_tree.h"

#include <algorithm>
#include <limits>

namespace carom::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

// Makes all eight boxes of the node empty, from +inf to -inf: an empty box meets no box and extends
// no bounds.
BoxNode::BoxNode() {
  min_x.fill(kInfinity);
  min_y.fill(kInfinity);
  max_x.fill(-kInfinity);
  max_y.fill(-kInfinity);
}

// Rounds the box outward, so that every box that meets `box` also meets the rounded box.
void BoxNode::Set(size_t lane, const Box& box) {
  min_x[lane] = RoundedDown(box.min.x);
  min_y[lane] = RoundedDown(box.min.y);
  max_x[lane] = RoundedUp(box.max.x);
  max_y[lane] = RoundedUp(box.max.y);
}

Box BoxNode::bounds() const {
  return {{*std::min_element(min_x.begin(), min_x.end()),
           *std::min_element(min_y.begin(), min_y.end())},
          {*std::max_element(max_x.begin(), max_x.end()),
           *std::max_element(max_y.begin(), max_y.end())}};
}

void BoxTree::Reset(size_t item, const Box& box) {
  Box bounds = box;
  for (size_t level = 0; level < level_count_; ++level) {
    BoxNode& node = nodes_[level_begin_[level] + item / BoxNode::kWidth];
    node.Set(item % BoxNode::kWidth, bounds);
    bounds = node.bounds();
    item /= BoxNode::kWidth;
  }
}

// Adds the levels from the leaves up to the root in one array. The total number of nodes is known
// in advance, since each level has an eighth of the nodes of the level below, rounded up.
void BoxTree::AddLevels(std::vector<BoxNode> level) {
  size_t total = 0;
  for (size_t size = level.size(); size > 0; size = size > 1 ? (size + 7) / 8 : 0) total += size;
  nodes_.reserve(total);
  while (!level.empty()) {
    level_begin_[level_count_++] = static_cast<uint32_t>(nodes_.size());
    nodes_.insert(nodes_.end(), level.begin(), level.end());
    if (level.size() == 1) break;
    std::vector<BoxNode> above((level.size() + BoxNode::kWidth - 1) / BoxNode::kWidth);
    for (size_t i = 0; i < level.size(); ++i) {
      above[i / BoxNode::kWidth].Set(i % BoxNode::kWidth, level[i].bounds());
    }
    level = std::move(above);
  }
}

}  // namespace carom::internal
