// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The open pack through carom.h: `carom eval` with an evaluator that asks the C interface prints
// the same bytes as with the one that asks the C++ headers, in batches and line by line.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <sstream>
#include <streambuf>
#include <string>
#include <utility>
#include <vector>

#include "abi/handles.h"
#include "carom/carom.h"
#include "client/cli/eval/eval.h"
#include "client/cli/eval/evaluator.h"
#include "tests/support/abi_group.h"
#include "tests/support/jsonl.h"

namespace carom::cli {
namespace {

using testing::AbiStruct;

// A server's default limit of answer rows per frame, as in local_evaluator.cc.
constexpr uint64_t kMaxRows = 262144;

// Asks the library through carom.h. Trackers are those of one table, as for a stream.
class AbiEvaluator final : public Evaluator {
 public:
  AbiEvaluator() {
    carom_trackers* trackers = nullptr;
    carom_trackers_create(0, 0, &trackers, nullptr);
    trackers_.reset(trackers);
    EXPECT_TRUE(Replace({}).ok());
  }

  absl::Status Replace(std::vector<Polygon> polygons) override {
    auto status = AbiStruct<carom_status>();
    const testing::AbiPolygonSet set = testing::MakeAbiPolygons(polygons, &status);
    carom_scene* scene = nullptr;
    if (set != nullptr) carom_scene_create(set.get(), 1, nullptr, &scene, &status);
    // The text of the errors of a scene comes from the library; here the code and the field count.
    if (scene == nullptr)
      return Refused(static_cast<absl::StatusCode>(status.code), status.field, status.message);
    scene_.reset(scene);
    return absl::OkStatus();
  }
  absl::Status ReplaceBy(const Scene::Ptr& scene) override {
    scene_ = testing::MakeAbiScene(*scene);
    return absl::OkStatus();
  }
  absl::Status Track(uint32_t, Shape) override {
    return absl::UnimplementedError("not in the pack");
  }

  absl::StatusOr<std::vector<GroupResult>> Evaluate(std::span<const Group> groups) override {
    std::vector<GroupResult> results(groups.size());
    for (size_t i = 0; i < groups.size(); ++i) {
      const testing::AbiGroup group(groups[i]);
      carom_answers* handle = nullptr;
      auto limits = AbiStruct<carom_answer_limits>();
      limits.max_rows = kMaxRows;
      carom_answers_create(&limits, &handle, nullptr);
      const testing::AbiAnswers answers(handle);
      auto world = AbiStruct<carom_world>();
      world.scene = scene_.get();
      world.bodies = group.bodies();
      world.trackers = trackers_.get();
      auto status = AbiStruct<carom_status>();
      const std::span<const carom_batch> batches = group.batches();
      carom_evaluate(&world, batches.data(), batches.size(), handle, &status);
      results[i].answers = std::move(handle->answers);
      if (status.code != CAROM_OK) {
        results[i].status =
            Refused(static_cast<absl::StatusCode>(status.code), status.field, status.message);
      }
      asked_ += batches.size();
    }
    return results;
  }
  absl::Status Close() override { return absl::OkStatus(); }

  size_t asked() const { return asked_; }

 private:
  testing::AbiScene scene_;
  testing::AbiTrackers trackers_;
  size_t asked_ = 0;
};

// Gives a text line by line, so that `RunEval` answers each line before it reads the next one.
class LineByLine final : public std::streambuf {
 public:
  explicit LineByLine(std::string text) : text_(std::move(text)) {}

 protected:
  int_type underflow() override {
    const size_t begin = static_cast<size_t>(gptr() == nullptr ? 0 : gptr() - text_.data());
    if (begin == text_.size()) return traits_type::eof();
    const size_t end = text_.find('\n', begin) + 1;
    setg(text_.data() + begin, text_.data() + begin, text_.data() + end);
    return traits_type::to_int_type(*gptr());
  }

 private:
  std::string text_;
};

std::string Eval(Evaluator& evaluator, std::streambuf* buffer, const std::string& root) {
  std::istream in(buffer);
  std::ostringstream out, err;
  EXPECT_EQ(RunEval(evaluator, {.root = root}, in, out, err), 0) << err.str();
  return out.str();
}

TEST(AbiEvalTest, ThePackHasTheSameBytes) {
  const char* const shared = std::getenv("CAROM_SHARED_DIR");
  if (shared == nullptr) {
    if (std::getenv("CI") != nullptr) FAIL() << "CAROM_SHARED_DIR is not set";
    GTEST_SKIP() << "the pack is in the folder of shared data, which is not here";
  }
  const std::string data = std::string(shared) + "/data";
  std::string input;
  for (const std::string& line : testing::ReadLines(data + "/packs/queries.jsonl.xz")) {
    input += line + "\n";
  }
  const std::unique_ptr<Evaluator> local = LocalEvaluator();
  std::stringbuf whole(input);
  const std::string expected = Eval(*local, &whole, data);
  ASSERT_GT(expected.size(), 1000000u);
  AbiEvaluator in_batches;
  std::stringbuf again(input);
  EXPECT_TRUE(Eval(in_batches, &again, data) == expected);
  AbiEvaluator one_by_one;
  LineByLine lines(input);
  EXPECT_TRUE(Eval(one_by_one, &lines, data) == expected);
  EXPECT_GT(one_by_one.asked(), 28000u);
  EXPECT_LT(in_batches.asked(), one_by_one.asked() / 10);
}

}  // namespace
}  // namespace carom::cli
