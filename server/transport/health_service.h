// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Implements the standard health service, grpc.health.v1, on the event loop.
//
// gRPC's own health service uses the callback API. The threads of the callback API would poll all
// connections of the server and pass messages on to the threads of the event loop: one switch of
// threads for each message of any service.
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

// Reports SERVING for the server as a whole (the empty name) and for each of `services` between
// `Start` and `Stop`, unless `Set` has made the service unavailable; otherwise NOT_SERVING. The
// event loop answers the methods Check and Watch; no call blocks a thread. A watch is a Watch call
// in progress. Check and Watch get their requests as bytes, so that a request that is longer than
// any service name allows is not parsed. Thread-safe; must outlive its calls.
class HealthService final
    : public grpc::health::v1::Health::WithRawMethod_Check<
          grpc::health::v1::Health::WithRawMethod_Watch<grpc::health::v1::Health::Service>> {
 public:
  using Response = grpc::health::v1::HealthCheckResponse;

  // The most Watch calls in progress at a time: in total, and for one peer (client address;
  // server/access/peer.h).
  static constexpr size_t kMaxWatches = 1024;
  static constexpr size_t kMaxWatchesOfPeer = 128;

  HealthService(std::vector<std::string> services, bool trust_forwarded_for)
      : services_(std::move(services)), trust_forwarded_for_(trust_forwarded_for) {}

  // Accepts calls from now on until the server is shut down.
  void Accept(EventLoop& loop);

  // `Start`, `Stop` and `Set` notify all watches; a watch whose status has changed sends the status
  // to its client.
  void Start() { SetServing(true); }
  void Stop() { SetServing(false); }
  // Sets whether a service, or the server as a whole (the empty name), is SERVING between `Start`
  // and `Stop`.
  void Set(const std::string& service, bool is_available);

  // Returns the service that a request names; nullopt if the request is invalid or names neither
  // one of the services nor the server as a whole.
  std::optional<std::string> ServiceOf(const grpc::ByteBuffer& request) const;
  // Returns whether `service` is SERVING.
  bool is_serving(const std::string& service) const {
    absl::MutexLock lock(&mu_);
    return IsServing(service);
  }

 private:
  friend class HealthWatch;

  void SetServing(bool serving);
  bool IsServing(const std::string& service) const ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return serving_ && !unavailable_.contains(service);
  }
  void NotifyAll() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Sets `serving` to whether the watch's service is SERVING, and adds `watch`, which is then
  // notified of changes. Returns false and does not add `watch` if a limit of watches is reached,
  // in total or for `peer` (the client address).
  bool Add(HealthWatch* watch, const std::string& peer, bool& serving);
  // Removes `watch`, if it was added.
  void Remove(HealthWatch* watch);

  const std::vector<std::string> services_;
  const bool trust_forwarded_for_;
  mutable absl::Mutex mu_;  // a thread that holds the lock of a `HealthWatch` must not acquire it
  bool serving_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_set<std::string> unavailable_ ABSL_GUARDED_BY(mu_);
  // the watches in progress, each with the name of its peer
  absl::flat_hash_map<HealthWatch*, std::string> watches_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, size_t> watches_of_peer_ ABSL_GUARDED_BY(mu_);
};

}  // namespace carom::server
