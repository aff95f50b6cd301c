// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// SceneService: what each RPC answers when all is well.
#include <set>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

class SceneServiceTest : public ::testing::Test {
 protected:
  v1::Scene Get(const std::string& name) {
    Context context;
    v1::GetSceneRequest request;
    request.set_name(name);
    v1::GetSceneResponse response;
    const grpc::Status status = server_.scenes().GetScene(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene();
  }
  grpc::Status Import(const std::vector<std::string>& parts, v1::Scene* scene = nullptr) {
    Context context;
    v1::ImportSceneResponse response;
    auto writer = server_.scenes().ImportScene(&context, &response);
    for (const std::string& part : parts) {
      if (!writer->Write(FromText<v1::ImportSceneRequest>(part))) break;
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (scene != nullptr) *scene = response.scene();
    return status;
  }

  TestServer server_;
};

TEST_F(SceneServiceTest, CreateAnswersTheSummary) {
  Context context;
  v1::CreateSceneResponse response;
  const auto request = FromText<v1::CreateSceneRequest>(absl::StrCat(
      "name: 'scenes/arena' polygons {", Square(0, 0, 0), "} polygons {", Square(9, 5, 7, 2), "}"));
  ASSERT_TRUE(server_.scenes().CreateScene(&context, request, &response).ok());
  const v1::Scene& scene = response.scene();
  EXPECT_EQ(scene.name(), "scenes/arena");
  EXPECT_GT(scene.version(), 0);
  EXPECT_EQ(scene.polygon_count(), 2);
  EXPECT_EQ(scene.vertex_count(), 8);
  EXPECT_EQ(scene.bounds().min_x(), -1);
  EXPECT_EQ(scene.bounds().min_y(), -1);
  EXPECT_EQ(scene.bounds().max_x(), 7);
  EXPECT_EQ(scene.bounds().max_y(), 9);
  EXPECT_EQ(Get("scenes/arena").SerializeAsString(), scene.SerializeAsString());
}

TEST_F(SceneServiceTest, EmptySceneHasNoBounds) {
  server_.Create("empty", {});
  EXPECT_FALSE(Get("scenes/empty").has_bounds());
}

TEST_F(SceneServiceTest, CommitMakesANewVersionOfAllEdits) {
  const uint64_t base = server_.Create("a", {Square(1, 0, 0), Square(2, 5, 0)});
  v1::CommitEditsResponse response;
  ASSERT_TRUE(server_
                  .Commit(absl::StrCat("name: 'scenes/a' base_version: ", base, " edits { add {",
                                       Square(3, 9, 0), "} } edits { replace {", Square(1, -7, 0),
                                       "} } edits { remove: 2 }"),
                          &response)
                  .ok());
  EXPECT_GT(response.scene().version(), base);
  EXPECT_EQ(response.scene().polygon_count(), 2);
  EXPECT_EQ(response.scene().bounds().min_x(), -8);
  EXPECT_EQ(response.scene().bounds().max_x(), 10);
}

TEST_F(SceneServiceTest, CommitWithoutEditsMakesANewVersion) {
  const uint64_t base = server_.Create("a", {Square(1, 0, 0)});
  ASSERT_TRUE(server_.Commit("name: 'scenes/a'").ok());
  EXPECT_GT(Get("scenes/a").version(), base);
  EXPECT_EQ(Get("scenes/a").polygon_count(), 1);
}

TEST_F(SceneServiceTest, DeletedSceneIsGoneAndGoesOnAboveItsVersions) {
  const uint64_t first = server_.Create("a", {});
  Context context;
  v1::DeleteSceneResponse response;
  v1::DeleteSceneRequest request;
  request.set_name("scenes/a");
  request.set_version(first);
  ASSERT_TRUE(server_.scenes().DeleteScene(&context, request, &response).ok());
  EXPECT_GT(server_.Create("a", {}), first);
}

TEST_F(SceneServiceTest, ListPagesAreCompleteAndOrdered) {
  for (int i = 0; i < 7; ++i) server_.Create(absl::StrCat("s", 9 - i), {});
  v1::ListScenesRequest request;
  request.set_page_size(3);
  std::vector<std::string> names;
  std::vector<int> sizes;
  do {
    Context context;
    v1::ListScenesResponse response;
    ASSERT_TRUE(server_.scenes().ListScenes(&context, request, &response).ok());
    for (const v1::Scene& scene : response.scenes()) names.push_back(scene.name());
    sizes.push_back(response.scenes_size());
    request.set_page_token(response.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_EQ(sizes, (std::vector<int>{3, 3, 1}));
  EXPECT_EQ(names.size(), 7);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST_F(SceneServiceTest, LargePageSizesAreReadAsTheGreatest) {
  server_.Create("a", {});
  Context context;
  v1::ListScenesRequest request;
  request.set_page_size(2000000000);
  v1::ListScenesResponse response;
  ASSERT_TRUE(server_.scenes().ListScenes(&context, request, &response).ok());
  EXPECT_EQ(response.scenes_size(), 1);
  EXPECT_EQ(response.next_page_token(), "");
}

TEST_F(SceneServiceTest, ImportJoinsItsParts) {
  v1::Scene scene;
  ASSERT_TRUE(Import({absl::StrCat("name: 'scenes/big' polygons {", Square(5, 0, 0), "}"), "",
                      absl::StrCat("name: 'scenes/big' mode: IMPORT_MODE_CREATE polygons {",
                                   Square(4, 9, 0), "} polygons {", Square(6, 3, 0), "}")},
                     &scene)
                  .ok());
  EXPECT_EQ(scene.polygon_count(), 3);
  EXPECT_EQ(Get("scenes/big").version(), scene.version());
}

TEST_F(SceneServiceTest, ImportReplacesOrCreates) {
  const std::string part = "name: 'scenes/a' mode: IMPORT_MODE_REPLACE polygons {";
  v1::Scene first;
  ASSERT_TRUE(Import({part + Square(1, 0, 0) + "}"}, &first).ok());
  v1::Scene second;
  ASSERT_TRUE(Import({part + Square(2, 50, 0) + "}"}, &second).ok());
  EXPECT_GT(second.version(), first.version());
  EXPECT_EQ(second.polygon_count(), 1);
  EXPECT_EQ(second.bounds().min_x(), 49);
}

// Seven hundred thousand vertices in parts below the limit of a message.
TEST_F(SceneServiceTest, ImportIsNotBoundByTheMessageLimit) {
  Context context;
  v1::ImportSceneResponse response;
  auto writer = server_.scenes().ImportScene(&context, &response);
  v1::ImportSceneRequest part;
  part.set_name("scenes/large");
  for (int p = 0; p < 7; ++p) {
    v1::Polygon& polygon = *part.add_polygons();
    polygon.set_id(p);
    v1::Ring& ring = *polygon.add_rings();
    for (int i = 0; i < 100000; ++i) {
      ring.add_x(i);
      ring.add_y((i % 7) * p);
    }
    ASSERT_TRUE(writer->Write(part));
    part.Clear();
  }
  writer->WritesDone();
  ASSERT_TRUE(writer->Finish().ok());
  EXPECT_EQ(response.scene().vertex_count(), 700000);
}

TEST_F(SceneServiceTest, UserDataAndCategoriesAreAccepted) {
  Context context;
  v1::CreateSceneRequest request;
  request.set_name("scenes/a");
  *request.add_polygons() = FromText<v1::Polygon>(Square(1, 0, 0));
  request.mutable_polygons(0)->set_category(0);
  request.mutable_polygons(0)->set_user_data(std::string(4096, '\0'));
  v1::CreateSceneResponse response;
  EXPECT_TRUE(server_.scenes().CreateScene(&context, request, &response).ok());
}

}  // namespace
}  // namespace carom::server
