// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of the answers, for any scene and any question. None of them holds by accident: each says
// that two ways to ask agree, or that an answer has the form that its header promises. A law that
// does not hold prints the case and traps. `laws.cc` is the fuzz target.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "carom/group.h"
#include "tests/support/choices.h"
#include "tests/support/group_case.h"

namespace carom::testing {

// Prints the case, the law and the numbers of the item in question, and traps.
[[noreturn]] void Break(const GroupCase& made, const char* law,
                        std::initializer_list<double> numbers);

inline void Require(bool holds, const GroupCase& made, const char* law,
                    std::initializer_list<double> numbers = {}) {
  if (!holds) Break(made, law, numbers);
}

// The answers to `group`, which is one of `made`.
GroupAnswers Evaluate(const GroupCase& made, const Group& group);

// The polygons of each item, ascending, from `counts` and ids in rows.
std::vector<std::vector<uint64_t>> IdsOf(const std::vector<uint32_t>& counts,
                                         const std::vector<uint64_t>& ids);
template <class Hit>
std::vector<std::vector<uint64_t>> IdsOf(const std::vector<uint32_t>& counts,
                                         const std::vector<Hit>& hits) requires requires(Hit hit) {
  hit.polygon_id;
}
{
  std::vector<uint64_t> ids;
  for (const Hit& hit : hits) ids.push_back(hit.polygon_id);
  return IdsOf(counts, ids);
}

// Sizes, ranges, orders, no NaN, no -0: what the headers say of every answer.
void CheckForm(const GroupCase& made, GroupAnswers& answers);

// Neither a cut through the batches, nor the order or the history of the scene's polygons changes
// a bit.
void CheckIndependence(Choices& choices, const GroupCase& made, GroupAnswers& answers);

// Bodies: polygons as bodies are answered as in the scene; rows name bodies that are considered;
// what is passed over is not there; and `CheckIndependence`. Of every kind that may consider
// bodies.
void CheckBodyLaws(Choices& choices, GroupCase& made);

// Segments: both directions, as rays, capsules, sights, sweeps of a point and straight arcs; in two
// halves; by other modes.
void CheckSegmentLaws(Choices& choices, GroupCase& made);

// Points, circles and boxes: each is a special case of others.
void CheckPointLaws(Choices& choices, GroupCase& made);

// Moving shapes: overlap, distance 0, contact, sweep from a contact, and standing free agree.
void CheckMoverLaws(Choices& choices, GroupCase& made);

// Lint: reports are in order, neither the order of polygons nor a translation changes findings, and
// edits remove what they are about.
void CheckLintLaws(Choices& choices, const GroupCase& made);

}  // namespace carom::testing
