// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bundle/bundle_columns.h"
#include "bundle/bundle_format.h"
#include "bundle/bundle_layout.h"
#include "carom/bundle.h"
#include "carom/status.h"
#include "index/scene_index.h"

namespace carom {
namespace {

using internal::BundleLayout;
using internal::Column;
using internal::Cursor;
using internal::Curve;
using internal::CurveKey;
using internal::IdPage;
using internal::InvalidItem;
using internal::kPageSize;
using internal::Section;
using internal::Tile;

// The largest number of polygons of a tile (a group of neighboring polygons in the scene's index):
// edits let a tile grow to at most 2 kPageSize polygons.
constexpr size_t kMaxTileSize = 2 * kPageSize;

// A part of the polygons of a bundle: the polygons of one tile of the scene's index, if the bundle
// has the arrangement (the order and the tiles of the polygons in the index); else up to kPageSize
// polygons that follow one another in the file.
struct Part {
  std::vector<Polygon> polygons;
  std::shared_ptr<const Tile> tile;  // null if the bundle has no arrangement
  CurveKey last_key;
};

// Reads one bundle (a file with the polygons of a scene) and makes its scene. A bundle with an
// arrangement stores the polygons as the index of the scene does: in tiles (groups of neighboring
// polygons) along a space-filling curve. A part is the polygons of one tile, or without an
// arrangement up to kPageSize polygons.
class Reader {
 public:
  Reader(const BundleLayout& layout, const BundleReadOptions& options)
      : layout_(layout), options_(options), columns_(layout, options.polygon_limits) {}

  absl::StatusOr<Scene::Ptr> Read() {
    absl::Status status = layout_.is_arranged() ? ReadFrame() : absl::OkStatus();
    if (status.ok()) status = CutIntoParts();
    if (status.ok()) status = MakeParts();
    if (!status.ok()) return status;
    return layout_.is_arranged() ? BuildFromArrangement() : BuildIndex();
  }

 private:
  // Sets the space-filling curve along which the tiles of the bundle are ordered, by the frame
  // (box) that the curve fills. Every finite frame is valid.
  absl::Status ReadFrame() {
    const Box frame = Column<Box>(layout_[Section::kFrame])[0];
    for (const double value : {frame.min.x, frame.min.y, frame.max.x, frame.max.y}) {
      if (!std::isfinite(value)) return InvalidField("frame", "must be finite");
    }
    curve_ = Curve(frame);
    return absl::OkStatus();
  }

  // Sets `begins_` to the positions in the columns where the parts begin: a part has the polygons
  // of one tile of the scene's index or, without an arrangement, up to kPageSize polygons. Checks
  // the columns of counts and sizes on the way.
  absl::Status CutIntoParts() {
    const Column<uint32_t> tile_sizes(layout_[Section::kTileSizes]);
    Cursor at;
    for (size_t part = 0; at.polygon < columns_.polygon_count(); ++part) {
      begins_.push_back(at);
      const size_t left = columns_.polygon_count() - at.polygon;
      size_t size = std::min(kPageSize, left);
      if (layout_.is_arranged()) {
        size = part < tile_sizes.size() ? tile_sizes[part] : 0;
        if (size < 1 || size > std::min(kMaxTileSize, left)) {
          return InvalidItem(
              "tile_sizes", part,
              absl::StrCat("must be in [1, ", kMaxTileSize, "], and sum to polygon_count"));
        }
      }
      for (size_t i = 0; i < size; ++i) {
        if (absl::Status status = columns_.Skip(at); !status.ok()) return status;
      }
    }
    if (layout_.is_arranged() && begins_.size() != tile_sizes.size()) {
      return InvalidField("tile_sizes", "must sum to polygon_count");
    }
    begins_.push_back(at);
    return columns_.CheckEnd(at);
  }

  // Reads the polygons of all parts (the polygons of one tile of the index, or up to kPageSize
  // polygons each), divided among all workers. If several parts have errors, returns the error that
  // comes first in the file.
  absl::Status MakeParts() {
    parts_.resize(begins_.size() - 1);
    const size_t workers =
        std::clamp<size_t>(options_.workers.parts, 1, std::max<size_t>(parts_.size(), 1));
    std::vector<absl::Status> statuses(workers);
    options_.workers.run(workers, [&](size_t worker) {
      absl::Status& status = statuses[worker];
      const size_t end = parts_.size() * (worker + 1) / workers;
      for (size_t i = parts_.size() * worker / workers; i < end && status.ok(); ++i) {
        status = columns_.Read(begins_[i], begins_[i + 1], parts_[i].polygons);
        if (status.ok() && layout_.is_arranged()) MakeTile(parts_[i]);
      }
    });
    absl::Status first;
    for (const absl::Status& status : statuses) first.Update(status);
    return first;
  }

