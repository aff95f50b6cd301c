// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Holds the bytes of a message in the buffer type of gRPC's core.
//
// `grpc::ByteBuffer` wraps the buffer type, too, but has no move constructor, and gives access to
// its bytes only with an additional reference; the release of a reference takes about a hundred
// instructions.
#pragma once

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace carom::server {

// Owns the bytes of a message, which are in one piece, as for small messages, or in several pieces
// (slices of gRPC). Not thread-safe.
class MessageBytes {
 public:
  MessageBytes() = default;
  // Takes ownership of `buffer`, which may be null.
  explicit MessageBytes(grpc_byte_buffer* buffer) : buffer_(buffer) {}
  // Adds references to the bytes of `bytes`, without a copy. Implicit, so that functions that read
  // a message accept both types.
  MessageBytes(const grpc::ByteBuffer& bytes);  // NOLINT(google-explicit-constructor)
  MessageBytes(MessageBytes&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  MessageBytes& operator=(MessageBytes&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~MessageBytes() { Clear(); }

  // Returns `size` bytes in one piece. `write(uint8_t*)` must write all bytes and return their end.
  // If `write` returns an earlier end (a bug), the bytes after that end are set to 0, as they may
  // contain data of other calls.
  template <class Write>
  static MessageBytes Of(size_t size, const Write& write) {
    const grpc_slice piece = grpc_slice_malloc(size);
    uint8_t* const begin = const_cast<uint8_t*>(GRPC_SLICE_START_PTR(piece));
    uint8_t* const end = write(begin);
    assert(end == begin + size);
    if (end < begin + size) std::fill(end, begin + size, uint8_t{0});
    MessageBytes bytes = Empty();
    grpc_slice_buffer_add(&bytes.buffer_->data.raw.slice_buffer, piece);
    return bytes;
  }

  size_t size() const { return buffer_ == nullptr ? 0 : slices().length; }
  void Clear() {
    if (buffer_ != nullptr) grpc_byte_buffer_destroy(std::exchange(buffer_, nullptr));
  }

  // Clears the object. If gRPC has moved the bytes out, as it does when it sends them, keeps the
  // empty buffer for the next message that this thread creates.
  void Recycle();

  // Returns whether the bytes are in at most one piece.
  bool is_joined() const { return buffer_ == nullptr || slices().count <= 1; }
  // Returns the bytes. `is_joined()` must be true.
  std::span<const uint8_t> joined() const {
    if (size() == 0) return {};
    return {GRPC_SLICE_START_PTR(slices().slices[0]), GRPC_SLICE_LENGTH(slices().slices[0])};
  }
  // Copies the bytes into one piece, unless they already are in one piece.
  void Join();

  // Returns a buffer with references to the bytes, without a copy.
  grpc::ByteBuffer ToByteBuffer() const;
  grpc_byte_buffer* get() const { return buffer_; }

 private:
  // Returns an object whose buffer has no pieces; reuses the buffer that `Recycle` has kept, if
  // there is one.
  static MessageBytes Empty();
  const grpc_slice_buffer& slices() const { return buffer_->data.raw.slice_buffer; }

  grpc_byte_buffer* buffer_ = nullptr;
};

}  // namespace carom::server
