// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/query_line.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/ring.h"
#include "carom/status.h"
#include "client/cli/eval/line_members.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

using nlohmann::json;
using Content =
    std::variant<SceneLine, LoadLine, BodiesLine, PosesLine, TrackLine, NamedMove, Query>;

// Parses {"op":"scene","polygons":[…]}.
absl::StatusOr<Content> ParseScene(const json& line) {
  absl::StatusOr<std::vector<Polygon>> polygons = ReadPolygons(line);
  if (!polygons.ok()) return polygons.status();
  return SceneLine{*std::move(polygons)};
}

// Parses {"op":"load","file":"maps.jsonl","id":"arena"}.
absl::StatusOr<Content> ParseLoad(const json& line) {
  absl::StatusOr<std::string> file = Word(line, "file");
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> id = Word(line, "id");
  if (!id.ok()) return id.status();
  return LoadLine{*std::move(file), *std::move(id)};
}

// Parses {"op":"bodies","shapes":[SHAPE,…],"at":[[shape,x,y,c,s,owner,category],…]}.
absl::StatusOr<Content> ParseBodies(const json& line) {
  absl::StatusOr<BodyTable> bodies = ReadBodies(line);
  if (!bodies.ok()) return bodies.status();
  return BodiesLine{*std::move(bodies)};
}

// Parses {"op":"poses","tick":n,"at":[[x,y,c,s],…]}.
absl::StatusOr<Content> ParsePoses(const json& line) {
  absl::StatusOr<PoseTable> poses = ReadPoses(line);
  if (!poses.ok()) return poses.status();
  return PosesLine{*std::move(poses)};
}

// Parses {"op":"point","p":[x,y]}.
absl::StatusOr<Content> ParsePoint(const json& line) {
  const absl::StatusOr<Vec2> p = Point(line, "p");
  if (!p.ok()) return p.status();
  return Query(PointQuery{*p});
}

// Parses {"op":"segment","a":[x,y],"b":[x,y],"inside":"report","soft_mask":m,"soft_count":n}. The
// members from "inside" on are optional.
absl::StatusOr<Content> ParseSegment(const json& line) {
  const absl::StatusOr<Vec2> a = Point(line, "a");
  if (!a.ok()) return a.status();
  const absl::StatusOr<Vec2> b = Point(line, "b");
  if (!b.ok()) return b.status();
  SegmentQuery query{{*a, *b}};
  if (const auto member = line.find("inside"); member != line.end()) {
    const auto policy = member->is_string()
                            ? InsidePolicyNamed(member->get_ref<const std::string&>())
                            : std::nullopt;
    if (!policy) {
      return InvalidField("inside", "must be \"report\", \"ignore\" or \"exit\"");
    }
    query.inside = *policy;
  }
  const auto soft = ReadSoftWalls(line);
  if (!soft.ok()) return soft.status();
  query.soft = *soft;
  return Query(query);
}

// Parses {"op":"sight","a":[x,y],"b":[x,y],"soft_mask":m,"soft_count":n}. "soft_mask" and
// "soft_count" are optional.
absl::StatusOr<Content> ParseSight(const json& line) {
  const absl::StatusOr<Vec2> a = Point(line, "a");
  if (!a.ok()) return a.status();
  const absl::StatusOr<Vec2> b = Point(line, "b");
  if (!b.ok()) return b.status();
  const auto soft = ReadSoftWalls(line);
  if (!soft.ok()) return soft.status();
  return Query(SightQuery{{*a, *b}, soft->value_or(SoftWalls())});
}

// Reads a circle from the members "c" and "r".
absl::StatusOr<Circle> ReadCircle(const json& line) {
  const absl::StatusOr<Vec2> center = Point(line, "c");
  if (!center.ok()) return center.status();
  const auto member = line.find("r");
  if (member == line.end()) return InvalidField("r", "required");
  const std::optional<double> radius = ReadNumber(*member);
  if (!radius || *radius < 0) return InvalidField("r", "must be a number in [0, 2^53]");
  return Circle{*center, *radius};
}

// Parses {"op":"circle","c":[x,y],"r":number}.
absl::StatusOr<Content> ParseCircle(const json& line) {
  const absl::StatusOr<Circle> circle = ReadCircle(line);
  if (!circle.ok()) return circle.status();
  return Query(CircleQuery{*circle});
}

