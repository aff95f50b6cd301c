// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom eval`: every kind of line, through the library and through a server, to the same bytes.
#include "client/cli/eval/eval.h"

#include <algorithm>
#include <sstream>

#include "tests/client/eval_fixture.h"

namespace carom::cli {
namespace {

struct GoodLine {
  const char* line;
  const char* answer;
};

const GoodLine kGoodLines[] = {
    {R"({"op":"point","p":[1,2]})", R"({"in":[7],"on":[]})"},
    {R"({"op":"point","p":[10,5],"q":3})", R"({"q":3,"in":[],"on":[7]})"},
    {R"({"op":"point","p":[15,5],"q":null})", R"({"q":null,"in":[],"on":[]})"},
    {R"({"q":{"b":[1.50,"é"],"a":{}},"op":"point","p":[30,10]})",
     R"({"q":{"a":{},"b":[1.5,"é"]},"in":[],"on":[18446744073709551615]})"},
    {R"({"op":"segment","a":[-5,5],"b":[15,5]})",
     R"({"hit":true,"t":0.25,"poly":7,"edge":[7,0,3],"normal":[-1,0],"exit_t":0.75,)"
     R"("start_in":[],"start_on":[],"all":[[7,0.25]]})"},
    {R"({"op":"segment","a":[5,5],"b":[25,5]})",
     R"({"hit":true,"t":0,"poly":7,"edge":null,"normal":[0,0],"exit_t":0.25,)"
     R"("start_in":[7],"start_on":[],"all":[[7,0],[18446744073709551615,0.75]]})"},
    {R"({"op":"segment","a":[5,5],"b":[25,5],"inside":"report"})",
     R"({"hit":true,"t":0,"poly":7,"edge":null,"normal":[0,0],"exit_t":0.25,)"
     R"("start_in":[7],"start_on":[],"all":[[7,0],[18446744073709551615,0.75]]})"},
    {R"({"op":"segment","a":[5,5],"b":[25,5],"inside":"ignore"})",
     R"({"hit":true,"t":0.75,"poly":18446744073709551615,"edge":[18446744073709551615,0,3],)"
     R"("normal":[-1,0],"exit_t":1,"start_in":[7],"start_on":[],)"
     R"("all":[[18446744073709551615,0.75]]})"},
    {R"({"op":"segment","a":[5,5],"b":[25,5],"inside":"exit"})",
     R"({"hit":true,"t":0.25,"poly":7,"edge":[7,0,1],"normal":[1,0],"exit_t":0.25,)"
     R"("start_in":[7],"start_on":[],"all":[[7,0.25],[18446744073709551615,0.75]]})"},
    {R"({"op":"segment","a":[12,5],"b":[18,5]})",
     R"({"hit":false,"start_in":[],"start_on":[],"all":[]})"},
    {R"({"op":"circle","c":[15,5],"r":5})",
     R"({"ids":[7,18446744073709551615],"touch":[7,18446744073709551615]})"},
    {R"({"op":"circle","c":[5,5],"r":0})", R"({"ids":[7],"touch":[7]})"},
    {R"({"op":"circle","c":[15,5],"r":4.9})", R"({"ids":[],"touch":[]})"},
    {R"({"op":"circle","c":[15,5],"r":-0.0})", R"({"ids":[],"touch":[]})"},
    {R"({"op":"polygon","rings":[[[9,9],[25,9],[25,12]]]})", R"({"ids":[7,18446744073709551615]})"},
    {R"({"op":"polygon","fill":"nonzero","rings":[[[-1,-1],[40,-1],[40,40],[-1,40]],)"
     R"([[-0.5,-0.5],[39,-0.5],[39,39],[-0.5,39]]]})",
     R"({"ids":[7,18446744073709551615]})"},
    {R"({"op":"polygon","rings":[[[-1,-1],[40,-1],[40,40],[-1,40]],)"
     R"([[-0.5,-0.5],[39,-0.5],[39,39],[-0.5,39]]]})",
     R"({"ids":[]})"},
    {R"({"op":"polygon","solidity":"boundary","rings":[{"open":true,"points":[[-1,5],[1,5]]}]})",
     R"({"ids":[7]})"},
    {R"({"op":"distance","rings":[[[13,5],[14,5],[14,6]]]})", R"({"d":3,"ids":[7]})"},
    {R"({"op":"distance","rings":[[[15,5]]]})", R"({"d":5,"ids":[7,18446744073709551615]})"},
    {R"({"op":"distance","rings":[[[5,5]]]})", R"({"d":0,"ids":[7]})"},
    {R"({"op":"distance","rings":[[[15,5]]],"k":2})",
     R"({"nearest":[[7,5],[18446744073709551615,5]]})"},
    {R"({"op":"distance","rings":[[[15,5]]],"k":1,"max_distance":5})", R"({"nearest":[[7,5]]})"},
    {R"({"op":"distance","rings":[[[15,5]]],"k":1024,"max_distance":4})", R"({"nearest":[]})"},
    {R"({"op":"segment","a":[-5,5],"b":[35,5],"soft_mask":1,"soft_count":2})",
     R"({"hit":false,"start_in":[],"start_on":[],"all":[[7,0.125],[18446744073709551615,0.625]],)"
     R"("passed":2,"soft_length":20})"},
    {R"({"op":"segment","a":[15,5],"b":[5,5],"soft_count":1})",
     R"({"hit":true,"t":0.5,"poly":7,"edge":[7,0,1],"normal":[1,0],"exit_t":1,"start_in":[],)"
     R"("start_on":[],"all":[[7,0.5]],"passed":0,"soft_length":0})"},
    {R"({"op":"sight","a":[-5,5],"b":[35,5]})", R"({"visible":false})"},
    {R"({"op":"sight","a":[-5,5],"b":[35,5],"soft_mask":1,"soft_count":1})",
     R"({"visible":false})"},
    {R"({"op":"sight","a":[-5,5],"b":[35,5],"soft_mask":1,"soft_count":2})", R"({"visible":true})"},
    {R"({"op":"polygon_cast","rings":[[[12,4],[14,4],[14,6],[12,6]]],"d":[16,0]})",
     R"({"hit":true,"t":0.375,"polys":[18446744073709551615]})"},
    {R"({"op":"polygon_cast","rings":[[[5,20],[25,20],[25,22],[5,22]]],"d":[0,-20]})",
     R"({"hit":true,"t":0.5,"polys":[7,18446744073709551615]})"},
    {R"({"op":"polygon_cast","rings":[[[12,4],[14,4],[14,6],[12,6]]],"d":[-1,0]})",
     R"({"hit":false})"},
    {R"({"op":"circle_cast","c":[15,5],"r":1,"d":[8,0]})",
     R"({"hit":true,"t":0.5,"polys":[18446744073709551615]})"},
    {R"({"op":"circle_cast","c":[15,5],"r":5,"d":[8,0]})",
     R"({"hit":true,"t":0,"polys":[7,18446744073709551615]})"},
    {R"({"op":"contact","rings":[[[9,4],[12,4],[12,6],[9,6]]]})", R"({"contacts":[[7,1,0,1]]})"},
    {R"({"op":"contact","rings":[[[12,4],[14,4],[14,6],[12,6]]]})", R"({"contacts":[]})"},
    {R"({"op":"ray_bounce","p":[-4,5],"d":[8,0],"t_max":2})",
     R"({"legs":[{"p":[-4,5],"d":[8,0],"t_max":2,"hit":true,"t":0.5,"poly":7,"normal":[-1,0]},)"
     R"({"p":[-4.440892098500626e-16,5],"d":[-8,0],"t_max":1.5,"hit":false}],"stuck":false})"},
    {R"({"op":"ray_bounce","p":[15,5],"d":[4,0],"max_bounces":1})",
     R"({"legs":[{"p":[15,5],"d":[4,0],"t_max":null,"hit":true,"t":1.25,)"
     R"("poly":18446744073709551615,"normal":[-1,0]},)"
     R"({"p":[19.999999999999996,5],"d":[-4,0],"t_max":null,"hit":true,"t":2.499999999999999,)"
     R"("poly":7,"normal":[1,0]}],"stuck":false})"},
    {R"({"op":"ray_bounce","p":[15,5],"d":[4,0],"mask":2})",
     R"({"legs":[{"p":[15,5],"d":[4,0],"t_max":null,"hit":false}],"stuck":false})"},
    {R"({"op":"area","p":[-4,5],"r":1})",
     R"({"pieces":[{"at":[-5,5],"arc":true}],"area":3.141592653589793,"starts_inside":false})"},
    {R"({"op":"area","p":[5,5],"r":1})", R"({"pieces":[],"area":0,"starts_inside":true})"},
    {R"({"op":"area","p":[5,5],"r":1,"inside":"ignore"})",
     R"({"pieces":[{"at":[4,5],"arc":true}],"area":3.141592653589793,"starts_inside":true})"},
    {R"({"op":"sees","p":[-4,5],"r":1})", R"({"seen":[],"starts_inside":false})"},
    {R"({"op":"sees","p":[5,5],"r":1})", R"({"seen":[],"starts_inside":true})"},
    {R"(  {"p":[1,2], "op":"point", "extra":[1,2,3]}  )", R"({"in":[7],"on":[]})"},
    {R"({"op":"point","p":[1,2],"p":[15,2]})", R"({"in":[],"on":[]})"},
};

TEST_F(EvalTest, Answers) {
  std::string input = kScene, expected;
  for (const GoodLine& good : kGoodLines) {
    input += std::string(good.line) + "\n";
    expected += std::string(good.answer) + "\n";
  }
  const Output output = Run(input);
  EXPECT_EQ(output.out, expected);
  EXPECT_EQ(output.err, "");
  EXPECT_EQ(output.exit_status, 0);
}

struct BadLine {
  const char* line;
  const char* code;
  const char* field;
};

constexpr char kInvalid[] = "INVALID_ARGUMENT";

const BadLine kBadLines[] = {
    {R"([1])", kInvalid, ""},
    {R"({"op":"sight","a":[0,0],"b":[1,1],"soft_count":17})", kInvalid, "soft_count"},
    {R"({"op":"segment","a":[0,0],"b":[1,1],"soft_mask":-1})", kInvalid, "soft_mask"},
    {R"({"op":"distance","rings":[[[5,5]]],"k":1025})", kInvalid, "k"},
    {R"({"op":"distance","rings":[[[5,5]]],"max_distance":1})", kInvalid, "max_distance"},
    {R"({"op":"distance","rings":[[[5,5]]],"k":1,"max_distance":-1})", kInvalid, "max_distance"},
    {R"(7)", kInvalid, ""},
    {R"("scene")", kInvalid, ""},
    {R"({})", kInvalid, "op"},
    {R"({"op":5})", kInvalid, "op"},
    {R"({"op":"Point","p":[0,0]})", kInvalid, "op"},
    {R"({"op":"track"})", kInvalid, "tracker"},
    {R"({"op":"track","tracker":-1,"rings":[[[0,0]]]})", kInvalid, "tracker"},
    {R"({"op":"track","tracker":"a","rings":[[[0,0]]]})", kInvalid, "tracker"},
    {R"({"op":"track","tracker":1,"rings":[[]]})", kInvalid, "rings[0]"},
    {R"({"op":"move","tracker":1,"x":0,"y":0})", kInvalid, "tracker"},
    {R"({"op":"move","x":0,"y":0})", kInvalid, "tracker"},
    {R"({"op":"move","tracker":0})", kInvalid, "x"},
    {R"({"op":"move","tracker":0,"x":0,"y":1e999})", kInvalid, "y"},
    {R"({"op":"move","tracker":0,"x":0,"y":0,"s":0})", kInvalid, "c"},
    {R"({"op":"move","tracker":0,"x":0,"y":0,"c":1,"s":"a"})", kInvalid, "s"},
    {R"({"op":"move"})", kInvalid, "tracker"},
    {R"({"op":"point"})", kInvalid, "p"},
    {R"({"op":"point","p":5})", kInvalid, "p"},
    {R"({"op":"point","p":[1]})", kInvalid, "p"},
    {R"({"op":"point","p":[1,2,3]})", kInvalid, "p"},
    {R"({"op":"point","p":[1,"2"]})", kInvalid, "p[1]"},
    {R"({"op":"point","p":[1e999,2]})", kInvalid, "p[0]"},
    {R"({"op":"point","p":[1,-9007199254740994]})", kInvalid, "p[1]"},
    {R"({"op":"point","p":[1,9007199254740993e0]})", nullptr, nullptr},  // 2^53 when read
    {R"({"op":"point","p":[1,2],"q":1e999})", kInvalid, "q"},
    {R"({"op":"point","p":[1,2],"other":{"x":[0,1e999]}})", kInvalid, "other.x[1]"},
    {R"({"op":"segment","b":[0,0]})", kInvalid, "a"},
    {R"({"op":"segment","a":[0,0]})", kInvalid, "b"},
    {R"({"op":"segment","a":[null,0],"b":[0,0]})", kInvalid, "a[0]"},
    {R"({"op":"segment","a":[0,0],"b":[0,1e16]})", kInvalid, "b[1]"},
    {R"({"op":"segment","a":[0,0],"b":[0,1],"inside":"in"})", kInvalid, "inside"},
    {R"({"op":"segment","a":[0,0],"b":[0,1],"inside":0})", kInvalid, "inside"},
    {R"({"op":"circle","r":1})", kInvalid, "c"},
    {R"({"op":"circle","c":[0,0]})", kInvalid, "r"},
    {R"({"op":"circle","c":[0,true],"r":1})", kInvalid, "c[1]"},
    {R"({"op":"circle","c":[0,0],"r":-1})", kInvalid, "r"},
    {R"({"op":"circle","c":[0,0],"r":1e999})", kInvalid, "r"},
    {R"({"op":"circle","c":[0,0],"r":"1"})", kInvalid, "r"},
    {R"({"op":"polygon"})", kInvalid, "rings"},
    {R"({"op":"polygon","rings":[]})", kInvalid, "rings"},
    {R"({"op":"polygon","rings":[[]]})", kInvalid, "rings[0]"},
    {R"({"op":"polygon","rings":[[[0,0],[1,0],[1,1],[1e300,0]]]})", kInvalid, "rings[0][3]"},
    {R"({"op":"polygon","rings":[[[0,0]]],"fill":"both"})", kInvalid, "fill"},
    {R"({"op":"distance"})", kInvalid, "rings"},
    {R"({"op":"polygon_cast","rings":[[[0,0]]]})", kInvalid, "d"},
    {R"({"op":"polygon_cast","rings":[[[0,0]]],"d":[0,1e17]})", kInvalid, "d[1]"},
    {R"({"op":"circle_cast","r":1,"d":[1,0]})", kInvalid, "c"},
    {R"({"op":"circle_cast","c":[0,0],"r":-1,"d":[1,0]})", kInvalid, "r"},
    {R"({"op":"circle_cast","c":[0,0],"r":1})", kInvalid, "d"},
    {R"({"op":"contact","rings":[[[0,0],[4,0],[4,4],[2,1]]]})", kInvalid, "rings"},
    {R"({"op":"contact","rings":[[[0,0]],[[1,1]]]})", kInvalid, "rings"},
    {R"({"op":"area","r":1})", kInvalid, "p"},
    {R"({"op":"area","p":[0,0]})", kInvalid, "r"},
    {R"({"op":"area","p":[0,0],"r":0})", kInvalid, "r"},
    {R"({"op":"area","p":[1,0],"r":9007199254740992})", kInvalid, "r"},
    {R"({"op":"area","p":[0,0],"r":1,"cone":[0]})", kInvalid, "cone"},
    {R"({"op":"area","p":[0,0],"r":1,"cone":[0,"a"]})", kInvalid, "cone[1]"},
    {R"({"op":"area","p":[0,0],"r":1,"cone":[2000000,2000001]})", kInvalid, "cone[0]"},
    {R"({"op":"area","p":[0,0],"r":1,"cone":[1,1]})", kInvalid, "cone[1]"},
    {R"({"op":"area","p":[0,0],"r":1,"cone":[0,7]})", kInvalid, "cone[1]"},
    {R"({"op":"area","p":[0,0],"r":1,"inside":"exit"})", kInvalid, "inside"},
    {R"({"op":"sees","p":[0,0],"r":0})", kInvalid, "r"},
    {R"({"op":"sees","p":[0,0],"r":1,"margin":-1})", kInvalid, "margin"},
    {R"({"op":"sees","p":[0,0],"r":1,"against":"both"})", kInvalid, "against"},
    {R"({"op":"ray_bounce","d":[1,0]})", kInvalid, "p"},
    {R"({"op":"ray_bounce","p":[0,0]})", kInvalid, "d"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[0,0]})", kInvalid, "d[0]"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[1,0],"t_max":0})", kInvalid, "t_max"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[1,0],"t_max":null})", kInvalid, "t_max"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[1,0],"max_bounces":17})", kInvalid, "max_bounces"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[1,0],"max_bounces":0})", kInvalid, "max_bounces"},
    {R"({"op":"ray_bounce","p":[0,0],"d":[1,0],"against":"both"})", kInvalid, "against"},
    {R"({"op":"scene"})", kInvalid, "polygons"},
    {R"({"op":"scene","polygons":[{"id":1,"rings":[[[0,0],[1,0],[1e300,0]]]}]})", kInvalid,
     "polygons[0].rings[0][2]"},
    {R"({"op":"scene","polygons":[{"id":-1,"rings":[[[0,0]]]}]})", kInvalid, "polygons[0].id"},
    {R"({"op":"scene","polygons":[{"id":1e999,"rings":[[[0,0]]]}]})", kInvalid, "polygons[0].id"},
    {R"({"op":"scene","polygons":[{"id":1,"fill":"odd","rings":[[[0,0]]]}]})", kInvalid,
     "polygons[0].fill"},
    {R"({"op":"scene","polygons":[{"id":1,"rings":[[[0,0]]]},{"id":2,"rings":[[[0,0]]]},)"
     R"({"id":1,"rings":[[[0,0]]]}]})",
     kInvalid, "polygons[2].id"},
    {R"({"op":"load","id":"a"})", kInvalid, "file"},
    {R"({"op":"load","file":"scenes.jsonl"})", kInvalid, "id"},
    {R"({"op":"load","file":"/etc/passwd","id":"a"})", kInvalid, "file"},
    {R"({"op":"load","file":"x/../../a","id":"a"})", kInvalid, "file"},
    {R"({"op":"load","file":"missing","id":"a"})", "NOT_FOUND", "file"},
    {R"({"op":"load","file":"scenes.jsonl","id":"z"})", "NOT_FOUND", "id"},
    {R"({"op":"load","file":"scenes.jsonl","id":"bad"})", kInvalid, "id"},
    {R"({"op":"load","file":"scenes.jsonl","id":"twice"})", kInvalid, "id"},
};

