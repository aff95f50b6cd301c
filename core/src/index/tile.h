// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds up to 1024 neighbouring polygons of a scene, with a tree over their boxes. A commit makes a
// scene that shares the tiles that the commit does not change with the edited scene.
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

// Up to 1024 neighbouring polygons of a scene, with a tree over their boxes. A commit that replaces
// polygons of a tile may make a patched tile: it shares the polygons that stay with the earlier
// tile, and keeps the shape of the tree. Immutable, hence thread-safe.
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

  // Makes a tile of polygons in an order in which consecutive polygons are near each other, as
  // `BoxTree` needs for small boxes. `first_key` is at most the key, on the Hilbert curve, of each
  // polygon of the tile.
  Tile(std::vector<IndexedPolygon> arranged, CurveKey first_key);
  // Positions of polygons in a tile, and the polygons that replace them.
  using Replaced = std::vector<std::pair<size_t, IndexedPolygon>>;
  // Makes the tile `base` with the polygons of `replaced` at their positions, each near the polygon
  // that it replaces. The constructor copies the tree and the table of polygons, and shares the
  // polygons that stay. Many such edits make the tree slower: then `MayReplace` returns false, and
  // the caller builds the tile anew.
  Tile(const Tile& base, const Replaced& replaced, CurveKey first_key);
  Tile(const Tile&) = delete;
  Tile& operator=(const Tile&) = delete;
  bool MayReplace() const;

  // Returns the polygons in the order of the tree: entry i is item i of `tree()`.
  std::span<const IndexedPolygon> entries() const { return {entries_, tree_.count()}; }
  // Returns the polygons in the order of their keys on `curve`.
  std::vector<IndexedPolygon> Sorted(const Curve& curve) const;
  const BoxTree& tree() const { return tree_; }
  const Head& head() const { return head_; }
  // Returns the bytes of the tile, without the memory that it shares with the tile that it was made
  // from.
  size_t memory() const;

 private:
  // The replacements of polygons since the tile was last built as a whole.
  struct Patch {
    std::vector<Unowned<IndexedPolygon>> entries;  // all current polygons of the tile
    std::vector<IndexedPolygon> replaced_by;       // all replacements, even if replaced again later
    size_t edits = 0;
    size_t retained_bytes = 0;  // bytes of replaced polygons, which the tile keeps alive
  };

  void SetHead(CurveKey first_key);
  void Replace(size_t place, const IndexedPolygon& by);

  // The polygons of the last whole build. The tile of that build and all tiles made from it by
  // replacements share the vector.
  std::shared_ptr<const std::vector<IndexedPolygon>> whole_;
  std::unique_ptr<Patch> patch_;
  // The tree_.count() polygons of the tile, in `whole_`, or in `patch_` if the tile has one.
  const IndexedPolygon* entries_;
  BoxTree tree_;
  Head head_;
};

}  // namespace carom::internal
