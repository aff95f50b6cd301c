// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/edit_history.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "numeric/box_distance.h"

namespace carom::internal {
namespace {

// Returns a number for a version of a scene, unique in this process and at least 1. The order of
// the increments is relaxed, since only uniqueness matters.
uint64_t NextState() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// Returns false only if no point of `box` is within `radius` of `center`. The factor `kUp` covers
// the rounding error of the squared radius.
bool MayMeet(const Box& box, Vec2 center, double radius) {
  return !box.empty() && LowerDistance2(box, {center, center}) <= radius * radius * kUp;
}

}  // namespace

EditHistory::EditHistory() : state_(NextState()) {}

// `boxes` are the bounding boxes of the polygons that the commit adds, replaces or removes. Shares
// the commits of `base`, so that a history costs O(kMaxCommits) pointers. For a commit with more
// than `kMaxBoxes` boxes, keeps only the bounds of all boxes of the commit.
EditHistory::EditHistory(const EditHistory& base, std::vector<Box> boxes) : state_(NextState()) {
  Commit commit{base.state_, {}, std::move(boxes)};
  for (const Box& box : commit.boxes) commit.all.Extend(box);
  if (commit.boxes.size() > kMaxBoxes) commit.boxes = {};
  commits_.push_back(std::make_shared<const Commit>(std::move(commit)));
  const size_t kept = std::min(base.commits_.size(), kMaxCommits - 1);
  commits_.insert(commits_.end(), base.commits_.begin(),
                  base.commits_.begin() + static_cast<std::ptrdiff_t>(kept));
}

// Goes back commit by commit until a commit has edited the version `since` (`Commit::base`). A
// commit may have touched the circle if one of its boxes, the bounding boxes of the polygons that
// it added, replaced or removed, may meet the circle. If no commit in `commits_` has edited the
// version `since`, that version is too old or no ancestor of this version, and may differ from this
// version anywhere.
bool EditHistory::MayHaveTouched(uint64_t since, Vec2 center, double radius) const {
  if (since == state_) return false;
  for (const std::shared_ptr<const Commit>& commit : commits_) {
    if (MayMeet(commit->all, center, radius)) {
      if (commit->boxes.empty()) return true;
      const auto meets = [&](const Box& box) { return MayMeet(box, center, radius); };
      if (std::any_of(commit->boxes.begin(), commit->boxes.end(), meets)) return true;
    }
    if (commit->base == since) return false;
  }
  return true;
}

}  // namespace carom::internal
