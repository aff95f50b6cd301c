// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Parts of Abseil for libcarom.so.
//
// Debian's archives of Abseil have two objects with thread-local variables of the local-exec model,
// which no shared object may contain. With the definitions of their functions here the linker does
// not take these objects: no cord is sampled for profiles, and the id of a thread is not cached.

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <limits>

#include "absl/base/internal/sysinfo.h"
#include "absl/strings/internal/cordz_functions.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

namespace cord_internal {

int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t) {}

ABSL_CONST_INIT thread_local int64_t cordz_next_sample = std::numeric_limits<int64_t>::max();
bool cordz_should_profile_slow() {
  cordz_next_sample = std::numeric_limits<int64_t>::max();
  return false;
}

}  // namespace cord_internal

// Spin locks and mutexes, which protect Abseil's own data, call these functions.
namespace base_internal {

double NominalCPUFrequency() { return 1.0; }  // unknown
int NumCPUs() {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<int>(count) : 1;
}
pid_t GetTID() { return static_cast<pid_t>(syscall(SYS_gettid)); }
pid_t GetCachedTID() { return GetTID(); }

}  // namespace base_internal

ABSL_NAMESPACE_END
}  // namespace absl
