// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/svg_path.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom {
namespace {

// Points as vectors.
Vec2 SvgSum(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
Vec2 SvgLerp(Vec2 a, Vec2 b, double t) { return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t}; }

// Reads numbers, flags and words of an attribute.
class SvgScanner {
 public:
  explicit SvgScanner(std::string_view text) : text_(text) {}

  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  size_t at() const { return at_; }
  void Skip() { ++at_; }

  void SkipSpace() {
    while (!AtEnd() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  // Skips spaces and at most one comma.
  void SkipSeparator() {
    SkipSpace();
    if (Peek() != ',') return;
    ++at_;
    SkipSpace();
  }

  // Reads an accepted number; the separator before it is optional.
  bool Number(double& number) {
    SkipSeparator();
    const size_t begin = at_ + (Peek() == '+' ? 1 : 0);
    const std::string_view rest = text_.substr(std::min(begin, text_.size()));
    // `from_chars` reads words such as `inf` too.
    const std::string_view digits = rest.substr(rest.starts_with('-') ? 1 : 0);
    const bool is_number =
        !digits.empty() &&
        (absl::ascii_isdigit(static_cast<unsigned char>(digits.front())) || digits.front() == '.');
    if (!is_number) return false;
    const auto result = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (result.ec != std::errc() || !IsAccepted(number)) return false;
    at_ = begin + static_cast<size_t>(result.ptr - rest.data());
    return true;
  }

  // Reads a flag of an arc, 0 or 1, which needs no separator after it.
  bool Flag(bool& flag) {
    SkipSeparator();
    if (Peek() != '0' && Peek() != '1') return false;
    flag = Peek() == '1';
    ++at_;
    return true;
  }

  std::string_view Word() {
    const size_t begin = at_;
    while (absl::ascii_isalpha(static_cast<unsigned char>(Peek()))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Reads the data of one path. A method that returns false has set the error, or met what is no
// number.
class SvgPathReader {
 public:
  SvgPathReader(std::string_view data, const Affine& place, double chord)
      : scanner_(data), place_(place), chord_(chord) {}

  absl::StatusOr<std::vector<SvgSubpath>> Read();

 private:
  bool Segment(char command);
  bool Segments(char command);
  bool Point(bool relative, Vec2& point);
  bool Numbers(std::span<double> numbers);
  void Open();
  void MoveTo(Vec2 point);
  void LineTo(Vec2 point);
  bool QuadraticTo(Vec2 control, Vec2 end);
  bool CubicTo(Vec2 first, Vec2 second, Vec2 end);
  bool ArcTo(bool relative);
  bool AppendSvgArc(Vec2 radii, double degrees, std::pair<bool, bool> flags, Vec2 end);
  bool ChordCount(double second_derivative, size_t& count);
  bool Room(size_t points);
  void Close();
  void DropEmpty();

  SvgScanner scanner_;
  const Affine& place_;
  double chord_;
  std::vector<SvgSubpath> subpaths_;
  Vec2 at_, start_;         // in the frame of the path
  Vec2 cubic_, quadratic_;  // the last control points, for smooth curves
  char last_ = '\0';        // the last command in upper case
  bool is_open_ = false;    // the last subpath can be continued
  size_t points_ = 0;
  absl::Status error_ = absl::OkStatus();
};

// Reads commands up to the end. An error ends the path as a whole: a drawing program stops at it,
// and draws a part, which would be a wall with a gap.
absl::StatusOr<std::vector<SvgSubpath>> SvgPathReader::Read() {
  for (scanner_.SkipSpace(); !scanner_.AtEnd(); scanner_.SkipSpace()) {
    const char command = scanner_.Peek();
    const bool is_known = absl::StrContains("MmLlHhVvCcSsQqTtAaZz", command);
    const bool is_first = subpaths_.empty() && !is_open_;
    if (!is_known || command == '\0' || (is_first && command != 'M' && command != 'm')) {
      return InvalidField("",
                          absl::StrCat("path data: ", is_known ? "must begin with M" : "no command",
                                       " at character ", scanner_.at() + 1));
    }
    scanner_.Skip();
    if (!Segments(command)) {
      if (!error_.ok()) return error_;
      return InvalidField("", absl::StrCat("path data: no number that ", std::string(1, command),
                                           " needs at character ", scanner_.at() + 1));
    }
  }
  DropEmpty();
  return std::move(subpaths_);
}

// Reads the segments of a command, which may be repeated without its letter: further points of a
// move are lines.
bool SvgPathReader::Segments(char command) {
  if (command == 'Z' || command == 'z') {
    Close();
    last_ = 'Z';
    return true;
  }
  do {
    if (!Segment(command)) return false;
    last_ = absl::ascii_toupper(static_cast<unsigned char>(command));
    if (command == 'M') command = 'L';
    if (command == 'm') command = 'l';
    scanner_.SkipSpace();
    const char next = scanner_.Peek();
    if (scanner_.AtEnd() || absl::ascii_isalpha(static_cast<unsigned char>(next))) return true;
  } while (true);
}

// Reads the numbers of one segment, relative to the current point if the letter is small.
bool SvgPathReader::Segment(char command) {
  const bool relative = absl::ascii_islower(static_cast<unsigned char>(command));
  Vec2 end, first, second;
  double number = 0;
  // The control point that a smooth curve mirrors, if the command before was of the same family.
  const auto mirrored = [&](Vec2 control, std::string_view family) {
    return family.find(last_) == std::string_view::npos
               ? at_
               : Vec2{2 * at_.x - control.x, 2 * at_.y - control.y};
  };
  switch (absl::ascii_toupper(static_cast<unsigned char>(command))) {
    case 'M':
      if (!Point(relative, end)) return false;
      MoveTo(end);
      return true;
    case 'L':
      if (!Point(relative, end)) return false;
      LineTo(end);
      return true;
    case 'H':
      if (!Numbers({&number, 1})) return false;
      LineTo({relative ? at_.x + number : number, at_.y});
      return true;
    case 'V':
      if (!Numbers({&number, 1})) return false;
      LineTo({at_.x, relative ? at_.y + number : number});
      return true;
    case 'C':
      return Point(relative, first) && Point(relative, second) && Point(relative, end) &&
             CubicTo(first, second, end);
    case 'S':
      return Point(relative, second) && Point(relative, end) &&
             CubicTo(mirrored(cubic_, "CS"), second, end);
    case 'Q':
      return Point(relative, first) && Point(relative, end) && QuadraticTo(first, end);
    case 'T':
      return Point(relative, end) && QuadraticTo(mirrored(quadratic_, "QT"), end);
    default:
      return ArcTo(relative);
  }
}

// Reads numbers; the separators between them are optional.
bool SvgPathReader::Numbers(std::span<double> numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [&](double& number) { return scanner_.Number(number); });
}

// Reads the two numbers of a point.
bool SvgPathReader::Point(bool relative, Vec2& point) {
  if (!scanner_.Number(point.x) || !scanner_.Number(point.y)) return false;
  if (relative) point = SvgSum(point, at_);
  return true;
}

// Begins a subpath at the current point unless one can be continued.
void SvgPathReader::Open() {
  if (is_open_) return;
  DropEmpty();
  subpaths_.emplace_back().points.push_back(place_(at_));
  start_ = at_;
  is_open_ = true;
}

// Begins a subpath; one that gets no segment is dropped later.
void SvgPathReader::MoveTo(Vec2 point) {
  at_ = point;
  is_open_ = false;
  Open();
}

// Adds a straight segment.
void SvgPathReader::LineTo(Vec2 point) {
  Open();
  at_ = point;
  subpaths_.back().points.push_back(place_(at_));
  ++points_;
}

// Ends the subpath; the next one begins where this one began, unless a move says otherwise.
void SvgPathReader::Close() {
  if (is_open_) subpaths_.back().closed = true;
  is_open_ = false;
  at_ = start_;
}

// Drops the last subpath if it has no edge: only a move made it.
void SvgPathReader::DropEmpty() {
  if (!subpaths_.empty() && subpaths_.back().points.size() < 2) subpaths_.pop_back();
}

// Counts vertices, so that a short text cannot ask for more memory than an import may have.
bool SvgPathReader::Room(size_t points) {
  points_ += points;
  if (points_ <= kMaxImportedVertices) return true;
  error_ = InvalidField("", "path data: too many chords; a greater `chord` makes fewer");
  return false;
}

// Sets `count` to the chords of a curve whose second derivative is at most `second_derivative`: a
// piece of the parameter of size h is at most h^2 / 8 times that from its chord.
bool SvgPathReader::ChordCount(double second_derivative, size_t& count) {
  const double wanted = std::ceil(std::sqrt(second_derivative / (8 * chord_)));
  if (!(wanted <= static_cast<double>(kMaxChords))) {
    error_ = InvalidField("", absl::StrCat("path data: a curve needs more than ", kMaxChords,
                                           " chords; a greater `chord` makes fewer"));
    return false;
  }
  count = std::max<size_t>(1, static_cast<size_t>(wanted));
  return Room(count);
}

// Adds a curve with one control point. Its second derivative is twice the second difference.
bool SvgPathReader::QuadraticTo(Vec2 control, Vec2 end) {
  Open();
  const Vec2 p = place_(at_), q = place_(control), r = place_(end);
  size_t count = 0;
  const double bend = std::hypot(p.x - 2 * q.x + r.x, p.y - 2 * q.y + r.y);
  if (!ChordCount(2 * bend, count)) return false;
  std::vector<Vec2>& points = subpaths_.back().points;
  for (size_t i = 1; i < count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(count);
    points.push_back(SvgLerp(SvgLerp(p, q, t), SvgLerp(q, r, t), t));
  }
  points.push_back(r);
  quadratic_ = control;
  at_ = end;
  return true;
}

// Adds a curve with two control points. Its second derivative is at most six times the greater of
// the two second differences.
bool SvgPathReader::CubicTo(Vec2 first, Vec2 second, Vec2 end) {
  Open();
  const Vec2 p = place_(at_), q = place_(first), r = place_(second), s = place_(end);
  const double bend = std::max(std::hypot(p.x - 2 * q.x + r.x, p.y - 2 * q.y + r.y),
                               std::hypot(q.x - 2 * r.x + s.x, q.y - 2 * r.y + s.y));
  size_t count = 0;
  if (!ChordCount(6 * bend, count)) return false;
  std::vector<Vec2>& points = subpaths_.back().points;
  for (size_t i = 1; i < count; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(count);
    const Vec2 pq = SvgLerp(p, q, t), qr = SvgLerp(q, r, t), rs = SvgLerp(r, s, t);
    points.push_back(SvgLerp(SvgLerp(pq, qr, t), SvgLerp(qr, rs, t), t));
  }
  points.push_back(s);
  cubic_ = second;
  at_ = end;
  return true;
}

// Reads the radii, the turn, the two flags and the end of an arc.
bool SvgPathReader::ArcTo(bool relative) {
  std::array<double, 3> numbers{};
  bool large = false, sweep = false;
  Vec2 end;
  if (!Numbers(numbers) || !scanner_.Flag(large) || !scanner_.Flag(sweep) ||
      !Point(relative, end)) {
    return false;
  }
  Open();
  const Vec2 radii{std::abs(numbers[0]), std::abs(numbers[1])};
  if (end == at_) return true;
  if (radii.x == 0 || radii.y == 0) {
    LineTo(end);
    return true;
  }
  return AppendSvgArc(radii, numbers[2], {large, sweep}, end);
}

// Appends the arc of an ellipse with these radii, whose x axis is turned by `degrees`; `flags` are
// whether the arc is the large one, and whether angles increase. Radii that are too small grow
// until the ellipse reaches both ends (SVG 2, appendix B.2).
bool SvgPathReader::AppendSvgArc(Vec2 radii, double degrees, std::pair<bool, bool> flags,
                                 Vec2 end) {
  // Exact for quarter turns.
  const Affine turn = TurnDegrees(std::fmod(degrees, 360));
  // Half of the way between the ends, in the frame in which the ellipse is a unit circle.
  const Vec2 half{(at_.x - end.x) / 2, (at_.y - end.y) / 2};
  Vec2 unit{(half.x * turn.x.x + half.y * turn.x.y) / radii.x,
            (half.x * turn.y.x + half.y * turn.y.y) / radii.y};
  const double length = std::hypot(unit.x, unit.y);
  const double growth = std::max(1.0, length);
  radii = {radii.x * growth, radii.y * growth};
  unit = {unit.x / growth, unit.y / growth};
  const double square = std::min(1.0, unit.x * unit.x + unit.y * unit.y);
  if (!(square > 0)) {  // the ends are too close for doubles
    LineTo(end);
    return true;
  }
  const double away = std::sqrt((1 - square) / square) * (flags.first == flags.second ? -1 : 1);
  const Vec2 center{away * unit.y, -away * unit.x};
  const double from = std::atan2(unit.y - center.y, unit.x - center.x);
  double to = std::atan2(-unit.y - center.y, -unit.x - center.x);
  const double whole = 2 * std::numbers::pi;
  if (flags.second && to <= from) to += whole;
  if (!flags.second && to >= from) to -= whole;
  const Vec2 a{turn.x.x * radii.x, turn.x.y * radii.x};
  const Vec2 b{turn.y.x * radii.y, turn.y.y * radii.y};
  const Vec2 middle{(at_.x + end.x) / 2 + center.x * a.x + center.y * b.x,
                    (at_.y + end.y) / 2 + center.x * a.y + center.y * b.y};
  std::vector<Vec2>& points = subpaths_.back().points;
  const size_t first = points.size();
  const Arc arc{place_(middle), place_.Linear(a), place_.Linear(b), from, to};
  const absl::Status status = AppendArc(arc, chord_, points);
  if (!status.ok()) {
    error_ = status;
    return false;
  }
  // The begin is a vertex already, and the end is the point of the file.
  points.erase(points.begin() + static_cast<ptrdiff_t>(first));
  at_ = end;
  points.back() = place_(at_);
  return Room(points.size() - first);
}

}  // namespace

absl::StatusOr<std::vector<SvgSubpath>> SvgPath(std::string_view data, const Affine& place,
                                                double chord) {
  return SvgPathReader(data, place, chord).Read();
}

absl::StatusOr<std::vector<double>> SvgNumbers(std::string_view text) {
  std::vector<double> numbers;
  SvgScanner scanner(text);
  for (scanner.SkipSpace(); !scanner.AtEnd(); scanner.SkipSpace()) {
    if (!scanner.Number(numbers.emplace_back())) {
      return InvalidField("", absl::StrCat("no number at character ", scanner.at() + 1));
    }
  }
  return numbers;
}

namespace {

// Returns the map of one transform, or nullopt if its name or the number of its numbers is wrong.
std::optional<Affine> TransformOf(std::string_view name, std::span<const double> n) {
  constexpr double kRadians = std::numbers::pi / 180;
  if (name == "matrix" && n.size() == 6) return Affine{{n[0], n[1]}, {n[2], n[3]}, {n[4], n[5]}};
  if (name == "translate" && (n.size() == 1 || n.size() == 2)) {
    return Affine{{1, 0}, {0, 1}, {n[0], n.size() == 2 ? n[1] : 0}};
  }
  if (name == "scale" && (n.size() == 1 || n.size() == 2)) {
    return Affine{{n[0], 0}, {0, n.size() == 2 ? n[1] : n[0]}, {0, 0}};
  }
  if (name == "rotate" && n.size() == 1) return TurnDegrees(n[0]);
  if (name == "rotate" && n.size() == 3) return TurnDegrees(n[0], {n[1], n[2]});
  if (name == "skewX" && n.size() == 1) {
    return Affine{{1, 0}, {std::tan(n[0] * kRadians), 1}, {0, 0}};
  }
  if (name == "skewY" && n.size() == 1) {
    return Affine{{1, std::tan(n[0] * kRadians)}, {0, 1}, {0, 0}};
  }
  return std::nullopt;
}

}  // namespace

// A point is first mapped by the last transform of the list.
absl::StatusOr<Affine> SvgTransform(std::string_view text) {
  Affine map;
  SvgScanner scanner(text);
  for (scanner.SkipSpace(); !scanner.AtEnd(); scanner.SkipSeparator()) {
    const std::string_view name = scanner.Word();
    scanner.SkipSpace();
    if (name == "none" && scanner.AtEnd()) return map;
    std::vector<double> numbers;
    bool is_valid = scanner.Peek() == '(';
    if (is_valid) scanner.Skip();
    for (scanner.SkipSpace(); is_valid && scanner.Peek() != ')'; scanner.SkipSpace()) {
      is_valid = scanner.Number(numbers.emplace_back());
    }
    const std::optional<Affine> next = is_valid ? TransformOf(name, numbers) : std::nullopt;
    if (!next) {
      return InvalidField("", absl::StrCat("no transform at character ", scanner.at() + 1));
    }
    scanner.Skip();
    map = map * *next;
  }
  return map;
}

// Other units depend on fonts or windows, which a map does not have.
absl::StatusOr<double> SvgLength(std::string_view text, double whole) {
  struct Unit {
    std::string_view name;
    double pixels;
  };
  constexpr std::array<Unit, 9> kUnits{{{"", 1},
                                        {"px", 1},
                                        {"in", 96},
                                        {"cm", 96 / 2.54},
                                        {"mm", 96 / 25.4},
                                        {"q", 96 / 101.6},
                                        {"pt", 96.0 / 72},
                                        {"pc", 16},
                                        {"%", 0}}};
  SvgScanner scanner(text);
  double number = 0;
  if (!scanner.Number(number)) return InvalidField("", "must be a length, such as 3 or 2mm");
  std::string unit(text.substr(scanner.at()));
  absl::StripAsciiWhitespace(&unit);
  absl::AsciiStrToLower(&unit);
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    return unit == "%" ? number / 100 * whole : number * known.pixels;
  }
  return InvalidField(
      "", absl::StrCat("a length in the unit `", unit.substr(0, 8), "`, which is not absolute"));
}

std::optional<SvgBox> SvgViewBox(std::string_view text) {
  const absl::StatusOr<std::vector<double>> n = SvgNumbers(text);
  if (!n.ok() || n->size() != 4 || !((*n)[2] > 0) || !((*n)[3] > 0)) return std::nullopt;
  return SvgBox{(*n)[0], (*n)[1], (*n)[2], (*n)[3]};
}

// Stretches both sides alike, unless the attribute is `none`, and aligns what is left.
Affine ViewBoxMap(const SvgBox& box, Vec2 size, std::string_view preserve_aspect_ratio) {
  const absl::string_view ratio(preserve_aspect_ratio.data(), preserve_aspect_ratio.size());
  Vec2 scale{size.x / box.width, size.y / box.height};
  if (!absl::StrContains(ratio, "none")) {
    const bool covers = absl::StrContains(ratio, "slice");
    const double both = covers ? std::max(scale.x, scale.y) : std::min(scale.x, scale.y);
    scale = {both, both};
  }
  // The part of the free space that lies before the box: none, half (the default), or all.
  const double before_x = absl::StrContains(ratio, "xMin") ? 0 : absl::StrContains(ratio, "xMax");
  const double before_y = absl::StrContains(ratio, "YMin") ? 0 : absl::StrContains(ratio, "YMax");
  const bool mid_x = !absl::StrContains(ratio, "xMin") && !absl::StrContains(ratio, "xMax");
  const bool mid_y = !absl::StrContains(ratio, "YMin") && !absl::StrContains(ratio, "YMax");
  const Vec2 part{mid_x ? 0.5 : before_x, mid_y ? 0.5 : before_y};
  return {{scale.x, 0},
          {0, scale.y},
          {(size.x - box.width * scale.x) * part.x - box.x * scale.x,
           (size.y - box.height * scale.y) * part.y - box.y * scale.y}};
}

}  // namespace carom
