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

constexpr std::string_view kMatchStyle = R"(<style>
.east{fill:#2fd6c3;stroke:#d5fffa;stroke-width:2}
.west{fill:#ff4d6d;stroke:#ffd9e0;stroke-width:2}
.eastway,.westway{fill:none;stroke-width:1.4;stroke-opacity:.22}
.eastway{stroke:#2fd6c3}.westway{stroke:#ff4d6d}
.door{fill:#ffd166;fill-opacity:.85;stroke:#fff1c9;stroke-width:1.5}
.bullet{fill:none;stroke:#ffd166;stroke-width:2.2;stroke-linecap:round}
.wound{fill:none;stroke:#fff6d6;stroke-width:9;stroke-linecap:round}
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

// Draws the bullets of tick `tick`. The animation shows them for `kShotTicks` ticks.
void AppendShots(const MatchTick& state, size_t tick, const SvgFrame& frame,
                 const Timeline& timeline, std::string& out) {
  std::string bullets, wounds;
  for (const Shot& shot : state.shots) {
    AppendLine(frame(shot.from), frame(shot.to), bullets);
    if (!shot.hits_bot) continue;
    AppendAt('M', frame(shot.to), wounds);
    wounds += "h0";
  }
  if (bullets.empty()) return;
  const auto is_seen = [&](size_t t) { return t >= tick && t < tick + kShotTicks; };
  out += "<g";
  AppendOpacity(is_seen(timeline.ticks() - 1), out);
  timeline.AppendVisibility(ChangesOf(timeline.ticks(), is_seen), out);
  AppendPath("bullet", bullets, out);
  AppendPath("wound", wounds, out);
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
    const double x = kMargin + place * kMapWidth / 5, y = frame.bottom() + 74;
    absl::StrAppend(&out, "<g transform=\"translate(", x + 20, " ", y, ")\">",
                    absl::string_view(swatch.data(), swatch.size()), "</g>\n");
    AppendText(x + 50, y + 6, "label", label, out);
  };
  entry(0, "<circle class=\"east\" r=\"14\"/>", "one team");
  entry(1, "<circle class=\"west\" r=\"14\"/>", "the other");
  entry(2, "<path class=\"door\" d=\"M-18 -6h36v12h-36Z\"/>",
        absl::StrCat("door, opened ", Grouped(counts.doors_opened), " times"));
  entry(3, "<path class=\"bullet\" d=\"M-18 8L14 -6\"/><path class=\"wound\" d=\"M14 -6h0\"/>",
        absl::StrCat("bullet, ", Grouped(counts.bot_hits), " hits"));
  entry(4, "<path class=\"fallen\" d=\"M-6 -6l12 12m0 -12l-12 12\"/>",
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
             absl::StrCat(
                 Grouped(timeline.ticks()), " ticks, one trip each: ", Grouped(counts.seen), " of ",
                 Grouped(counts.sights), " lines of sight free, ", Grouped(counts.slid), " of ",
                 Grouped(counts.moves), " moves slid, ", Grouped(counts.shots), " bullets"),
             out);
  // Draws from bottom to top, with the bots above everything else.
  AppendMap(map, frame, out);
  AppendTrails(world, frame, out);
  AppendFallen(world, frame, out);
  AppendDoors(world, frame, timeline, out);
  for (size_t tick = 0; tick < world.ticks().size(); ++tick) {
    AppendShots(world.ticks()[tick], tick, frame, timeline, out);
  }
  for (size_t bot = 0; bot < world.bots().size(); ++bot) {
    AppendBot(world, bot, frame, timeline, out);
  }
  AppendMatchLegend(world, frame, out);
  out += "</svg>\n";
  return out;
}

}  // namespace carom::cli
