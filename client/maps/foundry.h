// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which walls does a scene of Foundry VTT, exported as JSON, have?
//
// `ImportFoundry` makes one open chain of two points of each wall. The kind of a wall is its layer,
// and fixes its category, so that a mask chooses what blocks: sight is blocked by all categories
// but kInvisibleWalls, movement by all but kCurtains; a game masks doors that stand open.
//
//   layer         category            walls that
//   walls         kWalls (1)          block movement and sight
//   doors         kDoors (2)          are doors
//   secret-doors  kSecretDoors (4)    are secret doors
//   windows       kWindows (8)        block movement, and sight by distance (proximity, reverse)
//   terrain       kTerrainWalls (16)  block movement, and sight behind a second wall (limited)
//   curtains      kCurtains (32)      block sight, not movement
//   invisible     kInvisibleWalls (64)  block movement, not sight
//
// Walls that block neither are skipped. Walls that block from one side are taken for both sides,
// and doors that stand open as closed; both are reported. The property of the options is a member
// of the wall, or of its flags. There are no numbers for ids. A wall with the member `sense` is of
// version 8 or earlier, whose numbers differ from those of later versions. Vertices are exact, in
// pixels of the canvas with y down: `flip_y` is on by default.
//
// Errors are INVALID_ARGUMENT with a path such as `walls[3].c`. Thread-safe. Cost: linear in the
// file.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// The categories of walls of virtual tabletops (uvtt.h has the same).
inline constexpr uint64_t kWalls = 1;
inline constexpr uint64_t kDoors = 2;
inline constexpr uint64_t kSecretDoors = 4;
inline constexpr uint64_t kWindows = 8;
inline constexpr uint64_t kTerrainWalls = 16;
inline constexpr uint64_t kCurtains = 32;
inline constexpr uint64_t kInvisibleWalls = 64;

// Returns whether a file is a scene with walls.
bool LooksLikeFoundry(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportFoundry(std::string_view bytes, const ImportOptions& options,
                                          const FileOpener& open);

}  // namespace carom
