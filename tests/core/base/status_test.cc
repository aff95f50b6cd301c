// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "carom/status.h"

#include <gtest/gtest.h>

#include <string>

namespace carom::status_test {
namespace {

TEST(StatusTest, ViolationsRoundTrip) {
  const absl::Status status = InvalidField("rings[0].x[1]", "must be finite");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "rings[0].x[1]: must be finite");
  EXPECT_EQ(Violations(status), (std::vector<Violation>{{"rings[0].x[1]", "must be finite"}}));
  EXPECT_TRUE(Violations(absl::OkStatus()).empty());
  EXPECT_TRUE(Violations(absl::NotFoundError("x")).empty());
}

TEST(StatusTest, KeepsSixteenAndCountsTheRest) {
  Refusal refusal;
  EXPECT_TRUE(refusal.status().ok());
  for (int i = 0; i < 40; ++i) refusal.Add("f", "d");
  EXPECT_EQ(refusal.total(), 40u);
  EXPECT_EQ(Violations(refusal.status()).size(), 16u);
  EXPECT_NE(std::string(refusal.status().message()).find("40 violations"), std::string::npos);
}

TEST(StatusTest, BoundsTextsAndKeepsThemApart) {
  const std::string with_nul("a\0b", 3);
  const absl::Status status = InvalidField(with_nul, std::string(5000, 'x'));
  const std::vector<Violation> read = Violations(status);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].field, "a b");
  EXPECT_EQ(read[0].description.size(), Refusal::kMaxTextBytes);
  EXPECT_LT(status.message().size(), 400u);
}

TEST(StatusTest, ViolationsMoveToAnotherStatus) {
  const std::vector<Violation> violations{{"a", "b"}, {"", "whole"}};
  const absl::Status status = WithViolations(absl::AbortedError("stale"), violations);
  EXPECT_EQ(Violations(status), violations);
  EXPECT_TRUE(WithViolations(absl::OkStatus(), violations).ok());
  EXPECT_TRUE(Violations(WithViolations(status, {})).empty());
}

TEST(StatusTest, CountsOutliveTheList) {
  Refusal refusal;
  refusal.Add("f", "d");
  refusal.AddUnlisted(41);
  EXPECT_EQ(ViolationCount(refusal.status()), 42u);
  EXPECT_EQ(Violations(refusal.status()).size(), 1u);
  EXPECT_EQ(ViolationCount(absl::NotFoundError("x")), 0u);
}

TEST(StatusTest, CutsBeforeACharacter) {
  const std::string text = std::string(Refusal::kMaxTextBytes - 1, 'x') + "\xc3\xa9";
  EXPECT_EQ(Violations(InvalidField("f", text))[0].description,
            std::string(Refusal::kMaxTextBytes - 1, 'x'));
}

}  // namespace
}  // namespace carom::status_test
