// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which kinds of questions can a group contain?
//
// `CAROM_GROUP_KINDS` is the only list of the kinds. Code that treats every kind iterates over the
// list with `ForEachKind`: to count, check, evaluate, clear, encode and decode a group. A kind that
// the list lacks does not compile (group.cc), and a kind that only the .proto files contain fails
// tests/wire/counts_test.cc. This header is for programs that treat all kinds alike; to ask
// questions, carom/group.h is enough.
//
//   size_t items = 0;
//   ForEachKind([&](const auto& kind) { items += (group.*kind.columns).size(); });
//   // items == 1: the group asks about one point
//
// Cost: `ForEachKind` is O(1), a call for each of `kGroupKindCount` kinds. Thread-safe. Cheaper
// alternative: carom/group.h.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "carom/group.h"

// Expands KIND(name, options, evaluate) for each kind, in the order of the members of `Group`.
// `name`: the member of `Group`, of `GroupAnswers`, of v1.Group and of v1.GroupAnswer. `options`:
// the member of `Group` with the options of the kind. `evaluate`: the function that answers the
// kind.
#define CAROM_GROUP_KINDS(KIND)                                \
  KIND(segments, cast_options, CastSegments)                   \
  KIND(points, point_mask, LocatePoints)                       \
  KIND(circles, circle_options, OverlapCircles)                \
  KIND(polygons, polygon_options, OverlapPolygons)             \
  KIND(rays, ray_options, CastRays)                            \
  KIND(capsules, capsule_options, OverlapCapsules)             \
  KIND(boxes, box_options, OverlapBoxes)                       \
  KIND(distances, distance_options, MeasureDistances)          \
  KIND(contacts, contact_options, FindContacts)                \
  KIND(depenetrations, depenetration_options, Depenetrate)     \
  KIND(sweeps, sweep_options, SweepShapes)                     \
  KIND(rotating_sweeps, rotating_sweep_options, SweepRotating) \
  KIND(arcs, arc_options, CastArcs)                            \
  KIND(sights, sight_options, TestLinesOfSight)                \
  KIND(fans, fan_options, ScanFans)                            \
  KIND(moves, move_options, MoveTrackers)                      \
  KIND(slides, slide_options, SlideShapes)                     \
  KIND(bounces, bounce_options, BounceSegments)                \
  KIND(body_contacts, body_contact_options, FindBodyContacts)  \
  KIND(ray_bounces, ray_bounce_mask, BounceRays)               \
  KIND(areas, area_options, FindAreas)                         \
  KIND(sees, see_options, FindSeen)

// Makes the `GroupKind` of an entry of the list.
#define CAROM_GROUP_KIND(name, options, evaluate)                            \
  ::carom::GroupKind(#name, &::carom::Group::name, &::carom::Group::options, \
                     &::carom::GroupAnswers::name, &::carom::evaluate)

namespace carom {

// Describes one kind of question: its columns, options and answers, and the function that answers
// it.
template <class ColumnsT, class OptionsT, class AnswersT, class Evaluate>
struct GroupKind {
  using Columns = ColumnsT;
  using Options = OptionsT;  // a mask, if the kind has no other option
  using Answers = AnswersT;
  // Whether the kind can consider bodies: its function takes a `World` in place of a `Scene`.
  static constexpr bool kMayAskBodies = std::is_invocable_v<Evaluate*, const World&, const Columns&,
                                                            const Options&, Answers&, WorkMeter&>;

  constexpr GroupKind(const char* name, Columns Group::*columns, Options Group::*options,
                      Answers GroupAnswers::*answers, Evaluate* evaluate)
      : name(name), columns(columns), options(options), answers(answers), evaluate(evaluate) {}

