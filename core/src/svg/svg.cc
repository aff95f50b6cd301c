// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The parts of SVG documents of carom/svg.h.

#include "carom/svg.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace carom {
namespace {

// The style sheet that all pictures share. Pictures of `carom demo` are compared byte for byte, so
// classes that only `DrawSvg` needs are in its own sheet.
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

// The largest magnitude of a number in a document, in pixels.
constexpr double kFarthest = 1e6;

// Stands for a character that XML does not allow.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Returns `bounds`, or a small box if a scale cannot be computed from `bounds`. The sides of the
// small box differ from its centre by more than an ulp, however large the coordinates are.
Box BoxWithExtent(const Box& bounds) {
  const double width = bounds.max.x - bounds.min.x;
  const double height = bounds.max.y - bounds.min.y;
  const bool is_usable = !bounds.empty() && std::isfinite(width) && std::isfinite(height);
  if (is_usable && (width > 0 || height > 0)) return bounds;
  const Vec2 centre = is_usable ? bounds.min : Vec2{};
  const double half = std::max({0.5, std::abs(centre.x) * 0x1p-50, std::abs(centre.y) * 0x1p-50});
  return {{centre.x - half, centre.y - half}, {centre.x + half, centre.y + half}};
}

// Returns the number of bytes of the character with which `text` begins: 1 to 4, or 0 if the bytes
// are not UTF-8, or if XML 1.0 does not allow the character.
size_t CharacterSize(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return first >= 0x20 || first == '\t' || first == '\n' || first == '\r' ? 1 : 0;
  }
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;  // a byte within a character, or none of UTF-8
  uint32_t code = first & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if (byte(i) >> 6 != 2) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  // The least codes of characters of 3 and 4 bytes; surrogates; the two that XML leaves out.
  const bool is_overlong = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  const bool is_no_character =
      code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF;
  return is_overlong || is_no_character ? 0 : size;
}

}  // namespace

// The map is scaled by its width, or by 3/4 of its height if that is larger.
SvgFrame::SvgFrame(const Box& bounds, double map_width, const SvgMargins& margins)
    : bounds_(BoxWithExtent(bounds)),
      map_width_(map_width),
      margins_(margins),
      scale_(map_width /
             std::max(bounds_.max.x - bounds_.min.x, (bounds_.max.y - bounds_.min.y) * 0.75)) {}

void AppendPixel(double value, std::string& out) {
  if (!(value >= -kFarthest)) value = std::isnan(value) ? 0 : -kFarthest;
  const auto hundredths = std::lround(std::min(value, kFarthest) * 100);
  if (hundredths < 0) out += '-';
  const unsigned long size = static_cast<unsigned long>(std::abs(hundredths));
  out += std::to_string(size / 100);
  const unsigned long rest = size % 100;
  if (rest == 0) return;
  out += '.';
  out += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) out += static_cast<char>('0' + rest % 10);
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
void AppendRings(const Polygon& polygon, const SvgFrame& frame, std::string& out) {
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

void AppendMap(std::span<const Polygon> map, const SvgFrame& frame, std::string& out) {
  for (const Polygon& polygon : map) {
    std::string data;
    AppendRings(polygon, frame, data);
    AppendPath(StyleOf(polygon), data, out);
  }
}

void AppendText(double x, double y, std::string_view style, std::string_view text,
                std::string& out) {
  out += "<text class=\"";
  out += style;
  out += "\" x=\"";
  AppendPixel(x, out);
  out += "\" y=\"";
  AppendPixel(y, out);
  out += "\">";
  while (!text.empty()) {
    const size_t size = CharacterSize(text);
    if (size == 0) {
      out += kReplacement;
    } else if (text[0] == '<') {
      out += "&lt;";
    } else if (text[0] == '&') {
      out += "&amp;";
    } else if (text[0] == '>' && out.ends_with("]]")) {  // XML reserves `]]>` alone
      out += "&gt;";
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  out += "</text>\n";
}

void AppendHead(const SvgFrame& frame, SvgSize size, std::string& out) {
  out += "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ";
  AppendPixel(frame.width(), out);
  out += ' ';
  AppendPixel(frame.height(), out);
  if (size == SvgSize::kFixed) {
    out += "\" width=\"";
    AppendPixel(frame.width(), out);
    out += "\" height=\"";
    AppendPixel(frame.height(), out);
  }
  out += "\">\n";
  out += kStyle;
  out += "<rect width=\"100%\" height=\"100%\" fill=\"#0b1020\"/>\n";
}

}  // namespace carom
