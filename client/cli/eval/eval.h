// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs `carom eval`: reads queries as JSON Lines and prints answers as JSON Lines.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "carom/polygon.h"
#include "client/cli/eval/evaluator.h"

namespace carom::cli {

// Returns the polygons of a map. Errors: NOT_FOUND if the file has no scene of the id; any other is
// an error of the file.
using MapReader = std::function<absl::StatusOr<std::vector<Polygon>>(const std::string& path,
                                                                     const std::string& id)>;

struct EvalOptions {
  std::string root = ".";  // folder to which the paths in `load` lines are relative
  // Reads files in a form that `SceneFile` does not read; null: they are refused.
  MapReader read_map = nullptr;
  bool reads_all = false;  // `read_map`, which is given then, reads every file
};

// Reads every line of `in`, answers its query with `evaluator`, prints the answers to `out`, and
// closes the evaluator. Collects up to 512 queries in a frame, which `evaluator` answers as a
// whole, while `in` has buffered input, and answers the frame as soon as the buffer is empty. So a
// program that writes a query and then waits gets the answer at once.
//
// Returns the exit status: 0 if every line was JSON; 1 if a line was not JSON (its number is
// printed to `err`, and the run continues), or if the service failed (the error is printed to
// `err`, and the run ends).
int RunEval(Evaluator& evaluator, const EvalOptions& options, std::istream& in, std::ostream& out,
            std::ostream& err);

}  // namespace carom::cli
