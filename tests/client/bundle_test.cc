// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Bundles on the command line: written, checked, and read wherever a scene file is.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "carom/bundle.h"
#include "carom/bundle_file.h"
#include "client/formats/scene_reader.h"
#include "tests/client/command_line.h"

namespace carom {
namespace {

using carom::testing::ProcessResult;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kScenes[] =
    R"({"id":"one","polygons":[{"id":3,"rings":[[[0,0],[10,0],[10,10],[0,10]]]}]})"
    "\n"
    R"({"id":"two","polygons":[{"id":4,"solidity":"boundary","category":6,"rings":)"
    R"([{"points":[[20,0],[30,10]],"open":true}]},{"id":1,"rings":[[[1,1],[2,2],[3,0]]]}]})"
    "\n";

class BundleCommandTest : public CommandLineTest {
 protected:
  const std::string scenes_ = folder_.Write("scenes.jsonl", kScenes);
  const std::string bundle_ = folder_ / "map.carom";
};

TEST_F(BundleCommandTest, WritesChecksAndWritesAgain) {
  ProcessResult result = Carom({"bundle", scenes_, "--id", "two", "-o", bundle_});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  const std::string counts = R"("polygon_count":2,"vertex_count":5,"open_ms":)";
  EXPECT_THAT(result.standard_output, StartsWith("{\"file\":\"" + bundle_ + "\",\"bytes\":"));
  EXPECT_THAT(result.standard_output, HasSubstr(counts));
  EXPECT_EQ(OpenBundle(bundle_).value()->Find(4)->category(), 6u);

  const std::string plain = folder_ / "plain.carom";
  result = Carom({"bundle", bundle_, "--no-index", "-o", plain});
  EXPECT_EQ(result.exit_code, 0) << result.standard_error;
  EXPECT_EQ(Contents(plain), WriteBundle(*OpenBundle(bundle_).value(), BundleIndex::kNone));
  EXPECT_THAT(Carom({"bundle", plain}).standard_output, HasSubstr(counts));
  EXPECT_THAT(Carom({"bundle", "-"}, Contents(plain)).standard_output, HasSubstr(counts));
}

TEST_F(BundleCommandTest, WhatIsWrongIsNamed) {
  EXPECT_THAT(Carom({"bundle", scenes_}).standard_error, HasSubstr("choose one of them with --id"));
  ASSERT_EQ(Carom({"bundle", scenes_, "--id", "one", "-o", bundle_}).exit_code, 0);
  const std::string whole = Contents(bundle_);
  std::string damaged = whole;
  damaged[whole.size() - 1] ^= 1;
  folder_.Write("map.carom", damaged);
  EXPECT_THAT(Carom({"bundle", bundle_}).standard_error,
              StartsWith("carom: DATA_LOSS: header.file_size: "));
  folder_.Write("map.carom", whole.substr(0, whole.size() / 2));
  const ProcessResult cut = Carom({"scene", "import", "arena", bundle_});
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.standard_error, StartsWith("carom: DATA_LOSS: header.file_size: "));
  EXPECT_THAT(Carom({"bundle", bundle_}, "").standard_error, HasSubstr("header.file_size"));
}

TEST_F(BundleCommandTest, IsReadWhereverASceneFileIs) {
  ASSERT_EQ(Carom({"bundle", scenes_, "--id", "one", "-o", bundle_}).exit_code, 0);
  const ProcessResult imported = Carom({"scene", "import", "arena", bundle_});
  EXPECT_EQ(imported.exit_code, 0) << imported.standard_error;
  EXPECT_THAT(imported.standard_output, HasSubstr(R"("bounds":[[0,0],[10,10]])"));
  const std::string questions = R"({"op":"load","file":"map.carom","id":"map"})"
                                "\n"
                                R"({"op":"point","p":[5,5]})"
                                "\n"
                                R"({"op":"load","file":"map.carom","id":"another"})"
                                "\n";
  for (const std::vector<std::string>& where :
       {std::vector<std::string>{"--local"}, {"--address", server_->address()}}) {
    std::vector<std::string> arguments = {"eval", "--root", folder_.path()};
    arguments.insert(arguments.end(), where.begin(), where.end());
    const ProcessResult answers = Carom(arguments, questions);
    EXPECT_EQ(answers.exit_code, 0) << answers.standard_error;
    EXPECT_THAT(answers.standard_output,
                StartsWith("{\"in\":[3],\"on\":[]}\n{\"error\":{\"code\":\"NOT_FOUND\","
                           "\"field\":\"id\""));
  }
}

TEST_F(BundleCommandTest, ASceneFileKnowsABundleByItsFirstBytes) {
  ASSERT_EQ(Carom({"bundle", scenes_, "--id", "two", "-o", bundle_}).exit_code, 0);
  const auto file = SceneFile::Read(folder_.Write("map.json", Contents(bundle_)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->size(), 1u);
  EXPECT_EQ(file->id(0), "map");
  EXPECT_EQ(file->Find("map"), 0u);
  EXPECT_TRUE(file->UnknownMembers(0).ok());
  EXPECT_EQ(file->polygons(0)->size(), 2u);
  EXPECT_EQ(file->scene(0).value(), file->bundle());
}

}  // namespace
}  // namespace carom
