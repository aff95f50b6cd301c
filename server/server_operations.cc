// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// What an operator sees and changes of a running server: the HTTP ports, the figures of a scrape,
// and a reload of the settings.

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "proto/page/page_files.h"
#include "server/base/host_limits.h"
#include "server/config_file.h"
#include "server/http/metrics_page.h"
#include "server/server_parts.h"
#include "server/settings.h"
#include "server/transport/listener.h"

namespace carom::server {
namespace {

HttpOptions HttpOptionsOf(const ServerOptions& options) {
  return {.threads = options.threads != 0 ? options.threads : ReadHostLimits().threads,
          .max_connections = ConnectionsOfHttp(options.max_http_connections),
          .max_connections_per_peer = options.max_connections_per_peer,
          .max_body_bytes = options.max_message_bytes,
          .stalled_time = std::chrono::seconds(options.stalled_stream_seconds),
          .tls = {options.tls_certificate, options.tls_key, options.tls_client_ca},
          .trust_forwarded_for =
              options.trust_forwarded_for && absl::StartsWith(options.http_address, "unix:")};
}

// Returns the arguments of the channel within the process by which the HTTP port makes its calls.
// Answers have any size, as for a client on a socket that sets no limit.
grpc::ChannelArguments ForwarderArguments() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return arguments;
}

// Copies a setting to `current` if it has changed and may change in a running server, and adds its
// flag to `result`.
template <class Value>
void MergeSetting(const char* flag, Reloadable reloadable, const Value& wanted, Value& current,
                  ReloadResult& result) {
  if (wanted == current) return;
  const bool is_applied = reloadable == Reloadable::kYes;
  (is_applied ? result.changed : result.needs_restart).push_back(flag);
  if (is_applied) current = wanted;
}

}  // namespace

// Returns the memory limit of the options, or its default: three quarters of the memory that the
// process may use.
uint64_t MemoryLimitOf(const ServerOptions& options) {
  const uint64_t given = options.memory_limit_bytes;
  return given != 0 ? given : ReadHostLimits().memory_bytes / 4 * 3;
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
                       .max_bytes = options.max_tracker_bytes_per_stream,
                       .max_eyes = options.max_trackers_per_stream},
          .shadow_interval = options.shadow_interval};
}

CallLimits CallLimitsOf(const ServerOptions& options) {
  return {.max_frame_bytes = options.max_message_bytes,
          .max_frames_in_flight = options.max_frames_in_flight,
          .max_unread_bytes = options.max_unread_bytes,
          .idle_stream = std::chrono::seconds(options.idle_stream_seconds),
          .stalled_stream = std::chrono::seconds(options.stalled_stream_seconds),
          .slow_frame = std::chrono::milliseconds(options.slow_frame_ms)};
}

SceneCallLimits SceneCallLimitsOf(const ServerOptions& options) {
  return {.max_message_bytes = options.max_message_bytes,
          .idle_import = std::chrono::seconds(options.idle_stream_seconds),
          .stalled_answer = std::chrono::seconds(options.stalled_stream_seconds),
          .import_time = std::chrono::seconds(options.import_seconds),
          .polygons = options.polygon_limits(),
          .scenes = options.scene_limits()};
}

