// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the tests of the command line share: `carom` as a process beside the server of the fixture.
#pragma once

#include <string>
#include <vector>

#include "tests/client/fixture.h"
#include "tests/support/process.h"

namespace carom {

class CommandLineTest : public ClientTest {
 protected:
  // Runs `carom arguments…`. `CAROM_ADDRESS` is the address of the server, unless `environment`,
  // variables as NAME=VALUE, has another one.
  testing::ProcessResult Carom(const std::vector<std::string>& arguments,
                               const std::string& input = "",
                               const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> command = {"env", "CAROM_ADDRESS=" + server_->address()};
    command.insert(command.end(), environment.begin(), environment.end());
    command.push_back(Environment("CAROM_BINARY"));
    command.insert(command.end(), arguments.begin(), arguments.end());
    return testing::RunProcess(command, input, 60);
  }
};

}  // namespace carom