constexpr char kSceneFile[] =
    R"({"id":"a","polygons":[{"id":3,"rings":[[[0,0],[2,0],[2,2]]]}]})"
    "\n"
    R"({"id":"bad","polygons":[{"id":3,"rings":[[]]}]})"
    "\n"
    R"({"id":"twice","polygons":[{"id":3,"rings":[[[0,0]]]},{"id":3,"rings":[[[0,0]]]}]})"
    "\n";

// After each bad line the old scene is there, and the run goes on.
TEST_F(EvalTest, BadLines) {
  folder_.Write("scenes.jsonl", kSceneFile);
  std::string input = kScene;
  for (const BadLine& bad : kBadLines) {
    input += std::string(bad.line) + "\n" + R"({"op":"point","p":[1,2]})" + "\n";
  }
  const Output output = Run(input);
  EXPECT_EQ(output.exit_status, 0);
  EXPECT_EQ(output.err, "");
  std::istringstream lines(output.out);
  std::string line;
  for (const BadLine& bad : kBadLines) {
    ASSERT_TRUE(std::getline(lines, line));
    if (bad.code) {
      const std::string start = absl::StrCat("{\"error\":{\"code\":\"", bad.code, "\",\"field\":\"",
                                             bad.field, "\",\"message\":\"");
      EXPECT_THAT(line, ::testing::StartsWith(start)) << bad.line;
    } else {
      EXPECT_EQ(line, R"({"in":[],"on":[]})") << bad.line;
    }
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line, R"({"in":[7],"on":[]})") << "after " << bad.line;
  }
}

