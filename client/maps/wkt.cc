// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/maps/wkt.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <numbers>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"

namespace carom {
namespace {

// How deep geometries may be nested in collections.
constexpr int kMaxWktDepth = 100;

// What the parentheses of a type contain.
enum class WktForm : uint8_t {
  kPoint,
  kMultiPoint,
  kLine,
  kCircular,  // points on arcs: every second point lies within an arc
  kCompound,  // lines and circular strings, joined end to end
  kPolygon,   // rings
  kCurvePolygon,
  kParts,       // geometries without a name, of the type `part`
  kCollection,  // geometries with or without a name; without one, of the type `part`
};

// A name of a geometry; `part` is the type of its parts that have no name.
struct WktType {
  std::string_view name;
  WktForm form;
  std::string_view part;
};

constexpr std::array<WktType, 17> kWktTypes{{
    {"POINT", WktForm::kPoint, ""},
    {"MULTIPOINT", WktForm::kMultiPoint, ""},
    {"LINESTRING", WktForm::kLine, ""},
    {"LINEARRING", WktForm::kLine, ""},
    {"CIRCULARSTRING", WktForm::kCircular, ""},
    {"COMPOUNDCURVE", WktForm::kCompound, ""},
    {"POLYGON", WktForm::kPolygon, ""},
    {"TRIANGLE", WktForm::kPolygon, ""},
    {"CURVEPOLYGON", WktForm::kCurvePolygon, ""},
    {"MULTILINESTRING", WktForm::kParts, "LINESTRING"},
    {"MULTIPOLYGON", WktForm::kParts, "POLYGON"},
    {"TIN", WktForm::kParts, "TRIANGLE"},
    {"POLYHEDRALSURFACE", WktForm::kParts, "POLYGON"},
    {"MULTICURVE", WktForm::kCollection, "LINESTRING"},
    {"MULTISURFACE", WktForm::kCollection, "POLYGON"},
    {"GEOMETRYCOLLECTION", WktForm::kCollection, ""},
    {"GEOMETRY", WktForm::kCollection, ""},
}};

// Returns the type of this name in upper case, or null. A Z or M may be part of the word.
const WktType* FindWktType(std::string_view word) {
  for (const std::string_view suffix : {"", "ZM", "Z", "M"}) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view name = word.substr(0, word.size() - suffix.size());
    for (const WktType& type : kWktTypes) {
      if (type.name == name) return &type;
    }
  }
  return nullptr;
}

// Returns the word at the begin of `text`, in upper case.
std::string WordAt(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && absl::ascii_isalpha(static_cast<unsigned char>(text[size]))) ++size;
  std::string word(text.substr(0, size));
  absl::AsciiStrToUpper(&word);
  return word;
}

// Appends the arc from the last point of `out` through `via` to `end`; a straight line if the three
// points are collinear, and a whole circle with the diameter to `via` if it ends where it began.
absl::Status AppendArcThrough(Vec2 via, Vec2 end, double chord, std::vector<Vec2>& out) {
  const Vec2 begin = out.back();
  const Vec2 u{via.x - begin.x, via.y - begin.y};
  const Vec2 v{end.x - begin.x, end.y - begin.y};
  const bool is_circle = begin == end;
  const double cross = u.x * v.y - u.y * v.x;
  // The centre has the same distance from the three points.
  Vec2 center{begin.x + u.x / 2, begin.y + u.y / 2};
  if (!is_circle) {
    const double uu = u.x * u.x + u.y * u.y, vv = v.x * v.x + v.y * v.y;
    center = {begin.x + (v.y * uu - u.y * vv) / (2 * cross),
              begin.y + (u.x * vv - v.x * uu) / (2 * cross)};
  }
  // The centre of collinear points is infinite, or not a number.
  if (!IsAccepted(center)) {
    out.push_back(via);
    out.push_back(end);
    return absl::OkStatus();
  }
  const Vec2 a{begin.x - center.x, begin.y - center.y};
  const Vec2 b{-a.y, a.x};
  const double turn = 2 * std::numbers::pi;
  // The angle of a point of the circle, from 0 at the begin to a whole turn counter-clockwise.
  const auto angle = [&](Vec2 p) {
    const Vec2 d{p.x - center.x, p.y - center.y};
    const double t = std::atan2(d.x * b.x + d.y * b.y, d.x * a.x + d.y * a.y);
    return t < 0 ? t + turn : t;
  };
  // Clockwise arcs have negative angles.
  const double sign = is_circle || cross > 0 ? 0 : turn;
  const double middle = angle(via);
  const double last = is_circle ? turn : angle(end) - sign;
  // Appends a part of the arc, up to a point of the file.
  const auto append = [&](double from, double to, Vec2 at) {
    const size_t first = out.size();
    const absl::Status status = AppendArc({center, a, b, from, to}, chord, out);
    if (!status.ok()) return status;
    // The ends are the points of the file, not their images on the circle that was computed.
    out.erase(out.begin() + static_cast<ptrdiff_t>(first));
    out.back() = at;
    return absl::OkStatus();
  };
  const absl::Status status = append(0, middle - sign, via);
  return status.ok() ? append(middle - sign, last, end) : status;
}

