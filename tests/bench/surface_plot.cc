// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/surface_plot.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace carom::bench {
namespace {

constexpr double kPanelWidth = 430;
constexpr double kHeight = 400;
constexpr double kDecades = 4;  // from 10 ns to 100 us
constexpr double kLowest = 1;   // log10 of the lowest time

struct Screen {
  double x, y;
};

// One panel: column and row in [0, 1], height in [0, 1], seen from above at a corner.
struct Panel {
  double left;

  Screen At(double column, double row, double height) const {
    return {left + 70 + 200 * column + 130 * row, 300 + 60 * column - 75 * row - 190 * height};
  }
};

double HeightOf(double ns) {
  return std::clamp((std::log10(std::max(ns, 1.0)) - kLowest) / kDecades, 0.0, 1.0);
}

double Place(size_t i, size_t count) {
  return static_cast<double>(i) / static_cast<double>(count - 1);
}

std::string Line(Screen a, Screen b, const char* color) {
  return absl::StrFormat("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                         a.x, a.y, b.x, b.y, color);
}

std::string Text(Screen at, const char* anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", at.x, at.y,
                         anchor, text);
}

// From blue, low, to red, high.
std::string Color(double height) {
  return absl::StrFormat("rgb(%d,%d,%d)", static_cast<int>(60 + 180 * height),
                         static_cast<int>(150 - 60 * height), static_cast<int>(200 - 150 * height));
}

std::string Axes(const Panel& panel, const std::vector<size_t>& columns,
                 const std::vector<size_t>& rows) {
  std::string svg;
  for (int decade = 0; decade <= static_cast<int>(kDecades); ++decade) {
    const double height = decade / kDecades;
    absl::StrAppend(&svg, Line(panel.At(0, 0, height), panel.At(0, 1, height), "#ddd"),
                    Line(panel.At(0, 1, height), panel.At(1, 1, height), "#ddd"));
    const Screen label = panel.At(0, 0, height);
    const double ns = std::pow(10, kLowest + decade);
    absl::StrAppend(
        &svg, Text({label.x - 6, label.y + 4}, "end",
                   ns < 1000 ? absl::StrFormat("%g ns", ns) : absl::StrFormat("%g us", ns / 1000)));
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    const Screen at = panel.At(Place(i, columns.size()), 0, 0);
    absl::StrAppend(&svg, Text({at.x, at.y + 16}, "middle", absl::StrCat(columns[i])));
  }
  for (size_t k = 0; k < rows.size(); ++k) {
    const Screen at = panel.At(1, Place(k, rows.size()), 0);
    absl::StrAppend(&svg, Text({at.x + 8, at.y + 6}, "start", absl::StrCat(rows[k])));
  }
  const Screen n = panel.At(0.5, 0, 0);
  const Screen m = panel.At(1, 0.5, 0);
  absl::StrAppend(&svg, Text({n.x - 20, n.y + 36}, "middle", "vertices of the figure"),
                  Text({m.x + 34, m.y + 22}, "start", "of the mover"));
  return svg;
}

// Patches from the back to the front.
std::string Patches(const Panel& panel, const std::vector<std::vector<double>>& times) {
  std::string svg;
  const size_t columns = times.size();
  const size_t rows = times[0].size();
  for (size_t k = rows - 1; k-- > 0;) {
    for (size_t i = 0; i + 1 < columns; ++i) {
      double sum = 0;
      std::string points;
      for (const auto& [di, dk] : {std::pair{0, 0}, {1, 0}, {1, 1}, {0, 1}}) {
        const size_t column = i + static_cast<size_t>(di);
        const size_t row = k + static_cast<size_t>(dk);
        const double height = HeightOf(times[column][row]);
        const Screen at = panel.At(Place(column, columns), Place(row, rows), height);
        absl::StrAppend(&points, absl::StrFormat("%.1f,%.1f ", at.x, at.y));
        sum += height / 4;
      }
      absl::StrAppend(&svg, "<polygon points=\"", points, "\" fill=\"", Color(sum),
                      "\" fill-opacity=\"0.85\" stroke=\"#333\" stroke-width=\"0.6\"/>\n");
    }
  }
  return svg;
}

}  // namespace

std::string SurfacePlot(const std::string& title, const std::vector<size_t>& columns,
                        const std::vector<size_t>& rows, const std::vector<Surface>& surfaces) {
  const double width = kPanelWidth * static_cast<double>(surfaces.size()) + 40;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, kHeight);
  absl::StrAppend(&svg, Text({12, 18}, "start", title));
  for (size_t i = 0; i < surfaces.size(); ++i) {
    const Panel panel{kPanelWidth * static_cast<double>(i)};
    absl::StrAppend(&svg, Text({panel.left + 215, 42}, "middle", surfaces[i].title),
                    Axes(panel, columns, rows), Patches(panel, surfaces[i].times));
  }
  return svg + "</svg>\n";
}

}  // namespace carom::bench
