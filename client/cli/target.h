// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which scene does a command ask: one of a server, or one of a file?
//
// `AddTarget` adds the argument NAME and the flags of the server, or, if the command line has the
// flag `--local`, that flag with a file in place of them.
#pragma once

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "carom/scene.h"
#include "client/cli/eval/evaluator.h"
#include "client/cli/scene/source.h"
#include "client/cli/server_options.h"

namespace carom::cli {

struct Target {
  ServerOptions server;
  std::string name;  // as the user gave it; empty: `source` is asked
  SceneSource source;
};

// Whether the command line has the flag `--local`; set before commands are added.
void SetHasLocal(bool has_local);
bool HasLocal();

// Adds `--local FILE` to the help of a command of which the command line asks a server.
void AddLocalHelp(CLI::App& command);

// Adds the argument NAME with the flags of the server, or `--local FILE` and the
// flags of `AddSource`.
void AddTarget(CLI::App& command, Target& target);

// Returns what answers questions about the scene. Errors: those of `ConnectTo` or `ReadSource`.
absl::StatusOr<std::unique_ptr<Evaluator>> EvaluatorOf(const Target& target);
// Returns the scene itself, which a server exports.
absl::StatusOr<Scene::Ptr> SceneOf(const Target& target);

// Writes an error about the target to standard error as `FailOf` does, with what to do next: how to
// reach a server, or up to three names of scenes that are near, of the first 100,000 scenes that
// the server lists within two seconds.
int FailAbout(const Target& target, const absl::Status& status);

}  // namespace carom::cli
