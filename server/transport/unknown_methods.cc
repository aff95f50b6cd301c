// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/unknown_methods.h"

namespace carom::server {
namespace {

// A call of an unknown method. Ends at once, without reading messages of the client, and deletes
// itself.
class UnknownCall {
 public:
  static void Accept(grpc::AsyncGenericService& service, EventLoop& loop) {
    auto* call = new UnknownCall(service, loop);
    service.RequestCall(&call->context_, &call->stream_, &loop.queue(), &loop.queue(),
                        &call->accepted_);
  }

 private:
  UnknownCall(grpc::AsyncGenericService& service, EventLoop& loop)
      : loop_user_(loop), service_(service), loop_(loop) {}

  void OnAccepted(bool ok) {
    if (!ok) {
      delete this;
      return;
    }
    Accept(service_, loop_);
    // After `Finish`, another thread may call `OnFinished`, which deletes this object.
    stream_.Finish({grpc::UNIMPLEMENTED, "no such method"}, &finished_);
  }

  void OnFinished(bool) { delete this; }

  const EventLoop::User loop_user_;
  grpc::AsyncGenericService& service_;
  EventLoop& loop_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
  EventOf<UnknownCall, &UnknownCall::OnAccepted> accepted_{this};
  EventOf<UnknownCall, &UnknownCall::OnFinished> finished_{this};
};

}  // namespace

void UnknownMethods::Accept(EventLoop& loop) { UnknownCall::Accept(service_, loop); }

}  // namespace carom::server
