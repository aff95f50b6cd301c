// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/server.h"

#include <grpc/grpc.h>
#include <grpc/support/log.h>
#include <grpcpp/ext/channelz_service_plugin.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/server_builder_option.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/call_once.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/stubs/logging.h"
#include "server/access/identity.h"
#include "server/access/tls.h"
#include "server/base/host_limits.h"
#include "server/base/memory_account.h"
#include "server/base/memory_watch.h"
#include "server/query/query_runtime.h"
#include "server/query/query_service.h"
#include "server/scenes/scene_service.h"
#include "server/store/etcd/fleet_store.h"
#include "server/store/fork_store.h"
#include "server/store/memory_store.h"
#include "server/store/preload.h"
#include "server/store_choice.h"
#include "server/transport/connection_acceptor.h"
#include "server/transport/event_loop.h"
#include "server/transport/health_service.h"
#include "server/transport/listener.h"
#include "server/transport/start_gate.h"
#include "server/transport/unknown_methods.h"

namespace carom::server {

namespace {

// maximum threads of gRPC's synchronous services, reflection and channelz
constexpr int kMaxSyncThreads = 8;

constexpr int kKeepaliveMs = 60000;  // idle time after which gRPC pings a connection
// wait for the reply to a keepalive ping, after which gRPC closes the connection
constexpr int kKeepaliveTimeoutMs = 20000;
// gRPC closes a connection whose client pings more often than once in this time
constexpr int kLeastClientPingMs = 10000;

// lower bound of the time after which the server closes a connection whose client accepts no bytes
constexpr uint64_t kLeastUnsentSeconds = 10;

// time after which gRPC closes a connection whose client has not sent its HTTP/2 settings
constexpr int kHandshakeTimeoutMs = 20000;

// time at the end of a drain (a graceful shutdown) in which gRPC can send the last bytes
constexpr absl::Duration kLastFlush = absl::Milliseconds(250);

// Logs an error that a library reports about a client, such as text that is not UTF-8 or a reset
// connection. Logs at most one error a second for each library; `next_ns` is the time, in
// nanoseconds, from which the next error may be logged: otherwise a client could fill the log.
void LogRateLimited(std::atomic<int64_t>& next_ns, const char* library, absl::string_view message) {
  const int64_t now = absl::GetCurrentTimeNanos();
  int64_t next = next_ns.load(std::memory_order_relaxed);
  if (now < next || !next_ns.compare_exchange_strong(next, now + 1000000000)) return;
  const int length = static_cast<int>(std::min<size_t>(message.size(), 200));
  std::fprintf(stderr, "caromd: %s: %.*s\n", library, length, message.data());
}

void LogOfProtobuf(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  static std::atomic<int64_t> next_ns{0};
  LogRateLimited(next_ns, "protobuf", message);
}

void LogOfGrpc(gpr_log_func_args* entry) {
  static std::atomic<int64_t> next_ns{0};
  if (entry->severity >= GPR_LOG_SEVERITY_ERROR) LogRateLimited(next_ns, "gRPC", entry->message);
}

void InitializeOnce() {
  static absl::once_flag once;
  absl::call_once(once, [] {
    // Keeps gRPC initialised until the process ends: the last `grpc_shutdown` would wait for a
    // thread that polls, up to 10 s.
    grpc_init();
    grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    google::protobuf::SetLogHandler(LogOfProtobuf);
    // If the environment sets GRPC_VERBOSITY or GRPC_TRACE, gRPC's own log function stays in place,
    // which prints every message.
    if (std::getenv("GRPC_VERBOSITY") == nullptr && std::getenv("GRPC_TRACE") == nullptr) {
      gpr_set_log_function(LogOfGrpc);
    }
  });
}

// Removes the reflection service, which gRPC adds to every server of a program that links it: each
// idle reflection call blocks a thread, so `--reflection` must enable the service.
class NoReflection final : public grpc::ServerBuilderOption {
 public:
  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    std::erase_if(*plugins, [](const std::unique_ptr<grpc::ServerBuilderPlugin>& plugin) {
      return dynamic_cast<grpc::reflection::ProtoServerReflectionPlugin*>(plugin.get()) != nullptr;
    });
  }
};

// Enables channelz for all servers of the process that are built later; gRPC has no switch for a
// single server.
void InitChannelz() {
  static absl::once_flag once;
  absl::call_once(once, grpc::channelz::experimental::InitChannelzService);
}

// Returns the memory limit of the options, or its default: three quarters of the memory that the
// process may use.
uint64_t MemoryLimitOf(const ServerOptions& options) {
  const uint64_t given = options.memory_limit_bytes;
  return given != 0 ? given : ReadHostLimits().memory_bytes / 4 * 3;
}

void Configure(const ServerOptions& options, grpc::ServerBuilder& builder) {
  grpc::ResourceQuota quota("caromd");
  quota.Resize(std::min<uint64_t>(options.memory_quota_bytes, MemoryLimitOf(options) / 5));
  quota.SetMaxThreads(kMaxSyncThreads);
  builder.SetResourceQuota(quota);
  // Makes gRPC end the call of a message above twice `max_message_bytes`. gRPC passes on messages
  // between the limit and twice the limit, so that the server can refuse the message without ending
  // the stream.
  builder.SetMaxReceiveMessageSize(static_cast<int>(2 * options.max_message_bytes));
  builder.SetDefaultCompressionAlgorithm(GRPC_COMPRESS_NONE);
  // Compressed messages are disabled: gRPC would decompress a message before it checks its size.
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder.SetSyncServerOption(grpc::ServerBuilder::NUM_CQS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MIN_POLLERS, 1);
  builder.SetSyncServerOption(grpc::ServerBuilder::MAX_POLLERS, 2);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(options.max_calls_per_connection));
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             static_cast<int>(1000 * options.idle_stream_seconds));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMs);
}

