// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Makes a unary gRPC call that the caller can cancel while it waits for the call's end.
#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>

#include "absl/status/status.h"
#include "client/src/addresses.h"
#include "client/src/call_status.h"

namespace carom {

// A method of a generated stub that begins a unary call, such as
// `SceneService::Stub::AsyncGetScene`.
template <typename Stub, typename Request, typename Response>
using UnaryMethod = std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> (Stub::*)(
    grpc::ClientContext*, const Request&, grpc::CompletionQueue*);

// The interval between two calls of `poll` in `CallUnary`.
inline constexpr std::chrono::milliseconds kPollInterval{50};

// Makes the call that begin(queue) begins, waits for the end of the call, and returns its status.
// While it waits, calls poll(), which may cancel the call, every `kPollInterval`. Thread-safe if
// each thread has its own `response`.
template <typename Response, typename Begin, typename Poll>
absl::Status CallUnary(const Addresses& addresses, const Begin& begin, Response& response,
                       const Poll& poll) {
  // Each call has its own queue, so the caller's thread waits for its own call alone, and no thread
  // of gRPC has to pass the result on.
  grpc::CompletionQueue queue;
  std::unique_ptr<grpc::ClientAsyncResponseReader<Response>> call;
  const absl::Status begun = addresses.BeginCall([&] { call = begin(&queue); });
  grpc::Status end;
  if (begun.ok()) call->Finish(&response, &end, &queue);
  queue.Shutdown();
  void* tag = nullptr;
  bool ok = false;
  // The end of the call is the only event of the queue. `AsyncNext` returns SHUTDOWN after it,
  // because `Shutdown` was called above.
  const auto next = [&] {
    return queue.AsyncNext(&tag, &ok, std::chrono::system_clock::now() + kPollInterval);
  };
  for (auto got = next(); got != grpc::CompletionQueue::SHUTDOWN; got = next()) {
    if (got == grpc::CompletionQueue::TIMEOUT) poll();
  }
  return begun.ok() ? CallStatus(end) : begun;
}

// Makes the call that begin(queue) begins, waits for the end of the call, and returns its status.
template <typename Response, typename Begin>
absl::Status CallUnary(const Addresses& addresses, const Begin& begin, Response& response) {
  return CallUnary(addresses, begin, response, [] {});
}

}  // namespace carom
