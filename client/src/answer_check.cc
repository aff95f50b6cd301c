// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/src/answer_check.h"

#include <cstddef>

#include "wire/counts.h"

namespace carom {

absl::Status CheckFrameAnswer(const v1::Frame& asked, const FrameAnswer& answer) {
  if (answer.seq != asked.seq())
    return absl::InternalError("the answer has the seq of another frame");
  // The answer to a refused or skipped frame has no groups.
  const bool has_groups = answer.status.ok() && !answer.skipped;
  const auto groups = static_cast<size_t>(has_groups ? asked.groups_size() : 0);
  bool fits = answer.groups.size() == groups;
  for (size_t i = 0; i < answer.groups.size() && fits; ++i) {
    const GroupResult& result = answer.groups[i];
    // A group that the server refused (its status is an error) has no answers to compare.
    fits =
        !result.status.ok() || wire::AnswersFit(asked.groups(static_cast<int>(i)), result.answers);
  }
  return fits ? absl::OkStatus() : absl::InternalError("the answers do not fit the questions");
}

}  // namespace carom
