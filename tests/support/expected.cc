// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/expected.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace carom::testing {
namespace {

// Returns the digits of a number's text without sign, point, exponent, and zeros at either end.
std::string SignificantDigits(const std::string& number) {
  std::string digits;
  for (char letter : number) {
    if (letter == 'e' || letter == 'E') break;
    if (letter >= '0' && letter <= '9') digits += letter;
  }
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return "";
  return digits.substr(first, digits.find_last_not_of('0') - first + 1);
}

// Ids are integers of 64 bits, for which a double's shortest text means nothing.
bool IsInteger(const std::string& number) {
  return number.find_first_not_of("0123456789") == std::string::npos;
}

bool SameDouble(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Compares by kind: integers of the expectation as integers, doubles bit by bit.
bool Same(const Json& want, const Json& got) {
  if (want.is_number_float())
    return got.is_number() && SameDouble(want.get<double>(), got.get<double>());
  if (want.is_number())
    return got.is_number_unsigned() && want.get<std::uint64_t>() == got.get<std::uint64_t>();
  if (!want.is_array()) return want == got;
  if (!got.is_array() || want.size() != got.size()) return false;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!Same(want[i], got[i])) return false;
  }
  return true;
}

bool SameNormal(const RationalXy& want, const Json& got) {
  if (!got.is_array() || got.size() != 2 || !got[0].is_number() || !got[1].is_number())
    return false;
  return IsUnitVectorWithin({got[0].get<double>(), got[1].get<double>()}, want, kNormalUlps);
}

// For people only; the verdict on normals is exact.
Json RoundedNormal(const RationalXy& normal) {
  const double x = NearestDouble(normal.x), y = NearestDouble(normal.y);
  const double length = std::hypot(x, y);
  return length > 0.0 ? Json::array({x / length + 0.0, y / length + 0.0}) : Json::array({0.0, 0.0});
}

Json EdgeJson(const std::optional<OracleEdge>& edge) {
  return edge ? Json::array({edge->polygon, edge->ring, edge->edge}) : Json(nullptr);
}

Expectation ExpectedSegment(const Oracle& oracle, const Query& query) {
  OracleCastOptions options;
  options.mode = OracleMode::kAll;
  options.inside = query.inside;
  const OracleCastAnswer answer = oracle.Cast(Segment(query.a, query.b), options);
  const OraclePointAnswer start = oracle.Point(query.a);
  Expectation result;
  Json& object = result.object;
  object = {{"hit", !answer.hits.empty()},
            {"start_in", start.in},
            {"start_on", start.on},
            {"all", Json::array()}};
  for (const OracleHit& hit : answer.hits) {
    object["all"].push_back(Json::array({hit.polygon, NearestDouble(hit.at.fraction)}));
  }
  if (answer.hits.empty()) return result;
  const OracleHit& first = answer.hits.front();
  object["t"] = NearestDouble(first.at.fraction);
  object["poly"] = first.polygon;
  object["edge"] = EdgeJson(first.at.edge);
  object["normal"] = RoundedNormal(first.at.normal);
  object["exit_t"] = NearestDouble(first.passage.exit.fraction);
  result.normal = first.at.normal;
  return result;
}

std::string Context(const std::string& input_line, const std::string& output_line,
                    const Expectation& expected) {
  return "\n  in   " + input_line + "\n  want " + expected.object.dump() + "\n  got  " +
         output_line;
}

}  // namespace

std::vector<std::string> BadNumbers(const std::string& line) {
  std::vector<std::string> bad;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (line[i] == '-' || (line[i] >= '0' && line[i] <= '9'))) {
      const std::size_t end = std::min(line.find_first_not_of("+-.0123456789eE", i), line.size());
      const std::string number = line.substr(i, end - i);
      const double value = std::strtod(number.c_str(), nullptr);
      if (value == 0.0 && number[0] == '-') bad.push_back("negative zero: " + number);
      if (!IsInteger(number) &&
          SignificantDigits(number).size() > SignificantDigits(NumberText(value)).size()) {
        bad.push_back("not the shortest text: " + number);
      }
      i = end - 1;
    }
  }
  return bad;
}

Expectation Referee::Expected(const Query& query) const {
  Expectation result;
  switch (query.op) {
    case QueryOp::kPoint: {
      const OraclePointAnswer answer = oracle_.Point(query.a);
      result.object = {{"in", answer.in}, {"on", answer.on}};
      break;
    }
    case QueryOp::kSegment:
      result = ExpectedSegment(oracle_, query);
      break;
    case QueryOp::kCircle: {
      const OracleOverlapAnswer answer = oracle_.Circle(query.a, query.radius);
      result.object = {{"ids", answer.ids}, {"touch", answer.touch}};
      break;
    }
    case QueryOp::kPolygon:
      result.object = {{"ids", oracle_.Overlap(query.shape).ids}};
      break;
  }
  if (!query.name.empty()) result.object["q"] = query.name;
  return result;
}

std::vector<std::string> Referee::Differences(const std::string& input_line,
                                              const std::string& output_line) const {
  const std::optional<Query> query = QueryOf(Json::parse(input_line));
  if (!query) return {"not a question the oracle knows: " + input_line};
  const Expectation expected = Expected(*query);
  const std::string context = Context(input_line, output_line, expected);
  const Json got = Json::parse(output_line, nullptr, false);
  if (!got.is_object()) return {"not a JSON object" + context};
  std::vector<std::string> differences = BadNumbers(output_line);
  for (const auto& [key, value] : got.items()) {
    if (!expected.object.contains(key)) differences.push_back("unexpected key \"" + key + "\"");
  }
  for (const auto& [key, value] : expected.object.items()) {
    const bool same = got.contains(key) && (key == "normal" ? SameNormal(expected.normal, got[key])
                                                            : Same(value, got[key]));
    if (!same) differences.push_back("wrong \"" + key + "\"");
  }
  for (std::string& difference : differences) difference += context;
  return differences;
}

}  // namespace carom::testing
