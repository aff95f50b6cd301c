// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/joined_casts.h"

namespace carom::server {

void JoinedCasts::Clear() {
  for (std::vector<double>* column : {&ax_, &ay_, &bx_, &by_}) column->clear();
  ends_.clear();
  member_ = segment_ = row_ = truncated_ = error_ = 0;
}

bool JoinedCasts::Add(const Group& group) {
  const SegmentColumns& segments = group.segments;
  if (ends_.empty()) options_ = group.cast_options;
  if (options_ != group.cast_options || ax_.size() + segments.size() > kMaxSegments) return false;
  const auto append = [](std::span<const double> from, std::vector<double>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(segments.ax, ax_);
  append(segments.ay, ay_);
  append(segments.bx, bx_);
  append(segments.by, by_);
  ends_.push_back(ax_.size());
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
  group.segments = Segments(0, ax_.size());
  return group;
}

JoinedCasts::Part JoinedCasts::Next(const GroupAnswers& all) {
  const CastAnswers& casts = all.segments;
  CastAnswers& part = part_answers_.segments;
  part.Clear();
  part_answers_.version = all.version;
  const size_t first = segment_, first_row = row_;
  segment_ = ends_[member_++];
  part_.cast_options = options_;
  part_.segments = Segments(first, segment_);
  part.counts.assign(casts.counts.begin() + first, casts.counts.begin() + segment_);
  if (!casts.hits.empty()) {  // under ANY there are none
    for (const uint32_t count : part.counts) row_ += count;
    part.hits.assign(casts.hits.begin() + first_row, casts.hits.begin() + row_);
  }
  if (!casts.reflections.empty()) {
    part.reflections.assign(casts.reflections.begin() + first_row,
                            casts.reflections.begin() + row_);
  }
  for (; truncated_ < casts.truncated.size() && casts.truncated[truncated_] < segment_;
       ++truncated_) {
    part.truncated.push_back(casts.truncated[truncated_] - static_cast<uint32_t>(first));
  }
  for (; error_ < casts.errors.size() && casts.errors[error_].index < segment_; ++error_) {
    part.errors.push_back(casts.errors[error_]);
    part.errors.back().index -= static_cast<uint32_t>(first);
  }
  return {part_, part_answers_};
}

}  // namespace carom::server