  // Makes the tile of `part`. The file lists the polygons of a tile in the order in which the
  // bounding-box tree of the tile stores them, so they need no sorting.
  void MakeTile(Part& part) const {
    std::vector<IndexedPolygon> indexed;
    indexed.reserve(part.polygons.size());
    CurveKey first_key = curve_.KeyOf(part.polygons[0]);
    part.last_key = first_key;
    for (const Polygon& polygon : part.polygons) {
      const CurveKey key = curve_.KeyOf(polygon);
      if (key < first_key) first_key = key;
      if (part.last_key < key) part.last_key = key;
      indexed.emplace_back(polygon);
    }
    part.tile = std::make_shared<const Tile>(std::move(indexed), first_key);
  }

  // Returns all polygons in the order of the file, and empties the parts.
  std::vector<Polygon> TakePolygons() {
    std::vector<Polygon> polygons;
    polygons.reserve(columns_.polygon_count());
    for (Part& part : parts_) {
      polygons.insert(polygons.end(), std::make_move_iterator(part.polygons.begin()),
                      std::make_move_iterator(part.polygons.end()));
      part.polygons = {};
    }
    return polygons;
  }

  // Makes the scene of a bundle without the arrangement of an index, and builds the index. Checks
  // that the file lists the polygons by ascending id, so that equal scenes have equal bundles.
  absl::StatusOr<Scene::Ptr> BuildIndex() {
    std::vector<Polygon> polygons = TakePolygons();
    for (size_t i = 1; i < polygons.size(); ++i) {
      if (polygons[i - 1].id() < polygons[i].id()) continue;
      return InvalidItem("ids", i,
                         "must be above the id before it, in a bundle without an arrangement");
    }
    return Scene::Create(std::move(polygons), options_.version, options_.limits, options_.workers);
  }

  // Makes the scene of a bundle with an arrangement: the tiles of the scene's index. Checks that
  // the tiles are ordered along the space-filling curve, because an edit searches a polygon in the
  // tile that contains the polygon's position on the curve.
  absl::StatusOr<Scene::Ptr> BuildFromArrangement() {
    internal::Pages<Tile> tiles;
    tiles.reserve(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (i > 0 && !(parts_[i - 1].last_key < parts_[i].tile->head().first_key)) {
        return InvalidItem("tile_sizes", i,
                           "must divide the polygons along the curve of the frame");
      }
      tiles.push_back(std::move(parts_[i].tile));
    }
    internal::Pages<IdPage> id_pages;
    absl::Status status = MakeIdPages(id_pages);
    if (!status.ok()) return status;
    return internal::SceneOf(std::make_unique<const internal::SceneIndex>(
                                 curve_.frame(), std::move(tiles), std::move(id_pages)),
                             options_.version);
  }

  // Makes the pages of the index that find polygons by id, from the section `id_order`. Ids that
  // ascend contain no duplicate, and `id_order` has as many entries as there are polygons, so no
  // polygon is missing. The ids are copied to a column first, because the polygons themselves are
  // far apart in memory.
  absl::Status MakeIdPages(internal::Pages<IdPage>& pages) {
    const std::vector<Polygon> polygons = TakePolygons();
    std::vector<uint64_t> ids;
    ids.reserve(polygons.size());
    for (const Polygon& polygon : polygons) ids.push_back(polygon.id());
    const Column<uint32_t> order(layout_[Section::kIdOrder]);
    uint64_t last = 0;
    for (size_t begin = 0; begin < ids.size(); begin += kPageSize) {
      const size_t end = std::min(begin + kPageSize, ids.size());
      std::vector<IdPage::Entry> entries;
      entries.reserve(end - begin);
      for (size_t i = begin; i < end; ++i) {
        const size_t at = order[i];
        if (at >= ids.size() || (i > 0 && ids[at] <= last)) {
          return InvalidItem("id_order", i, "must list the polygons by ascending id");
        }
        last = ids[at];
        entries.push_back({last, internal::Unowned(polygons[at])});
      }
      pages.push_back(std::make_shared<const IdPage>(std::move(entries)));
    }
    return absl::OkStatus();
  }

  const BundleLayout& layout_;
  const BundleReadOptions& options_;
  const internal::BundleColumns columns_;
  Curve curve_;
  std::vector<Cursor> begins_;  // where each part begins, and where the last part ends
  std::vector<Part> parts_;
};

}  // namespace

absl::StatusOr<Scene::Ptr> ReadBundle(absl::string_view bytes, const BundleReadOptions& options) {
  const absl::StatusOr<BundleLayout> layout = internal::ReadLayout(bytes, options.limits);
  if (!layout.ok()) return layout.status();
  return Reader(*layout, options).Read();
}

}  // namespace carom
