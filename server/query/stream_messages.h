// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The messages of a stream, from and to gRPC's core.
//
// gRPC's C++ interface has an operation for a message that is sent and one for a message that
// comes, with an event each. Its core takes both at once, and one event says that the first is sent
// and the second is here: for a client that waits for its answer before it asks again, that is all
// there is to know, at three quarters of the price (docs/performance.md). Of a client that sends
// ahead it is too little: the event may wait for a message that does not come, and so may what is
// to be sent next.
#pragma once

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/completion_queue_tag.h>

#include <optional>
#include <span>

#include "server/transport/event_loop.h"
#include "server/transport/message_bytes.h"

namespace carom::server {

// Of a call whose initial metadata is sent before the first message is. One read at a time, and one
// write: `Exchange` is both. The end of the call may be sent meanwhile. The owner keeps to one
// thread at a time for reads, and for writes.
class StreamMessages {
 public:
  // The events happen on the call's queue, and outlive this.
  StreamMessages(grpc::ServerContext& context, Event& read, Event& written)
      : context_(context), read_(read), written_(written) {}
  StreamMessages(const StreamMessages&) = delete;
  StreamMessages& operator=(const StreamMessages&) = delete;
  ~StreamMessages();

  void Read();
  void Write(MessageBytes message);
  // Sends `message`, and reads the next one; both are done as the read's event happens.
  void Exchange(MessageBytes message);

  // From the event of a read: what came. Nothing if nothing did, and nothing will:
  // the client has closed its side or is gone.
  std::optional<MessageBytes> Take();

 private:
  // What gRPC's queue has of an operation; it hands out the event.
  class Tag final : public grpc::internal::CompletionQueueTag {
   public:
    explicit Tag(Event& event) : event_(event) {}
    bool FinalizeResult(void** tag, bool*) override {
      *tag = &event_;
      return true;
    }

   private:
    Event& event_;
  };

  grpc_op ReadOperation();
  grpc_op WriteOperation(MessageBytes message);
  void Start(std::span<const grpc_op> operations, grpc::internal::CompletionQueueTag& tag);

  grpc::ServerContext& context_;
  Tag read_;
  Tag written_;
  MessageBytes sent_;  // until the next one, since gRPC looks at it while it is sent
  grpc_byte_buffer* received_ = nullptr;
};

}  // namespace carom::server
