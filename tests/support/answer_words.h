// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// Answers as plain numbers, field by field and without padding: to hash them, to compare them to
// the bit, and to put the answers of two parts of a batch together. Start with `WordsOf`.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "carom/group.h"
#include "carom/group_kinds.h"

namespace carom::testing {

// The columns of a batch that have rows of items; `errors` and, where there is one, `truncated`
// hold indices of items and stand beside.
inline auto Columns(auto& a) requires requires { a.reflections; }
{ return std::tie(a.counts, a.hits, a.reflections, a.passed, a.soft_lengths); }
inline auto Columns(auto& a) requires requires { a.locations; }
{ return std::tie(a.counts, a.polygon_ids, a.locations); }
inline auto Columns(auto& a) requires requires { a.edge_counts; }
{ return std::tie(a.counts, a.polygon_ids, a.touching, a.edge_counts, a.edges); }
inline auto Columns(auto& a) requires requires { a.rows; }
{ return std::tie(a.counts, a.polygon_ids, a.rows); }
inline auto Columns(auto& a) requires requires { a.splits; }
{ return std::tie(a.counts, a.polygon_ids, a.contacts, a.splits); }
inline auto Columns(auto& a) requires requires { a.finished; }
{ return std::tie(a.positions, a.finished, a.steps); }
inline auto Columns(auto& a) requires requires { a.visible; }
{ return std::tie(a.visible); }
inline auto Columns(auto& a) requires requires { a.distances; }
{ return std::tie(a.counts, a.hits, a.distances, a.polygon_ids); }
// Sweeps, rotating sweeps, arcs.
template <class Hit>
auto ColumnsOfHits(std::vector<uint32_t>& counts, std::vector<Hit>& hits) {
  return std::tie(counts, hits);
}
inline auto Columns(SweepAnswers& a) { return ColumnsOfHits(a.counts, a.hits); }
inline auto Columns(RotatingSweepAnswers& a) { return ColumnsOfHits(a.counts, a.hits); }
inline auto Columns(ArcAnswers& a) { return ColumnsOfHits(a.counts, a.hits); }
inline auto Columns(SlideAnswers& a) { return std::tie(a.rows, a.legs); }
inline auto Columns(BounceAnswers& a) { return std::tie(a.counts, a.legs); }
inline auto Columns(RayBounceAnswers& a) { return std::tie(a.counts, a.legs); }
inline auto Columns(AreaAnswers& a) {
  return std::tie(a.counts, a.pieces, a.areas, a.starts_inside);
}
inline auto Columns(SeeAnswers& a) { return std::tie(a.counts, a.seen, a.starts_inside); }
// Of moves the rows; which items have some stands beside, in `clear`. Advice is left out.
inline auto Columns(MoveAnswers& a) {
  return std::tie(a.counts, a.polygon_ids, a.edge_counts, a.edges, a.first_touches);
}

// The answers of a batch.
struct Words {
  const char* batch = "";
  std::vector<uint64_t> values;  // each vector by its size, then its elements
  bool clean = true;             // no NaN and no -0 anywhere

  bool operator==(const Words& other) const { return values == other.values; }
};

// One entry a batch, in the order of `ForEachKind`.
std::vector<Words> WordsOf(GroupAnswers& answers);

// Appends the answers of a later part of each batch; the parts before hold `offset.*` items each,
// in the order of `ForEachKind`.
void Append(GroupAnswers& to, GroupAnswers& part, const std::vector<uint32_t>& offsets);

}  // namespace carom::testing
