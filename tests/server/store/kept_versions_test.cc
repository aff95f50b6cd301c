// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Old versions of scenes: what they take counts once, and goes where there is no memory left.
#include "server/store/kept_versions.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/store/memory_store.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

class KeptVersionsTest : public ::testing::Test {
 protected:
  static Polygon SquareWith(uint64_t id, size_t bytes) {
    return *Polygon::Create({.id = id,
                             .rings = {{{{0, 0}, {1, 0}, {1, 1}, {0, 1}}}},
                             .user_data = std::string(bytes, 'x')},
                            {.max_user_data_bytes = bytes});
  }
  uint64_t Replace(uint64_t id, size_t bytes) {
    const auto scene = store_.Commit("scenes/a", 0, {ReplacePolygon{SquareWith(id, bytes)}});
    EXPECT_TRUE(scene.ok()) << scene.status();
    return scene.ok() ? (*scene)->version() : 0;
  }
  uint64_t used() const {
    return account_.limit(MemoryShare::kScenes) - account_.available(MemoryShare::kScenes);
  }

  static constexpr uint64_t kLimit = 64 << 20;
  MemoryAccount account_{kLimit};
  MemoryStore store_{8, {}, account_};
  KeptVersions kept_{store_, account_, {}};
};

// Story: a version was counted as one that somebody reads, and once more as one that is kept.
TEST_F(KeptVersionsTest, AVersionCountsOnce) {
  constexpr size_t kBytes = 200000;
  ASSERT_TRUE(store_.Create("scenes/a", {SquareWith(1, kBytes)}).ok());
  const uint64_t first = store_.Find("scenes/a")->version();
  const uint64_t one = used();
  uint64_t last = 0;
  for (int i = 0; i < 4; ++i) last = Replace(1, kBytes);
  EXPECT_NE(kept_.Find("scenes/a", first), nullptr);
  EXPECT_EQ(kept_.Find("scenes/a", last + 1), nullptr);
  EXPECT_GE(used(), 5 * one);
  EXPECT_LT(used(), 5 * one + kBytes);
  ASSERT_TRUE(store_.Delete("scenes/a", 0).ok());
  EXPECT_EQ(kept_.Find("scenes/a", first), nullptr);
  EXPECT_EQ(used(), 0u);
}

// Story: an import was refused for lack of memory that versions had to which nobody went back.
TEST_F(KeptVersionsTest, OldVersionsMakeRoom) {
  constexpr size_t kBytes = 300000;
  ASSERT_TRUE(store_.Create("scenes/a", {SquareWith(1, kBytes), SquareWith(2, kBytes)}).ok());
  const uint64_t first = store_.Find("scenes/a")->version();
  const uint64_t second = Replace(1, kBytes);
  const uint64_t third = Replace(1, kBytes);
  const uint64_t last = Replace(1, kBytes);
  const std::shared_ptr<KeptVersion> of_fork = kept_.Acquire("scenes/a", second);
  ASSERT_NE(of_fork, nullptr);
  // More than there will be, whatever goes: nothing does.
  EXPECT_FALSE(account_.Take(MemoryShare::kScenes, kLimit).ok());
  EXPECT_NE(kept_.Find("scenes/a", first), nullptr);
  const uint64_t left = account_.available(MemoryShare::kScenes);
  ASSERT_TRUE(account_.Take(MemoryShare::kScenes, left - 1000).ok());
  ASSERT_TRUE(store_.Create("scenes/b", {SquareWith(1, 10000)}).ok());
  EXPECT_EQ(kept_.Find("scenes/a", first), nullptr);
  EXPECT_NE(kept_.Find("scenes/a", second), nullptr) << "no more than is wanted";
  // The second one gives nothing back, as a fork has it; so another one goes, too.
  ASSERT_TRUE(store_.Create("scenes/c", {SquareWith(1, 400000)}).ok());
  EXPECT_EQ(kept_.Find("scenes/a", second), nullptr);
  EXPECT_EQ(kept_.Find("scenes/a", third), nullptr);
  EXPECT_NE(kept_.Find("scenes/a", last), nullptr);
  // What a fork has stays, and later forks find it.
  EXPECT_EQ(kept_.Acquire("scenes/a", second), of_fork);
  account_.Release(MemoryShare::kScenes, left - 1000);
}

// Story: each fork of a version that is in the file alone read it anew. And the memory of the peer
// that made the first of them was gone before that of the others.
TEST_F(KeptVersionsTest, AVersionThatWasReadIsSharedAndOutlivesItsPeer) {
  ASSERT_TRUE(store_.Create("scenes/a", {}).ok());
  const uint64_t before = used();
  std::shared_ptr<MemoryPeer> peer = account_.Peer("first");
  MemoryCharge charge(account_, MemoryShare::kScenes, peer.get());
  ASSERT_TRUE(charge.Add(5000).ok());
  auto loaded =
      std::make_shared<KeptVersion>(*Scene::Create({SquareWith(1, 10)}, 77), std::move(charge));
  const KeptVersion* const address = loaded.get();
  kept_.Add("scenes/a", loaded);
  peer.reset();
  std::shared_ptr<KeptVersion> second = kept_.Acquire("scenes/a", 77);
  EXPECT_EQ(second.get(), address);
  EXPECT_EQ(kept_.Find("scenes/a", 77), nullptr) << "a frame pins what is kept alone";
  loaded.reset();
  EXPECT_EQ(used(), before + 5000);
  second.reset();
  EXPECT_EQ(used(), before);
  EXPECT_EQ(kept_.Acquire("scenes/a", 77), nullptr);
}

// Law: whatever a writer does, who looks finds the version that was asked for, or none.
TEST_F(KeptVersionsTest, LooksWhileItChanges) {
  ASSERT_TRUE(store_.Create("scenes/a", {SquareWith(1, 10), SquareWith(2, 10)}).ok());
  std::atomic<uint64_t> newest = store_.Find("scenes/a")->version();
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> found = 0;
  std::vector<std::thread> readers;
  for (int t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      while (!is_over) {
        const uint64_t version = newest - static_cast<uint64_t>(t);
        if (version == 0) continue;  // which is any
        const auto kept =
            t == 2 ? kept_.Acquire("scenes/a", version) : kept_.Find("scenes/a", version);
        if (t == 1) kept_.Release(1);
        if (kept == nullptr) continue;
        EXPECT_EQ(kept->scene()->version(), version);
        ++found;
      }
    });
  }
  for (int i = 0; i < 400; ++i) {
    if (i % 50 == 49) {
      ASSERT_TRUE(store_.Delete("scenes/a", 0).ok());
      ASSERT_TRUE(store_.Create("scenes/a", {SquareWith(1, 10), SquareWith(2, 10)}).ok());
    }
    newest = Replace(1, 10);
  }
  EXPECT_TRUE(Eventually([&] { return found > 100; }));
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  ASSERT_TRUE(store_.Delete("scenes/a", 0).ok());
  EXPECT_EQ(used(), 0u);
}

}  // namespace
}  // namespace carom::server
