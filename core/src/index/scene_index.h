// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons of a scene are near, and which has an id?
//
// Polygons lie in tiles of some hundred: what a space-filling curve passes in a square, or in half
// of one. A tile has a tree over its polygons, the scene one over its tiles. A commit makes anew
// the tiles it touches and the upper tree, and shares all else. docs/adr/0007-paged-scenes.md says
// why.
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

// Polygons by ascending id, which the tiles of the same scene own: whatever scene has the page has
// all of its polygons. Immutable, hence thread-safe.
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

// Immutable after construction, hence thread-safe.
class SceneIndex {
 public:
  // Of polygons in any order, whose ids differ.
  SceneIndex(std::vector<Polygon> polygons, const Workers& workers);
  // Of `base` without the polygons in `gone`, which it has, and with `arriving`, whose ids it then
  // has not.
  SceneIndex(const SceneIndex& base, const std::vector<const Polygon*>& gone,
             std::vector<Polygon> arriving);
  // Of tiles along the curve over `frame`, as those of `tiles()`: all keys of one come before those
  // of the next. `id_pages` have their polygons.
  SceneIndex(const Box& frame, Pages<Tile> tiles, Pages<IdPage> id_pages);

  // Whether with `arriving` it would still be in order along its curve.
  bool HasPlaceFor(const Polygon& arriving) const;
  // As `Scene::BytesBeyond`.
  size_t BytesBeyond(const SceneIndex& base) const;

  size_t polygon_count() const { return polygon_count_; }
  size_t vertex_count() const { return vertex_count_; }
  const Box& bounds() const { return bounds_; }
  // The largest magnitude of a coordinate.
  double magnitude() const { return magnitude_; }
  // About how far a polygon is from the next in the median tile. 0 for an empty scene, and where
  // all polygons are one point.
  double spacing() const { return spacing_; }

  // The polygon with this id, or null. O(log n).
  const Polygon* Find(uint64_t id) const;
  // By ascending id, `index` in [0, polygon_count()).
  const Polygon& polygon(size_t index) const;

  const Curve& curve() const { return curve_; }
  // Empty where trees do better.
  const SceneGrid& grid() const { return grid_; }
  // Along the curve.
  const Pages<Tile>& tiles() const { return tiles_; }
  const BoxTree& tree() const { return tree_; }
  // Item `index` of the tree.
  const Tile& tile(size_t index) const { return *arranged_[index]; }

  // Calls visit(indexed polygon) for the polygons for which `meets(box)` holds of all boxes above,
  // in no particular order, while it returns true and the meter allows.
  template <class Meets, class Visit>
  bool Traverse(WorkMeter& meter, const Meets& meets, const Visit& visit) const {
    return tree_.Traverse(meter, meets, [&](size_t i) {
      const Tile& tile = *arranged_[i];
      return tile.tree().Traverse(meter, meets, [&](size_t k) { return visit(tile.entries()[k]); });
    });
  }

  // Calls visit(indexed polygon) for the polygons whose box may be within the root of `limit2`,
  // which `visit` may lower, of `from`, near ones early, while it returns true and the meter
  // allows.
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
  // Sets all that follows from the tiles and pages, but for the grid. `before` is the order of the
  // tree of the scene that was edited.
  void Finish(std::span<const uint32_t> before = {});
  // What holds all polygons, and those that may come.
  Box Frame() const;

  Curve curve_;
  Pages<Tile> tiles_;            // along the curve
  std::vector<uint32_t> order_;  // of the tiles in the tree
  std::vector<const Tile*> arranged_;
  BoxTree tree_;  // over the tiles, as they are arranged
  Pages<IdPage> id_pages_;
  std::vector<size_t> id_page_begin_;  // of each, the index of its first polygon
  size_t polygon_count_ = 0;
  size_t vertex_count_ = 0;
  Box bounds_;
  double magnitude_ = 0;
  double spacing_ = 0;
  SceneGrid grid_;
};

}  // namespace carom::internal
