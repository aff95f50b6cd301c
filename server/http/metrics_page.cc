// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "server/http/metrics_page.h"

#include <dirent.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/base/log.h"
#include "server/base/refusals.h"

namespace carom::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kSecond = 1e9;  // nanoseconds

using Label = ClientMetric::Label;

// A list of families that grows by one function call for each metric.
class Page {
 public:
  // Begins a metric; `Value` and `Histogram` add its series.
  Page& Begin(const char* name, MetricType type, const char* help) {
    families_.push_back({name, help, type, {}});
    return *this;
  }
  Page& Counter(const char* name, const char* help) {
    return Begin(name, MetricType::Counter, help);
  }
  Page& Gauge(const char* name, const char* help) { return Begin(name, MetricType::Gauge, help); }

  Page& Value(double value, std::vector<Label> labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (families_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) =
        value;
    families_.back().metric.push_back(std::move(metric));
    return *this;
  }
  Page& Histogram(const Durations& durations, std::vector<Label> labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    uint64_t count = 0;
    for (size_t i = 0; i < kBucketCount; ++i) {
      count += durations.buckets[i];
      const bool is_last = i + 1 == kBucketCount;
      metric.histogram.bucket.push_back(
          {count, is_last ? std::numeric_limits<double>::infinity()
                          : static_cast<double>(kBucketBoundsNs[i]) / kSecond});
    }
    metric.histogram.sample_count = count;
    metric.histogram.sample_sum = static_cast<double>(durations.sum_ns) / kSecond;
    families_.back().metric.push_back(std::move(metric));
    return *this;
  }

  const std::vector<MetricFamily>& families() const { return families_; }

 private:
  std::vector<MetricFamily> families_;
};

double ToDouble(uint64_t value) { return static_cast<double>(value); }
double Seconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / kSecond;
}

// Returns the names of gRPC's codes as Prometheus' exporters of gRPC write them.
const char* NameOfCode(size_t code) {
  static constexpr std::array<const char*, kCodeCount> kNames = {"OK",
                                                                 "CANCELLED",
                                                                 "UNKNOWN",
                                                                 "INVALID_ARGUMENT",
                                                                 "DEADLINE_EXCEEDED",
                                                                 "NOT_FOUND",
                                                                 "ALREADY_EXISTS",
                                                                 "PERMISSION_DENIED",
                                                                 "RESOURCE_EXHAUSTED",
                                                                 "FAILED_PRECONDITION",
                                                                 "ABORTED",
                                                                 "OUT_OF_RANGE",
                                                                 "UNIMPLEMENTED",
                                                                 "INTERNAL",
                                                                 "UNAVAILABLE",
                                                                 "DATA_LOSS",
                                                                 "UNAUTHENTICATED"};
  return kNames[code];
}

// Returns the name of an item fault as in batch.proto, in lower case.
const char* NameOfFault(size_t fault) {
  static constexpr std::array<const char*, kItemFaultCount> kNames = {
      "not_accepted",    "negative_radius",     "not_a_rotation",   "angle_out_of_range",
      "unknown_shape",   "placed_out_of_range", "zero_direction",   "not_a_range",
      "empty_box",       "negative_length",     "not_a_mass",       "tolerance_too_small",
      "too_many_beams",  "unknown_tracker",     "no_interior",      "not_simple",
      "too_many_pushes", "unknown_body",        "too_many_bounces", "not_kept"};
  return kNames[fault];
}

void AddCalls(const MetricSums& sums, Page& page) {
  page.Counter("carom_calls_total", "Calls that have ended, by method and gRPC code.");
  for (size_t rpc = 0; rpc < kRpcCount; ++rpc) {
    for (size_t code = 0; code < kCodeCount; ++code) {
      // Every method has the series of OK, so that rates begin at 0.
      const uint64_t count = sums.calls[rpc][code];
      if (count == 0 && code != 0) continue;
      page.Value(ToDouble(count),
                 {{"rpc", NameOf(static_cast<RpcMethod>(rpc))}, {"code", NameOfCode(code)}});
    }
  }
  page.Begin("carom_call_duration_seconds", MetricType::Histogram,
             "Time from the arrival of a call to its end; of a stream, its whole life.");
  for (size_t rpc = 0; rpc < kRpcCount; ++rpc) {
    page.Histogram(sums.call_times[rpc], {{"rpc", NameOf(static_cast<RpcMethod>(rpc))}});
  }
}

