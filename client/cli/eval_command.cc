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
  std::string address;  // server that answers; empty: this process answers
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
  // Ignores SIGPIPE: if the reader of the answers exits, the run ends with an error and still
  // deletes its scene on the server.
  std::signal(SIGPIPE, SIG_IGN);
  // Makes std::cin buffer its input, so that `in_avail` reports the number of buffered characters,
  // from which `RunEval` decides whether to send a frame.
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  return RunEval(*evaluator, options.eval, std::cin, std::cout, std::cerr);
}

}  // namespace

void AddEvalCommand(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<EvalCommandOptions>();
  CLI::App* command =
      app.add_subcommand("eval",
                         "Read questions as JSON Lines from standard input; print an answer "
                         "as a JSON object for each");
  CLI::Option* local =
      command->add_flag("--local", options->local, "Answer in this process (the default)");
  command->add_option("--address", options->address, "Let a server answer: host:port or unix:PATH")
      ->excludes(local);
  AddSecurity(*command, options->client);
  command->add_option("--root", options->eval.root, "Folder of the files that load lines name")
      ->capture_default_str();
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
