// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does the server cast fast if a frame (a client's message of queries) has many groups of
// queries with one or two segments each?
//
// A batch of casts hides the latency of memory, and evaluating a group costs a microsecond in
// addition to its casts. Therefore neighbouring groups of a frame that differ only in their
// segments are cast as one batch, and the answers of the batch are divided into the answers of each
// group. Casts do not depend on each other, so the answers have the same bytes as if each group was
// evaluated alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "carom/group.h"

namespace carom::server {

// A batch of groups of segments that are cast together; each group is a member of the batch. A
// reused batch stops allocating after some frames. Not thread-safe.
class JoinedCasts {
 public:
  // The most segments of one member (one group), and of all members of the batch together.
  static constexpr size_t kMaxOfGroup = 16;
  static constexpr size_t kMaxSegments = 256;

  void Clear();
  // Copies the segments of `group`, which must have no other queries, and makes `group` a member of
  // the batch. Returns false, and copies nothing, if the cast options of `group` differ from those
  // of the first member or if the batch would have more than `kMaxSegments` segments.
  bool Add(const Group& group);

  size_t size() const { return ends_.size(); }
  // Returns the segments of all members as one group. The coordinate columns of the returned group
  // are views of this object's memory, which `Add` and `Clear` invalidate.
  Group all() const;

  // Returns the next member, beginning with the first. The group is a view of the segments of that
  // member; the next call of `Next` overwrites the group.
  Group& Next();
  // Returns the answers of the member that `Next` returned last; `all` has the answers to the group
  // `all()`. Must be called either after every call of `Next` or never, since it reads the lists of
  // `all` on from where its last call ended. The next call overwrites the result.
  const GroupAnswers& Answers(const GroupAnswers& all);

  // Returns how many hits the buffer for the answers of one member has memory for.
  size_t answer_capacity() const { return part_answers_.segments.hits.capacity(); }

 private:
  SegmentColumns Segments(size_t first, size_t end) const;
  void Advance();

  CastOptions options_;
  // End points (ax, ay) and (bx, by) of the members' segments. The columns have `kMaxSegments`
  // entries, of which the first `segments_` are set.
  std::vector<double> ax_, ay_, bx_, by_;
  size_t segments_ = 0;
  std::vector<size_t> ends_;  // for each member: 1 + the index of its last segment
  // The member that `Advance` reached last has the segments [first_, end_). `members_` counts the
  // members up to and including that member.
  size_t members_ = 0, first_ = 0, end_ = 0;
  // Indices into the lists of the batch's answers (hits, truncated segments, which have more hits
  // than allowed, and errors): the first entry of each list that no call of `Answers` has returned
  // yet.
  size_t row_ = 0, truncated_ = 0, error_ = 0;
  Group part_;
  GroupAnswers part_answers_;
};

}  // namespace carom::server
