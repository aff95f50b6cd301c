// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Makes clients from gRPC channels instead of from an address, for `InProcessServer`
// (client/inprocess/in_process.h).
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <vector>

#include "carom/client.h"
#include "client/src/call_gate.h"

namespace carom::internal {

// Makes `Client` objects; as a friend of `Client` it may call the private constructor of `Client`.
class ClientMaker {
 public:
  // Returns a client of the servers behind `channels`, of which there is at least one; when a
  // server is unavailable, the client continues with the next one in the order of `channels`. The
  // client's calls begin only while `gate` is open; if `gate` is null, calls may begin at any time.
  static std::unique_ptr<Client> Make(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                                      std::shared_ptr<CallGate> gate, const ClientOptions& options);
  // Returns the arguments with which a channel for a client with `options` must be created.
  static grpc::ChannelArguments Arguments(const ClientOptions& options);
};

}  // namespace carom::internal
