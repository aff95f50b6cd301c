// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What forks are charged for: what they have, until the last reader lets it go.
#include "server/store/fork_memory.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/store/fork.h"
#include "server/store/kept_versions.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

constexpr uint64_t kForkBytes = 1 << 20;

// A fork of an empty scene, without a store.
class ForkMemoryTest : public ::testing::Test {
 protected:
  void Begin(size_t max_versions, std::vector<Polygon> polygons = {}) {
    const Scene::Ptr scene = *Scene::Create(std::move(polygons), 1);
    kept_ = std::make_shared<KeptVersion>(scene, MemoryCharge());
    fork_ = std::make_unique<Fork>(
        ForkBase{.name = "scenes/a", .version = 1, .kept = kept_, .scene = scene},
        std::chrono::seconds(60), Fork::Limits{.max_versions = max_versions, .scene = {}}, memory_,
        account_.Peer("peer"));
    ASSERT_TRUE(fork_->Begin(++last_).ok());
  }
  // The square of this id, with so many bytes of user data.
  static Polygon Large(uint64_t id, size_t bytes, double x = 0) {
    return *Polygon::Create({.id = id,
                             .rings = {{{{x, 0}, {x + 1, 0}, {x + 1, 1}, {x, 1}}}},
                             .user_data = std::string(bytes, 'x')},
                            {.max_user_data_bytes = bytes});
  }
  absl::Status Edit(std::vector<SceneEdit> edits, const std::string& id = "") {
    return fork_
        ->Edit(
            {.edits = std::move(edits), .edit_id = id}, EditTime::kAny, [this] { return ++last_; },
            [](uint64_t) {})
        .status();
  }

  MemoryAccount account_{1 << 30};
  ForkMemory memory_{kForkBytes, account_};
  std::shared_ptr<KeptVersion> kept_;
  uint64_t last_ = 1;
  std::unique_ptr<Fork> fork_;
};

// Story: a version that was no longer kept was not counted any more, and an export that nobody took
// had it all the same: as many of them as calls are allowed, each of another version.
TEST_F(ForkMemoryTest, ADroppedVersionCountsUntilItsReaderIsDone) {
  constexpr uint64_t kBytes = 100000;
  ASSERT_NO_FATAL_FAILURE(Begin(2));
  const uint64_t before = memory_.used();
  ASSERT_TRUE(Edit({AddPolygon{Large(1, kBytes)}}).ok());
  EXPECT_GE(memory_.used(), before + kBytes);
  Scene::Ptr reader = fork_->current();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Edit({i == 0 ? SceneEdit(RemovePolygon{1}) : AddPolygon{Large(10u + i, 1)}}).ok());
    EXPECT_GE(memory_.used(), before + kBytes) << i;
  }
  EXPECT_EQ(fork_->Find(reader->version()), nullptr);
  EXPECT_NE(reader->Find(1), nullptr);
  reader.reset();
  EXPECT_LT(memory_.used(), before + kBytes / 2);
  // The same of a reader that is there longer than the fork.
  ASSERT_TRUE(Edit({AddPolygon{Large(1, kBytes)}}).ok());
  reader = fork_->current();
  fork_->Close();
  fork_.reset();
  EXPECT_GE(memory_.used(), kBytes);
  reader.reset();
  EXPECT_EQ(memory_.used(), 0u);
  EXPECT_EQ(account_.available(MemoryShare::kScenes), account_.limit(MemoryShare::kScenes));
}

