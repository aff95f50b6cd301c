// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the JSON lines of `carom explain`: those of `carom eval`, and lines of the other kinds of
// questions.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/explain.h"
#include "carom/group.h"
#include "carom/scene.h"
#include "carom/shape.h"
#include "client/cli/eval/query_batch.h"
#include "client/cli/eval/query_line.h"

namespace carom::cli {

// The group of a line of a kind that `carom eval` does not read, with what its columns point to.
struct OtherQuestion {
  Group group;
  std::deque<double> numbers;
  std::deque<uint32_t> counts;
  std::deque<uint64_t> masks;
  std::deque<Shape> shapes;
};

// The question of the last line, in the context of the lines before it: bodies, and a tracker with
// its moves. Neither copied nor moved.
class QuestionLines {
 public:
  QuestionLines() = default;
  QuestionLines(const QuestionLines&) = delete;
  QuestionLines& operator=(const QuestionLines&) = delete;

  // Reads a line: bodies, a definition of a tracker, a move, or another question. Each question but
  // a move replaces those before it. INVALID_ARGUMENT for a line that is not JSON, or of another
  // kind; else the errors of `ParseLine`.
  absl::Status Add(std::string_view text);

  // Returns the group to explain; its spans point into this object. In the columns of moves,
  // `tracker` is 0. INVALID_ARGUMENT if no line is a question.
  absl::StatusOr<Group> group();
  // The shape that moves; null if the question is no move.
  const Shape* tracker() const { return moves_.empty() ? nullptr : &tracked_->second; }

 private:
  absl::Status AddOther(const nlohmann::json& line, const std::string& op);

  BodyTable bodies_;
  std::map<uint64_t, Shape> trackers_;
  std::map<uint64_t, Shape>::const_iterator tracked_;
  std::vector<Pose> moves_;
  std::vector<Pending> question_;
  std::unique_ptr<QueryColumns> columns_;
  std::unique_ptr<OtherQuestion> other_;
  struct MoveColumnsData {
    std::vector<uint32_t> tracker;
    std::vector<double> x, y, c, s;
  };
  MoveColumnsData move_columns_;
};

// Returns an explanation as a JSON object on one line. An infinite number becomes null.
std::string ExplanationJson(const Explanation& explanation);

}  // namespace carom::cli
