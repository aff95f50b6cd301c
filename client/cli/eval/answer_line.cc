// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/eval/answer_line.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

// Writes the text of one JSON object, member by member. If `q` is not empty, the first member is
// "q" with the JSON text `q`. A row of `Rows` is a polygon, or a body: a placed shape besides the
// scene.
class Writer {
 public:
  explicit Writer(std::string_view q) : text_("{") {
    if (!q.empty()) Key("q") += q;
  }

  // Begins the member `name` and returns the text to which the caller appends the member's value.
  std::string& Key(std::string_view name) {
    Separate();
    text_ += '"';
    text_ += name;
    text_ += "\":";
    return text_;
  }
  template <typename Number>
  void Member(std::string_view name, Number number) {
    AppendNumber(number, Key(name));
  }
  void Member(std::string_view name, bool value) { Key(name) += value ? "true" : "false"; }
  void Member(std::string_view name, std::string_view text) { AppendString(text, Key(name)); }

  // Writes the array member `name`. For each i in [0, size) for which keep(i) is true, entry(i,
  // text) appends an entry of the array to `text`.
  template <typename Entry, typename Keep>
  void Array(std::string_view name, size_t size, Entry entry, Keep keep) {
    Key(name) += '[';
    for (size_t i = 0; i < size; ++i) {
      if (!keep(i)) continue;
      Separate();
      entry(i, text_);
    }
    text_ += ']';
  }
  // Writes the array member `name` with the ids of the polygons of `rows`. Omits bodies, and each
  // row i for which keep(i) is false.
  template <typename Keep>
  void Ids(std::string_view name, const Rows& rows, Keep keep) {
    Array(
        name, rows.polygon_ids.size(),
        [&](size_t i, std::string& out) { AppendNumber(rows.polygon_ids[i], out); },
        [&](size_t i) { return !rows.names_body(i) && keep(i); });
  }
  void Ids(std::string_view name, const Rows& rows) {
    Ids(name, rows, [](size_t) { return true; });
  }
  // Writes the member "bodies" with all bodies of `rows`, if the query considers bodies.
  void Bodies(const Rows& rows) {
    if (!rows.includes_bodies) return;
    Array(
        "bodies", rows.polygon_ids.size(),
        [&](size_t i, std::string& out) { AppendNumber(rows.polygon_ids[i], out); },
        [&](size_t i) { return rows.names_body(i); });
  }

  // Closes the object and returns its text.
  std::string Finished() {
    text_ += '}';
    return std::move(text_);
  }

 private:
  // Appends a comma, unless the text ends with the brace or bracket that opens an object or array.
  void Separate() {
    if (text_.back() != '{' && text_.back() != '[') text_ += ',';
  }

  std::string text_;
};

// Writes the polygons that have a point in their interior as the member named `in`, the polygons
// that have the point on their boundary as the member named `on`, and the bodies that contain the
// point as the member "bodies".
void WriteHolders(Writer& writer, const char* in, const char* on, const Holders& holders) {
  writer.Ids(in, holders.rows, [&](size_t i) { return holders.locations[i] == Location::kInside; });
  writer.Ids(on, holders.rows,
             [&](size_t i) { return holders.locations[i] == Location::kBoundary; });
  writer.Bodies(holders.rows);
}

void AppendPoint(Vec2 p, std::string& out) {
  out += '[';
  AppendNumber(p.x, out);
  out += ',';
  AppendNumber(p.y, out);
  out += ']';
}

// Writes the member "edge": [polygon id, ring, edge] with null as the id for an edge of a body.
template <typename Row>
void WriteEdge(Writer& writer, const Row& row) {
  const std::string id = row.is_body ? "null" : absl::StrCat(row.polygon_id);
  absl::StrAppend(&writer.Key("edge"), "[", id, ",", row.edge.ring, ",", row.edge.edge, "]");
}

