// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The bytes of a message, as gRPC's core has them.
//
// `grpc::ByteBuffer` is the same, but it is copied where it could be moved and does not show its
// bytes without a reference more; each reference that ends takes a hundred instructions.
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

// In one piece, as those of small messages are, or in several. Not thread-safe.
class MessageBytes {
 public:
  MessageBytes() = default;
  // Takes over `buffer`, which may be null.
  explicit MessageBytes(grpc_byte_buffer* buffer) : buffer_(buffer) {}
  // References of the same bytes, as whoever reads them may have either.
  MessageBytes(const grpc::ByteBuffer& bytes);  // NOLINT(google-explicit-constructor)
  MessageBytes(MessageBytes&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  MessageBytes& operator=(MessageBytes&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~MessageBytes() { Clear(); }

  // `size` bytes in one piece. `write(uint8_t*)` writes all of them and returns where it ended:
  // bytes that it left would be memory of other calls, so they are zeroed.
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

  // Ends them, and keeps what is around them for the thread's next message: for bytes that gRPC has
  // taken over, as it does of what it sends.
  void Recycle();

  // Whether they are in one piece, or none.
  bool is_joined() const { return buffer_ == nullptr || slices().count <= 1; }
  // All of them, if they are.
  std::span<const uint8_t> joined() const {
    if (size() == 0) return {};
    return {GRPC_SLICE_START_PTR(slices().slices[0]), GRPC_SLICE_LENGTH(slices().slices[0])};
  }
  // Copies them if they are not.
  void Join();

  // References of the same bytes.
  grpc::ByteBuffer ToByteBuffer() const;
  grpc_byte_buffer* get() const { return buffer_; }

 private:
  // A buffer without pieces.
  static MessageBytes Empty();
  const grpc_slice_buffer& slices() const { return buffer_->data.raw.slice_buffer; }

  grpc_byte_buffer* buffer_ = nullptr;
};

}  // namespace carom::server
