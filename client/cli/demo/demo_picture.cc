// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/demo_picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/sincos.h"
#include "carom/svg.h"
#include "client/cli/demo/picture_frame.h"
#include "client/formats/grouped.h"

namespace carom::cli {
namespace {

constexpr double kNormalLength = 9;  // length of a drawn normal in pixels

// Returns the point at fraction `t` from a to b.
Vec2 Between(Vec2 a, Vec2 b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

// The SVG path data of all bullets: `shots` has the bullets that hit; `near`, `mid` and `far` the
// first 40 %, the next 30 % and the last 30 % of the bullets that miss, drawn ever fainter; `hits`
// the points of the hits, and `normals` the normals there.
struct BulletPaths {
  std::string shots, near, mid, far, hits, normals;

  // Adds a bullet: the part up to its hit, or its whole length if `hit` is null.
  void Add(const Segment& bullet, const CastHit* hit, const SvgFrame& frame) {
    const Vec2 a = frame(bullet.a);
    const Vec2 b = frame(bullet.b);
    if (!hit) {
      AppendLine(a, Between(a, b, 0.4), near);
      AppendLine(Between(a, b, 0.4), Between(a, b, 0.7), mid);
      AppendLine(Between(a, b, 0.7), b, far);
      return;
    }
    const Vec2 p = frame(hit->point);
    AppendLine(a, p, shots);
    AppendAt('M', p, hits);
    hits += "h0";
    // The normal is zero if the bullet starts in the polygon or runs along an edge.
    if (hit->normal == Vec2{}) return;
    AppendLine(p, {p.x + hit->normal.x * kNormalLength, p.y - hit->normal.y * kNormalLength},
               normals);
  }
};

// Draws all bullets as six paths: one element per bullet would take megabytes.
void AppendBullets(const DemoWorld& world, const CastAnswers& casts, const SvgFrame& frame,
                   std::string& out) {
  BulletPaths paths;
  size_t row = 0;
  for (uint32_t i = 0; i < world.bullet_count(); ++i) {
    const CastHit* hit = casts.counts[i] > 0 ? &casts.hits[row] : nullptr;
    paths.Add(world.bullet(i), hit, frame);
    row += casts.counts[i];
  }
  AppendPath("far", paths.far, out);
  AppendPath("mid", paths.mid, out);
  AppendPath("near", paths.near, out);
  AppendPath("shot", paths.shots, out);
  AppendPath("normal", paths.normals, out);
  AppendPath("hit", paths.hits, out);
}

// Draws a circle; `center` and `radius` are in pixels.
void AppendCircle(Vec2 center, double radius, std::string_view style, std::string& out) {
  out += "<circle class=\"";
  out += style;
  out += "\" cx=\"";
  AppendPixel(center.x, out);
  out += "\" cy=\"";
  AppendPixel(center.y, out);
  out += "\" r=\"";
  AppendPixel(radius, out);
  out += "\"/>\n";
}

// Draws the moving shapes: shapes that overlap a polygon in the style `over`, other shapes in the
// style `free`. Returns how many shapes overlap a polygon.
size_t AppendShapes(const DemoWorld& world, const GroupAnswers& answers, const SvgFrame& frame,
                    std::string& out) {
  // If i < circle_count(), mover i is item i of the circle queries; otherwise mover i is item i -
  // circle_count() of the polygon queries.
  size_t overlapping = 0;
  for (size_t i = 0; i < world.movers().size(); ++i) {
    const Mover& mover = world.movers()[i];
    const uint32_t count = mover.is_circle ? answers.circles.counts[i]
                                           : answers.polygons.counts[i - world.circle_count()];
    const char* style = count > 0 ? "over" : "free";
    overlapping += count > 0 ? 1 : 0;
    if (mover.is_circle) {
      AppendCircle(frame(mover.position), mover.radius * frame.scale(), style, out);
      continue;
    }
    const CosSin turn = SinCos(mover.angle);
    const absl::StatusOr<Polygon> placed =
        PlacedPolygon(world.shape(mover), {mover.position, turn.c, turn.s});
    if (!placed.ok()) continue;  // a coordinate is out of the accepted range
    std::string data;
    AppendRings(*placed, frame, data);
    AppendPath(style, data, out);
  }
  return overlapping;
}

// Draws a legend: a row of swatches (small pictures), each with a label and a count.
class Legend {
 public:
  Legend(double y, double step) : y_(y), step_(step) {}

  // Adds an entry at the right of the last one. `swatch` is SVG about the origin (0, 0), at most 56
  // pixels wide and 32 high.
  void Add(std::string_view swatch, std::string_view label, std::string_view count,
           std::string& out) {
    out += "<g transform=\"translate(";
    AppendPixel(x_ + 28, out);
    out += ' ';
    AppendPixel(y_, out);
    out += ")\">";
    out += swatch;
    out += "</g>\n";
    AppendText(x_ + 66, y_ - 3, "label", label, out);
    AppendText(x_ + 66, y_ + 19, "count", count, out);
    x_ += step_;
  }

 private:
  double x_ = kMargin;
  const double y_;
  const double step_;
};

// The counts in the legend.
struct LegendCounts {
  uint64_t even = 0, nonzero = 0, hollow = 0;  // polygons of the map, by their style
  uint64_t free = 0, overlapping = 0;  // moving shapes that overlap no polygon, or at least one
  uint64_t hits = 0, misses = 0;       // bullets that hit a polygon, or none
};

// Returns the numbers of polygons, moving shapes and bullets in the picture, by their style.
LegendCounts CountsOf(std::span<const Polygon> map, const DemoWorld& world,
                      const CastAnswers& casts, size_t overlapping) {
  const auto styled = [&](std::string_view style) {
    return static_cast<uint64_t>(
        std::ranges::count_if(map, [&](const Polygon& p) { return StyleOf(p) == style; }));
  };
  // The bullets are the first segments; the look-ahead segments of the moving shapes, which find
  // polygons ahead of the shapes, follow.
  const auto hits = static_cast<uint64_t>(std::count_if(casts.counts.begin(),
                                                        casts.counts.begin() + world.bullet_count(),
                                                        [](uint32_t count) { return count > 0; }));
  return {.even = styled("even"),
          .nonzero = styled("nonzero"),
          .hollow = styled("hollow"),
          .free = world.movers().size() - overlapping,
          .overlapping = overlapping,
          .hits = hits,
          .misses = world.bullet_count() - hits};
}

// Draws the legend below the map.
void AppendLegend(const LegendCounts& counts, const SvgFrame& frame, std::string& out) {
  // Returns a count with its noun, such as "1 polygon" or "2 polygons".
  const auto text = [](uint64_t count, std::string_view what) {
    return absl::StrCat(Grouped(count), " ", absl::string_view(what.data(), what.size()),
                        count == 1 ? "" : "s");
  };
  Legend legend(frame.bottom() + 74, kMapWidth / 7);
  // A self-intersecting star, whose middle only the non-zero rule fills.
  constexpr std::string_view kStar = "d=\"M0 -16L10 14L-15 -5H15L-10 14Z\"/>";
  const auto star = [&](const char* style) {
    return std::string("<path class=\"") + style + "\" " + std::string(kStar);
  };
  legend.Add(star("even"), "even-odd", text(counts.even, "polygon"), out);
  legend.Add(star("nonzero"), "non-zero", text(counts.nonzero, "polygon"), out);
  legend.Add("<path class=\"hollow\" d=\"M-26 10L-9 -10L9 10L26 -10\"/>", "hollow",
             text(counts.hollow, "polygon"), out);
  legend.Add("<circle class=\"free\" r=\"14\"/>", "moving shape", text(counts.free, "shape"), out);
  legend.Add("<path class=\"over\" d=\"M-14 12L0 -15L14 12Z\"/>", "touching",
             text(counts.overlapping, "shape"), out);
  legend.Add(
      "<path class=\"shot\" d=\"M-26 12L8 -4\"/><path class=\"normal\" d=\"M8 -4L2 -16\"/>"
      "<path class=\"hit\" d=\"M8 -4h0\"/>",
      "hit, normal", text(counts.hits, "bullet"), out);
  legend.Add(
      "<path class=\"near\" d=\"M-26 10L-6 2\"/><path class=\"mid\" d=\"M-6 2L10 -4\"/>"
      "<path class=\"far\" d=\"M10 -4L26 -10\"/>",
      "miss", text(counts.misses, "bullet"), out);
}

}  // namespace

std::string DemoPicture(std::string_view title, std::span<const Polygon> map,
                        const DemoWorld& world, const DemoOutcome& outcome) {
  const SvgFrame frame = PictureFrame(map);
  const DemoFigures& figures = outcome.figures;

  std::string out;
  AppendHead(frame, SvgSize::kScalable, out);
  AppendText(kMargin, 52, "title", "Carom: " + std::string(title), out);
  AppendText(
      kMargin, 84, "sub",
      absl::StrCat("tick ", Grouped(figures.ticks), ", after ", Grouped(figures.queries),
                   " queries: ", Grouped(figures.hits), " of ", Grouped(figures.bullets),
                   " bullets hit, ", Grouped(figures.overlapping_pairs), " overlapping pairs"),
      out);
  AppendMap(map, frame, out);
  AppendBullets(world, outcome.last_tick.segments, frame, out);
  const size_t overlapping = AppendShapes(world, outcome.last_tick, frame, out);
  AppendLegend(CountsOf(map, world, outcome.last_tick.segments, overlapping), frame, out);
  out += "</svg>\n";
  return out;
}

}  // namespace carom::cli
