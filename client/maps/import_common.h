// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What do all readers of maps share?
//
// `MapBuilder` collects the shapes of a file and makes the `ImportedMap`: it places points by the
// options, chooses layers, categories and ids, and keeps the report of what was skipped. A reader
// makes one builder, asks `Plan` how to import each layer, calls `Add` for each shape and `Skip`
// for each part that it leaves out, and returns `Finish`. The functions below make curves of
// chords, turns and affine maps; client/maps/outline.h unites cells.
//
//   MapBuilder builder("ldtk", options, /*y_down=*/true);
//   const LayerPlan plan = builder.Plan({&layer_name, 1});
//   if (plan.use != LayerUse::kSkip) status = builder.Add(plan, std::move(shape));
//   return builder.Finish();
//
// Lengths are in the unit of the file, angles in degrees where the name says so. Errors are
// INVALID_ARGUMENT (`InvalidField` of carom/status.h) with the path or line of the shape. A
// `MapBuilder` is not thread-safe; the functions are. Cost: linear in the vertices, and O(n log n)
// for `merge`.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "carom/geometry.h"
#include "carom/polygon.h"
#include "client/maps/map_import.h"
#include "client/maps/outline.h"

namespace carom {

// The most vertices that one import may have; a polygon counts as 4 more. Bounds the memory that a
// small hostile file can ask for.
inline constexpr size_t kMaxImportedVertices = size_t{1} << 26;
// The most chords of one curve.
inline constexpr size_t kMaxChords = 65536;

// An affine map of the plane: p becomes p.x * x + p.y * y + origin.
struct Affine {
  Vec2 x = {1, 0};
  Vec2 y = {0, 1};
  Vec2 origin = {0, 0};

  Vec2 operator()(Vec2 p) const {
    return {p.x * x.x + p.y * y.x + origin.x, p.x * x.y + p.y * y.y + origin.y};
  }
  // Returns p without `origin`.
  Vec2 Linear(Vec2 p) const { return {p.x * x.x + p.y * y.x, p.x * x.y + p.y * y.y}; }
  double determinant() const { return x.x * y.y - x.y * y.x; }
};

// Returns the map that applies `inner`, then `outer`.
Affine operator*(const Affine& outer, const Affine& inner);

// Returns the turn by `degrees` from the x axis to the y axis about `center`; exact for multiples
// of 90 degrees.
Affine TurnDegrees(double degrees, Vec2 center = {0, 0});

// Appends the points of the arc center + cos(t) * a + sin(t) * b, for t from `from` to `to`
// (radians, either may be greater), such that no point of the arc is farther than `chord` from its
// chord. The points lie on the arc; the first and the last are its ends. INVALID_ARGUMENT, without
// a path, if the arc needs more than `kMaxChords` chords.
struct Arc {
  Vec2 center, a, b;
  double from = 0, to = 0;
};
absl::Status AppendArc(const Arc& arc, double chord, std::vector<Vec2>& out);

// Returns the vertices of the whole ellipse center + cos(t) * a + sin(t) * b, from t = 0; a
// multiple of 4, with the ends of both axes exact. Errors as `AppendArc`.
absl::StatusOr<std::vector<Vec2>> EllipseRing(Vec2 center, Vec2 a, Vec2 b, double chord);

// Returns the category that a property's value stands for: an unsigned number, or a string with a
// number or a comma-separated list of bit numbers from 0 to 63 (`0,3` is 9). INVALID_ARGUMENT,
// with `path`, for any other value.
absl::StatusOr<uint64_t> CategoryOf(const nlohmann::json& value, std::string_view path);
absl::StatusOr<uint64_t> CategoryOfText(std::string_view value, std::string_view path);

// How one layer of a file is imported.
struct LayerPlan {
  std::string name;
  bool is_named = false;  // a choice of the options names the layer (`*` included)
  LayerUse use = LayerUse::kDefault;
  std::optional<uint64_t> category;  // of the choice; counts before that of a property
};

// One shape, in the coordinates of the file.
struct MapShape {
  // Open rings are chains. If the shape is solid, its open rings become a hollow polygon of their
  // own.
  std::vector<RingSpec> rings;
  bool hollow = false;  // what the file says; the plan of the layer may change it
  FillRule fill_rule = FillRule::kEvenOdd;
  std::optional<uint64_t> id;        // the number in the file; see `Finish`
  std::optional<uint64_t> category;  // by the property of the options
  std::string path;                  // names the shape in errors, such as `layers[2].objects[0]`
};

// Collects the shapes of one file.
class MapBuilder {
 public:
  // Keeps a reference to `options`. `y_down` states whether y points down in the format: `flip_y`
  // is then on if the options leave it open.
  MapBuilder(std::string_view format, const ImportOptions& options, bool y_down);

  // Returns INVALID_ARGUMENT unless the options can be used: `scale` accepted and not 0, `origin`
  // accepted, `chord` above 0. Readers call it first.
  static absl::Status Check(const ImportOptions& options);