// Writes the member "poly" or "body" with the polygon or body that is hit, and the member "edge",
// which is null if `has_edge` is false.
template <typename Hit>
void WriteTarget(Writer& writer, const Hit& hit, bool has_edge) {
  writer.Member(hit.is_body ? "body" : "poly", hit.polygon_id);
  if (has_edge) {
    WriteEdge(writer, hit);
  } else {
    writer.Key("edge") += "null";
  }
}

// Writes whether a leg (one straight part) of a bouncing path hits a polygon, and the hit.
void WriteLegHit(Writer& leg, bool has_hit, const CastHit& hit) {
  leg.Member("hit", has_hit);
  if (!has_hit) return;
  leg.Member("t", hit.fraction);
  leg.Member("poly", hit.polygon_id);
  AppendPoint(hit.normal, leg.Key("normal"));
}

// Writes the members of a segment's answer that describe its first hit.
void WriteFirst(Writer& writer, const CastHit& hit) {
  writer.Member("t", hit.fraction);
  WriteTarget(writer, hit, hit.feature != Feature::kNone);
  AppendPoint(hit.normal, writer.Key("normal"));
  writer.Member("exit_t", hit.exit_fraction);
}

// Writes the members of a segment's answer: those of its first hit, if there is one, of what
// contains its start, and of all hits.
void WriteSegment(Writer& writer, std::span<const CastHit> first, std::span<const CastHit> hits,
                  const Holders& holders) {
  writer.Member("hit", !first.empty());
  if (!first.empty()) WriteFirst(writer, first.front());
  WriteHolders(writer, "start_in", "start_on", holders);
  writer.Array(
      "all", hits.size(),
      [&](size_t i, std::string& out) {
        // The entry of a hit body is [null,t,index].
        const std::string id = absl::StrCat(hits[i].polygon_id);
        absl::StrAppend(&out, "[", hits[i].is_body ? "null" : id, ",");
        AppendNumber(hits[i].fraction, out);
        if (hits[i].is_body) absl::StrAppend(&out, ",", id);
        out += ']';
      },
      [](size_t) { return true; });
}

// Returns the path, in the JSON line of a query, of the value from which the query's entry in the
// column `column` was made. `point` is the name of the member with the point [x, y], or "" if the
// line has members "x" and "y".
std::string Field(ItemColumn column, std::string_view point) {
  if (point.empty() && column == ItemColumn::kX) return "x";
  if (point.empty() && column == ItemColumn::kY) return "y";
  const std::string word(point);
  switch (column) {
    case ItemColumn::kAx:
      return "a[0]";
    case ItemColumn::kAy:
      return "a[1]";
    case ItemColumn::kBx:
      return "b[0]";
    case ItemColumn::kBy:
      return "b[1]";
    case ItemColumn::kX:
      return word + "[0]";
    case ItemColumn::kY:
      return word + "[1]";
    case ItemColumn::kRadius:
      return "r";
    case ItemColumn::kTracker:
      return "tracker";
    case ItemColumn::kC:
      return "c";
    case ItemColumn::kToX:
    case ItemColumn::kDx:
      return "d[0]";
    case ItemColumn::kToY:
    case ItemColumn::kDy:
      return "d[1]";
    case ItemColumn::kTMax:
      return "t_max";
    case ItemColumn::kRange:
      return "r";
    case ItemColumn::kFrom:
      return "cone[0]";
    case ItemColumn::kTo:
      return "cone[1]";
    default:
      return "rings";
  }
}

}  // namespace

HitRows::HitRows(std::span<const SweepHit> hits, bool includes_bodies)
    : includes_bodies_(includes_bodies) {
  ids_.reserve(hits.size());
  is_body_.reserve(hits.size());
  for (const SweepHit& hit : hits) {
    ids_.push_back(hit.polygon_id);
    is_body_.push_back(hit.is_body ? 1 : 0);
  }
}

// The line has the form {"in":[ids],"on":[ids]}: the polygons that have the point in their
// interior, and those that have it on their boundary.
std::string PointLine(std::string_view q, const Holders& holders) {
  Writer writer(q);
  WriteHolders(writer, "in", "on", holders);
  return writer.Finished();
}

