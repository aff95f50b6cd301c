// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The servers that a client may ask, and which of them it asks at present.
#pragma once

#include <grpcpp/channel.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "carom/v1/query_service.grpc.pb.h"
#include "carom/v1/scene_service.grpc.pb.h"
#include "client/src/call_gate.h"
#include "client/src/fork_log.h"

namespace carom {

// Thread-safe. Shared by a client and its streams.
class Addresses {
 public:
  // At least one channel, in the order in which they are asked. All calls pass `gate`, if there is
  // one.
  explicit Addresses(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                     std::shared_ptr<CallGate> gate)
      : gate_(std::move(gate)) {
    for (const std::shared_ptr<grpc::Channel>& channel : channels) {
      servers_.push_back({v1::SceneService::NewStub(channel), v1::QueryService::NewStub(channel)});
    }
  }

  // Runs `begin`, which begins a call; the status is that of a call that cannot begin.
  template <typename Begin>
  absl::Status BeginCall(Begin begin) const {
    if (gate_ == nullptr) {
      begin();
    } else if (!gate_->Enter(begin)) {
      return absl::UnavailableError("the server within the process is gone");
    }
    return absl::OkStatus();
  }

  // The index of the server to ask next.
  size_t current() const { return current_.load(std::memory_order_relaxed); }
  v1::SceneService::Stub& scenes(size_t index) const { return *servers_[index].scenes; }
  v1::QueryService::Stub& queries(size_t index) const { return *servers_[index].queries; }

  // The forks that the client has made, on whatever server.
  ForkLog& forks() { return forks_; }

  // Passes to the next server, unless somebody has left this one already.
  void Leave(size_t index) {
    current_.compare_exchange_strong(index, (index + 1) % servers_.size());
  }

 private:
  struct Server {
    std::unique_ptr<v1::SceneService::Stub> scenes;
    std::unique_ptr<v1::QueryService::Stub> queries;
  };

  const std::shared_ptr<CallGate> gate_;
  std::vector<Server> servers_;
  ForkLog forks_;
  std::atomic<size_t> current_ = 0;
};

}  // namespace carom
