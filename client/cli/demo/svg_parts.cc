// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/svg_parts.h"

#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

// The style sheet of the pictures of DemoPicture and MatchPicture. MatchPicture adds a style sheet
// with further classes.
constexpr std::string_view kStyle = R"(<style>
text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#c9d4f2}
.title{font-size:34px;font-weight:bold;fill:#f4f7ff}
.sub{font-size:18px;fill:#93a3cf}
.label{font-size:17px}
.count{font-size:15px;fill:#93a3cf}
.even{fill:#24315a;stroke:#7c93d8;stroke-width:1.6;fill-rule:evenodd}
.nonzero{fill:#3f2c63;stroke:#b795f2;stroke-width:1.6;fill-rule:nonzero}
.hollow{fill:none;stroke:#f0a95b;stroke-width:3;stroke-dasharray:9 4}
.free{fill:#2fd6c3;fill-opacity:.22;stroke:#2fd6c3;stroke-width:1.5}
.over{fill:#ff4d6d;fill-opacity:.5;stroke:#ff9aab;stroke-width:2}
.shot,.near,.mid,.far{fill:none;stroke:#ffd166;stroke-width:1.2;stroke-opacity:.62}
.near{stroke-opacity:.5}.mid{stroke-opacity:.32}.far{stroke-opacity:.15}
.hit{fill:none;stroke:#fff6d6;stroke-width:3.4;stroke-linecap:round}
.normal{fill:none;stroke:#8dff9e;stroke-width:1.5;stroke-linecap:round}
</style>
)";

}  // namespace

void AppendPixel(double value, std::string& out) {
  AppendNumber(std::round(value * 100) / 100, out);
}

void AppendAt(char command, Vec2 p, std::string& out) {
  out += command;
  AppendPixel(p.x, out);
  out += ' ';
  AppendPixel(p.y, out);
}

void AppendLine(Vec2 a, Vec2 b, std::string& out) {
  AppendAt('M', a, out);
  AppendAt('L', b, out);
}

// Ends each closed ring with `Z`, the command that draws the last edge; an open chain of edges gets
// none.
void AppendRings(const Polygon& polygon, const Frame2d& frame, std::string& out) {
  for (size_t ring = 0; ring < polygon.ring_count(); ++ring) {
    char command = 'M';
    for (const Vec2 p : polygon.ring(ring)) {
      AppendAt(command, frame(p), out);
      command = 'L';
    }
    if (!polygon.is_open(ring)) out += 'Z';
  }
}

// Omits an empty path, which would draw nothing.
void AppendPath(std::string_view style, std::string_view data, std::string& out) {
  if (data.empty()) return;
  out += "<path class=\"";
  out += style;
  out += "\" d=\"";
  out += data;
  out += "\"/>\n";
}

// Polygons that are only a boundary, without an interior, are `hollow`; for a solid polygon the
// fill rule decides the class.
const char* StyleOf(const Polygon& polygon) {
  if (polygon.solidity() == Solidity::kBoundary) return "hollow";
  return polygon.fill_rule() == FillRule::kEvenOdd ? "even" : "nonzero";
}

// Draws the polygons in the order of `map`, so that later polygons are above earlier ones.
void AppendMap(std::span<const Polygon> map, const Frame2d& frame, std::string& out) {
  for (const Polygon& polygon : map) {
    std::string data;
    AppendRings(polygon, frame, data);
    AppendPath(StyleOf(polygon), data, out);
  }
}

void AppendText(double x, double y, std::string_view style, std::string_view text,
                std::string& out) {
  absl::StrAppend(&out, "<text class=\"");
  out += style;
  out += "\" x=\"";
  AppendPixel(x, out);
  out += "\" y=\"";
  AppendPixel(y, out);
  out += "\">";
  // Escapes the text, because the title is a file name and may contain any character.
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  out += "</text>\n";
}

// Sets a view box instead of a fixed size, so that viewers can scale the picture.
void AppendHead(const Frame2d& frame, std::string& out) {
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
  AppendPixel(frame.width(), out);
  out += ' ';
  AppendPixel(frame.height(), out);
  out += "\">\n";
  out += kStyle;
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#0b1020\"/>\n";
}

}  // namespace carom::cli