// The line has the form {"hit":…,"t":…,"poly":…,…,"all":[[id,t],…]}. The members from "t" to
// "exit_t" describe the first hit; if the segment hits nothing, the line does not have them.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders) {
  Writer writer(q);
  WriteSegment(writer, hits, hits, holders);
  return writer.Finished();
}

// The line has the members of `SegmentLine`, with the hit that stops the segment in place of the
// first hit, and then "passed" and "soft_length".
std::string SoftSegmentLine(std::string_view q, const SoftEnd& end, std::span<const CastHit> all,
                            const Holders& holders) {
  Writer writer(q);
  WriteSegment(writer, end.hit, all, holders);
  writer.Member("passed", uint64_t{end.passed});
  writer.Member("soft_length", end.soft_length);
  return writer.Finished();
}

std::string SightLine(std::string_view q, bool is_visible) {
  Writer writer(q);
  writer.Member("visible", is_visible);
  return writer.Finished();
}

std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders) {
  Writer writer(q);
  writer.Member("hit", hit);
  WriteHolders(writer, "start_in", "start_on", holders);
  return writer.Finished();
}

// The line has the form {"ids":[…],"touch":[…]}; "touch" lists the polygons that the circle touches
// without overlapping them.
std::string CircleLine(std::string_view q, const Rows& rows, std::span<const uint8_t> touching) {
  Writer writer(q);
  writer.Ids("ids", rows);
  writer.Ids("touch", rows, [&](size_t i) { return touching[i] != 0; });
  writer.Bodies(rows);
  return writer.Finished();
}

std::string PolygonLine(std::string_view q, const Rows& rows) {
  Writer writer(q);
  writer.Ids("ids", rows);
  writer.Bodies(rows);
  return writer.Finished();
}

// Lists all polygons and bodies at the least distance from the query's shape, and this distance as
// "d". "d" is null if the query considers no polygon and no body.
std::string DistanceLine(std::string_view q, const Rows& rows,
                         std::span<const DistanceRow> distances) {
  Writer writer(q);
  if (distances.empty()) {
    writer.Key("d") += "null";
  } else {
    writer.Member("d", distances.front().distance);
  }
  writer.Ids("ids", rows);
  writer.Bodies(rows);
  return writer.Finished();
}

// The line has the form {"nearest":[[id,d],…]}; the entry of a body is [null,d,index].
std::string NearestLine(std::string_view q, const Rows& rows,
                        std::span<const DistanceRow> distances) {
  Writer writer(q);
  writer.Array(
      "nearest", distances.size(),
      [&](size_t i, std::string& out) {
        const std::string id = absl::StrCat(rows.polygon_ids[i]);
        absl::StrAppend(&out, "[", rows.names_body(i) ? "null" : id, ",");
        AppendNumber(distances[i].distance, out);
        if (rows.names_body(i)) absl::StrAppend(&out, ",", id);
        out += ']';
      },
      [](size_t) { return true; });
  return writer.Finished();
}

// Lists the first hit and the hits at an equal fraction of the displacement. In `hits` these tied
// hits, whose member `ties` is true, follow the first hit: polygons by id, then bodies.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits, bool includes_bodies) {
  Writer writer(q);
  writer.Member("hit", !hits.empty());
  if (hits.empty()) return writer.Finished();
  writer.Member("t", hits.front().fraction);
  size_t tied = 1;
  while (tied < hits.size() && hits[tied].ties) ++tied;
  const HitRows touched(hits.first(tied), includes_bodies);
  writer.Ids("polys", touched.rows());
  writer.Bodies(touched.rows());
  return writer.Finished();
}

// The line has the form {"hit":…,"t":…,"poly":…,"edge":…,"normal":…,"start_in":[ids],"safe":[x,y]}.
// If nothing is hit, it has only "hit", "start_in" and "safe". "safe" is omitted if `safe` is null.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits, const Rows& start_in,
                           const Vec2* safe) {
  Writer writer(q);
  writer.Member("hit", !hits.empty());
  if (!hits.empty()) {
    const SweepHit& hit = hits.front();
    writer.Member("t", hit.fraction);
    WriteTarget(writer, hit, hit.has_edge);
    AppendPoint(hit.normal, writer.Key("normal"));
  }
  writer.Ids("start_in", start_in);
  writer.Bodies(start_in);
  if (safe != nullptr) AppendPoint(*safe, writer.Key("safe"));
  return writer.Finished();
}

