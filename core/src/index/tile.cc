// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "index/tile.h"

#include <algorithm>

namespace carom::internal {
namespace {

constexpr size_t kPolygonBytes = 72;  // bytes of a polygon besides its vertices

// Returns whether `inner` lies inside `outer` without touching the border of `outer`.
bool IsInside(const Box& outer, const Box& inner) {
  return outer.min.x < inner.min.x && outer.min.y < inner.min.y && inner.max.x < outer.max.x &&
         inner.max.y < outer.max.y;
}

}  // namespace

// Makes the tile (a group of neighbouring polygons) of polygons in the order of its tree, and sets
// the head: the summary of the tile (first key, bounds, counts) that edits and queries use without
// reading the polygons.
Tile::Tile(std::vector<IndexedPolygon> arranged, CurveKey first_key)
    : whole_(std::make_shared<const std::vector<IndexedPolygon>>(std::move(arranged))),
      entries_(whole_->data()),
      tree_(whole_->size(), [this](size_t i) { return entries_[i].polygon().bounds(); }) {
  SetHead(first_key);
}

Tile::Tile(const Tile& base, const Replaced& replaced, CurveKey first_key)
    : whole_(base.whole_),
      patch_(base.patch_ ? std::make_unique<Patch>(*base.patch_) : std::make_unique<Patch>()),
      tree_(base.tree_),
      head_(base.head_) {
  std::vector<Unowned<IndexedPolygon>>& entries = patch_->entries;
  if (entries.empty()) {
    entries.reserve(whole_->size());
    for (const IndexedPolygon& indexed : *whole_) entries.emplace_back(indexed);
  }
  entries_ = &entries[0].get();
  ++patch_->edits;
  head_.first_key = first_key;
  bool is_at_border = false;
  for (const auto& [place, by] : replaced) {
    is_at_border = is_at_border || !IsInside(head_.bounds, entries_[place].polygon().bounds());
    Replace(place, by);
  }
  if (is_at_border) SetHead(first_key);
}

void Tile::Replace(size_t place, const IndexedPolygon& by) {
  const Polygon& before = entries_[place].polygon();
  const Polygon& polygon = by.polygon();
  head_.bounds.Extend(polygon.bounds());
  head_.vertex_count += polygon.vertex_count() - before.vertex_count();
  patch_->retained_bytes +=
      kPolygonBytes + before.vertex_count() * sizeof(Vec2) + before.user_data().size();
  patch_->replaced_by.push_back(by);
  patch_->entries[place] = Unowned(by);
  tree_.Reset(place, polygon.bounds());
}

// Returns whether an edit may replace polygons of the tile (a group of neighbouring polygons)
// without building its tree anew. Returns false after 64 edits, since the tree keeps its order when
// polygons are replaced, so that the boxes of its nodes get larger; and once the replaced polygons,
// which the tile retains, take more than 16 KiB.
bool Tile::MayReplace() const {
  constexpr size_t kMostEdits = 64;
  constexpr size_t kMostRetained = 16 << 10;
  return !patch_ || (patch_->edits < kMostEdits && patch_->retained_bytes <= kMostRetained);
}

void Tile::SetHead(CurveKey first_key) {
  head_ = {first_key, {}, entries().size(), 0};
  for (const IndexedPolygon& indexed : entries()) {
    head_.bounds.Extend(indexed.polygon().bounds());
    head_.vertex_count += indexed.polygon().vertex_count();
  }
}

size_t Tile::memory() const {
  const size_t table = entries().size() * sizeof(IndexedPolygon) + tree_.memory();
  if (!patch_) return sizeof(Tile) + table;
  return sizeof(Tile) + sizeof(Patch) + table + patch_->retained_bytes +
         patch_->replaced_by.size() * sizeof(IndexedPolygon);
}

// Sorts the polygons by their keys on the curve, the order in which an edit merges them with added
// polygons.
std::vector<IndexedPolygon> Tile::Sorted(const Curve& curve) const {
  std::vector<std::pair<CurveKey, uint32_t>> order;
  order.reserve(entries().size());
  for (const IndexedPolygon& indexed : entries()) {
    order.emplace_back(curve.KeyOf(indexed.polygon()), static_cast<uint32_t>(order.size()));
  }
  std::sort(order.begin(), order.end());
  std::vector<IndexedPolygon> sorted;
  sorted.reserve(entries().size());
  for (const auto& [key, i] : order) sorted.push_back(entries_[i]);
  return sorted;
}

}  // namespace carom::internal
