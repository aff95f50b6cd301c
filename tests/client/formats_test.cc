// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// JSON scenes: what is read, and how each malformed one is refused.
#include <algorithm>
#include <limits>

#include "carom/bundle.h"
#include "client/formats/json_text.h"
#include "client/formats/nearest_word.h"
#include "client/formats/scene_reader.h"
#include "client/formats/scene_writer.h"
#include "tests/client/fixture.h"

namespace carom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

absl::StatusOr<std::vector<Polygon>> PolygonsOf(const std::string& polygons) {
  const auto document = ParseJson(absl::StrCat("{\"polygons\":", polygons, "}"));
  EXPECT_TRUE(document.has_value()) << polygons;
  return ReadPolygons(document->value);
}

TEST(SceneReaderTest, ReadsEveryMember) {
  const auto polygons = PolygonsOf(R"([
    {"id": 18446744073709551615, "rings": [[[0,0],[4,0],[4,4],[0,0]], [[1,1]]], "name": "x"},
    {"id": 0, "fill": "nonzero", "category": 6, "rings": [{"points": [[-0.0,1e-300],[1,2]]}]},
    {"id": 5, "solidity": "boundary", "user_data": "AP/+Cg==",
     "rings": [{"open": true, "points": [[0,0],[1,0],[1,1]]}]}])");
  ASSERT_TRUE(polygons.ok()) << polygons.status();
  ASSERT_EQ(polygons->size(), 3u);
  const Polygon& first = polygons->at(0);
  EXPECT_EQ(first.id(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(first.fill_rule(), FillRule::kEvenOdd);
  EXPECT_EQ(first.solidity(), Solidity::kSolid);
  EXPECT_EQ(first.category(), 1u);
  EXPECT_EQ(first.ring_count(), 2u);
  EXPECT_EQ(first.ring(0).size(), 3u);  // the closing duplicate is dropped
  const Polygon& second = polygons->at(1);
  EXPECT_EQ(second.fill_rule(), FillRule::kNonZero);
  EXPECT_EQ(second.category(), 6u);
  EXPECT_EQ(second.ring(0)[0], (Vec2{0, 0}));
  const Polygon& third = polygons->at(2);
  EXPECT_EQ(third.solidity(), Solidity::kBoundary);
  EXPECT_TRUE(third.is_open(0));
  EXPECT_EQ(third.edge_count(), 2u);
  EXPECT_EQ(third.user_data(), std::string("\0\xFF\xFE\n", 4));
}

struct BadScene {
  const char* polygons;
  const char* field;
};

TEST(SceneReaderTest, NamesWhatIsWrong) {
  const BadScene kBad[] = {
      {"7", "polygons"},
      {"{}", "polygons"},
      {"[7]", "polygons[0]"},
      {"[{}]", "polygons[0].id"},
      {R"([{"id": -1, "rings": [[[0,0]]]}])", "polygons[0].id"},
      {R"([{"id": 1.0, "rings": [[[0,0]]]}])", "polygons[0].id"},
      {R"([{"id": "1", "rings": [[[0,0]]]}])", "polygons[0].id"},
      {R"([{"id": 18446744073709551616, "rings": [[[0,0]]]}])", "polygons[0].id"},
      {R"([{"id": 1}])", "polygons[0].rings"},
      {R"([{"id": 1, "rings": []}])", "polygons[0].rings"},
      {R"([{"id": 1, "rings": {}}])", "polygons[0].rings"},
      {R"([{"id": 1, "rings": [[]]}])", "polygons[0].rings[0]"},
      {R"([{"id": 1, "rings": [[[0,0]], 5]}])", "polygons[0].rings[1]"},
      {R"([{"id": 1, "rings": [[[0,0],[1]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [[[0,0],[1,2,3]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [[[0,0],[1,null]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [[[0,0],[1,"2"]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [[[0,0],[1,9007199254740994]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [[[0,0],[-1e999,2]]]}])", "polygons[0].rings[0][1]"},
      {R"([{"id": 1, "rings": [{"open": true}]}])", "polygons[0].rings[0].points"},
      {R"([{"id": 1, "rings": [{"points": []}]}])", "polygons[0].rings[0].points"},
      {R"([{"id": 1, "rings": [{"points": [[0]]}]}])", "polygons[0].rings[0].points[0]"},
      {R"([{"id": 1, "rings": [{"points": [[0,0]], "open": 1}]}])", "polygons[0].rings[0].open"},
      {R"([{"id": 1, "rings": [{"points": [[0,0]], "open": true}]}])", "polygons[0].rings[0].open"},
      {R"([{"id": 1, "fill": "odd", "rings": [[[0,0]]]}])", "polygons[0].fill"},
      {R"([{"id": 1, "fill": 1, "rings": [[[0,0]]]}])", "polygons[0].fill"},
      {R"([{"id": 1, "solidity": "hollow", "rings": [[[0,0]]]}])", "polygons[0].solidity"},
      {R"([{"id": 1, "category": -1, "rings": [[[0,0]]]}])", "polygons[0].category"},
      {R"([{"id": 1, "user_data": "?", "rings": [[[0,0]]]}])", "polygons[0].user_data"},
      {R"([{"id": 1, "user_data": [7], "rings": [[[0,0]]]}])", "polygons[0].user_data"},
      {R"([{"id": 1, "rings": [[[0,0]]]}, {"id": 2, "rings": [[[0,1e300]]]}])",
       "polygons[1].rings[0][0]"},
  };
  for (const BadScene& bad : kBad) {
    EXPECT_TRUE(Refuses(PolygonsOf(bad.polygons).status(), StatusCode::kInvalidArgument, bad.field))
        << bad.polygons;
  }
}

// A closed ring may end where it begins, beside the closing duplicate: an export had lost that
// vertex when it was read again.
TEST(SceneReaderTest, ReadsTheRingsThatAreWritten) {
  PolygonSpec spec;
  spec.id = 3;
  spec.rings = {{{{0, 0}, {4, 0}, {4, 4}, {0, 0}, {0, 0}}, false},
                {{{1, 1}, {1, 1}, {1, 1}}, false},
                {{{1, 1}, {2, 2}, {1, 1}}, true},
                {{{5, 5}}, false},
                {{{0, 0}, {1, 0}, {1, 1}}, false}};
  spec.solidity = Solidity::kBoundary;
  const auto polygon = Polygon::Create(spec);
  ASSERT_TRUE(polygon.ok()) << polygon.status();
  const std::vector<Polygon> written{*polygon};
  const auto document = ParseJson(WriteScene(written));
  ASSERT_TRUE(document.has_value());
  const auto read = ReadPolygons(document->value);
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->at(0).ring_count(), polygon->ring_count());
  for (size_t i = 0; i < polygon->ring_count(); ++i) {
    EXPECT_TRUE(std::ranges::equal(read->at(0).ring(i), polygon->ring(i))) << i;
  }
}

