// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/base/host_limits.h"

#include <sched.h>
#include <sys/resource.h>
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

// Returns the first number in the file `path`; kNone if the file has none, such as "max" in cgroup
// v2, or a negative number, such as -1 in v1.
uint64_t NumberIn(const std::string& path) {
  std::ifstream file(path);
  int64_t number = 0;
  return file >> number && number >= 0 ? static_cast<uint64_t>(number) : kNone;
}

// Returns the CPU quota of a control group as a number of CPUs, which may be fractional; infinity
// if the group has no quota. In cgroup v2 the file `cpu.max` has "QUOTA PERIOD"; in v1 the two
// numbers are in two files.
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

// Lowers `processors` and `memory_bytes` to the limits of the control group with the folder
// `group`.
void ApplyGroupLimits(const std::string& group, double& processors, uint64_t& memory_bytes) {
  processors = std::min(processors, ProcessorsIn(group));
  memory_bytes = std::min(
      {memory_bytes, NumberIn(group + "/memory.max"), NumberIn(group + "/memory.limit_in_bytes")});
}

// Returns the number of CPUs on which the scheduler may run this process.
size_t AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<size_t>(CPU_COUNT(&set));
  return static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

}  // namespace

// Parses /proc/self/cgroup, whose lines are `NUMBER:CONTROLLERS:PATH`, without controllers in v2.
// Inside a container the path may be a path of the host that does not exist in the container; the
// root of the mount is then the group of the container.
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
    // Applies the limits of the group and of each parent group, up to the root of the mount.
    std::string path = line.substr(second + 1);
    while (!path.empty() && path != "/") {
      ApplyGroupLimits(mount + path, processors, memory_bytes);
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
    ApplyGroupLimits(mount, processors, memory_bytes);
  }
  const double whole = std::max(1.0, std::ceil(std::min(processors, 1e6)));
  return {std::min(AllowedProcessors(), static_cast<size_t>(whole)), memory_bytes};
}

size_t ConnectionsOfHttp(size_t wanted) {
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return wanted;
  return std::min<size_t>(wanted, std::max<rlim_t>(descriptors.rlim_cur / 8, 1));
}

}  // namespace carom::server
