// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The predicate cases of the JTS Topology Suite, answered by the core.
//
// - intersects, disjoint: the parts of a are a scene, the parts of b queries. Overlap, and casts.
// - distance: the least of `MeasureDistances`, and of `Distance` over pairs.
// - covers, coveredBy, equalsTopo: every segment of b is one passage of a from end to end, and no
//   piece of the plane outside of a, such as a hole, lies in b. (If all of b's edges are in a, none
//   of them cuts such a piece, so one point of it decides.)
// - contains, within: covers, and b is not only on a's boundary.
//
// Not applicable, since they need the interior of one geometry against the interior of another:
// touches, crosses, overlaps, relate. Nor is what is no question about positions: isValid and the
// overlays; nor what a collection of lines and areas covers, which are not one polygon. Two answers
// differ, see `Differs`. Two conventions of JTS are the harness's, as an empty geometry is no
// polygon: nothing covers an empty one, and the distance to it is 0.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "carom/cast.h"
#include "carom/distance.h"
#include "carom/locate.h"
#include "carom/overlap.h"
#include "tests/conformance/fixture.h"
#include "tests/support/jts.h"

namespace carom::testing {
namespace {

using Answer = std::optional<bool>;  // nothing: not decided soundly

Polygon Make(uint64_t id, std::vector<RingSpec> rings, Solidity solidity) {
  return Polygon::Create({.id = id, .rings = std::move(rings), .solidity = solidity}).value();
}

Scene::Ptr SceneOf(std::vector<Polygon> polygons) {
  return Scene::Create(std::move(polygons)).value();
}

// All lines as one hollow polygon, or all polygons as one of even-odd fill: the interiors of the
// parts of a valid multipolygon are disjoint.
Polygon AllLines(const std::vector<Path>& lines) {
  std::vector<RingSpec> rings;
  for (const Path& line : lines) rings.push_back({line, true});
  return Make(1, std::move(rings), Solidity::kBoundary);
}
Polygon AllAreas(const std::vector<std::vector<Path>>& areas, Solidity solidity) {
  std::vector<RingSpec> rings;
  for (const std::vector<Path>& area : areas) {
    for (const Path& ring : area) rings.push_back({ring, false});
  }
  return Make(1, std::move(rings), solidity);
}

// Each part a polygon of its own.
std::vector<Polygon> PartsOf(const JtsGeometry& geometry) {
  std::vector<Polygon> parts;
  uint64_t id = 0;
  for (const Vec2 p : geometry.points) parts.push_back(Make(++id, {{{p}}}, Solidity::kSolid));
  for (const Path& line : geometry.lines) {
    parts.push_back(Make(++id, {{line, true}}, Solidity::kBoundary));
  }
  for (const std::vector<Path>& area : geometry.polygons) {
    std::vector<RingSpec> rings;
    for (const Path& ring : area) rings.push_back({ring, false});
    parts.push_back(Make(++id, std::move(rings), Solidity::kSolid));
  }
  return parts;
}

std::vector<carom::Segment> SegmentsOf(const std::vector<Path>& paths) {
  std::vector<carom::Segment> segments;
  for (const Path& path : paths) {
    if (path.size() == 1) segments.push_back({path[0], path[0]});
    for (size_t i = 1; i < path.size(); ++i) segments.push_back({path[i - 1], path[i]});
  }
  return segments;
}
std::vector<carom::Segment> EdgesOf(const std::vector<std::vector<Path>>& areas) {
  std::vector<carom::Segment> segments;
  for (const std::vector<Path>& area : areas) {
    const std::vector<carom::Segment> more = SegmentsOf(area);
    segments.insert(segments.end(), more.begin(), more.end());
  }
  return segments;
}

CastAnswers Cast(const Scene& scene, const carom::Segment& segment) {
  CastAnswers answers;
  WorkMeter meter;
  const CastOptions options{.mode = CastMode::kAll};
  CastSegments(scene, {{&segment.a.x, 1}, {&segment.a.y, 1}, {&segment.b.x, 1}, {&segment.b.y, 1}},
               options, answers, meter);
  return answers;
}

// Where the point is in the only polygon of a scene.
Location Locate(const Scene& scene, Vec2 p) {
  LocateAnswers answers;
  WorkMeter meter;
  LocatePoints(scene, {{&p.x, 1}, {&p.y, 1}}, kEveryCategory, answers, meter);
  return answers.locations.empty() ? Location::kOutside : answers.locations[0];
}

bool Intersects(const JtsGeometry& a, const JtsGeometry& b) {
  const Scene::Ptr scene = SceneOf(PartsOf(a));
  const std::vector<Polygon> parts = PartsOf(b);
  const std::vector<double> zeros(parts.size(), 0.0);
  PolygonColumns columns;
  columns.shapes = parts;
  columns.x = zeros;
  columns.y = zeros;
  OverlapAnswers answers;
  WorkMeter meter;
  OverlapPolygons(*scene, columns, {}, answers, meter);
  bool by_casts = false;
  for (const carom::Segment& s : SegmentsOf(b.lines)) by_casts |= Cast(*scene, s).counts[0] > 0;
  if (b.KindCount() == 1 && !b.lines.empty()) {
    EXPECT_EQ(by_casts, !answers.polygon_ids.empty()) << "casts and overlaps differ";
  }
  return !answers.polygon_ids.empty();
}

double Measured(const JtsGeometry& a, const JtsGeometry& b) {
  const std::vector<Polygon> fixed = PartsOf(a);
  const Scene::Ptr scene = SceneOf(fixed);
  std::vector<Shape> movers;
  for (const Polygon& part : PartsOf(b)) movers.emplace_back(part);
  const std::vector<double> zeros(movers.size(), 0.0);
  DistanceColumns columns;
  columns.movers.shapes = movers;
  columns.movers.x = zeros;
  columns.movers.y = zeros;
  DistanceAnswers answers;
  WorkMeter meter;
  MeasureDistances(*scene, columns, {}, answers, meter);
  double least = HUGE_VAL, of_pairs = HUGE_VAL;
  for (const DistanceRow& row : answers.rows) least = std::min(least, row.distance);
  for (const Polygon& part : fixed) {
    for (const Shape& mover : movers) of_pairs = std::min(of_pairs, Distance(part, mover).distance);
  }
  EXPECT_EQ(least, of_pairs) << "a scene and its shapes measure differently";
  EXPECT_FALSE(std::isinf(least));
  return least;
}

// One kind of geometry as a point set in one polygon; points apart.
struct PointSet {
  explicit PointSet(const JtsGeometry& geometry) : of(geometry) {
    if (!geometry.lines.empty()) scene = SceneOf({AllLines(geometry.lines)});
    if (!geometry.polygons.empty()) {
      scene = SceneOf({AllAreas(geometry.polygons, Solidity::kSolid)});
      boundary = SceneOf({AllAreas(geometry.polygons, Solidity::kBoundary)});
    }
  }

