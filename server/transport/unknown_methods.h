// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Answers calls of unknown methods with UNIMPLEMENTED.
//
// gRPC answers such calls itself if no generic service is registered, but gRPC's handler is not
// safe: it requests calls before it is fully constructed (grpc/grpc issue 32356, in 1.51). A call
// that arrives before then may reach the event loop without a tag. gRPC then accepts no further
// calls of unknown methods, and the server cannot be shut down.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include "server/transport/event_loop.h"

namespace carom::server {

// Accepts and answers calls of unknown methods. Thread-safe; must outlive its calls.
class UnknownMethods {
 public:
  grpc::AsyncGenericService& service() { return service_; }
  // Accepts calls from now on until the server is shut down.
  void Accept(EventLoop& loop);

 private:
  grpc::AsyncGenericService service_;
};

}  // namespace carom::server
