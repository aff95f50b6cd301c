// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What does the HTTP port cost beside gRPC? One caromd of its own on loopback TCP: frames of 256
// bullets over a web socket and over a gRPC stream, the same bytes, in turns; and the round trip of
// one bullet as JSON. And what do the metrics cost? CPU time of the server for a frame, with
// scrapes and without.

#include <arpa/inet.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "carom/client.h"
#include "carom/v1/query_service.pb.h"
#include "tests/bench/groups.h"
#include "tests/bench/ours.h"
#include "tests/bench/raw_stream.h"
#include "tests/bench/runner.h"
#include "tests/bench/scenes.h"
#include "tests/http/raw_client.h"
#include "tests/support/process.h"

namespace carom::bench {
namespace {

constexpr char kScene[] = "scenes/bench";
constexpr size_t kBullets = 256;
constexpr int kAhead = 4;

// A port on loopback that is free now.
int FreePort() {
  const server::FileDescriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(probe.get(), generic, size) != 0 || getsockname(probe.get(), generic, &size) != 0) {
    std::abort();
  }
  return ntohs(address.sin_port);
}

std::string FrameBytes(const Segments& all) {
  v1::StreamRequest request;
  v1::Group& group = *request.mutable_frame()->add_groups();
  group.set_scene(kScene);
  v1::SegmentCasts& segments = *group.mutable_segments();
  segments.mutable_ax()->Add(all.ax.begin(), all.ax.begin() + kBullets);
  segments.mutable_ay()->Add(all.ay.begin(), all.ay.begin() + kBullets);
  segments.mutable_bx()->Add(all.bx.begin(), all.bx.begin() + kBullets);
  segments.mutable_by()->Add(all.by.begin(), all.by.begin() + kBullets);
  return request.SerializeAsString();
}

// Nanoseconds on the wall for a frame over the web socket, `kAhead` frames ahead of their answers.
double WebSocketNanoseconds(server::RawClient& client, const std::string& frame, int frames) {
  const double start = WallNanoseconds();
  for (int sent = 0, received = 0; received < frames;) {
    if (sent < frames && sent - received < kAhead) {
      client.Send(frame);
      ++sent;
    } else {
      if (client.NextFrame().opcode != 2) std::abort();
      ++received;
    }
  }
  return (WallNanoseconds() - start) / frames;
}

double JsonNanoseconds(server::RawClient& client, const std::string& json, int calls) {
  const double start = WallNanoseconds();
  for (int i = 0; i < calls; ++i) {
    if (client.Post("/carom.v1.QueryService/Evaluate", json).status != 200) std::abort();
  }
  return (WallNanoseconds() - start) / calls;
}

}  // namespace

void RunHttp(Bench& bench) {
  if (!bench.Wants("service_http")) return;
  bench.report.Title("service_http");
  const World world = DenseWorld(bench.quick ? 10000 : 100000);
  const std::string http = absl::StrCat("127.0.0.1:", FreePort());
  const auto server = testing::ServerProcess::Start(CAROMD_BINARY, {"--http-address", http});
  if (server == nullptr) {
    bench.report.Figure("service_http", 0, "", "caromd did not start");
    return;
  }
  const auto client = Client::Connect(server->address(), {});
  if (!client.ok() ||
      !(*client)->ImportScene(kScene, MakePolygons(world.polygons), ImportMode::kReplace).ok()) {
    std::abort();
  }
  const Segments all = FreeSegments(world, kBullets, kCell, 5);
  const std::string bytes = FrameBytes(all);
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  RawStream stream(*server);
  server::RawClient socket(http);
  socket.Upgrade(server::RawClient::Protocol());
  const std::string frame = server::RawClient::Frame(0x82, bytes);
  server::RawClient unary(http);
  const std::string json = absl::StrCat(
      R"({"frame":{"groups":[{"scene":")", kScene, R"(","segments":{"ax":[)", all.ax[0],
      R"(],"ay":[)", all.ay[0], R"(],"bx":[)", all.bx[0], R"(],"by":[)", all.by[0], "]}}]}}");
  const int frames = bench.quick ? 500 : 5000;
  std::vector<double> over_grpc, over_web_socket, as_json;
  stream.Run(request, frames, kAhead);
  WebSocketNanoseconds(socket, frame, frames);
  JsonNanoseconds(unary, json, frames);
  for (int round = 0; round < bench.rounds(); ++round) {
    over_grpc.push_back(stream.Run(request, frames, kAhead).wall_ns);
    over_web_socket.push_back(WebSocketNanoseconds(socket, frame, frames));
    as_json.push_back(JsonNanoseconds(unary, json, frames));
  }
  bench.report.Add({"service_http_web_socket_256_vs_grpc", Median(over_web_socket), "gRPC",
                    Median(over_grpc), RatioAtLeast(0.9),
                    "ns on the wall a frame of 256 bullets, four ahead"});
  bench.report.Add({"service_http_json_round_trip_ns", Median(as_json), "-", 0, ValueAtMost(120000),
                    "Evaluate of one bullet, the connection kept"});
}

}  // namespace carom::bench
