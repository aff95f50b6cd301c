// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Asks the queries of several JSON lines in one frame, and prints the answers as lines.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/eval/evaluator.h"
#include "client/cli/eval/query_columns.h"

namespace carom::cli {

// Returns one JSON line per query, in the order of `queries`. `bodies` are the placed shapes
// besides the scene that all queries may consider. Sends the queries in one frame (message); if the
// frame exceeds a limit of the server, sends each half of the queries in a frame of its own, so
// that only a query that alone exceeds the limit gets the error. Returns an error only if the
// service failed.
absl::StatusOr<std::vector<std::string>> AnswerLines(std::span<const Pending> queries,
                                                     const BatchBodies& bodies,
                                                     Evaluator& evaluator);

}  // namespace carom::cli
