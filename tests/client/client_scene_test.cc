// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Scenes through `Client`: what comes back, and how refusals read.
#include <grpcpp/grpcpp.h>

#include <cmath>
#include <thread>

#include "carom/bundle.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "tests/client/fixture.h"

namespace carom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class ClientSceneTest : public ClientTest {};

TEST_F(ClientSceneTest, CreatesReadsAndDeletes) {
  const auto made = client_->CreateScene("scenes/arena", Squares(3));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->name, "scenes/arena");
  EXPECT_EQ(made->polygon_count, 3u);
  EXPECT_EQ(made->vertex_count, 12u);
  EXPECT_EQ(made->bounds.min, (Vec2{0, 0}));
  EXPECT_EQ(made->bounds.max, (Vec2{5, 1}));

  const auto read = client_->GetScene("scenes/arena");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, *made);

  EXPECT_TRUE(client_->DeleteScene("scenes/arena").ok());
  EXPECT_EQ(client_->GetScene("scenes/arena").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(client_->DeleteScene("scenes/arena").code(), StatusCode::kNotFound);
}

TEST_F(ClientSceneTest, AnEmptySceneHasEmptyBounds) {
  const auto made = client_->CreateScene("scenes/void", {});
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->bounds.empty());
  EXPECT_EQ(made->polygon_count, 0u);
}

// The server finds what the library finds.
TEST_F(ClientSceneTest, LintsAScene) {
  const std::vector<Polygon> walls = {Square(1, 0, 0), Square(2, 1.5, 0), Square(3, 1.5, 0)};
  const auto made = client_->CreateScene("scenes/arena", walls);
  ASSERT_TRUE(made.ok()) << made.status();
  const LintOptions options{.gap_radius = 0.5, .mover_radius = 1, .from = {{9, 9}}};
  const auto lint = client_->LintScene("scenes/arena", options);
  ASSERT_TRUE(lint.ok()) << lint.status();
  EXPECT_EQ(lint->version, made->version);
  WorkMeter meter;
  const auto expected = Lint(*Scene::Create(walls).value(), options, meter);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(lint->report.counts, expected->counts);
  ASSERT_EQ(lint->report.findings.size(), expected->findings.size());
  for (size_t i = 0; i < expected->findings.size(); ++i) {
    EXPECT_EQ(lint->report.findings[i].kind, expected->findings[i].kind);
    EXPECT_EQ(lint->report.findings[i].other_point, expected->findings[i].other_point);
    EXPECT_EQ(lint->report.findings[i].measure, expected->findings[i].measure);
    EXPECT_EQ(lint->report.findings[i].outline, expected->findings[i].outline);
  }
  const auto none = client_->LintScene("scenes/arena", {.kinds = 0});
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_TRUE(none->report.findings.empty());
  EXPECT_TRUE(Refuses(client_->LintScene("scenes/arena", {.gap_radius = -1}).status(),
                      StatusCode::kInvalidArgument, "gap_radius"));
  EXPECT_EQ(client_->LintScene("scenes/none").status().code(), StatusCode::kNotFound);
}

TEST_F(ClientSceneTest, RefusalsNameTheirField) {
  ASSERT_TRUE(client_->CreateScene("scenes/arena", Squares(1)).ok());
  EXPECT_EQ(client_->CreateScene("scenes/arena", {}).status().code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(Refuses(client_->GetScene("arena").status(), StatusCode::kInvalidArgument, "name"));
  EXPECT_TRUE(Refuses(client_->CreateScene("scenes/Arena", {}).status(),
                      StatusCode::kInvalidArgument, "name"));
  EXPECT_TRUE(Refuses(client_->DeleteScene(""), StatusCode::kInvalidArgument, "name"));
  EXPECT_TRUE(Refuses(client_->ListScenes(-1).status(), StatusCode::kInvalidArgument, "page_size"));
  EXPECT_TRUE(Refuses(client_->ListScenes(10, "no such token").status(),
                      StatusCode::kInvalidArgument, "page_token"));
  const std::vector<Polygon> twice = {Square(4, 0, 0), Square(5, 0, 0), Square(4, 9, 9)};
  EXPECT_TRUE(Refuses(client_->CreateScene("scenes/twice", twice).status(),
                      StatusCode::kInvalidArgument, "polygons[2].id"));
}

TEST_F(ClientSceneTest, ListsInPages) {
  for (const char* name : {"scenes/c", "scenes/a", "scenes/b"}) {
    ASSERT_TRUE(client_->CreateScene(name, {}).ok());
  }
  const auto first = client_->ListScenes(2);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_EQ(first->scenes.size(), 2u);
  EXPECT_EQ(first->scenes[0].name, "scenes/a");
  ASSERT_NE(first->next_page_token, "");
  const auto second = client_->ListScenes(2, first->next_page_token);
  ASSERT_TRUE(second.ok()) << second.status();
  ASSERT_EQ(second->scenes.size(), 1u);
  EXPECT_EQ(second->scenes[0].name, "scenes/c");
  EXPECT_EQ(second->next_page_token, "");
}

TEST_F(ClientSceneTest, ListsAll) {
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(client_->CreateScene(absl::StrCat("scenes/s", i), {}).ok());
  }
  const auto all = client_->ListAllScenes();
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->size(), 12u);
}

