// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Is this the answer to that frame? What the wire cannot check by itself: a decoded answer has
// columns that fit each other, and here they are held against the questions.
#pragma once

#include "absl/status/status.h"
#include "carom/frame.h"
#include "carom/v1/query_service.pb.h"

namespace carom {

// INTERNAL where the answer has another `seq`, another number of groups, or another number of items
// in a group, which an honest server never sends. Cost O(groups), and a word for 64 moves.
absl::Status CheckFrameAnswer(const v1::Frame& asked, const FrameAnswer& answer);

}  // namespace carom
