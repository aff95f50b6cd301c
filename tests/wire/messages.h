// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What the wire tests share: messages from text, and matchers of refusals.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "carom/status.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"

namespace carom::wire {

// The message that protobuf text describes. Unknown enum values are written as numbers.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// What arrives of a message that is sent.
template <typename Message>
Message Sent(const Message& message) {
  Message arrived;
  EXPECT_TRUE(arrived.ParseFromString(message.SerializeAsString()));
  return arrived;
}

// Whether `status` refuses with `code`, naming `field` first with a description that contains
// `range`, and both in its message.
inline ::testing::AssertionResult Refuses(const absl::Status& status, absl::StatusCode code,
                                          const std::string& field, const std::string& range) {
  const std::vector<Violation> violations = Violations(status);
  const std::string message(status.message());
  const bool refuses =
      status.code() == code && !violations.empty() && violations[0].field == field &&
      violations[0].description.find(range) != std::string::npos &&
      message.find(field) != std::string::npos && message.find(range) != std::string::npos;
  if (refuses) return ::testing::AssertionSuccess();
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  failure << status.ToString() << " in place of " << absl::StatusCodeToString(code) << " " << field
          << ": " << range;
  for (const Violation& violation : violations) {
    failure << "\n  " << violation.field << ": " << violation.description;
  }
  return failure;
}

// The fields that `status` names.
inline std::vector<std::string> Fields(const absl::Status& status) {
  std::vector<std::string> fields;
  for (const Violation& violation : Violations(status)) fields.push_back(violation.field);
  return fields;
}

}  // namespace carom::wire
