// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does `carom load` serialize frames at little cost?
//
// A window is a fixed list of bullets (segments). Each frame queries all bullets of one window.
// `Frames` serializes each window once, and all frames with this window share the bytes as a slice.
// It writes the tracker moves of a frame directly into a slice. Each frame adds a head of about
// twenty bytes.
#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <string>
#include <vector>

#include "client/load/questions.h"

namespace carom::load {

// Makes the serialized frames (messages with the queries of one stream in one tick) of a run of
// `carom load`. The queries of a frame are in one group, the part of the message for one scene.
// Immutable, so thread-safe. Must outlive the buffers that it returns.
class Frames {
 public:
  // `scene` (`scenes/{scene}`) is the scene that every stream queries; `questions` must outlive the
  // `Frames`.
  Frames(const Questions& questions, const std::string& scene);

  // Returns the first frame of a stream, which has seq 0 and defines the scene handle and the
  // trackers.
  const grpc::ByteBuffer& first() const { return first_; }
  // Returns the frame of `stream` at `tick`, a StreamRequest with seq `tick` + 1.
  grpc::ByteBuffer Frame(uint32_t stream, uint64_t tick) const;

 private:
  // Sets `moves_begin_` and `moves_size_`.
  void MakeMovesBegin();
  // Returns the serialized field `moves` (tracker moves) of the group that `stream` sends at
  // `tick`.
  grpc::Slice Moves(uint32_t stream, uint64_t tick) const;

  const Questions& questions_;
  grpc::ByteBuffer first_;
  // for each window (list of bullets) the serialized field `segments` of a group
  std::vector<std::string> windows_;
  std::string moves_begin_;  // serialized field `moves` of a group, up to the first x coordinate
  size_t moves_size_ = 0;    // bytes of the whole serialized field `moves`, tag included
};

}  // namespace carom::load
