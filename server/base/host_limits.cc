// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/host_limits.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace carom::server {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

// The first number of a file; kNone if there is none, as in "max", or -1 in v1.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number && number >= 0 ? static_cast<uint64_t>(number) : kNone;
}

// The processors that a quota of time amounts to: "MAX PERIOD" in v2, two files in v1.
double ProcessorsIn(const std::string& group) {
  std::ifstream v2(group + "/cpu.max");
  double quota = 0;
  double period = 0;
  if (v2 >> quota >> period && period > 0) return quota / period;
  std::ifstream quota_file(group + "/cpu.cfs_quota_us");
  std::ifstream period_file(group + "/cpu.cfs_period_us");
  if (quota_file >> quota && period_file >> period && quota > 0 && period > 0) {
    return quota / period;
  }
  return HUGE_VAL;
}

void Narrow(const std::string& group, double& processors, uint64_t& memory_bytes) {
  processors = std::min(processors, ProcessorsIn(group));
  memory_bytes = std::min(
      {memory_bytes, NumberIn(group + "/memory.max"), NumberIn(group + "/memory.limit_in_bytes")});
}

size_t AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
  return static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

// Lines of /proc/self/cgroup are `NUMBER:CONTROLLERS:PATH`, without controllers in v2. Inside a
// container the path may be one of the host's that is not there: the group is then the mount
// itself.
HostLimits ReadHostLimits(const std::string& root) {
  double processors = HUGE_VAL;
  uint64_t memory_bytes = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES))) *
                          static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string mount = root + "/sys/fs/cgroup";
    if (!controllers.empty()) mount += "/" + controllers;
    // The group and those above it, up to the mount.
    std::string path = line.substr(second + 1);
    while (!path.empty() && path != "/") {
      Narrow(mount + path, processors, memory_bytes);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    Narrow(mount, processors, memory_bytes);
  }
  const double whole = std::max(1.0, std::ceil(std::min(processors, 1e6)));
  return {std::min(AllowedProcessors(), static_cast<size_t>(whole)), memory_bytes};
}

}  // namespace carom::server
