// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0
//
// What judges must be judged too: rounding, the oracle on figures small enough to answer by hand
// and by laws between its own questions, the referee on wrong output, the questions' determinism,
// child processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "tests/support/expected.h"
#include "tests/support/jsonl.h"
#include "tests/support/nasty.h"
#include "tests/support/process.h"

namespace carom::testing {
namespace {

// A square with corners (0,0) and (8,8), a hole from (2,2) to (6,6), and a bow-tie that is filled
// twice in its middle.
std::vector<OraclePolygon> SmallScene() {
  return {
      {7,
       OracleFill::kEvenOdd,
       {{{{0, 0}, {8, 0}, {8, 8}, {0, 8}, {0, 0}}}, {{{2, 2}, {6, 2}, {6, 6}, {2, 6}}}}},
      {3,
       OracleFill::kNonZero,
       {{{{10, 0}, {16, 6}, {16, 0}, {10, 6}}}, {{{12, 3}, {20, 3}, {20, 4}}}}},
      {18446744073709551615U, OracleFill::kEvenOdd, {{{{4, 4}}}, {{{3, 10}, {5, 10}}}}},
  };
}

OracleHit FirstHit(Xy a, Xy b, OracleInside inside = OracleInside::kReportStart) {
  static const Oracle oracle(SmallScene());
  OracleCastOptions options;
  options.inside = inside;
  options.mask = ~std::uint64_t{0};
  const OracleCastAnswer answer = oracle.Cast(Segment(a, b), options);
  EXPECT_EQ(answer.hits.size(), 1U);
  return answer.hits.empty() ? OracleHit{} : answer.hits.front();
}

TEST(ExactTest, NearestDoubleIsWhatDivisionGives) {
  for (int n = -50; n <= 50; ++n) {
    for (int d = 1; d <= 50; ++d) {
      EXPECT_EQ(NearestDouble(Rational(n) / Rational(d)), static_cast<double>(n) / d)
          << n << "/" << d;
    }
  }
  EXPECT_FALSE(std::signbit(NearestDouble(Rational(0))));
}

TEST(ExactTest, TiesGoToTheEvenSignificand) {
  const Rational half_ulp = Exact(0x1p-53);
  EXPECT_EQ(NearestDouble(1 + half_ulp), 1.0);
  EXPECT_EQ(NearestDouble(1 + 3 * half_ulp), 1 + 0x1p-51);
  EXPECT_EQ(NearestDouble(-1 - 3 * half_ulp), -1 - 0x1p-51);
  EXPECT_EQ(NearestDouble(1 + half_ulp + Exact(0x1p-900)), 1 + 0x1p-52);
  EXPECT_EQ(NearestDouble(Exact(0x1p-1074) / 2), 0.0);
  EXPECT_EQ(NearestDouble(Exact(0x1p-1074) * 3 / 2), 0x1p-1073);
}

TEST(ExactTest, UnitVectorsAreJudgedByUlpsAndSigns) {
  const RationalXy direction{Rational(-3), Rational(4)};
  EXPECT_TRUE(IsUnitVectorWithin({-0.6, 0.8}, direction, 1));
  EXPECT_TRUE(IsUnitVectorWithin({-0.6 + 3 * Ulp(0.6), 0.8}, direction, 4));
  EXPECT_FALSE(IsUnitVectorWithin({-0.6 + 6 * Ulp(0.6), 0.8}, direction, 4));
  EXPECT_FALSE(IsUnitVectorWithin({0.6, 0.8}, direction, 4));
  EXPECT_FALSE(IsUnitVectorWithin({0.0, 0.0}, direction, 4));
  EXPECT_TRUE(IsUnitVectorWithin({0.0, 1.0}, {Rational(0), Rational(9)}, 4));
  EXPECT_FALSE(IsUnitVectorWithin({0x1p-1074, 1.0}, {Rational(0), Rational(9)}, 4));
  EXPECT_TRUE(IsUnitVectorWithin({0.0, 0.0}, {}, 4));
}

TEST(OracleCastTest, EntersAndLeavesWithBothNormals) {
  const OracleHit hit = FirstHit({-4, 1}, {12, 1});
  EXPECT_EQ(hit.polygon, 7U);
  EXPECT_EQ(hit.at.fraction, Rational(1) / 4);
  EXPECT_EQ(*hit.at.edge, (OracleEdge{7, 0, 3}));
  EXPECT_EQ(hit.at.feature, OracleFeature::kEdge);
  EXPECT_TRUE(IsUnitVectorWithin({-1, 0}, hit.at.normal, 0));
  EXPECT_EQ(hit.passage.exit.fraction, Rational(3) / 4);
  EXPECT_TRUE(IsUnitVectorWithin({1, 0}, hit.passage.exit.normal, 0));
}

TEST(OracleCastTest, ReportsTheLeastEdgeThatIsNotParallel) {
  const OracleHit along =
      FirstHit({-4, 0}, {4, 0});  // edge 0 is parallel, so the corner is edge 3's
  EXPECT_EQ(*along.at.edge, (OracleEdge{7, 0, 3}));
  EXPECT_EQ(along.at.feature, OracleFeature::kVertex);
  EXPECT_EQ(along.passage.exit.fraction, Rational(1));
  EXPECT_EQ(*along.passage.exit.edge, (OracleEdge{7, 0, 0}));
  EXPECT_EQ(along.passage.exit.feature, OracleFeature::kCollinear);
  EXPECT_TRUE(IsZero(along.passage.exit.normal));
  EXPECT_EQ(*FirstHit({-1, 9}, {1, 7}).at.edge, (OracleEdge{7, 0, 2}));
}

TEST(OracleCastTest, FollowsThePolicyForAStartInside) {
  const OracleHit report = FirstHit({1, 3}, {9, 3});
  EXPECT_EQ(report.at.fraction, Rational(0));
  EXPECT_FALSE(report.at.edge.has_value());
  EXPECT_EQ(report.passage.exit.fraction, Rational(1) / 8);
  const OracleHit ignore = FirstHit({1, 3}, {9, 3}, OracleInside::kIgnore);
  EXPECT_EQ(ignore.at.fraction, Rational(5) / 8);
  const OracleHit exit = FirstHit({1, 3}, {9, 3}, OracleInside::kExit);
  EXPECT_EQ(exit.at.fraction, Rational(1) / 8);
  EXPECT_EQ(*exit.at.edge, (OracleEdge{7, 1, 3}));
  EXPECT_TRUE(IsUnitVectorWithin({1, 0}, exit.at.normal, 0));
  const OracleHit stays = FirstHit({1, 3}, {1, 5}, OracleInside::kExit);
  EXPECT_EQ(stays.at.fraction, Rational(1));
  EXPECT_TRUE(IsZero(stays.at.normal) && stays.passage.ends_inside && !stays.at.edge);
}

TEST(OracleCastTest, PassagesRunThroughEdgesInsideTheFilledSet) {
  const Oracle oracle(SmallScene());
  OracleCastOptions options{OracleMode::kAllPassages, OracleInside::kReportStart, 2,
                            ~std::uint64_t{0}};
  const OracleCastAnswer cut = oracle.Cast(Segment({-2, 3}, {8, 3}), options);
  EXPECT_EQ(cut.hits.size(), 2U);
  EXPECT_FALSE(cut.truncated);
  options.max_hits = 1;
  EXPECT_TRUE(oracle.Cast(Segment({-2, 3}, {8, 3}), options).truncated);
  const OracleHit bow =
      FirstHit({9, 3}, {21, 3});  // through both rings of polygon 3, touching all along
  EXPECT_EQ(bow.at.fraction, Rational(1) / 12);
  EXPECT_EQ(bow.passage.exit.fraction, Rational(11) / 12);
  const OracleCastAnswer ray = oracle.Cast(
      Ray({-2, 3}, {0.5, 0}, 5, std::numeric_limits<double>::infinity()), {OracleMode::kAll});
  ASSERT_EQ(ray.hits.size(), 2U);
  EXPECT_EQ(ray.hits[0].at.fraction, Rational(5));
  EXPECT_TRUE(ray.hits[0].passage.starts_inside);
  EXPECT_EQ(ray.hits[1].at.fraction, Rational(24));
}

TEST(OracleCastTest, HollowPolygonsAreTheirEdges) {
  const std::vector<Xy> chain = {{0, 0}, {4, 0}, {4, 4}};
  const Oracle oracle({{1, OracleFill::kEvenOdd, {{chain, true}}, OracleSolidity::kBoundary}});
  EXPECT_EQ(oracle.shapes()[0].edges().size(), 2U);
  EXPECT_FALSE(oracle.Hits(Segment({0, 1}, {1, 1})));
  EXPECT_TRUE(oracle.Point({3, 1}).in.empty());
  const OracleCastAnswer through = oracle.Cast(Segment({2, 1}, {6, 1}));
  EXPECT_EQ(through.hits[0].passage.exit.fraction, Rational(1) / 2);
}

// Laws between the oracle's own questions, whose methods differ.
TEST(OracleLawsTest, QuestionsAgreeWithEachOther) {
  const std::vector<OraclePolygon> scene = SmallScene();
  const Oracle oracle(scene);
  for (const Query& query : NastyQueries(scene, SeedOf("laws"), 4000)) {
    SCOPED_TRACE(QueryLine(query));
    const OraclePointAnswer at = oracle.Point(query.a);
    std::set<std::uint64_t> holding(at.in.begin(), at.in.end());
    holding.insert(at.on.begin(), at.on.end());
    const OracleOverlapAnswer disc = oracle.Circle(query.a, 0.0);
    EXPECT_EQ(std::vector<std::uint64_t>(holding.begin(), holding.end()), disc.ids);
    EXPECT_EQ(disc.ids, disc.touch);
    if (query.op == QueryOp::kSegment) {
      const OraclePolygon line{0, OracleFill::kEvenOdd, {{{query.a, query.b}}}};
      std::set<std::uint64_t> ids;
      for (const OracleHit& hit : oracle.Cast(Segment(query.a, query.b), {OracleMode::kAll}).hits)
        ids.insert(hit.polygon);
      EXPECT_EQ(std::vector<std::uint64_t>(ids.begin(), ids.end()), oracle.Overlap(line).ids);
      EXPECT_EQ(oracle.Hits(Segment(query.a, query.b)), oracle.Hits(Segment(query.b, query.a)));
    } else if (query.op == QueryOp::kPolygon) {
      std::vector<std::uint64_t> ids;
      for (const OraclePolygon& polygon : scene) {
        if (!Oracle({query.shape}).Overlap(polygon).ids.empty()) ids.push_back(polygon.id);
      }
      std::sort(ids.begin(), ids.end());
      EXPECT_EQ(ids, oracle.Overlap(query.shape).ids);
    }
  }
}

TEST(OracleLawsTest, PowersOfTwoChangeNothingButScale) {
  const std::vector<OraclePolygon> scene = SmallScene();
  const Oracle oracle(scene), small(Scaled(scene, 0x1p-90));
  for (const Query& query : NastyQueries(scene, SeedOf("powers"), 1000)) {
    if (query.op != QueryOp::kSegment) continue;
    const Query scaled =
        Scaled({query.op, "", Flushed(query.a), Flushed(query.b), 0, query.inside, {}}, 0x1p-90);
    const bool flushes = !(Flushed(scaled.a) == scaled.a) || !(Flushed(scaled.b) == scaled.b);
    if (flushes) continue;
    const OracleCastAnswer a = oracle.Cast(Segment(query.a, query.b)),
                           b = small.Cast(Segment(scaled.a, scaled.b));
    ASSERT_EQ(a.hits.size(), b.hits.size()) << QueryLine(query);
    if (a.hits.empty()) continue;
    EXPECT_EQ(a.hits[0].at.fraction, b.hits[0].at.fraction) << QueryLine(query);
    EXPECT_EQ(a.hits[0].at.edge, b.hits[0].at.edge) << QueryLine(query);
  }
}

TEST(RefereeTest, AcceptsTheAnswerAndNamesEachWrongField) {
  const Referee referee(SmallScene());
  const std::string question = R"({"op":"segment","a":[-4,1],"b":[12,1],"q":"x"})";
  const std::string right =
      R"({"q":"x","hit":true,"t":0.25,"poly":7,"edge":[7,0,3],"normal":[-1,0],"exit_t":0.75,"start_in":[],"start_on":[],"all":[[7,0.25],[3,0.875]]})";
  EXPECT_TRUE(referee.Differences(question, right).empty())
      << referee.Differences(question, right)[0];
  const auto with = [&](const std::string& old_text, const std::string& new_text) {
    std::string line = right;
    line.replace(line.find(old_text), old_text.size(), new_text);
    return referee.Differences(question, line).size();
  };
  EXPECT_EQ(with("\"t\":0.25", "\"t\":0.25000000000000006"), 1U);
  EXPECT_EQ(with("[-1,0]", "[1,0]"), 1U);
  EXPECT_EQ(with("[-1,0]", "[-1,-0]"), 1U);
  EXPECT_EQ(with("[7,0,3]", "[7,0,2]"), 1U);
  EXPECT_EQ(with("[7,0,3]", "null"), 1U);
  EXPECT_EQ(with("0.75", "0.7500000000000000001"), 1U);
  EXPECT_EQ(with("\"q\":\"x\",", ""), 1U);
  EXPECT_EQ(with("\"q\":\"x\",", "\"q\":\"x\",\"truncated\":false,"), 1U);
  EXPECT_EQ(with("[3,0.875]", "[3,0.875],[9,1]"), 1U);
  EXPECT_EQ(with("0.75", "NaN"), 1U);
}

TEST(RefereeTest, KnowsTheKeysOfAMissAndOfAStartInside) {
  const Referee referee(SmallScene());
  EXPECT_TRUE(referee
                  .Differences(R"({"op":"segment","a":[3,3],"b":[3,5]})",
                               R"({"hit":false,"start_in":[],"start_on":[],"all":[]})")
                  .empty());
  EXPECT_TRUE(
      referee
          .Differences(
              R"({"op":"segment","a":[1,1],"b":[1,2]})",
              R"({"hit":true,"t":0,"poly":7,"edge":null,"normal":[0,0],"exit_t":1,"start_in":[7],"start_on":[],"all":[[7,0]]})")
          .empty());
  EXPECT_TRUE(
      referee.Differences(R"({"op":"point","p":[4,4]})", R"({"in":[],"on":[18446744073709551615]})")
          .empty());
  EXPECT_TRUE(referee
                  .Differences(R"({"op":"circle","c":[4,4],"r":2})",
                               R"({"ids":[7,18446744073709551615],"touch":[7]})")
                  .empty());
}

TEST(NastyTest, TheSameSeedGivesTheSameBytesOnEveryCompiler) {
  std::string text;
  std::set<std::string> kinds;
  for (const Query& query : NastyQueries(SmallScene(), 1, 2000)) {
    text += QueryLine(query) + "\n";
    kinds.insert(query.name.substr(0, query.name.find(':')));
    EXPECT_EQ(QueryLine(*QueryOf(Json::parse(QueryLine(query)))), QueryLine(query));
  }
  EXPECT_EQ(kinds.size(), 45U);
  EXPECT_EQ(SeedOf(text), 14168386658639706248U);
}

TEST(ProcessTest, MovesLargeInputAndOutput) {
  const std::string text(5'000'000, 'x');
  const ProcessResult result = RunProcess({"cat"}, text, 30.0);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.standard_output, text);
}

TEST(ProcessTest, ReportsExitCodesTimeoutsAndMissingPrograms) {
  const ProcessResult failing =
      RunProcess({"sh", "-c", "echo no >&2; exit 3"}, std::string(200'000, 'y'), 30.0);
  EXPECT_EQ(failing.exit_code, 3);
  EXPECT_EQ(failing.standard_error, "no\n");
  EXPECT_TRUE(RunProcess({"sleep", "30"}, "", 0.2).timed_out);
  EXPECT_EQ(RunProcess({"/no/such/program"}, "", 1.0).exit_code, -1);
  EXPECT_EQ(ServerProcess::Start("/bin/false"), nullptr);
}

}  // namespace
}  // namespace carom::testing
