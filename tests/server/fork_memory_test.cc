// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What forks are charged for: what they have, until the last reader lets it go.
#include "server/fork_memory.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "server/fork.h"
#include "server/kept_versions.h"
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

}  // namespace
}  // namespace carom::server
