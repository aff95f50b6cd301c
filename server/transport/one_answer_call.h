// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// A base for calls that are answered as soon as they arrive, and then end.
//
//   class PingCall : public OneAnswerCall<PingCall, Service> { … };
//   PingCall::Accept(service, loop);
//
// A class derived from `OneAnswerCall` has two public functions: `Request` requests the next call
// from gRPC, with the tag `accepted()`; `Answer` starts to send the answer, with the tag
// `finished()`.
#pragma once

#include "server/transport/event_loop.h"

namespace carom::server {

// One call of `service`. Deletes itself after its answer, or when the server shuts down.
template <class Call, class Service>
class OneAnswerCall {
 public:
  // Accepts one call, and after each call the next one, until the server shuts down.
  static void Accept(Service& service, EventLoop& loop) { (new Call(service, loop))->Request(); }

 protected:
  Service& service() { return service_; }
  EventLoop& loop() { return loop_; }
  Event* accepted() { return &accepted_; }
  Event* finished() { return &finished_; }

 private:
  friend Call;  // the constructor is private, so that only `Call` derives from this class

  OneAnswerCall(Service& service, EventLoop& loop)
      : loop_user_(loop), service_(service), loop_(loop) {}
  ~OneAnswerCall() = default;

  void OnAccepted(bool ok) {
    if (!ok) return OnFinished(false);
    Accept(service_, loop_);
    // After the answer has started, another thread may call `OnFinished`, which deletes this
    // object.
    static_cast<Call*>(this)->Answer();
  }
  void OnFinished(bool) { delete static_cast<Call*>(this); }

  const EventLoop::User loop_user_;
  Service& service_;
  EventLoop& loop_;
  EventOf<OneAnswerCall, &OneAnswerCall::OnAccepted> accepted_{this};
  EventOf<OneAnswerCall, &OneAnswerCall::OnFinished> finished_{this};
};

}  // namespace carom::server
