// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/lint_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "carom/client.h"
#include "carom/lint.h"
#include "client/cli/command.h"
#include "client/cli/output.h"
#include "client/cli/scene/lint_picture.h"
#include "client/cli/scene/progress.h"
#include "client/cli/scene/transfer.h"
#include "client/cli/target.h"
#include "client/formats/json_text.h"
#include "client/formats/scene_writer.h"

namespace carom::cli {
namespace {

struct LintCommandOptions {
  Target target;
  OutputOptions output;
  LintOptions lint;
  std::vector<std::string> from;
  std::string winding;
  std::vector<std::string> kinds;
  std::string svg;
  std::string fix;
  double epsilon = 0;
};

// The findings, and the scene that they are about if the command needs it.
struct Linted {
  LintReport report;
  uint64_t version = 0;
  Scene::Ptr scene;
};

std::map<std::string, uint32_t> KindBits() {
  std::map<std::string, uint32_t> bits;
  for (size_t i = 0; i < kLintKinds; ++i) {
    bits.emplace(LintName(static_cast<LintKind>(i)), 1U << i);
  }
  return bits;
}

// Returns a point given as `X,Y`; CLI11 has checked its form (`IsPoint`).
bool ReadPoint(const std::string& text, Vec2& point) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  return parts.size() == 2 && absl::SimpleAtod(parts[0], &point.x) &&
         absl::SimpleAtod(parts[1], &point.y) && IsAccepted(point);
}

std::string IsPoint(const std::string& text) {
  Vec2 point;
  return ReadPoint(text, point) ? "" : text + " is not X,Y with numbers of at most 2^53";
}

LintOptions OptionsOf(const LintCommandOptions& options) {
  LintOptions lint = options.lint;
  for (const std::string& text : options.from) {
    Vec2 point;
    if (ReadPoint(text, point)) lint.from.push_back(Normalized(point));
  }
  if (options.winding == "ccw") lint.winding = LintWinding::kCounterClockwise;
  if (options.winding == "cw") lint.winding = LintWinding::kClockwise;
  if (options.kinds.empty()) return lint;
  lint.kinds = 0;
  const std::map<std::string, uint32_t> bits = KindBits();
  for (const std::string& kind : options.kinds) lint.kinds |= bits.at(kind);
  return lint;
}

absl::StatusOr<Linted> LintFile(const Target& target, const LintOptions& options) {
  const absl::StatusOr<Scene::Ptr> scene = SceneOf(target);
  if (!scene.ok()) return scene.status();
  Progress progress("lint", "checks");
  uint64_t done = 0, total = 0;
  LintOptions shown = options;
  shown.progress = [&](size_t checks, size_t all) {
    done = checks;
    total = all;
    progress(done, total);
  };
  // The meter asks often, so that the line is also renewed within a check.
  WorkMeter meter([&] {
    progress(done, total);
    return false;
  });
  absl::StatusOr<LintReport> report = Lint(**scene, shown, meter);
  if (!report.ok()) return report.status();
  return Linted{*std::move(report), (*scene)->version(), *scene};
}

// Exports the version that the server has checked, if `needs_scene`.
absl::StatusOr<Linted> LintNamed(const Target& target, const LintOptions& options,
                                 bool needs_scene) {
  const absl::StatusOr<std::unique_ptr<Client>> client = ConnectTo(target.server);
  if (!client.ok()) return client.status();
  const CallOptions no_timeout{.timeout = std::chrono::milliseconds(0)};
  const std::string name = FullName(target.name);
  absl::StatusOr<SceneLint> lint =
      WaitedFor("lint", [&] { return (*client)->LintScene(name, options, 0, no_timeout); });
  if (!lint.ok()) return lint.status();
  Linted linted{std::move(lint->report), lint->version, nullptr};
  if (!needs_scene) return linted;
  absl::StatusOr<std::vector<Polygon>> polygons = ExportShown(**client, name, lint->version);
  if (!polygons.ok()) return polygons.status();
  absl::StatusOr<Scene::Ptr> scene = Scene::Create(*std::move(polygons), lint->version);
  if (!scene.ok()) return scene.status();
  linted.scene = *std::move(scene);
  return linted;
}

void AppendPoint(const char* x, const char* y, Vec2 p, std::string& line) {
  absl::StrAppend(&line, ",\"", x, "\":");
  AppendNumber(p.x, line);
  absl::StrAppend(&line, ",\"", y, "\":");
  AppendNumber(p.y, line);
}

std::string FindingLine(const LintFinding& finding, size_t number, bool has_outline) {
  std::string line =
      absl::StrCat("{\"number\":", number, ",\"kind\":\"", std::string(LintName(finding.kind)),
                   "\",\"polygon\":", finding.polygon_id, ",\"ring\":", finding.at.ring,
                   ",\"edge\":", finding.at.edge);
  absl::StrAppend(&line, ",\"other_polygon\":", finding.other_polygon_id,
                  ",\"other_ring\":", finding.other.ring, ",\"other_edge\":", finding.other.edge);
  AppendPoint("x", "y", finding.point, line);
  AppendPoint("other_x", "other_y", finding.other_point, line);
  line += ",\"measure\":";
  AppendNumber(finding.measure, line);
  if (has_outline && !finding.outline.empty()) {
    line += ",\"outline\":[";
    for (const Vec2 p : finding.outline) {
      line += line.back() == '[' ? "[" : ",[";
      AppendNumber(p.x, line);
      line += ',';
      AppendNumber(p.y, line);
      line += ']';
    }
    line += ']';
  }
  absl::StrAppend(&line, ",\"advice\":\"", std::string(LintAdvice(finding.kind)), "\"}");
  return line;
}

void PrintFindings(const LintReport& report, const OutputOptions& output) {
  std::vector<std::string> lines;
  lines.reserve(report.findings.size());
  for (const LintFinding& finding : report.findings) {
    lines.push_back(FindingLine(finding, lines.size() + 1, !PrintsTables(output)));
  }
  PrintAnswers(lines, output);
  if (!report.truncated) return;
  uint64_t total = 0;
  for (const uint64_t count : report.counts) total += count;
  std::cerr << "carom: the first " << report.findings.size() << " of " << total
            << " findings; --max prints more\n";
}

// Writes the replaced polygons to the file of `--fix`, and the command that commits them to
// standard error.
absl::Status WriteFixes(const LintCommandOptions& options, const Linted& linted) {
  std::vector<Polygon> replaced;
  std::vector<std::string> removed;
  for (const SceneEdit& edit : LintEdits(*linted.scene, linted.report, options.epsilon)) {
    if (const auto* replace = std::get_if<ReplacePolygon>(&edit)) {
      replaced.push_back(replace->polygon);
    } else if (const auto* remove = std::get_if<RemovePolygon>(&edit)) {
      removed.push_back(absl::StrCat(remove->id));
    }
  }
  if (absl::Status status = WriteFile(options.fix, WriteScene(replaced)); !status.ok()) {
    return status;
  }
  std::cerr << "carom: " << options.fix << " has " << replaced.size()
            << " repaired polygons; nothing is committed. To commit them:\n  carom scene commit "
            << (options.target.name.empty() ? "--local " + options.target.source.file
                                            : options.target.name)
            << ' ' << options.fix;
  if (!options.target.name.empty()) std::cerr << " --base-version " << linted.version;
  if (!removed.empty()) std::cerr << " --remove " << absl::StrJoin(removed, " ");
  std::cerr << '\n';
  return absl::OkStatus();
}

int RunLint(const LintCommandOptions& options) {
  const LintOptions lint = OptionsOf(options);
  const bool needs_scene = !options.svg.empty() || !options.fix.empty();
  const absl::StatusOr<Linted> linted = options.target.name.empty()
                                            ? LintFile(options.target, lint)
                                            : LintNamed(options.target, lint, needs_scene);
  if (!linted.ok()) return FailAbout(options.target, linted.status());
  PrintFindings(linted->report, options.output);
  if (!options.fix.empty()) {
    const absl::Status written = WriteFixes(options, *linted);
    if (!written.ok()) return Fail(written);
  }
  if (!options.svg.empty()) {
    const absl::Status written =
        WriteFile(options.svg, LintPicture(*linted->scene, linted->report.findings));
    if (!written.ok()) return Fail(written);
  }
  return linted->report.findings.empty() ? kSuccess : kFindings;
}

// Adds the flags about what is found, in a group of the help.
void AddFindings(CLI::App& command, LintCommandOptions& options) {
  constexpr char kGroup[] = "Findings";
  command
      .add_option("--radius", options.lint.gap_radius,
                  "Find gaps that a disc of this radius cannot pass")
      ->check(CLI::Range(0.0, 0x1p50))
      ->group(kGroup);
  command
      .add_option("--mover", options.lint.mover_radius,
                  "Find places that a disc of this radius cannot reach from --from")
      ->check(CLI::Range(0.0, 0x1p50))
      ->group(kGroup);
  command.add_option("--from", options.from, "Point X,Y where the mover starts; may be repeated")
      ->check(IsPoint)
      ->expected(1, 128)
      ->group(kGroup);
  command
      .add_option("--lattice", options.lint.lattice_pitch,
                  "Pitch of the lattice of the vertices; default: found in the scene")
      ->check(CLI::Range(0x1p-60, 0x1p53))
      ->group(kGroup);
  command
      .add_option("--near", options.lint.near_distance,
                  "Distance up to which vertices are near; default: some rounding errors")
      ->check(CLI::Range(0.0, 0x1p53))
      ->group(kGroup);
  command.add_option("--winding", options.winding, "Sense of rotation of outer rings")
      ->check(CLI::IsMember({"ccw", "cw"}))
      ->group(kGroup);
  command.add_option("--check", options.kinds, "Kinds of findings; default: all")
      ->check(CLI::IsMember(KindBits()))
      ->group(kGroup);
}

// Adds the flags about repairs.
void AddFixes(CLI::App& command, LintCommandOptions& options) {
  constexpr char kGroup[] = "Repairs";
  command
      .add_option("--fix", options.fix,
                  "Map file for proposed polygons, which `carom scene commit` accepts")
      ->group(kGroup);
  command
      .add_option("--epsilon", options.epsilon,
                  "Greatest distance by which --fix moves or merges vertices; default: 0")
      ->check(CLI::Range(0.0, 0x1p53))
      ->group(kGroup);
}

}  // namespace

void AddLintCommand(CLI::App& scene, int& exit_status) {
  CLI::App* command = scene.add_subcommand("lint", "Print what is probably a mistake in a scene");
  const auto options = std::make_shared<LintCommandOptions>();
  AddTarget(*command, options->target);
  AddFindings(*command, *options);
  AddFixes(*command, *options);
  AddOutput(*command, options->output);
  command->add_option("--max", options->lint.max_findings, "Number of findings to print")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->group("Output");
  command->add_option("--svg", options->svg, "SVG file for a picture of scene and findings")
      ->group("Output");
  AddExample(*command,
             "carom scene lint --local client/examples/level.tmx --layer Walls --radius 6");
  command->callback([options, &exit_status] { exit_status = RunLint(*options); });
}

}  // namespace carom::cli
