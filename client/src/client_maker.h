// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Clients of channels in place of an address: for `InProcessServer`
// (client/inprocess/in_process.h).
#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <memory>
#include <vector>

#include "carom/client.h"
#include "client/src/call_gate.h"

namespace carom::internal {

class ClientMaker {
 public:
  // A client of the servers behind `channels`, at least one, in this order. Its calls pass `gate`,
  // unless that is null.
  static std::unique_ptr<Client> Make(const std::vector<std::shared_ptr<grpc::Channel>>& channels,
                                      std::shared_ptr<CallGate> gate, const ClientOptions& options);
  // What a channel of such a client is made with.
  static grpc::ChannelArguments Arguments(const ClientOptions& options);
};

}  // namespace carom::internal
