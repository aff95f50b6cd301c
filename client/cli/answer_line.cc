// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/answer_line.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

// Writes one JSON object, or the arrays in it, member by member.
class Writer {
 public:
  explicit Writer(std::string_view q) : text_("{") {
    if (!q.empty()) Key("q") += q;
  }

  // Members are appended to one text; the character before says whether a comma is due.
  // Begins the member `name`; its value is appended to the result.
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

  // An array whose entries `entry(i)` appends, for the i in [0, size) with `keep(i)`.
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
  template <typename Keep>
  void Ids(std::string_view name, std::span<const uint64_t> ids, Keep keep) {
    Array(
        name, ids.size(), [&](size_t i, std::string& out) { AppendNumber(ids[i], out); }, keep);
  }
  void Ids(std::string_view name, std::span<const uint64_t> ids) {
    Ids(name, ids, [](size_t) { return true; });
  }

  std::string Finished() {
    text_ += '}';
    return std::move(text_);
  }

 private:
  // A comma, unless the object or array has just been opened.
  void Separate() {
    if (text_.back() != '{' && text_.back() != '[') text_ += ',';
  }

  std::string text_;
};

// Ids of polygons that hold a point inside, and of those that have it on their boundary.
void WriteHolders(Writer& writer, const char* in, const char* on, const Holders& holders) {
  writer.Ids(in, holders.polygon_ids,
             [&](size_t i) { return holders.locations[i] == Location::kInside; });
  writer.Ids(on, holders.polygon_ids,
             [&](size_t i) { return holders.locations[i] == Location::kBoundary; });
}

void AppendPoint(Vec2 p, std::string& out) {
  out += '[';
  AppendNumber(p.x, out);
  out += ',';
  AppendNumber(p.y, out);
  out += ']';
}

// The members of the first hit.
void WriteFirst(Writer& writer, const CastHit& hit) {
  writer.Member("t", hit.fraction);
  writer.Member("poly", hit.polygon_id);
  std::string& edge = writer.Key("edge");
  if (hit.feature == Feature::kNone) {
    edge += "null";
  } else {
    absl::StrAppend(&edge, "[", hit.polygon_id, ",", hit.edge.ring, ",", hit.edge.edge, "]");
  }
  AppendPoint(hit.normal, writer.Key("normal"));
  writer.Member("exit_t", hit.exit_fraction);
}

// The line's word for a column; `point` is its word for the point (x, y), or empty where x and y
// are words of their own.
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
      return "d[0]";
    case ItemColumn::kToY:
      return "d[1]";
    default:
      return "rings";
  }
}

}  // namespace

// A point: {"in":[ids],"on":[ids]}.
std::string PointLine(std::string_view q, const Holders& holders) {
  Writer writer(q);
  WriteHolders(writer, "in", "on", holders);
  return writer.Finished();
}

// A segment: {"hit":…,"t":…,"poly":…,…,"all":[[id,t],…]}; the first hit's members if there is one.
std::string SegmentLine(std::string_view q, std::span<const CastHit> hits, const Holders& holders) {
  Writer writer(q);
  writer.Member("hit", !hits.empty());
  if (!hits.empty()) WriteFirst(writer, hits.front());
  WriteHolders(writer, "start_in", "start_on", holders);
  writer.Array(
      "all", hits.size(),
      [&](size_t i, std::string& out) {
        absl::StrAppend(&out, "[", hits[i].polygon_id, ",");
        AppendNumber(hits[i].fraction, out);
        out += ']';
      },
      [](size_t) { return true; });
  return writer.Finished();
}

std::string AnyHitLine(std::string_view q, bool hit, const Holders& holders) {
  Writer writer(q);
  writer.Member("hit", hit);
  WriteHolders(writer, "start_in", "start_on", holders);
  return writer.Finished();
}

// A circle: {"ids":[…],"touch":[…]}, the second those that are touched without overlap.
std::string CircleLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                       std::span<const uint8_t> touching) {
  Writer writer(q);
  writer.Ids("ids", polygon_ids);
  writer.Ids("touch", polygon_ids, [&](size_t i) { return touching[i] != 0; });
  return writer.Finished();
}

