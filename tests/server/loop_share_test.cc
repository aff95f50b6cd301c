// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Whose frames stay on the event loop.
#include "server/loop_share.h"

#include <chrono>

#include "gtest/gtest.h"

namespace carom::server {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class LoopShareTest : public ::testing::Test {
 protected:
  // A second in which both take so much a millisecond.
  void Ask(Clock::duration of_one, Clock::duration of_other) {
    for (int i = 0; i < 1000; ++i) {
      now_ += milliseconds(1);
      share_.Take(one_, of_one, now_);
      share_.Take(other_, of_other, now_);
    }
  }
  bool OneMay() const { return share_.MayTake(one_, now_); }
  bool OtherMay() const { return share_.MayTake(other_, now_); }

  LoopShare share_{2};
  LoopUse one_, other_;
  Clock::time_point now_ = Clock::now();
};

TEST_F(LoopShareTest, WhoTakesMostBesideAnotherOneGoes) {
  EXPECT_TRUE(OneMay());
  Ask(microseconds(1000), microseconds(20));
  EXPECT_FALSE(OneMay());
  EXPECT_FALSE(share_.IsLittle(one_));
  EXPECT_TRUE(share_.IsLittle(other_));
  EXPECT_TRUE(OtherMay());
  // And comes back once it has taken less.
  now_ += milliseconds(500);
  EXPECT_TRUE(OneMay());
}

TEST_F(LoopShareTest, WhoIsAloneOrOneOfTwoAlikeStays) {
  Ask(microseconds(1900), microseconds(0));
  EXPECT_TRUE(OneMay());
  Ask(microseconds(1000), microseconds(900));
  EXPECT_TRUE(OneMay());
  EXPECT_TRUE(OtherMay());
}

TEST_F(LoopShareTest, WhoTakesLittleStays) {
  Ask(microseconds(50), microseconds(1));
  EXPECT_TRUE(share_.IsLittle(one_));
  EXPECT_TRUE(OneMay());
}

}  // namespace
}  // namespace carom::server