// The answer lists the legs (straight parts) of the slide. A leg without a hit has "t" 1, "poly"
// null and a zero normal.
std::string SlideLine(std::string_view q, const SlideRow& row, std::span<const SlideLeg> legs) {
  Writer writer(q);
  AppendPoint(row.position, writer.Key("at"));
  writer.Array(
      "legs", legs.size(),
      [&](size_t i, std::string& out) {
        const SlideLeg& leg = legs[i];
        Writer member("");
        AppendPoint(leg.from, member.Key("from"));
        AppendPoint(leg.d, member.Key("d"));
        member.Member("t", leg.has_hit ? leg.hit.fraction : 1.0);
        if (leg.has_hit) {
          member.Member(leg.hit.is_body ? "body" : "poly", leg.hit.polygon_id);
        } else {
          member.Key("poly") += "null";
        }
        AppendPoint(leg.hit.normal, member.Key("normal"));
        out += member.Finished();
      },
      [](size_t) { return true; });
  AppendPoint(row.left, writer.Key("left"));
  return writer.Finished();
}

std::string BounceLine(std::string_view q, std::span<const BounceLeg> legs, bool is_stuck) {
  Writer writer(q);
  writer.Array(
      "legs", legs.size(),
      [&](size_t i, std::string& out) {
        const BounceLeg& leg = legs[i];
        Writer member("");
        AppendPoint(leg.a, member.Key("a"));
        AppendPoint(leg.b, member.Key("b"));
        WriteLegHit(member, leg.has_hit, leg.hit);
        out += member.Finished();
      },
      [](size_t) { return true; });
  writer.Member("stuck", is_stuck);
  return writer.Finished();
}

// Each leg of the answer is one straight part of the bouncing path: the points p + t * d for t in
// [0, "t_max"], with the members "p" and "d" of the leg. "t_max" is null for a leg without an end.
std::string RayBounceLine(std::string_view q, std::span<const RayBounceLeg> legs, bool is_stuck) {
  Writer writer(q);
  writer.Array(
      "legs", legs.size(),
      [&](size_t i, std::string& out) {
        const RayBounceLeg& leg = legs[i];
        Writer member("");
        AppendPoint(leg.origin, member.Key("p"));
        AppendPoint(leg.direction, member.Key("d"));
        if (std::isfinite(leg.t_max)) {
          member.Member("t_max", leg.t_max);
        } else {
          member.Key("t_max") += "null";
        }
        WriteLegHit(member, leg.has_hit, leg.hit);
        out += member.Finished();
      },
      [](size_t) { return true; });
  writer.Member("stuck", is_stuck);
  return writer.Finished();
}

// Names the edge of a piece [polygon id, ring, edge], with null as the id for an edge of a body,
// whose index is the member "body" then.
std::string AreaLine(std::string_view q, std::span<const AreaPiece> pieces, double area,
                     bool starts_inside) {
  Writer writer(q);
  writer.Array(
      "pieces", pieces.size(),
      [&](size_t i, std::string& out) {
        const AreaPiece& piece = pieces[i];
        Writer member("");
        AppendPoint(piece.start, member.Key("at"));
        if (piece.kind == AreaPieceKind::kEdge) {
          WriteEdge(member, piece);
          if (piece.is_body) member.Member("body", piece.polygon_id);
        } else {
          member.Member(piece.kind == AreaPieceKind::kArc ? "arc" : "sight", true);
        }
        out += member.Finished();
      },
      [](size_t) { return true; });
  writer.Member("area", area);
  writer.Member("starts_inside", starts_inside);
  return writer.Finished();
}

