// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The command `carom scene lint`: what in a scene is probably a mistake?
#pragma once

namespace CLI {
class App;
}  // namespace CLI

namespace carom::cli {

// Adds the command to `scene`. Its exit status is `kFindings` if there are findings.
void AddLintCommand(CLI::App& scene, int& exit_status);

}  // namespace carom::cli
