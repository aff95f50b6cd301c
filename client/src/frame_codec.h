// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Encodes frames (the queries of a client in one tick) as messages, and decodes the answers, for
// `Client::Evaluate` and `Stream`.
#pragma once

#include "absl/status/status.h"
#include "carom/frame.h"
#include "carom/v1/query_service.pb.h"

namespace carom {

// Overwrites `message` with `frame` and reuses the memory of `message`.
void EncodeFrame(const Frame& frame, v1::Frame& message);

// Overwrites `out` with the answer in `message` and reuses the memory of `out`. Returns INTERNAL if
// the columns of a group's answers have lengths that contradict each other; a correct server never
// sends such an answer.
absl::Status DecodeFrameAnswer(const v1::FrameAnswer& message, FrameAnswer& out);

}  // namespace carom
