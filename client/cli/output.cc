// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/output.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace carom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kBold[] = "\x1b[1m", kPlain[] = "\x1b[0m";

// The text of a value in a table. Lists are in one line.
std::string Cell(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "-";
    case Json::value_t::boolean:
      return value.get<bool>() ? "yes" : "no";
    case Json::value_t::string:
      return value.get<std::string>();
    case Json::value_t::number_float:
      return ShortNumber(value.get<double>());
    case Json::value_t::array: {
      std::vector<std::string> parts;
      for (const Json& part : value) parts.push_back(Cell(part));
      return parts.empty() ? "none" : absl::StrJoin(parts, ", ");
    }
    case Json::value_t::object: {
      std::vector<std::string> parts;
      for (const auto& [name, part] : value.items()) {
        parts.push_back(absl::StrCat(name, " ", Cell(part)));
      }
      return absl::StrJoin(parts, ", ");
    }
    default:
      return value.dump();
  }
}

bool IsList(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_object();
}

// The objects of a list as rows, with the members of all of them as headings.
Table TableOf(const Json& list) {
  Table table;
  for (const Json& object : list) {
    for (const auto& [name, value] : object.items()) {
      if (std::ranges::find(table.headings, name) == table.headings.end()) {
        table.headings.push_back(name);
      }
    }
  }
  for (const Json& object : list) {
    std::vector<std::string>& row = table.rows.emplace_back();
    for (const std::string& name : table.headings) {
      row.push_back(object.contains(name) ? Cell(object[name]) : "");
    }
  }
  return table;
}

bool IsNumber(const std::string& text) {
  double number = 0;
  return text.empty() || text == "-" || absl::SimpleAtod(text, &number);
}

// The number of columns that `text` takes on a terminal: of characters in UTF-8.
size_t Width(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

void AppendPadded(const std::string& text, size_t width, bool right, std::string& line) {
  const std::string space(width - std::min(width, Width(text)), ' ');
  absl::StrAppend(&line, right ? space : text, right ? text : space);
}

}  // namespace

void AddOutput(CLI::App& command, OutputOptions& options) {
  CLI::Option* json =
      command
          .add_flag("--json", options.json,
                    "Print one JSON object a line; default where standard output is no terminal")
          ->group("Output");
  command.add_flag("--text", options.text, "Print tables and text; default on a terminal")
      ->excludes(json)
      ->group("Output");
  command
      .add_option("--color", options.color,
                  "Colours: auto, on a terminal without NO_COLOR; always; never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str()
      ->group("Output");
}

bool PrintsTables(const OutputOptions& options) {
  return options.text || (!options.json && isatty(STDOUT_FILENO) == 1);
}

bool UsesColor(const OutputOptions& options) {
  if (options.color != "auto") return options.color == "always";
  const char* off = std::getenv("NO_COLOR");
  return (off == nullptr || *off == '\0') && isatty(STDOUT_FILENO) == 1;
}

void PrintTable(const Table& table, bool color, std::ostream& out) {
  const size_t columns = table.headings.size();
  std::vector<size_t> width(columns);
  std::vector<bool> right(columns, !table.rows.empty());
  for (size_t i = 0; i < columns; ++i) {
    width[i] = Width(table.headings[i]);
    for (const std::vector<std::string>& row : table.rows) {
      width[i] = std::max(width[i], Width(row[i]));
      if (!IsNumber(row[i])) right[i] = false;
    }
  }
  const auto line_of = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < columns; ++i) {
      if (i > 0) line += "  ";
      AppendPadded(row[i], i + 1 < columns || right[i] ? width[i] : 0, right[i], line);
    }
    return line;
  };
  out << (color ? kBold : "") << line_of(table.headings) << (color ? kPlain : "") << '\n';
  for (const std::vector<std::string>& row : table.rows) out << line_of(row) << '\n';
}

void PrintObject(std::string_view json, bool color, std::ostream& out) {
  const Json object = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    out << json << '\n';
    return;
  }
  size_t width = 0;
  for (const auto& [name, value] : object.items()) {
    if (!IsList(value)) width = std::max(width, Width(name));
  }
  for (const auto& [name, value] : object.items()) {
    if (IsList(value)) continue;
    std::string heading;
    AppendPadded(name, width, false, heading);
    out << (color ? kBold : "") << heading << (color ? kPlain : "") << "  " << Cell(value) << '\n';
  }
  for (const auto& [name, value] : object.items()) {
    if (!IsList(value)) continue;
    out << '\n' << name << ":\n";
    PrintTable(TableOf(value), color, out);
  }
}

void PrintAnswer(std::string_view json, const OutputOptions& options) {
  if (PrintsTables(options)) {
    PrintObject(json, UsesColor(options), std::cout);
  } else {
    std::cout << json << '\n';
  }
}

void PrintAnswers(std::span<const std::string> json, const OutputOptions& options) {
  if (!PrintsTables(options)) {
    for (const std::string& line : json) std::cout << line << '\n';
    return;
  }
  Json list = Json::array();
  for (const std::string& line : json) list.push_back(Json::parse(line, nullptr, false));
  if (!list.empty()) PrintTable(TableOf(list), UsesColor(options), std::cout);
}

std::string ShortNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace carom::cli
