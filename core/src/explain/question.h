// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What is one stage of an explanation?
//
// A `Question` is an elementary question: a group with one item of one kind, whose answer has rows
// that name polygons and bodies. Kinds that take several steps, such as bounces, become several
// questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "carom/explain.h"
#include "carom/geometry.h"
#include "carom/group.h"
#include "carom/polygon.h"
#include "carom/shape.h"
#include "carom/work_meter.h"
#include "numeric/exact_count.h"

namespace carom::internal {

// The set of points that a question asks about, for the signs of edges.
struct Probe {
  // LINE: `line`. RAY: from `line.a` along `velocity`. ARC: from `line.a`, with `velocity` and
  // `acceleration`. POINT: `line.a`. BOX: `box`. SHAPE: `shape`, placed; it moves by `velocity` if
  // `moves`. BOUNDS: `line`, cast against bounding boxes, which have no edges.
  enum class Form : uint8_t { kLine, kRay, kArc, kPoint, kBox, kShape, kBounds };

  Form form = Form::kPoint;
  Segment line;
  Vec2 velocity;
  Vec2 acceleration;
  Box box;
  std::optional<Shape> shape;
  bool moves = false;
};

// A row of an answer.
struct FoundRow {
  uint64_t id = 0;
  bool is_body = false;
  std::optional<double> key = std::nullopt;
  std::optional<EdgeRef> edge = std::nullopt;
  std::optional<Vec2> point = std::nullopt;
  std::optional<Vec2> normal = std::nullopt;
  std::optional<double> exit = std::nullopt;  // the exit fraction of a cast
};

struct Question {
  std::string text;
  const char* key = "";  // what the keys of its rows are, such as "fraction"
  Group group;
  Probe probe;
  Box reach;
  // For a distance query: its bound, and whether it asks for the nearest candidates alone.
  std::optional<double> max_distance;
  bool is_nearest = false;
};

// Owns the columns of questions, and the questions. Neither copied nor moved.
class Questions {
 public:
  Questions() = default;
  Questions(const Questions&) = delete;
  Questions& operator=(const Questions&) = delete;

  std::span<const double> One(double value) { return {&numbers_.emplace_back(value), 1}; }
  std::span<const Shape> One(const Shape& shape) { return {&shapes_.emplace_back(shape), 1}; }
  Question& Add() { return list.emplace_back(); }

  std::deque<Question> list;
  uint64_t unlisted = 0;  // questions that are left out

 private:
  std::deque<double> numbers_;
  std::deque<Shape> shapes_;
};

// Returns the rows of the answer to an elementary question.
std::vector<FoundRow> RowsOf(const Group& group, const GroupAnswers& answers);

// Adds the questions of the only item of `group`, which `answers` answers without an error. The
// columns of `group` outlive the questions.
void Ask(const Group& group, const GroupAnswers& answers, Questions& out);

// Adds the questions of a move of a tracker: a group with one move.
void AskMove(const Group& group, Questions& out);

// Returns what the rows say, in a line.
std::string OutcomeOf(const Question& question, const std::vector<FoundRow>& rows);

// What the stages of an explanation may still list.
struct ExplainBudget {
  size_t candidates = 0;
  size_t edges = 0;
};

// Fills the stage of a question. `budget` is that of the explanation. Returns an error once `meter`
// has stopped.
absl::Status Judge(const Scene& scene, const Question& question, ExplainBudget& budget,
                   ExplainedStage& stage, WorkMeter& meter);

// Returns the signs of `edge` and whether it meets the probe. Counts the comparisons on `meter`.
ExplainedEdge SignsOf(const Probe& probe, EdgeRef ref, const Segment& edge, WorkMeter& meter);

// Calls `predicate`, which returns a sign, and returns the sign with whether exact arithmetic took
// part in it: each exact path of a predicate computes products of expansions, which are counted.
template <class Predicate>
ExplainedSign SignOf(const char* name, std::vector<double> operands, const Predicate& predicate) {
  const uint64_t before = exact_count;
  const int sign = predicate();
  return {name, std::move(operands), sign, exact_count == before};
}

// One item and its answer.
struct AnsweredGroup {
  const Group& group;
  const GroupAnswers& answers;
};

// Sets `explanation.svg`: the answer over its candidates.
void WriteSvg(const Scene& scene, const AnsweredGroup& answered, const Questions& questions,
              uint32_t width, Explanation& explanation);

// Sets `explanation.text` from the other members.
void WriteText(Explanation& explanation);

// --- Numbers and places as text: the shortest decimal that is read as the same double.
std::string Text(double value);
std::string Text(Vec2 p);
std::string Text(const Box& box);
std::string NameOf(bool is_body, uint64_t id);

}  // namespace carom::internal
