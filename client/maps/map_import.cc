// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/map_import.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/maps/carom_map.h"
#include "client/maps/foundry.h"
#include "client/maps/geojson.h"
#include "client/maps/godot/godot.h"
#include "client/maps/import_common.h"
#include "client/maps/ldtk.h"
#include "client/maps/moving_ai.h"
#include "client/maps/rube.h"
#include "client/maps/svg.h"
#include "client/maps/tiled/tiled.h"
#include "client/maps/uvtt.h"
#include "client/maps/wkt.h"

namespace carom {
namespace {

// The readers. The first row that matches reads the file, so a row whose marks are common comes
// after those whose marks are rare.
constexpr MapFormat kMapFormats[] = {
    {"Carom", LooksLikeCarom, ImportCarom},
    {"Tiled", LooksLikeTiled, ImportTiled},
    {"LDtk", LooksLikeLdtk, ImportLdtk},
    {"Godot", LooksLikeGodot, ImportGodot},
    {"RUBE", LooksLikeRube, ImportRube},
    {"Universal VTT", LooksLikeUvtt, ImportUvtt},
    {"Foundry VTT", LooksLikeFoundry, ImportFoundry},
    {"GeoJSON", LooksLikeGeoJson, ImportGeoJson},
    {"SVG", LooksLikeSvg, ImportSvg},
    {"Moving AI", LooksLikeMovingAi, ImportMovingAi},
    {"WKT", LooksLikeWkt, ImportWkt},
};

}  // namespace

// Each reader gets the file without a byte order mark.
absl::StatusOr<ImportedMap> ImportMap(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& open) {
  const Sniffed file = Sniff(bytes);
  std::string names;
  for (const MapFormat& format : kMapFormats) {
    if (format.matches(file)) return format.read(file.bytes, options, open);
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(format.name));
  }
  return InvalidField("", "no map of a known format: " + names);
}

}  // namespace carom
