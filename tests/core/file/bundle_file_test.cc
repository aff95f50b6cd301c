// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/bundle_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "carom/bundle.h"

namespace carom::bundle_file_test {
namespace {

Scene::Ptr SquareScene(uint64_t id) {
  return Scene::Create({Polygon::Create({id, {{{{0, 0}, {4, 0}, {4, 4}}}}}).value()}).value();
}

class BundleFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    static int number = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("carom-bundle-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    ASSERT_TRUE(std::filesystem::create_directory(folder_));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(BundleFileTest, SavesAndOpens) {
  const std::string path = Path("a.carom");
  ASSERT_TRUE(SaveBundle(*SquareScene(7), path).ok());
  const absl::StatusOr<Scene::Ptr> scene = OpenBundle(path, {.version = 3});
  ASSERT_TRUE(scene.ok()) << scene.status();
  EXPECT_NE((*scene)->Find(7), nullptr);
  EXPECT_EQ((*scene)->version(), 3u);
  EXPECT_EQ(std::filesystem::file_size(path), WriteBundle(*SquareScene(7)).size());
}

// The scene that was opened does not look into the file again, and a save leaves nothing beside it.
TEST_F(BundleFileTest, AnOpenedSceneOutlivesItsFile) {
  const std::string path = Path("a.carom");
  ASSERT_TRUE(SaveBundle(*SquareScene(7), path).ok());
  const Scene::Ptr old = OpenBundle(path).value();
  ASSERT_TRUE(SaveBundle(*SquareScene(8), path).ok());
  EXPECT_NE(old->Find(7), nullptr);
  EXPECT_NE(OpenBundle(path).value()->Find(8), nullptr);
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(folder_), Files()), 1);
  std::filesystem::resize_file(path, 0);
  EXPECT_NE(old->Find(7), nullptr);
}

TEST_F(BundleFileTest, WhatIsNoFileIsNotFound) {
  EXPECT_EQ(OpenBundle(Path("missing")).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenBundle(folder_.string()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenBundle("/dev/null").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(OpenBundle("").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BundleFileTest, EveryTruncationOfAFileIsAnError) {
  const std::string path = Path("a.carom");
  ASSERT_TRUE(SaveBundle(*SquareScene(7), path).ok());
  for (size_t size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    EXPECT_FALSE(OpenBundle(path).ok()) << size;
  }
}

TEST_F(BundleFileTest, WhatCannotBeWrittenLeavesTheOldFile) {
  const absl::Status nowhere = SaveBundle(*SquareScene(7), Path("missing/a.carom"));
  EXPECT_EQ(nowhere.code(), absl::StatusCode::kUnknown);
  EXPECT_NE(nowhere.message().find("missing/a.carom"), std::string::npos);
  std::filesystem::create_directory(folder_ / "taken");
  EXPECT_FALSE(SaveBundle(*SquareScene(7), Path("taken")).ok());
  using Files = std::filesystem::directory_iterator;
  EXPECT_EQ(std::distance(Files(folder_), Files()), 1);
}

}  // namespace
}  // namespace carom::bundle_file_test
