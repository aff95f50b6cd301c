// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Many groups of a segment or two?
//
// A batch of casts hides the time that memory takes, and a group costs a microsecond by itself. So
// neighbouring groups that differ in nothing but their segments are cast as one batch, whose
// answers are then divided into those of each group: casts do not depend on each other, so the
// bytes are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/group.h"
#include "wire/answer_bytes.h"

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
  const CastOptions& options() const { return options_; }
  // All as one; the columns are views that `Add` and `Clear` end.
  Group all() const;

  // The next member, the first one first; a view of the columns, which the next call overwrites.
  Group& Next();
  // The answers of that member out of those to `all`. Asked of each member or of none; overwritten
  // by the next call.
  const GroupAnswers& Answers(const GroupAnswers& all);
  // Instead of both, of answers without truncated segments and errors: those of the next member, as
  // a view.
  wire::CastPart NextPart(const CastAnswers& all);

  // Capacity of the answers of a member, in hits.
  size_t answer_capacity() const { return part_answers_.segments.hits.capacity(); }

 private:
  SegmentColumns Segments(size_t first, size_t end) const;
  void Advance();
  wire::CastPart Part(const CastAnswers& all);

  CastOptions options_;
  std::vector<double> ax_, ay_, bx_, by_;  // with room for all; `segments_` of each are set
  size_t segments_ = 0;
  std::vector<size_t> ends_;  // of each member, in segments
  // The last member that was asked for has the segments [first_, end_); `members_` were.
  size_t members_ = 0, first_ = 0, end_ = 0;
  // The entries of each column of answers before these are those of earlier members.
  size_t row_ = 0, truncated_ = 0, error_ = 0;
  Group part_;
  GroupAnswers part_answers_;
};

}  // namespace carom::server
