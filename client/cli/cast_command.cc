// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "carom/status.h"
#include "carom/svg.h"
#include "client/cli/command.h"
#include "client/cli/eval/answer_line.h"
#include "client/cli/eval/query_line.h"
#include "client/cli/eval/soft_walls.h"
#include "client/cli/output.h"
#include "client/cli/target.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

struct CastCommandOptions {
  Target target;
  OutputOptions output;
  std::string svg;
  double ax = 0, ay = 0, bx = 0, by = 0;
  std::string mode = "closest";
  std::string inside = "report";
  SoftWalls soft;
};

// Returns the modes of a cast, which decide what hits are printed, by their names on the command
// line. The map is never destroyed, because the order in which static objects are destroyed is not
// reliable.
const std::map<std::string, CastMode>& Modes() {
  static const auto& modes = *new std::map<std::string, CastMode>{
      {"any", CastMode::kAny}, {"closest", CastMode::kClosest}, {"all", CastMode::kAll}};
  return modes;
}

Group GroupOf(const CastCommandOptions& options) {
  Group group;
  group.cast_options = {.mode = Modes().at(options.mode),
                        .inside_policy = *InsidePolicyNamed(options.inside),
                        .max_hits = kMaxMaxHits,
                        .mask = kEveryCategory};
  group.cast_options.soft_mask = options.soft.mask;
  group.cast_options.soft_count = options.soft.count;
  group.cast_options.soft_length = options.soft.mask != 0 && options.mode == "closest";
  const auto column = [](const double& value) { return std::span<const double>(&value, 1); };
  // The segment, and its start as a point, are batches of one item.
  group.segments = {column(options.ax), column(options.ay), column(options.bx), column(options.by)};
  group.points = {column(options.ax), column(options.ay)};
  return group;
}

// Queries for the hits of the segment, and for the polygons that contain the start of the segment.
absl::StatusOr<GroupAnswers> Ask(const CastCommandOptions& options) {
  absl::StatusOr<std::unique_ptr<Evaluator>> evaluator = EvaluatorOf(options.target);
  if (!evaluator.ok()) return evaluator.status();
  const Group group = GroupOf(options);
  absl::StatusOr<std::vector<GroupResult>> results = (*evaluator)->Evaluate({&group, 1});
  if (!results.ok()) return results.status();
  if (results->size() != 1) return absl::InternalError("the answer must have one group");
  GroupResult& result = results->front();
  if (!result.status.ok()) return result.status;
  return std::move(result.answers);
}

// Returns the members of the first hit beside those of the line of `carom eval`: where it is, and
// how far away.
std::string MoreOf(const CastCommandOptions& options, const CastHit& hit) {
  std::string more = ",\"point\":[";
  AppendNumber(hit.point.x, more);
  more += ',';
  AppendNumber(hit.point.y, more);
  more += "],\"distance\":";
  AppendNumber(std::hypot(hit.point.x - options.ax, hit.point.y - options.ay), more);
  return more + "}";
}

absl::Status WritePicture(const CastCommandOptions& options, const GroupAnswers& answers) {
  const absl::StatusOr<Scene::Ptr> scene = SceneOf(options.target);
  if (!scene.ok()) return scene.status();
  const Group group = GroupOf(options);
  return WriteFile(options.svg, DrawSvg(**scene, &group, &answers));
}

// Prints the line that `carom eval` prints for the same segment, and point and distance of the
// first hit.
int Run(const CastCommandOptions& options) {
  const absl::StatusOr<GroupAnswers> answers = Ask(options);
  if (!answers.ok()) return FailAbout(options.target, answers.status());
  const CastAnswers& segments = answers->segments;
  if (!segments.errors.empty()) return Fail(ItemStatus(segments.errors.front(), "a"));
  // Fails if the server has truncated the list of hits, because the printed line would not show
  // that hits are missing.
  if (!segments.truncated.empty()) {
    return Fail(absl::ResourceExhaustedError(
        absl::StrCat("the segment hits more than ", kMaxMaxHits, " polygons")));
  }
  // The only item in the group's batch of points is the start of the segment.
  const Holders holders{{answers->points.polygon_ids}, answers->points.locations};
  std::string line = options.mode == "any" ? AnyHitLine("", segments.counts.front() > 0, holders)
                                           : SegmentLine("", segments.hits, holders);
  if (!segments.passed.empty()) {
    line = SoftSegmentLine("", {segments.hits, segments.passed[0], segments.soft_lengths[0]},
                           segments.hits, holders);
  }
  if (!segments.hits.empty()) {
    line.pop_back();
    line += MoreOf(options, segments.hits.front());
  }
  PrintAnswer(line, options.output);
  if (options.svg.empty()) return kSuccess;
  const absl::Status drawn = WritePicture(options, *answers);
  return drawn.ok() ? kSuccess : Fail(drawn);
}

}  // namespace

void AddCastCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CastCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "cast", "Cast the segment from (X1, Y1) to (X2, Y2) in a scene; print its hits");
  AddTarget(*command, options->target);
  AddCoordinate(*command, "X1", options->ax, "x of the start, in world units");
  AddCoordinate(*command, "Y1", options->ay, "y of the start, in world units");
  AddCoordinate(*command, "X2", options->bx, "x of the end, in world units");
  AddCoordinate(*command, "Y2", options->by, "y of the end, in world units");
  command
      ->add_option(
          "--mode", options->mode,
          "any: whether the segment hits a polygon; closest: the first hit; all: the first "
          "hit of each polygon")
      ->check(CLI::IsMember({"any", "closest", "all"}))
      ->capture_default_str()
      ->group("Question");
  command
      ->add_option(
          "--inside", options->inside,
          "Hits of a polygon that contains the start. report: one at the start; ignore: none "
          "before the segment has left the polygon; exit: one where the segment leaves it")
      ->check(CLI::IsMember({"report", "ignore", "exit"}))
      ->capture_default_str()
      ->group("Question");
  AddSoftWalls(*command, options->soft);
  AddExample(*command, "carom cast --local client/examples/arena.json 20 20 380 280");
  AddOutput(*command, options->output);
  command->add_option("--svg", options->svg, "SVG file for a picture of scene and hits")
      ->group("Output");
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
