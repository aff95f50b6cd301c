// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Parts of Abseil and of the core that WebAssembly does without.

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/internal/cordz_functions.h"
#include "absl/strings/internal/cordz_info.h"
#include "carom/bundle_file.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

// No cord is sampled for profiles.
namespace cord_internal {

int32_t get_cordz_mean_interval() { return 0; }
void set_cordz_mean_interval(int32_t) {}
ABSL_CONST_INIT thread_local int64_t cordz_next_sample = std::numeric_limits<int64_t>::max();
bool cordz_should_profile_slow() {
  cordz_next_sample = std::numeric_limits<int64_t>::max();
  return false;
}
void CordzInfo::TrackCord(InlineData&, MethodIdentifier) {}
void CordzInfo::MaybeTrackCordImpl(InlineData&, const InlineData&, MethodIdentifier) {}
void CordzInfo::Untrack() {}

}  // namespace cord_internal
ABSL_NAMESPACE_END
}  // namespace absl

// There are no files: bundles are bytes.
namespace carom {

absl::Status SaveBundle(const Scene&, const std::string&, BundleIndex) {
  return absl::FailedPreconditionError("there are no files in WebAssembly");
}
absl::StatusOr<Scene::Ptr> OpenBundle(const std::string&, const BundleReadOptions&) {
  return absl::FailedPreconditionError("there are no files in WebAssembly");
}

}  // namespace carom
