// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "carom/status.h"
#include "client/cli/command.h"
#include "client/cli/eval/answer_line.h"
#include "client/cli/eval/query_line.h"

namespace carom::cli {
namespace {

struct CastCommandOptions {
  std::string address;
  ClientOptions client;
  std::string name;
  double ax = 0, ay = 0, bx = 0, by = 0;
  std::string mode = "closest";
  std::string inside = "report";
};

// Returns the modes of a cast, which decide what hits are printed, by their names on the command
// line. The map is never destroyed, because the order in which static objects are destroyed is not
// reliable.
const std::map<std::string, CastMode>& Modes() {
  static const auto& modes = *new std::map<std::string, CastMode>{
      {"any", CastMode::kAny}, {"closest", CastMode::kClosest}, {"all", CastMode::kAll}};
  return modes;
}

// Queries the server for the hits of the segment, and for the polygons that contain the start of
// the segment.
absl::StatusOr<GroupAnswers> Ask(const CastCommandOptions& options) {
  const absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Connect(options.address, options.client);
  if (!client.ok()) return client.status();
  Group group;
  group.cast_options = {.mode = Modes().at(options.mode),
                        .inside_policy = *InsidePolicyNamed(options.inside),
                        .max_hits = kMaxMaxHits,
                        .mask = kEveryCategory};
  const auto column = [](const double& value) { return std::span<const double>(&value, 1); };
  // The segment, and its start as a point, are batches of one item.
  group.segments = {column(options.ax), column(options.ay), column(options.bx), column(options.by)};
  group.points = {column(options.ax), column(options.ay)};
  Frame frame;
  FrameGroup& asked = frame.groups.emplace_back();
  // Refers to the scene by its name. To define a number (handle) for the scene would save bytes
  // only from the second frame on.
  asked.scene = FullName(options.name);
  asked.group = group;
  absl::StatusOr<FrameAnswer> answer = (*client)->Evaluate(frame);
  if (!answer.ok()) return answer.status();
  if (answer->groups.size() != 1) return absl::InternalError("the answer must have one group");
  GroupResult& result = answer->groups.front();
  if (!result.status.ok()) return result.status;
  return std::move(result.answers);
}

// Prints the line that `carom eval` prints for the same segment.
int Run(const CastCommandOptions& options) {
  const absl::StatusOr<GroupAnswers> answers = Ask(options);
  if (!answers.ok()) return FailOf(options.name, answers.status());
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
  std::cout << (options.mode == "any" ? AnyHitLine("", segments.counts.front() > 0, holders)
                                      : SegmentLine("", segments.hits, holders))
            << '\n';
  return kSuccess;
}

}  // namespace

void AddCastCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CastCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "cast",
      "Cast the segment from (X1, Y1) to (X2, Y2) in a scene; print its hits as a JSON object");
  command->add_option("NAME", options->name, "Name of the scene, such as arena or scenes/arena")
      ->required();
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
      ->capture_default_str();
  command
      ->add_option(
          "--inside", options->inside,
          "Hits of a polygon that contains the start. report: one at the start; ignore: none "
          "before the segment has left the polygon; exit: one where the segment leaves it")
      ->check(CLI::IsMember({"report", "ignore", "exit"}))
      ->capture_default_str();
  AddAddress(*command, options->address);
  AddSecurity(*command, options->client);
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
