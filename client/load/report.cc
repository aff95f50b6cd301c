// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/load/report.h"

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/formats/grouped.h"

namespace carom::load {
namespace {

using nlohmann::json;

// Returns a time in milliseconds with three decimals.
std::string Milliseconds(uint64_t nanoseconds) {
  return absl::StrFormat("%.3f", static_cast<double>(nanoseconds) * 1e-6);
}

std::string Quantiles(const Histogram& histogram) {
  if (histogram.count() == 0) return "none";
  return absl::StrCat("p50 ", Milliseconds(histogram.Quantile(0.5)), "  p90 ",
                      Milliseconds(histogram.Quantile(0.9)), "  p99 ",
                      Milliseconds(histogram.Quantile(0.99)), "  p99.9 ",
                      Milliseconds(histogram.Quantile(0.999)), "  max ",
                      Milliseconds(histogram.max()), " ms");
}

std::string CodeName(int code) {
  return std::string(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)));
}

// Returns the counts as text, such as `UNAVAILABLE 3, ABORTED 1`.
std::string Codes(const std::map<int, uint64_t>& counts) {
  std::string text;
  for (const auto& [code, count] : counts) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", CodeName(code), " ", Grouped(count));
  }
  return text.empty() ? "none" : text;
}

// Returns the CPU time divided by the measured time, as a number of cores.
std::string Cores(double cpu_s, double measured_s) {
  return absl::StrFormat("%.3f cores", cpu_s / measured_s);
}

// Builds the text report from rows with a name column of fixed width.
class Table {
 public:
  template <class... Words>
  void Row(const char* name, const Words&... words) {
    absl::StrAppend(&text_, absl::StrFormat("  %-18s ", name), words..., "\n");
  }
  std::string text() const { return text_; }

 private:
  std::string text_ = "carom load\n";
};

// Adds the rows about the map, the streams, the frames and the measured time.
void AddSetting(const LoadReport& report, Table& table) {
  const LoadOptions& options = report.options;
  table.Row("map", Grouped(report.polygon_count), " polygons, ", Grouped(report.vertex_count),
            " vertices; imported in ", absl::StrFormat("%.2f s", report.import_s));
  table.Row("streams", Grouped(options.streams), " on ", Grouped(options.connections),
            " connections; opened in ", absl::StrFormat("%.3f s", report.open_s));
  table.Row("frame", Grouped(options.bullets), " bullets, ", Grouped(options.trackers), " moves; ",
            options.is_closed() ? absl::StrCat(options.closed, " in flight a stream")
                                : absl::StrFormat("%g Hz a stream", options.rate_hz));
  table.Row("measured", absl::StrFormat("%.2f s", report.measured_s), " after ",
            absl::StrFormat("%.2f s", options.warmup_s), report.is_stopped ? "; stopped" : "");
}

// Adds the rows about the outcomes of frames (answered, lost, refused, errors), even if the counts
// are zero; adds rows about a failed stream and about unexpected answers only if there are any.
void AddOutcomes(const LoadReport& report, Table& table) {
  const Tally& tally = report.tally;
  table.Row("frames", Grouped(tally.frames_due), " due, ", Grouped(tally.frames_sent), " sent, ",
            Grouped(tally.frames_answered), " answered, ", Grouped(report.frames_lost()), " lost");
  table.Row("refused", Grouped(tally.frames_refused), " (RESOURCE_EXHAUSTED); ",
            Grouped(tally.frames_skipped), " skipped");
  table.Row("frame errors", Codes(tally.frame_errors));
  table.Row("group errors", Codes(tally.group_errors));
  table.Row("streams ended", Codes(tally.stream_ends));
  if (!report.stream_status.ok()) {
    table.Row("", CodeName(static_cast<int>(report.stream_status.code())), ": ",
              std::string(report.stream_status.message()));
  }
  if (tally.unexpected_answers > 0)
    table.Row("unexpected answers", Grouped(tally.unexpected_answers));
}