// A server may be told greater limits than the usual ones: what is read is for it to judge.
TEST(SceneReaderTest, HasNoLimitsOfItsOwn) {
  const std::string data(8000, 'A');  // in base64
  const auto polygons =
      PolygonsOf(R"([{"id": 1, "rings": [[[0,0],[4,0],[4,4]]], "user_data": ")" + data + "\"}]");
  ASSERT_TRUE(polygons.ok()) << polygons.status();
  EXPECT_EQ(polygons->at(0).user_data().size(), 6000u);
  const ScratchFolder folder;
  const auto bundle =
      SceneFile::Read(folder.Write("map.carom", WriteBundle(**Scene::Create(*polygons))));
  ASSERT_TRUE(bundle.ok()) << bundle.status();
  EXPECT_EQ(bundle->bundle()->polygon(0).user_data().size(), 6000u);
}

TEST(SceneReaderTest, NamesTheFirstSixteen) {
  std::string polygons = "[";
  for (int i = 0; i < 20; ++i) polygons += std::string(i == 0 ? "" : ",") + "{}";
  const absl::Status status = PolygonsOf(polygons + "]").status();
  EXPECT_EQ(Violations(status).size(), 16u);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("20"));
}

TEST(SceneReaderTest, WordsOfALine) {
  EXPECT_EQ(LineField("polygons[3].rings[0].x[5]"), "polygons[3].rings[0][5]");
  EXPECT_EQ(LineField("rings[0].y"), "rings[0]");
  EXPECT_EQ(LineField("polygons[3].id"), "polygons[3].id");
}

TEST(SceneFileTest, ReadsLinesAndDocuments) {
  const ScratchFolder folder;
  const auto lines = SceneFile::Read(
      folder.Write("scenes.jsonl",
                   "{\"id\":\"a\",\"polygons\":[]}\n\n"
                   "{\"id\":\"b\",\"polygons\":[{\"id\":1,\"rings\":[[[0,0]]]}]}\r\n"));
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_EQ(lines->size(), 2u);
  EXPECT_EQ(lines->id(1), "b");
  EXPECT_EQ(lines->Find("b"), 1u);
  EXPECT_FALSE(lines->Find("c"));
  EXPECT_EQ(lines->polygons(1)->size(), 1u);

  const auto document =
      SceneFile::Read(folder.Write("scene.json", "{\n  \"polygons\": [\n  ]\n}\n"));
  ASSERT_TRUE(document.ok()) << document.status();
  EXPECT_EQ(document->size(), 1u);
  EXPECT_EQ(document->id(0), "");
}

