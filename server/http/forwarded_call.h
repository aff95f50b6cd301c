// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a request on the HTTP port reach the code that serves gRPC calls?
//
// A `CallForwarder` makes gRPC calls to the server within the process, without a socket. So one
// implementation of each RPC serves gRPC, HTTP and web sockets, with the same authentication,
// limits, deadlines, flow control and errors. The events of the calls complete on the event loop of
// the server; their handlers only move messages and notify the owner of the call.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/access/forwarded_client.h"
#include "server/transport/event_loop.h"

namespace carom::server {

// What a forwarded call passes on beside its messages.
struct ForwardedHeaders {
  ForwardedClient client;
  std::string authorization;  // the header `authorization` of the request; empty: none
  std::string traceparent;    // the header `traceparent` (W3C Trace Context); empty: none
  // absolute deadline of the call; `max()`: none
  std::chrono::system_clock::time_point deadline = std::chrono::system_clock::time_point::max();
};

class ForwardedCall;

// Makes calls to the server within the process, until `Stop`. Thread-safe; must outlive its calls.
class CallForwarder {
 public:
  // `channel` is an in-process channel to the server of `loop`.
  CallForwarder(std::shared_ptr<grpc::Channel> channel, EventLoop& loop)
      : stub_(std::move(channel)), loop_(loop) {}

  // Starts a call of `method`, such as `/carom.v1.QueryService/Stream`. Returns null after `Stop`.
  //
  // `notify` runs on a thread of the event loop each time that messages have arrived, that the
  // queue of `Send` has become empty, or that the call has ended. `notify` must be short and must
  // not call the functions of the call; it runs no more after `ForwardedCall::Abandon`.
  std::shared_ptr<ForwardedCall> Start(const std::string& method, const ForwardedHeaders& headers,
                                       std::function<void()> notify);

  // Starts a call of a unary method with `request`, which is half-closed at once: one operation of
  // gRPC in place of six. Otherwise like `Start`.
  std::shared_ptr<ForwardedCall> StartUnary(const std::string& method,
                                            const ForwardedHeaders& headers,
                                            const grpc::ByteBuffer& request,
                                            std::function<void()> notify);

  // Makes `Start` and `StartUnary` return null from now on. A call that is in progress continues.
  // Must be called before the gRPC server is shut down, as a later call would crash gRPC.
  void Stop();

 private:
  std::shared_ptr<ForwardedCall> NewCall(const ForwardedHeaders& headers,
                                         std::function<void()> notify);

  grpc::GenericStub stub_;
  EventLoop& loop_;
  absl::Mutex mu_;  // held while a call starts
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
};

// One call. Holds at most `kMaxHeldBytes`, and one message more, that its owner has not taken with
// `Receive`: then the server's own limits of unread bytes take effect. Thread-safe.
class ForwardedCall {
 public:
  static constexpr size_t kMaxHeldBytes = 64 << 10;

  // Sends a request message, after those that were sent before.
  void Send(const grpc::ByteBuffer& message);
  // Half-closes the call: the owner sends no further message.
  void CloseSend();
  // Returns the number of messages of `Send` that the server has not accepted yet.
  size_t unsent() const;

  // Returns the next message of the server, or nullopt if none has arrived.
  std::optional<grpc::ByteBuffer> Receive();
  // Returns the status of the call if the call has ended and `Receive` has returned all messages.
  std::optional<grpc::Status> status() const;

  // Returns whether the call has ended; there may be messages that `Receive` has not returned yet.
  bool has_ended() const;

  // Cancels the call, if it is in progress, and stops the notifications. The owner must call
  // `Abandon` before the objects that `notify` uses are destroyed; after the return of `Abandon` no
  // notification is in progress.
  void Abandon();

 private:
  friend class CallForwarder;
  using Rpc = grpc::GenericClientAsyncReaderWriter;
  using UnaryRpc = grpc::GenericClientAsyncResponseReader;

  ForwardedCall(EventLoop& loop, std::function<void()> notify)
      : loop_user_(loop), notify_(std::move(notify)) {}

  void OnStarted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnSendClosed(bool ok);
  void OnFinished(bool ok);

  // Begins the operation that is due: a read if few bytes are held, a write if a message is queued.
  void Advance() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks gRPC for the status of the call, which ends it.
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Counts an operation that has completed; the last one releases the call.
  void Completed() ABSL_LOCKS_EXCLUDED(mu_);
  void Notify() ABSL_LOCKS_EXCLUDED(mu_);

  const EventLoop::User loop_user_;  // the first member, destroyed last
  grpc::ClientContext context_;
  std::unique_ptr<Rpc> rpc_;
  std::unique_ptr<UnaryRpc> unary_rpc_;  // in place of `rpc_` for a unary call
  EventOf<ForwardedCall, &ForwardedCall::OnStarted> started_event_{this};
  EventOf<ForwardedCall, &ForwardedCall::OnRead> read_event_{this};
  EventOf<ForwardedCall, &ForwardedCall::OnWritten> written_event_{this};
  EventOf<ForwardedCall, &ForwardedCall::OnSendClosed> send_closed_event_{this};
  EventOf<ForwardedCall, &ForwardedCall::OnFinished> finished_event_{this};
  grpc::ByteBuffer incoming_;  // gRPC writes it during a read
  grpc::Status final_;         // gRPC writes it before `OnFinished`

  mutable absl::Mutex mu_;
  // keeps the call alive while gRPC has operations of it in progress
  std::shared_ptr<ForwardedCall> self_ ABSL_GUARDED_BY(mu_);
  int operations_ ABSL_GUARDED_BY(mu_) = 0;  // in progress
  std::deque<grpc::ByteBuffer> outgoing_ ABSL_GUARDED_BY(mu_);
  std::deque<grpc::ByteBuffer> arrived_ ABSL_GUARDED_BY(mu_);
  size_t held_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // bytes of `arrived_`
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool close_send_ ABSL_GUARDED_BY(mu_) = false;   // `CloseSend` was called
  bool send_closed_ ABSL_GUARDED_BY(mu_) = false;  // gRPC was asked to half-close
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;

  absl::Mutex notify_mu_;  // held while `notify_` runs
  std::function<void()> notify_ ABSL_GUARDED_BY(notify_mu_);
};

}  // namespace carom::server
