// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Frames to messages, and messages to answers: what both `Client::Evaluate` and `Stream` do.
#pragma once

#include "absl/status/status.h"
#include "carom/frame.h"
#include "carom/v1/query_service.pb.h"

namespace carom {

// Overwrites `message`, keeping its memory for reuse.
void EncodeFrame(const Frame& frame, v1::Frame& message);

// INTERNAL if columns do not fit together, which an honest server never sends.
absl::Status DecodeFrameAnswer(const v1::FrameAnswer& message, FrameAnswer& out);

}  // namespace carom