TEST_F(EvalTest, ErrorsEchoTheQuestion) {
  const Output output = Run(R"({"op":"point","q":[1,"a"]})"
                            "\n");
  EXPECT_EQ(output.out, R"({"q":[1,"a"],"error":{"code":"INVALID_ARGUMENT","field":"p",)"
                        R"("message":"required"}})"
                        "\n");
}

// Lines of trackers, and what they print: by name, defined anew, over scenes, and wrong in the
// middle of others.
TEST_F(EvalTest, Trackers) {
  const std::string tracked =
      R"({"op":"track","tracker":18446744073709551615,"rings":[[[-1,-1],[1,-1],[1,1],[-1,1]]]})"
      "\n"
      R"({"op":"track","tracker":2,"rings":[[[-1,0],[1,0]]]})"
      "\n"
      R"({"op":"track","tracker":2,"rings":[[[-2,0],[2,0]]]})"
      "\n";
  const std::string moves =
      R"({"op":"move","tracker":18446744073709551615,"x":-1,"y":5,"c":0.6,"s":0.8,"q":1})"
      "\n"
      R"({"op":"move","tracker":2,"x":15,"y":5,"q":2})"
      "\n"
      R"({"op":"move","tracker":3,"x":15,"y":5,"q":3})"
      "\n"
      R"({"op":"move","tracker":2,"x":5,"y":5,"c":1,"s":1,"q":4})"
      "\n"
      R"({"op":"move","tracker":2,"x":-9007199254740992,"y":5,"q":5})"
      "\n"
      R"({"op":"move","tracker":2,"x":12,"y":5,"q":6})"
      "\n"
      R"({"op":"track","tracker":2,"rings":[[[-20,0],[20,0]]]})"
      "\n"
      R"({"op":"move","tracker":2,"x":15,"y":0,"q":7})"
      "\n";
  const Output output = Run(kScene + tracked + moves);
  EXPECT_EQ(output.exit_status, 0);
  EXPECT_EQ(output.out, R"({"q":1,"ids":[7],"edges":[[7,0,3]]})"
                        "\n"
                        R"({"q":2,"ids":[],"edges":[]})"
                        "\n"
                        R"({"q":3,"error":{"code":"INVALID_ARGUMENT","field":"tracker",)"
                        R"("message":"must be defined by an earlier line"}})"
                        "\n"
                        R"({"q":4,"error":{"code":"INVALID_ARGUMENT","field":"c",)"
                        R"("message":"must satisfy |c*c + s*s - 1| <= 1e-6"}})"
                        "\n"
                        R"({"q":5,"error":{"code":"INVALID_ARGUMENT","field":"x",)"
                        R"("message":"places a vertex above 2^53 in magnitude"}})"
                        "\n"
                        R"({"q":6,"ids":[7],"edges":[[7,0,1]]})"
                        "\n"
                        R"({"q":7,"ids":[7,18446744073709551615],"edges":[[7,0,0],[7,0,1],[7,0,3],)"
                        R"([18446744073709551615,0,0],[18446744073709551615,0,1],)"
                        R"([18446744073709551615,0,3]]})"
                        "\n");
  // They outlive the scene.
  const Output after = Run(kScene + tracked + R"({"op":"scene","polygons":[]})" + "\n" + moves);
  EXPECT_NE(after.out.find(R"({"q":6,"ids":[],"edges":[]})"), std::string::npos) << after.out;
}

