// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "wire/counts.h"

#include "wire/columns.h"
#include "wire/kinds.h"

namespace carom::wire {
namespace {

// Returns the number of queries of a batch (the queries of one kind): the length of the column that
// every query has. A client sends this column either as doubles or as floats, and the other form is
// empty, so the lengths of both are added. The function does not compile for a kind of query
// without such a column.
template <class Message>
uint64_t ItemsAsked(const Message& message) {
  if constexpr (requires { message.movers(); }) {
    return ItemsAsked(message.movers());
  } else if constexpr (requires { message.body(); }) {
    return static_cast<uint64_t>(message.body_size());
  } else if constexpr (requires { message.min_x(); }) {
    return static_cast<uint64_t>(message.min_x_size());
  } else {
    const auto items = [](const auto& columns) {
      // Arcs have both `x` and `ax`: their `ax` is an acceleration, not the start of a segment.
      if constexpr (requires { columns.x(); }) {
        return static_cast<uint64_t>(columns.x_size());
      } else {
        return static_cast<uint64_t>(columns.ax_size());
      }
    };
    if constexpr (requires { message.floats(); }) {
      return items(message) + items(message.floats());
    } else {
      return items(message);
    }
  }
}

template <class Message>
uint64_t QueriesAsked(const Message& message) {
  return ItemsAsked(message);
}
uint64_t QueriesAsked(const v1::Fans& fans) { return FanQueryCount(View(fans.beams())); }

template <class Message>
uint64_t ShapesDescribed(const Message& message) {
  if constexpr (requires { message.movers(); }) {
    return ShapesDescribed(message.movers());
  } else if constexpr (requires { message.shapes(); }) {
    return static_cast<uint64_t>(message.shapes_size());
  } else {
    return 0;
  }
}

template <class Message, class Answers>
bool Fits(const Message& asked, const Answers& answers) {
  return ItemCount(answers) == ItemsAsked(asked);
}

// Returns whether the answers to moves of trackers match `asked`. Bit i of `clear` is 1 if move i
// touches nothing, and `counts` has an entry for every other move. If `asked` sweeps the trackers,
// `first_touches` has an entry for each entry of `counts`; if it requests edges, `edge_counts` has
// an entry for each touched polygon.
bool Fits(const v1::TrackerMoves& asked, const MoveAnswers& answers) {
  const size_t items = ItemCount(answers);
  const size_t sweeps = asked.from_x_size() == 0 ? 0 : answers.counts.size();
  const size_t edges = asked.detail() == v1::OVERLAP_DETAIL_EDGES ? answers.polygon_ids.size() : 0;
  return items == ItemsAsked(asked) && answers.clear.size() == (items + 63) / 64 &&
         answers.first_touches.size() == sweeps && answers.edge_counts.size() == edges;
}

}  // namespace

QuestionCounts CountQuestions(const v1::Group& group) {
  QuestionCounts counts;
  counts.shapes = ShapesDescribed(group.bodies().placed());
  ForEachOf<kWireKinds>(KindsAsked(group), [&](const auto& kind) {
    const auto& message = (group.*kind.question.get)();
    counts.queries += QueriesAsked(message);
    counts.shapes += ShapesDescribed(message);
  });
  counts.shapes += static_cast<uint64_t>(group.edits().edits_size());
  return counts;
}

QuestionCounts CountQuestions(const v1::Frame& frame) {
  QuestionCounts counts;
  for (const v1::TrackerDefinitions& definitions : frame.trackers()) {
    counts.shapes += ShapesDescribed(definitions);
  }
  for (const v1::BodySet& set : frame.body_sets()) counts.shapes += ShapesDescribed(set);
  for (const v1::Group& group : frame.groups()) {
    const QuestionCounts of_group = CountQuestions(group);
    counts.queries += of_group.queries;
    counts.shapes += of_group.shapes;
  }
  return counts;
}

uint64_t CountLoneSegments(const v1::Group& group) {
  const uint64_t segments = ItemsAsked(group.segments());
  // Fast path: if the group has at most one kind of query, as most groups have, and no bodies or
  // edits, then its queries are either all segments or none is, and `segments` is the answer.
  const uint64_t kinds = KindsAsked(group).to_ullong();
  if ((kinds & (kinds - 1)) == 0 && !group.has_bodies() && !group.has_body_set() &&
      !group.has_edits()) {
    return segments;
  }
  if (group.has_body_set()) return 0;
  return CountQuestions(group) == QuestionCounts{.queries = segments} ? segments : 0;
}

bool AnswersFit(const v1::Group& asked, const GroupAnswers& answers) {
  bool fit = true;
  ForEachWireKind([&](const auto& kind) {
    fit = fit && Fits((asked.*kind.question.get)(), answers.*kind.core.answers);
  });
  return fit;
}

}  // namespace carom::wire
