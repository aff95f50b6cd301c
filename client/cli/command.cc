// SPDX-FileCopyrightText: The Carom authors
// SPDX-License-Identifier: Apache-2.0

#include "client/cli/command.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "carom/cast.h"
#include "carom/geometry.h"
#include "carom/status.h"
#include "client/cli/eval/soft_walls.h"
#include "client/cli/server_advice.h"
#include "client/formats/nearest_word.h"
#include "client/formats/scene_reader.h"

namespace carom::cli {
namespace {

// Returns the innermost command that the user gave: `import` for `carom scene import`.
CLI::App& LastCommand(CLI::App& app) {
  CLI::App* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().back();
  return *last;
}

// Returns the names of all subcommands of `app`.
std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Returns the long names of all options of `app`, with the two hyphens.
std::vector<std::string> OptionsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

}  // namespace

// The footer begins with that of the program, which commands inherit.
void AddNote(CLI::App& command, const std::string& note) {
  command.footer(absl::StrCat(command.get_footer(), "\n\n", note));
}

void AddExample(CLI::App& command, const std::string& example) {
  AddNote(command, kExample + example);
}

std::string FullName(std::string_view scene) {
  const std::string name(scene);
  return scene.starts_with("scenes/") ? name : "scenes/" + name;
}

// Closes the file before it checks the stream for errors: buffered text is written only when the
// file is closed, and this can fail.
absl::Status WriteFile(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file ? absl::OkStatus() : absl::UnknownError(absl::StrCat("cannot write ", path));
}

int Fail(const absl::Status& status) {
  std::cerr << "carom: " << absl::StatusCodeToString(status.code()) << ": " << status.message()
            << '\n';
  const std::vector<Violation> violations = Violations(status);
  // the message contains the first violation, so one violation needs no list
  if (violations.size() > 1) {
    for (const Violation& violation : violations) {
      std::cerr << "  " << violation.field << ": " << violation.description << '\n';
    }
  }
  if (absl::IsUnavailable(status)) {
    const std::string advice = AdviceAbout(CalledServer());
    if (!advice.empty()) std::cerr << "carom: " << advice << '\n';
  }
  return kFailure;
}

// If the server refuses a name, the error has one violation, of the request's field `name` or of a
// group's field `scene` or `scene_handle`. Other violations, such as those of polygons, have paths
// that the user understands.
int FailOf(std::string_view scene, const absl::Status& status) {
  const std::vector<Violation> violations = Violations(status);
  if (violations.size() != 1) return Fail(status);
  const Violation& violation = violations.front();
  if (violation.field != "name" && !violation.field.starts_with("scene")) return Fail(status);
  return Fail(Refused(status.code(), FullName(scene), violation.description));
}

// Checks the number before the server does, because the server's message would name a field such as
// `a[1]`, which the user did not type.
CLI::Option* AddCoordinate(CLI::App& command, const std::string& name, double& value,
                           const std::string& description) {
  const auto refused = [](const std::string& text) {
    double number = 0;
    if (absl::SimpleAtod(text, &number) && IsAccepted(number)) return std::string();
    return absl::StrCat(kNumberRange, ", not '", text, "'");
  };
  return command.add_option(name, value, description)
      ->required()
      ->check(CLI::Validator(refused, ""))
      ->type_name("NUMBER");
}

void AddSoftWalls(CLI::App& command, SoftWalls& soft) {
  command.add_option("--soft-mask", soft.mask,
                     "Polygons with a category of this mask are soft walls, of which a line passes "
                     "as many as --soft-count says");
  command.add_option("--soft-count", soft.count, "Soft walls that a line passes")
      ->check(CLI::Range(0, static_cast<int>(kMaxSoftCount)))
      ->capture_default_str();
}

// CLI11 reports that a command is missing if the user misspelt it, and that an argument is missing
// if the argument follows a misspelt option. So this function reads the arguments that CLI11 could
// not assign, which `remaining` returns.
std::string UsageMessage(CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = LastCommand(app);
  std::vector<std::string> unread;
  for (const CLI::App* at = &app;; at = at->get_subcommands().back()) {
    for (const std::string& word : at->remaining()) {
      unread.push_back(word);
      if (!word.starts_with("--")) continue;
      const std::string option = word.substr(0, word.find('='));
      const bool is_early = at != &command && command.get_option_no_throw(option) != nullptr;
      if (is_early) return absl::StrCat("option '", option, "' must come after the command");
      return absl::StrCat("unknown option '", option, "'", Suggestion(option, OptionsOf(*at)));
    }
    if (at == &command) break;
  }
  const std::vector<std::string> commands = CommandsOf(command);
  if (commands.empty()) {
    return unread.empty() ? error.what()
                          : absl::StrCat("unexpected argument '", unread.front(), "'");
  }
  if (unread.empty()) {
    // The error is not about a missing subcommand, because the command needs none.
    if (command.get_require_subcommand_min() == 0) return error.what();
    return absl::StrCat("a command is required: ", absl::StrJoin(commands, ", "));
  }
  return absl::StrCat("unknown command '", unread.front(), "'",
                      Suggestion(unread.front(), commands));
}

std::string CommandName(CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* last = &app; !last->get_subcommands().empty();) {
    last = last->get_subcommands().back();
    absl::StrAppend(&name, " ", last->get_name());
  }
  return name;
}

}  // namespace carom::cli
