// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are small answers serialized without a message?
//
// Filling in and serializing a v1::GroupAnswer takes longer than casting the few segments of a
// small group; most of that time goes to columns that are absent. `AnswerBytes` writes the bytes of
// such answers directly, and `Serialize` inserts them where the message has its groups. The result
// equals the bytes that protobuf writes for the message with all groups. Larger answers:
// wire/encode.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "carom/cast.h"
#include "carom/v1/query_service.pb.h"

namespace carom::wire {

// The answers to consecutive segments of a batch that has no truncated segments and no errors.
struct CastPart {
  std::span<const uint32_t> counts;
  std::span<const CastHit> hits;
  std::span<const Vec2> reflections;
};

// The bytes of answers to groups, by the index of the group in the frame. A reused object stops
// allocating after some frames. Not thread-safe.
class AnswerBytes {
 public:
  // The most bytes of all groups of a frame, which bounds the memory of this object.
  static constexpr size_t kMaxBytes = 128 << 10;

  void Clear();
  bool empty() const { return groups_.empty(); }

  // Reserves memory for the answers of `groups` groups with `segments` segments and `hits` hits in
  // all. Returns false if the bytes could exceed `kMaxBytes`.
  bool Reserve(size_t groups, size_t segments, size_t hits);
  // Writes the answer `part` of a group, whose segments were cast with `options` in the scene's
  // version `version`. Needs reserved memory, and may be called once for each group, in any order
  // of groups.
  void Add(size_t group, uint64_t version, const CastPart& part, const CastOptions& options);

  // Returns the size of `response` in bytes, with the added groups. The message of an added group
  // must have no field except `edited_version`, which `Serialize` writes after the bytes of the
  // group.
  size_t ByteSize(const v1::StreamResponse& response);
  // Writes `response` to `to`. `ByteSize(response)` must have been called before, and nothing
  // changed since. Returns the end of the written bytes: `to` + `ByteSize(response)`.
  uint8_t* Serialize(const v1::StreamResponse& response, uint8_t* to) const;

  // Return the bytes of all answers with the unused bytes before each answer, and the bytes of the
  // reserved memory.
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }

 private:
  struct Range {
    uint32_t begin = 0;
    uint32_t size = 0;  // 0: the group was not added
  };

  // Returns the range in `bytes_` of the group at `index` of the frame.
  Range RangeOf(int index) const;

  std::unique_ptr<uint8_t[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
  std::vector<Range> groups_;
  size_t answer_size_ = 0;  // bytes of the answer that `ByteSize` measured last
};

}  // namespace carom::wire