// Parses {"op":"polygon","rings":[…]}, and {"op":"distance","rings":[…]} without "k".
template <class PolygonalQuery>
absl::StatusOr<Content> ParseMover(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  return Query(PolygonalQuery{*std::move(shape)});
}

// Parses {"op":"distance","rings":[…],"k":n,"max_distance":number}. "k" and "max_distance", which
// needs "k", are optional.
absl::StatusOr<Content> ParseDistance(const json& line) {
  if (!line.contains("k")) {
    if (line.contains("max_distance")) return InvalidField("max_distance", "must come with k");
    return ParseMover<DistanceQuery>(line);
  }
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  const auto k = ReadCount(line, "k", 1, kMaxNearestK);
  if (!k.ok()) return k.status();
  const auto bound = Number(line, "max_distance", std::numeric_limits<double>::infinity());
  if (!bound.ok()) return bound.status();
  return Query(NearestQuery{*std::move(shape), *k, *bound});
}

// Parses {"op":"contact","rings":[…]}. Refuses a shape that is not convex, whatever the scene.
absl::StatusOr<Content> ParseContact(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  if (shape->ring_count() != 1 || !IsConvex(shape->ring(0))) {
    return InvalidField("rings", "must be one convex ring");
  }
  return Query(ContactQuery{*std::move(shape)});
}

// Parses {"op":"polygon_cast","rings":[…],"d":[x,y]}.
absl::StatusOr<Content> ParsePolygonCast(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  return Query(SweepQuery{*std::move(shape), *d});
}

// Parses {"op":"circle_cast","c":[x,y],"r":number,"d":[x,y]}.
absl::StatusOr<Content> ParseCircleCast(const json& line) {
  const absl::StatusOr<Circle> circle = ReadCircle(line);
  if (!circle.ok()) return circle.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  absl::StatusOr<Shape> shape = Shape::Create({{circle->center, circle->center}, circle->radius});
  if (!shape.ok()) return shape.status();
  return Query(SweepQuery{*std::move(shape), *d});
}

// Reads the member "tracker", the name of a tracker.
absl::StatusOr<uint64_t> ReadTracker(const json& line) {
  const auto member = line.find("tracker");
  if (member == line.end()) return InvalidField("tracker", "required");
  if (!member->is_number_unsigned())
    return InvalidField("tracker", "must be an integer in [0, 2^64)");
  return member->get<uint64_t>();
}

// Parses {"op":"track","tracker":name,"rings":[…]}.
absl::StatusOr<Content> ParseTrack(const json& line) {
  const absl::StatusOr<uint64_t> tracker = ReadTracker(line);
  if (!tracker.ok()) return tracker.status();
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  return TrackLine{*tracker, *std::move(shape)};
}

// Parses {"op":"move","tracker":name,"x":number,"y":number,"c":number,"s":number}.
absl::StatusOr<Content> ParseMove(const json& line) {
  const absl::StatusOr<uint64_t> tracker = ReadTracker(line);
  if (!tracker.ok()) return tracker.status();
  NamedMove move{*tracker, {}};
  // The members "c" and "s", cosine and sine of the rotation, must be given together, or both
  // omitted.
  const bool turns = line.contains("c") || line.contains("s");
  const auto no_turn = [&](double value) { return turns ? std::nullopt : std::optional(value); };
  for (const auto& [name, absent, out] :
       {std::tuple{"x", std::optional<double>(), &move.pose.position.x},
        std::tuple{"y", std::optional<double>(), &move.pose.position.y},
        std::tuple{"c", no_turn(1), &move.pose.c}, std::tuple{"s", no_turn(0), &move.pose.s}}) {
    const absl::StatusOr<double> number = Number(line, name, absent);
    if (!number.ok()) return number.status();
    *out = *number;
  }
  return move;
}

// Reads the member "shape", the shape of a sweep or slide.
absl::StatusOr<Shape> ReadMoverOf(const json& line) {
  const auto member = line.find("shape");
  if (member == line.end()) return InvalidField("shape", "required");
  return ReadAnyShape(*member, "shape");
}

// Reads the member "at", a pose: a position [x,y], or [x,y,c,s] with cosine and sine of the
// rotation.
absl::StatusOr<Pose> ReadPose(const json& line) {
  const auto member = line.find("at");
  if (member == line.end()) return InvalidField("at", "required");
  const auto numbers = Numbers(*member, "at", {2, 4});
  if (!numbers.ok()) return numbers.status();
  Pose pose{{(*numbers)[0], (*numbers)[1]}};
  if (numbers->size() == 4) pose.c = (*numbers)[2], pose.s = (*numbers)[3];
  return pose;
}