void AddFrames(const MetricSums& sums, const ServerFigures& figures, Page& page) {
  const auto of = [&](Counter counter) { return ToDouble(sums.of(counter)); };
  page.Gauge("carom_streams", "Streams and Evaluate calls in progress.")
      .Value(ToDouble(figures.streams));
  page.Counter("carom_frames_total", "Frames, by outcome.")
      .Value(of(Counter::kFramesAnswered), {{"outcome", "answered"}})
      .Value(of(Counter::kFramesRefused), {{"outcome", "refused"}})
      .Value(of(Counter::kFramesSkipped), {{"outcome", "skipped"}});
  page.Begin("carom_frame_duration_seconds", MetricType::Histogram,
             "Time from the receipt of a frame to its answer.")
      .Histogram(sums.distributions[static_cast<size_t>(Distribution::kFrame)]);
  page.Counter("carom_slow_frames_total", "Frames that took longer than --slow-frame-ms.")
      .Value(of(Counter::kSlowFrames));
  page.Counter("carom_queries_total", "Answered queries, by kind.");
  size_t position = 0;
  ForEachKind([&](const auto& kind) {
    page.Value(ToDouble(sums.queries[position++]), {{"kind", kind.name}});
  });
  page.Counter("carom_items_refused_total", "Queries of answered frames that have an error.");
  for (size_t i = 0; i < kItemFaultCount; ++i) {
    page.Value(ToDouble(sums.item_faults[i]), {{"fault", NameOfFault(i)}});
  }
  page.Counter("carom_work_units_total",
               "Polygons, edges and index nodes visited, and comparisons of hits.")
      .Value(of(Counter::kWorkUnits));
  page.Counter("carom_time_slices_total", "Time slices of the evaluation of frames.")
      .Value(of(Counter::kTimeSlices));
  page.Counter("carom_answer_rows_total", "Rows of answers: hits, polygons, edges and beams.")
      .Value(of(Counter::kAnswerRows));
  page.Counter("carom_tracker_moves_total", "Moves of trackers, by how they were answered.")
      .Value(of(Counter::kQuietMoves), {{"tier", "quiet"}})
      .Value(of(Counter::kNearMoves), {{"tier", "near"}})
      .Value(of(Counter::kRefreshedMoves), {{"tier", "refreshed"}})
      .Value(of(Counter::kColdMoves), {{"tier", "cold"}});
  page.Counter("carom_eyes_total", "Areas and observers with a number, by how they were answered.")
      .Value(of(Counter::kQuietEyes), {{"tier", "quiet"}})
      .Value(of(Counter::kRefreshedEyes), {{"tier", "refreshed"}})
      .Value(of(Counter::kColdEyes), {{"tier", "cold"}});
  page.Counter("carom_shadow_moves_total",
               "Moves that were also answered without the memory of the tracker.")
      .Value(of(Counter::kShadowMoves));
  page.Counter("carom_shadow_eyes_total",
               "Areas and observers that were also answered without the memory of the eye.")
      .Value(of(Counter::kShadowEyes));
  page.Counter("carom_shadow_differences_total",
               "Batches whose answers differ with and without that memory: must be 0.")
      .Value(of(Counter::kShadowDifferences));
  page.Gauge("carom_unread_bytes", "Bytes of answers that clients of streams have not read.")
      .Value(ToDouble(figures.unread_bytes));
}

void AddStore(const MetricSums& sums, const ServerFigures& figures, Page& page) {
  const auto of = [&](Counter counter) { return ToDouble(sums.of(counter)); };
  page.Gauge("carom_scenes", "Scenes.").Value(ToDouble(figures.scenes));
  page.Gauge("carom_polygons", "Polygons of all scenes.").Value(ToDouble(figures.polygons));
  page.Gauge("carom_vertices", "Vertices of all scenes.").Value(ToDouble(figures.vertices));
  page.Gauge("carom_versions_kept", "Versions of all scenes that the store keeps.")
      .Value(ToDouble(figures.versions));
  page.Gauge("carom_forks", "Forks.").Value(ToDouble(figures.forks));
  page.Gauge("carom_fork_bytes", "Memory of the forks, without that of their bases.")
      .Value(ToDouble(figures.fork_bytes));
  page.Counter("carom_commits_total", "Versions of scenes that clients have made.")
      .Value(of(Counter::kCommits));
  page.Begin("carom_journal_duration_seconds", MetricType::Histogram,
             "Time to make a change of a scene durable in sqlite or etcd.")
      .Histogram(sums.distributions[static_cast<size_t>(Distribution::kJournal)]);
  page.Counter("carom_journal_failures_total", "Changes that the store could not make durable.")
      .Value(of(Counter::kJournalFailures));
  page.Begin("carom_journal_sync_duration_seconds", MetricType::Histogram,
             "Time to commit a transaction of sqlite, most of it the sync of the file.")
      .Histogram(sums.distributions[static_cast<size_t>(Distribution::kSync)]);
  page.Counter("carom_journal_transactions_total", "Transactions of sqlite.")
      .Value(of(Counter::kJournalTransactions));
  page.Counter("carom_journal_changes_total", "Changes in the transactions of sqlite.")
      .Value(of(Counter::kJournalChanges));
  page.Counter("carom_journal_bytes_total", "Bytes of pages that transactions of sqlite wrote.")
      .Value(of(Counter::kJournalBytes));
  page.Gauge("carom_recovery_scenes", "Scenes that the start has read from the store.")
      .Value(ToDouble(figures.recovered_scenes));
  page.Gauge("carom_recovery_vertices", "Vertices that the start has read from the store.")
      .Value(ToDouble(figures.recovered_vertices));
  if (!figures.staleness.has_value()) return;
  page.Gauge("carom_etcd_staleness_seconds",
             "How long ago another server may have made a change that is not visible here.")
      .Value(Seconds(*figures.staleness));
  page.Counter("carom_etcd_retries_total",
               "Changes tried again because another server had changed the scene.")
      .Value(of(Counter::kEtcdRetries));
  page.Counter("carom_etcd_sweeps_total", "Completed deletions of unused pages in etcd.")
      .Value(of(Counter::kEtcdSweeps));
}

