// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads and writes the configuration file of caromd, in TOML: `max_scenes = 1024` for
// `--max-scenes 1024`.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "server/options.h"

namespace carom::server {

// Sets the members of `options` that the file at `path` sets.
//
// Errors: INVALID_ARGUMENT naming the file, the line and the key, if the file cannot be read or is
// no TOML, or if a key is unknown (with the most similar key), or a value has the wrong type or is
// not allowed.
absl::Status ReadConfigFile(const std::string& path, ServerOptions& options);

// Returns a file with every setting of `options`, each with a comment. `ReadConfigFile` reads the
// same settings from it. The file has no secrets: secrets are in files that the settings name.
std::string FormatConfig(const ServerOptions& options);

// Returns the settings of `options` that are not the defaults of caromd, on one line, for the log.
std::string FormatChanged(const ServerOptions& options);

}  // namespace carom::server
