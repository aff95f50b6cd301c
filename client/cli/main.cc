// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The main program of the command line `carom COMMAND`.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/command.h"
#include "client/cli/server_options.h"
#include "client/cli/target.h"

// client/CMakeLists.txt sets CAROM_VERSION. The fallback is for tools that compile this file
// without CMake's definitions.
#ifndef CAROM_VERSION
#define CAROM_VERSION "unversioned"
#endif

namespace {

// Returns the arguments in reverse order, as CLI11 expects them. Turns `help COMMAND` into
// `COMMAND --help`.
std::vector<std::string> Arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (!arguments.empty() && arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.emplace_back("--help");
  }
  return {arguments.rbegin(), arguments.rend()};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Exact 2D collision queries: manage and query the scenes of a caromd server",
               "carom"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "carom " CAROM_VERSION);
  std::string footer = "`carom help COMMAND` prints a command's arguments.\n\nExit status:";
  for (const carom::cli::ExitStatus& status : carom::cli::kExitStatuses) {
    footer += "\n  " + std::to_string(status.number) + "  " + status.meaning;
  }
  app.footer(footer);
  carom::cli::AddContext(app);
  carom::cli::SetHasLocal(std::any_of(argv + 1, argv + argc, [](std::string_view word) {
    return word == "--local" || word.starts_with("--local=");
  }));
  int exit_status = carom::cli::kSuccess;
  carom::cli::AddSceneCommands(app, exit_status);
  carom::cli::AddCastCommand(app, exit_status);
  carom::cli::AddQuestionCommands(app, exit_status);
  carom::cli::AddExplainCommand(app, exit_status);
  carom::cli::AddBundleCommand(app, exit_status);
  carom::cli::AddConvertCommand(app, exit_status);
  carom::cli::AddEvalCommand(app, exit_status);
  carom::cli::AddDemoCommand(app, exit_status);
  carom::cli::AddLoadCommand(app, exit_status);
  carom::cli::AddViewCommand(app, exit_status);
  carom::cli::AddRecordCommand(app, exit_status);
  carom::cli::AddContextCommand(app, exit_status);
  carom::cli::AddDocumentCommands(app, exit_status);
  try {
    app.parse(Arguments(argc, argv));
  } catch (const CLI::ParseError& error) {
    // CLI11 also throws to print the help or the version, with exit code 0.
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "carom: " << carom::cli::UsageMessage(app, error) << "\nRun `"
              << carom::cli::CommandName(app) << " --help` for usage.\n";
    return carom::cli::kUsage;
  }
  return exit_status;
}
