// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How many queries and shapes does a message have, and do answers match its queries?
//
// A server calls the counting functions before it decodes a frame (a message with groups of
// queries): if a number exceeds a limit, the server neither builds polygons nor copies columns of
// the frame. The functions read the sizes of columns (repeated fields) but no values, except for
// the beams of fans, since each beam counts as a query. Decoding checks whether columns have equal
// length (decode.h). Cost O(groups + fans). Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "carom/group.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The two numbers that a server limits for each message. Both are below 2^47: a message has fewer
// than 2^31 bytes, and an entry of a column counts as at most 2^16 queries (the beams of a fan).
struct QuestionCounts {
  // queries of all kinds, as `Group::query_count` counts them: a fan (rays from one point) counts
  // as one query for each of its beams
  uint64_t queries = 0;
  // shapes that the message describes, including shapes that no query uses, plus the edits of
  // scenes
  uint64_t shapes = 0;

  bool operator==(const QuestionCounts&) const = default;
};

// Counts the queries and shapes of a group (the queries about one scene, and edits of it; an edit
// counts as a shape).
QuestionCounts CountQuestions(const v1::Group& group);

// Counts the queries and shapes of a frame: the sums over all its groups, plus the shapes of the
// trackers (moving shapes that the server remembers) that the frame defines.
QuestionCounts CountQuestions(const v1::Frame& frame);

// Returns the number of segment casts of a group if the group has nothing else: no queries of
// another kind, shapes, bodies (placed shapes beside the scene) or edits. Returns 0 for any other
// group.
uint64_t CountLoneSegments(const v1::Group& group);

// Returns whether `answers` has one answer for each query of `asked`, for each kind of query. A
// client calls this after `DecodeGroupAnswers`, which checks that the columns of the answers match
// each other; the answers of a correct server pass. Cost: O(1), plus a read of the bit mask of the
// tracker moves, one bit for each move.
bool AnswersFit(const v1::Group& asked, const GroupAnswers& answers);

}  // namespace carom::wire
