// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "bundle/bundle_layout.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/crc32c.h"
#include "carom/bundle.h"
#include "carom/status.h"

namespace carom {
namespace internal {
namespace {

// Returns a DATA_LOSS error about `field`, for a bundle with bytes that differ from the bytes that
// were written.
absl::Status DataLoss(absl::string_view field, absl::string_view description) {
  return Refused(absl::StatusCode::kDataLoss, field, description);
}

// Reads the header and the table. Each check may rely on the checks before it: the kind of file,
// the version, whether the header is as it was written, and then the contents of the header.
absl::Status ReadPreamble(absl::string_view bytes, BundleHeader& header, SectionTable& table) {
  if (!IsBundle(bytes)) return InvalidField("header.magic", "must be the magic number of a bundle");
  constexpr size_t kVersionAt = offsetof(BundleHeader, version);
  uint32_t version = 0;
  if (bytes.size() < kVersionAt + sizeof version) {
    return DataLoss("header.file_size", "the header is cut off");
  }
  std::memcpy(&version, bytes.data() + kVersionAt, sizeof version);
  if (version != kBundleVersion) {
    return InvalidField("header.version",
                        absl::StrCat("must be ", kBundleVersion, ", not ", version));
  }
  if (bytes.size() < kPreambleSize) return DataLoss("header.file_size", "the header is cut off");
  std::memcpy(&header, bytes.data(), sizeof header);
  std::memcpy(table.data(), bytes.data() + sizeof header, sizeof table);
  if (header.checksum != PreambleChecksum(bytes)) return DataLoss("header", "checksum is wrong");
  if (header.file_size != bytes.size()) {
    return DataLoss("header.file_size", absl::StrCat("is ", header.file_size, ", but there are ",
                                                     bytes.size(), " bytes"));
  }
  return absl::OkStatus();
}

// Checks that each count is at most the size of the file. No product or sum of counts that the
// reader computes later can then overflow.
absl::Status CheckCounts(const BundleHeader& header, const SceneLimits& limits) {
  if (header.section_count != kSectionCount) {
    return InvalidField("header.section_count", absl::StrCat("must be ", kSectionCount));
  }
  if (header.reserved != 0) return InvalidField("header.reserved", "must be 0");
  if (header.vertex_count > header.file_size / sizeof(Vec2)) {
    return InvalidField("header.vertex_count", "must be at most header.file_size / 16");
  }
  if (header.ring_count > header.vertex_count) {
    return InvalidField("header.ring_count", "must be at most header.vertex_count");
  }
  if (header.polygon_count > header.ring_count) {
    return InvalidField("header.polygon_count", "must be at most header.ring_count");
  }
  if (header.polygon_count > std::numeric_limits<uint32_t>::max()) {
    return InvalidField("header.polygon_count", "must be below 2^32");
  }
  if (header.user_data_size > header.file_size) {
    return InvalidField("header.user_data_size", "must be at most header.file_size");
  }
  return limits.Check(header.polygon_count, header.vertex_count);
}

// The size that a section must have; 0 is allowed, too, if the section is optional.
struct ExpectedSize {
  uint64_t size = 0;
  bool is_optional = false;
};

// Returns the sizes that the sections must have, in the order of `Section`. The counts in the
// header do not determine the number of tiles. So the expected size of `tile_sizes` is the size
// that the table states, but at least the size of one tile and at most the size of `MaxTileCount`
// tiles.
std::array<ExpectedSize, kSectionCount> ExpectedSizes(const BundleHeader& header,
                                                      const SectionTable& table) {
  const uint64_t polygons = header.polygon_count;
  const uint64_t rings = header.ring_count;
  const bool has_user_data = header.user_data_size > 0;
  const auto& frame = table[static_cast<size_t>(Section::kFrame)];
  const auto& tiles = table[static_cast<size_t>(Section::kTileSizes)];
  const bool is_arranged = frame.size > 0;
  return {{
      {8 * polygons},
      {8 * polygons, true},
      {polygons, true},
      {4 * polygons, rings == polygons},
      {4 * rings},
      {rings, true},
      {sizeof(Vec2) * header.vertex_count},
      {4 * polygons, !has_user_data},
      {header.user_data_size},
      {is_arranged ? 4 * polygons : 0},
      {is_arranged ? 4 * std::clamp<uint64_t>(tiles.size / 4, 1, MaxTileCount(polygons)) : 0},
      {polygons > 0 ? sizeof(Box) : 0, true},
  }};
}

// Checks that each section begins where the section before it ends, after zeros up to the next
// multiple of 64. No section therefore overlaps another, and no byte of the file is without a
// meaning.
absl::Status CheckTable(absl::string_view bytes, const SectionTable& table, BundleLayout& layout) {
  const std::array<ExpectedSize, kSectionCount> expected = ExpectedSizes(layout.header, table);
  uint64_t end = kPreambleSize;
  const auto is_padded = [&](uint64_t next) {
    const absl::string_view padding(bytes.data() + end, next - end);
    return padding.find_first_not_of('\0') == absl::string_view::npos;
  };
  for (size_t i = 0; i < kSectionCount; ++i) {
    const SectionEntry& entry = table[i];
    const uint64_t begin = Aligned(end);
    if (entry.number != i + 1) {
      return InvalidField(kSectionNames[i], absl::StrCat("must be section ", i + 1));
    }
    if (entry.offset != begin || begin > bytes.size()) {
      return InvalidField(kSectionNames[i],
                          absl::StrCat("must be at byte ", begin, ", within the file"));
    }
    const bool is_left_out = expected[i].is_optional && entry.size == 0;
    if (!is_left_out && entry.size != expected[i].size) {
      return InvalidField(kSectionNames[i], absl::StrCat("must have ", expected[i].size, " bytes"));
    }
    if (entry.size > bytes.size() - begin) {
      return InvalidField(kSectionNames[i], "must end within the file");
    }
    if (!is_padded(begin)) return DataLoss(kSectionNames[i], "the bytes before it must be 0");
    layout.sections[i] = {bytes.data() + begin, static_cast<size_t>(entry.size)};
    end = begin + entry.size;
  }
  if (Aligned(end) != bytes.size()) {
    return InvalidField("header.file_size", absl::StrCat("must be ", Aligned(end)));
  }
  if (!is_padded(bytes.size())) return DataLoss("header.file_size", "the last bytes must be 0");
  return absl::OkStatus();
}

}  // namespace

// Checks the checksums of the sections last: checksums take time in proportion to the size of the
// file, and the sections must lie within the file.
absl::StatusOr<BundleLayout> ReadLayout(absl::string_view bytes, const SceneLimits& limits) {
  BundleLayout layout;
  SectionTable table;
  absl::Status status = ReadPreamble(bytes, layout.header, table);
  if (status.ok()) status = CheckCounts(layout.header, limits);
  if (status.ok()) status = CheckTable(bytes, table, layout);
  if (!status.ok()) return status;
  for (size_t i = 0; i < kSectionCount; ++i) {
    if (Crc32c(layout.sections[i]) != table[i].checksum) {
      return DataLoss(kSectionNames[i], "checksum is wrong");
    }
  }
  return layout;
}

}  // namespace internal

bool IsBundle(absl::string_view bytes) {
  const auto& magic = internal::kBundleMagic;
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

}  // namespace carom