TEST_F(ClientSceneTest, CommitsAllEditsOrNone) {
  const auto made = client_->CreateScene("scenes/arena", Squares(3));
  ASSERT_TRUE(made.ok());
  const std::vector<SceneEdit> edits = {AddPolygon{Square(7, 0, 9)},
                                        ReplacePolygon{Square(1, 0, 20)}, RemovePolygon{2}};
  const auto edited = client_->CommitEdits("scenes/arena", made->version, edits);
  ASSERT_TRUE(edited.ok()) << edited.status();
  EXPECT_GT(edited->version, made->version);
  EXPECT_EQ(edited->polygon_count, 3u);
  EXPECT_EQ(edited->bounds.max.y, 21);

  // A stale base, then an id that is there, one that is not, and one named twice.
  EXPECT_EQ(client_->CommitEdits("scenes/arena", made->version, edits).status().code(),
            StatusCode::kAborted);
  const std::vector<SceneEdit> there = {RemovePolygon{0}, AddPolygon{Square(7, 0, 0)}};
  EXPECT_TRUE(Refuses(client_->CommitEdits("scenes/arena", 0, there).status(),
                      StatusCode::kAlreadyExists, "edits[1].add.id"));
  const std::vector<SceneEdit> missing = {RemovePolygon{0}, RemovePolygon{99}};
  EXPECT_TRUE(Refuses(client_->CommitEdits("scenes/arena", 0, missing).status(),
                      StatusCode::kNotFound, "edits[1].remove"));
  const std::vector<SceneEdit> twice = {RemovePolygon{0}, RemovePolygon{0}};
  EXPECT_EQ(client_->CommitEdits("scenes/arena", 0, twice).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(client_->GetScene("scenes/arena")->version, edited->version);
}

Polygon Circle(uint64_t id, int vertices) {
  std::vector<Vec2> ring;
  for (int i = 0; i < vertices; ++i) ring.push_back({std::cos(i * 1e-5), std::sin(i * 1e-5)});
  return PolygonOf(id, std::move(ring));
}

// A polygon just below the server's message limit was refused when small ones shared its part.
TEST_F(ClientSceneTest, ALargePolygonIsImportedWithOthers) {
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 14; ++id) polygons.push_back(Circle(id, 4000));
  polygons.push_back(Circle(14, 230000));
  const auto made = client_->ImportScene("scenes/large", polygons, ImportMode::kCreate);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->vertex_count, 286000u);
}

// A polygon of 400,000 vertices is 6.4 MB, more than a message may have. Equal scenes make equal
// bundles, byte by byte.
TEST_F(ClientSceneTest, APolygonMayBeLargerThanAMessage) {
  PolygonSpec spec = Circle(7, 300000).spec();
  spec.rings.push_back(Circle(0, 100000).spec().rings[0]);
  spec.rings.push_back({.vertices = {{5, 5}}, .open = false});
  spec.category = 12;
  spec.user_data = "large";
  const std::vector<Polygon> polygons = {Square(1, 0, 0), *Polygon::Create(spec),
                                         Circle(9, 1048576), Square(11, 4, 4)};
  const auto made = client_->ImportScene("scenes/large", polygons, ImportMode::kCreate);
  ASSERT_TRUE(made.ok()) << made.status();
  const auto exported = client_->ExportScene("scenes/large");
  ASSERT_TRUE(exported.ok()) << exported.status();
  const auto digest = [](std::vector<Polygon> of) {
    return WriteBundle(**Scene::Create(std::move(of)), BundleIndex::kNone);
  };
  EXPECT_TRUE(digest(*exported) == digest(polygons));
  const auto watch = client_->WatchScene("scenes/large", {.polygons = true});
  auto update = watch->Next();
  ASSERT_TRUE(update.ok()) << update.status();
  EXPECT_TRUE(digest(update->polygons) == digest(polygons));
  // One vertex more is over the limit of a polygon, whatever the message.
  const std::vector<Polygon> larger = {
      *Polygon::Create(Circle(9, 1048576).spec()), [] {
        PolygonSpec over;
        over.id = 10;
        over.rings.push_back({std::vector<Vec2>(1048577, Vec2{1, 1}), false});
        over.rings[0].vertices[0] = {2, 2};
        return *Polygon::Create(over, {.max_vertices = 2000000});
      }()};
  EXPECT_TRUE(Refuses(client_->ImportScene("scenes/over", larger, ImportMode::kCreate).status(),
                      StatusCode::kResourceExhausted, "polygons[1].rings"));
}

