// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One unary call, from its beginning to its end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>

#include "absl/status/status.h"
#include "client/src/addresses.h"
#include "client/src/call_status.h"

namespace carom {

// How a stub begins a unary call.
template <typename Stub, typename Request, typename Response>
using UnaryMethod = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(
    grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

// How long a call is waited for until `look` is called once more.
inline constexpr std::chrono::milliseconds kLookPeriod{50};

// Makes the call that begin(queue) begins, and waits for its end; look(), which may cancel it, is
// called meanwhile, now and then. Thread-safe for distinct responses.
template <typename Response, typename Begin, typename Look>
absl::Status CallUnary(const Addresses& addresses, const Begin& begin, Response& response,
                       const Look& look) {
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
  const auto next = [&] {
    return queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kLookPeriod);
  };
  for (auto got = next(); got != grpc::CompletionQueue::SHUTDOWN; got = next()) {
    if (got == grpc::CompletionQueue::TIMEOUT) look();
  }
  return begun.ok() ? CallStatus(end) : begun;
}

// The same without a look.
template <typename Response, typename Begin>
absl::Status CallUnary(const Addresses& addresses, const Begin& begin, Response& response) {
  return CallUnary(addresses, begin, response, [] {});
}

}  // namespace carom
