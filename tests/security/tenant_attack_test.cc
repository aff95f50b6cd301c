// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A tenant that asks for more than its shares: it gets those, and what another one asks is answered
// all along.
#include <atomic>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/security/tenant_attack.h"

namespace carom::server {
namespace {

// What a tenant that is over its shares is answered: counts of calls that were served, by threads
// that try all at once.
class ShareAttackTest : public TenantAttackTest {
 protected:
  static constexpr int kScenes = 8, kStreams = 16;
  static constexpr uint64_t kWork = 2000000, kBytes = 4000000;

  void SetUp() override {
    lines_ = absl::StrCat("tenant flood scenes=", kScenes, " streams=", kStreams, " work=", kWork,
                          " bytes=", kBytes, "\n");
    TenantAttackTest::SetUp();
  }
  // Counts what is served; what is not must be for the share.
  void Count(const grpc::Status& status, const char* share, std::atomic<int>& served) {
    if (status.ok()) return void(++served);
    ++refused_;
    EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED) << status.error_message();
    EXPECT_THAT(status.error_message(), ::testing::HasSubstr(share));
  }
  size_t ListScenes() {
    As context("flood");
    v1::ListScenesResponse scenes;
    EXPECT_TRUE(v1::SceneService::NewStub(Connect())->ListScenes(&context, {}, &scenes).ok());
    return static_cast<size_t>(scenes.scenes_size());
  }
  void MakeScenes();
  void Grow();
  void Work();

  std::atomic<int> refused_{0}, made_{0}, grown_{0}, asked_{0};
  std::atomic<uint64_t> units_{0}, largest_{0};
};

// Makes scenes of names of its own and deletes one of three, so that places come free under load.
void ShareAttackTest::MakeScenes() {
  static std::atomic<int> number{0};
  const auto scenes = v1::SceneService::NewStub(Connect());
  As create_context("flood"), delete_context("flood");
  v1::CreateSceneRequest create;
  create.set_name(absl::StrCat("scenes/s-", ++number));
  v1::CreateSceneResponse created;
  const grpc::Status status = scenes->CreateScene(&create_context, create, &created);
  Count(status, "`scenes`", made_);
  if (!status.ok() || number % 3 != 0) return;
  v1::DeleteSceneRequest remove;
  remove.set_name(create.name());
  v1::DeleteSceneResponse removed;
  EXPECT_TRUE(scenes->DeleteScene(&delete_context, remove, &removed).ok());
}

void ShareAttackTest::Grow() {
  static std::atomic<int> number{10000};
  As context("flood");
  v1::CommitEditsRequest commit;
  commit.set_name("scenes/row");
  for (int i = 0; i < 200; ++i) {
    const int id = ++number;
    *commit.add_edits()->mutable_add() = FromText<v1::Polygon>(Square(id, 3.0 * id, 100));
  }
  v1::CommitEditsResponse committed;
  Count(v1::SceneService::NewStub(Connect())->CommitEdits(&context, commit, &committed), "`bytes`",
        grown_);
}

void ShareAttackTest::Work() {
  As context("flood");
  v1::EvaluateResponse response;
  const grpc::Status status =
      v1::QueryService::NewStub(Connect())->Evaluate(&context, LongCasts(1), &response);
  if (status.error_message().find("`streams`") != std::string::npos) return;
  Count(status, "`work`", asked_);
  const uint64_t units = response.answer().stats().work_units();
  units_ += units;
  if (units > largest_) largest_ = units;  // all are alike
}

TEST_F(ShareAttackTest, NobodyPassesAShareAndTheOtherIsServed) {
  const absl::Time begin = absl::Now();
  for (int i = 0; i < 3; ++i) {
    Attack([this] { MakeScenes(); });
    Attack([this] { Grow(); });
    Attack([this] { Work(); });
  }
  EXPECT_EQ(Measure(kIsSanitized ? 20 : 100).failures, 0);
  for (int i = 0; i < 20; ++i) EXPECT_LE(ListScenes(), kScenes);
  // Streams: whoever got one has it until the end.
  std::atomic<int> streams{0};
  std::vector<StreamCall> calls(100);
  const auto queries = v1::QueryService::NewStub(Connect());
  for (StreamCall& call : calls) {
    call.context.AddMetadata("authorization", "Bearer flood");
    call.stream = queries->Stream(&call.context);
    v1::StreamResponse response;
    if (call.stream->Write({}) && call.stream->Read(&response)) {
      ++streams;
    } else {
      Count(call.stream->Finish(), "`streams`", streams);
    }
  }
  Stop();
  const double seconds = absl::ToDoubleSeconds(absl::Now() - begin);
  for (StreamCall& call : calls) call.context.TryCancel();
  EXPECT_GT(streams, 0);
  EXPECT_LE(streams, kStreams);
  EXPECT_LE(ListScenes(), kScenes);
  EXPECT_GT(made_, 0);
  EXPECT_GT(grown_, 0);
  As context("flood");
  v1::GetSceneRequest get;
  get.set_name("scenes/row");
  v1::GetSceneResponse row;
  ASSERT_TRUE(v1::SceneService::NewStub(Connect())->GetScene(&context, get, &row).ok());
  EXPECT_LE(row.scene().polygon_count() * 320, kBytes);
  // A second's share at once, then as it comes; what is begun at once is at most a call a thread.
  const double most = static_cast<double>(kWork) * (seconds + 1);
  const double units = static_cast<double>(units_);
  EXPECT_LE(units, most + 3 * static_cast<double>(largest_));
  EXPECT_GT(asked_, 0);
  EXPECT_GT(refused_, 100);
  std::printf("in %.1f s %d scenes made, %d commits, %d calls of %.3g units of %.3g, %d refused\n",
              seconds, made_.load(), grown_.load(), asked_.load(), units, most, refused_.load());
}

}  // namespace
}  // namespace carom::server
