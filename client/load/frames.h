// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The bytes of frames, as the service's messages have them, at the least cost.
//
// Bullets are serialized once, a slice for each window, which all frames share; moves are written
// where they are sent from. A frame is then about twenty bytes of its own, and these.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/load/questions.h"

namespace carom::load {

// Immutable once made: thread-safe. Outlives what it returned.
class Frames {
 public:
  // Of every stream: the scene `scene` (`scenes/{scene}`) under a handle. `questions` outlives the
  // frames.
  Frames(const Questions& questions, const std::string& scene);

  // A stream's first frame, seq 0: the handle and the trackers.
  const grpc::ByteBuffer& first() const { return first_; }
  // The frame of a tick: a StreamRequest whose seq is `tick` + 1.
  grpc::ByteBuffer Frame(uint32_t stream, uint64_t tick) const;

 private:
  void MakeMovesBegin();
  grpc::Slice Moves(uint32_t stream, uint64_t tick) const;

  const Questions& questions_;
  grpc::ByteBuffer first_;
  std::vector<std::string> windows_;  // the field `segments` of a group
  std::string moves_begin_;           // the field `moves` up to the column of x
  size_t moves_size_ = 0;             // of all of it
};

}  // namespace carom::load
