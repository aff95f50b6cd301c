// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many queries and shapes does a message have, and do answers match its queries?
//
// These functions count what a server limits, before it decodes a frame (a message with groups of
// queries): for a frame above a limit, the server neither builds polygons nor copies columns. They
// read the sizes of columns (repeated fields) but no values, except for the beams of fans, since
// each beam counts as a query. Decoding checks whether columns have equal length (decode.h). Cost
// O(groups + fans). Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The numbers that a server limits. Both are below 2^47: a message has fewer than 2^31 bytes, and
// an entry of a column counts as at most 2^16 queries.
struct QuestionCounts {
  // queries of all kinds, as counted by `Group::query_count`: a fan counts as many as its beams
  uint64_t queries = 0;
  // shapes that the message describes, also if no query uses them, plus edits of the scene
  uint64_t shapes = 0;

  bool operator==(const QuestionCounts&) const = default;
};

// Counts the queries and shapes of a group (the queries about one scene).
QuestionCounts CountQuestions(const v1::Group& group);

// Counts the queries and shapes of a frame: of all its groups, and of the trackers that it defines.
QuestionCounts CountQuestions(const v1::Frame& frame);

// Returns the number of segments that a group casts, if the group has no other queries, shapes or
// edits. Returns 0 for any other group.
uint64_t CountLoneSegments(const v1::Group& group);

// Returns whether `answers` has one answer for each query of `asked`, for each kind of query. A
// client checks this for decoded answers, whose columns already fit each other; the answers of a
// correct server pass. Cost O(1), and one 64-bit word per 64 moves of trackers.
bool AnswersFit(const v1::Group& asked, const GroupAnswers& answers);

}  // namespace carom::wire
