// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/transport/unknown_methods.h"

#include "server/transport/one_answer_call.h"

namespace carom::server {
namespace {

// A call of an unknown method. Ends at once, without reading messages of the client.
class UnknownCall : public OneAnswerCall<UnknownCall, grpc::AsyncGenericService> {
 public:
  using OneAnswerCall::OneAnswerCall;
  void Request() {
    service().RequestCall(&context_, &stream_, &loop().queue(), &loop().queue(), accepted());
  }
  void Answer() { stream_.Finish({grpc::UNIMPLEMENTED, "no such method"}, finished()); }

 private:
  grpc::GenericServerContext context_;
  grpc::GenericServerAsyncReaderWriter stream_{&context_};
};

}  // namespace

void UnknownMethods::Accept(EventLoop& loop) { UnknownCall::Accept(service_, loop); }

}  // namespace carom::server
