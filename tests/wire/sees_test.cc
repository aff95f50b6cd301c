// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Observers: what they decode to, that they encode to the same message, and how their options are
// refused. What they are answered is in kinds_test.cc.

#include <string>

#include "gtest/gtest.h"
#include "wire/decode.h"
#include "wire/encode.h"
#include "wire/messages.h"

namespace carom::wire {
namespace {

using testing::ElementsAre;

TEST(SeesOnTheWire, ObserversTravel) {
  const auto message = FromText<v1::Group>(R"(sees {
    x: [1, 2] y: [3, 4] range: [5, 6] from: [7, 8] to: [9, 10]
    inside_policy: INSIDE_POLICY_IGNORE margin: 11 mask: 12 ignore_owner: [13, 14]
  })");
  DecodedGroup decoded;
  ASSERT_TRUE(DecodeGroup(message, decoded).ok());
  const Group& group = decoded.group;
  EXPECT_THAT(group.sees.x, ElementsAre(1, 2));
  EXPECT_THAT(group.sees.y, ElementsAre(3, 4));
  EXPECT_THAT(group.sees.range, ElementsAre(5, 6));
  EXPECT_THAT(group.sees.from, ElementsAre(7, 8));
  EXPECT_THAT(group.sees.to, ElementsAre(9, 10));
  EXPECT_THAT(group.sees.scope.ignore_owner, ElementsAre(13, 14));
  EXPECT_EQ(group.see_options, (SeeOptions{InsidePolicy::kIgnore, 11, 12}));
  v1::Group encoded;
  EncodeGroup(group, encoded);
  EXPECT_EQ(encoded.DebugString(), message.DebugString());
}

TEST(SeesOnTheWire, RefusalsNameTheField) {
  for (const auto& [text, field, range] :
       {std::tuple{"inside_policy: INSIDE_POLICY_EXIT", "sees.inside_policy", "IGNORE"},
        std::tuple{"margin: -1", "sees.margin", "[0, 2^53]"},
        std::tuple{"margin: nan", "sees.margin", "[0, 2^53]"},
        std::tuple{"against: AGAINST_BOTH", "sees.against", "SCENE"},
        std::tuple{"y: 2", "sees.range", "1"},
        std::tuple{"y: 2 range: 3 from: 1", "sees.to", "1"}}) {
    const auto message = FromText<v1::Group>("sees { x: 1 " + std::string(text) +
                                             (text[0] == 'y' ? " }" : " y: 2 range: 3 }"));
    DecodedGroup decoded;
    EXPECT_TRUE(
        Refuses(DecodeGroup(message, decoded), absl::StatusCode::kInvalidArgument, field, range))
        << text;
  }
}

}  // namespace
}  // namespace carom::wire