  bool Has(Vec2 p) const {
    if (scene != nullptr) return Locate(*scene, p) != Location::kOutside;
    return std::find(of.points.begin(), of.points.end(), p) != of.points.end();
  }
  // A point of the set that is not on its boundary: for lines, those that end an odd number of
  // them.
  bool HasInside(Vec2 p) const {
    if (boundary != nullptr) return Locate(*scene, p) == Location::kInside;
    int ends = 0;
    for (const Path& line : of.lines) ends += (line.front() == p) + (line.back() == p);
    return Has(p) && ends % 2 == 0;
  }
  // All of the segment is in `where`: one passage holds both ends.
  static bool HoldsIn(const Scene& where, const carom::Segment& s) {
    const CastAnswers answers = Cast(where, s);
    return !answers.hits.empty() && answers.hits[0].starts_inside && answers.hits[0].ends_inside;
  }
  bool Holds(const carom::Segment& s) const {
    if (scene == nullptr) return s.a == s.b && Has(s.a);
    return HoldsIn(*scene, s);
  }
  bool HoldsOnBoundary(const carom::Segment& s) const {
    return boundary != nullptr && HoldsIn(*boundary, s);
  }

  JtsGeometry of;
  Scene::Ptr scene;     // null for points
  Scene::Ptr boundary;  // of areas only
};

// A point inside of `ring` and outside of `set`; nothing if none of those tried is.
std::optional<Vec2> PointOfHole(const Path& ring, const PointSet& set) {
  const Scene::Ptr hole = SceneOf({Make(1, {{ring}}, Solidity::kSolid)});
  for (size_t i = 0; i < ring.size(); ++i) {
    for (size_t j = i + 1; j < ring.size(); ++j) {
      for (size_t k = j + 1; k < ring.size(); ++k) {
        const Vec2 p{(ring[i].x + ring[j].x + ring[k].x) / 3,
                     (ring[i].y + ring[j].y + ring[k].y) / 3};
        if (Locate(*hole, p) == Location::kInside && !set.Has(p)) return p;
      }
    }
  }
  return std::nullopt;
}

// Whether no bounded piece of the plane outside of the areas of `a` lies in `b`, given that every
// edge of b is in a. Decided for one area; for several only if b is in none of their holes either.
Answer NoHoleIn(const PointSet& a, const PointSet& b) {
  for (const std::vector<Path>& area : a.of.polygons) {
    for (size_t i = 1; i < area.size(); ++i) {
      const std::optional<Vec2> p = PointOfHole(area[i], a);
      if (!p) return std::nullopt;
      if (b.Has(*p)) return false;
    }
  }
  // Several areas that touch can enclose a piece that is nobody's hole.
  for (const std::vector<Path>& area : a.of.polygons) {
    for (const std::vector<Path>& other : a.of.polygons) {
      JtsGeometry one, two;
      one.polygons = {area};
      two.polygons = {other};
      if (&area != &other && Intersects(one, two)) return std::nullopt;
    }
  }
  return true;
}

// The parts of one kind each.
std::vector<JtsGeometry> KindsOf(const JtsGeometry& geometry) {
  std::vector<JtsGeometry> kinds;
  if (!geometry.points.empty()) kinds.push_back({geometry.points, {}, {}});
  if (!geometry.lines.empty()) kinds.push_back({{}, geometry.lines, {}});
  if (!geometry.polygons.empty()) kinds.push_back({{}, {}, geometry.polygons});
  return kinds;
}

Answer CoversKind(const PointSet& a, const JtsGeometry& b) {
  for (const Vec2 p : b.points) {
    if (!a.Has(p)) return false;
  }
  for (const carom::Segment& s : SegmentsOf(b.lines)) {
    if (!a.Holds(s)) return false;
  }
  if (b.polygons.empty()) return true;
  if (a.of.polygons.empty()) return false;
  for (const carom::Segment& s : EdgesOf(b.polygons)) {
    if (!a.Holds(s)) return false;
  }
  return NoHoleIn(a, PointSet(b));
}

Answer Covers(const JtsGeometry& a, const JtsGeometry& b) {
  if (a.IsEmpty() || b.IsEmpty()) return false;
  if (a.KindCount() != 1) return std::nullopt;  // points, lines and areas are not one polygon
  const PointSet set(a);
  for (const JtsGeometry& kind : KindsOf(b)) {
    if (const Answer covers = CoversKind(set, kind); covers != true) return covers;
  }
  return true;
}

Answer Contains(const JtsGeometry& a, const JtsGeometry& b) {
  const Answer covers = Covers(a, b);
  if (covers != true) return covers;
  const PointSet set(a);
  bool inside = !b.polygons.empty();
  for (const Vec2 p : b.points) inside |= set.HasInside(p);
  for (const carom::Segment& s : SegmentsOf(b.lines)) {
    inside |= s.a == s.b ? set.HasInside(s.a) : !set.HoldsOnBoundary(s);
  }
  return inside;
}

Answer EqualsTopo(const JtsGeometry& a, const JtsGeometry& b) {
  if (a.IsEmpty() && b.IsEmpty()) return true;
  const Answer forth = Covers(a, b), back = Covers(b, a);
  if (forth == false || back == false) return false;
  return forth && back ? Answer(true) : std::nullopt;
}

Answer Decide(const std::string& name, const JtsGeometry& a, const JtsGeometry& b) {
  if (name == "intersects") return Intersects(a, b);
  if (name == "disjoint") return !Intersects(a, b);
  if (name == "covers") return Covers(a, b);
  if (name == "coveredby") return Covers(b, a);
  if (name == "contains") return Contains(a, b);
  if (name == "within") return Contains(b, a);
  if (name == "equalstopo") return EqualsTopo(a, b);
  return std::nullopt;
}

struct Count {
  int run = 0, not_applicable = 0;

