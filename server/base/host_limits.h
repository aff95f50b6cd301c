// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much of its machine may this process take?
//
// A container's limits are those of its control group and all groups above it (cgroup v2, and v1 as
// older systems have it): the machine has more, and a process that takes it is killed or stalled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace carom::server {

struct HostLimits {
  size_t threads = 1;  // that can run at once: processors allowed, and the quota of their time
  uint64_t memory_bytes = 0;  // the least limit, or the machine's memory
};

// Reads them anew. `root` stands for `/`, for tests. What cannot be read limits nothing.
HostLimits ReadHostLimits(const std::string& root = "");

}  // namespace carom::server
