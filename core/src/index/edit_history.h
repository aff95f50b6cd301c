// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What did the last edits of a scene touch?
//
// Each scene has a number of its own and knows the boxes that the commits that led to it touched,
// back to some commits ago: the old and the new form of every edited polygon. Who remembers
// something of an earlier scene learns here whether it still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "carom/geometry.h"

namespace carom::internal {

// Immutable, hence thread-safe.
class EditHistory {
 public:
  // So many commits are remembered, and so many boxes of each; of more, the box of all.
  static constexpr size_t kMaxCommits = 32;
  static constexpr size_t kMaxBoxes = 64;

  // Of a scene that has no past.
  EditHistory();
  // Of the scene that edits which touched `boxes` make of the one with the history `base`.
  EditHistory(const EditHistory& base, std::vector<Box> boxes);

  // The scene's number: no other scene of this process has it, and it is not 0.
  uint64_t state() const { return state_; }

  // False only if the scene with the number `since` led to this one by edits that touched nothing
  // within `radius` of `center`.
  bool MayHaveTouched(uint64_t since, Vec2 center, double radius) const;

 private:
  struct Commit {
    uint64_t base;  // the number of the scene before it
    Box all;
    std::vector<Box> boxes;  // empty: all of `all`
  };

  uint64_t state_;
  std::vector<std::shared_ptr<const Commit>> commits_;  // the last one first
};

}  // namespace carom::internal
