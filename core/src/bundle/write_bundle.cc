// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/crc32c.h"
#include "bundle/bundle_format.h"
#include "carom/bundle.h"
#include "index/scene_index.h"

namespace carom {
namespace {

using internal::BundleHeader;
using internal::Section;
using internal::SectionEntry;
using internal::SectionTable;

// The contents of a scene that a bundle stores: the polygons in the order of the file, and the
// index of the scene if the bundle also stores the arrangement of the polygons in the index.
struct Content {
  std::vector<const Polygon*> polygons;
  const internal::SceneIndex* arrangement = nullptr;
};

// Returns the polygons in the order of the file: with the arrangement of the scene's index, tile
// after tile along the index's space-filling curve, and within a tile in the order of its
// bounding-box tree; without the arrangement, by ascending id. A scene without polygons has no
// arrangement.
Content ContentOf(const Scene& scene, BundleIndex index) {
  Content content;
  content.polygons.reserve(scene.polygon_count());
  if (index == BundleIndex::kNone || scene.polygon_count() == 0) {
    for (size_t i = 0; i < scene.polygon_count(); ++i) {
      content.polygons.push_back(&scene.polygon(i));
    }
    return content;
  }
  content.arrangement = &scene.index();
  for (const auto& tile : content.arrangement->tiles()) {
    for (const IndexedPolygon& indexed : tile.page->entries()) {
      content.polygons.push_back(&indexed.polygon());
    }
  }
  return content;
}

// Returns the fill rule and the solidity of the polygon in one byte, as the section `forms` stores
// them.
uint8_t FormOf(const Polygon& polygon) {
  return static_cast<uint8_t>(
      (polygon.fill_rule() == FillRule::kNonZero ? internal::kNonZeroForm : 0) |
      (polygon.solidity() == Solidity::kBoundary ? internal::kHollowForm : 0));
}

// Returns whether the polygon has an open ring. If no polygon has an open ring, the bundle leaves
// out the column `open_rings`.
bool HasOpenRing(const Polygon& polygon) {
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    if (polygon.is_open(i)) return true;
  }
  return false;
}

// Returns a header with the numbers of polygons, rings, vertices and bytes of user data. `LayOut`
// sets the size of the file.
BundleHeader HeaderOf(const Content& content) {
  BundleHeader header;
  header.polygon_count = content.polygons.size();
  for (const Polygon* polygon : content.polygons) {
    header.ring_count += polygon->ring_count();
    header.vertex_count += polygon->vertex_count();
    header.user_data_size += polygon->user_data().size();
  }
  return header;
}

// Returns the table of sections (columns of values, one for each polygon, ring or vertex), without
// checksums, and sets the size of the file in `header`. Leaves out a column if all its values equal
// the value that readers use for a missing column.
SectionTable LayOut(const Content& content, BundleHeader& header) {
  const auto any = [&](const auto& predicate) {
    return std::any_of(content.polygons.begin(), content.polygons.end(),
                       [&](const Polygon* polygon) { return predicate(*polygon); });
  };
  SectionTable table;
  const auto set = [&](Section section, bool is_present, uint64_t size) {
    table[static_cast<size_t>(section)].size = is_present ? size : 0;
  };
  const uint64_t polygons = header.polygon_count;
  const bool arranged = content.arrangement != nullptr;
  const bool has_user_data = header.user_data_size > 0;
  set(Section::kIds, true, 8 * polygons);
  set(Section::kCategories, any([](const Polygon& p) { return p.category() != 1; }), 8 * polygons);
  set(Section::kForms, any([](const Polygon& p) { return FormOf(p) != 0; }), polygons);
  set(Section::kRingCounts, header.ring_count != polygons, 4 * polygons);
  set(Section::kRingSizes, true, 4 * header.ring_count);
  set(Section::kOpenRings, any(HasOpenRing), header.ring_count);
  set(Section::kVertices, true, sizeof(Vec2) * header.vertex_count);
  set(Section::kUserDataSizes, has_user_data, 4 * polygons);
  set(Section::kUserData, has_user_data, header.user_data_size);
  set(Section::kIdOrder, arranged, 4 * polygons);
  set(Section::kTileSizes, arranged, arranged ? 4 * content.arrangement->tiles().size() : 0);
  set(Section::kFrame, arranged, sizeof(Box));
  uint64_t end = internal::kPreambleSize;
  for (size_t i = 0; i < table.size(); ++i) {
    table[i].number = static_cast<uint32_t>(i + 1);
    table[i].offset = internal::Aligned(end);
    end = table[i].offset + table[i].size;
  }
  header.file_size = internal::Aligned(end);
  return table;
}

// Appends values to the sections of a bundle; ignores the values of sections that the bundle leaves
// out.
class SectionWriter {
 public:
  SectionWriter(const SectionTable& table, std::string& bytes) {
    for (size_t i = 0; i < table.size(); ++i) {
      next_[i] = table[i].size > 0 ? &bytes[table[i].offset] : nullptr;
    }
  }

