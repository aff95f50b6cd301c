// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Calls of methods that no service has: UNIMPLEMENTED.
//
// gRPC answers them by itself where no generic service is registered. Its own acceptor of them asks
// for calls before it is made (grpc/grpc issue 32356, in 1.51): of calls that come at once, one may
// reach the event loop without a tag, after which nobody accepts such calls, and the server cannot
// be shut down.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "server/transport/event_loop.h"

namespace carom::server {

// Thread-safe; outlives its calls.
class UnknownMethods {
 public:
  grpc::AsyncGenericService& service() { return service_; }
  // Takes calls from here until the server is shut down.
  void Accept(EventLoop& loop);

 private:
  grpc::AsyncGenericService service_;
};

}  // namespace carom::server
