// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "bundle/bundle_columns.h"

#include <bit>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom::internal {
namespace {

// Returns whether a polygon may have the coordinate `value`: +0, or a magnitude from 2^-140 to
// 2^53. The bits of magnitudes are ordered as the magnitudes are, the bits of NaN are the highest,
// and -0 is not stored.
bool IsNormalizedCoordinate(double value) {
  constexpr auto kLeast = std::bit_cast<uint64_t>(kSmallestMagnitude);
  constexpr auto kMost = std::bit_cast<uint64_t>(kMaxCoordinate);
  const auto bits = std::bit_cast<uint64_t>(value);
  return bits == 0 || (bits & ~(uint64_t{1} << 63)) - kLeast <= kMost - kLeast;
}

// Returns the error for a section that was valid in `Skip` and is not valid in `Read`: something
// wrote into the bytes during the read.
absl::Status ChangedDuringRead(const char* section) {
  return Refused(absl::StatusCode::kDataLoss, section, "must not change while it is read");
}

}  // namespace

absl::Status InvalidItem(const char* section, size_t index, absl::string_view description) {
  return InvalidField(absl::StrCat(section, "[", index, "]"), description);
}

BundleColumns::BundleColumns(const BundleLayout& layout, const PolygonLimits& limits)
    : header_(layout.header),
      limits_(limits),
      ids_(layout[Section::kIds]),
      categories_(layout[Section::kCategories]),
      forms_(layout[Section::kForms]),
      ring_counts_(layout[Section::kRingCounts]),
      ring_sizes_(layout[Section::kRingSizes]),
      open_rings_(layout[Section::kOpenRings]),
      vertices_(layout[Section::kVertices]),
      user_data_sizes_(layout[Section::kUserDataSizes]),
      user_data_(layout[Section::kUserData]) {}

// Checks each count against the number of items that remain in the column, not the sum of the
// counts, since a sum could overflow.
absl::Status BundleColumns::Skip(Cursor& at) const {
  const size_t rings = ring_counts_.ValueOr(1, at.polygon);
  if (rings < 1 || rings > header_.ring_count - at.ring) {
    return InvalidItem("ring_counts", at.polygon, "must be at least 1, and sum to ring_count");
  }
  size_t vertices = 0;
  for (size_t i = at.ring; i < at.ring + rings; ++i) {
    const size_t size = ring_sizes_[i];
    if (size < 1 || size > header_.vertex_count - at.vertex - vertices) {
      return InvalidItem("ring_sizes", i, "must be at least 1, and sum to vertex_count");
    }
    vertices += size;
  }
  if (vertices > limits_.max_vertices) {
    return Refused(absl::StatusCode::kResourceExhausted, "ring_sizes",
                   absl::StrCat("must have at most ", limits_.max_vertices,
                                " vertices in all (vertices a polygon)"));
  }
  const size_t user_data = user_data_sizes_.ValueOr(0, at.polygon);
  if (user_data > header_.user_data_size - at.user_byte) {
    return InvalidItem("user_data_sizes", at.polygon, "must sum to user_data_size");
  }
  if (user_data > limits_.max_user_data_bytes) {
    return Refused(
        absl::StatusCode::kResourceExhausted, "user_data_sizes",
        absl::StrCat("must be at most ", limits_.max_user_data_bytes, " (user data a polygon)"));
  }
  at = {at.polygon + 1, at.ring + rings, at.vertex + vertices, at.user_byte + user_data};
  return absl::OkStatus();
}

absl::Status BundleColumns::CheckEnd(const Cursor& at) const {
  if (at.ring != header_.ring_count) return InvalidField("ring_counts", "must sum to ring_count");
  if (at.vertex != header_.vertex_count)
    return InvalidField("ring_sizes", "must sum to vertex_count");
  if (at.user_byte == header_.user_data_size) return absl::OkStatus();
  return InvalidField("user_data_sizes", "must sum to user_data_size");
}