std::string PolygonLine(std::string_view q, std::span<const uint64_t> polygon_ids) {
  Writer writer(q);
  writer.Ids("ids", polygon_ids);
  return writer.Finished();
}

// All polygons at the least distance; in an empty scene there is none, and no distance.
std::string DistanceLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                         std::span<const DistanceRow> rows) {
  Writer writer(q);
  if (rows.empty()) {
    writer.Key("d") += "null";
  } else {
    writer.Member("d", rows.front().distance);
  }
  writer.Ids("ids", polygon_ids);
  return writer.Finished();
}

// The first touch, and every polygon that is touched at the same fraction: they come first, in the
// order of their ids, each of them but the first marked as a tie.
std::string SweepLine(std::string_view q, std::span<const SweepHit> hits) {
  Writer writer(q);
  writer.Member("hit", !hits.empty());
  if (hits.empty()) return writer.Finished();
  writer.Member("t", hits.front().fraction);
  size_t tied = 1;
  while (tied < hits.size() && hits[tied].ties) ++tied;
  writer.Array(
      "polys", tied, [&](size_t i, std::string& out) { AppendNumber(hits[i].polygon_id, out); },
      [](size_t) { return true; });
  return writer.Finished();
}

// {"hit":…,"t":…,"poly":…,"edge":…,"normal":…,"start_in":[ids],"safe":[x,y]}; of a miss only the
// first and the last two.
std::string PosedSweepLine(std::string_view q, std::span<const SweepHit> hits,
                           std::span<const uint64_t> start_in, const Vec2* safe) {
  Writer writer(q);
  writer.Member("hit", !hits.empty());
  if (!hits.empty()) {
    const SweepHit& hit = hits.front();
    writer.Member("t", hit.fraction);
    writer.Member("poly", hit.polygon_id);
    std::string& edge = writer.Key("edge");
    if (hit.has_edge) {
      absl::StrAppend(&edge, "[", hit.polygon_id, ",", hit.edge.ring, ",", hit.edge.edge, "]");
    } else {
      edge += "null";
    }
    AppendPoint(hit.normal, writer.Key("normal"));
  }
  writer.Ids("start_in", start_in);
  if (safe != nullptr) AppendPoint(*safe, writer.Key("safe"));
  return writer.Finished();
}

// A leg that nothing blocks has t 1 and a normal of 0.
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
          member.Member("poly", leg.hit.polygon_id);
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
        member.Member("hit", leg.has_hit);
        if (leg.has_hit) {
          member.Member("t", leg.hit.fraction);
          member.Member("poly", leg.hit.polygon_id);
          AppendPoint(leg.hit.normal, member.Key("normal"));
        }
        out += member.Finished();
      },
      [](size_t) { return true; });
  writer.Member("stuck", is_stuck);
  return writer.Finished();
}

// Concave pairs have contacts of other kinds, which a line does not print.
std::string ContactLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                        std::span<const Contact> contacts) {
  Writer writer(q);
  writer.Array(
      "contacts", contacts.size(),
      [&](size_t i, std::string& out) {
        absl::StrAppend(&out, "[", polygon_ids[i]);
        for (const double number :
             {contacts[i].normal.x, contacts[i].normal.y, contacts[i].depth}) {
          out += ',';
          AppendNumber(number, out);
        }
        out += ']';
      },
      [&](size_t i) { return contacts[i].kind == ContactKind::kConvex; });
  return writer.Finished();
}

// `edges` are those of all polygons in a row: edge i belongs to the polygon in whose counts it
// falls. A polygon may have none, where the shape is inside of it.
std::string MoveLine(std::string_view q, std::span<const uint64_t> polygon_ids,
                     std::span<const uint32_t> edge_counts, std::span<const EdgeRef> edges) {
  Writer writer(q);
  writer.Ids("ids", polygon_ids);
  size_t polygon = 0;
  size_t last = 0;  // edges of the polygons up to this one
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

// A status without violations, as of a server that is gone, has no field.
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

// `error` names a column of the wire; the user wrote a line.
absl::Status MotionStatus(const ItemError& error) {
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

absl::Status ItemStatus(const ItemError& error, std::string_view columns) {
  return InvalidField(Field(error.column, columns), Description(error.fault));
}

}  // namespace carom::cli