// Thousands of trackers of many vertices are sent to the server in frames that it takes.
TEST_F(EvalTest, ManyTrackers) {
  std::string ring;
  for (int i = 0; i < 64; ++i) absl::StrAppend(&ring, i ? "," : "", "[", i, ",", i * i, "]");
  std::string input = kScene;
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&input, R"({"op":"track","tracker":)", 7 * i, R"(,"rings":[[)", ring, "]]}\n");
  }
  for (int i = 0; i < 3000; ++i) {
    absl::StrAppend(&input, R"({"op":"move","tracker":)", 7 * i, R"(,"x":)", i % 50 - 20,
                    R"(,"y":)", i % 7, "}\n");
  }
  const Output output = Run(input);
  EXPECT_EQ(output.exit_status, 0);
  EXPECT_EQ(std::ranges::count(output.out, '\n'), 3000);
  EXPECT_EQ(output.out.find("error"), std::string::npos);
}

TEST_F(EvalTest, LinesThatAreNotJson) {
  const Output output = Run(std::string("\n  \n{\"op\":\n") + kScene +
                            "nonsense\n{\"op\":\"point\",\"p\":[1,2]}\n\n{\"op\":\"point\",\"p\":"
                            "[1,NaN]}\n{\"op\":\"point\",\"p\":[1,2]} x\n\xff\n");
  EXPECT_EQ(output.exit_status, 1);
  EXPECT_EQ(output.out, "{\"in\":[7],\"on\":[]}\n");
  EXPECT_EQ(output.err,
            "carom: line 3: not JSON\ncarom: line 5: not JSON\ncarom: line 8: not JSON\n"
            "carom: line 9: not JSON\ncarom: line 10: not JSON\n");
}

