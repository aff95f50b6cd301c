// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/scene_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

namespace carom::internal {
namespace {

// The number of keys on the Hilbert curve that a task computes, and the number of comparisons that
// it makes, between two calls of `Workers::between`, which may, for example, yield the processor to
// another thread.
constexpr size_t kKeys = 1024;
constexpr size_t kComparisons = 4096;

// Calls work(begin, end) for pieces of [0, count) of at most `piece` items. Divides the pieces
// among `workers.parts` tasks, which may run in parallel and call `workers.between` after each
// piece.
template <class Work>
void Share(size_t count, size_t piece, const Workers& workers, const Work& work) {
  const size_t parts = std::clamp<size_t>(workers.parts, 1, std::max<size_t>(count, 1));
  workers.run(parts, [&](size_t i) {
    const size_t end = count * (i + 1) / parts;
    for (size_t begin = count * i / parts; begin < end; begin += piece) {
      work(begin, std::min(begin + piece, end));
      if (workers.between) workers.between();
    }
  });
}

// Returns `less` with a call of `workers.between` once per `kComparisons` calls, counted in
// `asked`. Not thread-safe: each part of a parallel sort needs a counter `asked` of its own.
template <class Less>
auto Interrupted(const Less& less, const Workers& workers, size_t& asked) {
  return [&](const auto& a, const auto& b) {
    if (++asked % kComparisons == 0 && workers.between) workers.between();
    return less(a, b);
  };
}

// Sorts `workers.parts` parts of `items` in parallel, then merges the parts.
template <class T, class Less>
void SortShared(std::vector<T>& items, const Workers& workers, const Less& less) {
  const auto at = [&](size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
  std::vector<size_t> ends(1, 0);
  const size_t parts = std::clamp<size_t>(workers.parts, 1, std::max<size_t>(items.size(), 1));
  for (size_t i = 1; i <= parts; ++i) ends.push_back(items.size() * i / parts);
  workers.run(parts, [&](size_t i) {
    size_t asked = 0;
    std::sort(at(ends[i]), at(ends[i + 1]), Interrupted(less, workers, asked));
  });
  size_t asked = 0;
  for (size_t i = 1; i < parts; ++i) {
    std::inplace_merge(items.begin(), at(ends[i]), at(ends[i + 1]),
                       Interrupted(less, workers, asked));
  }
}

// Returns the box with twice the extent about its center, so that a scene may grow before polygons
// lie outside of the Hilbert curve, which orders the polygons and covers the doubled box.
Box Doubled(const Box& box) {
  const double x = (box.max.x - box.min.x) / 2;
  const double y = (box.max.y - box.min.y) / 2;
  return {{box.min.x - x, box.min.y - y}, {box.max.x + x, box.max.y + y}};
}

// Returns whether `outer` contains `inner`. Every box contains an empty box.
bool Holds(const Box& outer, const Box& inner) {
  return inner.empty() || (outer.Contains(inner.min) && outer.Contains(inner.max));
}

bool ById(const Polygon& a, const Polygon& b) { return a.id() < b.id(); }

std::vector<IdPage::Entry> Entries(std::span<const Polygon> polygons) {
  std::vector<IdPage::Entry> entries;
  entries.reserve(polygons.size());
  for (const Polygon& polygon : polygons) {
    entries.push_back({polygon.id(), Unowned(polygon)});
  }
  return entries;
}

using Ordered = std::vector<std::pair<CurveKey, uint32_t>>;

// Cuts order[begin, end), polygons sorted by their places on the Hilbert curve, into tiles (groups)
// of at most kPageSize polygons. The places in the range agree in all but their last `bit` + 1
// bits. The function cuts where the highest of these bits changes, that is, at halves of the
// squares that the curve fills one after the other, so that tiles overlap by no more than the size
// of polygons. Appends the end of each tile to `ends`.
void CutAtSquares(const Ordered& order, size_t begin, size_t end, int bit,
                  std::vector<size_t>& ends) {
  if (end - begin <= kPageSize) return ends.push_back(end);
  if (bit < 0) {  // all polygons are at one place: cuts in the middle
    const size_t middle = begin + (end - begin) / 2;
    CutAtSquares(order, begin, middle, bit, ends);
    return CutAtSquares(order, middle, end, bit, ends);
  }
  const auto at = [&](size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  const auto found = std::partition_point(
      at(begin), at(end), [bit](const auto& entry) { return (entry.first.place >> bit & 1) == 0; });
  const auto middle = static_cast<size_t>(found - order.begin());
  if (middle > begin) CutAtSquares(order, begin, middle, bit - 1, ends);
  if (middle < end) CutAtSquares(order, middle, end, bit - 1, ends);
}

// Joins two consecutive tiles (groups of neighbouring polygons) if one of the two has fewer than
// kPageSize / 4 polygons, and both together have at most kPageSize. A tile has the polygons [ends[i
// - 1], ends[i]) for an i of at least 1.
void JoinSmall(std::vector<size_t>& ends) {
  size_t count = 1;  // number of elements of `ends` kept so far; ends[0] is always kept
  for (size_t i = 1; i < ends.size(); ++i) {
    const size_t size = ends[i] - ends[i - 1];
    const bool joins = count > 1 && ends[i] - ends[count - 2] <= kPageSize &&
                       (size < kPageSize / 4 || ends[count - 1] - ends[count - 2] < kPageSize / 4);
    ends[joins ? count - 1 : count] = ends[i];
    if (!joins) ++count;
  }
  ends.resize(count);
}

// The center of the box of an item of a tree, and the item's index.
struct Place {
  Vec2 at;
  uint32_t index;
};

// Returns whether the range of places (centers of boxes) is split at `middle`: no place before
// `middle` has a greater coordinate (x if `by_x`, else y) than a place from `middle` on. After a
// small edit most ranges are still split, and `SplitEvenly` need not reorder them.
bool IsSplit(const Place* begin, const Place* middle, const Place* end, bool by_x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto along = [by_x](const Place& place) { return by_x ? place.at.x : place.at.y; };
  double greatest = -kInfinity, least = kInfinity;
  for (const Place* place = begin; place != middle; ++place) {
    greatest = std::max(greatest, along(*place));
  }
  for (const Place* place = middle; place != end; ++place) least = std::min(least, along(*place));
  return greatest <= least;
}

// Orders the places (centers of boxes) in [begin, end) so that a tree in which each node has eight
// items or eight nodes has compact boxes: splits the range in two across the longer side of its
// bounds, at a multiple of whole nodes, and then splits both halves.
void SplitEvenly(Place* begin, Place* end) {
  const auto count = static_cast<size_t>(end - begin);
  if (count <= BoxNode::kWidth) return;
  size_t node = BoxNode::kWidth;
  while (node * BoxNode::kWidth < count) node *= BoxNode::kWidth;
  Box box;
  for (const Place* place = begin; place != end; ++place) box.Extend(place->at);
  const bool by_x = box.max.x - box.min.x >= box.max.y - box.min.y;
  Place* const middle = begin + (count / node + 1) / 2 * node;
  if (!IsSplit(begin, middle, end, by_x)) {
    std::nth_element(begin, middle, end, [by_x](const Place& a, const Place& b) {
      return by_x ? a.at.x < b.at.x : a.at.y < b.at.y;
    });
  }
  SplitEvenly(begin, middle);
  SplitEvenly(middle, end);
}

// Returns the indices of items in the order in which a tree over the boxes of the items has the
// most compact nodes. Begins with the order `before` if it has as many items: an initial order that
// is already good, or almost good, takes less time.
template <class BoxOf>
std::vector<uint32_t> Arranged(size_t count, const BoxOf& box_of,
                               std::span<const uint32_t> before = {}) {
  std::vector<Place> places;
  places.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t item = before.size() == count ? before[i] : i;
    const Box box = box_of(item);
    places.push_back({{box.min.x / 2 + box.max.x / 2, box.min.y / 2 + box.max.y / 2}, item});
  }
  SplitEvenly(places.data(), places.data() + count);
  std::vector<uint32_t> order;
  order.reserve(count);
  for (const Place& place : places) order.push_back(place.index);
  return order;
}

// Returns about the distance between neighbouring polygons if `count` polygons are spread evenly
// over a box, or along its longer side if the box is thin.
double SpacingIn(const Box& box, size_t count) {
  const double width = box.max.x - box.min.x;
  const double height = box.max.y - box.min.y;
  const auto n = static_cast<double>(count);
  return std::max(std::sqrt(width * height / n), std::max(width, height) / n);
}

// Returns the median, over the tiles (groups of neighbouring polygons), of the distance between
// neighbouring polygons, so that a scene of a dense town in an empty plain has the distance of the
// town.
double MedianSpacing(const Pages<Tile>& tiles) {
  if (tiles.empty()) return 0;
  std::vector<double> spacings;
  spacings.reserve(tiles.size());
  for (const auto& tile : tiles) {
    spacings.push_back(SpacingIn(tile.head.bounds, tile.head.polygon_count));
  }
  const auto median = spacings.begin() + static_cast<std::ptrdiff_t>(spacings.size() / 2);
  std::nth_element(spacings.begin(), median, spacings.end());
  return *median;
}

// Makes a tile (a group of neighbouring polygons with a tree over their boxes) of polygons that are
// sorted along the Hilbert curve. The tile stores them in the order of its tree, so that the
// polygons of a node are close in memory.
std::shared_ptr<const Tile> MakeTile(std::vector<IndexedPolygon> sorted, const Curve& curve) {
  const std::vector<uint32_t> order =
      Arranged(sorted.size(), [&](size_t i) { return sorted[i].polygon().bounds(); });
  const CurveKey first_key = curve.KeyOf(sorted[0].polygon());
  std::vector<IndexedPolygon> arranged;
  arranged.reserve(sorted.size());
  for (const uint32_t i : order) arranged.push_back(std::move(sorted[i]));
  return std::make_shared<const Tile>(std::move(arranged), first_key);
}

// Prefetches the polygons of a tile (a group of neighbouring polygons), since each would likely
// miss the cache when it is read.
void Prefetch(std::span<const IndexedPolygon> entries) {
  for (const IndexedPolygon& indexed : entries) __builtin_prefetch(indexed.polygon().memory(), 1);
}

// Returns the positions in the tile (a group of neighbouring polygons) of the replaced polygons,
// and their replacements, if the edit (which removes the polygons with the keys `removed` and adds
// `arriving`) does nothing but replace at most `kFew` polygons, each by a polygon with the same id
// and a box that meets the old box; returns nullopt for other edits. The search reads only the
// polygons near the replacements.
std::optional<Tile::Replaced> FewReplaced(const Tile& tile, std::span<const CurveKey> removed,
                                          std::span<const IndexedPolygon> arriving) {
  constexpr size_t kFew = 8;
  if (removed.size() != arriving.size() || removed.size() > kFew) return std::nullopt;
  Tile::Replaced replaced;
  replaced.reserve(removed.size());
  WorkMeter unlimited;
  for (const IndexedPolygon& by : arriving) {
    const Polygon& polygon = by.polygon();
    const size_t before = replaced.size();
    tile.tree().Traverse(unlimited, MeetsBox{polygon.bounds()}, [&](size_t place) {
      const Polygon& there = tile.entries()[place].polygon();
      if (there.id() != polygon.id()) return true;
      if (polygon.bounds().Intersects(there.bounds())) replaced.emplace_back(place, by);
      return false;
    });
    if (replaced.size() == before) return std::nullopt;
  }
  return replaced;
}

// Returns the tile (a group of neighbouring polygons) that results from an edit after which the
// tile need be neither split nor joined (`IsOrdinary`). A replacement takes the position of the
// polygon that it replaces, so that the order of the tile hardly changes. `arriving` is sorted
// along the Hilbert curve, so the function computes the key on the curve only of the first arriving
// polygon, which makes small edits cheap.
std::shared_ptr<const Tile> PatchedTile(const Tile& tile, std::span<const CurveKey> removed,
                                        std::span<IndexedPolygon> arriving, const Curve& curve) {
  CurveKey first_key = tile.head().first_key;
  if (!arriving.empty()) first_key = std::min(first_key, curve.KeyOf(arriving[0].polygon()));
  const std::span<const IndexedPolygon> entries = tile.entries();
  if (tile.MayReplace()) {
    const auto few = FewReplaced(tile, removed, arriving);
    if (few) return std::make_shared<const Tile>(tile, *few, first_key);
  }
  Prefetch(entries);
  // Maps the id of each removed polygon to the polygon that replaces it, or to null if none does.
  std::unordered_map<uint64_t, const IndexedPolygon*> edited;
  for (const CurveKey& key : removed) edited[key.id] = nullptr;
  std::vector<const IndexedPolygon*> added;
  for (const IndexedPolygon& indexed : arriving) {
    const auto place = edited.find(indexed.polygon().id());
    (place == edited.end() ? added.emplace_back() : place->second) = &indexed;
  }
  std::vector<const IndexedPolygon*> kept;
  kept.reserve(tile.entries().size() + added.size());
  Tile::Replaced replaced;
  bool is_near = added.empty() && tile.MayReplace();
  size_t left = removed.size();
  for (size_t i = 0; i < entries.size(); ++i) {
    const auto place = left == 0 ? edited.end() : edited.find(entries[i].polygon().id());
    const IndexedPolygon* const stays = place == edited.end() ? &entries[i] : place->second;
    if (stays != nullptr) kept.push_back(stays);
    if (place == edited.end()) continue;
    --left;
    is_near = is_near && stays != nullptr &&
              stays->polygon().bounds().Intersects(entries[i].polygon().bounds());
    if (is_near) replaced.emplace_back(i, *stays);
  }
  if (is_near) return std::make_shared<const Tile>(tile, replaced, first_key);
  kept.insert(kept.end(), added.begin(), added.end());
  const std::vector<uint32_t> order =
      Arranged(kept.size(), [&](size_t i) { return kept[i]->polygon().bounds(); });
  std::vector<IndexedPolygon> arranged;
  arranged.reserve(kept.size());
  for (const uint32_t i : order) arranged.push_back(*kept[i]);
  return std::make_shared<const Tile>(std::move(arranged), first_key);
}

// Returns the page (a group of polygons sorted by id) that results from an edit after which the
// page need be neither split nor joined (`IsOrdinary`): `page` without the entries with the ids
// `removed`, and with the entries `arriving`. `removed` and `arriving` are sorted by id.
std::shared_ptr<const IdPage> PatchedIdPage(const IdPage& page, std::span<const uint64_t> removed,
                                            std::span<IdPage::Entry> arriving) {
  std::vector<IdPage::Entry> entries;
  entries.reserve(page.entries().size() + arriving.size());
  auto from = page.entries().begin();
  const auto copy_to = [&](auto end) {
    entries.insert(entries.end(), from, end);
    from = end;
  };
  auto next_removed = removed.begin();
  auto next_arriving = arriving.begin();
  while (next_removed != removed.end() || next_arriving != arriving.end()) {
    const bool goes = next_arriving == arriving.end() ||
                      (next_removed != removed.end() && *next_removed <= next_arriving->id);
    const uint64_t id = goes ? *next_removed : next_arriving->id;
    copy_to(std::lower_bound(
        from, page.entries().end(), id,
        [](const IdPage::Entry& entry, uint64_t wanted) { return entry.id < wanted; }));
    if (goes) {
      ++from;
      ++next_removed;
    } else {
      entries.push_back(*next_arriving++);
    }
  }
  copy_to(page.entries().end());
  return std::make_shared<const IdPage>(std::move(entries));
}

// Returns the bytes of those of `pages` (groups of polygons) that are not also pages of `base`.
// Both sequences are sorted by the first keys of their pages.
template <class Page, class BytesOf>
size_t UnsharedBytes(const Pages<Page>& pages, const Pages<Page>& base, const BytesOf& bytes_of) {
  size_t bytes = 0;
  auto other = base.begin();
  for (const PageRef<Page>& ref : pages) {
    while (other != base.end() && other->head.first_key < ref.head.first_key) ++other;
    if (other == base.end() || other->page != ref.page) bytes += bytes_of(*ref.page);
  }
  return bytes;
}

std::shared_ptr<const IdPage> MakeIdPage(std::vector<IdPage::Entry> entries) {
  return std::make_shared<const IdPage>(std::move(entries));
}

}  // namespace

SceneIndex::SceneIndex(std::vector<Polygon> polygons, const Workers& workers) {
  for (const Polygon& polygon : polygons) bounds_.Extend(polygon.bounds());
  curve_ = Curve(Doubled(bounds_));
  Ordered order(polygons.size());
  Share(polygons.size(), kKeys, workers, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      order[i] = {curve_.KeyOf(polygons[i]), static_cast<uint32_t>(i)};
    }
  });
  SortShared(order, workers, std::less<>());
  std::vector<size_t> ends{0};
  if (!order.empty()) CutAtSquares(order, 0, order.size(), 2 * Curve::kBits - 1, ends);
  JoinSmall(ends);
  std::vector<std::shared_ptr<const Tile>> tiles(ends.size() - 1);
  Share(tiles.size(), 1, workers, [&](size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) {
      std::vector<IndexedPolygon> in_tile;
      in_tile.reserve(ends[at + 1] - ends[at]);
      for (size_t i = ends[at]; i < ends[at + 1]; ++i) {
        in_tile.emplace_back(polygons[order[i].second]);
      }
      tiles[at] = MakeTile(std::move(in_tile), curve_);
    }
  });
  tiles_.assign(tiles.begin(), tiles.end());
  SortShared(polygons, workers, ById);
  id_pages_.reserve((polygons.size() + kPageSize - 1) / kPageSize);
  for (size_t i = 0; i < polygons.size(); i += kPageSize) {
    const size_t count = std::min(kPageSize, polygons.size() - i);
    id_pages_.push_back(MakeIdPage(Entries(std::span(polygons).subspan(i, count))));
    if (workers.between) workers.between();
  }
  Finish();
  grid_ = SceneGrid(Frame(), spacing_, polygon_count_);
}

