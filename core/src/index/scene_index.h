// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene are near a given box, and which polygon has a given id?
//
// The polygons are ordered along a space-filling curve (curve.h) and divided into tiles of at most
// 1024 polygons: a tile has the polygons that the curve passes in a square, or in half of a square.
// Each tile has a tree over the boxes of its polygons, and the scene has a tree (the upper tree)
// over the boxes of its tiles. A commit rebuilds the tiles it touches and the upper tree, and
// shares all other tiles. docs/adr/0007-paged-scenes.md gives the reasons.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "carom/geometry.h"
#include "carom/polygon.h"
#include "carom/scene.h"
#include "carom/work_meter.h"
#include "edges/indexed_polygon.h"
#include "index/box_tree.h"
#include "index/curve.h"
#include "index/pages.h"
#include "index/scene_grid.h"
#include "index/tile.h"
#include "index/unowned.h"

namespace carom::internal {

// A page (a group of consecutive entries) of the polygons in ascending order of their ids, for
// lookups by id. The tiles of the scene (groups of polygons that are near each other) own the
// polygons: each scene that has the page also has tiles with all of its polygons. Immutable, hence
// thread-safe.
class IdPage {
 public:
  struct Entry {
    uint64_t id;
    Unowned<Polygon> polygon;
  };
  using Key = uint64_t;
  struct Head {
    uint64_t first_key;
    size_t count;
  };

  explicit IdPage(std::vector<Entry> entries) : entries_(std::move(entries)) {}

  std::span<const Entry> entries() const { return entries_; }
  Head head() const { return {entries_[0].id, entries_.size()}; }

 private:
  std::vector<Entry> entries_;
};

// The polygons of a scene, found by their boxes or by id. Tiles (groups of neighbouring polygons)
// have the polygons in the order of a Hilbert curve, each tile with a tree over the boxes of its
// polygons; the upper tree is over the boxes of the tiles. Pages have the polygons in the order of
// their ids. A grid of squares, divided into cells, also finds the polygons near a line or a box.
// Immutable after construction, hence thread-safe.
class SceneIndex {
 public:
  // Makes the index of polygons in any order, with distinct ids.
  SceneIndex(std::vector<Polygon> polygons, const Workers& workers);
  // Makes the index of the polygons of `base` without the polygons in `removed`, which `base` has,
  // and with the polygons in `arriving`. No polygon that stays has the id of a polygon in
  // `arriving`.
  SceneIndex(const SceneIndex& base, const std::vector<const Polygon*>& removed,
             std::vector<Polygon> arriving);
  // Makes the index of a scene from its tiles (groups of neighbouring polygons), which are in the
  // order of the Hilbert curve over `frame`: all keys of a tile are below all keys of the next
  // tile, as in `tiles()`. `id_pages` have the polygons of the tiles in the order of their ids.
  SceneIndex(const Box& frame, Pages<Tile> tiles, Pages<IdPage> id_pages);

  // Returns whether `arriving` lies in the box that the curve covers, so that an index edited to
  // contain `arriving` keeps its curve.
  bool HasPlaceFor(const Polygon& arriving) const;
  // Returns about the bytes that this index takes without the memory that it shares with `base`:
  // the pages and tiles that `base` does not have, and the blocks of the grid (cells of a square)
  // that queries may build again.
  size_t BytesBeyond(const SceneIndex& base) const;

  size_t polygon_count() const { return polygon_count_; }
  size_t vertex_count() const { return vertex_count_; }
  const Box& bounds() const { return bounds_; }
  // Returns the largest magnitude of a coordinate of the bounds.
  double magnitude() const { return magnitude_; }
  // Returns about the distance between neighbouring polygons: the median over the tiles (groups of
  // neighbouring polygons). Returns 0 for an empty scene, and if all polygons are one and the same
  // point.
  double spacing() const { return spacing_; }

  // Returns the polygon with this id, or null. O(log n).
  const Polygon* Find(uint64_t id) const;
  // Returns polygon `index` in the order of ascending ids, `index` in [0, polygon_count()).
  const Polygon& polygon(size_t index) const;

  const Curve& curve() const { return curve_; }
  // Returns the grid (squares that are divided into cells, which list polygons). The grid is empty
  // for scenes in which searches by the trees are faster.
  const SceneGrid& grid() const { return grid_; }
  // Returns the tiles (groups of neighbouring polygons) in the order of the Hilbert curve.
  const Pages<Tile>& tiles() const { return tiles_; }
  // Returns the upper tree, over the boxes of the tiles.
  const BoxTree& tree() const { return tree_; }
  // Returns the tile that is item `index` of the upper tree.
  const Tile& tile(size_t index) const { return *arranged_[index]; }

  // Calls visit(indexed polygon) for the polygons for which `meets(box)` holds for the polygon's
  // box and for the boxes of all tree nodes above it, in no particular order, until `visit` returns
  // false or `meter` stops the work. Returns whether the traversal ran to its end.
  template <class Meets, class Visit>
  bool Traverse(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return tree_.Traverse(meter, meets, [&](size_t i) {
      const Tile& tile = *arranged_[i];
      return tile.tree().Traverse(meter, meets, [&](size_t k) { return visit(tile.entries()[k]); });
    });
  }

  // Calls visit(indexed polygon) for the polygons whose boxes may have a distance from `from` of at
  // most the square root of `limit2`, roughly nearest first, until `visit` returns false or `meter`
  // stops the work. `visit` may lower `limit2`. Returns whether the traversal ran to its end.
  template <class Visit>
  bool TraverseNearest(WorkMeter& meter, const Box& from, const double& limit2,
                       const Visit& visit) const {
    const FloatBox box(from);
    return tree_.TraverseNearest(meter, box, limit2, [&](size_t i) {
      const Tile& tile = *arranged_[i];
      return tile.tree().TraverseNearest(meter, box, limit2,
                                         [&](size_t k) { return visit(tile.entries()[k]); });
    });
  }

 private:
  // Sets all members that follow from `tiles_` and `id_pages_`, except the grid. `before` is
  // `order_` of the index that an edit changed into this index, which speeds up building the upper
  // tree; empty if there is no such index.
  void Finish(std::span<const uint32_t> before = {});
  // Returns the smallest box that contains all polygons and the box of the curve. Polygons added
  // later lie in the box of the curve, or else the index is built anew.
  Box Frame() const;

  Curve curve_;
  Pages<Tile> tiles_;                  // in the order of the Hilbert curve
  std::vector<uint32_t> order_;        // order_[i] is the index in `tiles_` of item i of `tree_`
  std::vector<const Tile*> arranged_;  // the tiles in the order of `order_`
  BoxTree tree_;  // the upper tree: over the boxes of the tiles in the order of `arranged_`
  Pages<IdPage> id_pages_;
  // For each page of `id_pages_`, the number of polygons in the pages before it.
  std::vector<size_t> id_page_begin_;
  size_t polygon_count_ = 0;
  size_t vertex_count_ = 0;
  Box bounds_;
  double magnitude_ = 0;
  double spacing_ = 0;
  SceneGrid grid_;
};

}  // namespace carom::internal
