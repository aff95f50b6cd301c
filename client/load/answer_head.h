// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Reads the status and statistics of a serialized answer without decoding its columns.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>

#include "carom/tracker.h"

namespace carom::load {

// The fields of a StreamResponse, the answer to a frame (a message with groups of queries), that
// `carom load` counts.
struct AnswerHead {
  uint64_t seq = 0;
  int frame_code = 0;  // code of FrameAnswer.status; 0: OK
  int group_code = 0;  // code of the last group with an error; 0: no group has one
  uint32_t groups = 0;
  bool skipped = false;
  // Fields of FrameStats.
  uint64_t evaluate_ns = 0;
  uint64_t shadow_differences = 0;
  MoveTiers moves;
};

// Returns the counted fields of `answer`, or nullopt if the bytes are not a StreamResponse.
std::optional<AnswerHead> ReadAnswerHead(grpc::ByteBuffer& answer);

}  // namespace carom::load
