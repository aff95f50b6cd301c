// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The standard health service, grpc.health.v1.
//
// gRPC brings one, on its callback API, whose threads would then poll for every connection of the
// server and hand what they read to the event loop's: a switch of threads for each frame.
#pragma once

#include <grpcpp/grpcpp.h>

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/event_loop.h"

namespace carom::server {

class HealthWatch;

// SERVING for the server as a whole (the empty name) and each of `services`, from `Start` on until
// `Stop`, else NOT_SERVING. Both
// methods are answered by the event loop, which no call holds. Thread-safe; outlives its calls.
class HealthService final
    : public grpc::health::v1::Health::WithAsyncMethod_Check<
          grpc::health::v1::Health::WithAsyncMethod_Watch<grpc::health::v1::Health::Service>> {
 public:
  using Response = grpc::health::v1::HealthCheckResponse;

  static constexpr size_t kMaxWatches = 1024;

  explicit HealthService(std::vector<std::string> services) : services_(std::move(services)) {}

  // Takes calls from here until the server is shut down.
  void Accept(EventLoop& loop);

  // Watches are notified of both.
  void Start() { SetServing(true); }
  void Stop() { SetServing(false); }

  // The status of `service`, or NOT_FOUND.
  grpc::Status StatusOf(const std::string& service, Response& response) const;

 private:
  friend class HealthWatch;

  void SetServing(bool serving);
  bool Knows(const std::string& service) const;
  // Sets whether calls are taken at that moment; `watch` is notified of changes after it. False,
  // and no more, above `kMaxWatches`.
  bool Add(HealthWatch* watch, bool& serving);
  void Remove(HealthWatch* watch);

  const std::vector<std::string> services_;
  mutable absl::Mutex mu_;  // taken before that of a watch
  bool serving_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_set<HealthWatch*> watches_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