void AddLimits(const MetricSums& sums, const ServerFigures& figures, Page& page) {
  page.Gauge("carom_memory_used_bytes", "Memory charged to clients, by share.");
  for (const auto& memory : figures.memory)
    page.Value(ToDouble(memory.used), {{"share", memory.share}});
  page.Gauge("carom_memory_limit_bytes", "Limit of the memory charged to clients, by share.");
  for (const auto& memory : figures.memory)
    page.Value(ToDouble(memory.limit), {{"share", memory.share}});
  page.Gauge("carom_connections", "Open connections, by port.");
  for (const auto& port : figures.connections)
    page.Value(ToDouble(port.open), {{"port", port.port}});
  page.Counter("carom_connections_refused_total", "Connections closed by a limit, by port.");
  for (const auto& port : figures.connections) {
    page.Value(ToDouble(port.refused), {{"port", port.port}});
  }
  page.Counter("carom_refusals_total", "Requests refused because a limit is reached, by limit.");
  for (size_t i = 0; i < kLimitCount; ++i) {
    const auto limit = static_cast<Limit>(i);
    page.Value(ToDouble(RefusalsBy(limit)), {{"limit", NameOf(limit)}});
  }
  page.Counter("carom_credentials_refused_total", "Calls without a valid credential.")
      .Value(ToDouble(sums.of(Counter::kCredentialsRefused)));
  if (figures.tenants.empty()) return;
  page.Gauge("carom_tenant_scenes", "Scenes of a tenant.");
  for (const auto& tenant : figures.tenants)
    page.Value(ToDouble(tenant.scenes), {{"tenant", tenant.name}});
  page.Gauge("carom_tenant_scene_bytes", "Memory of the scenes of a tenant.");
  for (const auto& tenant : figures.tenants)
    page.Value(ToDouble(tenant.bytes), {{"tenant", tenant.name}});
  page.Gauge("carom_tenant_streams", "Streams and Evaluate calls of a tenant.");
  for (const auto& tenant : figures.tenants)
    page.Value(ToDouble(tenant.streams), {{"tenant", tenant.name}});
}

void AddThreads(const ServerFigures& figures, Page& page) {
  page.Gauge("carom_event_loop_threads", "Threads of the event loop.")
      .Value(ToDouble(figures.loop_threads));
  page.Counter("carom_event_loop_busy_seconds_total", "CPU time of the event loop's threads.")
      .Value(Seconds(figures.loop_busy));
  page.Gauge("carom_executor_threads", "Tasks that an executor runs at once.");
  for (const auto& executor : figures.executors) {
    page.Value(ToDouble(executor.threads), {{"executor", executor.name}});
  }
  page.Counter("carom_executor_busy_seconds_total", "CPU time of an executor's tasks.");
  for (const auto& executor : figures.executors) {
    page.Value(Seconds(executor.busy), {{"executor", executor.name}});
  }
  page.Gauge("carom_executor_waiting", "Tasks of an executor that wait for a thread.");
  for (const auto& executor : figures.executors) {
    page.Value(ToDouble(executor.waiting), {{"executor", executor.name}});
  }
}

// Returns the number of open descriptors of the process; `limit` if none is free to count them.
uint64_t OpenDescriptors(uint64_t limit) {
  DIR* const folder = opendir("/proc/self/fd");
  if (folder == nullptr) return limit;
  uint64_t count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - std::min<uint64_t>(count, 3);  // `.`, `..` and the folder itself
}

// Reads /proc/self/stat: the fields behind the name of the program, from the state (field 3) on.
std::vector<std::string> ProcessState() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end = line.rfind(')');
  if (end == std::string::npos) return {};
  return absl::StrSplit(line.substr(end + 2), ' ');
}

