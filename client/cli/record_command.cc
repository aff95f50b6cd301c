// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "carom/recording.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

struct RecordCommandOptions {
  std::string file;
  bool frames = false;
  OutputOptions output;
};

// What a recording has, from its entries.
struct RecordSummary {
  RecordingHeader header;
  std::map<std::string, std::vector<uint64_t>> versions;  // by scene
  uint64_t bundle_bytes = 0;
  uint64_t frames = 0;
  uint64_t refused = 0;
  uint64_t skipped = 0;
  uint64_t span_us = 0;
  std::map<std::string, uint64_t> queries;  // by kind
  std::optional<RecordingEnd> end;
};

void AppendQueries(const std::map<std::string, uint64_t>& queries, std::string& json) {
  absl::StrAppend(&json, "{");
  const char* separator = "";
  for (const auto& [kind, count] : queries) {
    absl::StrAppend(&json, separator, "\"", kind, "\":", count);
    separator = ",";
  }
  absl::StrAppend(&json, "}");
}

// Appends the member `status`, the name of the code, unless `status` is OK.
void AppendStatus(const absl::Status& status, std::string& json) {
  if (status.ok()) return;
  absl::StrAppend(&json, ",\"status\":");
  AppendString(absl::StatusCodeToString(status.code()), json);
}

std::string JsonOf(const RecordedFrame& frame) {
  std::string json = absl::StrCat("{\"at_us\":", frame.received_us, ",\"seq\":", frame.seq,
                                  ",\"frame_bytes\":", frame.frame_bytes,
                                  ",\"answer_bytes\":", frame.answer_bytes);
  AppendStatus(frame.status, json);
  if (frame.skipped) absl::StrAppend(&json, ",\"skipped\":true");
  absl::StrAppend(&json, ",\"groups\":[");
  const char* separator = "";
  for (const RecordedGroup& group : frame.groups) {
    absl::StrAppend(&json, separator, "{\"scene\":");
    AppendString(group.scene, json);
    absl::StrAppend(&json, ",\"version\":", group.version, ",\"queries\":");
    AppendQueries(group.queries, json);
    if (group.edits > 0) absl::StrAppend(&json, ",\"edits\":", group.edits);
    AppendStatus(group.status, json);
    absl::StrAppend(&json, "}");
    separator = ",";
  }
  absl::StrAppend(&json, "]}");
  return json;
}

std::string JsonOf(const RecordSummary& summary) {
  std::string json = "{\"server_version\":";
  AppendString(summary.header.server_version, json);
  absl::StrAppend(
      &json, ",\"begin\":\"",
      absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(summary.header.begin_us),
                       absl::UTCTimeZone()),
      "\",\"span_us\":", summary.span_us, ",\"frames\":", summary.frames,
      ",\"refused\":", summary.refused, ",\"skipped\":", summary.skipped,
      ",\"end\":", summary.end.has_value() ? "\"" : "null");
  if (summary.end.has_value()) absl::StrAppend(&json, RecordingEndName(*summary.end), "\"");
  absl::StrAppend(&json, ",\"bundle_bytes\":", summary.bundle_bytes, ",\"queries\":");
  AppendQueries(summary.queries, json);
  absl::StrAppend(&json, ",\"scenes\":[");
  const char* separator = "";
  for (const auto& [name, versions] : summary.versions) {
    absl::StrAppend(&json, separator, "{\"scene\":");
    AppendString(name, json);
    const auto [first, last] = std::minmax_element(versions.begin(), versions.end());
    absl::StrAppend(&json, ",\"versions\":", versions.size(), ",\"first_version\":", *first,
                    ",\"last_version\":", *last, "}");
    separator = ",";
  }
  absl::StrAppend(&json, "]}");
  return json;
}

void AddTo(RecordSummary& summary, const RecordedFrame& frame) {
  ++summary.frames;
  if (!frame.status.ok()) ++summary.refused;
  if (frame.skipped) ++summary.skipped;
  summary.span_us = std::max(summary.span_us, frame.received_us);
  for (const RecordedGroup& group : frame.groups) {
    for (const auto& [kind, count] : group.queries) summary.queries[kind] += count;
  }
}

int RunRecord(const RecordCommandOptions& options) {
  absl::StatusOr<std::unique_ptr<RecordingReader>> reader = RecordingReader::Open(options.file);
  if (!reader.ok()) return Fail(reader.status());
  RecordSummary summary;
  absl::StatusOr<std::optional<RecordingEntry>> entry = (*reader)->Next();
  bool has_header = false;
  for (; entry.ok() && entry->has_value(); entry = (*reader)->Next()) {
    if (const auto* header = std::get_if<RecordingHeader>(&**entry)) {
      summary.header = *header;
      has_header = true;
    } else if (const auto* scene = std::get_if<RecordedScene>(&**entry)) {
      summary.versions[scene->name].push_back(scene->version);
      summary.bundle_bytes += scene->bundle_bytes;
    } else if (const auto* frame = std::get_if<RecordedFrame>(&**entry)) {
      AddTo(summary, *frame);
      if (options.frames) std::cout << JsonOf(*frame) << "\n";
    } else {
      summary.end = std::get<RecordingEnd>(**entry);
    }
  }
  // What precedes the damage is printed, too.
  if (has_header && !options.frames) PrintAnswer(JsonOf(summary), options.output);
  return entry.ok() ? kSuccess : Fail(entry.status());
}

}  // namespace

void AddRecordCommand(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand(
      "record", "Print what a recording of a stream has, as caromd --record writes it");
  auto options = std::make_shared<RecordCommandOptions>();
  command->add_option("file", options->file, "A recording, a file with the suffix .carec")
      ->required();
  command->add_flag("--frames", options->frames, "Print a line of JSON for each frame");
  AddOutput(*command, options->output);
  command->callback([options, &exit_status] { exit_status = RunRecord(*options); });
}

}  // namespace carom::cli
