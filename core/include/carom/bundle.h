// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a scene become bytes that every machine reads, and bytes a scene again?
//
// A *bundle* is one scene: a header, its polygons in little-endian columns, a checksum of each
// column and, if asked, the arrangement of the index, so that opening sorts nothing. The bytes are
// described one by one in docs/bundle.md. Start with `WriteBundle`; carom/bundle_file.h has the
// files (`.carom`).
//
//   const std::string bytes = WriteBundle(*scene);
//   const absl::StatusOr<Scene::Ptr> again = ReadBundle(bytes);
//   const bool same = again.ok() && (*again)->Find(7) != nullptr;  // true
//   const absl::Status cut = ReadBundle(bytes.substr(0, 100)).status();
//   // cut.code() == absl::StatusCode::kDataLoss, of the field "header.file_size"
//
// Lengths are in the unit of the caller's coordinates, sizes in bytes. Error: none, numbers are
// kept bit by bit. Cost: O(n), n the vertices, with the arrangement; without it, that of
// `Scene::Create`. Thread-safe. Cheaper: carom/scene.h, within one process; richer:
// carom/bundle_file.h.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/polygon.h"
#include "carom/scene.h"

namespace carom {

// Whether a bundle has the arrangement of the index. With it, a scene opens several times as fast,
// and takes 4 bytes a polygon more. Without it, scenes of equal polygons are equal bytes, however
// they came about: for whoever compares or signs them.
enum class BundleIndex : uint8_t { kArranged, kNone };

struct BundleReadOptions {
  // The version of the scene. It is the reader's, and not in the bundle.
  uint64_t version = 1;
  // What a larger bundle is refused by, before anything is allocated for it.
  SceneLimits limits = {};
  PolygonLimits polygon_limits = {};
  // Who shares the work. Leave it alone where several cores are not there for this one scene.
  Workers workers = {};
};

// The bundle of `scene`. Never fails. Memory: its size, 16 bytes a vertex and 13 to 25 a polygon,
// or more for user data. Cost O(n log n) in the polygons.
std::string WriteBundle(const Scene& scene, BundleIndex index = BundleIndex::kArranged);

// Whether `bytes` begin as every bundle of every version does: eight of them decide.
bool IsBundle(absl::string_view bytes);

// The scene in `bytes`, which are not needed any more then. They may come from anyone: each size,
// offset and count is checked before it is used, and each number before a polygon has it. The
// arrangement decides about speed alone, never about an answer, so a malicious one has no power.
//
// Errors name the part, in the words of docs/bundle.md: `header.version`, `vertices[12]`.
//   * INVALID_ARGUMENT: `header.magic`, this is no bundle; `header.version`, one of another
//   version;
//     or a section whose checksum is right, but whose content is none: an unknown form, an id that
//     is there twice, a coordinate that `Polygon::Create` would refuse or change;
//   * DATA_LOSS: `header.file_size`, the bytes end too early or too late; `header` or a section
//     whose checksum is wrong;
//   * RESOURCE_EXHAUSTED: over `limits` or `polygon_limits`.
//
// If the bytes change while they are read, the result is an error or some valid scene.
absl::StatusOr<Scene::Ptr> ReadBundle(absl::string_view bytes,
                                      const BundleReadOptions& options = {});

}  // namespace carom