ServerFigures Server::Parts::Figures() {
  Parts& parts = *this;
  ServerFigures figures;
  figures.version = Version();
  figures.is_ready = parts.readiness.status().ok();
  constexpr std::array<std::pair<const char*, MemoryShare>, 3> kShares = {
      {{"scenes", MemoryShare::kScenes},
       {"trackers", MemoryShare::kTrackers},
       {"messages", MemoryShare::kMessages}}};
  for (const auto& [name, share] : kShares) {
    figures.memory.push_back({name, parts.memory.used(share), parts.memory.limit(share)});
  }
  if (parts.acceptor.has_value()) {
    figures.connections.push_back({"grpc", parts.acceptor->open(), parts.acceptor->refused()});
  }
  for (const auto& [name, port] :
       {std::pair{"http", parts.http_server.get()}, std::pair{"admin", parts.admin_server.get()}}) {
    if (port == nullptr) continue;
    const HttpUsage usage = port->usage();
    figures.connections.push_back({name, usage.connections, usage.refused});
  }
  for (const auto& [name, executor] :
       {std::pair{"frames", &parts.executor}, std::pair{"scenes", &parts.scene_executor}}) {
    const Executor::Usage usage = executor->usage();
    figures.executors.push_back({name, executor->task_count(), usage.waiting, usage.busy});
  }
  figures.streams = parts.streams.calls();
  figures.unread_bytes = parts.calls.unread_bytes();
  const MemoryStore::Totals totals = parts.store.totals();
  figures.scenes = totals.scenes;
  figures.polygons = totals.polygons;
  figures.vertices = totals.vertices;
  figures.versions = totals.versions;
  std::tie(figures.forks, figures.fork_bytes) = parts.forks.usage();
  if (parts.journals.shared != nullptr) {
    figures.staleness = std::chrono::microseconds(parts.store.staleness_us());
  }
  figures.loop_threads = parts.loop->thread_count();
  figures.loop_busy = parts.loop->busy_time();
  std::tie(figures.recovered_scenes, figures.recovered_vertices) = parts.readiness.recovered();
  if (parts.options.metrics_per_tenant) {
    for (const auto& [name, usage] : parts.identities->tenants()->usage()) {
      figures.tenants.push_back({name, usage.scenes, usage.bytes, usage.streams});
    }
  }
  return figures;
}

absl::Status Server::ServeHttp(Listener admin, Listener http) {
  Parts& parts = *parts_;
  if (!http.sockets.empty()) {
    parts.forwarder.emplace(parts.grpc->InProcessChannel(ForwarderArguments()), *parts.loop);
    parts.connect.emplace(*parts.forwarder, parts.options.http_allowed_origins, PageFiles());
    HttpOptions options = HttpOptionsOf(parts.options);
    options.web_sockets = &*parts.forwarder;
    auto server = HttpServer::Start(std::move(http), options, *parts.connect, parts.memory);
    if (!server.ok()) return server.status();
    parts.http_server = *std::move(server);
  }
  if (!admin.sockets.empty()) {
    parts.admin.emplace(AdminPages{
        .metrics = [&parts](bool is_open_metrics) { return parts.MetricsPage(is_open_metrics); },
        .readiness = [&parts] { return parts.readiness.status(); },
        .version = Version(),
        .config = [&parts] { return FormatConfig(*parts.settings); }});
    HttpOptions options;
    options.max_connections = ConnectionsOfHttp(kMaxAdminConnections);
    auto server = HttpServer::Start(std::move(admin), options, *parts.admin, parts.memory);
    if (!server.ok()) return server.status();
    parts.admin_server = *std::move(server);
  }
  return absl::OkStatus();
}

std::string Server::admin_address() const {
  return parts_->admin_server == nullptr ? "" : parts_->admin_server->address();
}

std::string Server::http_address() const {
  return parts_->http_server == nullptr ? "" : parts_->http_server->address();
}

// Applies the settings that `Reloadable::kYes` marks to the objects that use them. The TLS files
// are read again when they change, without a reload.
ReloadResult Server::Reload(const ServerOptions& options) {
  Parts& parts = *parts_;
  ReloadResult result;
  ServerOptions settings = *parts.settings;
  for (const TextOption& text : TextOptions()) {
    MergeSetting(text.flag, text.reloadable, options.*text.member, settings.*text.member, result);
  }
  for (const FlagOption& flag : FlagOptions()) {
    MergeSetting(flag.flag, Reloadable::kNo, options.*flag.member, settings.*flag.member, result);
  }
  for (const NumberOption& number : NumberOptions()) {
    MergeSetting(number.flag, number.reloadable, options.*number.member, settings.*number.member,
                 result);
  }
  parts.frame_limits.Set(FrameLimitsOf(settings));
  parts.call_limits.Set(CallLimitsOf(settings));
  parts.scene_call_limits.Set(SceneCallLimitsOf(settings));
  parts.streams.SetLimits(settings.max_streams, settings.max_streams);
  parts.scene_calls.SetLimits(settings.max_scene_calls, settings.max_scene_calls_per_peer);
  parts.watches.SetLimits(settings.max_watches, settings.max_watches_per_peer);
  parts.settings.Set(settings);
  parts.identities->Reload();
  return result;
}

}  // namespace carom::server
