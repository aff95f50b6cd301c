// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The JSON Lines that `carom eval` reads: scenes and the four static questions as text.
// Start with `QueryLine` and `ReadScenes`. Numbers are written as the shortest text that reads back
// as the same double.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/oracle.h"
#include "tests/support/query.h"

namespace carom::testing {

using Json = nlohmann::json;

/// One scene of a JSON Lines file of scenes.
struct SceneEntry {
  std::string id;
  std::vector<OraclePolygon> polygons;
  std::size_t vertex_count = 0;
};

/// Returns the shortest text that reads back as `value`; −0 is written "-0.0".
std::string NumberText(double value);

/// Returns one line, without its line break.
std::string SceneLine(const std::vector<OraclePolygon>& polygons);
std::string LoadLine(std::string_view file, std::string_view id);
std::string QueryLine(const Query& query);

/// Returns the question of one input line, or nothing for any other "op".
std::optional<Query> QueryOf(const Json& line);

/// Reads the "polygons" of a scene.
std::vector<OraclePolygon> PolygonsOf(const Json& polygons);

/// Reads all scenes of a file.
std::vector<SceneEntry> ReadScenes(const std::string& path);

/// Returns the lines of a file, unpacked by `xz` where the name ends in ".xz". Empty lines are left
/// out; a file that cannot be read throws std::runtime_error.
std::vector<std::string> ReadLines(const std::string& path);

}  // namespace carom::testing