  void Put(Section section, const void* from, size_t size) {
    char*& next = next_[static_cast<size_t>(section)];
    if (next == nullptr || size == 0) return;
    std::memcpy(next, from, size);
    next += size;
  }
  template <class T>
  void Put(Section section, T value) {
    Put(section, &value, sizeof value);
  }

 private:
  std::array<char*, internal::kSectionCount> next_;
};

// Appends the values of one polygon to all columns of the bundle.
void PutPolygon(const Polygon& polygon, SectionWriter& writer) {
  writer.Put(Section::kIds, polygon.id());
  writer.Put(Section::kCategories, polygon.category());
  writer.Put(Section::kForms, FormOf(polygon));
  writer.Put(Section::kRingCounts, static_cast<uint32_t>(polygon.ring_count()));
  for (size_t i = 0; i < polygon.ring_count(); ++i) {
    writer.Put(Section::kRingSizes, static_cast<uint32_t>(polygon.ring(i).size()));
    writer.Put(Section::kOpenRings, static_cast<uint8_t>(polygon.is_open(i)));
  }
  const std::span<const Vec2> vertices = polygon.vertices();
  writer.Put(Section::kVertices, vertices.data(), vertices.size_bytes());
  writer.Put(Section::kUserDataSizes, static_cast<uint32_t>(polygon.user_data().size()));
  writer.Put(Section::kUserData, polygon.user_data().data(), polygon.user_data().size());
}

// Writes the arrangement of the scene's index: the positions in the file of the polygons by
// ascending id, the number of polygons of each tile (a group of neighboring polygons), and the
// frame of the space-filling curve that orders the tiles: the box that the curve fills.
void PutArrangement(const Content& content, SectionWriter& writer) {
  std::vector<uint32_t> order(content.polygons.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return content.polygons[a]->id() < content.polygons[b]->id();
  });
  writer.Put(Section::kIdOrder, order.data(), order.size() * sizeof(uint32_t));
  for (const auto& tile : content.arrangement->tiles()) {
    writer.Put(Section::kTileSizes, static_cast<uint32_t>(tile.head.polygon_count));
  }
  writer.Put(Section::kFrame, content.arrangement->curve().frame());
}

}  // namespace

uint64_t BundleSize(const Scene& scene, BundleIndex index) {
  const Content content = ContentOf(scene, index);
  BundleHeader header = HeaderOf(content);
  LayOut(content, header);
  return header.file_size;
}

// Writes the sections, then the table with the checksums of the sections, then the header with a
// checksum that covers the header and the table.
std::string WriteBundle(const Scene& scene, BundleIndex index) {
  const Content content = ContentOf(scene, index);
  BundleHeader header = HeaderOf(content);
  SectionTable table = LayOut(content, header);
  std::string bytes(header.file_size, '\0');
  SectionWriter writer(table, bytes);
  for (const Polygon* polygon : content.polygons) PutPolygon(*polygon, writer);
  if (content.arrangement != nullptr) PutArrangement(content, writer);
  for (SectionEntry& entry : table) {
    entry.checksum = internal::Crc32c(absl::string_view(bytes).substr(entry.offset, entry.size));
  }
  std::memcpy(bytes.data() + sizeof header, table.data(), sizeof table);
  std::memcpy(bytes.data(), &header, sizeof header);
  header.checksum = internal::PreambleChecksum(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

}  // namespace carom