ForkLimits ForkLimitsOf(const ServerOptions& options) {
  return {.max_forks = options.max_forks,
          .max_forks_per_peer = options.max_forks_per_peer,
          .max_bytes = options.max_fork_bytes,
          .max_versions = options.max_fork_versions,
          .max_lease_seconds = options.max_fork_lease_seconds,
          .kept = {.max_versions = options.pinned_versions, .max_bytes = options.pinned_bytes}};
}

FrameLimits FrameLimitsOf(const ServerOptions& options) {
  return {.max_groups = options.max_groups_per_frame,
          .max_queries = options.max_queries_per_frame,
          .max_answer_rows = options.max_answer_rows_per_frame,
          .max_work_units = options.max_work_units_per_frame,
          .polygons = options.polygon_limits(),
          .trackers = {.max_trackers = options.max_trackers_per_stream,
                       .max_bytes = options.max_tracker_bytes_per_stream},
          .shadow_interval = options.shadow_interval};
}

CallLimits CallLimitsOf(const ServerOptions& options) {
  return {.max_frame_bytes = options.max_message_bytes,
          .max_frames_in_flight = options.max_frames_in_flight,
          .max_unread_bytes = options.max_unread_bytes,
          .idle_stream = std::chrono::seconds(options.idle_stream_seconds),
          .stalled_stream = std::chrono::seconds(options.stalled_stream_seconds)};
}

SceneCallLimits SceneCallLimitsOf(const ServerOptions& options) {
  return {.max_message_bytes = options.max_message_bytes,
          .idle_import = std::chrono::seconds(options.idle_stream_seconds),
          .stalled_answer = std::chrono::seconds(options.stalled_stream_seconds),
          .import_time = std::chrono::seconds(options.import_seconds),
          .polygons = options.polygon_limits(),
          .scenes = options.scene_limits()};
}

// Prints the progress of a slow server start: one line a second on stderr while the server reads
// its scenes.
class RecoveryProgress {
 public:
  void Report(size_t scenes, uint64_t vertices) {
    const absl::Time now = absl::Now();
    if (now < next_) return;
    next_ = now + absl::Seconds(1);
    std::fprintf(stderr, "caromd: reading scenes: %zu scenes, %llu vertices\n", scenes,
                 static_cast<unsigned long long>(vertices));
  }

 private:
  absl::Time next_ = absl::Now() + absl::Seconds(1);
};

}  // namespace

