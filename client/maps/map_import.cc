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

// Reads a format whose reader needs the bytes alone.
template <auto kRead>
absl::StatusOr<ImportedMap> FromBytes(const Sniffed& file, const ImportOptions& options,
                                      const FileOpener& open) {
  return kRead(file.bytes, options, open);
}

// The readers. The first row that matches reads the file, so a row whose marks are common comes
// after those whose marks are rare.
constexpr MapFormat kMapFormats[] = {
    {"Carom", LooksLikeCarom, ImportSniffedCarom},
    {"Tiled", LooksLikeTiled, FromBytes<ImportTiled>},
    {"LDtk", LooksLikeLdtk, FromBytes<ImportLdtk>},
    {"Godot", LooksLikeGodot, FromBytes<ImportGodot>},
    {"RUBE", LooksLikeRube, FromBytes<ImportRube>},
    {"Universal VTT", LooksLikeUvtt, FromBytes<ImportUvtt>},
    {"Foundry VTT", LooksLikeFoundry, FromBytes<ImportFoundry>},
    {"GeoJSON", LooksLikeGeoJson, ImportSniffedGeoJson},
    {"SVG", LooksLikeSvg, FromBytes<ImportSvg>},
    {"Moving AI", LooksLikeMovingAi, FromBytes<ImportMovingAi>},
    {"WKT", LooksLikeWkt, FromBytes<ImportWkt>},
};

}  // namespace

// Each reader gets the file without a byte order mark.
absl::StatusOr<ImportedMap> ImportMap(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& open) {
  const Sniffed file = Sniff(bytes);
  std::string names;
  for (const MapFormat& format : kMapFormats) {
    if (format.matches(file)) return format.read(file, options, open);
    absl::StrAppend(&names, names.empty() ? "" : ", ", AbslView(format.name));
  }
  return InvalidField("", "no map of a known format: " + names);
}

}  // namespace carom
