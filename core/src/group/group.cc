// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/group.h"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/thread_scratch.h"
#include "carom/group_kinds.h"
#include "group/items_out_of_range.h"
#include "index/body_set.h"
#include "numeric/exact_count.h"

namespace carom {
namespace {

// Converts implicitly to any type, so that it can initialize any member of an aggregate.
struct AnyMember {
  template <class T>
  operator T() const;  // NOLINT: implicit, as initializers are
};

// Returns whether an aggregate can be initialized from as many values as `kIndex` has numbers, that
// is, whether the aggregate has at least that many members.
template <class Aggregate, size_t... kIndex>
constexpr bool TakesValues(std::index_sequence<kIndex...>) {
  return requires { Aggregate{(static_cast<void>(kIndex), AnyMember())...}; };
}
template <class Aggregate, size_t kCount>
inline constexpr bool kHasMembers = TakesValues<Aggregate>(std::make_index_sequence<kCount>()) &&
                                    !TakesValues<Aggregate>(std::make_index_sequence<kCount + 1>());

// Checks that CAROM_GROUP_KINDS lists every kind of query (casts, overlaps, sweeps, ...): for each
// kind, `Group` has two members, columns and options, and `GroupAnswers` has one, the answers. The
// only further members of `Group` are those of bodies, three, and of `GroupAnswers`, `version`.
static_assert(kHasMembers<Group, 3 + 2 * kGroupKindCount>,
              "a member of Group that is not in CAROM_GROUP_KINDS");
static_assert(kHasMembers<GroupAnswers, 1 + kGroupKindCount>,
              "a member of GroupAnswers that is not in CAROM_GROUP_KINDS");

template <class Columns>
uint64_t QueryCount(const Columns& columns) {
  return columns.size();
}
uint64_t QueryCount(const FanColumns& fans) { return FanQueryCount(fans.beams); }

// Returns whether the group (queries of all kinds, evaluated together) has bodies and at least one
// query that considers bodies.
bool ConsidersBodies(const Group& group) {
  bool considers = false;
  ForEachKind([&](const auto& kind) {
    const auto& columns = group.*kind.columns;
    if constexpr (kAsksBodies<decltype(kind)> && HasScope<std::remove_cvref_t<decltype(columns)>>) {
      considers =
          considers || (columns.size() > 0 && (kAlwaysAsksBodies<decltype(kind)> ||
                                               ScopeOf(columns).against != Against::kScene));
    }
  });
  considers = considers || group.body_contacts.size() > 0;
  return considers && (group.body_history != nullptr ? group.body_history->tick_count() > 0
                                                     : group.bodies.size() > 0);
}

// Returns the status of an evaluation: OK if it has finished, else why `meter` stopped it.
absl::Status StatusOf(bool finished, const WorkMeter& meter) {
  if (finished && !meter.stopped()) return absl::OkStatus();
  if (meter.out_of_rows()) {
    return absl::ResourceExhaustedError("the answers have too many rows (answer rows a frame)");
  }
  return absl::DeadlineExceededError("the work was stopped: the frame's budget or deadline ended");
}

absl::Status EvaluateKept(const Scene& scene, const Group& group, GroupAnswers& out,
                          WorkMeter& meter);

}  // namespace

uint64_t FanQueryCount(std::span<const uint32_t> beams) {
  uint64_t count = 0;
  for (const uint32_t n : beams) count += n >= 1 && n <= kMaxBeams ? n : 1;
  return count;
}

uint64_t Group::query_count() const {
  uint64_t count = 0;
  ForEachKind([&](const auto& kind) { count += QueryCount(this->*kind.columns); });
  return count;
}

void GroupAnswers::Clear() {
  version = 0;
  ForEachKind([&](const auto& kind) { (this->*kind.answers).Clear(); });
}

size_t GroupAnswers::row_capacity() const {
  size_t most = 0;
  ForEachKind([&](const auto& kind) { most = std::max(most, RowCapacity(this->*kind.answers)); });
  return most;
}

absl::Status EvaluateGroup(const World& world, const Group& group, const GroupKindSet& kinds,
                           GroupAnswers& out, WorkMeter& meter) {
  const internal::ExactCountScope exact(meter);
  out.version = world.scene.version();
  bool finished = !meter.stopped();
  ForEachOf<kGroupKinds>(kinds, [&](const auto& kind) {
    if (!finished) return;
    auto& answers = out.*kind.answers;
    if constexpr (kAsksBodies<decltype(kind)>) {
      finished = kind.evaluate(world, group.*kind.columns, group.*kind.options, answers, meter);
    } else {
      finished =
          kind.evaluate(world.scene, group.*kind.columns, group.*kind.options, answers, meter);
    }
  });
  return StatusOf(finished, meter);
}

absl::Status EvaluateGroup(const Scene& scene, const Group& group, GroupAnswers& out,
                           WorkMeter& meter) {
  if (group.body_history != nullptr) {
    internal::ItemsOutOfRange items(group);
    if (items.any()) {
      absl::Status status = EvaluateKept(scene, items.group(), out, meter);
      items.Report(out);
      return status;
    }
  }
  return EvaluateKept(scene, group, out, meter);
}

namespace {

// Evaluates a group in which the history, if there is one, keeps the moment of every valid item.
absl::Status EvaluateKept(const Scene& scene, const Group& group, GroupAnswers& out,
                          WorkMeter& meter) {
  // Clears the answers of moves before anything else: if bodies are refused, or if the meter stops
  // before the moves are evaluated, the caller still reads `out.moves.memory_growth`, by how much
  // the memory of the trackers has grown, which must then be 0.
  out.moves.Clear();
  const internal::ExactCountScope exact(meter);
  std::optional<internal::ThreadScratch<Bodies>> bodies;
  if (ConsidersBodies(group)) {
    internal::BodySet& set = (*bodies.emplace()).set();
    if (group.body_history != nullptr) {
      set.Follow(*group.body_history, group.body_rotation, meter);
    } else if (absl::Status status = set.Place(group.bodies, meter); !status.ok()) {
      return status;
    }
  }
  GroupKindSet asked;
  size_t position = 0;
  ForEachKind([&](const auto& kind) {
    // Most kinds of query have no query in a group (the queries that are evaluated together): for
    // such a kind, only clears the answers of an earlier group.
    if ((group.*kind.columns).size() != 0) {
      asked.set(position);
    } else {
      (out.*kind.answers).Clear();
    }
    ++position;
  });
  const World world(scene, bodies ? &**bodies : nullptr);
  absl::Status status = EvaluateGroup(world, group, asked, out, meter);
  if (bodies) (*bodies)->set().Forget();
  if (bodies && (*bodies)->set().IsWorthKeeping()) bodies->Return();
  return status;
}

}  // namespace

}  // namespace carom
