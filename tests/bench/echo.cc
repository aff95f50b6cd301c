// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does gRPC itself cost? A server whose every call is a stream that gets back what it sends,
// on the event loop of caromd.
//
//   carom_echo --address 127.0.0.1:0
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/synchronization/mutex.h"
#include "server/transport/event_loop.h"

namespace {

using carom::server::EventLoop;
using carom::server::EventOf;

// One call: reads and writes in turns, and ends as it is cancelled or closed. Owns itself.
class Echo {
 public:
  static void Accept(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue) {
    auto* echo = new Echo(service, queue);
    service.RequestCall(&echo->context_, &echo->call_, &queue, &queue, &echo->accepted_);
  }

 private:
  Echo(grpc::AsyncGenericService& service, grpc::ServerCompletionQueue& queue)
      : service_(service), queue_(queue) {}

  void OnAccepted(bool ok) {
    if (!ok) return delete this;
    Accept(service_, queue_);
    call_.Read(&bytes_, &read_);
  }
  void OnRead(bool ok) {
    if (ok) return call_.Write(bytes_, &written_);
    call_.Finish(grpc::Status::OK, &finished_);
  }
  void OnWritten(bool ok) {
    if (ok) return call_.Read(&bytes_, &read_);
    call_.Finish(grpc::Status::CANCELLED, &finished_);
  }
  void OnFinished(bool) { delete this; }

  grpc::AsyncGenericService& service_;
  grpc::ServerCompletionQueue& queue_;
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter call_{&context_};
  grpc::ByteBuffer bytes_;
  EventOf<Echo, &Echo::OnAccepted> accepted_{this};
  EventOf<Echo, &Echo::OnRead> read_{this};
  EventOf<Echo, &Echo::OnWritten> written_{this};
  EventOf<Echo, &Echo::OnFinished> finished_{this};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::string address = argv[2];
  grpc::ServerBuilder builder;
  grpc::AsyncGenericService service;
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterAsyncGenericService(&service);
  EventLoop loop(builder, 1);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || port == 0) return 1;
  Echo::Accept(service, loop.queue());
  loop.Start();
  std::printf("caromd listening on %s:%d\n", address.substr(0, address.rfind(':')).c_str(), port);
  std::fflush(stdout);
  pause();
}
