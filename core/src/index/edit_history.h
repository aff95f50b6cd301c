// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which parts of a scene did the last edits touch?
//
// Each version of a scene has a number of its own and a history: the boxes that the last
// `kMaxCommits` commits up to the version touched. A commit touches the old and the new bounds of
// each edited polygon. A caller that caches a result of an earlier version asks the history whether
// the result still holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "carom/geometry.h"

namespace carom::internal {

// The bounding boxes of the polygons that the last commits added, replaced or removed. A commit
// makes a version of a scene from an earlier version. It touches the boxes of the removed polygons,
// of the added polygons, and the old and new boxes of the replaced polygons. Immutable, hence
// thread-safe.
class EditHistory {
 public:
  // A history keeps at most `kMaxCommits` commits, and at most `kMaxBoxes` boxes of each commit.
  // For a commit with more boxes the history keeps the bounds of all boxes of the commit.
  static constexpr size_t kMaxCommits = 32;
  static constexpr size_t kMaxBoxes = 64;

  // Makes the history of a scene without earlier versions.
  EditHistory();
  // Makes the history of the scene that results when a commit that touches `boxes` edits the scene
  // with the history `base`.
  EditHistory(const EditHistory& base, std::vector<Box> boxes);

  // Returns the number of the version of the scene: unique in this process, and not 0.
  uint64_t state() const { return state_; }

  // Returns false only if the version with the number `since` is this version of the scene or an
  // ancestor of this version, and no commit after `since`, up to this version, touched a point
  // within `radius` of `center`.
  bool MayHaveTouched(uint64_t since, Vec2 center, double radius) const;

 private:
  struct Commit {
    uint64_t base;  // `state()` of the version of the scene that the commit edited
    Box all;        // the bounds of all boxes that the commit touched
    // The boxes that the commit touched; empty if they are more than `kMaxBoxes`: `MayHaveTouched`
    // then uses `all` alone.
    std::vector<Box> boxes;
  };

  uint64_t state_;
  std::vector<std::shared_ptr<const Commit>> commits_;  // the latest commit first
};

}  // namespace carom::internal