  const ImportOptions& options() const { return options_; }
  // Returns whether placing mirrors: a ring that is counter-clockwise by the formula of the area in
  // the file's coordinates is then clockwise in the scene.
  bool mirrors() const { return flip_; }
  // Returns the place of a point of the file in the scene.
  Vec2 Placed(Vec2 p) const;

  // Returns the plan of a layer. `names[0]` is the name of the layer; the others are names by which
  // a choice may call it too, such as those of the groups around it. The last choice that has one
  // of the names counts. Choices that no call of `Plan` met are reported as skipped.
  LayerPlan Plan(std::span<const std::string> names);

  // Adds a shape. Errors: a placed vertex leaves the accepted range; an empty ring; too many
  // vertices in all. Order of the polygons: that of the calls.
  absl::Status Add(const LayerPlan& plan, MapShape shape);
  // Adds the outlines as polygons of the head `shape`, whose rings are ignored; `place` returns the
  // point of the file for a vertex of the lattice. Outer rings are counter-clockwise in the scene
  // if `place` keeps the orientation. Only a single outline has the id of the head.
  absl::Status AddOutlines(const LayerPlan& plan, const MapShape& shape,
                           std::span<const Outline> outlines,
                           const std::function<Vec2(LatticePoint)>& place);

  // Reports a part that is not imported. Beyond `kMaxSkipped` parts only their number is reported.
  static constexpr size_t kMaxSkipped = 1000;
  void Skip(std::string what, std::string why, std::string option = "");
  // Reports one object of a kind: `2 points in layer "A"` stands for two calls with the kind
  // "point" and the layer "A".
  void SkipObject(std::string_view kind, std::string_view layer, std::string_view why,
                  std::string_view option = "");
  // Reports a layer that needs `--layer NAME` to be imported, or that a choice skips.
  void SkipLayer(const LayerPlan& plan, std::string why);

  // Adds a pair to the mapping, after those of the options.
  void AddMapping(std::string name, std::string value);

  // Returns the map. Ids: if the ids that shapes have are distinct, they are kept, and the other
  // polygons have the numbers after the greatest; else all polygons are numbered from 1. With
  // `merge`, solid boxes that touch become their union, per category; a union has the least id of
  // its boxes.
  absl::StatusOr<ImportedMap> Finish();

 private:
  // A polygon whose points are placed, but whose id may change.
  struct Pending {
    std::vector<RingSpec> rings;
    uint64_t id = 0;
    uint64_t category = 1;
    bool has_id = false;
    bool hollow = false;
    FillRule fill_rule = FillRule::kEvenOdd;
  };

  absl::Status AddPlaced(Pending polygon, const std::string& path);
  void Merge();
  void MergeBoxes(const std::vector<size_t>& boxes);
  void Number();
  void Report();

  const ImportOptions& options_;
  bool flip_;
  std::string format_;
  std::deque<Pending> pending_;  // grows without copies
  std::vector<SkippedPart> skipped_;
  size_t unlisted_ = 0;  // parts that were skipped beyond those listed
  // The number of objects that were skipped, by layer, kind, reason and option.
  std::map<std::array<std::string, 4>, size_t> objects_;
  std::vector<bool> met_;  // for each choice of the options: some layer has its name
  std::set<std::string> names_;
  std::vector<std::pair<std::string, std::string>> extra_;
  size_t vertices_ = 0;
};

// The parts of a file by which `LooksLike…` functions detect its format.
struct Sniffed {
  std::string_view bytes;  // the file, without a byte order mark
  // The members at the top of a JSON object, with the text of the value if it is a number, a word
  // or a string (in quotes), else its first bracket. Empty if the file is no JSON object.
  std::map<std::string, std::string_view, std::less<>> members;
  std::string_view root;  // the name of the root element if the file is XML, such as `map`

  bool Has(std::string_view member) const { return members.find(member) != members.end(); }
};

// Scans a file for these parts. Does not parse the file, and never fails.
Sniffed Sniff(std::string_view bytes);

// A format of maps. `ImportMap` asks the rows of its table (map_import.cc) in order.
struct MapFormat {
  std::string_view name;
  bool (*matches)(const Sniffed& file);
  absl::StatusOr<ImportedMap> (*read)(const Sniffed& file, const ImportOptions& options,
                                      const FileOpener& open);
};

// Returns a mapping that a file keeps as text (`ImportedMap::kept_mapping`); `value` may be null.
// Anything but an object is no mapping.
std::string KeptMapping(const nlohmann::json* value);

// Returns `text` as absl::string_view, which may be another type than std::string_view.
inline absl::string_view AbslView(std::string_view text) { return {text.data(), text.size()}; }

// Returns `text` as one word of a shell: in quotes if it has other characters than letters, digits
// and `_-./:@%+,`.
std::string ShellWord(std::string_view text);

// Returns the path of an element, such as `layers[3]`, or `map.layers[3]` below `parent`.
std::string PathOf(std::string_view parent, std::string_view member);
std::string PathOf(std::string_view parent, std::string_view member, size_t index);

}  // namespace carom
