// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/line.h"

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/formats/json_text.h"

namespace carom::cli {

void AppendBox(const Box& box, std::string& line) {
  if (box.empty()) {
    line += "null";
    return;
  }
  const double corners[] = {box.min.x, box.min.y, box.max.x, box.max.y};
  for (size_t i = 0; i < 4; ++i) {
    line += i == 0 ? "[[" : i == 2 ? "],[" : ",";
    AppendNumber(corners[i], line);
  }
  line += "]]";
}

void AppendOrigin(std::chrono::sys_time<std::chrono::microseconds> created,
                  const std::string& edit_id, std::string& line) {
  line += ",\"created\":";
  AppendString(
      absl::FormatTime("%Y-%m-%dT%H:%M:%E*SZ", absl::FromChrono(created), absl::UTCTimeZone()),
      line);
  if (edit_id.empty()) return;
  line += ",\"edit_id\":";
  AppendString(edit_id, line);
}

std::string SceneLine(const SceneSummary& scene, std::string_view more) {
  std::string line = "{\"name\":";
  AppendString(scene.name, line);
  absl::StrAppend(&line, ",\"version\":", scene.version, ",\"polygon_count\":", scene.polygon_count,
                  ",\"vertex_count\":", scene.vertex_count, ",\"bounds\":");
  AppendBox(scene.bounds, line);
  if (!scene.base.empty()) {
    line += ",\"base\":";
    AppendString(scene.base, line);
    absl::StrAppend(&line, ",\"base_version\":", scene.base_version);
  }
  return line.append(more) + "}";
}

}  // namespace carom::cli
