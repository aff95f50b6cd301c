// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/query_line.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/ring.h"
#include "carom/status.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

using nlohmann::json;
using Content = std::variant<SceneLine, LoadLine, TrackLine, NamedMove, Query>;

// The member `name`: [x, y].
absl::StatusOr<Vec2> Point(const json& line, const char* name) {
  const auto member = line.find(name);
  if (member == line.end()) return InvalidField(name, "required");
  if (!member->is_array() || member->size() != 2) return InvalidField(name, "must be [x, y]");
  Vec2 point;
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<double> number = ReadNumber((*member)[i]);
    if (!number) return InvalidField(absl::StrCat(name, "[", i, "]"), kNumberRange);
    (i == 0 ? point.x : point.y) = *number;
  }
  return point;
}

// The member `name`, which must be a string.
absl::StatusOr<std::string> Word(const json& line, const char* name) {
  const auto member = line.find(name);
  if (member == line.end()) return InvalidField(name, "required");
  if (!member->is_string()) return InvalidField(name, "must be a string");
  return member->get<std::string>();
}

// {"op":"scene","polygons":[…]}
absl::StatusOr<Content> ParseScene(const json& line) {
  absl::StatusOr<std::vector<Polygon>> polygons = ReadPolygons(line);
  if (!polygons.ok()) return polygons.status();
  return SceneLine{*std::move(polygons)};
}

// {"op":"load","file":"maps.jsonl","id":"arena"}
absl::StatusOr<Content> ParseLoad(const json& line) {
  absl::StatusOr<std::string> file = Word(line, "file");
  if (!file.ok()) return file.status();
  absl::StatusOr<std::string> id = Word(line, "id");
  if (!id.ok()) return id.status();
  return LoadLine{*std::move(file), *std::move(id)};
}

// {"op":"point","p":[x,y]}
absl::StatusOr<Content> ParsePoint(const json& line) {
  const absl::StatusOr<Vec2> p = Point(line, "p");
  if (!p.ok()) return p.status();
  return Query(PointQuery{*p});
}

// {"op":"segment","a":[x,y],"b":[x,y],"inside":"report"}, the last one optional
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
  return Query(query);
}

// The members `c` and `r`.
absl::StatusOr<Circle> ReadCircle(const json& line) {
  const absl::StatusOr<Vec2> center = Point(line, "c");
  if (!center.ok()) return center.status();
  const auto member = line.find("r");
  if (member == line.end()) return InvalidField("r", "required");
  const std::optional<double> radius = ReadNumber(*member);
  if (!radius || *radius < 0) return InvalidField("r", "must be a number in [0, 2^53]");
  return Circle{*center, *radius};
}

// {"op":"circle","c":[x,y],"r":number}
absl::StatusOr<Content> ParseCircle(const json& line) {
  const absl::StatusOr<Circle> circle = ReadCircle(line);
  if (!circle.ok()) return circle.status();
  return Query(CircleQuery{*circle});
}

// {"op":"polygon","rings":[…]}, and the same for a distance
template <class PolygonalQuery>
absl::StatusOr<Content> ParseMover(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  return Query(PolygonalQuery{*std::move(shape)});
}

// Contacts are between convex shapes: here the shape as it is given, so that a refusal does not
// depend on the scene.
absl::StatusOr<Content> ParseContact(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  if (shape->ring_count() != 1 || !IsConvex(shape->ring(0))) {
    return InvalidField("rings", "must be one convex ring");
  }
  return Query(ContactQuery{*std::move(shape)});
}

// {"op":"polygon_cast","rings":[…],"d":[x,y]}
absl::StatusOr<Content> ParsePolygonCast(const json& line) {
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  return Query(SweepQuery{*std::move(shape), *d});
}

// {"op":"circle_cast","c":[x,y],"r":number,"d":[x,y]}
absl::StatusOr<Content> ParseCircleCast(const json& line) {
  const absl::StatusOr<Circle> circle = ReadCircle(line);
  if (!circle.ok()) return circle.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  absl::StatusOr<Shape> shape = Shape::Create({{circle->center, circle->center}, circle->radius});
  if (!shape.ok()) return shape.status();
  return Query(SweepQuery{*std::move(shape), *d});
}

// The member `tracker`: the name of a tracker.
absl::StatusOr<uint64_t> ReadTracker(const json& line) {
  const auto member = line.find("tracker");
  if (member == line.end()) return InvalidField("tracker", "required");
  if (!member->is_number_unsigned())
    return InvalidField("tracker", "must be an integer in [0, 2^64)");
  return member->get<uint64_t>();
}

