// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The options: precedence, ranges, and that docs/operations.md agrees with them.
#include "server/options.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/settings.h"
#include "server/store/etcd/etcd_client.h"

namespace carom::server {
namespace {

using ::testing::HasSubstr;

struct Parsed {
  std::variant<ServerOptions, int> result;
  std::string out;
  std::string err;

  int exit_code() const {
    const int* code = std::get_if<int>(&result);
    return code == nullptr ? -1 : *code;
  }
};

Parsed Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "caromd");
  std::ostringstream out;
  std::ostringstream err;
  const auto parsed =
      ParseServerOptions(static_cast<int>(arguments.size()), arguments.data(), out, err);
  const auto* const line = std::get_if<CommandLine>(&parsed);
  std::variant<ServerOptions, int> result;
  if (line != nullptr) {
    result = line->options;
  } else {
    result = std::get<int>(parsed);
  }
  return {result, out.str(), err.str()};
}

ServerOptions Options(const std::vector<const char*>& arguments) {
  const Parsed parsed = Parse(arguments);
  EXPECT_TRUE(std::holds_alternative<ServerOptions>(parsed.result)) << parsed.err;
  const auto* options = std::get_if<ServerOptions>(&parsed.result);
  return options == nullptr ? ServerOptions{} : *options;
}

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(OptionsTest, DefaultsAreThoseOfTheDesign) {
  const ServerOptions options = Options({});
  EXPECT_EQ(options.address, "127.0.0.1:7420");
  EXPECT_EQ(options.store, "memory");
  EXPECT_EQ(options.max_message_bytes, 4194304);
  EXPECT_EQ(options.max_scene_calls_per_peer, 128);
  EXPECT_EQ(options.max_scenes, 1024);
  EXPECT_EQ(options.max_polygons_per_scene, 4194304);
  EXPECT_EQ(options.max_vertices_per_polygon, 1048576);
  EXPECT_EQ(options.max_vertices_per_scene, 16777216);
  EXPECT_EQ(options.max_user_data_bytes, 4096);
  EXPECT_EQ(options.max_queries_per_frame, 65536);
  EXPECT_EQ(options.max_groups_per_frame, 1024);
  EXPECT_EQ(options.max_answer_rows_per_frame, 262144);
  EXPECT_EQ(options.max_frames_in_flight, 16);
  EXPECT_EQ(options.idle_stream_seconds, 300);
  EXPECT_EQ(options.drain_seconds, 10);
}

TEST(OptionsTest, FlagWinsOverEnvironmentOverDefault) {
  const Environment scenes("CAROM_MAX_SCENES", "7");
  const Environment address("CAROM_ADDRESS", "unix:/run/carom.sock");
  EXPECT_EQ(Options({}).max_scenes, 7);
  EXPECT_EQ(Options({"--max-scenes", "9"}).max_scenes, 9);
  EXPECT_EQ(Options({}).address, "unix:/run/carom.sock");
  EXPECT_EQ(Options({"--address=[::1]:0"}).address, "[::1]:0");
}

// systemd's folder, the desktop's, the home's: the first that is given.
TEST(OptionsTest, TheStateFolderIsTheFirstThatIsGiven) {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  unsetenv("STATE_DIRECTORY");
  unsetenv("XDG_STATE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(DefaultStateDir(), "");
  EXPECT_EQ(Violations(CheckServerOptions({.store = "sqlite"}))[0].field, "--state-dir");
  setenv("HOME", "/h", 1);
  EXPECT_EQ(DefaultStateDir(), "/h/.local/state/carom");
  {
    const Environment xdg("XDG_STATE_HOME", "/x");
    EXPECT_EQ(DefaultStateDir(), "/x/carom");
    const Environment systemd("STATE_DIRECTORY", "/s/carom:/s/other");
    EXPECT_EQ(DefaultStateDir(), "/s/carom");
    const Environment empty("STATE_DIRECTORY", "");
    EXPECT_EQ(DefaultStateDir(), "/x/carom");
  }
  setenv("HOME", home.c_str(), 1);
}

// What goes together for a store in etcd.
TEST(OptionsTest, OptionsOfEtcdThatNeedOthers) {
  const auto first = [](const ServerOptions& options) {
    const std::vector<Violation> violations = Violations(CheckServerOptions(options));
    return violations.empty() ? "" : violations[0].field;
  };
  ServerOptions options{.store = "etcd://a:2379,[::1]:2379/carom/"};
  EXPECT_EQ(first(options), "");
  options.etcd_password_file = "p";
  EXPECT_EQ(first(options), "--etcd-password-file");
  options.store = "etcd://user@a:2379/carom";
  EXPECT_EQ(first(options), "");
  options.etcd_password_file = "";
  EXPECT_EQ(first(options), "--etcd-password-file");
  options.etcd_password_file = "p";
  options.etcd_certificate = "c";
  EXPECT_EQ(first(options), "--etcd-key");
  options.etcd_key = "k";
  EXPECT_EQ(first(options), "--etcd-ca");
  options.etcd_ca = "a";
  EXPECT_EQ(first(options), "");
  const absl::StatusOr<EtcdUrl> url = ParseEtcdUrl("etcd://user@a:2379,[::1]:2380/x/y/");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->user, "user");
  EXPECT_EQ(url->prefix, "/x/y");
  EXPECT_THAT(url->endpoints, ::testing::ElementsAre("a:2379", "[::1]:2380"));
}

