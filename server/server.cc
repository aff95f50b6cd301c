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
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/protobuf/stubs/logging.h"
#include "server/access/identity.h"
#include "server/access/tls.h"
#include "server/base/host_limits.h"
#include "server/base/log.h"

#include "server/server_parts.h"
#include "server/settings.h"
#include "server/store/etcd/fleet_store.h"
#include "server/store/preload.h"
#include "server/store_choice.h"
#include "server/transport/connection_acceptor.h"
#include "server/transport/listener.h"

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
// connection: at most one line a second for each library, as a client could fill the log.
void LogOfLibrary(LogLimiter& limiter, const char* library, absl::string_view message) {
  uint64_t suppressed = 0;
  if (!IsLogged(LogLevel::kWarning) || !limiter.Allow(suppressed)) return;
  LogLine(LogLevel::kWarning, "library_error")
      .With("library", library)
      .With("detail", message.substr(0, 200))
      .With("suppressed", suppressed);
}

void LogOfProtobuf(google::protobuf::LogLevel, const char*, int, const std::string& message) {
  static LogLimiter limiter;
  LogOfLibrary(limiter, "protobuf", message);
}

void LogOfGrpc(gpr_log_func_args* entry) {
  static LogLimiter limiter;
  if (entry->severity >= GPR_LOG_SEVERITY_ERROR) LogOfLibrary(limiter, "gRPC", entry->message);
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

// Returns a number of seconds in milliseconds, as an argument of gRPC.
int MillisecondsOf(uint64_t seconds) {
  return static_cast<int>(std::min<uint64_t>(seconds * 1000, std::numeric_limits<int>::max()));
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
  if (options.max_connection_age_seconds != 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               MillisecondsOf(options.max_connection_age_seconds));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                               MillisecondsOf(options.max_connection_grace_seconds));
  }
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             kLeastClientPingMs);
}

// The ports of a server; one without sockets is off.
struct Listeners {
  Listener grpc;
  Listener admin;
  Listener http;
};

absl::StatusOr<Listeners> ListenAll(const ServerOptions& options) {
  Listeners listeners;
  for (const auto& [address, made] : {std::pair{&options.address, &listeners.grpc},
                                      std::pair{&options.admin_address, &listeners.admin},
                                      std::pair{&options.http_address, &listeners.http}}) {
    if (address->empty() || *address == kOff) continue;
    absl::StatusOr<Listener> opened = Listen(*address);
    if (!opened.ok()) return opened.status();
    *made = *std::move(opened);
  }
  return listeners;
}

// Returns the recorder of streams, or null if the options name no folder for it.
absl::StatusOr<std::unique_ptr<Recorder>> RecorderOf(const ServerOptions& options) {
  if (options.record.empty()) return nullptr;
  return Recorder::Start({.folder = options.record,
                          .max_bytes = options.max_record_bytes,
                          .server_version = Version()});
}

}  // namespace

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
  absl::StatusOr<std::unique_ptr<Recorder>> recorder = RecorderOf(options);
  if (!recorder.ok()) return recorder.status();
  absl::StatusOr<Listeners> listeners = ListenAll(options);
  if (!listeners.ok()) return listeners.status();

  InitializeOnce();
  auto parts = std::make_unique<Parts>(options, *std::move(identities), *std::move(journals),
                                       *std::move(recorder));
  // Channelz must be enabled before the builder is constructed, which reads the enabled plugins.
  if (options.reflection) InitChannelz();
  grpc::ServerBuilder builder;
  if (!options.reflection) builder.SetOption(std::make_unique<NoReflection>());
  Configure(options, builder);
  if (listens) {
    auto connections = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, *transport);
    parts->address = listeners->grpc.address;
    const uint64_t unsent_seconds =
        std::max(2 * options.stalled_stream_seconds, kLeastUnsentSeconds);
    parts->acceptor.emplace(
        std::move(listeners->grpc), std::move(connections),
        ConnectionLimits{
            .total = options.max_connections,
            .by_peer = options.max_connections_per_peer,
            .unsent_time = std::chrono::seconds(unsent_seconds),
            .reserved_descriptors =
                (listeners->admin.sockets.empty() ? 0 : ConnectionsOfHttp(kMaxAdminConnections)) +
                (listeners->http.sockets.empty()
                     ? 0
                     : ConnectionsOfHttp(options.max_http_connections))});
  }
  builder.RegisterService(&parts->scenes);
  builder.RegisterService(&parts->queries);
  builder.RegisterService(&parts->health);
  builder.RegisterAsyncGenericService(&parts->unknown.service());
  parts->loop = std::make_unique<EventLoop>(builder, options.threads);
  parts->grpc = builder.BuildAndStart();
  if (parts->grpc == nullptr) return absl::InternalError("gRPC cannot start a server");
  std::unique_ptr<Server> server(new Server(std::move(parts)));
  if (absl::Status status = server->Serve(std::move(listeners->admin), std::move(listeners->http));
      !status.ok()) {
    return status;
  }
  return server;
}