  const char* name;
  Columns Group::*columns;
  Options Group::*options;
  Answers GroupAnswers::*answers;
  // Takes (scene, columns, options, answers, meter); returns false if the meter stopped the work.
  Evaluate* evaluate;
};

inline constexpr std::tuple kGroupKinds{
#define CAROM_LISTED_KIND(name, options, evaluate) CAROM_GROUP_KIND(name, options, evaluate),
    CAROM_GROUP_KINDS(CAROM_LISTED_KIND)
#undef CAROM_LISTED_KIND
};
inline constexpr size_t kGroupKindCount = std::tuple_size_v<decltype(kGroupKinds)>;

// Calls f(kind) for each `GroupKind` of the list, in the order of the list.
template <class F>
constexpr void ForEachKind(F&& f) {
  std::apply([&](const auto&... kind) { (f(kind), ...); }, kGroupKinds);
}

// A set of kinds, as bits by the positions of the kinds in the list.
using GroupKindSet = std::bitset<kGroupKindCount>;

// Calls f(kind) for each kind in `kinds`, where kind is an element of the tuple `kList`, which has
// one element for each kind of the list. Cost: O(kinds).
template <const auto& kList, class F>
void ForEachOf(const GroupKindSet& kinds, F&& f) {
  using Call = void (*)(std::remove_reference_t<F>&);
  static constexpr auto kCalls = []<size_t... kIndex>(std::index_sequence<kIndex...>) {
    return std::array<Call, kGroupKindCount>{[](auto& call) { call(std::get<kIndex>(kList)); }...};
  }
  (std::make_index_sequence<kGroupKindCount>());
  for (uint64_t left = kinds.to_ullong(); left != 0; left &= left - 1) {
    kCalls[static_cast<size_t>(std::countr_zero(left))](f);
  }
}

// Does what `CheckGroup(group)` does, for a group in which only `kinds` have columns or changed
// options. Cheaper if `kinds` are few, as in a frame of many small groups.
absl::Status CheckGroup(const Group& group, const GroupKindSet& kinds);

// Does what `EvaluateGroup(scene, group, out, meter)` does, for a group in which only `kinds` have
// queries, with bodies that the caller has placed: `group.bodies` and `group.body_history` are
// ignored. Leaves the answers of
// other kinds as they are. Cheaper if `kinds` are few.
absl::Status EvaluateGroup(const World& world, const Group& group, const GroupKindSet& kinds,
                           GroupAnswers& out, WorkMeter& meter);

// --- Properties of kinds

// `kMayAskBodies` of a kind, by value or by reference.
template <class Kind>
inline constexpr bool kAsksBodies = std::remove_cvref_t<Kind>::kMayAskBodies;
// Whether items of the kind consider bodies whatever their scope says.
template <class Kind>
inline constexpr bool kAlwaysAsksBodies =
    std::is_same_v<typename std::remove_cvref_t<Kind>::Answers, SeeAnswers>;

// Columns that contain placed shapes, themselves or in their member `movers`.
template <class Columns>
concept HasShapes = requires(const Columns& columns) {
  columns.shapes;
}
|| requires(const Columns& columns) { columns.movers; };

// Returns the placed shapes of a kind: the member `movers` of its columns, or the columns
// themselves.
template <HasShapes Columns>
auto& PlacedOf(Columns& columns) {
  if constexpr (requires { columns.movers; }) {
    return columns.movers;
  } else {
    return columns;
  }
}

// Columns that have a scope, themselves or in their member `movers`. `ScopeOf` returns the scope.
template <class Columns>
concept HasScope = requires(const Columns& columns) {
  columns.scope;
}
|| requires(const Columns& columns) { columns.movers.scope; };
template <HasScope Columns>
auto& ScopeOf(Columns& columns) {
  if constexpr (requires { columns.scope; }) {
    return columns.scope;
  } else {
    return columns.movers.scope;
  }
}

// Returns the number of items that `answers` belong to.
template <class Answers>
size_t ItemCount(const Answers& answers) {
  if constexpr (requires { answers.counts; }) {
    return answers.counts.size();
  } else if constexpr (requires { answers.positions; }) {
    return answers.positions.size();
  } else if constexpr (requires { answers.legs; }) {
    return answers.rows.size();
  } else {
    return answers.visible.size();
  }
}

// Returns the number of items of moves: one bit of `clear` for each clear item, one count for each
// other item.
inline size_t ItemCount(const MoveAnswers& answers) {
  size_t items = answers.counts.size();
  for (const uint64_t word : answers.clear) items += static_cast<size_t>(std::popcount(word));
  return items;
}

// Returns the capacity, in rows, of the largest column of `answers` that can have more rows than
// items.
template <class Answers>
size_t RowCapacity(const Answers& answers) {
  size_t most = 0;
  if constexpr (requires { answers.hits; }) most = std::max(most, answers.hits.capacity());
  if constexpr (requires { answers.legs; }) most = std::max(most, answers.legs.capacity());
  if constexpr (requires { answers.pieces; }) most = std::max(most, answers.pieces.capacity());
  if constexpr (requires { answers.polygon_ids; }) {
    most = std::max(most, answers.polygon_ids.capacity());
  }
  if constexpr (requires { answers.edges; }) most = std::max(most, answers.edges.capacity());
  if constexpr (requires { answers.seen; }) most = std::max(most, answers.seen.capacity());
  return most;
}

}  // namespace carom
