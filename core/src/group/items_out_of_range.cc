// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "group/items_out_of_range.h"

#include <algorithm>
#include <limits>
#include <span>

namespace carom::internal {
namespace {

// Returns the first column of coordinates, in which a value that is not a number is an error of its
// item under every kind of query.
template <class Columns>
std::span<const double>& FirstColumn(Columns& columns) {
  if constexpr (requires { columns.movers; }) {
    return columns.movers.x;
  } else if constexpr (requires { columns.x; }) {
    return columns.x;
  } else if constexpr (requires { columns.min_x; }) {
    return columns.min_x;
  } else {
    return columns.ax;
  }
}

// Returns the items with a moment that `history` does not keep. Items without moments are as of the
// newest tick, which only a history without ticks does not keep; that matters where the items
// consider bodies: by their scope, or if `asks_bodies`.
std::vector<uint32_t> ItemsNotKept(const BodyHistory& history, const Scope& scope, size_t size,
                                   bool asks_bodies) {
  std::vector<uint32_t> items;
  const bool needs_newest =
      scope.as_of.empty() && (asks_bodies || scope.against != Against::kScene);
  if (scope.as_of.empty() && (!needs_newest || history.tick_count() > 0)) return items;
  for (size_t i = 0; i < size; ++i) {
    if (needs_newest || !history.Has(scope.as_of[i])) items.push_back(static_cast<uint32_t>(i));
  }
  return items;
}

}  // namespace

ItemsOutOfRange::ItemsOutOfRange(const Group& group) {
  size_t position = 0;
  ForEachKind([&](const auto& kind) {
    const size_t at = position++;
    if constexpr (kAsksBodies<decltype(kind)> &&
                  HasScope<const typename std::remove_cvref_t<decltype(kind)>::Columns>) {
      const auto& columns = group.*kind.columns;
      items_[at] = ItemsNotKept(*group.body_history, ScopeOf(columns), columns.size(),
                                kAlwaysAsksBodies<decltype(kind)>);
      if (items_[at].empty()) return;
      if (!any_) group_ = group;
      any_ = true;
      std::span<const double>& first = FirstColumn(group_.*kind.columns);
      columns_[at].assign(first.begin(), first.end());
      for (const uint32_t i : items_[at]) {
        columns_[at][i] = std::numeric_limits<double>::quiet_NaN();
      }
      first = columns_[at];
    }
  });
}

void ItemsOutOfRange::Report(GroupAnswers& answers) const {
  size_t position = 0;
  ForEachKind([&](const auto& kind) {
    const std::vector<uint32_t>& items = items_[position++];
    if (items.empty()) return;
    for (ItemError& error : (answers.*kind.answers).errors) {
      if (!std::binary_search(items.begin(), items.end(), error.index)) continue;
      error.column = ItemColumn::kAsOf;
      error.fault = ItemFault::kNotKept;
    }
  });
}

}  // namespace carom::internal