// Reads one file. A method that returns false has set the error.
class WktReader {
 public:
  WktReader(std::string_view text, const ImportOptions& options)
      : text_(text), options_(options), builder_("wkt", options, /*y_down=*/false) {}

  absl::StatusOr<ImportedMap> Read();

 private:
  bool Fail(std::string_view message) {
    return Fail(InvalidField(absl::StrCat("line ", line_),
                             absl::string_view(message.data(), message.size())));
  }
  bool Fail(absl::Status status) {
    if (error_.ok()) error_ = std::move(status);
    return false;
  }
  void SkipBlank();
  bool Accept(char c);
  bool Expect(char c);
  bool AcceptWord(std::string_view word);
  bool SkipReference();

  bool ReadGeometry(int depth, const WktType* unnamed);
  bool ReadBody(int depth, const WktType& type);
  bool ReadPoint(Vec2& point);
  bool ReadPoints(std::vector<Vec2>& points);
  bool ReadArcs(std::vector<Vec2>& points);
  bool ReadCurve(std::vector<Vec2>& points);
  bool ReadCompound(std::vector<Vec2>& points);
  bool ReadRings(bool curved, std::vector<RingSpec>& rings);
  bool SkipPoints(const WktType& type);
  bool AddShape(const WktType& type, std::vector<RingSpec> rings, bool open);

  std::string_view text_;
  const ImportOptions& options_;
  MapBuilder builder_;
  size_t at_ = 0;
  size_t line_ = 1;
  absl::Status error_ = absl::OkStatus();
  std::map<std::string_view, LayerPlan> plans_;
};

// Counts the line ends that it skips.
void WktReader::SkipBlank() {
  for (; at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_])); ++at_) {
    if (text_[at_] == '\n') ++line_;
  }
}

bool WktReader::Accept(char c) {
  SkipBlank();
  if (at_ >= text_.size() || text_[at_] != c) return false;
  ++at_;
  return true;
}

bool WktReader::Expect(char c) {
  return Accept(c) || Fail(absl::StrCat("expected `", std::string(1, c), "`"));
}

// Skips a word in any case of letters, if it is next; no part of a longer word.
bool WktReader::AcceptWord(std::string_view word) {
  SkipBlank();
  if (WordAt(text_.substr(at_)) != word) return false;
  at_ += word.size();
  return true;
}

// Skips `SRID=4326;`, the reference system of a geometry.
bool WktReader::SkipReference() {
  if (!AcceptWord("SRID")) return true;
  if (!Expect('=')) return false;
  SkipBlank();
  while (at_ < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[at_]))) ++at_;
  return Expect(';');
}

// Reads geometries up to the end of the file.
absl::StatusOr<ImportedMap> WktReader::Read() {
  for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
    if (Accept(';')) continue;
    if (!SkipReference() || !ReadGeometry(0, nullptr)) return error_;
  }
  return builder_.Finish();
}

