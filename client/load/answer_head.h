// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does an answer say of itself? Its head, read off the bytes without decoding the columns.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <optional>

#include "carom/tracker.h"

namespace carom::load {

struct AnswerHead {
  uint64_t seq = 0;
  int frame_code = 0;  // of FrameAnswer.status; 0: OK
  int group_code = 0;  // of the last group that was not answered; 0: all were
  uint32_t groups = 0;
  bool skipped = false;
  // Of FrameStats.
  uint64_t evaluate_ns = 0;
  uint64_t shadow_differences = 0;
  MoveTiers moves;
};

// The head of a StreamResponse; nothing if the bytes are none.
std::optional<AnswerHead> ReadAnswerHead(grpc::ByteBuffer& answer);

}  // namespace carom::load
