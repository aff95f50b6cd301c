// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Runs `carom eval`: reads questions as JSON Lines and prints answers as JSON Lines.
#pragma once

#include <iosfwd>
#include <string>

#include "client/cli/eval/evaluator.h"

namespace carom::cli {

struct EvalOptions {
  std::string root = ".";  // folder of the files that `load` lines name
};

// Reads every line of `in`, answers it with `evaluator`, prints the answers to `out`, and closes
// the evaluator. Collects up to a few hundred queries in a frame while `in` has buffered input, and
// answers them as soon as the buffer is empty. So a program that writes a question and then waits
// gets its answer at once.
//
// Returns the exit status: 0 if every line was JSON; 1 if a line was not (its number is printed to
// `err`, and the run continues), or if the service failed (the error is printed to `err`, and the
// run ends).
int RunEval(Evaluator& evaluator, const EvalOptions& options, std::istream& in, std::ostream& out,
            std::ostream& err);

}  // namespace carom::cli
