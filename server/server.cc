// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/server.h"

#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/memory_store.h"
#include "server/query_runtime.h"
#include "server/query_service.h"
#include "server/scene_service.h"

namespace carom::server {
namespace {

constexpr int kMaxSyncThreads = 64;  // of SceneService, reflection and channelz together

constexpr int kKeepaliveMs = 60000;         // a silent connection is asked whether it is alive
constexpr int kKeepaliveTimeoutMs = 20000;  // and dropped if it does not answer
constexpr int kLeastClientPingMs = 10000;   // clients that ping more often are cut off

constexpr absl::Duration kLastFlush = absl::Milliseconds(250);  // of a drain, for last bytes

void RegisterPlugins() {
  static absl::once_flag once;
  absl::call_once(once, [] {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::channelz::experimental::InitChannelzService();
  });
}

// Whether a process listens on the socket at `path`. gRPC unlinks what is there before it binds,
// so that without this check a second server would take the path from the first.
bool IsListening(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  // EAGAIN: somebody listens, but has no room for one more connection right now.
  const bool listening =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN;
  close(fd);
  return listening;
}

void Configure(const ServerOptions& options, grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("caromd");
  quota.Resize(options.memory_quota_bytes);
  quota.SetMaxThreads(kMaxSyncThreads);
  builder.SetResourceQuota(quota);
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.max_message_bytes));
  builder.SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  // Without this a second server on the same port would silently share its connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMs);
}

FrameLimits FrameLimitsOf(const ServerOptions& options) {
  return {.max_groups = options.max_groups_per_frame,
          .max_queries = options.max_queries_per_frame,
          .max_answer_rows = options.max_answer_rows_per_frame,
          .trackers = {.max_trackers = options.max_trackers_per_stream,
                       .max_bytes = options.max_tracker_bytes_per_stream},
          .shadow_interval = options.shadow_interval};
}

}  // namespace

// In the order of their making; each uses only those above it, but for `grpc`, which is over before
// any of them goes.
struct Server::Parts {
  explicit Parts(const ServerOptions& o)
      : options(o),
        store(o.max_scenes, o.scene_limits()),
        executor(o.threads),
        gate(store, executor, timer),
        evaluator(store, FrameLimitsOf(o)),
        runtime{.evaluator = evaluator,
                .executor = executor,
                .gate = gate,
                .timer = timer,
                .calls = calls,
                .max_frames_in_flight = o.max_frames_in_flight,
                .idle_stream = std::chrono::seconds(o.idle_stream_seconds)},
        queries(runtime),
        scenes(store, timer, calls, o) {}

  const ServerOptions options;
  std::string address;
  CallRegistry calls;
  MemoryStore store;
  Timer timer;
  Executor executor;
  VersionGate gate;
  FrameEvaluator evaluator;
  QueryRuntime runtime;
  QueryService queries;
  SceneService scenes;
  std::unique_ptr<grpc::Server> grpc;
  absl::once_flag drained;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  if (absl::Status status = CheckServerOptions(options); !status.ok()) return status;
  absl::string_view path = options.address;
  const bool is_unix = absl::ConsumePrefix(&path, "unix:");
  const absl::Status unavailable =
      absl::UnavailableError(absl::StrCat("cannot listen on ", options.address));
  if (is_unix && IsListening(path)) return unavailable;

  RegisterPlugins();
  auto parts = std::make_unique<Parts>(options);
  grpc::ServerBuilder builder;
  Configure(options, builder);
  int port = 0;
  builder.AddListeningPort(options.address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&parts->scenes);
  builder.RegisterService(&parts->queries);
  parts->grpc = builder.BuildAndStart();
  if (parts->grpc == nullptr || port == 0) return unavailable;

  const size_t colon = options.address.rfind(':');
  parts->address =
      is_unix ? options.address : absl::StrCat(options.address.substr(0, colon), ":", port);
  grpc::HealthCheckServiceInterface* health = parts->grpc->GetHealthCheckService();
  health->SetServingStatus(v1::QueryService::service_full_name(), true);
  health->SetServingStatus(v1::SceneService::service_full_name(), true);
  return std::unique_ptr<Server>(new Server(std::move(parts)));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Drain(); }

const std::string& Server::address() const { return parts_->address; }

void Server::Drain() {
  absl::call_once(parts_->drained, [this] {
    const absl::Time deadline = absl::Now() + absl::Seconds(parts_->options.drain_seconds);
    parts_->grpc->GetHealthCheckService()->SetServingStatus(false);
    parts_->calls.Drain();
    parts_->calls.AwaitEmpty(deadline);
    // What is left: calls out of time, and health watches, which end by being cancelled alone.
    parts_->grpc->Shutdown(absl::ToChronoTime(std::min(deadline, absl::Now() + kLastFlush)));
    parts_->grpc->Wait();
    parts_->calls.AwaitEmpty(absl::InfiniteFuture());
  });
}

}  // namespace carom::server
