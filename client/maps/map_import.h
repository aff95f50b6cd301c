// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which polygons does a map of another program have?
//
// `ImportMap` detects the format by the content of a file and returns its polygons, with a report
// of what it skipped. The readers of the formats (tiled.h, ldtk.h and so on) are pure functions
// from bytes and options to an `ImportedMap`; files beside the map, such as external tilesets, come
// from a `FileOpener`. Every reader takes the options in the same sense.
//
// Errors are INVALID_ARGUMENT and name the line of a text, or the path in a document, such as
// `layers[2].objects[0].polygon`. A reader does not enforce the limits of a scene.
//
// Thread-safe, as far as the opener is. Cost: linear in the size of the map, with its decompressed
// layers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/geometry.h"
#include "carom/polygon.h"

namespace carom {

// Returns the bytes of the file `path`, relative to the folder of the map. An opener refuses an
// absolute path, and one that leaves the folder, with INVALID_ARGUMENT; NOT_FOUND if there is no
// file.
using FileOpener = std::function<absl::StatusOr<std::string>(std::string_view path)>;

// Called with how many bytes of a map are read, and of how many.
using ReadProgress = std::function<void(uint64_t done, uint64_t total)>;

// How the polygons of one layer are made.
enum class LayerUse : uint8_t { kDefault, kSolid, kHollow, kSkip };

// The choice for the layers with a name; `*` stands for all.
struct LayerChoice {
  std::string name;
  std::optional<uint64_t> category;  // absent: 1, or what `property` gives
  LayerUse use = LayerUse::kDefault;
};

struct ImportOptions {
  // The id of the scene to take from a file with a scene a line, or the name of a world of an LDtk
  // project; empty: the file has one scene, or the first world is taken.
  std::string scene;
  // Behaviour. A point p of the file becomes (p - origin) * scale, with y negated if `flip_y`.
  double scale = 1;
  Vec2 origin = {0, 0};
  std::optional<bool> flip_y;  // absent: true where the y axis of the format points down
  // The layers to take beside those that are taken by default, with categories. The last choice
  // whose name equals that of a layer counts; `*` equals all.
  std::vector<LayerChoice> layers;
  // The property whose value, a number or a comma-separated list of bit numbers, is the category of
  // a shape; empty: none.
  std::string property;
  bool outline = true;  // false: one box for each cell of a tile layer, not the union of cells
  bool merge = false;   // replaces boxes that touch by their union

  // Performance. The greatest distance of a curve from its chords, in the unit of the file; above
  // 0.
  double chord = 0.25;
  // The most bytes that compressed layers may have in all when decompressed.
  size_t max_decompressed_bytes = size_t{1} << 28;
  // Called while a map is read, but not for RUBE and virtual tabletops; null: nothing is called.
  const ReadProgress* progress = nullptr;

  // Calls `progress` unless it is null.
  void Report(size_t done, size_t total) const {
    if (progress != nullptr) (*progress)(done, total);
  }
};

// Something that was not imported.
struct SkippedPart {
  std::string what;    // such as `layer "Ground"`
  std::string why;     // such as `its tiles have no collision shapes`
  std::string option;  // the option that imports it, such as `--layer Ground`; or empty
};

struct ImportedMap {
  std::string format;      // such as `tiled`
  std::string scene = {};  // the id that the file has for the scene; may be empty
  std::vector<Polygon> polygons = {};
  std::vector<SkippedPart> skipped = {};
  // The mapping that was used, as pairs of name and value, such as ("scale", "1"). Empty if the
  // polygons are as the file has them, with their ids.
  std::vector<std::pair<std::string, std::string>> mapping = {};
  // The mapping of an earlier import that the file keeps, a JSON object as text; empty: none.
  // Carom's JSON and the GeoJSON that Carom writes have a place for it.
  std::string kept_mapping = {};
};

// Returns the polygons of a map in any of the formats of this folder, by its content.
// INVALID_ARGUMENT if no reader accepts it: the message lists the formats.
absl::StatusOr<ImportedMap> ImportMap(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& open);

// Returns an opener for the folder of the file `path`: it follows no symbolic link and no `..` out
// of the folder, and opens at most `max_files` files with `max_bytes` bytes in all.
FileOpener OpenBeside(const std::string& path, size_t max_files = 1024,
                      size_t max_bytes = size_t{1} << 30);

}  // namespace carom
