// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Every method that the protos declare is served.
#include <google/protobuf/descriptor.h>
#include <grpcpp/generic/generic_stub.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/server/fixture.h"

namespace carom::server {
namespace {

namespace pb = google::protobuf;

// Adds the methods of all services in `file`, and in the files of its package that it imports.
void AddMethods(const pb::FileDescriptor& file, std::set<const pb::FileDescriptor*>& seen,
                std::vector<const pb::MethodDescriptor*>& methods) {
  if (file.package() != "carom.v1" || !seen.insert(&file).second) return;
  for (int i = 0; i < file.service_count(); ++i) {
    for (int k = 0; k < file.service(i)->method_count(); ++k) {
      methods.push_back(file.service(i)->method(k));
    }
  }
  for (int i = 0; i < file.dependency_count(); ++i) AddMethods(*file.dependency(i), seen, methods);
}

// Returns the status of a call that sends an empty message, and no more; whether requests or
// answers are streams makes no difference.
grpc::Status CallEmpty(const std::shared_ptr<grpc::Channel>& channel, const std::string& method) {
  Context context;
  grpc::CompletionQueue queue;
  grpc::GenericStub stub(channel);
  const auto call = stub.PrepareCall(&context, method, &queue);
  const auto wait = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    return queue.Next(&tag, &ok) && ok;
  };
  call->StartCall(nullptr);
  grpc::Status status;
  if (wait()) {
    grpc::Slice slice("", 0);
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(), nullptr);
    wait();
    grpc::ByteBuffer answer;
    do {
      call->Read(&answer, nullptr);
    } while (wait());
  }
  call->Finish(&status, nullptr);
  wait();
  return status;
}

TEST(MethodsTest, EveryDeclaredMethodIsServed) {
  TestServer server;
  const auto* pool = pb::DescriptorPool::generated_pool();
  std::set<const pb::FileDescriptor*> seen;
  std::vector<const pb::MethodDescriptor*> methods;
  for (const char* service : {"carom.v1.SceneService", "carom.v1.QueryService"}) {
    const pb::FileDescriptor* file = pool->FindFileContainingSymbol(service);
    ASSERT_NE(file, nullptr) << service;
    AddMethods(*file, seen, methods);
  }
  EXPECT_GE(methods.size(), 16u);
  for (const pb::MethodDescriptor* method : methods) {
    const std::string path =
        "/" + std::string(method->service()->full_name()) + "/" + std::string(method->name());
    const grpc::Status status = CallEmpty(server.channel(), path);
    EXPECT_NE(status.error_code(), grpc::StatusCode::UNIMPLEMENTED) << path;
    EXPECT_NE(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED) << path;
  }
  const std::string unknown = "/carom.v1.SceneService/NoSuchMethod";
  EXPECT_EQ(CallEmpty(server.channel(), unknown).error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

}  // namespace
}  // namespace carom::server
