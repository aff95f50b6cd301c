// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Prints the polygons of a map of Tiled as a scene in JSON, for scripts that compare them:
//
//   print_map FILE [LAYER...]
//
// y points down, as in the file. The layers are those to take beside the default ones; `*` is all.

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "client/formats/scene_writer.h"
#include "client/maps/tiled/tiled.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: print_map FILE [LAYER...]\n";
    return 2;
  }
  carom::ImportOptions options;
  options.flip_y = false;
  for (int i = 2; i < argc; ++i) {
    options.layers.push_back({argv[i], std::nullopt, carom::LayerUse::kDefault});
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto map = carom::ImportTiled(bytes, options, carom::OpenBeside(argv[1]));
  if (!map.ok()) {
    std::cerr << argv[1] << ": " << map.status().message() << "\n";
    return 1;
  }
  std::cout << carom::WriteScene(map->polygons);
  for (const carom::SkippedPart& part : map->skipped) {
    std::cerr << "skipped " << part.what << ": " << part.why << "\n";
  }
  return 0;
}
