// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "box_hierarchy.h"

#include <utility>

namespace carom {

void BoxHierarchy::AddLevels(std::vector<Box> level) {
  while (level.size() > 1) {
    std::vector<Box> above((level.size() + kFanout - 1) / kFanout);
    for (size_t i = 0; i < level.size(); ++i) above[i / kFanout].Extend(level[i]);
    levels_.push_back(std::move(level));
    level = std::move(above);
  }
  levels_.push_back(std::move(level));
}

}  // namespace carom
