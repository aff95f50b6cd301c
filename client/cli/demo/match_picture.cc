// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/demo/match_picture.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/svg.h"
#include "client/cli/demo/picture_frame.h"
#include "client/formats/grouped.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

constexpr double kTicksPerSecond = 30;  // speed of the animation; the match itself is not paced
constexpr size_t kShotTicks = 3;        // ticks for which a bullet is visible
constexpr size_t kTrailTicks = 3;       // ticks between the drawn points of a bot's path
// The CSS classes of the two teams, by the parity of a bot's index.
constexpr std::array<const char*, 2> kTeams = {"east", "west"};
constexpr std::array<const char*, 2> kTrails = {"eastway", "westway"};
constexpr std::array<const char*, 2> kSights = {"eastsight", "westsight"};

constexpr std::string_view kMatchStyle = R"(<style>
.east{fill:#2fd6c3;stroke:#d5fffa;stroke-width:2}
.west{fill:#ff4d6d;stroke:#ffd9e0;stroke-width:2}
.eastway,.westway{fill:none;stroke-width:1.4;stroke-opacity:.22}
.eastway{stroke:#2fd6c3}.westway{stroke:#ff4d6d}
.eastsight,.westsight{fill-opacity:.18;stroke-width:1;stroke-opacity:.35}
.eastsight{fill:#2fd6c3;stroke:#2fd6c3}.westsight{fill:#ff4d6d;stroke:#ff4d6d}
.door{fill:#ffd166;fill-opacity:.85;stroke:#fff1c9;stroke-width:1.5}
.bullet{fill:none;stroke:#ffd166;stroke-width:2.2;stroke-linecap:round}
.wound{fill:none;stroke:#fff6d6;stroke-width:9;stroke-linecap:round}
.past{fill:none;stroke:#fff6d6;stroke-width:1.6;stroke-dasharray:4 4}
.fallen{fill:none;stroke:#f4f7ff;stroke-width:2.2;stroke-opacity:.5;stroke-linecap:round}
</style>
)";

// A tick from which on an SVG element is visible or hidden.
struct Change {
  size_t tick;
  bool visible;
};

// Maps the ticks of the match to the time of the animations.
class Timeline {
 public:
  explicit Timeline(size_t ticks) : ticks_(ticks) {}

  size_t ticks() const { return ticks_; }

  // Appends the attributes `dur` and `repeatCount` of an animation. They are equal for all
  // animations, so that all animations restart together.
  void AppendDuration(std::string& out) const {
    out += "dur=\"";
    AppendPixel(static_cast<double>(ticks_) / kTicksPerSecond, out);
    out += "s\" repeatCount=\"indefinite\"";
  }

  // Appends an animation that shows and hides the enclosing element. The first change must be at
  // tick 0.
  void AppendVisibility(const std::vector<Change>& changes, std::string& out) const {
    out += "<animate attributeName=\"opacity\" calcMode=\"discrete\" ";
    AppendDuration(out);
    out += " values=\"";
    for (const Change& change : changes) out += change.visible ? "1;" : "0;";
    out.back() = '"';
    out += " keyTimes=\"";
    for (const Change& change : changes) {
      const double time = static_cast<double>(change.tick) / static_cast<double>(ticks_);
      AppendNumber(std::round(time * 1e5) / 1e5, out);
      out += ';';
    }
    out.back() = '"';
    out += "/>";
  }

 private:
  const size_t ticks_;
};

// Returns the ticks in [0, ticks) at which the value of `is_visible(tick)` differs from its value
// at the tick before, and tick 0, each with the value of `is_visible` at the tick.
template <class F>
std::vector<Change> ChangesOf(size_t ticks, const F& is_visible) {
  std::vector<Change> changes;
  for (size_t tick = 0; tick < ticks; ++tick) {
    // Adds an entry only if the visibility changes: an element that is always visible has one
    // entry.
    const bool visible = is_visible(tick);
    if (changes.empty() || changes.back().visible != visible) changes.push_back({tick, visible});
  }
  return changes;
}

// Appends the path data of an area of sight. Coordinates are rounded to whole pixels and relative,
// which keeps the document small; no rounding adds up, as each point is rounded before it is
// subtracted. An arc turns by less than half a turn, as the sector of the area does.
void AppendSight(const SightArea& area, const SvgFrame& frame, std::string& out) {
  static_assert(MatchWorld::kSightAngle < 3.14);
  const auto pixel = [&](size_t i) {
    const Vec2 p = frame(area.pieces[i % area.pieces.size()].start);
    return Vec2{std::round(p.x), std::round(p.y)};
  };
  for (size_t i = 0; i < area.pieces.size(); ++i) {
    const Vec2 from = pixel(i), to = pixel(i + 1);
    if (i == 0) AppendAt('M', from, out);
    const bool is_arc = area.pieces[i].is_arc;
    // `Z` draws the last piece if it is a straight line.
    if (from == to || (!is_arc && i + 1 == area.pieces.size())) continue;
    out += is_arc ? 'a' : 'l';
    if (is_arc) {
      const std::string radius = absl::StrCat(std::round(area.range * frame.scale()));
      absl::StrAppend(&out, radius, " ", radius, " 0 0 0 ");
    }
    AppendPixel(to.x - from.x, out);
    out += ' ';
    AppendPixel(to.y - from.y, out);
  }
  if (!area.pieces.empty()) out += 'Z';
}

// Defines the clip path `map`: the box of the map, so that no area of sight covers title or legend.
void AppendClip(const SvgFrame& frame, std::string& out) {
  const Box& box = frame.bounds();
  out += "<clipPath id=\"map\"><path d=\"";
  AppendLine(frame(box.min), frame({box.max.x, box.min.y}), out);
  AppendAt('L', frame(box.max), out);
  AppendAt('L', frame({box.min.x, box.max.y}), out);
  out += "Z\"/></clipPath>\n";
}

// Draws the area that a bot sees, as a path that changes every tick, empty while the bot is dead.
// Viewers without animations show the area of the last tick that has areas.
void AppendSights(const MatchWorld& world, uint32_t bot, const SvgFrame& frame,
                  const Timeline& timeline, std::string& out) {
  std::string values, shown;
  for (size_t tick = 0; tick < timeline.ticks(); ++tick) {
    const MatchTick& state = world.ticks()[tick];
    // The last tick has no areas, and keeps that of the tick before while the bot is alive.
    if (tick + 1 < timeline.ticks() || state.alive[bot] == 0) shown.clear();
    for (const SightArea& area : state.areas) {
      if (area.bot == bot) AppendSight(area, frame, shown);
    }
    absl::StrAppend(&values, tick > 0 ? ";" : "", shown.empty() ? "M0 0" : shown);
  }
  absl::StrAppend(&out, "<path clip-path=\"url(#map)\" class=\"", kSights[bot % 2], "\" d=\"",
                  shown, "\"><animate attributeName=\"d\" calcMode=\"discrete\" ");
  timeline.AppendDuration(out);
  absl::StrAppend(&out, " values=\"", values, "\"/></path>\n");
}

// Draws the path of each bot, with a gap from its death to its respawn.
void AppendTrails(const MatchWorld& world, const SvgFrame& frame, std::string& out) {
  for (size_t bot = 0; bot < world.bots().size(); ++bot) {
    std::string way;
    bool was_alive = false;
    for (size_t tick = 0; tick < world.ticks().size(); tick += kTrailTicks) {
      const MatchTick& state = world.ticks()[tick];
      if (state.alive[bot]) AppendAt(was_alive ? 'L' : 'M', frame(state.positions[bot]), way);
      was_alive = state.alive[bot] != 0;
    }
    AppendPath(kTrails[bot % 2], way, out);
  }
}

// Draws a cross at each place where a bot died.
void AppendFallen(const MatchWorld& world, const SvgFrame& frame, std::string& out) {
  std::string crosses;
  for (size_t tick = 1; tick < world.ticks().size(); ++tick) {
    const MatchTick &before = world.ticks()[tick - 1], &now = world.ticks()[tick];
    for (size_t bot = 0; bot < now.alive.size(); ++bot) {
      if (!before.alive[bot] || now.alive[bot]) continue;
      AppendAt('M', frame(now.positions[bot]), crosses);
      crosses += "m-6 -6l12 12m0 -12l-12 12";
    }
  }
  AppendPath("fallen", crosses, out);
}

// Appends the attribute `opacity`, 1 if `visible` and 0 otherwise, and ends the start tag of an
// element. Viewers without animations show or hide the element by this attribute.
void AppendOpacity(bool visible, std::string& out) {
  out += visible ? " opacity=\"1\">" : " opacity=\"0\">";
}

// Draws all doors. An animation hides a door while it is open.
void AppendDoors(const MatchWorld& world, const SvgFrame& frame, const Timeline& timeline,
                 std::string& out) {
  for (size_t i = 0; i < world.doors().size(); ++i) {
    const Door& door = world.doors()[i];
    const Vec2 corner = frame({door.box.min.x, door.box.max.y});
    out += "<path class=\"door\" d=\"";
    AppendAt('M', corner, out);
    out += 'h';
    AppendPixel((door.box.max.x - door.box.min.x) * frame.scale(), out);
    out += 'v';
    AppendPixel((door.box.max.y - door.box.min.y) * frame.scale(), out);
    out += 'H';
    AppendPixel(corner.x, out);
    out += "Z\"";
    AppendOpacity(!door.open, out);
    timeline.AppendVisibility(
        ChangesOf(timeline.ticks(), [&](size_t tick) { return !world.ticks()[tick].open[i]; }),
        out);
    out += "</path>\n";
  }
}

// Appends the path data of a circle, in pixels.
void AppendCircle(Vec2 centre, double radius, std::string& out) {
  std::string arc;
  AppendPixel(radius, arc);
  arc = absl::StrCat("a", arc, " ", arc, " 0 1 0 ");
  AppendAt('M', {centre.x - radius, centre.y}, out);
  for (const double side : {2 * radius, -2 * radius}) {
    out += arc;
    AppendPixel(side, out);
    out += " 0";
  }
}

// Draws the bullets of tick `tick`, and for each hit of a bot a dashed circle where the bullet met
// the bot, at the moment that the shooter saw. The animation shows them for `kShotTicks` ticks.
void AppendShots(const MatchWorld& world, size_t tick, const SvgFrame& frame,
                 const Timeline& timeline, std::string& out) {
  std::string bullets, wounds, pasts;
  for (const Shot& shot : world.ticks()[tick].shots) {
    AppendLine(frame(shot.from), frame(shot.to), bullets);
    if (shot.bot < 0) continue;
    AppendAt('M', frame(shot.to), wounds);
    wounds += "h0";
    AppendCircle(frame(shot.bot_place), world.radius() * frame.scale(), pasts);
  }
  if (bullets.empty()) return;
  const auto is_seen = [&](size_t t) { return t >= tick && t < tick + kShotTicks; };
  out += "<g";
  AppendOpacity(is_seen(timeline.ticks() - 1), out);
  timeline.AppendVisibility(ChangesOf(timeline.ticks(), is_seen), out);
  AppendPath("bullet", bullets, out);
  AppendPath("wound", wounds, out);
  AppendPath("past", pasts, out);
  out += "</g>\n";
}

// Draws a bot as a disc that moves from tick to tick. Viewers without animations show the position
// of the last tick.
void AppendBot(const MatchWorld& world, size_t bot, const SvgFrame& frame, const Timeline& timeline,
               std::string& out) {
  // Appends the bot's centre in pixels.
  const auto append_place = [&](const MatchTick& state) {
    const Vec2 p = frame(state.positions[bot]);
    AppendPixel(p.x, out);
    out += ' ';
    AppendPixel(p.y, out);
  };
  absl::StrAppend(&out, "<g class=\"", kTeams[bot % 2], "\" transform=\"translate(");
  append_place(world.ticks().back());
  out += ")\"";
  AppendOpacity(world.ticks().back().alive[bot] != 0, out);
  out += "<animateTransform attributeName=\"transform\" type=\"translate\" ";
  timeline.AppendDuration(out);
  out += " values=\"";
  for (const MatchTick& state : world.ticks()) {
    append_place(state);
    out += ';';
  }
  out.back() = '"';
  out += "/>";
  timeline.AppendVisibility(
      ChangesOf(timeline.ticks(), [&](size_t tick) { return world.ticks()[tick].alive[bot] != 0; }),
      out);
  // The disc is hidden while the bot is dead, so its jump to the place where the bot respawns is
  // not visible.
  out += "<circle r=\"";
  AppendPixel(world.radius() * frame.scale(), out);
  out += "\"/></g>\n";
}

// Draws the legend: a row of swatches, each with a label.
void AppendMatchLegend(const MatchWorld& world, const SvgFrame& frame, std::string& out) {
  const MatchCounts& counts = world.counts();
  const auto entry = [&](int place, std::string_view swatch, const std::string& label) {
    const double x = kMargin + place * kMapWidth / 7, y = frame.bottom() + 74;
    absl::StrAppend(&out, "<g transform=\"translate(", std::round(x + 20), " ", y, ")\">",
                    absl::string_view(swatch.data(), swatch.size()), "</g>\n");
    AppendText(std::round(x + 50), y + 6, "label", label, out);
  };
  entry(0, "<circle class=\"east\" r=\"14\"/>", "one team");
  entry(1, "<circle class=\"west\" r=\"14\"/>", "the other");
  entry(2, "<path class=\"eastsight\" d=\"M-18 0L12 -14A34 34 0 0 1 12 14Z\"/>",
        "sight of one bot");
  entry(3, "<path class=\"door\" d=\"M-18 -6h36v12h-36Z\"/>",
        absl::StrCat("door, ", Grouped(counts.doors_opened), " opened"));
  entry(4, "<path class=\"bullet\" d=\"M-18 8L14 -6\"/><path class=\"wound\" d=\"M14 -6h0\"/>",
        absl::StrCat("bullet, ", Grouped(counts.bot_hits), " hits"));
  entry(5, "<circle class=\"past\" r=\"14\"/>", "bot hit, as seen");
  entry(6, "<path class=\"fallen\" d=\"M-6 -6l12 12m0 -12l-12 12\"/>",
        absl::StrCat("fallen, ", Grouped(counts.deaths)));
}

}  // namespace

std::string MatchPicture(std::string_view title, std::span<const Polygon> map,
                         const MatchWorld& world) {
  const SvgFrame frame = PictureFrame(map);
  const Timeline timeline(world.ticks().size());
  const MatchCounts& counts = world.counts();
  std::string out;
  AppendHead(frame, SvgSize::kScalable, out);
  out += kMatchStyle;
  AppendText(kMargin, 52, "title", "Carom: a match in " + std::string(title), out);
  AppendText(kMargin, 84, "sub",
             absl::StrCat(Grouped(timeline.ticks()), " ticks, one trip each: enemies seen ",
                          Grouped(counts.seen), " of ", Grouped(counts.pairs), " times, ",
                          Grouped(counts.slid), " of ", Grouped(counts.moves), " moves slid, ",
                          Grouped(counts.shots), " bullets; ", Grouped(counts.missed_at_present),
                          " of ", Grouped(counts.bot_hits), " hits would miss at the present"),
             out);
  // Draws from bottom to top, with the bots above everything else.
  AppendMap(map, frame, out);
  AppendClip(frame, out);
  for (const uint32_t bot : MatchWorld::kWatched) AppendSights(world, bot, frame, timeline, out);
  AppendTrails(world, frame, out);
  AppendFallen(world, frame, out);
  AppendDoors(world, frame, timeline, out);
  for (size_t tick = 0; tick < world.ticks().size(); ++tick) {
    AppendShots(world, tick, frame, timeline, out);
  }
  for (size_t bot = 0; bot < world.bots().size(); ++bot) {
    AppendBot(world, bot, frame, timeline, out);
  }
  AppendMatchLegend(world, frame, out);
  out += "</svg>\n";
  return out;
}

}  // namespace carom::cli
