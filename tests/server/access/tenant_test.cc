// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Tenants: what each role may do with its own scenes, and that nobody can see those of another
// tenant.
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "carom/bundle_file.h"
#include "support/certificates.h"
#include "support/tokens.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

using carom::testing::ReplaceFile;
using carom::testing::TokenLine;

constexpr const char* kRoles[] = {"reader", "writer", "admin"};

// What a call came to, to the byte; `answer` leaves out what differs between any two calls.
struct Outcome {
  int code = 0;
  std::string message, details, answer;

  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend void PrintTo(const Outcome& outcome, std::ostream* out) {
    *out << outcome.code << " " << outcome.message << " " << outcome.answer;
  }
};

Outcome Of(const grpc::Status& status, const std::string& answer = "") {
  return {status.error_code(), status.error_message(), status.error_details(), answer};
}

// A call about a scene, by its name; numbers are those of its arguments.
struct Rpc {
  const char* name;
  int least;  // role that may call it, by its place in kRoles
  std::function<Outcome(TestServer&, Context&, const std::string& scene, uint64_t number)> call;
};

template <class Request, class Response>
std::function<Outcome(TestServer&, Context&, const std::string&, uint64_t)> Unary(
    grpc::Status (v1::SceneService::Stub::*method)(grpc::ClientContext*, const Request&, Response*),
    std::function<void(Request&, const std::string&, uint64_t)> fill) {
  return [=](TestServer& server, Context& context, const std::string& scene, uint64_t number) {
    Request request;
    Response response;
    fill(request, scene, number);
    const grpc::Status status = (server.scenes().*method)(&context, request, &response);
    return Of(status, status.ok() ? "answered" : response.SerializeAsString());
  };
}

// A group of a frame, alone or by a handle on a stream.
Outcome Ask(TestServer& server, Context& context, const v1::Frame& frame, bool streams) {
  v1::FrameAnswer answer;
  grpc::Status status;
  if (streams) {
    const auto stream = server.queries().Stream(&context);
    v1::StreamRequest request;
    v1::StreamResponse response;
    *request.mutable_frame() = frame;
    if (stream->Write(request) && stream->Read(&response)) answer = response.answer();
    stream->WritesDone();
    while (stream->Read(&response)) {
    }
    status = stream->Finish();
  } else {
    v1::EvaluateRequest request;
    v1::EvaluateResponse response;
    *request.mutable_frame() = frame;
    status = server.queries().Evaluate(&context, request, &response);
    answer = response.answer();
  }
  answer.clear_stats();
  return Of(status, answer.SerializeAsString());
}

// Those of one request and one answer.
std::vector<Rpc> UnaryRpcs() {
  using Stub = v1::SceneService::Stub;
  std::vector<Rpc> rpcs;
  rpcs.push_back({"GetScene", 0,
                  Unary<v1::GetSceneRequest, v1::GetSceneResponse>(
                      &Stub::GetScene, [](auto& request, const std::string& scene, uint64_t n) {
                        request.set_name(scene);
                        request.set_version(n % 8);
                      })});
  rpcs.push_back({"ListSceneVersions", 0,
                  Unary<v1::ListSceneVersionsRequest, v1::ListSceneVersionsResponse>(
                      &Stub::ListSceneVersions, [](auto& request, const std::string& scene,
                                                   uint64_t) { request.set_name(scene); })});
  rpcs.push_back({"CommitEdits", 1,
                  Unary<v1::CommitEditsRequest, v1::CommitEditsResponse>(
                      &Stub::CommitEdits, [](auto& request, const std::string& scene, uint64_t n) {
                        request.set_name(scene);
                        request.set_base_version(n % 8);
                        request.add_edits()->set_remove(n % 5);
                      })});
  rpcs.push_back(
      {"RollbackScene", 1,
       Unary<v1::RollbackSceneRequest, v1::RollbackSceneResponse>(
           &Stub::RollbackScene, [](auto& request, const std::string& scene, uint64_t n) {
             request.set_name(scene);
             request.set_version(1 + n % 8);
           })});
  rpcs.push_back({"DeleteScene", 2,
                  Unary<v1::DeleteSceneRequest, v1::DeleteSceneResponse>(
                      &Stub::DeleteScene, [](auto& request, const std::string& scene, uint64_t n) {
                        request.set_name(scene);
                        request.set_version(1000000 + n);
                      })});
  rpcs.push_back({"ForkScene", 1,
                  Unary<v1::ForkSceneRequest, v1::ForkSceneResponse>(
                      &Stub::ForkScene, [](auto& request, const std::string& scene, uint64_t n) {
                        request.set_base(scene);
                        request.set_version(n % 8);
                        request.set_lease_seconds(1);
                      })});
  return rpcs;
}