TEST_F(EvalTest, NothingAndAnEmptyScene) {
  EXPECT_EQ(Run("").out, "");
  EXPECT_EQ(Run(R"({"op":"segment","a":[0,0],"b":[1,1]})").out,
            "{\"hit\":false,\"start_in\":[],\"start_on\":[],\"all\":[]}\n");
}

TEST_F(EvalTest, Loads) {
  folder_.Write("scenes.jsonl", kSceneFile);
  const Output output = Run(R"({"op":"load","file":"scenes.jsonl","id":"a"})"
                            "\n"
                            R"({"op":"point","p":[2,1]})");
  EXPECT_EQ(output.out, "{\"in\":[],\"on\":[3]}\n");
}

// Queries read the scene that stands before them, however many are in a frame.
TEST_F(EvalTest, ManyQueriesAndScenes) {
  std::string input;
  for (int i = 0; i < 1300; ++i) {
    if (i % 600 == 0) {
      input += absl::StrCat(R"({"op":"scene","polygons":[{"id":)", i,
                            R"(,"rings":[[[0,0],[9,0],[9,9]]]}]})", "\n");
    }
    input += absl::StrCat(R"({"q":)", i, R"(,"op":"segment","a":[5,1],"b":[)", i, ",", (i * 7) % 13,
                          R"(],"inside":")",
                          i % 3 == 0   ? "report"
                          : i % 3 == 1 ? "ignore"
                                       : "exit",
                          "\"}\n");
    if (i % 5 == 0)
      input += R"({"op":"circle","c":[-1,-1],"r":2})"
               "\n";
  }
  const Output output = Run(input);
  EXPECT_EQ(output.exit_status, 0);
  EXPECT_THAT(output.out, ::testing::HasSubstr("{\"q\":1299,\"hit\""));
  EXPECT_THAT(output.out, ::testing::Not(::testing::HasSubstr("error")));
  EXPECT_THAT(output.out, ::testing::HasSubstr("{\"ids\":[1200]"));
}