  friend bool operator==(const Count&, const Count&) = default;
};
void PrintTo(const Count& count, std::ostream* out) {
  *out << count.run << " run, " << count.not_applicable << " not applicable";
}

// Two answers are not those of JTS. It has the point (0.95, 0.05) on the edge from (1, 0) to (0,
// 1), as the decimals say; the doubles nearest to them add up to less than 1, so the point that was
// given is inside, hence contained. And a point and a line of length zero at the same place are the
// same set of points, though for JTS not equal, as one of them was called a line.
bool Differs(const JtsOperation& operation, const JtsCase& of) {
  if (operation.name == "contains") {
    return of.b.points == Path{{0.95, 0.05}} &&
           of.a.polygons == std::vector<std::vector<Path>>{{{{0, 0}, {1, 0}, {0, 1}, {0, 0}}}};
  }
  return operation.name == "equalstopo" && of.a.points.size() == 1 &&
         of.b.lines == std::vector<Path>{{of.a.points[0], of.a.points[0]}};
}

// Runs one operation and counts it.
void Check(const JtsOperation& operation, const JtsCase& of, Count& count) {
  const JtsGeometry& a = operation.swapped ? of.b : of.a;
  const JtsGeometry& b = operation.swapped ? of.a : of.b;
  if (operation.name == "distance") {
    ++count.run;
    const double distance = a.IsEmpty() || b.IsEmpty() ? 0 : Measured(a, b);
    EXPECT_NEAR(distance, std::stod(operation.expected), 1e-12 * distance);
    return;
  }
  const Answer answer = Decide(operation.name, a, b);
  ++(answer ? count.run : count.not_applicable);
  if (Differs(operation, of)) {
    EXPECT_EQ(answer, true);
    EXPECT_EQ(operation.expected, "false");
  } else if (answer) {
    EXPECT_EQ(*answer ? "true" : "false", operation.expected);
  }
}

// How many of each operation there are, so that none is left out unseen.
const std::map<std::string, Count>& ExpectedCounts() {
  static const std::map<std::string, Count> counts = {
      {"contains", {499, 0}},   {"coveredby", {480, 1}},    {"covers", {483, 0}},
      {"crosses", {0, 481}},    {"difference", {0, 10}},    {"disjoint", {481, 0}},
      {"distance", {32, 0}},    {"equalstopo", {481, 0}},   {"intersection", {0, 11}},
      {"intersects", {504, 0}}, {"isvalid", {0, 840}},      {"overlaps", {0, 481}},
      {"relate", {0, 527}},     {"symdifference", {0, 13}}, {"touches", {0, 481}},
      {"union", {0, 10}},       {"within", {480, 1}},
  };
  return counts;
}

TEST(Jts, EveryApplicableCaseAgrees) {
  CAROM_NEEDS_SHARED_DIR(data);
  std::map<std::string, Count> counts;
  int cases = 0, unread = 0;
  for (const auto& entry : std::filesystem::directory_iterator(data + "/raw/jts_xml")) {
    if (entry.path().extension() != ".xml") continue;
    const std::optional<JtsFile> file = ReadJtsFile(entry.path());
    ASSERT_TRUE(file.has_value()) << entry.path();
    unread += file->unread_count;
    for (const JtsCase& one : file->cases) {
      ++cases;
      for (const JtsOperation& operation : one.operations) {
        SCOPED_TRACE(entry.path().filename().string() + ": " + one.description + ": " +
                     operation.name + (operation.swapped ? " (b, a)" : ""));
        Check(operation, one, counts[operation.name]);
      }
    }
  }
  std::printf("%d cases, %d of them without readable geometries\n", cases + unread, unread);
  for (const auto& [name, count] : counts) {
    std::printf("%-14s %4d run, %4d not applicable\n", name.c_str(), count.run,
                count.not_applicable);
  }
  EXPECT_EQ(counts, ExpectedCounts());
}

}  // namespace
}  // namespace carom::testing