absl::Status BundleColumns::Read(const Cursor& begin, const Cursor& end,
                                 std::vector<Polygon>& polygons) const {
  Scratch scratch;
  Cursor at = begin;
  polygons.reserve(end.polygon - begin.polygon);
  while (at.polygon < end.polygon) {
    absl::Status status = ReadPolygon(end, at, scratch, polygons);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Nearly all polygons are one closed ring without user data. `PolygonOfRing` makes such a polygon
// faster than `Polygon::Create`.
absl::Status BundleColumns::ReadPolygon(const Cursor& end, Cursor& at, Scratch& scratch,
                                        std::vector<Polygon>& polygons) const {
  const size_t i = at.polygon;
  const uint8_t form = forms_.ValueOr(0, i);
  if (form > (kNonZeroForm | kHollowForm)) return InvalidItem("forms", i, "must be below 4");
  PolygonSpec& head = scratch.head;
  head.id = ids_[i];
  head.category = categories_.ValueOr(1, i);
  head.fill_rule = (form & kNonZeroForm) != 0 ? FillRule::kNonZero : FillRule::kEvenOdd;
  head.solidity = (form & kHollowForm) != 0 ? Solidity::kBoundary : Solidity::kSolid;
  const bool is_one_closed_ring =
      ring_counts_.ValueOr(1, i) == 1 && user_data_sizes_.ValueOr(0, i) == 0;
  if (is_one_closed_ring && at.ring < end.ring && open_rings_.ValueOr(0, at.ring) == 0) {
    absl::Status status = ReadRing(end, at, scratch.ring);
    if (!status.ok()) return status;
    polygons.push_back(PolygonOfRing(head, scratch.ring));
  } else {
    PolygonSpec spec{head.id, {}, head.fill_rule, head.solidity, head.category};
    absl::Status status = ReadSpec(end, at, scratch, spec);
    if (!status.ok()) return status;
    absl::StatusOr<Polygon> polygon = Polygon::Create(
        std::move(spec), {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max()});
    if (!polygon.ok()) return polygon.status();
    polygons.push_back(*std::move(polygon));
  }
  ++at.polygon;
  return absl::OkStatus();
}

// Sets `spec` to the value that `Polygon::spec` returns for the polygon: a closed ring that ends
// with its first vertex gets the closing duplicate that `Polygon::Create` drops.
absl::Status BundleColumns::ReadSpec(const Cursor& end, Cursor& at, Scratch& scratch,
                                     PolygonSpec& spec) const {
  const size_t rings = ring_counts_.ValueOr(1, at.polygon);
  for (size_t i = 0; i < rings; ++i) {
    absl::Status status = ReadRing(end, at, scratch.ring);
    if (!status.ok()) return status;
    const uint8_t open = open_rings_.ValueOr(0, at.ring - 1);
    if (open > (spec.solidity == Solidity::kBoundary ? 1 : 0)) {
      return InvalidItem("open_rings", at.ring - 1, "must be 0, or 1 in a hollow polygon");
    }
    const std::vector<Vec2>& ring = scratch.ring;
    spec.rings.push_back({ring, open != 0});
    if (open == 0 && ring.size() >= 2 && ring.front() == ring.back()) {
      spec.rings.back().vertices.push_back(ring.front());
    }
  }
  const size_t user_data = user_data_sizes_.ValueOr(0, at.polygon);
  if (user_data > end.user_byte - at.user_byte) return ChangedDuringRead("user_data_sizes");
  spec.user_data.assign(user_data_.data() + at.user_byte, user_data);
  at.user_byte += user_data;
  return absl::OkStatus();
}

// Copies the vertices of the ring before it checks them, so that the polygon gets the vertices that
// were checked, even if the bytes of the bundle change meanwhile.
absl::Status BundleColumns::ReadRing(const Cursor& end, Cursor& at, std::vector<Vec2>& ring) const {
  if (at.ring >= end.ring) return ChangedDuringRead("ring_counts");
  const size_t size = ring_sizes_[at.ring];
  if (size < 1 || size > end.vertex - at.vertex) return ChangedDuringRead("ring_sizes");
  ring.resize(size);
  vertices_.CopyTo(at.vertex, size, ring.data());
  for (size_t i = 0; i < size; ++i) {
    if (!IsNormalizedCoordinate(ring[i].x) || !IsNormalizedCoordinate(ring[i].y)) {
      return InvalidItem("vertices", at.vertex + i,
                         "must be +0, or have a magnitude from 2^-140 to 2^53");
    }
  }
  ++at.ring;
  at.vertex += size;
  return absl::OkStatus();
}

}  // namespace carom::internal
