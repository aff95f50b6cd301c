// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/eval/eval.h"
#include "client/cli/eval/evaluator.h"
#include "client/cli/scene/map_options.h"
#include "client/cli/scene/source.h"
#include "client/cli/server_options.h"
#include "client/maps/carom_map.h"

namespace carom::cli {
namespace {

struct EvalCommandOptions {
  bool local = false;
  ServerOptions server;  // with a flag of it, a server answers, else this process
  EvalOptions eval;
  ImportOptions map;  // of the files of `load` lines
};

// Returns a reader of maps in every format. Prints how each was read.
MapReader ReaderOf(const ImportOptions& options) {
  return [options](const std::string& path,
                   const std::string& id) -> absl::StatusOr<std::vector<Polygon>> {
    absl::StatusOr<SourceScene> scene = ReadSource({.file = path, .id = id, .map = options});
    if (!scene.ok()) return scene.status();
    return scene->TakePolygons();
  };
}

int Run(EvalCommandOptions& options) {
  options.eval.read_map = ReaderOf(options.map);
  options.eval.reads_all = !LeavesAll(options.map);
  std::unique_ptr<Evaluator> evaluator;
  if (options.server.address.empty() && options.server.context.empty()) {
    evaluator = LocalEvaluator();
  } else {
    const absl::StatusOr<ServerOptions> server = Resolved(options.server);
    if (!server.ok()) return Fail(server.status());
    absl::StatusOr<std::unique_ptr<Evaluator>> remote =
        RemoteEvaluator(server->address, server->client);
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
  AddServer(*command, options->server);
  command->get_option("--address")
      ->description("Let this server answer: host:port or unix:PATH")
      ->excludes(local);
  command->add_option("--root", options->eval.root, "Folder of the files that load lines name")
      ->capture_default_str();
  AddMapOptions(*command, options->map);
  AddExample(*command, R"(printf '%s\n' '{"op":"load","file":"arena.json","id":"arena"}' )"
                       R"('{"op":"point","p":[200,150]}' | carom eval --root client/examples)");
  command->callback([options, &exit_status] { exit_status = Run(*options); });
}

}  // namespace carom::cli
