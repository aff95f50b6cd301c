// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons do the bodies of a RUBE JSON world (b2dJson, of Box2D) have?
//
// `ImportRube` reads the fixtures of all bodies, static or moving, at the places of the bodies:
// polygons and circles are solid; edges, chains and loops are chains, closed where they end at
// their first vertex. Ghost vertices are ignored; sensors are taken. Numbers may be JSON numbers
// or, as b2dJson writes them to keep every bit, 8 hexadecimal digits of a float. Vertices of bodies
// with the angle 0 are exact up to the sum of two doubles; circles are within `chord`. y points up:
// `flip_y` is off by default.
//
// Layers: a fixture is in the layer of its body's name (`body` without one); a choice may also name
// the fixture, the type of the body (`static`, `kinematic`, `dynamic`), or `sensor`. The property
// of the options is a member of the fixture, such as `filter-categoryBits`, or a custom property of
// the fixture or of its body. There are no ids.
//
// Errors are INVALID_ARGUMENT with a path such as `body[3].fixture[0].polygon`. Thread-safe. Cost:
// linear in the file.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/maps/import_common.h"
#include "client/maps/map_import.h"

namespace carom {

// Returns whether a file is a world with bodies.
bool LooksLikeRube(const Sniffed& file);

absl::StatusOr<ImportedMap> ImportRube(std::string_view bytes, const ImportOptions& options,
                                       const FileOpener& open);

}  // namespace carom
