// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/scene/map_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "carom/geometry.h"
#include "carom/status.h"
#include "client/formats/grouped.h"
#include "client/formats/json_text.h"

namespace carom::cli {
namespace {

constexpr size_t kMaxListedParts = 16;
// The heading of the flags in the help.
constexpr char kMapGroup[] = "Map";

// Returns the number, or nullopt if `text` is none that `IsAccepted` accepts.
std::optional<double> AcceptedNumber(absl::string_view text) {
  double number = 0;
  if (!absl::SimpleAtod(text, &number) || !IsAccepted(number)) return std::nullopt;
  return Normalized(number);
}

// Throws the error of CLI11 for a value of an option.
[[noreturn]] void RefuseValue(const char* option, const std::string& why) {
  throw CLI::ValidationError(option, why);
}

double NumberFor(const char* option, const std::string& text, const char* range) {
  const std::optional<double> number = AcceptedNumber(text);
  if (!number) RefuseValue(option, absl::StrCat(range, ", not '", text, "'"));
  return *number;
}

Vec2 PointFor(const char* option, const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  if (parts.size() == 2) {
    const std::optional<double> x = AcceptedNumber(parts[0]), y = AcceptedNumber(parts[1]);
    if (x && y) return {*x, *y};
  }
  RefuseValue(option,
              absl::StrCat("must be X,Y, numbers of at most 2^53 in magnitude, not '", text, "'"));
}

// Returns what `word` means, or nullopt.
std::optional<LayerUse> UseOf(absl::string_view word) {
  if (word == "solid") return LayerUse::kSolid;
  if (word == "hollow") return LayerUse::kHollow;
  if (word == "skip") return LayerUse::kSkip;
  return std::nullopt;
}

// A map file is untrusted: its names must not control the terminal.
std::string Printable(std::string_view text) {
  std::string printable(text);
  std::replace_if(
      printable.begin(), printable.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
  return printable;
}

// Returns why a part was skipped, with the option that takes it.
std::string ReasonOf(const SkippedPart& part) {
  return absl::StrCat(part.why, part.option.empty() ? "" : "; ", part.option,
                      part.option.empty() ? "" : " takes it");
}

// Adds the flags about where points are.
void AddPlaceOptions(CLI::App& command, ImportOptions& options) {
  command
      .add_option_function<std::string>(
          "--scale",
          [&options](const std::string& text) {
            options.scale = NumberFor("--scale", text, "must be a number other than 0");
            if (options.scale == 0) RefuseValue("--scale", "must be a number other than 0");
          },
          "World units for a unit of the file; default: 1")
      ->type_name("NUMBER")
      ->group(kMapGroup);
  command
      .add_flag_function(
          "--flip-y,!--no-flip-y", [&options](int64_t count) { options.flip_y = count > 0; },
          "Negate y, so that y points up; default: where y points down in the format")
      ->group(kMapGroup);
  command
      .add_option_function<std::string>(
          "--origin",
          [&options](const std::string& text) { options.origin = PointFor("--origin", text); },
          "Point of the file that becomes (0, 0), such as 100,-20; default: 0,0")
      ->type_name("X,Y")
      ->group(kMapGroup);
}

// Adds the flags about which polygons there are.
void AddShapeOptions(CLI::App& command, ImportOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--layer",
          [&options](const std::vector<std::string>& texts) {
            options.layers.clear();
            for (const std::string& text : texts) {
              const absl::StatusOr<LayerChoice> choice = ReadLayer(text);
              if (!choice.ok()) RefuseValue("--layer", std::string(choice.status().message()));
              options.layers.push_back(*choice);
            }
          },
          "Layer to take beside those taken by default, or how to take it; '*': all layers. "
          "CATEGORY: its polygons get this category. May be repeated")
      ->type_name("NAME[=CATEGORY][,solid|hollow|skip]")
      ->allow_extra_args(false)
      ->group(kMapGroup);
  command
      .add_option("--property", options.property,
                  "Property of shapes whose value is their category: a number, or bit numbers as "
                  "in 0,3")
      ->type_name("KEY")
      ->group(kMapGroup);
  command
      .add_option_function<std::string>(
          "--chord",
          [&options](const std::string& text) {
            options.chord = NumberFor("--chord", text, "must be a number above 0");
            if (!(options.chord > 0)) RefuseValue("--chord", "must be a number above 0");
          },
          "Greatest distance of a curve from its chords, in units of the file; default: 0.25")
      ->type_name("NUMBER")
      ->group(kMapGroup);
  command
      .add_option_function<std::string>(
          "--outline", [&options](const std::string& word) { options.outline = word == "on"; },
          "on: the union of the cells of a tile layer; off: one box for each cell; default: on")
      ->check(CLI::IsMember({"on", "off"}))
      ->type_name("on|off")
      ->group(kMapGroup);
  command.add_flag("--merge", options.merge, "Replace boxes that touch by their union")
      ->group(kMapGroup);
}

void AppendMember(std::string_view name, std::string_view value, std::string& json) {
  if (json.back() != '{') json += ',';
  AppendString(name, json);
  json += ':';
  AppendString(value, json);
}

}  // namespace

absl::StatusOr<LayerChoice> ReadLayer(std::string_view text) {
  LayerChoice choice;
  const size_t equals = text.rfind('=');
  choice.name = text.substr(0, equals);
  if (choice.name.empty()) return absl::InvalidArgumentError("has no name of a layer");
  if (equals == text.npos) return choice;
  const std::string value(text.substr(equals + 1));
  const std::vector<std::string> words = absl::StrSplit(value, ',');
  uint64_t category = 0;
  const bool has_category = absl::SimpleAtoi(words[0], &category);
  if (has_category) choice.category = category;
  const std::optional<LayerUse> use = UseOf(words.back());
  if (use) choice.use = *use;
  const size_t understood = (has_category ? 1 : 0) + (use ? 1 : 0);
  if (words.size() != understood) {
    return absl::InvalidArgumentError(absl::StrCat(
        "after the last = must come a category, an unsigned 64-bit integer, or solid, hollow or "
        "skip, or both with a comma, not '",
        value, "'"));
  }
  return choice;
}

void AddMapOptions(CLI::App& command, ImportOptions& options) {
  AddPlaceOptions(command, options);
  AddShapeOptions(command, options);
}

void PrintReport(std::string_view file, const ImportedMap& map) {
  const std::string head = absl::StrCat(Printable(file), ": ");
  if (!map.mapping.empty()) {
    std::string line =
        absl::StrCat("carom: ", head, map.format, ", ", Grouped(map.polygons.size()), " polygons");
    for (const auto& [name, value] : map.mapping) {
      if (!value.empty()) absl::StrAppend(&line, "; ", Printable(name), " ", Printable(value));
    }
    std::cerr << line << '\n';
  }
  for (size_t i = 0; i < std::min(map.skipped.size(), kMaxListedParts); ++i) {
    const SkippedPart& part = map.skipped[i];
    std::cerr << "carom: warning: " << head << Printable(part.what) << ": "
              << Printable(ReasonOf(part)) << '\n';
  }
  if (map.skipped.size() > kMaxListedParts) {
    std::cerr << "carom: warning: " << head << map.skipped.size() - kMaxListedParts << " more\n";
  }
}

absl::Status SkippedStatus(const ImportedMap& map) {
  Refusal refusal;
  for (const SkippedPart& part : map.skipped) refusal.Add(part.what, ReasonOf(part));
  return refusal.status();
}

std::string MappingObject(const ImportedMap& map) {
  if (map.mapping.empty()) return map.kept_mapping;
  std::string json = "{";
  AppendMember("format", map.format, json);
  // The choices of layers have one name: their values are in one list.
  std::string layers;
  for (const auto& [name, value] : map.mapping) {
    if (name == "layer") {
      layers += layers.empty() ? "" : ",";
      AppendString(value, layers);
    } else if (!value.empty()) {
      AppendMember(name, value, json);
    }
  }
  if (!layers.empty()) absl::StrAppend(&json, ",\"layers\":[", layers, "]");
  if (!map.kept_mapping.empty()) absl::StrAppend(&json, ",\"from\":", map.kept_mapping);
  return json + "}";
}

std::string NoteOf(const ImportedMap& map) {
  constexpr size_t kMaxNoteBytes = 1024;
  std::string note = MappingObject(map);
  return note.size() <= kMaxNoteBytes ? note : "";
}

std::string ReportMembers(const ImportedMap& map) {
  std::string json;
  const std::string mapping = MappingObject(map);
  if (!mapping.empty()) absl::StrAppend(&json, ",\"mapping\":", mapping);
  if (map.skipped.empty()) return json;
  json += ",\"skipped\":[";
  for (const SkippedPart& part : map.skipped) {
    json += json.back() == '[' ? "{" : ",{";
    AppendMember("what", part.what, json);
    AppendMember("why", part.why, json);
    if (!part.option.empty()) AppendMember("option", part.option, json);
    json += '}';
  }
  return json + "]";
}

}  // namespace carom::cli
