// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Does a decoded answer match the frame (the message with a client's queries of one tick) that it
// answers?
//
// Decoding checks that the columns of an answer have matching lengths. `CheckFrameAnswer` compares
// the answer with the queries of the frame.
#pragma once

#include "absl/status/status.h"
#include "carom/frame.h"
#include "carom/v1/query_service.pb.h"

namespace carom {

// Returns INTERNAL if `answer` has another `seq`, another number of groups, or another number of
// items in a group than `asked`; a correct server never sends such an answer. Cost: O(number of
// groups); for a group with tracker moves also one 64-bit word per 64 moves.
absl::Status CheckFrameAnswer(const v1::Frame& asked, const FrameAnswer& answer);

}  // namespace carom
