// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the bodies (placed shapes) that a JSON line of `carom eval` sets for later queries, and the
// scope of a query: which polygons and bodies the query considers.
//
// `ReadBodies` reads {"op":"bodies",…}, `ReadScope` the members "against", "ignore_owner" and
// "mask" of a query.
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

// Owns bodies (placed shapes besides the scene) as columns: entry i of each vector except `shapes`
// belongs to body i, whose shape is shapes[shape[i]].
struct BodyTable {
  std::vector<Shape> shapes;
  std::vector<uint32_t> shape;
  std::vector<double> x, y, c, s;
  std::vector<uint32_t> owner;
  std::vector<uint64_t> category;

  // Returns views of the vectors above.
  BodyColumns columns() const;
  // Returns an upper bound of the encoded size of the bodies, in units of the encoded size of a
  // vertex.
  size_t cost() const;
};

// The scope of one query: which polygons and bodies the query considers. By default a query
// considers the polygons of the scene, of every category, and no bodies.
struct ItemScope {
  Against against = Against::kScene;
  uint64_t mask = kEveryCategory;
  uint32_t ignore_owner = 0;

  bool includes_bodies() const { return against != Against::kScene; }
};

// The scopes (which polygons and bodies a query considers) of the queries of one batch, in columns:
// entry i of each column belongs to query i.
class ScopeColumns {
 public:
  void Add(const ItemScope& scope);
  // Returns views of the columns. A column is absent if all queries have its default value.
  Scope columns(Against against) const;

 private:
  std::vector<uint64_t> masks_;
  std::vector<uint32_t> owners_;
  bool has_masks_ = false;
  bool has_owners_ = false;
};

// Reads the members "shapes" and "at" of a line. An element of "at" is a body
// [shape, x, y, c, s, owner, category] with the shape of index `shape` in "shapes"; the elements
// from c on, owner and category are optional. Errors name `shapes[i]…`, `at[i]` or `at[i][k]`:
// INVALID_ARGUMENT for a malformed body or one that cannot be placed, RESOURCE_EXHAUSTED for more
// than `kMaxBodies` bodies or too many vertices.
absl::StatusOr<BodyTable> ReadBodies(const nlohmann::json& line);

// Reads the members "against", "ignore_owner" and "mask" of a query. Errors are INVALID_ARGUMENT
// and name the member.
absl::StatusOr<ItemScope> ReadScope(const nlohmann::json& line);

}  // namespace carom::cli
