// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tests/bench/report.h"

namespace carom::bench {
namespace {

constexpr int kLabelWidth = 330;
constexpr int kPlotWidth = 560;
constexpr int kRowHeight = 18;
constexpr int kTop = 50;
constexpr double kDecades = 3;  // from 0.1 to 100

double At(double ratio) {
  const double decades = std::clamp(std::log10(ratio) + 1, 0.0, kDecades);
  return kLabelWidth + kPlotWidth * decades / kDecades;
}

std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

std::string Axis(double height) {
  std::string svg;
  for (const double tick : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0}) {
    absl::StrAppend(
        &svg,
        absl::StrFormat("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" "
                        "stroke=\"%s\"/>\n",
                        At(tick), kTop - 6, At(tick), height, tick == 1.0 ? "#333" : "#ddd"),
        Text(At(tick), kTop - 10, "middle", absl::StrFormat("%g", tick)));
  }
  return svg;
}

std::string Bar(const Row& row, double y) {
  const double from = At(1);
  const double to = At(row.ratio());
  const double mark = At(row.goal.bound);
  return absl::StrCat(
      Text(kLabelWidth - 8, y + 12, "end", row.name),
      absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                      std::min(from, to), y + 2, std::max(1.0, std::abs(to - from)), kRowHeight - 5,
                      row.ok() ? "#4a9b5d" : "#d0644c"),
      absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#111\" "
                      "stroke-width=\"2\"/>\n",
                      mark, y, mark, y + kRowHeight - 1),
      Text(std::max(to, mark) + 5, y + 12, "start", absl::StrFormat("%.2f", row.ratio())));
}

}  // namespace

std::string RatioPlot(const std::vector<Row>& rows) {
  std::vector<Row> shown;
  for (const Row& row : rows) {
    if (row.ratio() > 0) shown.push_back(row);
  }
  const int height = kTop + kRowHeight * static_cast<int>(shown.size()) + 12;
  const int width = kLabelWidth + kPlotWidth + 60;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height);
  absl::StrAppend(&svg,
                  Text(12, 18, "start",
                       "Ratio of times, logarithmic; black mark: goal; green: met, red: not met "
                       "(growth and build: at most the goal)"),
                  Axis(height - 8));
  double y = kTop;
  for (const Row& row : shown) {
    absl::StrAppend(&svg, Bar(row, y));
    y += kRowHeight;
  }
  return svg + "</svg>\n";
}

}  // namespace carom::bench
