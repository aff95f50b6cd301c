// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Which servers can a client call, and to which of these servers does the next call of the client
// go?
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

// Holds the gRPC stubs of the client's servers, and the index of the current server, to which the
// next call goes. Thread-safe. A client and its streams share one `Addresses`.
class Addresses {
 public:
  // Makes gRPC stubs for `channels`, of which there must be at least one, one per server; calls
  // begin with the first server and fail over in this order. Calls begin only while `gate` is open;
  // if `gate` is null, calls may begin at any time.
  explicit Addresses(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                     std::shared_ptr<CallGate> gate)
      : gate_(std::move(gate)) {
    for (const std::shared_ptr<grpc::Channel>& channel : channels) {
      servers_.push_back({v1::SceneService::NewStub(channel), v1::QueryService::NewStub(channel)});
    }
  }

  // Runs `begin`, which begins a gRPC call. Returns UNAVAILABLE without running `begin` once the
  // gate, which an in-process server closes when it stops, is closed.
  template <typename Begin>
  absl::Status BeginCall(Begin begin) const {
    if (gate_ == nullptr) {
      begin();
    } else if (!gate_->Enter(begin)) {
      return absl::UnavailableError("the in-process server has stopped");
    }
    return absl::OkStatus();
  }

  // Returns the index of the server that the next call should use.
  size_t current() const { return current_.load(std::memory_order_relaxed); }
  v1::SceneService::Stub& scenes(size_t index) const { return *servers_[index].scenes; }
  v1::QueryService::Stub& queries(size_t index) const { return *servers_[index].queries; }

  // Returns the log of all forks (editable copies of scenes) that the client has made on any
  // server.
  ForkLog& forks() { return forks_; }

  // Makes the server after `index` the current one, unless another caller has already failed over
  // from `index`.
  void FailOver(size_t index) {
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
