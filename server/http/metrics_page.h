// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// Formats the metrics of a server for Prometheus (https://prometheus.io/docs/instrumenting/
// exposition_formats) and in OpenMetrics.
//
// docs/operations.md lists the metrics. Labels have few values: a name of a scene or a tenant is no
// label, except the tenant with `--metrics-per-tenant`.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/base/metrics.h"

namespace carom::server {

// The state of a server at the time of a scrape, beside its counters.
struct ServerFigures {
  struct Memory {
    const char* share;
    uint64_t used = 0;
    uint64_t limit = 0;
  };
  struct Connections {
    const char* port;
    uint64_t open = 0;
    uint64_t refused = 0;
  };
  struct ExecutorUse {
    const char* name;
    uint64_t threads = 0;
    uint64_t waiting = 0;
    std::chrono::nanoseconds busy{};
  };
  struct TenantUse {
    std::string name;
    uint64_t scenes = 0;
    uint64_t bytes = 0;
    uint64_t streams = 0;
  };

  std::string version;  // of caromd
  bool is_ready = false;
  std::vector<Memory> memory;
  std::vector<Connections> connections;
  std::vector<ExecutorUse> executors;
  uint64_t streams = 0;
  uint64_t unread_bytes = 0;
  uint64_t scenes = 0;
  uint64_t polygons = 0;
  uint64_t vertices = 0;
  uint64_t versions = 0;
  uint64_t forks = 0;
  uint64_t fork_bytes = 0;
  // how far the scenes may lag behind etcd; nullopt without etcd
  std::optional<std::chrono::microseconds> staleness;
  uint64_t loop_threads = 0;
  std::chrono::nanoseconds loop_busy{};
  uint64_t recovered_scenes = 0;
  uint64_t recovered_vertices = 0;
  std::vector<TenantUse> tenants;  // empty without `--metrics-per-tenant`
};

// Returns the page of `/metrics`: OpenMetrics if `is_open_metrics`, else the text format of
// Prometheus. Also reads figures of the process: its memory, CPU time and descriptors.
std::string FormatMetrics(const MetricSums& sums, const ServerFigures& figures,
                          bool is_open_metrics);

}  // namespace carom::server