// Story: what a version that somebody reads shared with the one after it was given back when that
// one went, for nobody else had it.
TEST_F(ForkMemoryTest, WhatAReaderSharesWithLaterVersionsCountsWithIt) {
  constexpr uint64_t kBytes = 100000;
  ASSERT_NO_FATAL_FAILURE(Begin(2));
  const uint64_t before = memory_.used();
  ASSERT_TRUE(Edit({AddPolygon{Large(1, kBytes)}}).ok());
  Scene::Ptr reader = fork_->current();
  ASSERT_TRUE(Edit({AddPolygon{Large(2, 1)}}).ok());
  ASSERT_TRUE(Edit({RemovePolygon{1}}).ok());
  for (uint64_t id = 10; id < 14; ++id) {
    ASSERT_TRUE(Edit({AddPolygon{Large(id, 1)}}).ok());
    EXPECT_GE(memory_.used(), before + kBytes) << id;
  }
  reader.reset();
  EXPECT_LT(memory_.used(), before + kBytes / 2);
  // Of a fork that is gone, only what is read is left.
  for (uint64_t id = 20; id < 24; ++id) ASSERT_TRUE(Edit({AddPolygon{Large(id, kBytes)}}).ok());
  ASSERT_TRUE(Edit({RemovePolygon{20}, RemovePolygon{21}, RemovePolygon{22}}).ok());
  reader = fork_->current();
  fork_->Close();
  fork_.reset();
  EXPECT_GE(memory_.used(), kBytes);
  EXPECT_LT(memory_.used(), 2 * kBytes);
  reader.reset();
  EXPECT_EQ(memory_.used(), 0u);
}

// Story: an edit for which there was no memory dropped the versions of its fork one by one, all of
// them, and was refused then.
TEST_F(ForkMemoryTest, ARefusedEditDropsNothing) {
  ASSERT_NO_FATAL_FAILURE(Begin(64, {Large(1, 100), Large(2, 100, 5)}));
  std::vector<uint64_t> versions = {last_};
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(Edit({ReplacePolygon{Large(1, 40000)}}, absl::StrCat(i)).ok());
    versions.push_back(last_);
  }
  const uint64_t used = memory_.used();
  const absl::Status refused = Edit({ReplacePolygon{Large(1, 2 * kForkBytes)}}, "large");
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted) << refused;
  EXPECT_GT(RetryDelay(refused), 0u);
  // Nor does one that would make the index anew, if it had another fault.
  std::vector<SceneEdit> far = {RemovePolygon{9}};
  for (uint64_t id = 10; id < 6000; ++id) far.push_back(AddPolygon{Large(id, 0, 1e6)});
  EXPECT_EQ(Edit(far, "far").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(memory_.used(), used);
  for (const uint64_t version : versions) EXPECT_NE(fork_->Find(version), nullptr) << version;
  // And without the fault it is refused for lack of memory.
  far[0] = RemovePolygon{2};
  EXPECT_EQ(Edit(far, "far").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(memory_.used(), used);
  for (const uint64_t version : versions) EXPECT_NE(fork_->Find(version), nullptr) << version;
}

TEST_F(ForkMemoryTest, AsFewVersionsAsMakeRoomGo) {
  constexpr size_t kBytes = 40000;
  ASSERT_NO_FATAL_FAILURE(Begin(64));
  Scene::Ptr reader;
  for (uint64_t i = 0; i < 60; ++i) {
    const Polygon polygon = Large(1, kBytes);
    const SceneEdit edit = i == 0 ? SceneEdit(AddPolygon{polygon}) : ReplacePolygon{polygon};
    const absl::Status status = Edit({edit}, absl::StrCat(i));
    ASSERT_TRUE(status.ok()) << i << ": " << status;
    // A peer that is alone has half, and what a version takes is left for the next at most.
    EXPECT_LE(memory_.used(), kForkBytes / 2 + kBytes + 4096);
    if (i > 30) {
      EXPECT_GE(memory_.used(), kForkBytes / 2 - 2 * kBytes);
      EXPECT_GE(fork_->Versions().size(), 9u);
    }
    // What somebody reads is no room, and is charged until then.
    if (i == 20) reader = fork_->current();
  }
  EXPECT_EQ(fork_->Find(reader->version()), nullptr);
  const uint64_t used = memory_.used();
  reader.reset();
  EXPECT_LE(memory_.used(), used - kBytes);
}

}  // namespace
}  // namespace carom::server
