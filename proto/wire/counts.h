// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much does a message ask, before it is decoded? And is this an answer to it?
//
// What a server limits is counted here, so that a frame that asks too much costs it neither
// polygons nor copies. Sizes of columns are read, no values (but the beams of fans, each of which
// is a query): whether columns agree is found when the group is decoded (decode.h). Cost O(groups +
// fans). Thread- safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// Below 2^47 both: a message has fewer than 2^31 bytes, and an entry counts 2^16 at most.
struct QuestionCounts {
  uint64_t queries = 0;  // items of all kinds, fans by `FanQueryCount`, as `Group::query_count`
  uint64_t shapes = 0;   // that are described, also those that nothing is placed of, and edits

  bool operator==(const QuestionCounts&) const = default;
};

// What a group asks.
QuestionCounts CountQuestions(const v1::Group& group);

// What the groups of a frame ask, and the shapes of its definitions of trackers.
QuestionCounts CountQuestions(const v1::Frame& frame);

// The segments of a group that asks nothing else and describes no shape; 0 of any other group.
uint64_t CountLoneSegments(const v1::Group& group);

// Whether the answers are of as many items, in each kind of question, as the group asks. What a
// client checks of decoded answers, whose columns fit each other, and what an honest server keeps.
// Cost O(1), and a word for 64 moves.
bool AnswersFit(const v1::Group& asked, const GroupAnswers& answers);

}  // namespace carom::wire
