// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How much CPU time and memory may this process use?
//
// The limits of a container are those of its control group and of all parent groups (cgroup v2, or
// v1 on older systems). The machine may have more memory and CPUs, but the kernel kills or stalls a
// process that exceeds the limits of its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace carom::server {

struct HostLimits {
  size_t threads = 1;  // threads that can run at once: allowed CPUs, or the CPU quota if lower
  uint64_t memory_bytes = 0;  // the lowest memory limit, at most the memory of the machine
};

// Reads the limits from the system in each call. A file that cannot be read sets no limit. Tests
// pass the root of a fake file system as `root`; empty: `/`.
HostLimits ReadHostLimits(const std::string& root = "");

// Returns `wanted`, or an eighth of the descriptors that the process may open if that is less: the
// number of connections that an HTTP port may have, so that most descriptors are left for gRPC.
size_t ConnectionsOfHttp(size_t wanted);

}  // namespace carom::server