absl::Status Server::Serve(Listener admin, Listener http) {
  Parts& parts = *parts_;
  parts.health.Accept(*parts.loop);
  parts.unknown.Accept(*parts.loop);
  parts.loop->Start();
  parts.identities->Start([&calls = parts.calls] { calls.CheckCallers(); });
  if (parts.acceptor.has_value()) {
    if (absl::Status status = parts.acceptor->Start(); !status.ok()) return status;
  }
  if (absl::Status status = ServeHttp(std::move(admin), std::move(http)); !status.ok()) {
    return status;
  }
  // Calls that arrive while `ReadScenes` runs wait in the `StartGate`; health is NOT_SERVING.
  parts.queries.Accept(*parts.loop, parts.runtime);
  parts.scenes.Accept(*parts.loop, parts.scene_runtime);
  const absl::Status status = ReadScenes();
  // Calls that wait until the server has started do not get the error that the start returns, which
  // may contain paths and addresses.
  parts.start.End(status.ok() ? status : absl::UnavailableError("the server cannot start"));
  if (!status.ok()) return status;
  parts.health.Start();
  parts.readiness.SetRecovered();
  return absl::OkStatus();
}

absl::Status Server::ReadScenes() {
  Parts& parts = *parts_;
  parts.store.set_tenants(parts.identities->tenants());
  if (parts.journals.journal != nullptr) {
    absl::Status status = parts.store.Recover(
        [&](size_t scenes, uint64_t vertices) { parts.readiness.NoteRecovery(scenes, vertices); });
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
      [&health = parts_->health, &readiness = parts_->readiness](bool takes_changes,
                                                                 bool is_ready) {
        readiness.SetReachable(takes_changes, is_ready);
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

void Server::Drain() {
  absl::call_once(parts_->drained, [this] {
    const absl::Time deadline = absl::Now() + absl::Seconds(parts_->options.drain_seconds);
    parts_->health.Stop();
    parts_->readiness.SetDraining();
    parts_->calls.Drain();
    parts_->calls.AwaitEmpty(deadline);
    if (parts_->journals.shared != nullptr) parts_->journals.shared->client().Stop();
    if (parts_->acceptor.has_value()) parts_->acceptor->Stop();
    // The HTTP port closes its connections when the calls have ended and their answers are sent,
    // and makes no call after that.
    if (parts_->http_server != nullptr) {
      parts_->http_server->Drain(std::min(deadline, absl::Now() + kLastFlush));
      parts_->forwarder->Stop();
    }
    // Cancels the calls that still run: calls that have not ended before `deadline`, and health
    // watches, which never end by themselves.
    parts_->grpc->Shutdown(absl::ToChronoTime(std::min(deadline, absl::Now() + kLastFlush)));
    parts_->grpc->Wait();
    parts_->calls.AwaitEmpty(absl::InfiniteFuture());
    parts_->identities->Stop();
    parts_->admin_server.reset();
    parts_->loop.reset();
    parts_->forks.Stop();
    if (auto* const fleet = dynamic_cast<FleetStore*>(parts_->owned_store.get())) {
      fleet->StopFollowing();
    }
  });
}

}  // namespace carom::server
