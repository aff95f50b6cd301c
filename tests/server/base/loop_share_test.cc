// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Whose frames stay on the event loop.
#include "server/base/loop_share.h"

#include <chrono>
#include <thread>
#include <vector>

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
  EXPECT_FALSE(share_.HasSmallShare(one_));
  EXPECT_TRUE(share_.HasSmallShare(other_));
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

// Who is alone has taken all there is, however many threads count it.
TEST_F(LoopShareTest, NothingThatThreadsAddIsLost) {
  constexpr int kThreads = 4;
  constexpr int64_t kAdds = 20000;
  constexpr int64_t kNs = 1000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      for (int64_t j = 0; j < kAdds; ++j) one_.Add(kNs, LoopUse::kHalfLifeNs + j);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(one_.At(LoopUse::kHalfLifeNs), kThreads * kAdds * kNs);
}

// A thread that has looked at the clock before another one adds after it.
TEST_F(LoopShareTest, WhatIsAddedLateIsNotForgottenTwice) {
  one_.Add(1000, LoopUse::kHalfLifeNs - 1);
  one_.Add(100, LoopUse::kHalfLifeNs);
  one_.Add(10, LoopUse::kHalfLifeNs - 1);
  EXPECT_EQ(one_.At(LoopUse::kHalfLifeNs), 610);
  EXPECT_EQ(one_.At(LoopUse::kHalfLifeNs - 1), 610);
  EXPECT_EQ(one_.upper_bound(), 610);
  EXPECT_EQ(one_.At(2 * LoopUse::kHalfLifeNs), 305);
  for (const int64_t halves : {1000, 1000000, 100000000}) {
    EXPECT_EQ(one_.At(halves * LoopUse::kHalfLifeNs), 0);
  }
  // No more than it can count to, and no less than nothing.
  one_.Add(int64_t{1} << 40, LoopUse::kHalfLifeNs);
  one_.Add(int64_t{1} << 40, LoopUse::kHalfLifeNs);
  EXPECT_EQ(one_.upper_bound(), (int64_t{1} << 37) - 1);
  other_.Add(-5, LoopUse::kHalfLifeNs);
  EXPECT_EQ(other_.upper_bound(), 0);
}

TEST_F(LoopShareTest, WhoTakesLittleStays) {
  Ask(microseconds(50), microseconds(1));
  EXPECT_TRUE(share_.HasSmallShare(one_));
  EXPECT_TRUE(OneMay());
}

}  // namespace
}  // namespace carom::server