std::vector<Rpc> Rpcs() {
  std::vector<Rpc> rpcs = UnaryRpcs();
  rpcs.push_back({"ExportScene", 0,
                  [](TestServer& server, Context& context, const std::string& scene, uint64_t n) {
                    v1::ExportSceneRequest request;
                    request.set_name(scene);
                    request.set_version(n % 8);
                    v1::ExportSceneResponse part;
                    const auto reader = server.scenes().ExportScene(&context, request);
                    size_t parts = 0;
                    while (reader->Read(&part)) ++parts;
                    return Of(reader->Finish(), parts == 0 ? "" : "answered");
                  }});
  rpcs.push_back({"WatchScene", 0,
                  [](TestServer& server, Context& context, const std::string& scene, uint64_t n) {
                    v1::WatchSceneRequest request;
                    request.set_name(scene);
                    request.set_from_version(n % 2 == 0 ? 0 : 1000000);
                    v1::WatchSceneResponse part;
                    const auto watch = server.scenes().WatchScene(&context, request);
                    const bool answered = watch->Read(&part);
                    if (answered) context.TryCancel();
                    const grpc::Status status = watch->Finish();
                    return answered ? Of(grpc::Status::OK, "answered") : Of(status);
                  }});
  for (const bool streams : {false, true}) {
    rpcs.push_back(
        {streams ? "Stream" : "Evaluate", 0,
         [streams](TestServer& server, Context& context, const std::string& scene, uint64_t n) {
           v1::Frame frame;
           frame.set_seq(7);
           v1::SceneBinding& binding = *frame.add_bindings();
           binding.set_handle(1);
           binding.set_scene(scene);
           for (const bool by_handle : {false, true}) {
             v1::Group& group = *frame.add_groups();
             if (by_handle) group.set_scene_handle(1);
             if (!by_handle) group.set_scene(scene);
             if (n % 3 == 1) group.set_version(1 + n % 8);
             if (n % 3 == 2) group.set_min_version(n % 8);
             group.mutable_points()->add_x(0);
             group.mutable_points()->add_y(0);
           }
           return Ask(server, context, frame, streams);
         }});
  }
  rpcs.push_back({"Evaluate with edits", 1,
                  [](TestServer& server, Context& context, const std::string& scene, uint64_t) {
                    v1::Frame frame;
                    v1::Group& group = *frame.add_groups();
                    group.set_scene(scene);
                    group.mutable_edits()->set_edit_id("e");
                    group.mutable_edits()->add_edits()->set_remove(1);
                    return Ask(server, context, frame, false);
                  }});
  return rpcs;
}

class TenantTest : public ::testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    std::string lines;
    for (const char* tenant : {"acme", "other", "default"}) {
      for (const char* role : kRoles) {
        lines += TokenLine(absl::StrCat(tenant, "-", role), tenant, role);
      }
    }
    ReplaceFile(folder_ / "credentials", lines);
    options.credentials = folder_ / "credentials";
    server_.emplace(options);
  }

  struct As : Context {
    explicit As(const std::string& token) { AddMetadata("authorization", "Bearer " + token); }
  };

  // Registers a scene with a square; returns its version.
  uint64_t Create(const std::string& tenant, const std::string& scene, double x = 0) {
    As context(tenant + "-admin");
    v1::CreateSceneRequest request;
    request.set_name("scenes/" + scene);
    *request.add_polygons() = FromText<v1::Polygon>(Square(1, x, 0));
    v1::CreateSceneResponse response;
    const grpc::Status status = server_->scenes().CreateScene(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.scene().version();
  }
  std::vector<std::string> List(const std::string& tenant, int page_size = 0) {
    std::vector<std::string> names;
    v1::ListScenesRequest request;
    request.set_page_size(page_size);
    do {
      As context(tenant + "-reader");
      v1::ListScenesResponse response;
      EXPECT_TRUE(server_->scenes().ListScenes(&context, request, &response).ok());
      for (const v1::Scene& scene : response.scenes()) names.push_back(scene.name());
      request.set_page_token(response.next_page_token());
    } while (!request.page_token().empty());
    return names;
  }

  TemporaryFolder folder_;
  std::optional<TestServer> server_;
};

