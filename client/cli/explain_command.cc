// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom explain`: why is the answer to one question what it is?

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "carom/client.h"
#include "carom/explain.h"
#include "carom/tracker.h"
#include "client/cli/command.h"
#include "client/cli/eval/explain_line.h"
#include "client/cli/output.h"
#include "client/cli/target.h"

namespace carom::cli {
namespace {

constexpr uint32_t kPictureWidth = 1024;

struct ExplainCommandOptions {
  Target target;
  OutputOptions output;
  std::vector<std::string> lines;
  std::string svg;
  ExplainOptions explain;
};

absl::StatusOr<Explanation> ExplainLocally(const ExplainCommandOptions& options, Group group,
                                           const Shape* shape) {
  const absl::StatusOr<Scene::Ptr> scene = SceneOf(options.target);
  if (!scene.ok()) return scene.status();
  Tracker tracker;
  if (shape != nullptr) {
    absl::StatusOr<Tracker> created = Tracker::Create(*shape);
    if (!created.ok()) return created.status();
    tracker = *std::move(created);
    group.moves.trackers = {&tracker, 1};
  }
  WorkMeter meter;
  return Explain(**scene, group, options.explain, meter);
}

absl::StatusOr<Explanation> ExplainRemotely(const ExplainCommandOptions& options,
                                            const Group& group, const Shape* shape) {
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(options.target.server);
  if (!client.ok()) return client.status();
  ExplainContext context;
  if (shape != nullptr) context.trackers.push_back({.shapes = {shape, 1}});
  return (*client)->Explain(FullName(options.target.name), group, options.explain, context);
}

int RunExplain(ExplainCommandOptions& options) {
  QuestionLines question;
  if (options.lines.empty() || options.lines.front() == "-") {
    options.lines.clear();
    for (std::string line; std::getline(std::cin, line);) options.lines.push_back(line);
  }
  for (const std::string& line : options.lines) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const absl::Status added = question.Add(line);
    if (!added.ok()) return Fail(added);
  }
  const absl::StatusOr<Group> group = question.group();
  if (!group.ok()) return Fail(group.status());
  if (!options.svg.empty()) options.explain.svg_width = kPictureWidth;
  const absl::StatusOr<Explanation> explanation =
      options.target.name.empty() ? ExplainLocally(options, *group, question.tracker())
                                  : ExplainRemotely(options, *group, question.tracker());
  if (!explanation.ok()) return FailAbout(options.target, explanation.status());
  if (PrintsTables(options.output)) {
    std::cout << explanation->text;
  } else {
    std::cout << ExplanationJson(*explanation) << '\n';
  }
  if (explanation->error.has_value()) return kFailure;
  if (options.svg.empty()) return kSuccess;
  const absl::Status written = WriteFile(options.svg, explanation->svg);
  return written.ok() ? kSuccess : Fail(written);
}

}  // namespace

void AddExplainCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<ExplainCommandOptions>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Explain the answer to a question: candidates, reasons, signs, memory of trackers");
  AddTarget(*command, options->target);
  command->add_option(
      "LINE", options->lines,
      "JSON lines as of `carom eval`, of which the last is the question and bodies, track and move "
      "may precede it; also of op ray, sight, fan, arc, capsule, box, rotating_sweep, depenetrate "
      "and body_contact. None: lines of standard input");
  AddExample(*command,
             "carom explain --local client/examples/arena.json "
             R"('{"op":"segment","a":[38,22],"b":[46,28]}')");
  AddOutput(*command, options->output);
  command->add_option("--svg", options->svg, "SVG file for a picture of the explanation")
      ->group("Output");
  command
      ->add_option("--max-candidates", options->explain.max_candidates,
                   "Candidates that are listed at most")
      ->check(CLI::Range(uint32_t{1}, kMaxExplainedCandidates))
      ->capture_default_str()
      ->group("Output");
  command->callback([options, &exit_status] { exit_status = RunExplain(*options); });
}

}  // namespace carom::cli