SceneIndex::SceneIndex(const Box& frame, Pages<Tile> tiles, Pages<IdPage> id_pages)
    : curve_(frame), tiles_(std::move(tiles)), id_pages_(std::move(id_pages)) {
  Finish();
  grid_ = SceneGrid(Frame(), spacing_, polygon_count_);
}

SceneIndex::SceneIndex(const SceneIndex& base, const std::vector<const Polygon*>& removed,
                       std::vector<Polygon> arriving)
    : curve_(base.curve_) {
  const auto key_of = [this](const IndexedPolygon& a) { return curve_.KeyOf(a.polygon()); };
  std::vector<CurveKey> removed_keys;
  std::vector<uint64_t> removed_ids;
  std::vector<Box> touched;
  for (const Polygon* polygon : removed) {
    touched.push_back(polygon->bounds());
    removed_keys.push_back(curve_.KeyOf(*polygon));
    removed_ids.push_back(polygon->id());
  }
  std::sort(removed_keys.begin(), removed_keys.end());
  std::sort(removed_ids.begin(), removed_ids.end());
  std::vector<IndexedPolygon> indexed;
  indexed.reserve(arriving.size());
  for (const Polygon& polygon : arriving) {
    touched.push_back(polygon.bounds());
    indexed.emplace_back(polygon);
  }
  std::sort(indexed.begin(), indexed.end(), [&](const IndexedPolygon& a, const IndexedPolygon& b) {
    return key_of(a) < key_of(b);
  });
  const PageRules of_tiles{key_of, [this](const Tile& tile) { return tile.Sorted(curve_); },
                           [this](std::vector<IndexedPolygon> polygons) {
                             return MakeTile(std::move(polygons), curve_);
                           },
                           [this](const Tile& tile, std::span<const CurveKey> removed_here,
                                  std::span<IndexedPolygon> arriving_here) {
                             return PatchedTile(tile, removed_here, arriving_here, curve_);
                           }};
  tiles_ = Edited(base.tiles_, {std::move(removed_keys), std::move(indexed)}, of_tiles);
  std::sort(arriving.begin(), arriving.end(), ById);
  const PageRules of_ids{[](const IdPage::Entry& entry) { return entry.id; },
                         [](const IdPage& page) {
                           return std::vector<IdPage::Entry>(page.entries().begin(),
                                                             page.entries().end());
                         },
                         MakeIdPage, PatchedIdPage};
  id_pages_ = Edited(base.id_pages_, {std::move(removed_ids), Entries(arriving)}, of_ids);
  Finish(base.order_);
  grid_ = SceneGrid(base.grid_, Frame(), spacing_, polygon_count_, touched);
}