// The metrics are sums over all tenants, which say how much others ask.
TEST_F(TenantTest, MetricsAreNotForTenants) {
  Start();
  for (const auto& [name, code] : {std::pair{"acme-admin", grpc::StatusCode::PERMISSION_DENIED},
                                   std::pair{"acme-reader", grpc::StatusCode::PERMISSION_DENIED},
                                   std::pair{"default-reader", grpc::StatusCode::OK},
                                   std::pair{"nobody", grpc::StatusCode::UNAUTHENTICATED}}) {
    As context(name);
    v1::GetMetricsResponse response;
    EXPECT_EQ(server_->scenes().GetMetrics(&context, {}, &response).error_code(), code) << name;
    EXPECT_EQ(response.text().empty(), code != grpc::StatusCode::OK) << name;
  }
}

// The table of docs/operations.md.
TEST_F(TenantTest, EachRoleMayDoWhatTheTableSays) {
  Start();
  Create("acme", "mine");
  for (const Rpc& rpc : Rpcs()) {
    for (int role = 0; role < 3; ++role) {
      for (const char* scene : {"scenes/mine", "scenes/none"}) {
        As context(absl::StrCat("acme-", kRoles[role]));
        const Outcome outcome = rpc.call(*server_, context, scene, 0);
        const bool is_denied = outcome.code == grpc::StatusCode::PERMISSION_DENIED ||
                               outcome.answer.find("may not do this") != std::string::npos;
        EXPECT_EQ(is_denied, role < rpc.least)
            << rpc.name << " as " << kRoles[role] << " of " << scene;
      }
    }
  }
}