TEST(SceneFileTest, NamesUnknownMembers) {
  const ScratchFolder folder;
  const auto file = SceneFile::Read(folder.Write(
      "scenes.jsonl",
      R"({"id":"a","polygons":[{"id":1,"rings":[[[0,0]]],"fill":"evenodd","solidity":"solid"}]})"
      "\n"
      R"({"id":"b","name":"B","polygons":[7,{"id":1,"rings":[[[0,0]],)"
      R"({"points":[[0,0]],"opne":true}],"solidty":"boundary","colour":[1,2,3]}]})"
      "\n"
      R"({"polygons":{"rings":[]}})"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_TRUE(file->UnknownMembers(0).ok());
  const absl::Status unknown = file->UnknownMembers(1);
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(
      Violations(unknown),
      ElementsAre(Violation{"name", "unknown member"},
                  Violation{"polygons[1].colour", "unknown member"},
                  Violation{"polygons[1].solidty", "unknown member; did you mean 'solidity'?"},
                  Violation{"polygons[1].rings[1].opne", "unknown member; did you mean 'open'?"}));
  EXPECT_TRUE(file->UnknownMembers(2).ok());
}

TEST(NearestWordTest, IsASlipAway) {
  const std::vector<std::string> kWords = {"scene", "cast", "eval", "load"};
  EXPECT_EQ(NearestWord("evl", kWords), "eval");    // a letter less
  EXPECT_EQ(NearestWord("evall", kWords), "eval");  // one more
  EXPECT_EQ(NearestWord("csat", kWords), "cast");   // two swapped
  EXPECT_EQ(NearestWord("loan", kWords), "load");   // one replaced
  EXPECT_EQ(NearestWord("scenery", kWords), "scene");
  EXPECT_EQ(NearestWord("fly", kWords), "");
  EXPECT_EQ(NearestWord("", kWords), "");
  EXPECT_EQ(NearestWord("eval", {}), "");
  EXPECT_EQ(Suggestion("evl", kWords), "; did you mean 'eval'?");
  EXPECT_EQ(Suggestion("fly", kWords), "");
}

TEST(SceneFileTest, Refusals) {
  const ScratchFolder folder;
  EXPECT_EQ(SceneFile::Read(folder / "missing").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(SceneFile::Read(folder.path()).status().code(), StatusCode::kNotFound);
  for (const char* text : {"{", "[]", "{}", "{\"polygons\":[]}\n{", "{\"polygons\":[]}\n7"}) {
    EXPECT_EQ(SceneFile::Read(folder.Write("bad", text)).status().code(),
              StatusCode::kInvalidArgument)
        << text;
  }
}

TEST(JsonTextTest, NumbersAreShortAndNeverMinusZero) {
  const std::pair<double, const char*> kNumbers[] = {{0, "0"},
                                                     {-0.0, "0"},
                                                     {1, "1"},
                                                     {-2.5, "-2.5"},
                                                     {0.1, "0.1"},
                                                     {1e22, "1e+22"},
                                                     {1.0 / 3, "0.3333333333333333"},
                                                     {5e-324, "5e-324"},
                                                     {9007199254740993.0, "9007199254740992"}};
  for (const auto& [number, text] : kNumbers) {
    std::string printed;
    AppendNumber(number, printed);
    EXPECT_EQ(printed, text);
  }
}

TEST(JsonTextTest, OverflowIsJson) {
  const auto document = ParseJson(R"({"a": [1, {"b c": -1e999}], "s": "1e999 \" 1e999"})");
  ASSERT_TRUE(document);
  EXPECT_TRUE(document->has_overflow);
  EXPECT_EQ(OverflowPath(document->value), "a[1].b c");
  EXPECT_EQ(document->value["s"], "1e999 \" 1e999");
  EXPECT_FALSE(ParseJson(R"({"a": 1e999)"));
  for (const char* text : {"1e999e", "01e999", "1.e999", ".1e999", "-e999", "1e+-999", "+1e999"}) {
    EXPECT_FALSE(ParseJson(text)) << text;
  }
  for (const char* text : {"1e999", "-0.1E+999", "10.25e0400"}) {
    EXPECT_TRUE(ParseJson(text).value().has_overflow) << text;
  }
  EXPECT_TRUE(ParseJson(std::string(400, '9')).value().has_overflow);
  EXPECT_FALSE(ParseJson(R"({"s": "1e999)"));
  EXPECT_FALSE(ParseJson("{\"s\": \"\\"));
  EXPECT_FALSE(ParseJson("1e-999")->has_overflow);
}

TEST(JsonTextTest, Depth) {
  EXPECT_FALSE(IsTooDeep(std::string(256, '[') + std::string(256, ']')));
  EXPECT_TRUE(IsTooDeep(std::string(257, '[') + std::string(257, ']')));
  EXPECT_FALSE(IsTooDeep(absl::StrCat("\"", std::string(1000, '['), "\"")));
}

}  // namespace
}  // namespace carom