// 600 polygons hit by 512 segments are more rows than a frame may have; each segment alone is not.
TEST_F(EvalTest, FramesOverALimitAreSplit) {
  std::string input = R"({"op":"scene","polygons":[)";
  for (int i = 0; i < 600; ++i) {
    input +=
        absl::StrCat(i == 0 ? "" : ",", R"({"id":)", i, R"(,"rings":[[[)", i, ",0],[", i, ",9]]]}");
  }
  input += "]}\n";
  for (int i = 0; i < 512; ++i)
    input += R"({"op":"segment","a":[-1,5],"b":[700,5]})"
             "\n";
  const Output output = Run(input);
  EXPECT_THAT(output.out, ::testing::Not(::testing::HasSubstr("error")));
  EXPECT_EQ(std::count(output.out.begin(), output.out.end(), '\n'), 512);
}

TEST_F(EvalTest, LargeMovingShapes) {
  const auto shape = [](int vertices, const char* tail) {
    std::string line = R"({"op":"polygon","rings":[[[0,0])";
    for (int i = 1; i < vertices; ++i) line += absl::StrCat(",[", i, ",", i % 2, "]");
    return line + tail + "]]}\n";
  };
  std::string input = kScene;
  for (int i = 0; i < 40; ++i) input += shape(4096, "");  // 2.5 MiB: more than one frame
  input += shape(4096, ",[0,0]");                         // the closing duplicate does not count
  input += shape(4097, "");
  input += shape(1048577, "");  // what no polygon may have either
  const Output output = Run(input);
  std::istringstream lines(output.out);
  std::string line;
  for (int i = 0; i < 41; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(line, R"({"ids":[7,18446744073709551615]})");
  }
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_THAT(line,
                ::testing::StartsWith(R"({"error":{"code":"RESOURCE_EXHAUSTED","field":"rings",)"));
    EXPECT_THAT(line, ::testing::HasSubstr("at most 4096 vertices (vertices a moving shape)"));
  }
}