// Reads the member "inside", the name of the policy about a polygon that the shape touches or
// overlaps at its start. Returns `absent` if the line does not have the member.
absl::StatusOr<InsidePolicy> ReadSweepPolicy(const json& line, InsidePolicy absent) {
  const auto member = line.find("inside");
  if (member == line.end()) return absent;
  const auto policy =
      member->is_string() ? SweepPolicyNamed(member->get_ref<const std::string&>()) : std::nullopt;
  if (policy) return *policy;
  return InvalidField("inside",
                      "must be \"report\", \"ignore\", \"exit\", \"blocking\" or "
                      "\"blocking_leave\"");
}

// Parses {"op":"sweep","shape":SHAPE,"at":[x,y,c,s],"d":[x,y],"inside":"report","skin":number}.
// "inside" and "skin" are optional.
absl::StatusOr<Content> ParseSweep(const json& line) {
  absl::StatusOr<Shape> shape = ReadMoverOf(line);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = ReadPose(line);
  if (!pose.ok()) return pose.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  const auto inside = ReadSweepPolicy(line, InsidePolicy::kReportStart);
  if (!inside.ok()) return inside.status();
  if (line.contains("skin") && !IsBlocking(*inside)) {
    return InvalidField("skin", "must be absent unless inside is a blocking policy");
  }
  const absl::StatusOr<double> skin = Number(line, "skin", 0);
  if (!skin.ok()) return skin.status();
  return Query(PosedSweepQuery{*std::move(shape), *pose, *d, *inside, *skin});
}

// Parses {"op":"slide","shape":SHAPE,"at":[x,y,c,s],"d":[[x,y],…],"max_contacts":n,
// "inside":"blocking_leave","skin":number}. "max_contacts", "inside" and "skin" are optional.
absl::StatusOr<Content> ParseSlide(const json& line) {
  absl::StatusOr<Shape> shape = ReadMoverOf(line);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = ReadPose(line);
  if (!pose.ok()) return pose.status();
  SlideQuery query{*std::move(shape), *pose, {}, {}, 0};
  const auto pushes = line.find("d");
  if (pushes == line.end()) return InvalidField("d", "required");
  if (!pushes->is_array() || pushes->empty() || pushes->size() > kMaxPushes) {
    return InvalidField("d", absl::StrCat("must be an array of 1 to ", kMaxPushes, " [x, y]"));
  }
  for (size_t i = 0; i < pushes->size(); ++i) {
    const auto d = Numbers((*pushes)[i], absl::StrCat("d[", i, "]"), {2});
    if (!d.ok()) return d.status();
    query.pushes.push_back({(*d)[0], (*d)[1]});
  }
  const auto inside = ReadSweepPolicy(line, InsidePolicy::kBlockingLeave);
  if (!inside.ok()) return inside.status();
  if (!IsBlocking(*inside)) {
    return InvalidField("inside", "must be \"blocking\" or \"blocking_leave\"");
  }
  query.options.inside_policy = *inside;
  const auto contacts = ReadCount(line, "max_contacts", query.options.max_contacts, kMaxContacts);
  if (!contacts.ok()) return contacts.status();
  query.options.max_contacts = *contacts;
  const absl::StatusOr<double> skin = Number(line, "skin", 0);
  if (!skin.ok()) return skin.status();
  query.skin = *skin;
  return Query(std::move(query));
}

// Parses {"op":"bounce","a":[x,y],"b":[x,y],"max_bounces":n}. "max_bounces" is optional.
absl::StatusOr<Content> ParseBounce(const json& line) {
  const absl::StatusOr<Vec2> a = Point(line, "a");
  if (!a.ok()) return a.status();
  const absl::StatusOr<Vec2> b = Point(line, "b");
  if (!b.ok()) return b.status();
  const auto bounces = ReadCount(line, "max_bounces", BounceOptions().max_bounces, kMaxBounces);
  if (!bounces.ok()) return bounces.status();
  return Query(BounceQuery{{*a, *b}, *bounces});
}

