// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// One stream of QueryService whose messages are bytes: for what must be the same to caromd and to
// a server that sends back what it gets.
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <cstdlib>
#include <memory>

#include "client/load/cpu_clock.h"
#include "tests/bench/runner.h"
#include "tests/support/process.h"

namespace carom::bench {

class RawStream {
 public:
  explicit RawStream(const testing::ServerProcess& server)
      : clock_(*load::CpuClock::Of(server.pid())),
        stub_(grpc::CreateChannel(server.address(), grpc::InsecureChannelCredentials())),
        call_(stub_.PrepareCall(&context_, "/carom.v1.QueryService/Stream", &queue_)) {
    call_->StartCall(&queue_);
    Next();
  }
  ~RawStream() {
    context_.TryCancel();
    grpc::Status status;
    call_->Finish(&status, &queue_);
    Next();
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    queue_.Next(&tag, &ok);
  }

  struct Cost {
    double wall_ns, server_ns;  // a message
  };
  // Sends `request` so many times, `ahead` at most without their answers.
  Cost Run(const grpc::ByteBuffer& request, int messages, int ahead = 1) {
    const double cpu = clock_.Seconds().value_or(0), wall = WallNanoseconds();
    bool is_writing = false;
    call_->Read(&answer_, &answer_);
    for (int sent = 0, received = 0; received < messages;) {
      if (!is_writing && sent < messages && sent - received < ahead) {
        call_->Write(request, &is_writing);
        is_writing = true;
        ++sent;
      }
      if (Next() == &is_writing) {
        is_writing = false;
      } else if (++received < messages) {
        call_->Read(&answer_, &answer_);
      }
    }
    if (is_writing) Next();
    return {(WallNanoseconds() - wall) / messages,
            (clock_.Seconds().value_or(0) - cpu) * 1e9 / messages};
  }

 private:
  void* Next() {
    void* tag = nullptr;
    bool ok = false;
    if (!queue_.Next(&tag, &ok) || !ok) std::abort();
    return tag;
  }

  load::CpuClock clock_;
  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
  grpc::ByteBuffer answer_;
};

}  // namespace carom::bench
