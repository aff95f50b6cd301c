// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/status.h"

#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/optional.h"

namespace carom {
namespace {

// The payload holds field, NUL, description, NUL for each violation.
constexpr char kPayloadUrl[] = "carom.dev/violations";

std::string Bounded(absl::string_view text) {
  std::string result(text.substr(0, Refusal::kMaxTextBytes));
  for (char& c : result) {
    if (c == '\0') c = ' ';
  }
  return result;
}

absl::Cord Payload(const std::vector<Violation>& violations) {
  std::string bytes;
  for (const Violation& violation : violations) {
    bytes += Bounded(violation.field);
    bytes += '\0';
    bytes += Bounded(violation.description);
    bytes += '\0';
  }
  return absl::Cord(std::move(bytes));
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
  if (total_ > 1) absl::StrAppend(&message, " (the first of ", total_, " offences)");
  return WithViolations(absl::Status(code, message), listed_);
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

std::vector<Violation> Violations(const absl::Status& status) {
  std::vector<Violation> result;
  const absl::optional<absl::Cord> payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return result;
  const std::vector<std::string> parts = absl::StrSplit(std::string(*payload), '\0');
  for (size_t i = 0; i + 1 < parts.size(); i += 2) result.push_back({parts[i], parts[i + 1]});
  return result;
}

absl::Status WithViolations(absl::Status status, const std::vector<Violation>& violations) {
  if (!status.ok() && !violations.empty()) status.SetPayload(kPayloadUrl, Payload(violations));
  return status;
}

}  // namespace carom
