// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What attacks of one tenant on another one share: calls by tenant, and how long the other one
// waits for what it asks all along.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "tests/security/attack.h"
#include "tests/support/certificates.h"
#include "tests/support/tokens.h"

namespace carom::server {

// Calls of a tenant, who is its own token.
struct As : Context {
  explicit As(const std::string& tenant) { AddMetadata("authorization", "Bearer " + tenant); }
};

// What the other tenant asks, and how long each took, in milliseconds.
struct Waits {
  static constexpr std::array<const char*, 3> kNames = {"stream", "Evaluate", "CommitEdits"};

  std::array<std::vector<double>, 3> of;
  int failures = 0;

  void Add(size_t kind, absl::Time begin, bool answered) {
    of[kind].push_back(absl::ToDoubleMilliseconds(absl::Now() - begin));
    failures += answered ? 0 : 1;
  }
  void Add(const Waits& more) {
    for (size_t i = 0; i < of.size(); ++i)
      of[i].insert(of[i].end(), more.of[i].begin(), more.of[i].end());
    failures += more.failures;
  }
  // The part of all that took no longer; sorts.
  double Quantile(size_t kind, double part) {
    std::sort(of[kind].begin(), of[kind].end());
    return of[kind][static_cast<size_t>(part * static_cast<double>(of[kind].size() - 1))];
  }
};

class TenantAttackTest : public AttackTest {
 protected:
  void SetUp() override {
    std::string credentials = lines_;
    for (const std::string& tenant : tenants_) {
      credentials += carom::testing::TokenLine(tenant, tenant, "admin");
    }
    carom::testing::ReplaceFile(folder_ / "credentials", credentials);
    options_.insert(options_.end(), {"--credentials", folder_ / "credentials"});
    ASSERT_NO_FATAL_FAILURE(Start(options_));
    CreateScenes(Connect());
  }
  // Those of each tenant.
  void CreateScenes(const std::shared_ptr<grpc::Channel>& channel) {
    const auto scenes = v1::SceneService::NewStub(channel);
    for (const std::string& tenant : tenants_) {
      for (const v1::CreateSceneRequest& request : {Teeth(20000), RowOfSquares()}) {
        As context(tenant);
        v1::CreateSceneResponse response;
        const grpc::Status status = scenes->CreateScene(&context, request, &response);
        ASSERT_TRUE(status.ok()) << status.error_message();
      }
    }
  }

  // Runs an attack again and again until `Stop`, on a thread of its own.
  void Attack(std::function<void()> once) {
    attackers_.emplace_back([this, once = std::move(once)] {
      while (!stop_) once();
    });
  }
  void Stop() {
    stop_ = true;
    for (std::thread& attacker : attackers_) attacker.join();
    attackers_.clear();
    stop_ = false;
  }

  Waits Measure(int rounds);

  std::vector<std::string> tenants_ = {"flood", "other"};
  std::vector<std::string> options_;  // of the server
  std::string lines_;                 // more of the file of credentials
  TemporaryFolder folder_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> attackers_;
};

// A frame of 64 segments on a stream, the same as a call, and a change of a scene, 4 ms apart.
inline Waits TenantAttackTest::Measure(int rounds) {
  const auto channel = Connect();
  const auto queries = v1::QueryService::NewStub(channel);
  const auto scenes = v1::SceneService::NewStub(channel);
  As stream_context("other");
  const auto stream = queries->Stream(&stream_context);
  v1::EvaluateRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene("scenes/row");
  for (int i = 0; i < 64; ++i) {
    group.mutable_segments()->add_ax(90.0 * i);
    group.mutable_segments()->add_ay(-2);
    group.mutable_segments()->add_bx(90.0 * i + 10);
    group.mutable_segments()->add_by(2);
  }
  v1::StreamRequest frame;
  *frame.mutable_frame() = request.frame();
  v1::CommitEditsRequest commit;
  commit.set_name("scenes/row");
  *commit.add_edits()->mutable_replace() = FromText<v1::Polygon>(Square(7, 0, 50));
  Waits waits;
  for (int i = 0; i < rounds; ++i) {
    absl::Time begin = absl::Now();
    v1::StreamResponse of_stream;
    const bool streamed = stream->Write(frame) && stream->Read(&of_stream) &&
                          of_stream.answer().groups_size() == 1 &&
                          of_stream.answer().groups(0).status().code() == 0;
    waits.Add(0, begin, streamed);
    absl::SleepFor(absl::Milliseconds(1));
    As evaluate_context("other"), commit_context("other");
    begin = absl::Now();
    v1::EvaluateResponse evaluated;
    const grpc::Status asked = queries->Evaluate(&evaluate_context, request, &evaluated);
    waits.Add(1, begin, asked.ok() && evaluated.answer().groups(0).status().code() == 0);
    absl::SleepFor(absl::Milliseconds(1));
    begin = absl::Now();
    v1::CommitEditsResponse committed;
    waits.Add(2, begin, scenes->CommitEdits(&commit_context, commit, &committed).ok());
    absl::SleepFor(absl::Milliseconds(2));
  }
  stream_context.TryCancel();
  return waits;
}

}  // namespace carom::server