// Holds the parts of a server in the order of their construction. Each part uses only parts above
// it, except `grpc`, which is shut down before any part is destroyed. `loop` is destroyed first,
// because its events use all other parts.
struct Server::Parts {
  Parts(const ServerOptions& o, std::unique_ptr<Identities> known, Journals opened)
      : options(o),
        identities(std::move(known)),
        memory(MemoryLimitOf(o)),
        journals(std::move(opened)),
        owned_store(MakeStore(o, memory, journals)),
        store(*owned_store),
        streams(o.max_streams, o.max_streams, "streams and Evaluate calls"),
        scene_calls(o.max_scene_calls, o.max_scene_calls_per_peer, "scene calls"),
        watches(o.max_watches, o.max_watches_per_peer, "watches"),
        executor(o.threads),
        scene_executor(o.threads),
        forks(store, memory, ForkLimitsOf(o), timer, scene_executor),
        writers(scene_executor),
        gate(forks, executor, timer),
        hub(forks),
        evaluator(forks, FrameLimitsOf(o)),
        runtime{.evaluator = evaluator,
                .executor = executor,
                .gate = gate,
                .calls = ContextOf(streams),
                .limits = CallLimitsOf(o)},
        memory_watch(memory, [this] { runtime.runs.Clear(); }),
        scene_handler(forks, o.polygon_limits(), o.scene_limits()),
        scene_runtime{.store = forks,
                      .handler = scene_handler,
                      .executor = scene_executor,
                      .writers = writers,
                      .hub = hub,
                      .calls = ContextOf(scene_calls),
                      .watches = ContextOf(watches),
                      .limits = SceneCallLimitsOf(o)} {}

  // Returns the context of the calls that `limit` counts. Calls with `limit` == `streams` count
  // against their tenant's share of streams (server/access/tenant.h).
  CallContext ContextOf(CallLimit& limit) {
    return {timer,
            calls,
            limit,
            memory,
            options.trust_forwarded_for,
            &start,
            identities.get(),
            &limit == &streams};
  }

  const ServerOptions options;
  const std::unique_ptr<Identities> identities;
  std::string address;
  CallRegistry calls;
  MemoryAccount memory;
  Journals journals;
  const std::unique_ptr<MemoryStore> owned_store;
  MemoryStore& store;
  Timer timer;
  StartGate start{timer};
  CallLimit streams;
  CallLimit scene_calls;
  CallLimit watches;
  Executor executor;
  Executor scene_executor;
  ForkStore forks;
  WriterQueue writers;
  VersionGate gate;
  WatchHub hub;
  FrameEvaluator evaluator;
  QueryRuntime runtime;
  MemoryWatch memory_watch;
  QueryService queries;
  SceneHandler scene_handler;
  SceneRuntime scene_runtime;
  SceneService scenes;
  HealthService health{
      {v1::QueryService::service_full_name(), v1::SceneService::service_full_name()},
      options.trust_forwarded_for};
  UnknownMethods unknown;
  std::unique_ptr<grpc::Server> grpc;
  std::optional<ConnectionAcceptor> acceptor;
  std::unique_ptr<EventLoop> loop;
  absl::once_flag drained;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options) {
  const bool listens = !options.address.empty();
  ServerOptions checked = options;
  if (!listens) checked.address = ServerOptions().address;
  if (absl::Status status = CheckServerOptions(checked); !status.ok()) return status;
  absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> transport =
      CredentialsOf({options.tls_certificate, options.tls_key, options.tls_client_ca});
  if (!transport.ok()) return transport.status();
  absl::StatusOr<std::unique_ptr<Identities>> identities = Identities::Create(
      options.credentials, !options.tls_client_ca.empty(), std::make_shared<Tenants>());
  if (!identities.ok()) return identities.status();
  absl::StatusOr<Journals> journals = OpenJournal(options);
  if (!journals.ok()) return journals.status();
  absl::StatusOr<Listener> listener;
  if (listens) {
    listener = Listen(options.address);
    if (!listener.ok()) return listener.status();
  }

  InitializeOnce();
  auto parts = std::make_unique<Parts>(options, *std::move(identities), *std::move(journals));
  // Channelz must be enabled before the builder is constructed, which reads the enabled plugins.
  if (options.reflection) InitChannelz();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<NoReflection>());
  Configure(options, builder);
  if (listens) {
    auto connections = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, *transport);
    parts->address = listener->address;
    parts->acceptor.emplace(
        *std::move(listener), std::move(connections),
        ConnectionLimits{options.max_connections, options.max_connections_per_peer,
                         std::chrono::seconds(
                             std::max(2 * options.stalled_stream_seconds, kLeastUnsentSeconds))});
  }
  builder.RegisterService(&parts->scenes);
  builder.RegisterService(&parts->queries);
  builder.RegisterService(&parts->health);
  builder.RegisterAsyncGenericService(&parts->unknown.service());
  parts->loop = std::make_unique<EventLoop>(builder, options.threads);
  parts->grpc = builder.BuildAndStart();
  if (parts->grpc == nullptr) return absl::InternalError("gRPC cannot start a server");
  std::unique_ptr<Server> server(new Server(std::move(parts)));
  if (absl::Status status = server->Serve(); !status.ok()) return status;
  return server;
}

