// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of a fleet share: replicas in this process over one etcd, some of them behind
// proxies that cut them off.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "carom/client.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "tests/server/fixture.h"
#include "tests/store/etcd_cluster.h"
#include "tests/store/fixture.h"
#include "tests/support/cut_proxy.h"

namespace carom::server {

// A server in this process, and a client of it.
class FleetReplica {
 public:
  explicit FleetReplica(
      const std::string& store,
      const std::function<void(ServerOptions&)>& change = [](ServerOptions&) {}) {
    ServerOptions options;
    options.store = store;
    change(options);
    server = std::make_unique<TestServer>(options);
    client = Client::Connect(server->server().address(), {.own_connection = true}).value();
    health = grpc::health::v1::Health::NewStub(server->channel());
  }

  bool IsServing(const std::string& service) {
    Context context;
    grpc::health::v1::HealthCheckRequest request;
    request.set_service(service);
    grpc::health::v1::HealthCheckResponse response;
    return health->Check(&context, request, &response).ok() &&
           response.status() == grpc::health::v1::HealthCheckResponse::SERVING;
  }
  bool TakesChanges() { return IsServing("carom.v1.SceneService"); }
  bool IsReady() { return IsServing("carom.v1.QueryService"); }

  // The version that is here; 0: no scene.
  uint64_t Version(const std::string& name) {
    const auto scene = client->GetScene(name);
    return scene.ok() ? scene->version : 0;
  }
  bool Sees(const std::string& name, uint64_t version) {
    return Eventually([&] { return Version(name) >= version; });
  }
  // Commits one polygon, whatever the version.
  absl::StatusOr<uint64_t> Add(const std::string& name, uint64_t id, uint64_t base = 0) {
    const std::vector<SceneEdit> edits{AddPolygon{SquareAt(id, 2.0 * static_cast<double>(id))}};
    const auto made = client->CommitEdits(name, base, edits);
    if (!made.ok()) return made.status();
    return made->version;
  }
  // Ids of the polygons that are there, with their first coordinates.
  std::vector<std::pair<uint64_t, double>> Squares(const std::string& name, uint64_t version = 0) {
    std::vector<std::pair<uint64_t, double>> squares;
    const auto polygons = client->ExportScene(name, version);
    EXPECT_TRUE(polygons.ok()) << polygons.status();
    if (!polygons.ok()) return squares;
    for (const Polygon& polygon : *polygons) {
      squares.emplace_back(polygon.id(), polygon.vertices()[0].x);
    }
    return squares;
  }
  // The answer to where many points are, as bytes, without what it cost.
  std::string Answer(const std::string& name, uint64_t version = 0) {
    v1::Frame frame;
    v1::Group& group = *frame.add_groups();
    group.set_scene(name);
    group.set_version(version);
    for (int i = 0; i < 200; ++i) {
      group.mutable_points()->add_x(0.5 * i);
      group.mutable_points()->add_y(0.5);
      group.mutable_segments()->add_ax(-1);
      group.mutable_segments()->add_ay(0.01 * i);
      group.mutable_segments()->add_bx(1000);
      group.mutable_segments()->add_by(0.5);
    }
    v1::FrameAnswer answer;
    const grpc::Status status = server->Evaluate(frame, answer);
    EXPECT_TRUE(status.ok()) << status.error_message();
    answer.clear_stats();
    return answer.SerializeAsString();
  }
  uint64_t Staleness() { return server->Ask("seq: 1").stats().staleness_us(); }

  std::unique_ptr<TestServer> server;
  std::unique_ptr<Client> client;
  std::unique_ptr<grpc::health::v1::Health::Stub> health;
};

// A cluster, and proxies in front of its members.
class FleetTest : public ::testing::Test {
 protected:
  void StartEtcd(int members, const std::vector<std::string>& options = {}) {
    etcd_ = carom::testing::EtcdCluster::Start(folder_ / "etcd", members, options);
    ASSERT_NE(etcd_, nullptr);
  }
  // The URL of the proxies, made with the first call.
  std::string ProxiedUrl(const std::string& prefix = "/carom") {
    std::vector<std::string> endpoints;
    for (int i = 0; i < etcd_->size(); ++i) {
      if (proxies_.size() <= static_cast<size_t>(i)) {
        proxies_.push_back(carom::testing::CutProxy::Start(etcd_->client_port(i), [this] {
          return is_cut_ ? carom::testing::CutProxy::Plan{0, 0} : carom::testing::CutProxy::Plan{};
        }));
      }
      endpoints.push_back(proxies_[static_cast<size_t>(i)]->address());
    }
    return absl::StrCat("etcd://", absl::StrJoin(endpoints, ","), prefix);
  }
  void Cut() {
    is_cut_ = true;
    for (const auto& proxy : proxies_) proxy->CutAll();
  }
  void Mend() { is_cut_ = false; }

  TemporaryFolder folder_;
  std::unique_ptr<carom::testing::EtcdCluster> etcd_;
  std::atomic<bool> is_cut_{false};
  std::vector<std::unique_ptr<carom::testing::CutProxy>> proxies_;
};

}  // namespace carom::server
