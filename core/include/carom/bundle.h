// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a scene become bytes that every machine can read, and how do bytes become a scene?
//
// A *bundle* is one scene: a header, the polygons in little-endian columns, a checksum of each
// column and, optionally, the arrangement of the index, so that opening needs no sort.
// docs/bundle.md describes each byte. Start with `WriteBundle`; carom/bundle_file.h reads and
// writes files (`.carom`).
//
//   const std::string bytes = WriteBundle(*scene);
//   const absl::StatusOr<Scene::Ptr> again = ReadBundle(bytes);
//   const bool same = again.ok() && (*again)->Find(7) != nullptr;  // true
//   const absl::Status cut = ReadBundle(bytes.substr(0, 100)).status();
//   // cut.code() == absl::StatusCode::kDataLoss, of the field "header.file_size"
//
// Lengths are in the unit of the caller's coordinates, sizes in bytes. Error: none, numbers are
// kept bit by bit. Cost: O(n) for n vertices if the bundle has the arrangement, otherwise the cost
// of `Scene::Create`. Thread-safe. Cheaper alternative: carom/scene.h, within one process. More
// powerful: carom/bundle_file.h.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom {

// Whether a bundle has the arrangement of the index. With the arrangement, a scene opens several
// times as fast, and the bundle takes 4 bytes per polygon more. Without it, scenes of equal
// polygons have equal bytes, whatever edits made them: for programs that compare or sign bundles.
enum class BundleIndex : uint8_t { kArranged, kNone };

struct BundleReadOptions {
  // The version of the scene. The reader chooses it; the bundle does not contain it.
  uint64_t version = 1;
  // The limits above which a bundle is refused, before memory is allocated for it.
  SceneLimits limits = {};
  PolygonLimits polygon_limits = {};
  // How the work is divided. Keep the default unless several cores are free for this scene alone.
  Workers workers = {};
};

// Returns the bundle of `scene`. Never fails. Memory: the size of the bundle, 16 bytes per vertex
// and 13 to 25 per polygon, or more for user data. Cost O(n log n) for n polygons.
std::string WriteBundle(const Scene& scene, BundleIndex index = BundleIndex::kArranged);

// Returns the number of bytes of `WriteBundle(scene, index)`. Cost O(n) for n polygons, allocates 8
// bytes for each of them.
uint64_t BundleSize(const Scene& scene, BundleIndex index = BundleIndex::kArranged);

// Returns whether `bytes` start with the eight bytes with which all bundles of all versions start.
bool IsBundle(absl::string_view bytes);

// Returns the scene in `bytes`, which may be freed after the call. The bytes may come from an
// untrusted source: each size, offset and count is checked before it is used, and each number
// before a polygon contains it. The arrangement decides about speed alone, so that a malicious
// arrangement cannot change an answer.
//
// Errors name the part in the words of docs/bundle.md, such as `header.version` or `vertices[12]`:
//   * INVALID_ARGUMENT: `header.magic` if the bytes are no bundle; `header.version` if the bundle
//     has another version; or a section with a right checksum, but with invalid content: an
//     unknown form, an id that occurs twice, a coordinate that `Polygon::Create` would refuse or
//     change;
//   * DATA_LOSS: `header.file_size` if the bytes end too early or too late; `header` or a section
//     if its checksum is wrong;
//   * RESOURCE_EXHAUSTED: the scene is over `limits` or `polygon_limits`.
//
// If the bytes change while they are read, the result is an error or some valid scene.
absl::StatusOr<Scene::Ptr> ReadBundle(absl::string_view bytes,
                                      const BundleReadOptions& options = {});

}  // namespace carom
