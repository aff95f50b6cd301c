// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers as bytes, without a message between.
//
// To fill a v1::GroupAnswer in and to serialize it takes longer than to cast the few segments of a
// small group, most of it for columns that are not there. `AnswerBytes` writes the bytes of such
// answers at once, and `Serialize` puts them where the message has its groups: the result is what
// protobuf makes of the message with all of them. Larger answers: wire/encode.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carom/cast.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The answers of some neighbors among the segments of a batch, without truncated ones and errors.
struct CastPart {
  std::span<const uint32_t> counts;
  std::span<const CastHit> hits;
  std::span<const Vec2> reflections;
};

// Answers of groups, by their index in the frame. Reused, it stops allocating once warm. Not
// thread-safe.
class AnswerBytes {
 public:
  // What all groups of a frame may have here, and so how much memory there may be.
  static constexpr size_t kMaxBytes = 128 << 10;

  void Clear();
  bool empty() const { return groups_.empty(); }

  // Makes room for the answers of so many groups, with so many segments and hits in all. False if
  // there would be too much.
  bool Reserve(size_t groups, size_t segments, size_t hits);
  // Writes the answer of a group, for which there is room, once, and in any order of groups: of a
  // scene's version, and segments that are asked with these options.
  void Add(size_t group, uint64_t version, const CastPart& part, const CastOptions& options);

  // The size of `response` in bytes. The messages of groups that were added have no field but
  // `edited_version`, which `Serialize` writes after the bytes of the group.
  size_t ByteSize(const v1::StreamResponse& response);
  // Writes `response` after `ByteSize`, without a change between the two calls. Returns the end of
  // what it wrote: `to` + `ByteSize(response)`.
  uint8_t* Serialize(const v1::StreamResponse& response, uint8_t* to) const;

  // Bytes of all answers with the room before each, and of the memory for them.
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0: the group is not here
  };

  // The range of the group at `index` of the answer.
  Range RangeOf(int index) const;

  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::vector<Range> groups_;
  size_t answer_size_ = 0;  // of the answer that `ByteSize` measured last
};

}  // namespace carom::wire
