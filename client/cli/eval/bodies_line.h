// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the bodies (placed shapes) that a JSON line of `carom eval` sets for later queries, and the
// scope of a query: which polygons and bodies the query considers.
//
// `ReadBodies` reads {"op":"bodies",…}, `ReadPoses` {"op":"poses",…}, the poses of these bodies at
// a tick, and `ReadScope` the members "against", "ignore_owner", "mask" and "as_of" of a query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/batch.h"
#include "carom/bodies.h"
#include "carom/body_history.h"
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
  // Returns the bodies as the definition of a history that keeps `kMaxKeepTicks` ticks.
  BodyDefinition definition() const;
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
  // The moment at which the query considers the bodies, in ticks of the lines {"op":"poses",…};
  // nullopt: the poses of the line {"op":"bodies",…}.
  std::optional<double> as_of = {};

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
  std::vector<double> moments_;
  bool has_masks_ = false;
  bool has_owners_ = false;
  bool has_moments_ = false;
};

// Reads the members "shapes" and "at" of a line. An element of "at" is a body
// [shape, x, y, c, s, owner, category] with the shape of index `shape` in "shapes"; the elements
// from c on, owner and category are optional. Errors name `shapes[i]…`, `at[i]` or `at[i][k]`:
// INVALID_ARGUMENT for a malformed body or one that cannot be placed, RESOURCE_EXHAUSTED for more
// than `kMaxBodies` bodies or too many vertices.
absl::StatusOr<BodyTable> ReadBodies(const nlohmann::json& line);

// The poses of all bodies at a tick, in columns.
struct PoseTable {
  uint64_t tick = 0;
  std::vector<double> x, y, c, s;

  // Returns views of the vectors above.
  PoseColumns columns() const;
};

// Reads the members "tick" and "at" of a line {"op":"poses",…}. An element of "at" is [x, y] or
// [x, y, c, s]. Errors are INVALID_ARGUMENT and name `tick`, `at`, `at[i]` or `at[i][k]`.
absl::StatusOr<PoseTable> ReadPoses(const nlohmann::json& line);

// Returns `status`, an error of `BodyHistory` about a tick, with a field path within the JSON line.
absl::Status PoseRowError(const absl::Status& status);

// Reads the members "against", "ignore_owner", "mask" and "as_of" of a query. Errors are
// INVALID_ARGUMENT and name the member.
absl::StatusOr<ItemScope> ReadScope(const nlohmann::json& line);

}  // namespace carom::cli
