// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// `carom eval`: JSON Lines in, JSON Lines out.
#pragma once

#include <iosfwd>
#include <string>

#include "client/cli/eval/evaluator.h"

namespace carom::cli {

struct EvalOptions {
  std::string root = ".";  // the folder that the files of `load` lines are in
};

// Answers every line of `in` on `out`, through `evaluator`, which it closes. Queries wait for each
// other, up to a few hundred, while there is more input to read; so a program that asks and waits
// gets its answer at once.
//
// Returns the exit status: 0 if every line was JSON; 1 if one was not (its number is on `err`, and
// the run goes on) or the service failed (the run ends, and `err` says why).
int RunEval(Evaluator& evaluator, const EvalOptions& options, std::istream& in, std::ostream& out,
            std::ostream& err);

}  // namespace carom::cli