// Adds rows about costs, as far as they are known: the evaluation time per query by the server's
// clock; the CPU time of the server's process, which includes the transport; and the CPU time of
// this process.
void AddServer(const LoadReport& report, Table& table) {
  const Tally& tally = report.tally;
  const uint64_t queries = tally.frames_answered * report.options.queries_per_frame();
  if (queries > 0) {
    table.Row("server evaluation",
              absl::StrFormat("%.0f ns a query", static_cast<double>(tally.evaluate_ns) /
                                                     static_cast<double>(queries)));
  }
  if (report.server_cpu_s) {
    const std::optional<double> cost = report.server_cpu_ns_per_query();
    table.Row("server CPU", Cores(*report.server_cpu_s, report.measured_s),
              cost ? absl::StrFormat(", %.0f ns a query", *cost) : "");
  }
  table.Row("own CPU", Cores(report.own_cpu_s, report.measured_s), ", with checks");
}

// Returns the quantiles of a histogram of nanoseconds in milliseconds; they are null if the
// histogram has no values.
json QuantilesJson(const Histogram& histogram) {
  const auto at = [&](double share) -> json {
    if (histogram.count() == 0) return nullptr;
    return static_cast<double>(histogram.Quantile(share)) * 1e-6;
  };
  json all = {{"count", histogram.count()}, {"mean_ms", histogram.mean() * 1e-6}};
  all["p50_ms"] = at(0.5);
  all["p90_ms"] = at(0.9);
  all["p99_ms"] = at(0.99);
  all["p99_9_ms"] = at(0.999);
  all["p99_99_ms"] = at(0.9999);
  all["max_ms"] = at(1);
  return all;
}

json CodesJson(const std::map<int, uint64_t>& counts) {
  json all = json::object();
  for (const auto& [code, count] : counts) all[CodeName(code)] = count;
  return all;
}

// Returns `value`, or null if it is absent: an unknown figure is never 0.
template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

const char* Name(CastDetail detail) {
  switch (detail) {
    case CastDetail::kFraction:
      return "fraction";
    case CastDetail::kNormal:
      return "normal";
    case CastDetail::kEdge:
      return "edge";
    case CastDetail::kExit:
      return "exit";
  }
  return "";
}

// Returns the options of the run, so that the run can be repeated from its report.
json SettingJson(const LoadReport& report) {
  const LoadOptions& options = report.options;
  return {{"address", options.address},
          {"streams", options.streams},
          {"connections", options.connections},
          {"threads", options.threads},
          {"rate_hz", options.is_closed() ? json(nullptr) : json(options.rate_hz)},
          {"closed_frames_in_flight", options.closed},
          {"bullets_per_frame", options.bullets},
          {"moves_per_frame", options.trackers},
          {"edits_hz", options.edits_hz},
          {"detail", Name(options.detail)},
          {"warmup_s", options.warmup_s},
          {"seed", options.seed},
          {"map", options.map},
          {"polygon_count", report.polygon_count},
          {"vertex_count", report.vertex_count}};
}

// Returns the frame counts of `Tally`, and rates per second of the measured time.
json FramesJson(const LoadReport& report) {
  const Tally& tally = report.tally;
  return {{"due_count", tally.frames_due},
          {"sent_count", tally.frames_sent},
          {"answered_count", tally.frames_answered},
          {"lost_count", report.frames_lost()},
          {"late_count", tally.frames_late},
          {"refused_count", tally.frames_refused},
          {"skipped_count", tally.frames_skipped},
          {"strange_answer_count", tally.unexpected_answers},
          {"frame_errors", CodesJson(tally.frame_errors)},
          {"group_errors", CodesJson(tally.group_errors)},
          {"stream_ends", CodesJson(tally.stream_ends)},
          {"sent_per_second", static_cast<double>(tally.frames_sent) / report.measured_s},
          {"answered_per_second", report.frames_per_second()},
          {"queries_per_second", report.queries_per_second()},
          {"answer_bytes_per_second", static_cast<double>(tally.answer_bytes) / report.measured_s}};
}

