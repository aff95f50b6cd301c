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

HWY_BEFORE_NAMESPACE();
namespace carom::internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// How many nodes are opened at most. Each asks for the time of some polygons.
constexpr size_t kMostNodes = 128;
constexpr size_t kMostLevels = 11;

// Rounding is monotonic, so what meets the box meets it as floats.
struct Reach {
  Reach() = default;
  explicit Reach(const Box& box)
      : min_x(static_cast<float>(box.min.x)),
        min_y(static_cast<float>(box.min.y)),
        max_x(static_cast<float>(box.max.x)),
        max_y(static_cast<float>(box.max.y)) {}

  float min_x, min_y, max_x, max_y;
};

// The boxes of a node that may meet the reach: bit k for box k.
HWY_INLINE uint32_t Meeting(const BoxNode& node, const Reach& reach) {
  const hn::CappedTag<float, BoxNode::kWidth> d;
  uint32_t bits = 0;
  for (size_t i = 0; i < BoxNode::kWidth; i += hn::Lanes(d)) {
    const auto from = hn::And(hn::Le(hn::Load(d, &node.min_x[i]), hn::Set(d, reach.max_x)),
                              hn::Le(hn::Load(d, &node.min_y[i]), hn::Set(d, reach.max_y)));
    const auto to = hn::And(hn::Ge(hn::Load(d, &node.max_x[i]), hn::Set(d, reach.min_x)),
                            hn::Ge(hn::Load(d, &node.max_y[i]), hn::Set(d, reach.min_y)));
    uint8_t lanes[8];
    hn::StoreMaskBits(d, hn::And(from, to), lanes);
    bits |= static_cast<uint32_t>(lanes[0]) << i;
  }
  return bits;
}

// Calls visit(item) for the items of a tree whose boxes may meet the reach, down one branch after
// the other, while it returns true and `nodes` allows, which it counts down. Returns whether that
// was all.
template <class Visit>
HWY_INLINE bool Walk(const BoxTree& tree, const Reach& reach, size_t& nodes, const Visit& visit) {
  struct {
    size_t level;
    uint32_t first, bits;
  } waiting[kMostLevels];  // children of nodes, their first one and which of them
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
    if (query.is_asked) query.has_few = FindTilesOf(scene, query);
  }
  for (const BoxQuery& query : queries) {
    if (!query.is_asked) continue;
    for (size_t i = 0; i < query.tile_count; ++i) {
      const BoxTree& tree = query.tiles[i]->tree();
      const BoxNode& top = tree.node(tree.level_count() - 1, 0);
      __builtin_prefetch(top.min_x.data());
      __builtin_prefetch(top.max_x.data());
    }
  }
}

bool FindPolygonsOf(const BoxQuery& query, FewPolygons& few) {
  const Reach reach(query.reach);
  size_t nodes = kMostNodes;
  size_t count = 0;
  bool is_all = query.has_few;
  for (size_t i = 0; i < query.tile_count && is_all; ++i) {
    const IndexedPolygon* const entries = query.tiles[i]->entries().data();
    is_all = nodes > 0;
    --nodes;  // of a root that is one too many, too
    is_all = is_all && Walk(query.tiles[i]->tree(), reach, nodes, [&](uint32_t k) HWY_ATTR {
               if (count == FewPolygons::kMost) return false;
               __builtin_prefetch(entries + k);
               few.polygons[count++] = entries + k;
               return true;
             });
  }
  few.count = count;
  few.boxes = BoxNode::kWidth * (kMostNodes - nodes);
  return is_all;
}

// Nodes of one level of the tiles of all boxes; the next level becomes that of `to`.
class LevelWalk {
 public:
  LevelWalk(std::span<BoxQuery> queries, BoxPairs& found) : queries_(queries), found_(found) {
    polygons_.fill(0);
    found_.count = 0;
    found_.boxes = 0;
  }

  HWY_INLINE void Start() {
    nodes_.fill(0);
    count_ = 0;
  }
  HWY_INLINE void OpenTop(const Tile& tile, uint32_t query) {
    const auto level = static_cast<uint32_t>(tile.tree().level_count() - 1);
    reaches_[query] = Reach(queries_[query].reach);
    Open(0, {&tile, &tile.tree().node(level, 0), query, level, 0});
  }
  // Looks at all of this level that were noted, and notes their children beside those that wait for
  // a lower level.
  HWY_INLINE void Descend(size_t from, uint32_t level) {
    const size_t count = count_;
    Start();
    for (size_t i = 0; i < count; ++i) {
      const BoxPairs::Open& at = found_.open[from][i];
      if (at.level < level) {
        Open(1 - from, at);
        continue;
      }
      found_.boxes += BoxNode::kWidth;
      const uint32_t first = at.index * uint32_t{BoxNode::kWidth};
      const uint32_t bits = Meeting(*at.node, reaches_[at.query]);
      if (level == 0) {
        AddPolygons(at.tile->entries().data() + first, bits, at.query);
      } else {
        OpenChildren(1 - from, at, first, bits);
      }
    }
  }

 private:
  // Notes a node and asks for its memory. Where a box has too many it is given up.
  HWY_INLINE void Open(size_t to, const BoxPairs::Open& at) {
    if (nodes_[at.query] == BoxPairs::kMostNodes) {
      queries_[at.query].has_few = false;
      return;
    }
    ++nodes_[at.query];
    __builtin_prefetch(at.node->min_x.data());
    __builtin_prefetch(at.node->max_x.data());
    found_.open[to][count_++] = at;
  }
  HWY_INLINE void OpenChildren(size_t to, const BoxPairs::Open& at, uint32_t first, uint32_t bits) {
    const BoxNode* const below = &at.tile->tree().node(at.level - 1, first);
    for (; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<uint32_t>(std::countr_zero(bits));
      Open(to, {at.tile, below + lane, at.query, at.level - 1, first + lane});
    }
  }
  HWY_INLINE void AddPolygons(const IndexedPolygon* entries, uint32_t bits, uint32_t query) {
    for (; bits != 0; bits &= bits - 1) {
      if (polygons_[query] == FewPolygons::kMost) {
        queries_[query].has_few = false;
        return;
      }
      ++polygons_[query];
      const IndexedPolygon* const polygon = entries + std::countr_zero(bits);
      __builtin_prefetch(polygon);
      found_.pairs[found_.count++] = {polygon, query};
    }
  }

  std::span<BoxQuery> queries_;
  BoxPairs& found_;
  size_t count_ = 0;
  std::array<Reach, BoxPairs::kMostQueries> reaches_;
  std::array<uint8_t, BoxPairs::kMostQueries> nodes_;     // of this level, by box
  std::array<uint8_t, BoxPairs::kMostQueries> polygons_;  // by box
};

void FindAllPairs(const SceneIndex& scene, std::span<BoxQuery> queries, BoxPairs& found) {
  FindAllTiles(scene, queries);
  LevelWalk walk(queries, found);
  walk.Start();
  uint32_t levels = 0;
  for (uint32_t k = 0; k < queries.size(); ++k) {
    if (!queries[k].is_asked) continue;
    found.boxes += queries[k].boxes;
    if (!queries[k].has_few) continue;
    for (size_t i = 0; i < queries[k].tile_count; ++i) {
      const Tile& tile = *queries[k].tiles[i];
      levels = std::max(levels, static_cast<uint32_t>(tile.tree().level_count()));
      walk.OpenTop(tile, k);
    }
  }
  size_t from = 0;
  for (uint32_t level = levels; level-- > 0; from = 1 - from) walk.Descend(from, level);
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
