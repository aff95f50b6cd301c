// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers the items of a group with a moment that the group's history of bodies does not keep: each
// is an error of the item, named `as_of`.
//
// The kinds of queries do not know about moments. The items are evaluated with a coordinate that
// every kind refuses, so that they get no rows, and their errors are replaced afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "carom/group.h"
#include "carom/group_kinds.h"

namespace carom::internal {

// The items of one group with moments that are not kept. The group, with its history, must outlive
// the object.
class ItemsOutOfRange {
 public:
  explicit ItemsOutOfRange(const Group& group);

  bool any() const { return any_; }
  // Returns the group to evaluate in place of the original. May be called only if `any()`.
  const Group& group() const { return group_; }
  // Replaces the errors of the items in the answers to `group()`.
  void Report(GroupAnswers& answers) const;

 private:
  bool any_ = false;
  Group group_;
  // For each kind, by its position in the list: the items, ascending, and the column that replaces
  // the first column of coordinates.
  std::array<std::vector<uint32_t>, kGroupKindCount> items_;
  std::array<std::vector<double>, kGroupKindCount> columns_;
};

}  // namespace carom::internal
