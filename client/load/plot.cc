// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/load/report.h"

namespace carom::load {
namespace {

// The area of the axes in the picture, in pixels.
constexpr double kLeft = 70;
constexpr double kTop = 50;
constexpr double kWidth = 640;
constexpr double kHeight = 320;

// Returns the share of frames at the position `nines` of the x axis, which counts nines: 0.9 at 1,
// 0.99 at 2.
double ShareAt(double nines) { return 1 - std::pow(10, -nines); }

// Returns the length of the x axis in nines (1 is 90 %, 2 is 99 %) that `count` frames can resolve,
// in [1, 7].
double Nines(uint64_t count) {
  return std::clamp(std::ceil(std::log10(static_cast<double>(count + 1))), 1.0, 7.0);
}

// Returns the step between the grid lines of an axis from 0 to `most`: 1, 2 or 5 times a power of
// ten, at least `most` / 6.
double Step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 6)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor * 6 >= most) return power * factor;
  }
  return power * 10;
}

// Maps percentiles and latencies to pixels. The x axis counts nines (0 %, 90 %, 99 %, …), so that
// the tail, which a tick loop suffers from, is visible; on a linear axis it would be a pixel wide.
struct Axes {
  double nines = 1;    // the right end of the x axis
  double most_ms = 1;  // the upper end of the y axis

  double X(double at) const { return kLeft + kWidth * at / nines; }
  double Y(double ms) const { return kTop + kHeight * (1 - ms / most_ms); }
};

// Returns an SVG text element. Does not escape `text`: callers pass fixed words and numbers.
std::string Text(double x, double y, const char* anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
                         text);
}

// Returns an SVG line in the grey of the grid.
std::string Line(double x1, double y1, double x2, double y2) {
  return absl::StrFormat(
      "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", x1, y1, x2, y2);
}

// Returns the grid lines and labels of both axes.
std::string Grid(const Axes& axes) {
  std::string svg;
  for (int nines = 0; nines <= static_cast<int>(axes.nines); ++nines) {
    const std::string label =
        nines == 0 ? "0" : absl::StrFormat("%.*f", std::max(0, nines - 2), 100 * ShareAt(nines));
    absl::StrAppend(&svg, Line(axes.X(nines), kTop, axes.X(nines), kTop + kHeight),
                    Text(axes.X(nines), kTop + kHeight + 16, "middle", label + " %"));
  }
  const double step = Step(axes.most_ms);
  for (int i = 0; i * step <= axes.most_ms * (1 + 1e-9); ++i) {
    absl::StrAppend(&svg, Line(kLeft, axes.Y(i * step), kLeft + kWidth, axes.Y(i * step)),
                    Text(kLeft - 6, axes.Y(i * step) + 4, "end", absl::StrFormat("%g", i * step)));
  }
  return svg;
}

// Returns an SVG curve of the latencies in `histogram`, through the quantiles at 401 points of the
// x axis.
std::string Curve(const Axes& axes, const Histogram& histogram, const char* color) {
  if (histogram.count() == 0) return "";
  std::string points;
  constexpr int kPoints = 400;
  for (int i = 0; i <= kPoints; ++i) {
    const double nines = axes.nines * i / kPoints;
    const double ms = static_cast<double>(histogram.Quantile(ShareAt(nines))) * 1e-6;
    absl::StrAppend(&points, absl::StrFormat("%.1f,%.1f ", axes.X(nines), axes.Y(ms)));
  }
  return absl::StrFormat(
      "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", points, color);
}

// Returns the SVG elements of a legend entry: a coloured bar and its label.
std::string Legend(double x, double y, const char* color, const std::string& text) {
  return absl::StrCat(
      absl::StrFormat("<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"4\" fill=\"%s\"/>\n", x,
                      y - 6, color),
      Text(x + 20, y, "start", text));
}

}  // namespace

std::string ReportPlot(const LoadReport& report) {
  const Tally& tally = report.tally;
  const double most_ms =
      static_cast<double>(std::max(tally.latency_ns.max(), tally.send_delay_ns.max())) * 1e-6;
  Axes axes{Nines(tally.latency_ns.count()), std::max(1e-3, most_ms)};
  const double step = Step(axes.most_ms);
  axes.most_ms = step * std::ceil(axes.most_ms / step);
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kLeft + kWidth + 50, kTop + kHeight + 60);
  const LoadOptions& options = report.options;
  const std::string when = options.is_closed() ? absl::StrCat(options.closed, " in flight")
                                               : absl::StrFormat("%g Hz", options.rate_hz);
  absl::StrAppend(
      &svg,
      Text(kLeft, 22, "start",
           absl::StrCat(options.streams, " streams, ", when, ", ", options.bullets, " bullets and ",
                        options.trackers, " moves a frame; ",
                        absl::StrFormat("%.0f queries a second", report.queries_per_second()))),
      Legend(kLeft, 40, "#2a6fb0", "latency of answered frames, ms"),
      Legend(kLeft + 240, 40, "#d0644c", "from due to sent, ms"), Grid(axes),
      Curve(axes, tally.send_delay_ns, "#d0644c"), Curve(axes, tally.latency_ns, "#2a6fb0"),
      Text(kLeft + kWidth / 2, kTop + kHeight + 40, "middle", "frames, by latency"));
  return svg + "</svg>\n";
}

}  // namespace carom::load
