// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/status.h"

#include <algorithm>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"

namespace carom {
namespace {

// The type URL of the payload of an absl::Status that lists violations. The payload contains the
// number of all violations, NUL, then field, NUL, description, NUL for each listed violation.
constexpr char kPayloadUrl[] = "carom.dev/violations";
// The type URL of the payload of an absl::Status that contains the delay after which a client may
// retry, in microseconds, in decimal digits.
constexpr char kRetryUrl[] = "carom.dev/retry-delay-us";

// Returns `text`, cut to `Refusal::kMaxTextBytes`, and with each NUL replaced by a space, since NUL
// separates the parts of a status payload. A cut is never inside a UTF-8 character: a byte of the
// form 10xxxxxx continues a character.
std::string Bounded(absl::string_view text) {
  size_t size = std::min(text.size(), Refusal::kMaxTextBytes);
  while (size < text.size() && size > 0 && (text[size] & 0xC0) == 0x80) --size;
  std::string result(text.substr(0, size));
  for (char& c : result) {
    if (c == '\0') c = ' ';
  }
  return result;
}

absl::Cord Payload(const std::vector<Violation>& violations, size_t count) {
  std::string bytes = absl::StrCat(std::max(count, violations.size()));
  bytes += '\0';
  for (const Violation& violation : violations) {
    bytes += Bounded(violation.field);
    bytes += '\0';
    bytes += Bounded(violation.description);
    bytes += '\0';
  }
  return absl::Cord(std::move(bytes));
}

// Returns the parts of the payload of `status` that lists the violations, split at NUL; empty for a
// status without this payload.
std::vector<std::string> PayloadParts(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return {};
  return absl::StrSplit(std::string(*payload), '\0');
}

}  // namespace

void Refusal::Add(absl::string_view field, absl::string_view description) {
  ++total_;
  if (listed_.size() < kMaxListed) listed_.push_back({Bounded(field), Bounded(description)});
}

absl::Status Refusal::status(absl::StatusCode code) const {
  if (empty()) return absl::OkStatus();
  const Violation& first = listed_.front();
  std::string message =
      first.field.empty() ? first.description : absl::StrCat(first.field, ": ", first.description);
  if (total_ > 1) absl::StrAppend(&message, " (the first of ", total_, " violations)");
  return WithViolations(absl::Status(code, message), listed_, total_);
}

absl::Status Refused(absl::StatusCode code, absl::string_view field,
                     absl::string_view description) {
  Refusal refusal;
  refusal.Add(field, description);
  return refusal.status(code);
}

absl::Status InvalidField(absl::string_view field, absl::string_view description) {
  return Refused(absl::StatusCode::kInvalidArgument, field, description);
}

// The parts of the payload are the number of violations, then pairs of field and description, then
// an empty part after the last NUL. A payload from another source may have fewer parts: incomplete
// pairs are left out.
std::vector<Violation> Violations(const absl::Status& status) {
  std::vector<Violation> result;
  const std::vector<std::string> parts = PayloadParts(status);
  for (size_t i = 1; i + 2 < parts.size(); i += 2) result.push_back({parts[i], parts[i + 1]});
  return result;
}

size_t ViolationCount(const absl::Status& status) {
  const std::vector<std::string> parts = PayloadParts(status);
  size_t count = 0;
  return !parts.empty() && absl::SimpleAtoi(parts[0], &count) ? count : 0;
}

absl::Status WithViolations(absl::Status status, const std::vector<Violation>& violations,
                            size_t count) {
  if (violations.empty()) {
    status.ErasePayload(kPayloadUrl);
  } else if (!status.ok()) {
    status.SetPayload(kPayloadUrl, Payload(violations, count));
  }
  return status;
}

uint64_t RetryDelay(const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kRetryUrl);
  uint64_t delay_us = 0;
  return payload.has_value() && absl::SimpleAtoi(std::string(*payload), &delay_us) ? delay_us : 0;
}

absl::Status WithRetryDelay(absl::Status status, uint64_t delay_us) {
  if (delay_us == 0) {
    status.ErasePayload(kRetryUrl);
  } else if (!status.ok()) {
    status.SetPayload(kRetryUrl, absl::Cord(absl::StrCat(delay_us)));
  }
  return status;
}

}  // namespace carom
