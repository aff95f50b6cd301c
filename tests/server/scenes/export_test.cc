// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Exports of scenes whose clients do not read them.
#include <memory>
#include <vector>

#include "carom/status.h"
#include "tests/server/fixture.h"

namespace carom::server {
namespace {

// A polygon of 200,000 vertices: 3.2 MB of a bundle.
void AddLarge(uint64_t id, v1::Polygon& polygon) {
  polygon.set_id(id);
  v1::Ring& ring = *polygon.add_rings();
  for (int i = 0; i < 199999; ++i) {
    ring.add_x(i);
    ring.add_y(i % 2);
  }
  ring.add_x(0);
  ring.add_y(9);
}

// Registers scenes/large, whose bundle has 12.8 MB: more than gRPC buffers for a client that does
// not read.
void CreateLarge(TestServer& server) {
  Context creating;
  v1::CreateSceneRequest create;
  create.set_name("scenes/large");
  v1::CreateSceneResponse created;
  ASSERT_TRUE(server.scenes().CreateScene(&creating, create, &created).ok());
  for (uint64_t id = 0; id < 4; ++id) {
    Context committing;
    v1::CommitEditsRequest commit;
    commit.set_name("scenes/large");
    AddLarge(id, *commit.add_edits()->mutable_add());
    v1::CommitEditsResponse committed;
    const grpc::Status status = server.scenes().CommitEdits(&committing, commit, &committed);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
}

struct Export {
  explicit Export(TestServer& server) {
    v1::ExportSceneRequest request;
    request.set_name("scenes/large");
    request.set_bundle(true);
    reader = server.scenes().ExportScene(&context, request);
  }

  Context context;
  std::unique_ptr<grpc::ClientReader<v1::ExportSceneResponse>> reader;
};

// A bundle that is being sent is memory for scenes. When that is used up, further exports are
// refused, and work again when the others have ended.
TEST(ExportTest, BundlesThatAreNotReadAreBounded) {
  ServerOptions options;
  options.memory_limit_bytes = 256 << 20;
  TestServer server(options);
  ASSERT_NO_FATAL_FAILURE(CreateLarge(server));
  std::vector<std::unique_ptr<Export>> exports;
  size_t refused = 0;
  for (int i = 0; i < 32; ++i) {
    auto one = std::make_unique<Export>(server);
    v1::ExportSceneResponse chunk;
    if (one->reader->Read(&chunk)) {
      EXPECT_EQ(chunk.scene().polygon_count(), 4u);
      EXPECT_EQ(chunk.bundle().size(), 64u << 10);
      EXPECT_EQ(chunk.polygons_size(), 0);
      exports.push_back(std::move(one));
      continue;
    }
    const absl::Status status = ToStatus(one->reader->Finish());
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_GT(RetryDelay(status), 0u);
    ++refused;
  }
  EXPECT_GE(exports.size(), 4u);
  EXPECT_GE(refused, 16u);
  for (const auto& one : exports) one->context.TryCancel();
  for (const auto& one : exports) one->reader->Finish();
  const auto whole = [&] {
    Export one(server);
    v1::ExportSceneResponse chunk;
    size_t bytes = 0;
    while (one.reader->Read(&chunk)) bytes += chunk.bundle().size();
    return one.reader->Finish().ok() && bytes > 800000 * 16;
  };
  EXPECT_TRUE(Eventually(whole));
}

}  // namespace
}  // namespace carom::server
