// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/lint_picture.h"

#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/svg.h"

namespace carom::cli {
namespace {

constexpr double kPictureWidth = 1024;  // in pixels
constexpr double kRingRadius = 7;
constexpr size_t kMostNumbers = 1000;

constexpr char kLintStyle[] =
    "<style>.pocket{fill:#f0b429;fill-opacity:.3;stroke:#f0b429;stroke-width:1;"
    "stroke-dasharray:4 3}.leak{fill:none;stroke:#ff5470;stroke-width:2}"
    ".mark{fill:none;stroke:#ff5470;stroke-width:1.5}"
    ".number{fill:#ffd7de;font:600 11px sans-serif}</style>\n";

// Appends a ring about a point in pixels, as two arcs.
void AppendMark(Vec2 at, std::string& out) {
  AppendAt('M', {at.x - kRingRadius, at.y}, out);
  for (const double side : {1.0, -1.0}) {
    absl::StrAppend(&out, "a", kRingRadius, " ", kRingRadius, " 0 1 0 ", side * 2 * kRingRadius,
                    " 0");
  }
}

// Returns where the number of a finding is: a pocket's in the middle of its outline's box.
Vec2 PlaceOf(const LintFinding& finding) {
  if (finding.kind == LintKind::kGap) {
    return {(finding.point.x + finding.other_point.x) / 2,
            (finding.point.y + finding.other_point.y) / 2};
  }
  return finding.point;
}

}  // namespace

std::string LintPicture(const Scene& scene, std::span<const LintFinding> findings) {
  const SvgFrame frame(scene.bounds(), kPictureWidth, {.side = 24, .top = 24, .bottom = 24});
  std::string out;
  AppendHead(frame, SvgSize::kFixed, out);
  out += kLintStyle;
  std::vector<Polygon> map;
  map.reserve(scene.polygon_count());
  for (size_t i = 0; i < scene.polygon_count(); ++i) map.push_back(scene.polygon(i));
  std::string lines;
  std::string marks;
  for (const LintFinding& finding : findings) {
    std::string outline;
    for (const Vec2 p : finding.outline) AppendAt(outline.empty() ? 'M' : 'L', frame(p), outline);
    if (!outline.empty()) AppendPath("pocket", outline + "Z", out);
    if (!(finding.point == finding.other_point)) {
      AppendLine(frame(finding.point), frame(finding.other_point), lines);
    }
  }
  AppendMap(map, frame, out);  // above the pockets, which do not leave out their islands
  // Findings whose rings would overlap share a ring, with all numbers.
  std::map<std::pair<double, double>, std::string> numbers;
  for (size_t i = 0; i < findings.size() && i < kMostNumbers; ++i) {
    const Vec2 at = frame(PlaceOf(findings[i]));
    constexpr double kCell = 2 * kRingRadius;
    std::string& text = numbers[{std::round(at.x / kCell), std::round(at.y / kCell)}];
    if (text.empty()) AppendMark(at, marks);
    absl::StrAppend(&text, text.empty() ? "" : ", ", i + 1);
  }
  AppendPath("leak", lines, out);
  AppendPath("mark", marks, out);
  for (const auto& [cell, text] : numbers) {
    AppendText(2 * kRingRadius * cell.first + kRingRadius + 1,
               2 * kRingRadius * cell.second - kRingRadius, "number", text, out);
  }
  return out + "</svg>\n";
}

}  // namespace carom::cli
