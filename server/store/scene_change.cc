// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/store/scene_change.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace carom::server {
namespace {

// Approximate bytes of a polygon in a scene: `kPolygonBytes` for the polygon and its entries in the
// scene's spatial index, plus `kRingBytes` for each ring and `kVertexBytes` for each vertex.
constexpr uint64_t kPolygonBytes = 320;
constexpr uint64_t kRingBytes = 64;
constexpr uint64_t kVertexBytes = 24;

}  // namespace

const Polygon* PolygonOf(const SceneEdit& edit) {
  if (const auto* add = std::get_if<AddPolygon>(&edit)) return &add->polygon;
  if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) return &replace->polygon;
  return nullptr;
}

// An edit that removes a polygon has the polygon's id instead of a polygon.
uint64_t IdOf(const SceneEdit& edit) {
  const Polygon* const polygon = PolygonOf(edit);
  return polygon != nullptr ? polygon->id() : std::get<RemovePolygon>(edit).id;
}

uint64_t BytesOf(size_t rings, size_t vertices) {
  return kPolygonBytes + kRingBytes * rings + kVertexBytes * vertices;
}

uint64_t BytesOf(const Polygon& polygon) {
  return BytesOf(polygon.ring_count(), polygon.vertex_count()) + polygon.user_data().size();
}

// Counts the bytes of the new polygon, too, because the change keeps that polygon in memory even
// after a later version of the scene has replaced it.
uint64_t BytesOf(const PolygonChange& change) {
  return sizeof(PolygonChange) + (change.polygon.has_value() ? BytesOf(*change.polygon) : 0);
}

uint64_t BytesOf(std::span<const PolygonChange> changes) {
  uint64_t bytes = sizeof(SceneChange);
  for (const PolygonChange& change : changes) bytes += BytesOf(change);
  return bytes;
}

// Compares the addresses of the polygons' memory first: versions of a scene share the memory of
// polygons that no edit has changed, so most pairs of polygons have one address.
bool AreEqual(const Polygon& a, const Polygon& b) {
  if (a.memory() == b.memory()) return true;
  const bool are_alike = a.id() == b.id() && a.fill_rule() == b.fill_rule() &&
                         a.solidity() == b.solidity() && a.category() == b.category() &&
                         a.ring_count() == b.ring_count() && a.user_data() == b.user_data();
  if (!are_alike) return false;
  for (size_t i = 0; i < a.ring_count(); ++i) {
    const std::span<const Vec2> ring = a.ring(i);
    const std::span<const Vec2> other = b.ring(i);
    if (a.is_open(i) != b.is_open(i) ||
        !std::equal(ring.begin(), ring.end(), other.begin(), other.end())) {
      return false;
    }
  }
  return true;
}

// `change.bounds` begins as an empty box, and is extended by each of the two polygons that is not
// null.
std::optional<PolygonChange> ChangeOf(const Polygon* before, const Polygon* after) {
  if (before == nullptr && after == nullptr) return std::nullopt;
  if (before != nullptr && after != nullptr && AreEqual(*before, *after)) return std::nullopt;
  PolygonChange change;
  if (before != nullptr) {
    change.id = before->id();
    change.kind = ChangeKind::kRemoved;
    change.bounds.Extend(before->bounds());
  }
  if (after != nullptr) {
    change.id = after->id();
    change.kind = before == nullptr ? ChangeKind::kAdded : ChangeKind::kReplaced;
    change.bounds.Extend(after->bounds());
    change.polygon = *after;
  }
  return change;
}

// Returns how the polygons of `edits` differ between `before` and `after`, by ascending id. No two
// of `edits` may have the same polygon id, as in a commit.
std::vector<PolygonChange> ChangesOf(const Scene& before, const Scene& after,
                                     std::span<const SceneEdit> edits) {
  std::vector<PolygonChange> changes;
  changes.reserve(edits.size());
  for (const SceneEdit& edit : edits) {
    const uint64_t id = IdOf(edit);
    std::optional<PolygonChange> change = ChangeOf(before.Find(id), after.Find(id));
    if (change.has_value()) changes.push_back(*std::move(change));
  }
  std::sort(changes.begin(), changes.end(),
            [](const PolygonChange& a, const PolygonChange& b) { return a.id < b.id; });
  return changes;
}

ChangeCursor::ChangeCursor(SceneChange::Ptr change) : change_(std::move(change)) { Next(); }

// If the change refers to two scenes, finds the next polygon that differs by merging the polygons
// of both scenes by id.
void ChangeCursor::Next() {
  if (change_->after == nullptr) {
    listed_ = next_ < change_->list.size() ? &change_->list[next_++] : nullptr;
    return;
  }
  const Scene* const before = change_->before.get();
  const Scene& after = *change_->after;
  const size_t before_count = before == nullptr ? 0 : before->polygon_count();
  compared_.reset();
  while (!compared_.has_value()) {
    const Polygon* old = next_before_ < before_count ? &before->polygon(next_before_) : nullptr;
    const Polygon* current =
        next_after_ < after.polygon_count() ? &after.polygon(next_after_) : nullptr;
    if (old == nullptr && current == nullptr) return;
    if (old != nullptr && current != nullptr && old->id() != current->id()) {
      (old->id() < current->id() ? current : old) = nullptr;
    }
    next_before_ += old != nullptr ? 1 : 0;
    next_after_ += current != nullptr ? 1 : 0;
    compared_ = ChangeOf(old, current);
  }
}

}  // namespace carom::server
