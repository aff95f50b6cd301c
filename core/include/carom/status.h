// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a request was refused, and why?
//
// `Refusal` collects violations, each a field path with the allowed range, and converts them to one
// absl::Status; `Violations` reads the violations of a status. The service sends the list as
// google.rpc.BadRequest, and the command line prints the first violation as "field". `RetryDelay`
// returns whether and when a refused request may be accepted.
//
//   const absl::Status status = InvalidField("segments.by", "must have 4 entries");
//   const std::vector<Violation> violations = Violations(status);
//   // violations[0].field == "segments.by"
//   const uint64_t delay_us = RetryDelay(status);  // 0: a retry would be refused, too
//
// Delays are in microseconds. Cost: O(n) for n violations; a `Refusal` keeps `kMaxListed`
// violations. Thread-safe, except for `Refusal`. Cheaper alternative: the code and message of
// absl::Status.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace carom {

// One violation. `field` is a path inside the request, such as `polygons[3].rings[0].x[7]`, and
// empty for the request as a whole. `description` states the allowed range, in words for people.
struct Violation {
  std::string field;
  std::string description;

  friend bool operator==(const Violation&, const Violation&) = default;
};

// A list of violations under construction. Keeps the first `kMaxListed` violations and counts the
// rest, so that the list that a client receives stays below 4 KiB. Not thread-safe.
class Refusal {
 public:
  static constexpr size_t kMaxListed = 16;
  static constexpr size_t kMaxTextBytes = 120;  // limit for each field and each description

  void Add(absl::string_view field, absl::string_view description);
  // Counts `count` violations that the list does not contain.
  void AddUnlisted(size_t count) { total_ += count; }

  bool empty() const { return total_ == 0; }
  size_t total() const { return total_; }

  // Returns OK if there is no violation; otherwise `code` with the violations attached. The message
  // contains the first violation and the number of all violations.
  absl::Status status(absl::StatusCode code = absl::StatusCode::kInvalidArgument) const;

 private:
  std::vector<Violation> listed_;
  size_t total_ = 0;
};

// Returns a status with the code `code` and one violation.
absl::Status Refused(absl::StatusCode code, absl::string_view field, absl::string_view description);

// Returns INVALID_ARGUMENT with one violation.
absl::Status InvalidField(absl::string_view field, absl::string_view description);

// Returns the violations that `status` carries; empty if it carries none. Never fails.
std::vector<Violation> Violations(const absl::Status& status);

// Returns how many violations were found, including violations that were cut from the list: at
// least the size of `Violations(status)`.
size_t ViolationCount(const absl::Status& status);

// Returns `status` with `violations` in place of any that it carried; OK stays OK. `count` is what
// `ViolationCount` returns for the result, unless the list is longer.
absl::Status WithViolations(absl::Status status, const std::vector<Violation>& violations,
                            size_t count = 0);

// Returns how many microseconds to wait before the request is sent again; 0 if a retry would be
// refused, too.
uint64_t RetryDelay(const absl::Status& status);

// Returns `status` with `delay_us` in place of any delay that it carried; OK stays OK.
absl::Status WithRetryDelay(absl::Status status, uint64_t delay_us);

}  // namespace carom
