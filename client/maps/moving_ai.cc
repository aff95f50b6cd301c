// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/moving_ai.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/status.h"

namespace carom {
namespace {

// The greatest width and height: cells stay on the lattice of `OutlineCells`.
constexpr int32_t kMaxGridSide = 1 << 20;

// The letters of cells.
struct Terrain {
  char letter;
  const char* word;
  bool is_solid;
};
constexpr std::array<Terrain, 7> kTerrains{{{'@', "out_of_bounds", true},
                                            {'O', "out_of_bounds", true},
                                            {'T', "trees", true},
                                            {'W', "water", true},
                                            {'S', "swamp", false},
                                            {'.', "ground", false},
                                            {'G', "ground", false}}};

// Reads the lines of a text, without their ends.
class GridLines {
 public:
  explicit GridLines(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  // Returns the next line, and counts it.
  std::string_view Next() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string_view line = text_.substr(at_, end - at_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    at_ = std::min(end + 1, text_.size());
    ++count_;
    return line;
  }
  void Report(const ImportOptions& options) const { options.Report(at_, text_.size()); }
  absl::Status Error(absl::string_view description) const {
    return InvalidField(absl::StrCat("line ", count_), description);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  size_t count_ = 0;
};

// The cells of each letter.
using GridCells = std::map<char, std::vector<Cell>>;

// Reads the head: `type octile`, `height H` and `width W` in any order, then `map`.
absl::Status ReadGridHead(GridLines& lines, int32_t& width, int32_t& height) {
  while (!lines.AtEnd()) {
    const std::string_view line = lines.Next();
    const std::vector<absl::string_view> words =
        absl::StrSplit(AbslView(line), ' ', absl::SkipWhitespace());
    if (words.empty()) continue;
    if (words[0] == "map") return absl::OkStatus();
    if (words[0] == "type" && words.size() == 2) continue;
    // Both sizes are read alike.
    const bool is_width = words[0] == "width";
    int32_t size = 0;
    if ((!is_width && words[0] != "height") || words.size() != 2 ||
        !absl::SimpleAtoi(words[1], &size) || size < 0 || size > kMaxGridSide) {
      return lines.Error(absl::StrCat("must be type, width or height with a number of at most ",
                                      kMaxGridSide, ", or map"));
    }
    (is_width ? width : height) = size;
  }
  return lines.Error("the line `map` is missing");
}

// Reads the rows, which have exactly `width` letters each, and nothing after them but blank lines.
absl::StatusOr<GridCells> ReadGridRows(GridLines& lines, int32_t width, int32_t height,
                                       const ImportOptions& options) {
  GridCells cells;
  // A letter that is no key is none of the format.
  for (const Terrain& terrain : kTerrains) cells[terrain.letter];
  for (int32_t y = 0; y < height; ++y) {
    if (lines.AtEnd()) return lines.Error(absl::StrCat("only ", y, " of ", height, " rows"));
    const std::string_view row = lines.Next();
    lines.Report(options);
    if (row.size() != static_cast<size_t>(width)) {
      return lines.Error(absl::StrCat("a row of ", row.size(), " cells, not ", width));
    }
    for (int32_t x = 0; x < width; ++x) {
      const auto letter = cells.find(row[static_cast<size_t>(x)]);
      if (letter == cells.end()) {
        return lines.Error(absl::StrCat("the cell ", x + 1, " is none of @ O T W S . G"));
      }
      letter->second.push_back({x, y});
    }
  }
  while (!lines.AtEnd()) {
    const std::string_view rest = lines.Next();
    if (!absl::StripAsciiWhitespace(AbslView(rest)).empty()) {
      return lines.Error("more rows than `height` says");
    }
  }
  return cells;
}

// Joins the cells of letters whose plans are alike, and outlines them.
absl::Status AddGrid(GridCells cells, const ImportOptions& options, MapBuilder& builder) {
  std::vector<std::pair<LayerPlan, std::vector<Cell>>> unions;
  for (const Terrain& terrain : kTerrains) {
    std::vector<Cell>& own = cells[terrain.letter];
    if (own.empty()) continue;
    const LayerPlan plan =
        builder.Plan(std::vector<std::string>{std::string(1, terrain.letter), terrain.word});
    if (plan.use == LayerUse::kSkip || (!terrain.is_solid && !plan.is_named)) {
      // The ground is what is left, not a part that was skipped.
      const bool is_ground = std::string_view(terrain.word) == "ground";
      if (plan.is_named || !is_ground) builder.SkipLayer(plan, "one can walk through it");
      continue;
    }
    // Where the choices are alike, no edge is left between trees and water.
    const auto alike = std::find_if(unions.begin(), unions.end(), [&](const auto& other) {
      return other.first.use == plan.use && other.first.category == plan.category;
    });
    if (alike == unions.end()) {
      unions.emplace_back(plan, std::move(own));
    } else {
      alike->second.insert(alike->second.end(), own.begin(), own.end());
    }
  }
  for (auto& [plan, all] : unions) {
    MapShape head;
    head.path = absl::StrCat("layer ", plan.name);
    const std::vector<Outline> outlines =
        options.outline ? OutlineCells(std::move(all)) : SeparateCells(all);
    const absl::Status status = builder.AddOutlines(plan, head, outlines, [](LatticePoint p) {
      return Vec2{static_cast<double>(p.x), static_cast<double>(p.y)};
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

// The first line is `type octile`, or another kind of grid.
bool LooksLikeMovingAi(const Sniffed& file) {
  const std::string_view line = file.bytes.substr(0, std::min<size_t>(file.bytes.find('\n'), 64));
  const std::vector<absl::string_view> words =
      absl::StrSplit(AbslView(line), absl::ByAnyChar(" \r"), absl::SkipEmpty());
  return words.size() == 2 && words[0] == "type";
}

absl::StatusOr<ImportedMap> ImportMovingAi(std::string_view bytes, const ImportOptions& options,
                                           const FileOpener& /*open*/) {
  absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  GridLines lines(bytes);
  int32_t width = 0, height = 0;
  status = ReadGridHead(lines, width, height);
  if (!status.ok()) return status;
  absl::StatusOr<GridCells> cells = ReadGridRows(lines, width, height, options);
  if (!cells.ok()) return cells.status();
  MapBuilder builder("moving-ai", options, /*y_down=*/true);
  status = AddGrid(*std::move(cells), options, builder);
  if (!status.ok()) return status;
  return builder.Finish();
}

}  // namespace carom
