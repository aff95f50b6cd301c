// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/box_tree.h"

#include <algorithm>
#include <limits>

namespace carom::internal {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

// Lanes without a box are empty ones: from +inf to -inf, which meet nothing and extend nothing.
BoxNode::BoxNode() {
  min_x.fill(kInfinity);
  min_y.fill(kInfinity);
  max_x.fill(-kInfinity);
  max_y.fill(-kInfinity);
}

// Rounded outward, so that whatever a double's box meets, the float's box meets too.
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

// Level by level up to the root, all in one array. The number of nodes is known before, as each
// level has an eighth of the one below, rounded up.
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