std::string SeesLine(std::string_view q, const SeeAnswers& answers) {
  std::vector<size_t> seen;
  for (size_t body = 0; body < answers.words() * 64; ++body) {
    if (answers.Sees(0, body)) seen.push_back(body);
  }
  Writer writer(q);
  writer.Array(
      "seen", seen.size(), [&](size_t i, std::string& out) { absl::StrAppend(&out, seen[i]); },
      [](size_t) { return true; });
  writer.Member("starts_inside", answers.starts_inside[0] != 0);
  return writer.Finished();
}

// Omits contacts whose kind is not kConvex, that is, contacts with a polygon or body that is not
// convex.
std::string ContactLine(std::string_view q, const Rows& rows, std::span<const Contact> contacts) {
  Writer writer(q);
  writer.Array(
      "contacts", contacts.size(),
      [&](size_t i, std::string& out) {
        const std::string id = absl::StrCat(rows.polygon_ids[i]);
        absl::StrAppend(&out, "[", rows.names_body(i) ? "null" : id);
        for (const double number :
             {contacts[i].normal.x, contacts[i].normal.y, contacts[i].depth}) {
          out += ',';
          AppendNumber(number, out);
        }
        if (rows.names_body(i)) absl::StrAppend(&out, ",", id);
        out += ']';
      },
      [&](size_t i) { return contacts[i].kind == ContactKind::kConvex; });
  return writer.Finished();
}

// Writes each touched edge as [polygon id, ring, edge]. A polygon in `polygon_ids` has no touched
// edges if the shape is in its interior.
std::string MoveLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                     std::span<const uint32_t> edge_counts, std::span<const EdgeRef> edges) {
  Writer writer(q);
  writer.Ids("ids", Rows{polygon_ids});
  size_t polygon = 0;
  size_t last = 0;  // number of touched edges of the polygons before polygon_ids[polygon]
  writer.Array(
      "edges", edges.size(),
      [&](size_t i, std::string& out) {
        while (i >= last + edge_counts[polygon]) last += edge_counts[polygon++];
        absl::StrAppend(&out, "[", polygon_ids[polygon], ",", edges[i].ring, ",", edges[i].edge,
                        "]");
      },
      [](size_t) { return true; });
  return writer.Finished();
}

// The member "field" is empty for a status without violations (refused fields), such as
// UNAVAILABLE.
std::string ErrorLine(std::string_view q, const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  Writer error("");
  error.Member("code", std::string_view(absl::StatusCodeToString(status.code())));
  error.Member("field", std::string_view(violations.empty() ? "" : violations.front().field));
  error.Member("message", std::string_view(violations.empty() ? std::string(status.message())
                                                              : violations.front().description));
  Writer writer(q);
  writer.Key("error") += error.Finished();
  return writer.Finished();
}

// Returns the error of a query as of a moment that is not kept.
static absl::Status NotKept(const ItemError& error) {
  return Refused(absl::StatusCode::kOutOfRange, "as_of", Description(error.fault));
}

// Translates the faulty column of `error` to the member of the JSON line that the user wrote.
absl::Status MotionStatus(const ItemError& error) {
  if (error.fault == ItemFault::kNotKept) return NotKept(error);
  const auto field = [&] {
    switch (error.column) {
      case ItemColumn::kX:
        return "at[0]";
      case ItemColumn::kY:
        return "at[1]";
      case ItemColumn::kC:
        return "at[2]";
      case ItemColumn::kSkin:
        return "skin";
      case ItemColumn::kDx:
      case ItemColumn::kDy:
        return "d";
      default:
        return "shape";
    }
  };
  return InvalidField(field(), Description(error.fault));
}

absl::Status NearestStatus(const ItemError& error) {
  const bool is_bound = error.column == ItemColumn::kMaxDistance;
  return InvalidField(is_bound ? "max_distance" : "rings", Description(error.fault));
}

absl::Status ItemStatus(const ItemError& error, std::string_view columns) {
  if (error.fault == ItemFault::kNotKept) return NotKept(error);
  return InvalidField(Field(error.column, columns), Description(error.fault));
}

}  // namespace carom::cli
