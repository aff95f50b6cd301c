// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes of bundles beside those of the store: served like any, and changed by nobody.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "carom/bundle_file.h"
#include "tests/server/watcher.h"
#include "tests/support/process.h"

namespace carom::server {
namespace {

using carom::testing::ProcessResult;
using carom::testing::RunProcess;
using ::testing::HasSubstr;

class PreloadTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_ / "maps"); }

  // Writes a bundle of `count` unit squares.
  std::string Write(const std::string& name, int count = 1) {
    std::vector<Polygon> polygons;
    for (int i = 0; i < count; ++i) {
      const double x = 2.0 * i;
      polygons.push_back(*Polygon::Create(
          {.id = static_cast<uint64_t>(i), .rings = {{{{x, 0}, {x + 1, 0}, {x + 1, 1}, {x, 1}}}}}));
    }
    const std::string path = folder_ / ("maps/" + name);
    EXPECT_TRUE(SaveBundle(**Scene::Create(polygons), path).ok());
    return path;
  }
  ServerOptions Options() {
    ServerOptions options;
    options.preload = folder_ / "maps";
    return options;
  }
  // Why a server does not start: one line, which names the file.
  std::string Refusal(const ServerOptions& options) {
    ServerOptions all = options;
    all.address = "127.0.0.1:0";
    const absl::Status status = Server::Start(all).status();
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(absl::IsInvalidArgument(status)) << "which would be a bad option";
    const std::string message(status.message());
    EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), 0);
    return message;
  }

  TemporaryFolder folder_;
};

TEST_F(PreloadTest, ServesEachBundle) {
  Write("arena.carom", 3);
  Write("town-2.carom", 1000);
  std::ofstream(folder_ / "maps/readme.txt") << "not a bundle";
  TestServer server(Options());
  server.Create("mine", {Square(1, 0, 0)});
  Context list_context;
  v1::ListScenesResponse scenes;
  ASSERT_TRUE(server.scenes().ListScenes(&list_context, {}, &scenes).ok());
  ASSERT_EQ(scenes.scenes_size(), 3);
  EXPECT_EQ(scenes.scenes(0).name(), "scenes/arena");
  EXPECT_EQ(scenes.scenes(0).polygon_count(), 3u);
  EXPECT_EQ(scenes.scenes(2).name(), "scenes/town-2");
  const v1::FrameAnswer answer =
      server.Ask("groups { scene: 'scenes/arena' points { x: 2.5 y: 0.5 } }");
  ASSERT_EQ(answer.groups_size(), 1);
  EXPECT_EQ(answer.groups(0).points().polygon_id(0), 1u);
  // Its version is from the time of its file, and the only one.
  Context versions_context;
  v1::ListSceneVersionsRequest of_arena;
  of_arena.set_name("scenes/arena");
  v1::ListSceneVersionsResponse versions;
  ASSERT_TRUE(server.scenes().ListSceneVersions(&versions_context, of_arena, &versions).ok());
  ASSERT_EQ(versions.versions_size(), 1);
  const v1::SceneVersion& version = versions.versions(0);
  EXPECT_EQ(version.created_us(), static_cast<int64_t>(version.scene().version()));
  EXPECT_GT(version.created_us(), 1600000000000000);
  Watcher watch(server.scenes(), "name: 'scenes/town-2' polygons: true");
  EXPECT_EQ(watch.Next().polygons.size(), 1000u);
}