// Reads a geometry; one without a name has the type `unnamed`, unless that is null.
bool WktReader::ReadGeometry(int depth, const WktType* unnamed) {
  if (depth > kMaxWktDepth) return Fail("geometries are nested too deep");
  SkipBlank();
  const std::string word = WordAt(text_.substr(at_));
  if (word.empty() && unnamed != nullptr) return ReadBody(depth, *unnamed);
  if (word == "EMPTY" && unnamed != nullptr) return ReadBody(depth, *unnamed);
  const WktType* type = FindWktType(word);
  if (type == nullptr) return Fail("expected the name of a geometry, such as POLYGON");
  at_ += word.size();
  if (!AcceptWord("ZM") && !AcceptWord("Z")) AcceptWord("M");
  return ReadBody(depth, *type);
}

// Reads what follows the name of a geometry: EMPTY, or its parentheses.
bool WktReader::ReadBody(int depth, const WktType& type) {
  if (AcceptWord("EMPTY")) {
    builder_.SkipObject(absl::StrCat(absl::string_view(type.name.data(), type.name.size())),
                        "geometries", "it is empty");
    return true;
  }
  RingSpec line;
  std::vector<RingSpec> rings;
  switch (type.form) {
    case WktForm::kPoint:
    case WktForm::kMultiPoint:
      return SkipPoints(type);
    case WktForm::kLine:
      if (!ReadPoints(line.vertices)) return false;
      return AddShape(type, {std::move(line)}, /*open=*/true);
    case WktForm::kCircular:
      if (!ReadArcs(line.vertices)) return false;
      return AddShape(type, {std::move(line)}, /*open=*/true);
    case WktForm::kCompound:
      if (!ReadCompound(line.vertices)) return false;
      return AddShape(type, {std::move(line)}, /*open=*/true);
    case WktForm::kPolygon:
    case WktForm::kCurvePolygon:
      if (!ReadRings(type.form == WktForm::kCurvePolygon, rings)) return false;
      return AddShape(type, std::move(rings), /*open=*/false);
    case WktForm::kParts:
    case WktForm::kCollection:
      break;
  }
  // What is left are lists of geometries.
  const WktType* part = type.part.empty() ? nullptr : FindWktType(type.part);
  if (!Expect('(')) return false;
  do {
    if (!ReadGeometry(depth + 1, part)) return false;
  } while (Accept(','));
  return Expect(')');
}

// Reads two numbers, and up to two more, which are ignored.
bool WktReader::ReadPoint(Vec2& point) {
  std::array<double, 4> numbers{};
  size_t count = 0;
  for (SkipBlank(); at_ < text_.size(); SkipBlank()) {
    if (text_[at_] == '+') ++at_;
    const char* begin = text_.data() + at_;
    double number = 0;
    const auto result = std::from_chars(begin, text_.data() + text_.size(), number);
    if (result.ec == std::errc::invalid_argument) break;
    if (result.ec != std::errc() || (count < 2 && !IsAccepted(number))) {
      return Fail("numbers must be finite and at most 2^53 in magnitude");
    }
    if (count == numbers.size()) return Fail("a point has at most 4 numbers");
    numbers[count++] = number;
    at_ += static_cast<size_t>(result.ptr - begin);
  }
  if (count < 2) return Fail("expected the two numbers of a point");
  point = Normalized(Vec2{numbers[0], numbers[1]});
  return true;
}

// Reads a list of points in parentheses.
bool WktReader::ReadPoints(std::vector<Vec2>& points) {
  if (!Expect('(')) return false;
  do {
    if (points.size() % 1024 == 0) options_.Report(at_, text_.size());
    if (!ReadPoint(points.emplace_back())) return false;
  } while (Accept(','));
  return Expect(')');
}

// Reads a circular string: a point, then two points for each arc.
bool WktReader::ReadArcs(std::vector<Vec2>& points) {
  std::vector<Vec2> given;
  if (!ReadPoints(given)) return false;
  if (given.size() < 3 || given.size() % 2 == 0) {
    return Fail("a circular string has an odd number of points, at least 3");
  }
  points.push_back(given.front());
  for (size_t i = 2; i < given.size(); i += 2) {
    const absl::Status status = AppendArcThrough(given[i - 1], given[i], options_.chord, points);
    if (!status.ok()) return Fail(std::string(status.message()));
  }
  return true;
}

