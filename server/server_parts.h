// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// The parts of a server, which server.cc and server_operations.cc share. For these two files only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/call_once.h"
#include "server/access/identity.h"
#include "server/base/live_value.h"
#include "server/base/memory_account.h"
#include "server/base/memory_watch.h"
#include "server/base/metrics.h"
#include "server/http/admin_service.h"
#include "server/http/connect_service.h"
#include "server/http/forwarded_call.h"
#include "server/http/http_server.h"
#include "server/http/metrics_page.h"
#include "server/query/query_runtime.h"
#include "server/query/query_service.h"
#include "server/query/recorder.h"
#include "server/readiness.h"
#include "server/scenes/scene_service.h"
#include "server/server.h"
#include "server/store/fork_store.h"
#include "server/store/memory_store.h"
#include "server/store_choice.h"
#include "server/transport/connection_acceptor.h"
#include "server/transport/event_loop.h"
#include "server/transport/health_service.h"
#include "server/transport/start_gate.h"
#include "server/transport/unknown_methods.h"

namespace carom::server {

// connections of operators, probes and scrapes to the admin port
inline constexpr size_t kMaxAdminConnections = 1024;

// Each returns the part of the options that concerns some calls or objects.
uint64_t MemoryLimitOf(const ServerOptions& options);
ForkLimits ForkLimitsOf(const ServerOptions& options);
FrameLimits FrameLimitsOf(const ServerOptions& options);
CallLimits CallLimitsOf(const ServerOptions& options);
SceneCallLimits SceneCallLimitsOf(const ServerOptions& options);

// Holds the parts of a server in the order of their construction. Each part uses only parts that
// are declared above it, except `grpc`, which is shut down before any part is destroyed. `loop` is
// destroyed first, because its events use all other parts.
struct Server::Parts {
  Parts(const ServerOptions& o, std::unique_ptr<Identities> known, Journals opened,
        std::unique_ptr<Recorder> records)
      : options(o),
        identities(std::move(known)),
        memory(MemoryLimitOf(o)),
        journals(std::move(opened)),
        owned_store(MakeStore(o, memory, journals, metrics)),
        store(*owned_store),
        streams(o.max_streams, o.max_streams, "streams and Evaluate calls", Limit::kStreams),
        scene_calls(o.max_scene_calls, o.max_scene_calls_per_peer, "scene calls",
                    Limit::kSceneCalls),
        watches(o.max_watches, o.max_watches_per_peer, "watches", Limit::kWatches),
        recorder(std::move(records)),
        executor(o.threads),
        scene_executor(o.threads),
        forks(store, memory, ForkLimitsOf(o), timer, scene_executor),
        writers(scene_executor),
        gate(forks, executor, timer),
        hub(forks),
        frame_limits(FrameLimitsOf(o)),
        call_limits(CallLimitsOf(o)),
        scene_call_limits(SceneCallLimitsOf(o)),
        evaluator(forks, frame_limits, metrics),
        runtime{.evaluator = evaluator,
                .executor = executor,
                .gate = gate,
                .calls = ContextOf(streams),
                .limits = call_limits,
                .recorder = recorder.get()},
        memory_watch(memory, [this] { runtime.runs.Clear(); }),
        scene_handler(forks, o.polygon_limits(), o.scene_limits()),
        scene_runtime{.store = forks,
                      .handler = scene_handler,
                      .executor = scene_executor,
                      .writers = writers,
                      .hub = hub,
                      .calls = ContextOf(scene_calls),
                      .watches = ContextOf(watches),
                      .limits = scene_call_limits,
                      .metrics = [this] { return MetricsPage(false); }},
        settings(o) {}

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
            &limit == &streams,
            metrics};
  }

  // Returns the state of the server for a scrape.
  ServerFigures Figures();
  // Returns the page of `/metrics`. Thread-safe, while the server serves calls.
  std::string MetricsPage(bool is_open_metrics) {
    return FormatMetrics(metrics.Sum(), Figures(), is_open_metrics);
  }

  const ServerOptions options;
  const std::unique_ptr<Identities> identities;
  std::string address;
  Metrics metrics;
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
  const std::unique_ptr<Recorder> recorder;  // null: streams are not recorded
  Executor executor;
  Executor scene_executor;
  ForkStore forks;
  WriterQueue writers;
  VersionGate gate;
  WatchHub hub;
  LiveValue<FrameLimits> frame_limits;
  LiveValue<CallLimits> call_limits;
  LiveValue<SceneCallLimits> scene_call_limits;
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

  // --- What operators see, and the HTTP ports ---------------------------------------------------
  // the settings in effect: `options`, except for those that a reload has changed
  LiveValue<ServerOptions> settings;
  Readiness readiness;
  std::optional<CallForwarder> forwarder;
  std::optional<ConnectService> connect;
  std::optional<AdminService> admin;
  std::unique_ptr<HttpServer> http_server;
  std::unique_ptr<HttpServer> admin_server;  // the last member, destroyed first
};

}  // namespace carom::server
