// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/jsonl.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <stdexcept>

#include "tests/support/process.h"

namespace carom::testing {
namespace {

// Returns the parts in one piece.
std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (std::string_view part : parts) text += part;
  return text;
}

std::string PointText(Xy point) {
  return Joined({"[", NumberText(point.x), ",", NumberText(point.y), "]"});
}

std::string RingsText(const std::vector<OracleRing>& rings) {
  std::string text = "[";
  for (const OracleRing& ring : rings) {
    text += text.size() > 1 ? ",[" : "[";
    for (std::size_t i = 0; i < ring.points.size(); ++i) {
      if (i > 0) text += ",";
      text += PointText(ring.points[i]);
    }
    text += "]";
  }
  text += "]";
  return text;
}

std::string FillText(OracleFill fill) {
  return fill == OracleFill::kEvenOdd ? "\"evenodd\"" : "\"nonzero\"";
}

const char* InsideText(OracleInside inside) {
  switch (inside) {
    case OracleInside::kReportStart:
      return "report";
    case OracleInside::kIgnore:
      return "ignore";
    case OracleInside::kExit:
      return "exit";
  }
  return "";
}

std::string Quoted(std::string_view text) { return Json(std::string(text)).dump(); }

Xy PointOf(const Json& point) { return {point.at(0).get<double>(), point.at(1).get<double>()}; }

std::vector<OracleRing> RingsOf(const Json& rings) {
  std::vector<OracleRing> result;
  for (const Json& ring : rings) {
    result.emplace_back();
    for (const Json& point : ring) result.back().points.push_back(PointOf(point));
  }
  return result;
}

OracleFill FillOf(const Json& object) {
  return object.value("fill", "evenodd") == "nonzero" ? OracleFill::kNonZero : OracleFill::kEvenOdd;
}

OracleInside InsideOf(const Json& line) {
  const std::string inside = line.value("inside", "report");
  if (inside == "ignore") return OracleInside::kIgnore;
  return inside == "exit" ? OracleInside::kExit : OracleInside::kReportStart;
}

std::string OpText(const Query& query) {
  switch (query.op) {
    case QueryOp::kPoint:
      return Joined({"\"point\",\"p\":", PointText(query.a)});
    case QueryOp::kSegment:
      return Joined({"\"segment\",\"a\":", PointText(query.a), ",\"b\":", PointText(query.b),
                     ",\"inside\":\"", InsideText(query.inside), "\""});
    case QueryOp::kCircle:
      return Joined({"\"circle\",\"c\":", PointText(query.a), ",\"r\":", NumberText(query.radius)});
    case QueryOp::kPolygon:
      return Joined({"\"polygon\",\"rings\":", RingsText(query.shape.rings),
                     ",\"fill\":", FillText(query.shape.fill)});
  }
  return "";
}

std::string ReadText(const std::string& path) {
  if (path.ends_with(".xz")) {
    const ProcessResult result = RunProcess({"xz", "-dc", path}, "", 60.0);
    if (result.exit_code != 0)
      throw std::runtime_error("xz cannot unpack " + path + ": " + result.standard_error);
    return result.standard_output;
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

std::string NumberText(double value) {
  if (value == 0.0 && std::signbit(value))
    return "-0.0";  // "-0" reads as an integer in some parsers
  char buffer[32];
  const std::to_chars_result result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, result.ptr);
}

std::string SceneLine(const std::vector<OraclePolygon>& polygons) {
  std::string text = "{\"op\":\"scene\",\"polygons\":[";
  for (std::size_t i = 0; i < polygons.size(); ++i) {
    text += Joined({i > 0 ? "," : "", "{\"id\":", std::to_string(polygons[i].id), ",\"fill\":",
                    FillText(polygons[i].fill), ",\"rings\":", RingsText(polygons[i].rings), "}"});
  }
  text += "]}";
  return text;
}

std::string LoadLine(std::string_view file, std::string_view id) {
  return Joined({"{\"op\":\"load\",\"file\":", Quoted(file), ",\"id\":", Quoted(id), "}"});
}

std::string QueryLine(const Query& query) {
  const std::string name = query.name.empty() ? "" : Joined({",\"q\":", Quoted(query.name)});
  return Joined({"{\"op\":", OpText(query), name, "}"});
}

std::optional<Query> QueryOf(const Json& line) {
  const std::string op = line.value("op", "");
  Query query;
  query.name = line.value("q", "");
  if (op == "point") {
    query.a = PointOf(line.at("p"));
  } else if (op == "segment") {
    query.op = QueryOp::kSegment;
    query.a = PointOf(line.at("a"));
    query.b = PointOf(line.at("b"));
    query.inside = InsideOf(line);
  } else if (op == "circle") {
    query.op = QueryOp::kCircle;
    query.a = PointOf(line.at("c"));
    query.radius = line.at("r").get<double>();
  } else if (op == "polygon") {
    query.op = QueryOp::kPolygon;
    query.shape.fill = FillOf(line);
    query.shape.rings = RingsOf(line.at("rings"));
  } else {
    return std::nullopt;
  }
  return query;
}

std::vector<OraclePolygon> PolygonsOf(const Json& polygons) {
  std::vector<OraclePolygon> result;
  for (const Json& polygon : polygons) {
    OraclePolygon read;
    read.id = polygon.at("id").get<std::uint64_t>();
    read.fill = FillOf(polygon);
    read.rings = RingsOf(polygon.at("rings"));
    result.push_back(std::move(read));
  }
  return result;
}

std::vector<SceneEntry> ReadScenes(const std::string& path) {
  std::vector<SceneEntry> scenes;
  for (const std::string& line : ReadLines(path)) {
    const Json json = Json::parse(line);
    SceneEntry entry{json.at("id").get<std::string>(), PolygonsOf(json.at("polygons"))};
    for (const OraclePolygon& polygon : entry.polygons) {
      for (const OracleRing& ring : polygon.rings) entry.vertex_count += ring.points.size();
    }
    scenes.push_back(std::move(entry));
  }
  return scenes;
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::istringstream text(ReadText(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

}  // namespace carom::testing
