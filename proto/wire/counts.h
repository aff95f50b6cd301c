// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many queries and shapes does a message have, and do answers match its questions?
//
// These functions count what a server limits, before it decodes a frame: a frame above a limit
// costs neither polygons nor copies. They read the sizes of columns but no values, except for the
// beams of fans, since each beam is a query. Decoding checks whether columns have equal length
// (decode.h). Cost O(groups + fans). Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The numbers that a server limits. Both are below 2^47: a message has fewer than 2^31 bytes, and
// an entry counts as 2^16 at most.
struct QuestionCounts {
  uint64_t queries = 0;  // items of all kinds, as `Group::query_count`; a fan counts its beams
  uint64_t shapes = 0;   // described shapes, also if no item uses them, and edits

  bool operator==(const QuestionCounts&) const = default;
};

// Counts the queries and shapes of a group.
QuestionCounts CountQuestions(const v1::Group& group);

// Counts the queries and shapes of a frame: of all groups, and of the definitions of trackers.
QuestionCounts CountQuestions(const v1::Frame& frame);

// Returns the number of segments of a group that has no other questions, shapes or edits. Returns 0
// for any other group.
uint64_t CountLoneSegments(const v1::Group& group);

// Returns whether `answers` has as many items as `asked` for each kind of question. A client checks
// this for decoded answers, whose columns already fit each other; the answers of a correct server
// pass. Cost O(1), and one word per 64 moves.
bool AnswersFit(const v1::Group& asked, const GroupAnswers& answers);

}  // namespace carom::wire
