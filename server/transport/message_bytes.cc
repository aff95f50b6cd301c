// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/message_bytes.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <vector>

namespace carom::server {
namespace {

// the empty buffer that `MessageBytes::Recycle` keeps for the next `MessageBytes` that this thread
// creates
thread_local MessageBytes recycled;

}  // namespace

MessageBytes MessageBytes::Empty() {
  if (recycled.buffer_ != nullptr) return std::move(recycled);
  return MessageBytes(grpc_raw_byte_buffer_create(nullptr, 0));
}

void MessageBytes::Recycle() {
  if (buffer_ != nullptr && slices().count == 0) std::swap(buffer_, recycled.buffer_);
  Clear();
}

MessageBytes::MessageBytes(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> pieces;
  if (!bytes.Valid() || !bytes.Dump(&pieces).ok()) return;
  *this = Empty();
  for (const grpc::Slice& piece : pieces) {
    grpc_slice_buffer_add(&buffer_->data.raw.slice_buffer, piece.c_slice());
  }
}

void MessageBytes::Join() {
  if (is_joined()) return;
  *this = Of(size(), [this](uint8_t* to) {
    for (size_t i = 0; i < slices().count; ++i) {
      const grpc_slice& piece = slices().slices[i];
      to = std::copy_n(GRPC_SLICE_START_PTR(piece), GRPC_SLICE_LENGTH(piece), to);
    }
    return to;
  });
}

grpc::ByteBuffer MessageBytes::ToByteBuffer() const {
  std::vector<grpc::Slice> pieces;
  for (size_t i = 0; buffer_ != nullptr && i < slices().count; ++i) {
    pieces.emplace_back(slices().slices[i], grpc::Slice::ADD_REF);
  }
  return grpc::ByteBuffer(pieces.data(), pieces.size());
}

}  // namespace carom::server
