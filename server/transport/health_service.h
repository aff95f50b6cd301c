// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The standard health service, grpc.health.v1.
//
// gRPC brings one, on its callback API, whose threads would then poll for every connection of the
// server and hand what they read to the event loop's: a switch of threads for each frame.
#pragma once

#include <grpcpp/grpcpp.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "server/transport/event_loop.h"

namespace carom::server {

class HealthWatch;

// SERVING for the server as a whole (the empty name) and each of `services`, from `Start` on until
// `Stop`, unless `Set` says otherwise, else NOT_SERVING. Both methods are answered by the event
// loop, which no call holds, and take bytes: what is longer than any name is not parsed.
// Thread-safe; outlives its calls.
class HealthService final
    : public grpc::health::v1::Health::WithRawMethod_Check<
          grpc::health::v1::Health::WithRawMethod_Watch<grpc::health::v1::Health::Service>> {
 public:
  using Response = grpc::health::v1::HealthCheckResponse;

  static constexpr size_t kMaxWatches = 1024;
  static constexpr size_t kMaxWatchesOfPeer = 128;  // server/access/peer.h

  HealthService(std::vector<std::string> services, bool trust_forwarded_for)
      : services_(std::move(services)), trust_forwarded_for_(trust_forwarded_for) {}

  // Takes calls from here until the server is shut down.
  void Accept(EventLoop& loop);

  // Watches are notified of all three.
  void Start() { SetServing(true); }
  void Stop() { SetServing(false); }
  // Whether one of the services, or the server as a whole, is there while calls are taken.
  void Set(const std::string& service, bool is_there);

  // The service that a request names; none if that is neither the server as a whole nor one of its
  // services.
  std::optional<std::string> ServiceOf(const grpc::ByteBuffer& request) const;
  bool is_serving(const std::string& service) const {
    absl::MutexLock lock(&mu_);
    return IsServing(service);
  }

 private:
  friend class HealthWatch;

  void SetServing(bool serving);
  bool IsServing(const std::string& service) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return serving_ && !absent_.contains(service);
  }
  void NotifyAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sets whether calls of the watch's service are taken at that moment; `watch` is notified of
  // changes after it. False, and no more, above the watches in all or of `peer`.
  bool Add(HealthWatch* watch, const std::string& peer, bool& serving);
  void Remove(HealthWatch* watch);

  const std::vector<std::string> services_;
  const bool trust_forwarded_for_;
  mutable absl::Mutex mu_;  // taken before that of a watch
  bool serving_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_set<std::string> absent_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<HealthWatch*, std::string> watches_ ABSL_GUARDED_BY(mu_);  // and their peers
  absl::flat_hash_map<std::string, size_t> of_peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