// Parses {"op":"ray_bounce","p":[x,y],"d":[x,y],"t_max":number,"max_bounces":n}. "t_max" and
// "max_bounces" are optional; without "t_max" the ray has no end.
absl::StatusOr<Content> ParseRayBounce(const json& line) {
  const absl::StatusOr<Vec2> p = Point(line, "p");
  if (!p.ok()) return p.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  const auto t_max = Number(line, "t_max", std::numeric_limits<double>::infinity());
  if (!t_max.ok()) return t_max.status();
  const auto bounces = ReadCount(line, "max_bounces", kDefaultBounces, kMaxBounces);
  if (!bounces.ok()) return bounces.status();
  return Query(RayBounceQuery{*p, *d, *t_max, *bounces});
}

// Reads the member "cone", the angles [from, to] of a sector; nothing if the line does not have it.
absl::StatusOr<std::optional<std::pair<double, double>>> ReadCone(const json& line) {
  const auto member = line.find("cone");
  if (member == line.end()) return std::nullopt;
  const auto angles = Numbers(*member, "cone", {2});
  if (!angles.ok()) return angles.status();
  return std::pair((*angles)[0], (*angles)[1]);
}

// Reads the members of {"op":"area","p":[x,y],"r":number,"cone":[from,to],"inside":"report"}.
// "cone" and "inside" are optional.
absl::StatusOr<AreaQuery> ReadArea(const json& line) {
  const absl::StatusOr<Vec2> p = Point(line, "p");
  if (!p.ok()) return p.status();
  const absl::StatusOr<double> range = Number(line, "r", std::nullopt);
  if (!range.ok()) return range.status();
  const auto cone = ReadCone(line);
  if (!cone.ok()) return cone.status();
  AreaQuery query{*p, *range, *cone};
  if (const auto member = line.find("inside"); member != line.end()) {
    const std::string* const word = member->get_ptr<const std::string*>();
    if (word == nullptr || (*word != "report" && *word != "ignore")) {
      return InvalidField("inside", "must be \"report\" or \"ignore\"");
    }
    query.inside = *InsidePolicyNamed(*word);
  }
  return query;
}

absl::StatusOr<Content> ParseArea(const json& line) {
  const absl::StatusOr<AreaQuery> area = ReadArea(line);
  if (!area.ok()) return area.status();
  return Query(*area);
}

// Parses {"op":"sees",…,"margin":number} with the members of an area; "margin" is optional.
absl::StatusOr<Content> ParseSees(const json& line) {
  const absl::StatusOr<AreaQuery> area = ReadArea(line);
  if (!area.ok()) return area.status();
  const absl::StatusOr<double> margin = Number(line, "margin", 0);
  if (!margin.ok()) return margin.status();
  if (!IsAccepted(*margin) || *margin < 0) return InvalidField("margin", "must be in [0, 2^53]");
  return Query(SeesQuery{*area, *margin});
}

// A value of the member "op", and the function that parses its line.
struct Operation {
  std::string_view name;
  absl::StatusOr<Content> (*parse)(const json& line);
};

constexpr Operation kOperations[] = {
    {"scene", ParseScene},
    {"load", ParseLoad},
    {"bodies", ParseBodies},
    {"poses", ParsePoses},
    {"point", ParsePoint},
    {"segment", ParseSegment},
    {"sight", ParseSight},
    {"circle", ParseCircle},
    {"polygon", ParseMover<PolygonQuery>},
    {"distance", ParseDistance},
    {"polygon_cast", ParsePolygonCast},
    {"circle_cast", ParseCircleCast},
    {"contact", ParseContact},
    {"sweep", ParseSweep},
    {"slide", ParseSlide},
    {"bounce", ParseBounce},
    {"ray_bounce", ParseRayBounce},
    {"area", ParseArea},
    {"sees", ParseSees},
    {"track", ParseTrack},
    {"move", ParseMove},
};

// Parses a line with the function of `kOperations` that its member "op" selects.
absl::StatusOr<Content> ParseContent(const json& line) {
  const absl::StatusOr<std::string> op = Word(line, "op");
  if (!op.ok()) return op.status();
  const auto* operation =
      std::find_if(std::begin(kOperations), std::end(kOperations),
                   [&](const Operation& candidate) { return candidate.name == *op; });
  if (operation == std::end(kOperations)) return InvalidField("op", "unknown operation");
  return operation->parse(line);
}

