// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The command line: `carom COMMAND`.
#include <CLI/CLI.hpp>

#include "client/cli/command.h"

int main(int argc, char** argv) {
  CLI::App app{"Exact 2D collision queries: scenes and questions to a caromd server", "carom"};
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 success; 1 a request failed (code and field on standard error), or eval met "
      "a line that is not JSON; 2 usage.");
  int exit_status = carom::cli::kSuccess;
  carom::cli::AddSceneCommands(app, exit_status);
  carom::cli::AddCastCommand(app, exit_status);
  carom::cli::AddEvalCommand(app, exit_status);
  carom::cli::AddDemoCommand(app, exit_status);
  carom::cli::AddLoadCommand(app, exit_status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? carom::cli::kSuccess : carom::cli::kUsage;
  }
  return exit_status;
}
