// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One unary call, from its beginning to its end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "absl/status/status.h"
#include "client/src/addresses.h"
#include "client/src/call_status.h"

namespace carom {

// How a stub begins a unary call.
template <typename Stub, typename Request, typename Response>
using UnaryMethod = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(
    grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

// Makes the call that begin(queue) begins, and waits for its end. Thread-safe for distinct
// responses.
template <typename Response, typename Begin>
absl::Status CallUnary(const Addresses& addresses, const Begin& begin, Response& response) {
  // A queue for this call alone: the caller's thread waits for its own call and for nothing else,
  // and needs no thread of gRPC to hand it over.
  grpc::CompletionQueue queue;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> call;
  const absl::Status begun = addresses.BeginCall([&] { call = begin(&queue); });
  grpc::Status end;
  if (begun.ok()) call->Finish(&response, &end, &queue);
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  // The end of the call is the only event; then the queue is shut down and drained.
  while (queue.Next(&tag, &ok)) {
  }
  return begun.ok() ? CallStatus(end) : begun;
}

}  // namespace carom