// Refuses an "against" that includes bodies (placed shapes besides the scene) for bounces and for
// moves of trackers, which consider only the scene, and for observers, which look for bodies past
// the scene alone; and "mask" (a set of categories of polygons) for moves, because a tracker has a
// mask of its own.
absl::Status CheckScope(const Content& content, const ItemScope& scope) {
  const auto* query = std::get_if<Query>(&content);
  const bool sees = query != nullptr && std::holds_alternative<SeesQuery>(*query);
  const bool is_scene_only = query == nullptr || sees ||
                             std::holds_alternative<BounceQuery>(*query) ||
                             std::holds_alternative<RayBounceQuery>(*query);
  if (is_scene_only && scope.includes_bodies()) {
    return InvalidField("against", "must be \"scene\" for this operation");
  }
  if (scope.as_of.has_value() && !scope.includes_bodies() && !sees) {
    return InvalidField("as_of", "must be absent where \"against\" is \"scene\"");
  }
  if (query == nullptr && scope.mask != kEveryCategory) {
    return InvalidField("mask", "must be absent for this operation");
  }
  return absl::OkStatus();
}

// Returns the scope of a query or move: which polygons and bodies it considers. Returns the default
// scope for other kinds of lines.
absl::StatusOr<ItemScope> ScopeOfLine(const json& line, const Content& content) {
  const bool has_scope =
      std::holds_alternative<Query>(content) || std::holds_alternative<NamedMove>(content);
  if (!has_scope) return ItemScope();
  const absl::StatusOr<ItemScope> scope = ReadScope(line);
  if (!scope.ok()) return scope.status();
  const absl::Status fits = CheckScope(content, *scope);
  if (!fits.ok()) return fits;
  return *scope;
}

}  // namespace

size_t VertexCount(const Query& query) {
  struct Counter {
    size_t operator()(const DistanceQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const NearestQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const SweepQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const ContactQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const PolygonQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const PointQuery&) const { return 1; }
    size_t operator()(const MoveQuery&) const { return 1; }
    size_t operator()(const CircleQuery&) const { return 1; }
    size_t operator()(const SegmentQuery& q) const { return q.soft ? 4 : 2; }
    size_t operator()(const SightQuery&) const { return 2; }
    size_t operator()(const BounceQuery&) const { return 2; }
    size_t operator()(const RayBounceQuery&) const { return 3; }
    size_t operator()(const AreaQuery&) const { return 3; }
    size_t operator()(const SeesQuery&) const { return 3; }
    size_t operator()(const PosedSweepQuery& q) const { return 2 * q.shape.vertex_count(); }
    size_t operator()(const SlideQuery& q) const { return q.shape.vertex_count(); }
  };
  return std::visit(Counter(), query);
}

std::optional<Line> ParseLine(std::string_view text) {
  const std::optional<JsonDocument> document = ParseJson(text);
  if (!document) return std::nullopt;
  const json& value = document->value;
  if (!value.is_object()) return Line{"", InvalidField("", "must be a JSON object"), {}};
  if (IsTooDeep(text)) {
    return Line{
        "", InvalidField("", absl::StrCat("must be nested at most ", kMaxDepth, " deep")), {}};
  }
  Line line{"", ParseContent(value), {}};
  if (line.content.ok()) {
    const absl::StatusOr<ItemScope> scope = ScopeOfLine(value, *line.content);
    if (scope.ok()) {
      line.scope = *scope;
    } else {
      line.content = scope.status();
    }
  }
  // The answer contains a copy of `q`, so `q` must be printable: it must not contain a number that
  // overflows a double, and `IsTooDeep` has limited its depth.
  const auto q = value.find("q");
  if (q != value.end() && !(document->has_overflow && OverflowPath(*q))) line.q = q->dump();
  if (document->has_overflow && line.content.ok()) {
    // Refuses a number that overflows a double even in a member that the operation does not read.
    if (const auto path = OverflowPath(value)) line.content = InvalidField(*path, kNumberRange);
  }
  return line;
}

std::optional<InsidePolicy> InsidePolicyNamed(std::string_view word) {
  if (word == "report") return InsidePolicy::kReportStart;
  if (word == "ignore") return InsidePolicy::kIgnore;
  if (word == "exit") return InsidePolicy::kExit;
  return std::nullopt;
}

std::optional<InsidePolicy> SweepPolicyNamed(std::string_view word) {
  if (word == "blocking") return InsidePolicy::kBlocking;
  if (word == "blocking_leave") return InsidePolicy::kBlockingLeave;
  return InsidePolicyNamed(word);
}

}  // namespace carom::cli