// Returns the statistics from the server's answers, and the CPU time of the server's process.
json ServerJson(const LoadReport& report) {
  const Tally& tally = report.tally;
  return {{"cpu_cores",
           report.server_cpu_s ? json(*report.server_cpu_s / report.measured_s) : json(nullptr)},
          {"cpu_ns_per_query", OrNull(report.server_cpu_ns_per_query())},
          {"evaluate_ns", tally.evaluate_ns},
          {"quiet_moves", tally.moves.quiet},
          {"near_moves", tally.moves.near},
          {"refreshed_moves", tally.moves.refresh},
          {"cold_moves", tally.moves.cold},
          {"shadow_differences", tally.shadow_differences}};
}

}  // namespace

// Scripts and tests find a row by the first word of its name.
std::string ReportText(const LoadReport& report) {
  const Tally& tally = report.tally;
  Table table;
  AddSetting(report, table);
  AddOutcomes(report, table);
  table.Row("throughput",
            absl::StrFormat("%.0f frames a second sent, %.0f answered, ",
                            static_cast<double>(tally.frames_sent) / report.measured_s,
                            report.frames_per_second()),
            absl::StrFormat("%.0f queries a second", report.queries_per_second()));
  table.Row("latency", Quantiles(tally.latency_ns),
            report.options.is_closed() ? ", from sending" : ", from the scheduled time");
  // A frame of a closed loop, in which an answer triggers the next frame, is never late: it has no
  // scheduled time.
  if (!report.options.is_closed()) {
    table.Row("late", Grouped(tally.frames_late), " frames by more than a tick");
  }
  table.Row("send delay", Quantiles(tally.send_delay_ns), ", part of the latency");
  if (report.options.trackers > 0) {
    table.Row("moves", Grouped(tally.moves.quiet), " quiet, ", Grouped(tally.moves.near), " near, ",
              Grouped(tally.moves.refresh), " refreshed, ", Grouped(tally.moves.cold), " cold");
  }
  if (report.options.edits_hz > 0) {
    table.Row("commits", Grouped(report.edits.commits), "; ", Quantiles(report.edits.latency_ns));
    if (!report.edits.status.ok()) table.Row("", report.edits.status.ToString());
  }
  AddServer(report, table);
  table.Row("checked", Grouped(report.checks.checked), " frames, ",
            Grouped(report.checks.differences), " differences, ", Grouped(report.checks.unchecked),
            " could not be checked");
  if (report.checks.differences > 0) table.Row("", report.checks.first_difference);
  return table.text();
}

// Returns the figures of the text report in seconds, milliseconds and counts; the name of each
// figure ends with its unit.
std::string ReportJson(const LoadReport& report) {
  const json all = {{"setting", SettingJson(report)},
                    {"import_s", report.import_s},
                    {"open_s", report.open_s},
                    {"measured_s", report.measured_s},
                    {"is_stopped", report.is_stopped},
                    {"frames", FramesJson(report)},
                    {"latency", QuantilesJson(report.tally.latency_ns)},
                    {"send_delay", QuantilesJson(report.tally.send_delay_ns)},
                    {"server", ServerJson(report)},
                    {"own_cpu_cores", report.own_cpu_s / report.measured_s},
                    {"edits",
                     {{"commit_count", report.edits.commits},
                      {"status", CodeName(static_cast<int>(report.edits.status.code()))},
                      {"latency", QuantilesJson(report.edits.latency_ns)}}},
                    {"checks",
                     {{"checked_frames", report.checks.checked},
                      {"differences", report.checks.differences},
                      {"unchecked_frames", report.checks.unchecked}}}};
  return all.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace carom::load
