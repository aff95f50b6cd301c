// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The configuration file: what it may have, what is refused, and that a printed file reads back.
#include "server/config_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/settings.h"

namespace carom::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ConfigFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("CAROM_ADMIN_ADDRESS");  // which ctest sets
    path_ = absl::StrCat(::testing::TempDir(), "/caromd-", getpid(), ".toml");
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void Write(const std::string& text) { std::ofstream(path_) << text; }
  absl::Status Read(const std::string& text) {
    Write(text);
    return ReadConfigFile(path_, options_);
  }
  std::variant<CommandLine, int> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "caromd");
    std::ostringstream err;
    out_.str("");
    auto parsed =
        ParseServerOptions(static_cast<int>(arguments.size()), arguments.data(), out_, err);
    err_ = err.str();
    return parsed;
  }

  std::string path_;
  ServerOptions options_;
  std::ostringstream out_;
  std::string err_;
};

TEST_F(ConfigFileTest, SetsWhatItNames) {
  ASSERT_TRUE(
      Read("# comment\nmax_scenes = 7\naddress = \"unix:/run/a\"\nreflection = true\n").ok());
  EXPECT_EQ(options_.max_scenes, 7);
  EXPECT_EQ(options_.address, "unix:/run/a");
  EXPECT_TRUE(options_.reflection);
  EXPECT_EQ(options_.max_streams, ServerOptions().max_streams);
}

TEST_F(ConfigFileTest, WhatIsWrongIsRefusedWithLineAndKey) {
  const std::pair<const char*, const char*> cases[] = {
      {"\nmax_scene = 7\n", ":2: max_scene is no setting; the most similar one is max_scenes"},
      {"max_scenes = \"7\"\n", ":1: max_scenes must be an integer in [1, 1048576]"},
      {"max_scenes = 0\n", ":1: max_scenes must be an integer in [1, 1048576]"},
      {"max_scenes = -1\n", ":1: max_scenes must be"},
      {"max_scenes = 1.5\n", ":1: max_scenes must be"},
      {"reflection = 1\n", ":1: reflection must be true or false"},
      {"address = 7420\n", ":1: address must be a string"},
      {"address = \"nowhere\"\n", ":1: address must be HOST:PORT"},
      {"log_level = \"loud\"\n", ":1: log_level must be error, warning, info or debug"},
      {"a = \n", ":1: "},
      {"max_scenes = 7\nmax_scenes = 8\n", ":2: "},
      {"[limits]\nmax_scenes = 7\n", ":1: limits is no setting"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = Read(text);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(path_), HasSubstr(message))) << text;
  }
  EXPECT_EQ(ReadConfigFile("/nowhere", options_).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ConfigFileTest, APrintedFileReadsBackToTheSame) {
  ServerOptions options;
  uint64_t number = 0;
  for (const NumberOption& option : NumberOptions()) {
    options.*option.member = option.min + ++number % (option.max - option.min + 1);
  }
  for (const FlagOption& option : FlagOptions()) options.*option.member = true;
  options.address = "unix:/a \"b\" \\c";
  options.state_dir = "/päth/with 'quotes'";
  const std::string printed = FormatConfig(options);
  ServerOptions read;
  Write(printed);
  ASSERT_TRUE(ReadConfigFile(path_, read).ok()) << ReadConfigFile(path_, read);
  EXPECT_EQ(FormatConfig(read), printed);
  for (const NumberOption& option : NumberOptions()) {
    EXPECT_EQ(read.*option.member, options.*option.member) << option.flag;
    EXPECT_THAT(printed, HasSubstr(option.flag));
  }
  EXPECT_EQ(read.state_dir, options.state_dir);
}

TEST_F(ConfigFileTest, FlagsWinOverVariablesOverTheFile) {
  Write("max_scenes = 5\nmax_forks = 6\nmax_streams = 7\n");
  setenv("CAROM_MAX_FORKS", "60", 1);
  setenv("CAROM_MAX_STREAMS", "70", 1);
  const auto parsed = Parse({"--config", path_.c_str(), "--max-streams", "700"});
  unsetenv("CAROM_MAX_FORKS");
  unsetenv("CAROM_MAX_STREAMS");
  ASSERT_TRUE(std::holds_alternative<CommandLine>(parsed)) << err_;
  const ServerOptions& options = std::get<CommandLine>(parsed).options;
  EXPECT_EQ(options.max_scenes, 5);
  EXPECT_EQ(options.max_forks, 60);
  EXPECT_EQ(options.max_streams, 700);
  Write("max_scenes = 0\n");
  EXPECT_EQ(std::get<int>(Parse({"--config", path_.c_str()})), 2);
  EXPECT_THAT(err_, HasSubstr("max_scenes must be an integer"));
}

TEST_F(ConfigFileTest, PrintConfigPrintsAndEnds) {
  EXPECT_EQ(std::get<int>(Parse({"--print-config", "--max-scenes", "9"})), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\nmax_scenes = 9\n"));
  EXPECT_THAT(out_.str(), HasSubstr("\nadmin_address = \"127.0.0.1:7421\"\n"));
}

TEST_F(ConfigFileTest, ProbeNamesTheAddressThatItAsks) {
  const auto by_default = Parse({"--probe"});
  ASSERT_TRUE(std::holds_alternative<CommandLine>(by_default)) << err_;
  EXPECT_EQ(std::get<CommandLine>(by_default).probe, "127.0.0.1:7421");
  EXPECT_EQ(std::get<CommandLine>(Parse({"--probe", "127.0.0.1:9"})).probe, "127.0.0.1:9");
  EXPECT_EQ(std::get<CommandLine>(Parse({})).probe, std::nullopt);
}

}  // namespace
}  // namespace carom::server
