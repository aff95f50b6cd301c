// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What a process may take, from files as the kernel writes them.
#include "server/base/host_limits.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

class HostLimitsTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_ / ("root" + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const TemporaryFolder folder_;
  const std::string root_ = folder_ / "root";
  const HostLimits machine_ = ReadHostLimits("/nowhere");
};

TEST_F(HostLimitsTest, WithoutGroupsTheMachineIsTheLimit) {
  EXPECT_GE(machine_.threads, 1u);
  EXPECT_GT(machine_.memory_bytes, 64u << 20);
}

// The least of the group's own limits and of all above it.
TEST_F(HostLimitsTest, GroupsAboveCount) {
  Write("/proc/self/cgroup", "0::/a/b\n");
  Write("/sys/fs/cgroup/a/b/memory.max", "max\n");
  Write("/sys/fs/cgroup/a/memory.max", "50000000\n");
  Write("/sys/fs/cgroup/memory.max", "90000000\n");
  Write("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  Write("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
  const HostLimits limits = ReadHostLimits(root_);
  EXPECT_EQ(limits.memory_bytes, 50000000u);
  EXPECT_EQ(limits.threads, 1u);  // half a processor is one thread
}

// Inside a container the group is the mount itself, whatever its name on the host.
TEST_F(HostLimitsTest, AGroupThatIsNotThereIsTheMount) {
  Write("/proc/self/cgroup", "0::/docker/0123\n");
  Write("/sys/fs/cgroup/memory.max", "70000000\n");
  EXPECT_EQ(ReadHostLimits(root_).memory_bytes, 70000000u);
  EXPECT_EQ(ReadHostLimits(root_).threads, machine_.threads);
}

TEST_F(HostLimitsTest, VersionOneHasAMountForEachController) {
  Write("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/x\n");
  Write("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "60000000\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "100000\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadHostLimits(root_).memory_bytes, 60000000u);
  EXPECT_EQ(ReadHostLimits(root_).threads, 1u);
  Write("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(ReadHostLimits(root_).threads, machine_.threads);
}

TEST_F(HostLimitsTest, NonsenseLimitsNothing) {
  Write("/proc/self/cgroup", "nonsense\n0::a\n::\n");
  Write("/sys/fs/cgroup/memory.max", "much\n");
  Write("/sys/fs/cgroup/cpu.max", "0 0\n");
  EXPECT_EQ(ReadHostLimits(root_).memory_bytes, machine_.memory_bytes);
  EXPECT_EQ(ReadHostLimits(root_).threads, machine_.threads);
}

}  // namespace
}  // namespace carom::server
