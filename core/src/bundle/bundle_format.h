// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The layout of a bundle: docs/bundle.md as structures.
//
// A bundle is a file with the polygons of a scene: the bytes of `BundleHeader`, of `SectionTable`
// and of the sections. Sections follow one another in the order of `Section`, each at the next
// multiple of `kAlignment`.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/strings/string_view.h"
#include "base/crc32c.h"

namespace carom::internal {

static_assert(std::endian::native == std::endian::little, "bundles are little-endian");

// The first eight bytes of a bundle. The first byte is not a text character, so that a bundle is
// not mistaken for text; a transfer that treats the file as text changes the last two bytes.
inline constexpr std::array<char, 8> kBundleMagic = {'\x89', 'C', 'A', 'R', 'O', 'M', '\r', '\n'};
inline constexpr uint32_t kBundleVersion = 1;
inline constexpr size_t kAlignment = 64;

// The sections of a bundle, in the order of the file; the number of a section in the file is its
// value here plus 1. The comment behind a section gives the type of its values and, after "none:",
// the meaning of an empty section. The last three sections are the arrangement: the order in which
// the index of the scene stores its polygons, along a space-filling curve, cut into tiles: groups
// of neighboring polygons.
enum class Section : uint8_t {
  kIds,            // u64 per polygon
  kCategories,     // u64 per polygon; none: all 1
  kForms,          // u8 per polygon: kNonZeroForm, kHollowForm; none: all 0
  kRingCounts,     // u32 per polygon; none: all 1
  kRingSizes,      // u32 per ring: its number of vertices
  kOpenRings,      // u8 per ring: 1 for an open chain; none: all 0
  kVertices,       // two f64 per vertex, x and y
  kUserDataSizes,  // u32 per polygon; none: all 0
  kUserData,       // the bytes of user data, polygon after polygon
  kIdOrder,        // u32 per polygon: positions in the file by ascending id; none: no arrangement
  kTileSizes,      // u32 per tile: its number of polygons; none: no arrangement
  // four f64: min x, min y, max x, max y of the box that the curve fills; none: no arrangement
  kFrame,
};
inline constexpr size_t kSectionCount = 12;
inline constexpr std::array<const char*, kSectionCount> kSectionNames = {
    "ids",      "categories",      "forms",     "ring_counts", "ring_sizes", "open_rings",
    "vertices", "user_data_sizes", "user_data", "id_order",    "tile_sizes", "frame"};

// The bits of a form: the fill rule and the solidity of a polygon.
inline constexpr uint8_t kNonZeroForm = 1;
inline constexpr uint8_t kHollowForm = 2;

// The first 64 bytes of a bundle. The counts are those of all polygons of the bundle.
struct BundleHeader {
  std::array<char, 8> magic = kBundleMagic;
  uint32_t version = kBundleVersion;
  uint32_t section_count = kSectionCount;
  uint64_t file_size = 0;
  uint64_t polygon_count = 0;
  uint64_t ring_count = 0;
  uint64_t vertex_count = 0;
  uint64_t user_data_size = 0;
  uint32_t reserved = 0;
  uint32_t checksum = 0;  // of the bytes before this member and of the section table
};
static_assert(sizeof(BundleHeader) == 64 && offsetof(BundleHeader, checksum) == 60);

// An entry of the section table: the number of a section, the CRC-32C of its bytes, and its offset
// and size in bytes.
struct SectionEntry {
  uint32_t number = 0;
  uint32_t checksum = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
};
static_assert(sizeof(SectionEntry) == 24);

using SectionTable = std::array<SectionEntry, kSectionCount>;
inline constexpr size_t kPreambleSize = sizeof(BundleHeader) + sizeof(SectionTable);

constexpr uint64_t Aligned(uint64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

// Returns the largest number of tiles that a bundle may have. A tile is a group of neighboring
// polygons in the index of a scene, and takes more than 100 bytes of memory besides its polygons. A
// bundle must not have far more tiles than a scene of as many polygons has: in a scene, two
// adjacent tiles together have at least a hundred polygons.
constexpr uint64_t MaxTileCount(uint64_t polygons) { return polygons / 16 + 16; }

// Returns the checksum of the header's bytes before its member `checksum`, and of the section table
// that follows the header.
inline uint32_t PreambleChecksum(absl::string_view bytes) {
  constexpr size_t kChecksum = offsetof(BundleHeader, checksum);
  const uint32_t first = Crc32c({bytes.data(), kChecksum});
  return Crc32c({bytes.data() + sizeof(BundleHeader), sizeof(SectionTable)}, first);
}

// A view of consecutive values of type T in the bytes of a section, at any alignment.
template <class T>
class Column {
 public:
  Column() = default;
  // The size of `bytes` is a multiple of the size of a value.
  explicit Column(absl::string_view bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return bytes_.empty(); }
  T operator[](size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  // Returns value i of the column; or `value` if the column is empty, since an empty column stands
  // for a column in which all values are `value`.
  T ValueOr(T value, size_t i) const { return empty() ? value : (*this)[i]; }
  void CopyTo(size_t first, size_t count, T* out) const {
    if (count > 0) std::memcpy(out, bytes_.data() + first * sizeof(T), count * sizeof(T));
  }

 private:
  absl::string_view bytes_;
};

}  // namespace carom::internal
