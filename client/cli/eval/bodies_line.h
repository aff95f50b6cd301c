// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The bodies that a line of `carom eval` sets, and what a question considers of them.
//
// `ReadBodies` reads {"op":"bodies",…}, `ReadScope` the members "against", "ignore_owner" and
// "mask" of a question.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/shape.h"

namespace carom::cli {

// Bodies with columns of their own.
struct BodyTable {
  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y, c, s;
  std::vector<uint32_t> owner;
  std::vector<uint64_t> category;

  // Points into the table.
  BodyColumns columns() const;
  // What sending them takes, in vertices.
  size_t cost() const;
};

// What one question considers: the scene by every category, unless it says otherwise.
struct ItemScope {
  Against against = Against::kScene;
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;

  bool asks_bodies() const { return against != Against::kScene; }
};

// The scopes of the items of one batch, in columns.
class ScopeColumns {
 public:
  void Add(const ItemScope& scope);
  // Points into the columns. Those in which no item differs from the default are absent.
  Scope columns(Against against) const;

 private:
  std::vector<uint64_t> masks_;
  std::vector<uint32_t> owners_;
  bool has_masks_ = false;
  bool has_owners_ = false;
};

// A body is [shape, x, y], with c and s behind, then the owner, then the category; it is the shape
// `shape` of `shapes` at that pose. Errors name `shapes[i]…`, `at[i]` or `at[i][k]`:
// INVALID_ARGUMENT for a body that is not to be placed, RESOURCE_EXHAUSTED over `kMaxBodies` or too
// many vertices.
absl::StatusOr<BodyTable> ReadBodies(const nlohmann::json& line);

// Errors name the member.
absl::StatusOr<ItemScope> ReadScope(const nlohmann::json& line);

}  // namespace carom::cli
