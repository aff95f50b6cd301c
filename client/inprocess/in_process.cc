// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/inprocess/in_process.h"

#include <utility>

#include "client/src/client_maker.h"
#include "server/server.h"

namespace carom {

struct InProcessServer::Parts {
  const std::shared_ptr<CallGate> gate = std::make_shared<CallGate>();
  std::unique_ptr<server::Server> server;
};

absl::StatusOr<std::unique_ptr<InProcessServer>> InProcessServer::Start(
    const server::ServerOptions& options) {
  server::ServerOptions nowhere = options;
  nowhere.address.clear();
  auto parts = std::make_unique<Parts>();
  absl::StatusOr<std::unique_ptr<server::Server>> started = server::Server::Start(nowhere);
  if (!started.ok()) return started.status();
  parts->server = *std::move(started);
  return std::unique_ptr<InProcessServer>(new InProcessServer(std::move(parts)));
}

InProcessServer::InProcessServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
InProcessServer::~InProcessServer() { Drain(); }

std::unique_ptr<Client> InProcessServer::Connect(const ClientOptions& options) {
  return internal::ClientMaker::Make(
      {parts_->server->InProcessChannel(internal::ClientMaker::Arguments(options))}, parts_->gate,
      options);
}

// Closes the gate, which every call of a client passes, first; after that clients begin no further
// call: a call that began after the server had stopped would wait for ever.
void InProcessServer::Drain() {
  parts_->gate->Close();
  parts_->server->Drain();
}

}  // namespace carom
