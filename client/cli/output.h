// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

// How does a command print what it found?
//
// On a terminal, and with `--text`, commands print tables with numbers of six digits; elsewhere,
// and with `--json`, one JSON object a line, with numbers that are read back to the same double.
// Colours appear on terminals alone: `--color` and the environment variable NO_COLOR decide.
#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace carom::cli {

struct OutputOptions {
  bool json = false;
  bool text = false;
  std::string color = "auto";
};

// Adds the flags `--json`, `--text` and `--color`.
void AddOutput(CLI::App& command, OutputOptions& options);

// Whether a command prints tables: standard output is a terminal and `--json` is not given, or
// `--text` is.
bool PrintsTables(const OutputOptions& options);
// Whether a table has colours.
bool UsesColor(const OutputOptions& options);

// Rows of text under headings. Columns of numbers are aligned to the right.
struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;
};
void PrintTable(const Table& table, bool color, std::ostream& out);

// Prints `json`, an object on one line, as text for people: a line for each member, and a table for
// each list of objects or rows. Prints other text as it is.
void PrintObject(std::string_view json, bool color, std::ostream& out);

// Prints an answer, an object on one line: as a table or as it is.
void PrintAnswer(std::string_view json, const OutputOptions& options);

// Prints objects, each on one line: as the rows of one table, or as they are.
void PrintAnswers(std::span<const std::string> json, const OutputOptions& options);

// Returns a number with at most six digits, such as 0.333333.
std::string ShortNumber(double value);

}  // namespace carom::cli
