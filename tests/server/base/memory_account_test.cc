// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is taken is given back, and never more than a share.
#include "server/base/memory_account.h"

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/base/memory_watch.h"
#include "server/store/memory_store.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

TEST(MemoryAccountTest, SharesDoNotTakeFromEachOther) {
  MemoryAccount account(1000);
  EXPECT_EQ(account.limit(MemoryShare::kScenes), 500u);
  EXPECT_TRUE(account.Take(MemoryShare::kScenes, 500).ok());
  const absl::Status refused = account.Take(MemoryShare::kScenes, 1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(refused.message().find("scenes"), absl::string_view::npos) << refused;
  EXPECT_TRUE(account.Take(MemoryShare::kTrackers, 100).ok());
  EXPECT_TRUE(account.Take(MemoryShare::kMessages, 150).ok());
  EXPECT_EQ(account.available(MemoryShare::kTrackers), 0u);
  account.Release(MemoryShare::kScenes, 500);
  EXPECT_EQ(account.available(MemoryShare::kScenes), 500u);
  // What is there already counts, and keeps others out.
  account.TakePastLimit(MemoryShare::kScenes, 700);
  EXPECT_EQ(account.available(MemoryShare::kScenes), 0u);
  EXPECT_FALSE(account.Take(MemoryShare::kScenes, 0).ok());
  EXPECT_FALSE(account.Take(MemoryShare::kScenes, ~uint64_t{0}).ok());
  account.Release(MemoryShare::kScenes, 700);
  EXPECT_TRUE(account.Take(MemoryShare::kScenes, 500).ok());
}

TEST(MemoryAccountTest, ChargesGoBackWithTheirOwner) {
  MemoryAccount account(1000);
  const auto used = [&] { return 500 - account.available(MemoryShare::kScenes); };
  {
    MemoryCharge charge(account, MemoryShare::kScenes);
    EXPECT_TRUE(charge.Add(200).ok());
    EXPECT_TRUE(charge.Add(100).ok());
    EXPECT_FALSE(charge.Add(201).ok());
    EXPECT_EQ(used(), 300u);
    MemoryCharge other = std::move(charge);
    EXPECT_EQ(charge.bytes(), 0u);  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(other.bytes(), 300u);
    other.Set(50);
    EXPECT_EQ(used(), 50u);
    other = MemoryCharge(account, MemoryShare::kScenes);
    EXPECT_EQ(used(), 0u);
    EXPECT_TRUE(other.Add(40).ok());
  }
  EXPECT_EQ(used(), 0u);
}

// A peer has no more than the others have left, so there is always some for the next.
TEST(MemoryAccountTest, PeersLeaveSomeForOthers) {
  MemoryAccount account(10000000);
  constexpr MemoryShare kShare = MemoryShare::kTrackers;  // 1,000,000 bytes
  std::vector<std::shared_ptr<MemoryPeer>> peers;
  for (int i = 0; i < 4; ++i) {
    peers.push_back(account.Peer(absl::StrCat("peer ", i)));
    MemoryPeer* const peer = peers.back().get();
    EXPECT_EQ(account.Peer(absl::StrCat("peer ", i)), peers.back());
    while (account.Take(kShare, 100, peer).ok()) {
    }
    // Half of what was left, to the step.
    EXPECT_NEAR(static_cast<double>(peer->used[1]), 1e6 / std::exp2(i + 1), 100) << i;
    EXPECT_LT(account.available(kShare, peer), 100u);
    const absl::Status refused = account.Take(kShare, 100, peer);
    EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(absl::StartsWith(refused.message(), "your part of the server's memory"));
  }
  // Whatever the others have, a call with a small request is answered.
  account.TakePastLimit(kShare, 100000);
  const auto next = account.Peer("next");
  EXPECT_TRUE(account.Take(kShare, 32700, next.get()).ok());
  EXPECT_FALSE(account.Take(kShare, 100, next.get()).ok());
  account.Release(kShare, 32700, next.get());
  // But not whatever they are many.
  account.TakePastLimit(kShare, 300000);
  EXPECT_FALSE(account.Take(kShare, 4000, next.get()).ok());
  account.Release(kShare, 400000);
  for (const auto& peer : peers) account.Release(kShare, peer->used[1], peer.get());
  EXPECT_EQ(account.available(kShare), 1000000u);
  EXPECT_NE(account.Peer(""), account.Peer(""));
}

// Story: a flood of calls of 60 bytes had the whole event loop. Now and then none of them was
// there, and what their tenant had taken was forgotten.
TEST(MemoryAccountTest, APeerIsKnownAfterItsLastCall) {
  MemoryAccount account(1000);
  account.Peer("flood")->loop.Add(5000, 1);
  for (int i = 0; i < 1000; ++i) account.Peer(absl::StrCat("other ", i));
  EXPECT_EQ(account.Peer("flood")->loop.upper_bound(), 5000);
  // But not however many come after it.
  for (int i = 0; i < 2000; ++i) account.Peer(absl::StrCat("another ", i));
  EXPECT_EQ(account.Peer("flood")->loop.upper_bound(), 0);
}

// This process holds more than the whole limit of an account of which nothing is taken: caches are
// dropped, and nothing is left to give.
TEST(MemoryWatchTest, WhatTheProcessHoldsShrinksTheShares) {
  MemoryAccount account(1 << 20);
  std::atomic<int> dropped{0};
  {
    const MemoryWatch watch(account, [&] { ++dropped; });
    EXPECT_TRUE(Eventually([&] { return account.available(MemoryShare::kMessages) == 0; }));
  }
  EXPECT_GT(dropped, 0);
  EXPECT_FALSE(account.Take(MemoryShare::kScenes, 1).ok());
}

// What the process holds beyond the count leaves the shares with less.
TEST(MemoryAccountTest, AnExcessShrinksTheShares) {
  MemoryAccount account(1000);
  EXPECT_TRUE(account.Take(MemoryShare::kScenes, 300).ok());
  EXPECT_EQ(account.Excess(300 + 250), 0u);  // a quarter belongs to no share
  EXPECT_EQ(account.Excess(300 + 250 + 75), 75u);
  account.SetExcess(75);
  EXPECT_EQ(account.limit(MemoryShare::kScenes), 450u);
  EXPECT_EQ(account.limit(MemoryShare::kTrackers), 90u);
  EXPECT_TRUE(account.Take(MemoryShare::kScenes, 150).ok());
  EXPECT_FALSE(account.Take(MemoryShare::kScenes, 1).ok());
  account.SetExcess(5000);
  EXPECT_EQ(account.available(MemoryShare::kScenes), 0u);
  EXPECT_FALSE(account.Take(MemoryShare::kMessages, 1).ok());
  account.SetExcess(0);
  EXPECT_TRUE(account.Take(MemoryShare::kScenes, 50).ok());
}

TEST(MemoryAccountTest, ThreadsNeverTakeTooMuch) {
  MemoryAccount account(100000);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        MemoryCharge charge(account, MemoryShare::kScenes);
        const bool is_taken = charge.Add(20000).ok();
        EXPECT_TRUE(!is_taken || account.available(MemoryShare::kScenes) <= 30000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(account.available(MemoryShare::kScenes), 50000u);
}

Polygon SquareOf(uint64_t id, const std::string& user_data) {
  return Polygon::Create(
             {.id = id, .rings = {{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}}, .user_data = user_data})
      .value();
}

// A scene's charge follows its commits, and is gone with it.
TEST(MemoryAccountTest, ScenesTakeWhatTheyHave) {
  MemoryAccount account(200000);
  MemoryStore store(8, {}, account);
  const uint64_t all = account.available(MemoryShare::kScenes);
  // But for what is kept for watches, which has a sixteenth of the share.
  const auto used = [&] {
    const uint64_t in_all = all - account.available(MemoryShare::kScenes);
    uint64_t kept = 0;
    for (const VersionSummary& version : store.Versions("scenes/a")) {
      const SceneChange::Ptr change = store.FindChange("scenes/a", version.version);
      if (change != nullptr) kept += change->bytes;
    }
    EXPECT_LE(kept, all / 16);
    return in_all - kept;
  };
  const uint64_t one = BytesOf(SquareOf(1, ""));
  ASSERT_TRUE(store.Create("scenes/a", {SquareOf(1, ""), SquareOf(2, "")}).ok());
  EXPECT_EQ(used(), 2 * one);
  ASSERT_TRUE(store.Commit("scenes/a", 0, {AddPolygon{SquareOf(3, "")}}).ok());
  EXPECT_EQ(used(), 3 * one);
  ASSERT_TRUE(
      store.Commit("scenes/a", 0, {ReplacePolygon{SquareOf(3, std::string(100, 'x'))}}).ok());
  EXPECT_EQ(used(), 3 * one + 100);
  ASSERT_TRUE(store.Commit("scenes/a", 0, {RemovePolygon{1}, RemovePolygon{3}}).ok());
  EXPECT_EQ(used(), one);
  // Refused commits and imports change nothing.
  EXPECT_FALSE(store.Commit("scenes/a", 0, {AddPolygon{SquareOf(2, "")}}).ok());
  std::vector<SceneEdit> many;
  std::vector<Polygon> polygons;
  for (uint64_t id = 10; id < 500; ++id) {
    many.push_back(AddPolygon{SquareOf(id, "")});
    polygons.push_back(SquareOf(id, ""));
  }
  EXPECT_EQ(store.Commit("scenes/a", 0, many).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(store.Create("scenes/b", polygons).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(used(), one);
  ASSERT_TRUE(store.Import("scenes/a", ImportMode::kReplace, {}, [] { return false; }).ok());
  EXPECT_EQ(used(), 0u);
  ASSERT_TRUE(store.Create("scenes/b", {SquareOf(1, "")}).ok());
  ASSERT_TRUE(store.Delete("scenes/b", 0).ok());
  EXPECT_EQ(used(), 0u);
  ASSERT_TRUE(store.Delete("scenes/a", 0).ok());
  EXPECT_EQ(account.available(MemoryShare::kScenes), all);
}

}  // namespace
}  // namespace carom::server