TEST(OptionsTest, BadValuesEndWithTwoAndNameTheFlag) {
  struct Case {
    std::vector<const char*> arguments;
    const char* message;
  };
  for (const Case& c : {
           Case{{"--max-scenes", "0"}, "--max-scenes"},
           Case{{"--max-scenes", "-1"}, "--max-scenes"},
           Case{{"--max-scenes", "1.5"}, "--max-scenes"},
           Case{{"--max-scenes", "many"}, "--max-scenes"},
           Case{{"--max-scenes", "99999999999999999999"}, "--max-scenes"},
           Case{{"--max-scenes"}, "--max-scenes"},
           Case{{"--address", "localhost"}, "--address"},
           Case{{"--address", ":7420"}, "--address"},
           Case{{"--address", "127.0.0.1:65536"}, "--address"},
           Case{{"--address", "127.0.0.1:-1"}, "--address"},
           Case{{"--address", "127.0.0.1:"}, "--address"},
           Case{{"--address", "unix:"}, "--address"},
           Case{{"--store", "oracle"}, "--store"},
           Case{{"--store", "etcd://127.0.0.1:2379"}, "--store"},
           Case{{"--store", "etcd:///carom"}, "--store"},
           Case{{"--store", "etcd://etcd/carom"}, "--store"},
           Case{{"--store", "etcd://user:password@etcd:2379/carom"}, "--store"},
           Case{{"--store-bytes", "1000"}, "--store-bytes"},
           Case{{"--no-such-flag"}, "--no-such-flag"},
           Case{{"stray"}, "stray"},
       }) {
    const Parsed parsed = Parse(c.arguments);
    EXPECT_EQ(parsed.exit_code(), 2) << c.arguments[0];
    EXPECT_THAT(parsed.err, HasSubstr(c.message));
    EXPECT_EQ(parsed.out, "");
  }
  const Environment bad("CAROM_THREADS", "1025");
  EXPECT_EQ(Parse({}).exit_code(), 2);
}

// Story: `--credentials "$FILE"` with a variable that was not set started a server that asked
// nobody for anything.
TEST(OptionsTest, APathThatIsGivenIsNotEmpty) {
  for (const char* name :
       {"credentials", "tls-certificate", "tls-key", "tls-client-ca", "preload", "state-dir"}) {
    const std::string flag = absl::StrCat("--", name);
    std::string variable = absl::StrCat("CAROM_", absl::AsciiStrToUpper(name));
    std::replace(variable.begin(), variable.end(), '-', '_');
    for (const Parsed& parsed : {Parse({flag.c_str(), ""}), Parse({(flag + "=").c_str()})}) {
      EXPECT_EQ(parsed.exit_code(), 2) << flag;
      EXPECT_THAT(parsed.err, HasSubstr(flag));
    }
    const Environment empty(variable.c_str(), "");
    const Parsed parsed = Parse({});
    EXPECT_EQ(parsed.exit_code(), 2) << variable;
    EXPECT_THAT(parsed.err, HasSubstr(variable));
  }
}

TEST(OptionsTest, EveryRangeIsEnforcedOnBothSides) {
  for (const NumberOption& number : NumberOptions()) {
    ServerOptions options;
    options.*number.member = number.max;
    EXPECT_TRUE(CheckServerOptions(options).ok()) << number.flag;
    options.*number.member = number.max + 1;
    EXPECT_EQ(Violations(CheckServerOptions(options)).at(0).field, number.flag);
    options.*number.member = number.min;
    EXPECT_TRUE(CheckServerOptions(options).ok()) << number.flag;
    if (number.min == 0) continue;
    options.*number.member = number.min - 1;
    EXPECT_EQ(Violations(CheckServerOptions(options)).at(0).field, number.flag);
    EXPECT_EQ(Parse({number.flag, std::to_string(number.min - 1).c_str()}).exit_code(), 2);
  }
}

TEST(OptionsTest, HelpAndVersionEndWithZero) {
  const Parsed help = Parse({"--help"});
  EXPECT_EQ(help.exit_code(), 0);
  for (const NumberOption& number : NumberOptions()) {
    EXPECT_THAT(help.out, HasSubstr(number.flag));
    EXPECT_THAT(help.out, HasSubstr(number.environment));
  }
  EXPECT_THAT(help.out, HasSubstr("CAROM_ADDRESS"));
  EXPECT_EQ(Parse({"--version"}).exit_code(), 0);
  EXPECT_THAT(Parse({"--version"}).out, ::testing::StartsWith("caromd "));
}

TEST(OptionsTest, TheManualListsEveryFlag) {
  const char* source = std::getenv("CAROM_SOURCE_DIR");
  ASSERT_NE(source, nullptr) << "CAROM_SOURCE_DIR is not set: run this through ctest";
  std::ifstream file(absl::StrCat(source, "/docs/operations.md"));
  ASSERT_TRUE(file) << "docs/operations.md";
  const std::string manual((std::istreambuf_iterator<char>(file)), {});
  const ServerOptions defaults;
  for (const NumberOption& number : NumberOptions()) {
    EXPECT_THAT(manual, HasSubstr(absl::StrCat("| `", number.flag, "` | `", number.environment,
                                               "` | ", defaults.*number.member, " | [", number.min,
                                               ", ", number.max, "] |")));
  }
  for (const TextOption& text : TextOptions()) {
    EXPECT_THAT(manual,
                HasSubstr(absl::StrCat("| `", text.flag, "` | `", text.environment, "` |")));
  }
  for (const FlagOption& flag : FlagOptions()) {
    EXPECT_THAT(manual,
                HasSubstr(absl::StrCat("| `", flag.flag, "` | `", flag.environment, "` | off |")));
  }
}

}  // namespace
}  // namespace carom::server
