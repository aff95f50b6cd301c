// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a request was refused, and why?
//
// `Refusal` collects violations, each a field path with the allowed range, and becomes one
// absl::Status; `Violations` reads them back. The service sends the same list as
// google.rpc.BadRequest, the command line prints the first one as "field". `RetryDelay` says
// whether and when the same request may be accepted.
//
//   const absl::Status status = InvalidField("segments.by", "must have 4 entries");
//   const std::vector<Violation> violations = Violations(status);
//   // violations[0].field == "segments.by"
//   const uint64_t delay_us = RetryDelay(status);  // 0: the same would be refused again
//
// Delays are in microseconds. Cost: O(n), n the violations, of which `kMaxListed` are kept.
// Thread-safe but for `Refusal`. Cheaper: the code and message of absl::Status; richer: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom {

// One offence. `field` is a path inside the request, such as `polygons[3].rings[0].x[7]`, empty
// for the request as a whole. `description` states the allowed range, for people.
struct Violation {
  std::string field;
  std::string description;

  friend bool operator==(const Violation&, const Violation&) = default;
};

// A list of violations under construction. It keeps the first `kMaxListed` and counts the rest,
// so that what a client receives stays below 4 KiB. Not thread-safe.
class Refusal {
 public:
  static constexpr size_t kMaxListed = 16;
  static constexpr size_t kMaxTextBytes = 120;  // of a field and of a description, each

  void Add(absl::string_view field, absl::string_view description);
  // Counts offences that are listed nowhere.
  void AddUnlisted(size_t count) { total_ += count; }

  bool empty() const { return total_ == 0; }
  size_t total() const { return total_; }

  // OK when empty; otherwise `code` with the violations attached. The message names the first
  // offence and the number of all.
  absl::Status status(absl::StatusCode code = absl::StatusCode::kInvalidArgument) const;

 private:
  std::vector<Violation> listed_;
  size_t total_ = 0;
};

// A status of one violation.
absl::Status Refused(absl::StatusCode code, absl::string_view field, absl::string_view description);

// INVALID_ARGUMENT of one violation.
absl::Status InvalidField(absl::string_view field, absl::string_view description);

// The violations that `status` carries; empty if none. Never fails.
std::vector<Violation> Violations(const absl::Status& status);

// How many there were before the list was cut; at least the size of the list.
size_t ViolationCount(const absl::Status& status);

// `status` with `violations` attached in place of any it carried; OK stays OK. `count` is that of
// `ViolationCount`, unless the list is longer.
absl::Status WithViolations(absl::Status status, const std::vector<Violation>& violations,
                            size_t count = 0);

// Microseconds to wait before the same is asked again; 0: it would be refused again.
uint64_t RetryDelay(const absl::Status& status);

// `status` with that delay in place of any it carried; OK stays OK.
absl::Status WithRetryDelay(absl::Status status, uint64_t delay_us);

}  // namespace carom