// A writer deletes the forks that it makes.
TEST_F(TenantTest, ForksAreDeletedByWhoMayMakeThem) {
  Start();
  Create("acme", "mine");
  As fork_context("acme-writer"), delete_context("acme-writer"), reader_context("acme-reader");
  v1::ForkSceneRequest fork;
  fork.set_base("scenes/mine");
  fork.set_name("scenes/fork");
  v1::ForkSceneResponse forked;
  ASSERT_TRUE(server_->scenes().ForkScene(&fork_context, fork, &forked).ok());
  EXPECT_EQ(forked.scene().name(), "scenes/fork");
  EXPECT_EQ(forked.scene().base(), "scenes/mine");
  EXPECT_EQ(List("acme"), (std::vector<std::string>{"scenes/fork", "scenes/mine"}));
  EXPECT_TRUE(List("other").empty());
  v1::DeleteSceneRequest request;
  request.set_name("scenes/fork");
  v1::DeleteSceneResponse response;
  EXPECT_EQ(server_->scenes().DeleteScene(&reader_context, request, &response).error_code(),
            grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_TRUE(server_->scenes().DeleteScene(&delete_context, request, &response).ok());
}

// 10,000 calls about a scene of another tenant, or a fork of one, come to what the same calls about
// a scene that nobody has come to, byte for byte.
TEST_F(TenantTest, AnothersSceneIsAsOneThatIsMissing) {
  Start();
  Create("acme", "aaaa");
  Create("default", "dddd");
  As fork_context("acme-writer");
  v1::ForkSceneRequest fork;
  fork.set_base("scenes/aaaa");
  fork.set_name("scenes/ffff");
  fork.set_lease_seconds(3600);
  v1::ForkSceneResponse forked;
  ASSERT_TRUE(server_->scenes().ForkScene(&fork_context, fork, &forked).ok());
  const std::vector<Rpc> rpcs = Rpcs();
  std::mt19937_64 random(20);
  const std::pair<const char*, const char*> targets[] = {{"other", "aaaa"},   {"other", "dddd"},
                                                         {"other", "ffff"},   {"default", "aaaa"},
                                                         {"default", "ffff"}, {"acme", "dddd"}};
  const int attempts = kIsSanitized ? 1000 : 10000;
  int not_found = 0;
  for (int i = 0; i < attempts && !HasFailure(); ++i) {
    const auto& [tenant, scene] = targets[random() % std::size(targets)];
    const Rpc& rpc = rpcs[random() % rpcs.size()];
    const int role = static_cast<int>(random() % 3);
    const uint64_t number = random();
    const std::string token = absl::StrCat(tenant, "-", kRoles[role]);
    As of_other(token), of_missing(token);
    const Outcome theirs = rpc.call(*server_, of_other, absl::StrCat("scenes/", scene), number);
    const Outcome missing = rpc.call(*server_, of_missing, "scenes/none", number);
    EXPECT_EQ(theirs, missing) << rpc.name << " as " << token << " of " << scene << ", " << number;
    not_found += theirs.code == grpc::StatusCode::NOT_FOUND ? 1 : 0;
    EXPECT_NE(theirs.answer, "answered") << rpc.name;
  }
  EXPECT_GT(not_found, attempts / 4);
  // What is whose is still there.
  EXPECT_EQ(List("acme"), (std::vector<std::string>{"scenes/aaaa", "scenes/ffff"}));
  EXPECT_EQ(List("default"), (std::vector<std::string>{"scenes/dddd"}));
}

// The same name is a scene of each, and nobody's change is seen by the other.
TEST_F(TenantTest, TheSameNameIsAnotherSceneForEach) {
  Start();
  Create("acme", "map", 0);
  Create("other", "map", 100);
  Create("default", "map", 200);
  const auto hit = [&](const std::string& tenant, double x) {
    As context(tenant + "-reader");
    v1::EvaluateRequest request;
    v1::Group& group = *request.mutable_frame()->add_groups();
    group.set_scene("scenes/map");
    group.mutable_points()->add_x(x);
    group.mutable_points()->add_y(0);
    v1::EvaluateResponse response;
    EXPECT_TRUE(server_->queries().Evaluate(&context, request, &response).ok());
    return response.answer().groups(0).points().polygon_id_size() == 1;
  };
  EXPECT_TRUE(hit("acme", 0) && hit("other", 100) && hit("default", 200));
  EXPECT_FALSE(hit("acme", 100) || hit("other", 0) || hit("default", 0) || hit("acme", 200));
  // A watch of one hears of its own scene alone.
  As watch_context("acme-reader");
  v1::WatchSceneRequest watch_request;
  watch_request.set_name("scenes/map");
  const auto watch = server_->scenes().WatchScene(&watch_context, watch_request);
  v1::WatchSceneResponse part;
  ASSERT_TRUE(watch->Read(&part));
  const auto commit = [&](const std::string& tenant) {
    As context(tenant + "-writer");
    v1::CommitEditsRequest request;
    request.set_name("scenes/map");
    *request.add_edits()->mutable_add() = FromText<v1::Polygon>(Square(2, 5, 5));
    v1::CommitEditsResponse response;
    EXPECT_TRUE(server_->scenes().CommitEdits(&context, request, &response).ok());
    return response.scene().version();
  };
  commit("other");
  commit("default");
  const uint64_t own = commit("acme");
  ASSERT_TRUE(watch->Read(&part));
  EXPECT_EQ(part.scene().version(), own);
  EXPECT_EQ(part.scene().name(), "scenes/map");
}

TEST_F(TenantTest, ListsAreOfOnesOwnInPages) {
  Start();
  // Names and tenants that could be taken for one another.
  for (const char* name : {"c", "a", "b", "scenes"}) Create("acme", name);
  for (const char* name : {"a", "zz"}) Create("other", name);
  Create("default", "acme");
  for (const int size : {0, 1, 2, 3}) {
    EXPECT_EQ(List("acme", size),
              (std::vector<std::string>{"scenes/a", "scenes/b", "scenes/c", "scenes/scenes"}));
    EXPECT_EQ(List("other", size), (std::vector<std::string>{"scenes/a", "scenes/zz"}));
    EXPECT_EQ(List("default", size), (std::vector<std::string>{"scenes/acme"}));
  }
}

// Scenes of all tenants are there again after a start, and a file of before has those of `default`.
TEST_F(TenantTest, ScenesLastWithTheirTenants) {
  ServerOptions options;
  options.store = "sqlite";
  options.state_dir = folder_ / "state";
  {
    TestServer before(options);  // without credentials
    before.Create("old", {Square(1, 0, 0)});
  }
  Start(options);
  Create("acme", "new");
  Create("acme", "old");
  v1::CommitEditsRequest commit;
  commit.set_name("scenes/new");
  v1::CommitEditsResponse committed;
  As writer("acme-writer");
  ASSERT_TRUE(server_->scenes().CommitEdits(&writer, commit, &committed).ok());
  server_.reset();
  Start(options);
  // What came before is read from the file.
  As history("acme-writer");
  v1::ListSceneVersionsRequest list;
  list.set_name("scenes/new");
  v1::ListSceneVersionsResponse versions;
  ASSERT_TRUE(server_->scenes().ListSceneVersions(&history, list, &versions).ok());
  ASSERT_EQ(versions.versions_size(), 2);
  v1::RollbackSceneRequest rollback;
  rollback.set_name("scenes/new");
  rollback.set_version(
      std::min(versions.versions(0).scene().version(), versions.versions(1).scene().version()));
  v1::RollbackSceneResponse back;
  As again("acme-writer");
  const grpc::Status rolled = server_->scenes().RollbackScene(&again, rollback, &back);
  EXPECT_TRUE(rolled.ok()) << rolled.error_message();
  EXPECT_EQ(List("default"), (std::vector<std::string>{"scenes/old"}));
  EXPECT_EQ(List("acme"), (std::vector<std::string>{"scenes/new", "scenes/old"}));
  for (const char* tenant : {"default", "acme"}) {
    As context(absl::StrCat(tenant, "-admin"));
    v1::DeleteSceneRequest request;
    request.set_name("scenes/old");
    v1::DeleteSceneResponse response;
    EXPECT_TRUE(server_->scenes().DeleteScene(&context, request, &response).ok()) << tenant;
  }
  EXPECT_EQ(List("acme"), (std::vector<std::string>{"scenes/new"}));
}

// Everybody reads them, under one version, and nobody has a scene of their names.
TEST_F(TenantTest, PreloadedScenesAreReadByAll) {
  std::filesystem::create_directory(folder_ / "bundles");
  const auto scene = Scene::Create({});
  ASSERT_TRUE(scene.ok() && SaveBundle(**scene, folder_ / "bundles/map.carom").ok());
  ServerOptions options;
  options.preload = folder_ / "bundles";
  Start(options);
  Create("acme", "a");
  Create("acme", "z");
  for (const int size : {0, 1, 2}) {
    EXPECT_EQ(List("acme", size), (std::vector<std::string>{"scenes/a", "scenes/map", "scenes/z"}));
    EXPECT_EQ(List("other", size), (std::vector<std::string>{"scenes/map"}));
  }
  for (const char* tenant : {"acme", "default"}) {
    As create(absl::StrCat(tenant, "-admin")), fork(absl::StrCat(tenant, "-writer"));
    v1::CreateSceneRequest request;
    request.set_name("scenes/map");
    v1::CreateSceneResponse response;
    EXPECT_EQ(server_->scenes().CreateScene(&create, request, &response).error_code(),
              grpc::StatusCode::FAILED_PRECONDITION);
    v1::ForkSceneRequest base;
    base.set_base("scenes/map");
    base.set_name("scenes/own");
    v1::ForkSceneResponse forked;
    EXPECT_TRUE(server_->scenes().ForkScene(&fork, base, &forked).ok());
    EXPECT_EQ(forked.scene().base(), "scenes/map");
  }
}

}  // namespace
}  // namespace carom::server
