// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Forks are cheap to make: that must not let one client take what the others need.
#include <atomic>
#include <thread>

#include "absl/strings/str_cat.h"
#include "tests/security/attack.h"

namespace carom::server {
namespace {

class ForkAttackTest : public AttackTest {
 protected:
  // A scene of so many squares, 3 apart.
  void CreateBase(int count) {
    v1::CreateSceneRequest request;
    request.set_name("scenes/base");
    for (int i = 0; i < count; ++i) {
      *request.add_polygons() =
          FromText<v1::Polygon>(Square(static_cast<uint64_t>(i + 1), 3 * (i % 200), 3 * (i / 200)));
    }
    Context context;
    v1::CreateSceneResponse response;
    const auto scenes = v1::SceneService::NewStub(Connect());
    ASSERT_TRUE(scenes->CreateScene(&context, request, &response).ok());
  }

  static grpc::Status Fork(v1::SceneService::Stub& scenes, std::string& name) {
    Context context;
    v1::ForkSceneResponse response;
    const grpc::Status status = scenes.ForkScene(
        &context, FromText<v1::ForkSceneRequest>("base: 'scenes/base' lease_seconds: 30"),
        &response);
    name = response.scene().name();
    return status;
  }

  static v1::StreamRequest EditOf(const std::string& fork, const std::string& id,
                                  const std::string& edits) {
    return FromText<v1::StreamRequest>(absl::StrCat(
        "frame { groups { scene: '", fork, "' edits { edit_id: '", id, "' ", edits, " } } }"));
  }

  // Another client forks, edits and deletes, in bounded time.
  void ExpectForkServed() {
    ExpectServed();
    const auto channel = Connect();
    const auto scenes = v1::SceneService::NewStub(channel);
    std::string name;
    const grpc::Status forked = Fork(*scenes, name);
    ASSERT_TRUE(forked.ok()) << forked.error_message();
    Context editing, deleting;
    v1::EvaluateRequest request;
    *request.mutable_frame() =
        EditOf(name, "e", "edits { replace { " + Square(1, 0, 0, 0.5) + " } }").frame();
    v1::EvaluateResponse response;
    ASSERT_TRUE(v1::QueryService::NewStub(channel)->Evaluate(&editing, request, &response).ok());
    EXPECT_NE(response.answer().groups(0).edited_version(), 0)
        << response.answer().ShortDebugString();
    v1::DeleteSceneRequest remove;
    remove.set_name(name);
    v1::DeleteSceneResponse removed;
    EXPECT_TRUE(scenes->DeleteScene(&deleting, remove, &removed).ok());
  }
};

// One client makes forks as long as it can, and keeps all of them alive by its frames.
TEST_F(ForkAttackTest, AFloodOfForksThatAreAllRenewed) {
  ASSERT_NO_FATAL_FAILURE(Start({"--max-forks", "2048"}));
  CreateBase(2000);
  const auto channel = Connect();
  const auto scenes = v1::SceneService::NewStub(channel);
  const size_t before = Memory();
  std::vector<std::string> names;
  grpc::Status refused;
  for (int i = 0; i < 3000 && refused.ok(); ++i) {
    refused = Fork(*scenes, names.emplace_back());
  }
  names.pop_back();
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED) << refused.error_message();
  EXPECT_GT(RetryDelay(ToStatus(refused)), 0);
  EXPECT_LE(names.size(), 1024);
  EXPECT_GT(names.size(), 512);
  EXPECT_TRUE(IsBelow(before + (16u << 20))) << Memory() - before;
  StreamCall call;
  call.stream = v1::QueryService::NewStub(channel)->Stream(&call.context);
  for (int round = 0; round < 5; ++round) {
    v1::StreamRequest request;
    for (const std::string& name : names) request.mutable_frame()->add_groups()->set_scene(name);
    v1::StreamResponse response;
    ASSERT_TRUE(call.stream->Write(request) && call.stream->Read(&response));
    EXPECT_EQ(response.answer().groups_size(), static_cast<int>(names.size()));
    ExpectForkServed();
  }
  // A second one leaves room for a third.
  const auto second = v1::SceneService::NewStub(Connect());
  std::string name;
  refused = grpc::Status();
  for (int i = 0; i < 3000 && refused.ok(); ++i) refused = Fork(*second, name);
  EXPECT_EQ(refused.error_code(), grpc::RESOURCE_EXHAUSTED);
  ExpectForkServed();
  call.context.TryCancel();
}

// Streams of one client edit its forks without end: some pages at a time, all of the index by a
// polygon that is far away, or much at once. What they take is bounded, and the others are served.
TEST_F(ForkAttackTest, AFloodOfEdits) {
  constexpr size_t kForkBytes = 64u << 20;
  ASSERT_NO_FATAL_FAILURE(Start({"--max-fork-bytes", absl::StrCat(kForkBytes)}));
  CreateBase(20000);
  const auto channel = Connect();
  const auto scenes = v1::SceneService::NewStub(channel);
  const auto queries = v1::QueryService::NewStub(channel);
  ExpectForkServed();
  ResetPeak();
  const size_t before = Peak();
  std::string much;
  for (uint64_t i = 1; i <= 4000; ++i) {
    absl::StrAppend(&much, "edits { replace { ",
                    Square(i, 3.0 * static_cast<double>(i % 200), 100, 0.5), " } }");
  }
  std::atomic<bool> stopped = false;
  std::atomic<int> made = 0, refused = 0;
  std::vector<std::thread> attackers;
  for (int a = 0; a < 6; ++a) {
    attackers.emplace_back([&, a] {
      std::vector<std::string> forks(8);
      std::vector<bool> has_far(8);
      for (std::string& fork : forks) ASSERT_TRUE(Fork(*scenes, fork).ok());
      StreamCall call;
      call.stream = queries->Stream(&call.context);
      for (size_t i = 0; !stopped; ++i) {
        const std::string id = absl::StrCat(i);
        const double far = 1e4 * static_cast<double>(i + 1);
        const std::string edits =
            a % 3 == 0
                ? absl::StrCat("edits { replace { ", Square(7, static_cast<double>(i), 0), " } }")
            : a % 3 == 1 ? absl::StrCat("edits { ", has_far[i % 8] ? "replace" : "add", " { ",
                                        Square(50000, far, far), " } }")
                         : much;
        v1::StreamResponse response;
        if (!call.stream->Write(EditOf(forks[i % 8], id, edits)) || !call.stream->Read(&response)) {
          break;
        }
        const bool is_made = response.answer().groups(0).edited_version() != 0;
        ++(is_made ? made : refused);
        has_far[i % 8] = has_far[i % 8] || is_made;
        if (!is_made) {
          ASSERT_EQ(response.answer().groups(0).status().code(), grpc::RESOURCE_EXHAUSTED)
              << response.answer().groups(0).status().message();
        }
      }
      call.context.TryCancel();
    });
  }
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kIsSanitized ? 1000 : 300));
    ExpectForkServed();
  }
  stopped = true;
  for (std::thread& attacker : attackers) attacker.join();
  EXPECT_GT(made, 100);
  EXPECT_TRUE(WasBelow(before + 3 * kForkBytes)) << (Peak() - before) << " bytes more";
  ExpectForkServed();
}

}  // namespace
}  // namespace carom::server
