// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "client/cli/command.h"
#include "client/cli/eval/eval.h"
#include "client/cli/eval/evaluator.h"

namespace carom::cli {
namespace {

struct EvalCommandOptions {
  bool local = false;
  std::string address;  // empty: local
  ClientOptions client;
  EvalOptions eval;
};

int Run(const EvalCommandOptions& options) {
  std::unique_ptr<Evaluator> evaluator;
  if (options.address.empty()) {
    evaluator = LocalEvaluator();
  } else {
    absl::StatusOr<std::unique_ptr<Evaluator>> remote =
        RemoteEvaluator(options.address, options.client);
    if (!remote.ok()) return Fail(remote.status());
    evaluator = *std::move(remote);
  }
  // A reader that goes away ends the run, not the process: the scene is still to be deleted.
  std::signal(SIGPIPE, SIG_IGN);
  // `in_avail` of standard input then reports what is buffered (see RunEval).
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  return RunEval(*evaluator, options.eval, std::cin, std::cout, std::cerr);
}

}  // namespace

void AddEvalCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<EvalCommandOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Answer JSON Lines from standard input on standard output");
  CLI::Option* local =
      command->add_flag("--local", options->local, "Answer in this process (the default)");
  command
      ->add_option("--address", options->address, "Answer by this server: host:port or unix:PATH")
      ->excludes(local);
  AddSecurity(*command, options->client);
  command->add_option("--root", options->eval.root, "Folder of the files of load lines")
      ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
