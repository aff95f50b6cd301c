// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/box_traversal.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/src/index/box_traversal.cc"
// clang-format off
#include "numeric/vector_targets.h"
#include "hwy/foreach_target.h"  // compiles this file once for each instruction set
// clang-format on
#include "hwy/highway.h"
#include "numeric/mask_bits.h"

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The most nodes of bounding-box trees that one search opens: the search in the tree over the tiles
// (groups of neighbouring polygons), or in the trees over the polygons of the found tiles, for the
// box of one query. To open a node is to compare its eight boxes with the query's box, which takes
// about the time of testing some polygons.
constexpr size_t kMostNodes = 128;
constexpr size_t kMostLevels = 11;

// The box of a query, rounded to floats. Rounding is monotonic, so the box of a polygon that meets
// the query's box still meets it when both are rounded to floats.
struct Reach {
  Reach() = default;
  explicit Reach(const Box& box)
      : min_x(static_cast<float>(box.min.x)),
        min_y(static_cast<float>(box.min.y)),
        max_x(static_cast<float>(box.max.x)),
        max_y(static_cast<float>(box.max.y)) {}

  float min_x, min_y, max_x, max_y;
};

// Returns which of the eight boxes of a node may meet the query's box `reach`: bit k for box k.
HWY_INLINE uint32_t Meeting(const BoxNode& node, const Reach& reach) {
  const hn::CappedTag<float, BoxNode::kWidth> d;
  uint32_t bits = 0;
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(d)) {
    const auto from = hn::And(hn::Le(hn::Load(d, &node.min_x[i]), hn::Set(d, reach.max_x)),
                              hn::Le(hn::Load(d, &node.min_y[i]), hn::Set(d, reach.max_y)));
    const auto to = hn::And(hn::Ge(hn::Load(d, &node.max_x[i]), hn::Set(d, reach.min_x)),
                            hn::Ge(hn::Load(d, &node.max_y[i]), hn::Set(d, reach.min_y)));
    bits |= MaskBits(d, hn::And(from, to)) << i;
  }
  return bits;
}

// Calls visit(item) for the items of a tree with boxes that may meet the query's box `reach`, depth
// first, until `visit` returns false or the walk has opened (compared the boxes of) as many nodes
// as `nodes` allows. Decrements `nodes` for each node opened except the root. Returns whether the
// walk visited all items with boxes that may meet `reach`.
template <class Visit>
HWY_INLINE bool Walk(const BoxTree& tree, const Reach& reach, size_t& nodes, const Visit& visit) {
  // Children that the walk has yet to open, one entry per parent: the parent's level, the number of
  // the parent's first child, and bit k if the walk has yet to open child k.
  struct {
    size_t level;
    uint32_t first, bits;
  } waiting[kMostLevels];
  if (tree.level_count() == 0) return true;
  size_t count = 0;
  size_t level = tree.level_count() - 1;
  uint32_t first = 0;
  uint32_t bits = Meeting(tree.node(level, 0), reach);
  for (;;) {
    if (level == 0) {
      for (; bits != 0; bits &= bits - 1) {
        if (!visit(first + static_cast<uint32_t>(std::countr_zero(bits)))) return false;
      }
    }
    if (bits == 0) {
      if (count == 0) return true;
      level = waiting[--count].level;
      first = waiting[count].first;
      bits = waiting[count].bits;
    }
    const uint32_t child = first + static_cast<uint32_t>(std::countr_zero(bits));
    bits &= bits - 1;
    if (bits != 0) waiting[count++] = {level, first, bits};
    if (nodes-- == 0) return false;
    bits = Meeting(tree.node(--level, child), reach);
    first = child * uint32_t{BoxNode::kWidth};
  }
}

bool FindTilesOf(const SceneIndex& scene, BoxQuery& query) {
  size_t nodes = kMostNodes;
  size_t count = 0;
  const bool is_all = Walk(scene.tree(), Reach(query.reach), nodes, [&](uint32_t i) HWY_ATTR {
    if (count == BoxQuery::kMostTiles) return false;
    const Tile* const tile = &scene.tile(i);
    __builtin_prefetch(tile);
    __builtin_prefetch(reinterpret_cast<const char*>(tile) + 64);
    query.tiles[count++] = tile;
    return true;
  });
  query.tile_count = count;
  query.boxes = BoxNode::kWidth * (kMostNodes + 1 - nodes);
  return is_all;
}

