// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of `carom eval` share: a run through the library and through a server, to the same
// bytes, and a scene.
#pragma once

#include <memory>
#include <sstream>
#include <string>
#include <utility>

#include "client/cli/eval/eval.h"
#include "tests/client/fixture.h"

namespace carom::cli {

struct Output {
  int exit_status = -1;
  std::string out;
  std::string err;
};

class EvalTest : public ClientTest {
 protected:
  Output Run(std::unique_ptr<Evaluator> evaluator, const std::string& input) const {
    std::istringstream in(input);
    std::ostringstream out, err;
    const int status = RunEval(*evaluator, {.root = folder_.path()}, in, out, err);
    return {status, out.str(), err.str()};
  }

  // What both evaluators print; it is a failure if they differ.
  Output Run(const std::string& input) const {
    Output local = Run(LocalEvaluator(), input);
    auto remote_evaluator = RemoteEvaluator(server_->address());
    EXPECT_TRUE(remote_evaluator.ok());
    const Output remote = Run(*std::move(remote_evaluator), input);
    EXPECT_EQ(local.out, remote.out);
    EXPECT_EQ(local.err, remote.err);
    EXPECT_EQ(local.exit_status, remote.exit_status);
    return local;
  }
};

// Two squares, (0, 0)-(10, 10) with id 7 and (20, 0)-(30, 10) with the greatest id.
inline constexpr char kScene[] =
    R"({"op":"scene","polygons":[{"id":7,"rings":[[[0,0],[10,0],[10,10],[0,10]]]},)"
    R"({"id":18446744073709551615,"fill":"nonzero","rings":[[[20,0],[30,0],[30,10],[20,10]]]}]})"
    "\n";

}  // namespace carom::cli