TEST_F(PreloadTest, NobodyChangesThem) {
  Write("arena.carom", 3);
  TestServer server(Options());
  const auto refused = [](const grpc::Status& status) {
    EXPECT_THAT(status.error_message(), HasSubstr("read-only"));
    return Refuses(status, absl::StatusCode::kFailedPrecondition, "name");
  };
  v1::Scene scene;
  {
    Context context;
    v1::GetSceneRequest request;
    request.set_name("scenes/arena");
    v1::GetSceneResponse response;
    ASSERT_TRUE(server.scenes().GetScene(&context, request, &response).ok());
    scene = response.scene();
  }
  EXPECT_TRUE(refused(server.Commit("name: 'scenes/arena' edits { remove: 1 }")));
  EXPECT_TRUE(refused(Import(server.scenes(), {ManySquares("scenes/arena", 2, 0)})));
  {
    Context context;
    v1::CreateSceneRequest request;
    request.set_name("scenes/arena");
    v1::CreateSceneResponse response;
    EXPECT_TRUE(refused(server.scenes().CreateScene(&context, request, &response)));
  }
  {
    Context context;
    v1::RollbackSceneRequest request;
    request.set_name("scenes/arena");
    request.set_version(scene.version());
    v1::RollbackSceneResponse response;
    EXPECT_TRUE(refused(server.scenes().RollbackScene(&context, request, &response)));
  }
  {
    Context context;
    v1::DeleteSceneRequest request;
    request.set_name("scenes/arena");
    v1::DeleteSceneResponse response;
    EXPECT_TRUE(refused(server.scenes().DeleteScene(&context, request, &response)));
  }
  Context context;
  v1::ExportSceneRequest request;
  request.set_name("scenes/arena");
  auto reader = server.scenes().ExportScene(&context, request);
  v1::ExportSceneResponse part;
  ASSERT_TRUE(reader->Read(&part));
  EXPECT_EQ(part.scene().SerializeAsString(), scene.SerializeAsString());
  EXPECT_EQ(part.polygons_size(), 3);
  EXPECT_FALSE(reader->Read(&part));
  EXPECT_TRUE(reader->Finish().ok());
}

TEST_F(PreloadTest, ABadFileRefusesTheStart) {
  const std::string good = Write("arena.carom", 3);
  const std::string bad = Write("Arena.carom");
  EXPECT_THAT(Refusal(Options()), HasSubstr(bad));
  std::filesystem::remove(bad);
  // Cut off, and with a bit that has flipped.
  const std::string damaged = folder_ / "maps/damaged.carom";
  std::filesystem::copy(good, damaged);
  std::filesystem::resize_file(damaged, std::filesystem::file_size(good) - 64);
  EXPECT_THAT(Refusal(Options()), HasSubstr(damaged));
  std::filesystem::remove(damaged);
  std::filesystem::copy(good, damaged);
  std::fstream file(damaged, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(700);
  file.put('\x55');
  file.close();
  EXPECT_THAT(Refusal(Options()), HasSubstr(damaged));
  std::filesystem::remove(damaged);
  ServerOptions few = Options();
  few.max_polygons_per_scene = 2;
  EXPECT_THAT(Refusal(few), HasSubstr(good));
  ServerOptions nowhere = Options();
  nowhere.preload = folder_ / "nowhere";
  EXPECT_THAT(Refusal(nowhere), HasSubstr("nowhere"));
}

TEST_F(PreloadTest, ASceneOfTheStoreRefusesTheStart) {
  const std::string file = Write("arena.carom", 3);
  ServerOptions options;
  options.store = "sqlite";
  options.state_dir = folder_ / "state";
  {
    TestServer server(options);
    server.Create("arena", {Square(1, 0, 0)});
  }
  options.preload = folder_ / "maps";
  EXPECT_THAT(Refusal(options), HasSubstr(file));
  EXPECT_THAT(Refusal(options), HasSubstr("the tenant default has"));
  std::filesystem::rename(file, folder_ / "maps/other.carom");
  TestServer server(options);
  EXPECT_EQ(
      server.Ask("groups { scene: 'scenes/arena' } groups { scene: 'scenes/other' }").groups_size(),
      2);
}

// As a process: a line on standard error, and the environment in place of the flag.
TEST_F(PreloadTest, AsAnOption) {
  const char* binary = std::getenv("CAROMD_BINARY");
  ASSERT_NE(binary, nullptr) << "CAROMD_BINARY is not set: run this through ctest";
  const std::string bad = Write("Bad Name.carom");
  const std::string maps = folder_ / "maps";
  const std::vector<std::vector<std::string>> commands = {
      {binary, "--address", "127.0.0.1:0", "--preload", maps},
      {"env", "CAROM_PRELOAD=" + maps, binary, "--address", "127.0.0.1:0"}};
  for (const std::vector<std::string>& command : commands) {
    const ProcessResult result = RunProcess(command, "", 30);
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.standard_output, "");
    EXPECT_EQ(std::count(result.standard_error.begin(), result.standard_error.end(), '\n'), 1);
    EXPECT_THAT(result.standard_error, HasSubstr(bad));
  }
}

}  // namespace
}  // namespace carom::server
