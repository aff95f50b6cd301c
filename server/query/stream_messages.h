// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How are the messages of a stream read and written through gRPC's core?
//
// gRPC's C++ interface has one operation to send a message and one to receive a message, each with
// its own event. The core can do both in one batch, whose single event reports that the first
// message is sent and the second message has arrived. For a client that waits for its answer before
// it sends the next frame (a message with queries), this one event is enough, at three quarters of
// the cost of two (docs/performance.md). For a client that sends frames ahead, one event is not
// enough: the event may wait for a message that does not arrive, and the next answer would wait for
// the event.
#pragma once

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/codegen/completion_queue_tag.h>

#include <optional>
#include <span>

#include "server/transport/event_loop.h"
#include "server/transport/message_bytes.h"

namespace carom::server {

// Reads and writes the messages of one call, whose initial metadata must be sent before the first
// message. At most one read and one write may be in progress at a time; `Exchange` counts as both.
// gRPC may send the status of the call during a read or a write. The owner must not read from two
// threads at once, nor write from two threads at once.
class StreamMessages {
 public:
  // The events `read` and `written` happen on the completion queue of the call, and must outlive
  // this object.
  StreamMessages(grpc::ServerContext& context, Event& read, Event& written)
      : context_(context), read_(read), written_(written) {}
  StreamMessages(const StreamMessages&) = delete;
  StreamMessages& operator=(const StreamMessages&) = delete;
  ~StreamMessages();

  // Starts to read a message; `read` happens when it has arrived.
  void Read();
  // Starts to send `message`; `written` happens when it is sent.
  void Write(MessageBytes message);
  // Starts to send `message` and to read the next message of the client; `read` happens when both
  // are done.
  void Exchange(MessageBytes message);

  // Returns the message that has arrived; must be called from the handler of the event `read`.
  // Returns nullopt if the client has closed its side of the stream or has disconnected: no other
  // message will arrive.
  std::optional<MessageBytes> Take();

 private:
  // The tag of an operation in gRPC's completion queue. When the operation completes, the queue
  // returns the `Event` of the tag to the event loop.
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
  MessageBytes sent_;  // kept until the next write, as gRPC reads it while sending
  grpc_byte_buffer* received_ = nullptr;
};

}  // namespace carom::server