// A document as deep as the line is long must not take as much stack.
TEST_F(EvalTest, DeepLines) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  const Output output = Run("{\"op\":\"point\",\"p\":[0,0],\"q\":" + deep + "}\n" + deep + "\n");
  EXPECT_EQ(output.exit_status, 0);
  EXPECT_EQ(std::count(output.out.begin(), output.out.end(), '\n'), 2);
  EXPECT_THAT(output.out,
              ::testing::StartsWith(R"({"error":{"code":"INVALID_ARGUMENT","field":"",)"));
}

// What the service lacks ends the run; what it keeps is given back.
TEST_F(EvalTest, LeavesNoSceneBehind) {
  Run(kScene + std::string(R"({"op":"point","p":[1,2]})"));
  const auto scenes = client_->ListAllScenes();
  ASSERT_TRUE(scenes.ok());
  EXPECT_TRUE(scenes->empty());
}

TEST_F(EvalTest, NoServer) {
  auto evaluator = RemoteEvaluator("unix:" + (folder_ / "nobody"));
  ASSERT_TRUE(evaluator.ok());
  const Output output = Run(*std::move(evaluator), R"({"op":"point","p":[1,2]})");
  EXPECT_EQ(output.exit_status, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_THAT(output.err, ::testing::StartsWith("carom: UNAVAILABLE: "));
}

// A server may end a stream that was idle: the next query opens another one.
TEST_F(EvalTest, AStreamThatEndedIsOpenedAgain) {
  StartServer({.idle_stream_seconds = 1});
  auto evaluator = RemoteEvaluator(server_->address());
  ASSERT_TRUE(evaluator.ok());
  ASSERT_TRUE((*evaluator)->Track(3, PolygonOf(0, {{0, 0}})).ok());
  ASSERT_TRUE((*evaluator)->Evaluate(std::vector<Group>(1)).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  ASSERT_TRUE((*evaluator)->Track(3, PolygonOf(0, {{1, 0}})).ok());
  ASSERT_TRUE((*evaluator)->Track(4, PolygonOf(0, {{1, 0}})).ok());
  const std::vector<double> two{0, 0};
  Group moves;
  moves.moves = {.x = two, .y = two, .first_tracker = 3};
  const auto results = (*evaluator)->Evaluate({&moves, 1});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE(results->at(0).status.ok());
  EXPECT_THAT(results->at(0).answers.moves.clear, ::testing::ElementsAre(3));
  EXPECT_TRUE((*evaluator)->Close().ok());
}

}  // namespace
}  // namespace carom::cli