// {"op":"track","tracker":name,"rings":[…]}
absl::StatusOr<Content> ParseTrack(const json& line) {
  const absl::StatusOr<uint64_t> tracker = ReadTracker(line);
  if (!tracker.ok()) return tracker.status();
  absl::StatusOr<Polygon> shape = ReadShape(line);
  if (!shape.ok()) return shape.status();
  return TrackLine{*tracker, *std::move(shape)};
}

// The number `name`, or `absent`.
absl::StatusOr<double> Number(const json& line, const char* name, std::optional<double> absent) {
  const auto member = line.find(name);
  if (member == line.end() && absent) return *absent;
  if (member == line.end()) return InvalidField(name, "required");
  const std::optional<double> number = ReadNumber(*member);
  if (!number) return InvalidField(name, kNumberRange);
  return *number;
}

// {"op":"move","tracker":name,"x":number,"y":number,"c":number,"s":number}
absl::StatusOr<Content> ParseMove(const json& line) {
  const absl::StatusOr<uint64_t> tracker = ReadTracker(line);
  if (!tracker.ok()) return tracker.status();
  NamedMove move{*tracker, {}};
  // A rotation is given by both or none.
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

// `numbers` as an array of accepted numbers, whose length one of `sizes` is.
absl::StatusOr<std::vector<double>> Numbers(const json& value, const std::string& name,
                                            std::initializer_list<size_t> sizes) {
  const bool fits = value.is_array() && std::ranges::find(sizes, value.size()) != sizes.end();
  if (!fits) return InvalidField(name, "must be an array of as many numbers as it has names");
  std::vector<double> numbers;
  for (size_t i = 0; i < value.size(); ++i) {
    const std::optional<double> number = ReadNumber(value[i]);
    if (!number) return InvalidField(absl::StrCat(name, "[", i, "]"), kNumberRange);
    numbers.push_back(*number);
  }
  return numbers;
}

// The member `shape`: {"circle":r}, {"capsule":[ax,ay,bx,by,r]}, or {"rings":…} with what a polygon
// has beside them.
absl::StatusOr<Shape> ReadAnyShape(const json& line) {
  const auto member = line.find("shape");
  if (member == line.end()) return InvalidField("shape", "required");
  if (!member->is_object()) return InvalidField("shape", "must be an object");
  Capsule capsule;
  if (const auto circle = member->find("circle"); circle != member->end()) {
    const std::optional<double> radius = ReadNumber(*circle);
    if (!radius) return InvalidField("shape.circle", kNumberRange);
    capsule.radius = *radius;
  } else if (const auto five = member->find("capsule"); five != member->end()) {
    const auto numbers = Numbers(*five, "shape.capsule", {5});
    if (!numbers.ok()) return numbers.status();
    const std::vector<double>& n = *numbers;
    capsule = {{{n[0], n[1]}, {n[2], n[3]}}, n[4]};
  } else {
    absl::StatusOr<Polygon> polygon = ReadShape(*member);
    if (!polygon.ok()) return Prefixed(polygon.status(), "shape");
    return Shape(*std::move(polygon));
  }
  absl::StatusOr<Shape> shape = Shape::Create(capsule);
  if (!shape.ok()) return InvalidField("shape", "must have a radius in [0, 2^53]");
  return shape;
}

// The member `at`: [x,y] or [x,y,c,s].
absl::StatusOr<Pose> ReadPose(const json& line) {
  const auto member = line.find("at");
  if (member == line.end()) return InvalidField("at", "required");
  const auto numbers = Numbers(*member, "at", {2, 4});
  if (!numbers.ok()) return numbers.status();
  Pose pose{{(*numbers)[0], (*numbers)[1]}};
  if (numbers->size() == 4) pose.c = (*numbers)[2], pose.s = (*numbers)[3];
  return pose;
}

// The member `inside`, or `absent`.
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

// The member `name`, an integer in [1, most], or `absent`.
absl::StatusOr<uint32_t> ReadCount(const json& line, const char* name, uint32_t absent,
                                   uint32_t most) {
  const auto member = line.find(name);
  if (member == line.end()) return absent;
  const bool fits = member->is_number_unsigned() && member->get<uint64_t>() >= 1 &&
                    member->get<uint64_t>() <= most;
  if (!fits) return InvalidField(name, absl::StrCat("must be an integer in [1, ", most, "]"));
  return member->get<uint32_t>();
}

// {"op":"sweep","shape":SHAPE,"at":[x,y,c,s],"d":[x,y],"inside":"report","skin":number}, the last
// two optional
absl::StatusOr<Content> ParseSweep(const json& line) {
  absl::StatusOr<Shape> shape = ReadAnyShape(line);
  if (!shape.ok()) return shape.status();
  const absl::StatusOr<Pose> pose = ReadPose(line);
  if (!pose.ok()) return pose.status();
  const absl::StatusOr<Vec2> d = Point(line, "d");
  if (!d.ok()) return d.status();
  const auto inside = ReadSweepPolicy(line, InsidePolicy::kReportStart);
  if (!inside.ok()) return inside.status();
  if (line.contains("skin") && !IsBlocking(*inside)) {
    return InvalidField("skin", "must be absent where inside is not a blocking policy");
  }
  const absl::StatusOr<double> skin = Number(line, "skin", 0);
  if (!skin.ok()) return skin.status();
  return Query(PosedSweepQuery{*std::move(shape), *pose, *d, *inside, *skin});
}

// {"op":"slide","shape":SHAPE,"at":[x,y,c,s],"d":[[x,y],…],"max_contacts":n,
// "inside":"blocking_leave","skin":number}, the last three optional
absl::StatusOr<Content> ParseSlide(const json& line) {
  absl::StatusOr<Shape> shape = ReadAnyShape(line);
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

// {"op":"bounce","a":[x,y],"b":[x,y],"max_bounces":n}, the last one optional
absl::StatusOr<Content> ParseBounce(const json& line) {
  const absl::StatusOr<Vec2> a = Point(line, "a");
  if (!a.ok()) return a.status();
  const absl::StatusOr<Vec2> b = Point(line, "b");
  if (!b.ok()) return b.status();
  const auto bounces = ReadCount(line, "max_bounces", BounceOptions().max_bounces, kMaxBounces);
  if (!bounces.ok()) return bounces.status();
  return Query(BounceQuery{{*a, *b}, *bounces});
}

struct Operation {
  std::string_view name;
  absl::StatusOr<Content> (*parse)(const json& line);
};

constexpr Operation kOperations[] = {
    {"scene", ParseScene},
    {"load", ParseLoad},
    {"point", ParsePoint},
    {"segment", ParseSegment},
    {"circle", ParseCircle},
    {"polygon", ParseMover<PolygonQuery>},
    {"distance", ParseMover<DistanceQuery>},
    {"polygon_cast", ParsePolygonCast},
    {"circle_cast", ParseCircleCast},
    {"contact", ParseContact},
    {"sweep", ParseSweep},
    {"slide", ParseSlide},
    {"bounce", ParseBounce},
    {"track", ParseTrack},
    {"move", ParseMove},
};

absl::StatusOr<Content> ParseContent(const json& line) {
  const absl::StatusOr<std::string> op = Word(line, "op");
  if (!op.ok()) return op.status();
  const auto* operation =
      std::find_if(std::begin(kOperations), std::end(kOperations),
                   [&](const Operation& candidate) { return candidate.name == *op; });
  if (operation == std::end(kOperations)) return InvalidField("op", "unknown operation");
  return operation->parse(line);
}

}  // namespace

size_t VertexCount(const Query& query) {
  struct Counter {
    size_t operator()(const DistanceQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const SweepQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const ContactQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const PolygonQuery& q) const { return q.shape.vertex_count(); }
    size_t operator()(const PointQuery&) const { return 1; }
    size_t operator()(const MoveQuery&) const { return 1; }
    size_t operator()(const CircleQuery&) const { return 1; }
    size_t operator()(const SegmentQuery&) const { return 2; }
    size_t operator()(const BounceQuery&) const { return 2; }
    size_t operator()(const PosedSweepQuery& q) const { return 2 * q.shape.vertex_count(); }
    size_t operator()(const SlideQuery& q) const { return q.shape.vertex_count(); }
  };
  return std::visit(Counter(), query);
}

std::optional<Line> ParseLine(std::string_view text) {
  const std::optional<JsonDocument> document = ParseJson(text);
  if (!document) return std::nullopt;
  const json& value = document->value;
  if (!value.is_object()) return Line{"", InvalidField("", "must be a JSON object")};
  if (IsTooDeep(text)) {
    return Line{"", InvalidField("", absl::StrCat("must be nested at most ", kMaxDepth, " deep"))};
  }
  Line line{"", ParseContent(value)};
  // `q` is copied to the answer, so it must be printable: no number that overflows, no depth that
  // would need more stack than there is (checked above).
  const auto q = value.find("q");
  if (q != value.end() && !(document->has_overflow && OverflowPath(*q))) line.q = q->dump();
  if (document->has_overflow && line.content.ok()) {
    // The number is in a member that the operation does not read; it is refused all the same.
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