absl::Status Server::Serve() {
  Parts& parts = *parts_;
  parts.health.Accept(*parts.loop);
  parts.unknown.Accept(*parts.loop);
  parts.loop->Start();
  parts.identities->Start([&calls = parts.calls] { calls.CheckCallers(); });
  if (parts.acceptor.has_value()) {
    if (absl::Status status = parts.acceptor->Start(); !status.ok()) return status;
  }
  // Calls that arrive while `ReadScenes` runs wait in the `StartGate`; health is NOT_SERVING.
  parts.queries.Accept(*parts.loop, parts.runtime);
  parts.scenes.Accept(*parts.loop, parts.scene_runtime);
  const absl::Status status = ReadScenes();
  // Calls that wait until the server has started do not get the error that the start returns, which
  // may contain paths and addresses.
  parts.start.End(status.ok() ? status : absl::UnavailableError("the server cannot start"));
  if (status.ok()) parts.health.Start();
  return status;
}

absl::Status Server::ReadScenes() {
  Parts& parts = *parts_;
  parts.store.set_tenants(parts.identities->tenants());
  if (parts.journals.journal != nullptr) {
    RecoveryProgress progress;
    absl::Status status = parts.store.Recover(
        [&](size_t scenes, uint64_t vertices) { progress.Report(scenes, vertices); });
    if (!status.ok()) return status;
  }
  if (const ServerOptions& options = parts.options; !options.preload.empty()) {
    absl::Status status = PreloadScenes(options.preload, options.polygon_limits(),
                                        options.scene_limits(), parts.store);
    if (!status.ok()) return status;
  }
  parts.forks.Begin();
  FollowFleet();
  return absl::OkStatus();
}

// Makes the store follow the changes that other servers write to etcd. While the server has no
// connection to etcd, it answers queries from the scenes in memory, and the health of the scene
// service is NOT_SERVING, since changes would fail.
void Server::FollowFleet() {
  auto* const fleet = dynamic_cast<FleetStore*>(parts_->owned_store.get());
  if (fleet == nullptr) return;
  fleet->Follow(
      [&health = parts_->health](bool takes_changes, bool is_ready) {
        health.Set(v1::SceneService::service_full_name(), takes_changes);
        health.Set(v1::QueryService::service_full_name(), is_ready);
        health.Set("", is_ready);
      },
      absl::Seconds(parts_->options.sweep_seconds));
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() { Drain(); }

const std::string& Server::address() const { return parts_->address; }

std::shared_ptr<grpc::Channel> Server::InProcessChannel(const grpc::ChannelArguments& arguments) {
  return parts_->grpc->InProcessChannel(arguments);
}

void Server::Reload() { parts_->identities->Reload(); }

void Server::Drain() {
  absl::call_once(parts_->drained, [this] {
    const absl::Time deadline = absl::Now() + absl::Seconds(parts_->options.drain_seconds);
    parts_->health.Stop();
    parts_->calls.Drain();
    parts_->calls.AwaitEmpty(deadline);
    if (parts_->journals.shared != nullptr) parts_->journals.shared->client().Stop();
    if (parts_->acceptor.has_value()) parts_->acceptor->Stop();
    // Cancels the calls that still run: calls that have not ended before `deadline`, and health
    // watches, which never end by themselves.
    parts_->grpc->Shutdown(absl::ToChronoTime(std::min(deadline, absl::Now() + kLastFlush)));
    parts_->grpc->Wait();
    parts_->calls.AwaitEmpty(absl::InfiniteFuture());
    parts_->identities->Stop();
    parts_->loop.reset();
    parts_->forks.Stop();
    if (auto* const fleet = dynamic_cast<FleetStore*>(parts_->owned_store.get())) {
      fleet->StopFollowing();
    }
  });
}

}  // namespace carom::server
