// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Many groups of a segment or two?
//
// A batch of casts hides the time that memory takes, and a group costs a microsecond by itself. So
// neighbouring groups that differ in nothing but their segments are cast as one batch, whose
// answers are then each group's own: as casts do not know of each other, the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/group.h"

namespace carom::server {

// Groups that are cast together. Reused, it stops allocating once warm. Not thread-safe.
class JoinedCasts {
 public:
  // What a group may ask to be joined, in segments, and all together.
  static constexpr size_t kMaxOfGroup = 16;
  static constexpr size_t kMaxSegments = 256;

  void Clear();
  // Copies the segments of a group that asks nothing else. False, and nothing is copied, if its
  // options are not those of the first one, or there would be too many.
  bool Add(const Group& group);

  size_t size() const { return ends_.size(); }
  // All as one; the columns are views that `Add` and `Clear` end.
  Group all() const;

  // The next member's part of the answers to `all`, the first member's first. Both are overwritten
  // by the next call.
  struct Part {
    const Group& group;
    const GroupAnswers& answers;
  };
  Part Next(const GroupAnswers& all);

  // Room that answers of parts take, in hits.
  size_t answer_capacity() const { return part_answers_.segments.hits.capacity(); }

 private:
  SegmentColumns Segments(size_t first, size_t end) const;

  CastOptions options_;
  std::vector<double> ax_, ay_, bx_, by_;
  std::vector<size_t> ends_;  // of each member, in segments
  // Where `Next` is.
  size_t member_ = 0, segment_ = 0, row_ = 0, truncated_ = 0, error_ = 0;
  Group part_;
  GroupAnswers part_answers_;
};

}  // namespace carom::server
