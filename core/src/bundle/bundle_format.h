// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Where is what in a bundle? docs/bundle.md in code.
//
// Each part is the bytes of the structure below that has its name; sections follow one another in
// the order of `Section`, each at the next multiple of `kAlignment`.
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

// The first byte is no text, the last two show a transfer that took the file for text.
inline constexpr std::array<char, 8> kBundleMagic = {'\x89', 'C', 'A', 'R', 'O', 'M', '\r', '\n'};
inline constexpr uint32_t kBundleVersion = 1;
inline constexpr size_t kAlignment = 64;

// In the order of the file; a section's number there is one more.
enum class Section : uint8_t {
  kIds,            // u64 a polygon
  kCategories,     // u64 a polygon; none: all 1
  kForms,          // u8 a polygon: kNonZero, kHollow; none: all 0
  kRingCounts,     // u32 a polygon; none: all 1
  kRingSizes,      // u32 a ring: its vertices
  kOpenRings,      // u8 a ring: 1 for an open chain; none: all 0
  kVertices,       // two f64 a vertex, x and y
  kUserDataSizes,  // u32 a polygon; none: all 0
  kUserData,       // the bytes, polygon after polygon
  kIdOrder,        // u32 a polygon: the polygons by ascending id; none: without an arrangement
  kTileSizes,      // u32 a tile: its polygons; none likewise
  kFrame,          // four f64: min x, min y, max x, max y of the curve's frame; none likewise
};
inline constexpr size_t kSectionCount = 12;
inline constexpr std::array<const char*, kSectionCount> kSectionNames = {
    "ids",      "categories",      "forms",     "ring_counts", "ring_sizes", "open_rings",
    "vertices", "user_data_sizes", "user_data", "id_order",    "tile_sizes", "frame"};

// Bits of a form.
inline constexpr uint8_t kNonZeroForm = 1;
inline constexpr uint8_t kHollowForm = 2;

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
  uint32_t checksum = 0;  // `PreambleChecksum`
};
static_assert(sizeof(BundleHeader) == 64 && offsetof(BundleHeader, checksum) == 60);

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

// A tile takes some hundred bytes of memory: no more of them than scenes have, by far. Those that
// are made have a hundred polygons or more each, two neighbours taken together.
constexpr uint64_t MostTiles(uint64_t polygons) { return polygons / 16 + 16; }

// What the header's checksum is of: the header before it, and the table after it.
inline uint32_t PreambleChecksum(absl::string_view bytes) {
  constexpr size_t kChecksum = offsetof(BundleHeader, checksum);
  const uint32_t first = Crc32c({bytes.data(), kChecksum});
  return Crc32c({bytes.data() + sizeof(BundleHeader), sizeof(SectionTable)}, first);
}

// Values of one type, one after the other, anywhere in memory.
template <class T>
class Column {
 public:
  Column() = default;
  // The size of `bytes` is a multiple of that of a value.
  explicit Column(absl::string_view bytes) : bytes_(bytes) {}

  size_t size() const { return bytes_.size() / sizeof(T); }
  bool empty() const { return bytes_.empty(); }
  T operator[](size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  // Of a column that is there or, where all its values are `value`, is not.
  T Or(T value, size_t i) const { return empty() ? value : (*this)[i]; }
  void CopyTo(size_t first, size_t count, T* out) const {
    if (count > 0) std::memcpy(out, bytes_.data() + first * sizeof(T), count * sizeof(T));
  }

 private:
  absl::string_view bytes_;
};

}  // namespace carom::internal