bool SceneIndex::HasPlaceFor(const Polygon& arriving) const {
  return Holds(curve_.frame(), arriving.bounds());
}

size_t SceneIndex::BytesBeyond(const SceneIndex& base) const {
  const size_t tables = sizeof(SceneIndex) + tiles_.size() * (sizeof(PageRef<Tile>) + 12) +
                        tree_.memory() + id_pages_.size() * (sizeof(PageRef<IdPage>) + 8);
  const size_t of_tiles =
      UnsharedBytes(tiles_, base.tiles_, [](const Tile& tile) { return tile.memory(); });
  const size_t of_id_pages = UnsharedBytes(id_pages_, base.id_pages_, [](const IdPage& page) {
    return sizeof(IdPage) + page.entries().size() * sizeof(IdPage::Entry);
  });
  return tables + of_tiles + of_id_pages + grid_.BytesBeyond(base.grid_, polygon_count_);
}

void SceneIndex::Finish(std::span<const uint32_t> before) {
  bounds_ = Box{};
  vertex_count_ = 0;
  for (const PageRef<Tile>& tile : tiles_) {
    bounds_.Extend(tile.head.bounds);
    vertex_count_ += tile.head.vertex_count;
  }
  if (!bounds_.empty()) {
    magnitude_ = std::max({std::abs(bounds_.min.x), std::abs(bounds_.min.y),
                           std::abs(bounds_.max.x), std::abs(bounds_.max.y)});
  }
  spacing_ = MedianSpacing(tiles_);
  const auto box_of = [this](size_t i) { return tiles_[i].head.bounds; };
  order_ = Arranged(tiles_.size(), box_of, before);
  arranged_.reserve(tiles_.size());
  for (const uint32_t i : order_) arranged_.push_back(tiles_[i].page.get());
  tree_ = BoxTree(order_.size(), [&](size_t i) { return box_of(order_[i]); });
  id_page_begin_.reserve(id_pages_.size());
  polygon_count_ = 0;
  for (const PageRef<IdPage>& page : id_pages_) {
    id_page_begin_.push_back(polygon_count_);
    polygon_count_ += page.head.count;
  }
}

Box SceneIndex::Frame() const {
  Box frame = curve_.frame();
  frame.Extend(bounds_);
  return frame;
}

const Polygon* SceneIndex::Find(uint64_t id) const {
  const auto after = std::upper_bound(
      id_pages_.begin(), id_pages_.end(), id,
      [](uint64_t wanted, const auto& page) { return wanted < page.head.first_key; });
  if (after == id_pages_.begin()) return nullptr;
  const std::span<const IdPage::Entry> entries = std::prev(after)->page->entries();
  const auto found = std::lower_bound(
      entries.begin(), entries.end(), id,
      [](const IdPage::Entry& entry, uint64_t wanted) { return entry.id < wanted; });
  return found != entries.end() && found->id == id ? &found->polygon.get() : nullptr;
}

const Polygon& SceneIndex::polygon(size_t index) const {
  const auto after = std::upper_bound(id_page_begin_.begin(), id_page_begin_.end(), index);
  const auto page = static_cast<size_t>(after - id_page_begin_.begin()) - 1;
  return id_pages_[page].page->entries()[index - id_page_begin_[page]].polygon.get();
}

}  // namespace carom::internal
