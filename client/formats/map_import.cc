// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/formats/map_import.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/carom_map.h"
#include "client/formats/foundry.h"
#include "client/formats/geojson.h"
#include "client/formats/godot.h"
#include "client/formats/import_common.h"
#include "client/formats/ldtk.h"
#include "client/formats/moving_ai.h"
#include "client/formats/rube.h"
#include "client/formats/svg.h"
#include "client/formats/tiled.h"
#include "client/formats/uvtt.h"
#include "client/formats/wkt.h"

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
