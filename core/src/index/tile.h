// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Some hundred polygons of a scene, with a tree over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "carom/geometry.h"
#include "edges/indexed_polygon.h"
#include "index/box_tree.h"
#include "index/curve.h"
#include "index/unowned.h"

namespace carom::internal {

// Polygons that are near each other. Immutable, hence thread-safe.
class Tile {
 public:
  using Entry = IndexedPolygon;
  using Key = CurveKey;
  struct Head {
    CurveKey first_key;
    Box bounds;
    size_t polygon_count = 0;
    size_t vertex_count = 0;
  };

  // Of polygons in an order that is good for a tree. No polygon of the tile comes before
  // `first_key` on the curve.
  Tile(std::vector<IndexedPolygon> arranged, CurveKey first_key);
  // That tile with other polygons in some places, near to those before: a copy of tables, and of no
  // polygon that stays. Its order is as good until there were many such edits: then `MayReplace` is
  // false.
  using Replaced = std::vector<std::pair<size_t, IndexedPolygon>>;
  Tile(const Tile& base, const Replaced& replaced, CurveKey first_key);
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
  bool MayReplace() const;

  // As the tree has them.
  std::span<const IndexedPolygon> entries() const { return {entries_, tree_.count()}; }
  // Along the curve.
  std::vector<IndexedPolygon> Sorted(const Curve& curve) const;
  const BoxTree& tree() const { return tree_; }
  const Head& head() const { return head_; }
  // In bytes, without what it shares with the tile that it was made of.
  size_t memory() const;

 private:
  // What has changed since the tile was made whole.
  struct Patch {
    std::vector<Unowned<IndexedPolygon>> entries;
    std::vector<IndexedPolygon> replaced_by;  // whether or not they still stand
    size_t edits = 0;
    size_t retained_bytes = 0;  // of polygons that stand no more, as long as the tile is there
  };

  void SetHead(CurveKey first_key);
  void Replace(size_t place, const IndexedPolygon& by);

  // Shared by the tiles that were made of each other by replacements.
  std::shared_ptr<const std::vector<IndexedPolygon>> whole_;
  std::unique_ptr<Patch> patch_;
  const IndexedPolygon* entries_;  // of one of the two, as many as the tree has
  BoxTree tree_;
  Head head_;
};

}  // namespace carom::internal
