// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// The oracle against the exact answers of the public pack, made by other programs: before the
// oracle judges anything it must agree with them. CAROM_PACK_STRIDE chooses every n-th question (5
// where unset).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/conformance/fixture.h"
#include "tests/support/jsonl.h"
#include "tests/support/oracle.h"

namespace carom::testing {
namespace {

class PackScenes {
 public:
  explicit PackScenes(std::string root) : root_(std::move(root)) {}

  // Returns the scene of a "scene" or "load" line, null for other lines.
  std::unique_ptr<Oracle> SceneOf(const Json& line) {
    if (line.at("op") == "scene") return std::make_unique<Oracle>(PolygonsOf(line.at("polygons")));
    if (line.at("op") != "load") return nullptr;
    const std::string file = line.at("file");
    if (!files_.contains(file)) files_[file] = ReadScenes(root_ + "/" + file);
    for (const SceneEntry& entry : files_[file]) {
      if (entry.id == line.at("id")) return std::make_unique<Oracle>(entry.polygons);
    }
    ADD_FAILURE() << "no such scene: " << line.dump();
    return nullptr;
  }

 private:
  std::string root_;
  std::map<std::string, std::vector<SceneEntry>> files_;
};

// The names of the fields in which the oracle and the pack differ.
class Fields {
 public:
  template <typename Got, typename Want>
  void Same(const char* field, const Got& got, const Want& want) {
    if (!(got == want)) text_ += std::string(text_.empty() ? "" : ", ") + field;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Rational RationalOf(const Json& numerator, const Json& denominator) {
  return Rational(numerator.get<std::string>()) / Rational(denominator.get<std::string>());
}

Json JsonOf(const OracleEdge& name) { return {name.polygon, name.ring, name.edge}; }

Json EdgesThrough(const Oracle& oracle, const RationalXy& point) {
  Json edges = Json::array();
  for (const OracleShape& shape : oracle.shapes()) {
    for (const OracleEdge& name : shape.EdgesThrough(point)) edges.push_back(JsonOf(name));
  }
  return edges;
}

// The pack also lists the zero-length edge of a ring that repeats its first point, which
// contract 2.1 drops.
Json ExistingEdges(const Oracle& oracle, const Json& listed) {
  Json edges = Json::array();
  for (const Json& row : listed) {
    for (const OracleShape& shape : oracle.shapes()) {
      for (const OracleShape::Edge& edge : shape.edges()) {
        if (shape.id() == row[0] && edge.name.ring == row[1] && edge.name.edge == row[2])
          edges.push_back(row);
      }
    }
  }
  return edges;
}

void CompareHit(const Oracle& oracle, const Query& query, const OracleCastAnswer& cast,
                const Json& want, Fields& fields) {
  const OracleHit& first = cast.hits.front();
  fields.Same("t", first.at.fraction, RationalOf(want["t"][0], want["t"][1]));
  fields.Same("t_d", NearestDouble(first.at.fraction), want["t_d"].get<double>());
  fields.Same("exit_d", NearestDouble(first.passage.exit.fraction), want["exit_d"].get<double>());
  Json edge = nullptr;
  if (first.at.edge) edge = JsonOf(*first.at.edge);
  fields.Same("edge", edge, want["edge"]);
  const OracleLine line = Segment(query.a, query.b);
  Json polys = Json::array();
  for (const OracleHit& hit : cast.hits) {
    if (hit.at.fraction == first.at.fraction) polys.push_back(hit.polygon);
  }
  fields.Same("polys", polys, want["polys"]);
  const RationalXy point = line.origin + first.at.fraction * line.direction;
  fields.Same("edges", EdgesThrough(oracle, point), ExistingEdges(oracle, want["edges"]));
}

void CompareSegment(const Oracle& oracle, const Query& query, const Json& want, Fields& fields) {
  OracleCastOptions options;
  options.mode = OracleMode::kAll;
  const OracleCastAnswer cast = oracle.Cast(Segment(query.a, query.b), options);
  fields.Same("hit", !cast.hits.empty(), want["hit"].get<bool>());
  fields.Same("any", oracle.Hits(Segment(query.a, query.b)), want["hit"].get<bool>());
  const OraclePointAnswer start = oracle.Point(query.a);
  fields.Same("start_in", Json(start.in), want["start_in"]);
  fields.Same("start_on", Json(start.on), want["start_on"]);
  fields.Same("per", cast.hits.size(), want["per"].size());
  for (std::size_t i = 0; i < std::min(cast.hits.size(), want["per"].size()); ++i) {
    const Json& row = want["per"][i];
    fields.Same("per.id", cast.hits[i].polygon, row[0].get<std::uint64_t>());
    fields.Same("per.t", cast.hits[i].at.fraction, RationalOf(row[1], row[2]));
  }
  if (!cast.hits.empty() && want["hit"].get<bool>()) CompareHit(oracle, query, cast, want, fields);
}

void Compare(const Oracle& oracle, const Query& query, const Json& want, Fields& fields) {
  switch (query.op) {
    case QueryOp::kPoint: {
      const OraclePointAnswer answer = oracle.Point(query.a);
      fields.Same("in", Json(answer.in), want["in"]);
      fields.Same("on", Json(answer.on), want["on"]);
      break;
    }
    case QueryOp::kSegment:
      CompareSegment(oracle, query, want, fields);
      break;
    case QueryOp::kCircle: {
      const OracleOverlapAnswer answer = oracle.Circle(query.a, query.radius);
      fields.Same("ids", Json(answer.ids), want["ids"]);
      fields.Same("touch", Json(answer.touch), want["touch"]);
      break;
    }
    case QueryOp::kPolygon:
      fields.Same("ids", Json(oracle.Overlap(query.shape).ids), want["ids"]);
      break;
  }
}

std::size_t Stride() {
  const char* text = std::getenv("CAROM_PACK_STRIDE");
  const long stride = text != nullptr ? std::atol(text) : 5;
  return stride > 0 ? static_cast<std::size_t>(stride) : 1;
}

TEST(OraclePackTest, AgreesWithTheExactAnswersOfThePack) {
  CAROM_NEEDS_SHARED_DIR(data);
  const std::vector<std::string> questions = ReadLines(data + "/packs/queries.jsonl.xz");
  const std::vector<std::string> answers = ReadLines(data + "/packs/answers.jsonl.xz");
  PackScenes scenes(data);
  std::unique_ptr<Oracle> oracle;
  std::size_t answer = 0, compared = 0, different = 0;
  for (const std::string& text : questions) {
    const Json line = Json::parse(text);
    if (std::unique_ptr<Oracle> scene = scenes.SceneOf(line)) {
      oracle = std::move(scene);
      continue;
    }
    ASSERT_LT(answer, answers.size());
    const std::string& want = answers[answer++];
    const std::optional<Query> query = QueryOf(line);
    if (!query || answer % Stride() != 0) continue;
    ++compared;
    Fields fields;
    Compare(*oracle, *query, Json::parse(want), fields);
    if (fields.text().empty()) continue;
    if (++different <= 20)
      ADD_FAILURE() << fields.text() << " differ\n  " << text << "\n  " << want;
  }
  EXPECT_EQ(answer, answers.size());
  EXPECT_EQ(different, 0U);
  EXPECT_GT(compared, 0U);
  RecordProperty("compared", static_cast<int>(compared));
  std::printf("%zu questions compared, %zu different\n", compared, different);
}

}  // namespace
}  // namespace carom::testing