void FindAllTiles(const SceneIndex& scene, std::span<BoxQuery> queries) {
  for (BoxQuery& query : queries) {
    if (query.is_active) query.is_complete = FindTilesOf(scene, query);
  }
  for (const BoxQuery& query : queries) {
    if (!query.is_active) continue;
    for (size_t i = 0; i < query.tile_count; ++i) {
      const BoxTree& tree = query.tiles[i]->tree();
      const BoxNode& top = tree.node(tree.level_count() - 1, 0);
      __builtin_prefetch(top.min_x.data());
      __builtin_prefetch(top.max_x.data());
    }
  }
}

bool FindPolygonsOf(const BoxQuery& query, NearPolygons& few) {
  const Reach reach(query.reach);
  size_t nodes = kMostNodes;
  size_t count = 0;
  bool is_all = query.is_complete;
  for (size_t i = 0; i < query.tile_count && is_all; ++i) {
    const IndexedPolygon* const entries = query.tiles[i]->entries().data();
    is_all = nodes > 0;
    // The root of the tile's tree counts as opened, even if the limit is reached and the walk does
    // not open it.
    --nodes;
    is_all = is_all && Walk(query.tiles[i]->tree(), reach, nodes, [&](uint32_t k) HWY_ATTR {
               if (count == NearPolygons::kMost) return false;
               __builtin_prefetch(entries + k);
               few.polygons[count++] = entries + k;
               return true;
             });
  }
  few.count = count;
  few.boxes = BoxNode::kWidth * (kMostNodes - nodes);
  return is_all;
}

// Finds the polygons that the boxes of all queries may meet: descends the trees of the tiles
// (groups of neighbouring polygons, each with a tree over their boxes) of all queries together,
// level by level. `found.open[from]` has the nodes of one level that are open, that is, whose boxes
// have yet to be compared with a query's box; the children that may meet go to `found.open[1 -
// from]`.
class LevelWalk {
 public:
  LevelWalk(std::span<BoxQuery> queries, BoxPairs& found) : queries_(queries), found_(found) {
    polygons_.fill(0);
    Start();
  }

  HWY_INLINE void SetReach(uint32_t query, const Box& reach) { reaches_[query] = Reach(reach); }
  // Adds the root of a tile's tree to the open nodes (nodes whose boxes have yet to be compared
  // with a query's box) in `found.open[0]`, and returns the level of the root.
  HWY_INLINE uint32_t Open(const Tile& tile, uint32_t query) {
    const auto level = static_cast<uint32_t>(tile.tree().level_count() - 1);
    Push(0, tile, tile.tree().node(level, 0), {query, level, 0});
    return level;
  }
  // Compares the boxes of each open node at `level`, which is above 0, with the box of the query of
  // the node. Writes the children that may meet this box, and the open nodes of lower levels, to
  // `found.open[1 - from]`.
  HWY_INLINE void Descend(size_t from, uint32_t level) {
    const std::span<const BoxPairs::Open> noted(found_.open[from].data(), count_);
    Start();
    for (const BoxPairs::Open& at : noted) {
      if (at.place.level < level) {
        found_.open[1 - from][count_++] = at;
        --node_count_;
        continue;
      }
      uint32_t bits = Meeting(*at.node, reaches_[at.place.query]);
      nodes_[at.place.query] += static_cast<uint32_t>(std::popcount(bits));
      if (nodes_[at.place.query] > BoxPairs::kMostNodes) {
        queries_[at.place.query].is_complete = false;
        continue;
      }
      BoxPairs::Place place{at.place.query, level - 1, at.place.index * uint32_t{BoxNode::kWidth}};
      const BoxNode* const below = &at.tile->tree().node(level - 1, place.index);
      const uint32_t first = place.index;
      for (; bits != 0; bits &= bits - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
        place.index = first + lane;
        Push(1 - from, *at.tile, below[lane], place);
      }
    }
  }
  // Compares the boxes of each open node, all of level 0, with the box of the query of the node,
  // and writes to `found.pairs` the pairs of a polygon and a query whose boxes may meet.
  HWY_INLINE void Finish(size_t from) {
    const std::span<const BoxPairs::Open> noted(found_.open[from].data(), count_);
    size_t pairs = 0;
    node_count_ += count_;
    for (const BoxPairs::Open& at : noted) {
      const uint32_t query = at.place.query;
      uint32_t bits = Meeting(*at.node, reaches_[query]);
      polygons_[query] += static_cast<uint32_t>(std::popcount(bits));
      if (polygons_[query] > NearPolygons::kMost) {
        queries_[query].is_complete = false;
        continue;
      }
      const IndexedPolygon* const first =
          at.tile->entries().data() + at.place.index * size_t{BoxNode::kWidth};
      for (; bits != 0; bits &= bits - 1) {
        const IndexedPolygon* const polygon = first + std::countr_zero(bits);
        __builtin_prefetch(polygon);
        found_.pairs[pairs++] = {polygon, query};
      }
    }
    found_.count = pairs;
  }
  // Returns the number of nodes whose boxes were compared.
  size_t nodes() const { return node_count_; }

