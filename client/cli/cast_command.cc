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

// Never destroyed: the order of static destructors is nobody's to rely on.
const std::map<std::string, CastMode>& Modes() {
  static const auto& modes = *new std::map<std::string, CastMode>{
      {"any", CastMode::kAny}, {"closest", CastMode::kClosest}, {"all", CastMode::kAll}};
  return modes;
}

// The answers of one segment, and of the location of its start.
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
  // One segment is columns of one element each.
  group.segments = {column(options.ax), column(options.ay), column(options.bx), column(options.by)};
  group.points = {column(options.ax), column(options.ay)};
  Frame frame;
  FrameGroup& asked = frame.groups.emplace_back();
  // By name: a handle is worth its definition from the second frame on.
  asked.scene = FullName(options.name);
  asked.group = group;
  absl::StatusOr<FrameAnswer> answer = (*client)->Evaluate(frame);
  if (!answer.ok()) return answer.status();
  if (answer->groups.size() != 1) return absl::InternalError("the answer has not one group");
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
  // A list that was cut would pass for a whole one.
  if (!segments.truncated.empty()) {
    return Fail(absl::ResourceExhaustedError(
        absl::StrCat("the segment hits more than ", kMaxMaxHits, " polygons")));
  }
  // The points of the group are one: the start.
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
      "cast", "Cast the segment from (X1, Y1) to (X2, Y2); print what it hits as a line of JSON");
  command->add_option("NAME", options->name, "Scene, as arena or scenes/arena")->required();
  AddCoordinate(*command, "X1", options->ax);
  AddCoordinate(*command, "Y1", options->ay);
  AddCoordinate(*command, "X2", options->bx);
  AddCoordinate(*command, "Y2", options->by);
  command->add_option("--mode", options->mode, "Hit or not; the first hit; or one a polygon")
      ->check(CLI::IsMember({"any", "closest", "all"}))
      ->capture_default_str();
  command->add_option("--inside", options->inside, "What a start inside a polygon does with it")
      ->check(CLI::IsMember({"report", "ignore", "exit"}))
      ->capture_default_str();
  AddAddress(*command, options->address);
  AddSecurity(*command, options->client);
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