// Returns when the machine booted, in seconds since 1970.
double BootTime() {
  std::ifstream file("/proc/stat");
  std::string word;
  double time = 0;
  while (file >> word) {
    if (word == "btime" && file >> time) return time;
  }
  return 0;
}

// The metrics that every Prometheus client library has.
void AddProcess(Page& page) {
  constexpr size_t kThreads = 17, kStart = 19, kResidentPages = 21;  // fields 20, 22 and 24
  // Read once: a clock that is set later must not look like a restart.
  static const double kBootTime = BootTime();
  const std::vector<std::string> state = ProcessState();
  const auto field = [&](size_t i) {
    return i < state.size() ? std::strtod(state[i].c_str(), nullptr) : 0;
  };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  page.Counter("process_cpu_seconds_total", "CPU time of the process.")
      .Value(seconds(usage.ru_utime) + seconds(usage.ru_stime));
  page.Gauge("process_resident_memory_bytes", "Resident memory of the process.")
      .Value(field(kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  page.Gauge("process_open_fds", "Open descriptors.")
      .Value(ToDouble(OpenDescriptors(descriptors.rlim_cur)));
  page.Gauge("process_max_fds", "Limit of open descriptors.").Value(ToDouble(descriptors.rlim_cur));
  page.Gauge("process_threads", "Threads of the process.").Value(field(kThreads));
  page.Gauge("process_start_time_seconds", "Start of the process, in seconds since 1970.")
      .Value(kBootTime + field(kStart) / ticks);
}

// Appends a line of OpenMetrics for one series.
void AppendSample(const std::string& name, const std::vector<Label>& labels,
                  absl::string_view extra, double value, std::string& out) {
  std::string list;
  for (const Label& label : labels) {
    std::string text;
    for (const char c : label.value) {
      if (c == '"' || c == '\\') text += '\\';
      text += c == '\n' ? ' ' : c;
    }
    absl::StrAppend(&list, list.empty() ? "" : ",", label.name, "=\"", text, "\"");
  }
  if (!extra.empty()) absl::StrAppend(&list, list.empty() ? "" : ",", extra);
  char number[32];
  std::snprintf(number, sizeof(number), "%.17g", value);
  absl::StrAppend(&out, name, list.empty() ? "" : absl::StrCat("{", list, "}"), " ", number, "\n");
}

// OpenMetrics differs from the text format: the family of a counter has no suffix `_total`, and a
// last line ends the page (https://openmetrics.io).
std::string FormatOpenMetrics(const std::vector<MetricFamily>& families) {
  std::string out;
  for (const MetricFamily& family : families) {
    const std::string base(absl::StripSuffix(family.name, "_total"));
    const char* const type = family.type == MetricType::Counter     ? "counter"
                             : family.type == MetricType::Histogram ? "histogram"
                                                                    : "gauge";
    absl::StrAppend(&out, "# TYPE ", base, " ", type, "\n# HELP ", base, " ", family.help, "\n");
    for (const ClientMetric& metric : family.metric) {
      if (family.type == MetricType::Counter) {
        AppendSample(base + "_total", metric.label, "", metric.counter.value, out);
      } else if (family.type == MetricType::Gauge) {
        AppendSample(base, metric.label, "", metric.gauge.value, out);
      } else {
        for (const auto& bucket : metric.histogram.bucket) {
          const std::string bound =
              std::isinf(bucket.upper_bound) ? "+Inf" : absl::StrCat(bucket.upper_bound);
          AppendSample(base + "_bucket", metric.label, absl::StrCat("le=\"", bound, "\""),
                       ToDouble(bucket.cumulative_count), out);
        }
        AppendSample(base + "_count", metric.label, "", ToDouble(metric.histogram.sample_count),
                     out);
        AppendSample(base + "_sum", metric.label, "", metric.histogram.sample_sum, out);
      }
    }
  }
  return out + "# EOF\n";
}

}  // namespace

std::string FormatMetrics(const MetricSums& sums, const ServerFigures& figures,
                          bool is_open_metrics) {
  Page page;
  page.Gauge("carom_build_info", "1; the label has the version of caromd.")
      .Value(1, {{"version", figures.version}});
  page.Gauge("carom_ready", "Whether the server is ready for queries.")
      .Value(figures.is_ready ? 1 : 0);
  AddCalls(sums, page);
  AddFrames(sums, figures, page);
  AddStore(sums, figures, page);
  AddLimits(sums, figures, page);
  AddThreads(figures, page);
  page.Counter("carom_log_lines_total", "Lines of the log, by level.");
  for (const char* level : {"error", "warning", "info", "debug"}) {
    page.Value(ToDouble(LoggedLines(*ParseLogLevel(level))), {{"level", level}});
  }
  AddProcess(page);
  return is_open_metrics ? FormatOpenMetrics(page.families())
                         : prometheus::TextSerializer().Serialize(page.families());
}

}  // namespace carom::server
