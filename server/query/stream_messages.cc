// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/query/stream_messages.h"

#include <array>
#include <cstdlib>
#include <utility>

namespace carom::server {

StreamMessages::~StreamMessages() { const MessageBytes last(received_); }

void StreamMessages::Read() {
  const std::array operations{ReadOperation()};
  Start(operations, read_);
}

void StreamMessages::Write(MessageBytes message) {
  const std::array operations{WriteOperation(std::move(message))};
  Start(operations, written_);
}

void StreamMessages::Exchange(MessageBytes message) {
  const std::array operations{WriteOperation(std::move(message)), ReadOperation()};
  Start(operations, read_);
}

std::optional<MessageBytes> StreamMessages::Take() {
  if (received_ == nullptr) return std::nullopt;
  return MessageBytes(std::exchange(received_, nullptr));
}

grpc_op StreamMessages::ReadOperation() {
  grpc_op operation{};
  operation.op = GRPC_OP_RECV_MESSAGE;
  operation.data.recv_message.recv_message = &received_;
  return operation;
}

grpc_op StreamMessages::WriteOperation(MessageBytes message) {
  sent_.Recycle();
  sent_ = std::move(message);
  grpc_op operation{};
  operation.op = GRPC_OP_SEND_MESSAGE;
  operation.data.send_message.send_message = sent_.get();
  return operation;
}

// Starts `operations` (sending or receiving a message) as one batch, whose completion gRPC reports
// with `tag`. Aborts the process if gRPC's core rejects the batch, which only a bug can cause;
// gRPC's C++ interface aborts the process in this case, too.
void StreamMessages::Start(std::span<const grpc_op> operations,
                           grpc::internal::CompletionQueueTag& tag) {
  const grpc_call_error error =
      grpc_call_start_batch(context_.c_call(), operations.data(), operations.size(), &tag, nullptr);
  if (error != GRPC_CALL_OK) std::abort();
}

}  // namespace carom::server
