// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/joined_casts.h"

namespace carom::server {

void JoinedCasts::Clear() {
  ends_.clear();
  segments_ = members_ = first_ = end_ = row_ = truncated_ = error_ = 0;
}

// Copies segment by segment: most members of a batch (groups of queries) have one segment, for
// which a loop is faster than a call of memmove.
bool JoinedCasts::Add(const Group& group) {
  const SegmentColumns& segments = group.segments;
  const size_t count = segments.size();
  if (ends_.empty()) {
    options_ = group.cast_options;
    for (std::vector<double>* column : {&ax_, &ay_, &bx_, &by_}) column->resize(kMaxSegments);
  }
  if (options_ != group.cast_options || segments_ + count > kMaxSegments) return false;
  for (size_t i = 0; i < count; ++i, ++segments_) {
    ax_[segments_] = segments.ax[i];
    ay_[segments_] = segments.ay[i];
    bx_[segments_] = segments.bx[i];
    by_[segments_] = segments.by[i];
  }
  ends_.push_back(segments_);
  return true;
}

SegmentColumns JoinedCasts::Segments(size_t first, size_t end) const {
  const auto part = [&](const std::vector<double>& column) {
    return std::span<const double>(column).subspan(first, end - first);
  };
  return {part(ax_), part(ay_), part(bx_), part(by_)};
}

Group JoinedCasts::all() const {
  Group group;
  group.cast_options = options_;
  group.segments = Segments(0, segments_);
  return group;
}

void JoinedCasts::Advance() {
  first_ = end_;
  end_ = ends_[members_++];
}

Group& JoinedCasts::Next() {
  Advance();
  part_.cast_options = options_;
  part_.segments = Segments(first_, end_);
  return part_;
}

// In mode ANY (does a segment hit anything?) the answers of the batch have counts but no hits. If
// reflections are requested, the answers have one reflection for each hit.
const GroupAnswers& JoinedCasts::Answers(const GroupAnswers& all) {
  const CastAnswers& casts = all.segments;
  CastAnswers& part = part_answers_.segments;
  part.Clear();
  part_answers_.version = all.version;
  part.counts.assign(casts.counts.begin() + first_, casts.counts.begin() + end_);
  if (!casts.hits.empty()) {
    const size_t first_row = row_;
    for (const uint32_t count : part.counts) row_ += count;
    part.hits.assign(casts.hits.begin() + first_row, casts.hits.begin() + row_);
    if (!casts.reflections.empty()) {
      part.reflections.assign(casts.reflections.begin() + first_row,
                              casts.reflections.begin() + row_);
    }
  }
  const auto copy_part = [&](const auto& from, auto& to) {
    if (from.empty()) return;
    to.assign(from.begin() + static_cast<std::ptrdiff_t>(first_),
              from.begin() + static_cast<std::ptrdiff_t>(end_));
  };
  copy_part(casts.passed, part.passed);
  copy_part(casts.soft_lengths, part.soft_lengths);
  // The truncated segments and the errors of the batch are ascending lists of segment indices. In
  // the answers of a member, the indices count from the first segment of the member.
  const auto first = static_cast<uint32_t>(first_);
  for (; truncated_ < casts.truncated.size() && casts.truncated[truncated_] < end_; ++truncated_) {
    part.truncated.push_back(casts.truncated[truncated_] - first);
  }
  for (; error_ < casts.errors.size() && casts.errors[error_].index < end_; ++error_) {
    part.errors.push_back(casts.errors[error_]);
    part.errors.back().index -= first;
  }
  return part_answers_;
}

}  // namespace carom::server
