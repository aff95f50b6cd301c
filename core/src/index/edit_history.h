// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a scene did the last edits touch?
//
// Each scene has a number of its own and a history: the boxes of the last `kMaxCommits` commits
// that led to the scene. A commit touches the old and the new bounds of each edited polygon. A
// caller that caches a result of an earlier scene asks the history whether the result still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "carom/geometry.h"

namespace carom::internal {

// The boxes that the last commits touched. Immutable, hence thread-safe.
class EditHistory {
 public:
  // A history keeps at most `kMaxCommits` commits, and at most `kMaxBoxes` boxes of each. Of a
  // commit with more boxes the history keeps the union.
  static constexpr size_t kMaxCommits = 32;
  static constexpr size_t kMaxBoxes = 64;

  // Makes the history of a scene without earlier versions.
  EditHistory();
  // Makes the history of the scene that results when a commit that touches `boxes` edits the scene
  // with the history `base`.
  EditHistory(const EditHistory& base, std::vector<Box> boxes);

  // Returns the number of the scene: unique in this process, and not 0.
  uint64_t state() const { return state_; }

  // Returns false only if the scene with the number `since` is this scene or an ancestor of it, and
  // no commit between them touched a point within `radius` of `center`.
  bool MayHaveTouched(uint64_t since, Vec2 center, double radius) const;

 private:
  struct Commit {
    uint64_t base;  // the number of the parent scene
    Box all;
    std::vector<Box> boxes;  // empty: the commit touched all of `all`
  };

  uint64_t state_;
  std::vector<std::shared_ptr<const Commit>> commits_;  // the latest first
};

}  // namespace carom::internal