// Reads a line without a name, a CIRCULARSTRING or a COMPOUNDCURVE.
bool WktReader::ReadCurve(std::vector<Vec2>& points) {
  if (AcceptWord("CIRCULARSTRING")) return ReadArcs(points);
  if (AcceptWord("COMPOUNDCURVE")) return ReadCompound(points);
  AcceptWord("LINESTRING");
  return ReadPoints(points);
}

// Joins the parts of a compound curve; a part begins where the one before ends.
bool WktReader::ReadCompound(std::vector<Vec2>& points) {
  if (!Expect('(')) return false;
  do {
    std::vector<Vec2> part;
    if (AcceptWord("CIRCULARSTRING")) {
      if (!ReadArcs(part)) return false;
    } else {
      AcceptWord("LINESTRING");
      if (!ReadPoints(part)) return false;
    }
    const bool joins = !points.empty() && points.back() == part.front();
    points.insert(points.end(), part.begin() + (joins ? 1 : 0), part.end());
  } while (Accept(','));
  return Expect(')');
}

// Reads the rings of a polygon in parentheses; `curved` allows arcs in them. Empty rings are left
// out.
bool WktReader::ReadRings(bool curved, std::vector<RingSpec>& rings) {
  if (!Expect('(')) return false;
  do {
    if (AcceptWord("EMPTY")) continue;
    std::vector<Vec2>& ring = rings.emplace_back().vertices;
    if (!(curved ? ReadCurve(ring) : ReadPoints(ring))) return false;
  } while (Accept(','));
  return Expect(')');
}

// The points of a MULTIPOINT may have parentheses of their own, or be EMPTY.
bool WktReader::SkipPoints(const WktType& type) {
  if (!Expect('(')) return false;
  do {
    Vec2 point;
    if (AcceptWord("EMPTY")) continue;
    const bool is_enclosed = type.form == WktForm::kMultiPoint && Accept('(');
    if (!ReadPoint(point) || (is_enclosed && !Expect(')'))) return false;
  } while (type.form == WktForm::kMultiPoint && Accept(','));
  builder_.SkipObject(type.name, "geometries", "points have no edges");
  return Expect(')');
}

// Adds rings, or chains if `open`, in the layer of their type.
bool WktReader::AddShape(const WktType& type, std::vector<RingSpec> rings, bool open) {
  auto plan = plans_.find(type.name);
  if (plan == plans_.end()) {
    const std::array<std::string, 2> names{"geometries", std::string(type.name)};
    plan = plans_.emplace(type.name, builder_.Plan(names)).first;
    if (plan->second.use == LayerUse::kSkip) {
      builder_.SkipLayer(plan->second, "the options skip it");
    }
  }
  if (plan->second.use == LayerUse::kSkip) return true;
  if (rings.empty()) {
    builder_.SkipObject(type.name, "geometries", "it is empty");
    return true;
  }
  for (RingSpec& ring : rings) ring.open = open;
  MapShape shape;
  shape.rings = std::move(rings);
  shape.hollow = open;
  shape.path = absl::StrCat("line ", line_);
  absl::Status status = builder_.Add(plan->second, std::move(shape));
  return status.ok() || Fail(std::move(status));
}

}  // namespace

// Looks at the first word, behind a reference system.
bool LooksLikeWkt(const Sniffed& file) {
  std::string_view text = file.bytes.substr(0, 256);
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  text.remove_prefix(begin);
  if (WordAt(text) == "SRID") {
    const size_t end = text.find(';');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n", end + 1), text.size()));
  }
  return FindWktType(WordAt(text)) != nullptr;
}

absl::StatusOr<ImportedMap> ImportWkt(std::string_view bytes, const ImportOptions& options,
                                      const FileOpener& /*open*/) {
  const absl::Status status = MapBuilder::Check(options);
  if (!status.ok()) return status;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  return WktReader(bytes, options).Read();
}

}  // namespace carom