 private:
  HWY_INLINE void Start() {
    node_count_ += count_;
    nodes_.fill(0);
    count_ = 0;
  }
  HWY_INLINE void Push(size_t to, const Tile& tile, const BoxNode& node,
                       const BoxPairs::Place& place) {
    __builtin_prefetch(node.min_x.data());
    __builtin_prefetch(node.max_x.data());
    found_.open[to][count_++] = {&tile, &node, place};
  }

  std::span<BoxQuery> queries_;
  BoxPairs& found_;
  size_t count_ = 0;
  size_t node_count_ = 0;
  std::array<Reach, BoxPairs::kMostQueries> reaches_;
  // For each query: `nodes_`, the number of tree nodes on the next level whose boxes have yet to be
  // compared with the query's box; and `polygons_`, the number of polygons found for the query.
  std::array<uint32_t, BoxPairs::kMostQueries> nodes_;
  std::array<uint32_t, BoxPairs::kMostQueries> polygons_;
};

void FindAllPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found) {
  LevelWalk walk(queries, found);
  size_t boxes = 0;
  uint32_t top = 0;
  for (BoxQuery& query : queries) {
    if (query.is_active) query.is_complete = FindTilesOf(scene, query);
  }
  for (uint32_t k = 0; k < queries.size(); ++k) {
    const BoxQuery& query = queries[k];
    if (!query.is_active) continue;
    boxes += query.boxes;
    if (!query.is_complete) continue;
    walk.SetReach(k, query.reach);
    for (size_t i = 0; i < query.tile_count; ++i)
      top = std::max(top, walk.Open(*query.tiles[i], k));
  }
  size_t from = 0;
  for (uint32_t level = top; level > 0; --level, from = 1 - from) walk.Descend(from, level);
  walk.Finish(from);
  found.boxes = boxes + BoxNode::kWidth * walk.nodes();
}
FindPolygonsFunction FindPolygonsHere() { return &FindPolygonsOf; }

}  // namespace
}  // namespace carom::internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace carom::internal {
namespace {

HWY_EXPORT(FindAllTiles);
HWY_EXPORT(FindAllPairs);
HWY_EXPORT(FindPolygonsHere);

}  // namespace

void FindTiles(const SceneIndex& scene, std::span<BoxQuery> queries) {
  HWY_DYNAMIC_DISPATCH(FindAllTiles)(scene, queries);
}

void FindPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found) {
  HWY_DYNAMIC_DISPATCH(FindAllPairs)(scene, queries, found);
}

FindPolygonsFunction FindPolygons() { return HWY_DYNAMIC_DISPATCH(FindPolygonsHere)(); }

}  // namespace carom::internal
#endif  // HWY_ONCE