TEST_F(ClientSceneTest, ImportsInParts) {
  // 40 polygons of 4,000 vertices are above 2 MiB: three parts.
  std::vector<Polygon> polygons;
  for (uint64_t id = 0; id < 40; ++id) {
    std::vector<Vec2> ring;
    for (int i = 0; i < 4000; ++i) {
      ring.push_back({std::cos(i * 0.00157) + static_cast<double>(id), std::sin(i * 0.00157)});
    }
    polygons.push_back(PolygonOf(id, std::move(ring)));
  }
  const auto made = client_->ImportScene("scenes/large", polygons, ImportMode::kCreate);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->polygon_count, 40u);
  EXPECT_EQ(made->vertex_count, 160000u);

  EXPECT_EQ(client_->ImportScene("scenes/large", polygons, ImportMode::kCreate).status().code(),
            StatusCode::kAlreadyExists);
  // Ids are unique over all parts, and polygons are counted over them.
  polygons.push_back(Square(3, 0, 0));
  EXPECT_TRUE(Refuses(client_->ImportScene("scenes/large", polygons, ImportMode::kReplace).status(),
                      StatusCode::kInvalidArgument, "polygons[40].id"));
  EXPECT_EQ(client_->GetScene("scenes/large")->version, made->version);

  polygons.pop_back();
  polygons.pop_back();
  const auto replaced = client_->ImportScene("scenes/large", polygons, ImportMode::kReplace);
  ASSERT_TRUE(replaced.ok()) << replaced.status();
  EXPECT_EQ(replaced->polygon_count, 39u);
  EXPECT_GT(replaced->version, made->version);
}

TEST_F(ClientSceneTest, ImportsAnEmptyScene) {
  const auto made = client_->ImportScene("scenes/void", {}, ImportMode::kReplace);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->polygon_count, 0u);
}

// A server whose first answer is UNAVAILABLE, after a while.
class LateRefusal final : public v1::SceneService::Service {
 public:
  grpc::Status CommitEdits(grpc::ServerContext* context, const v1::CommitEditsRequest*,
                           v1::CommitEditsResponse*) override {
    deadlines.push_back(context->deadline());
    if (deadlines.size() > 1) return grpc::Status::OK;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return {grpc::StatusCode::UNAVAILABLE, "not yet"};
  }

  std::vector<std::chrono::system_clock::time_point> deadlines;
};

// A commit that was sent again had the whole time anew, so that it could take several times as long
// as its caller allowed.
TEST(ClientRetryTest, ACommitThatIsSentAgainHasTheTimeThatIsLeft) {
  const ScratchFolder folder;
  const std::string address = "unix:" + (folder / "socket");
  LateRefusal service;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  const auto client = Client::Connect(address);
  ASSERT_TRUE(client.ok()) << client.status();
  const auto made =
      (*client)->CommitEdits("scenes/a", 0, {}, {.timeout = std::chrono::seconds(10)});
  EXPECT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(service.deadlines.size(), 2u);
  EXPECT_LT(service.deadlines[1], service.deadlines[0] + std::chrono::milliseconds(250));
  server->Shutdown();
}

TEST(ClientConnectTest, RefusesMalformedTargets) {
  for (const char* target :
       {"", "localhost", ":7420", "localhost:", "localhost:0", "localhost:65536", "localhost:http",
        "unix:", "http://localhost:1", "::1:7420", "a:b:7420", "localhost:1,", ",localhost:1",
        "localhost:1,,localhost:2", "localhost:1,unix:", "localhost:1, localhost:2/"}) {
    EXPECT_TRUE(Refuses(Client::Connect(target).status(), StatusCode::kInvalidArgument, "target"))
        << target;
  }
  for (const char* target : {"localhost:7420", "[::1]:7420", "unix:socket", "unix:/run/carom",
                             "localhost:1,[::1]:7420,unix:/run/carom"}) {
    EXPECT_TRUE(Client::Connect(target).ok()) << target;
  }
}

TEST(ClientConnectTest, NobodyThereIsUnavailable) {
  const ScratchFolder folder;
  const auto client = Client::Connect("unix:" + (folder / "nobody"));
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->GetScene("scenes/a").status().code(), StatusCode::kUnavailable);
  EXPECT_EQ((*client)->ListAllScenes().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ((*client)->ImportScene("scenes/a", Squares(2), ImportMode::kCreate).status().code(),
            StatusCode::kUnavailable);
  EXPECT_EQ((*client)->Evaluate({}).status().code(), StatusCode::kUnavailable);
  const auto stream = (*client)->OpenStream({.reconnect_timeout = std::chrono::milliseconds(0)});
  EXPECT_EQ(stream->Receive().status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(stream->Finish().code(), StatusCode::kUnavailable);
}

// Two clients with a connection of their own each reach the same server.
TEST_F(ClientSceneTest, OwnConnection) {
  const auto other = Client::Connect(server_->address(), {.own_connection = true});
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE((*other)->CreateScene("scenes/a", {}).ok());
  EXPECT_TRUE(client_->GetScene("scenes/a").ok());
}

}  // namespace
}  // namespace carom
